//! An answer as one object.
//!
//! Such a client sees nothing until the end, so it does not wait for a person without a limit: it gets a sentence in
//! place of the answer, and its next request of the conversation attaches to the run.

use std::time::Duration;

use palyra_http::{StreamSignal, StreamWatch};
use palyra_runtime::Caller;
use palyra_runtime::tape::TapeFollowEvent;
use palyra_types::run::{RunPhase, WaitReason};
use palyra_types::{BootTime, RunId};
use serde_json::Value;

use super::attached_clients::ClientGuard;
use super::run_start::StartedRun;
use super::services::OpenAiServices;
use crate::error_reply::ErrorReply;
use crate::reply::answer_reader::{AnswerReader, AnswerStep};
use crate::reply::chat_stream::ChatCompletion;
use crate::reply::failure::failure;
use crate::reply::response_stream::ResponseStream;

/// The shape of an object.
pub(crate) enum ObjectShape {
    /// A chat completion.
    Chat(ChatCompletion),
    /// A response.
    Response(Box<ResponseStream>),
}

impl ObjectShape {
    /// Takes a step; returns the object, or the error, at the end.
    fn take(&mut self, step: &AnswerStep) -> Option<Result<Value, ErrorReply>> {
        match self {
            Self::Chat(completion) => completion.take(step),
            Self::Response(stream) => {
                stream.events(step);
                let AnswerStep::Ended(end) = step else { return None };
                Some(match failure(&end.outcome) {
                    Some(error) => Err(error),
                    None => Ok(stream.object()),
                })
            }
        }
    }

    fn interim(&self, sentence: &str) -> Value {
        match self {
            Self::Chat(completion) => completion.interim(sentence),
            Self::Response(stream) => stream.interim(sentence),
        }
    }
}

/// What an object is made of.
pub(crate) struct WholeParts {
    pub(crate) started: StartedRun,
    pub(crate) shape: ObjectShape,
    pub(crate) watch: StreamWatch,
    pub(crate) guard: ClientGuard,
    pub(crate) caller: Caller,
    /// How long the client waits.
    pub(crate) timeout: Option<Duration>,
}

impl OpenAiServices {
    /// Waits for the end of a run, or for a while where it waits for a person.
    pub(crate) async fn whole(&self, mut parts: WholeParts) -> Result<Value, ErrorReply> {
        let mut reader = AnswerReader::new(parts.started.part);
        let began = self.clock.boot();
        let patience = parts.timeout.map(|span| began.after(span.saturating_sub(self.spans.client_reserve)));
        let mut look = self.clock.sleep_until(self.next_look(patience));
        loop {
            let followed = tokio::select! {
                biased;
                signal = parts.watch.next() => match signal {
                    StreamSignal::Heartbeat => continue,
                    StreamSignal::Ended(refusal) => {
                        parts.guard.keep_run();
                        return Err(ErrorReply::from(&refusal));
                    }
                },
                followed = parts.started.follower.next() => followed,
                () = &mut look => {
                    if let Some(sentence) = self.waiting_sentence(parts.caller, parts.started.run).await? {
                        parts.guard.keep_run();
                        return Ok(parts.shape.interim(&sentence));
                    }
                    look = self.clock.sleep_until(self.next_look(None));
                    continue;
                }
            };
            match followed? {
                Some(TapeFollowEvent::Entry(entry)) => {
                    for step in reader.read(&entry) {
                        if let Some(answer) = parts.shape.take(&step) {
                            parts.guard.keep_run();
                            return answer;
                        }
                    }
                    look = self.clock.sleep_until(self.next_look(patience));
                }
                Some(TapeFollowEvent::CaughtUp(_)) => {}
                None => {
                    parts.guard.keep_run();
                    let code = palyra_types::ErrorCode::Internal;
                    return Err(ErrorReply::of_code(code, code.summary()));
                }
            }
        }
    }

    /// Returns when to look whether the run waits for a person.
    fn next_look(&self, patience: Option<BootTime>) -> BootTime {
        let own = self.clock.boot().after(self.spans.person_wait);
        patience.map_or(own, |patience| patience.min(own))
    }

    async fn waiting_sentence(&self, caller: Caller, run: RunId) -> Result<Option<String>, ErrorReply> {
        let RunPhase::Waiting(reason) = self.state.runs.get(caller, run).await?.phase else {
            return Ok(None);
        };
        let (what, how) = match reason {
            WaitReason::Approval => ("a person has to approve a step", "`palyra approve` shows it (run RUN)"),
            WaitReason::Question => ("it asks you something", "`palyra runs show RUN` shows the question"),
            WaitReason::LoopCheck => {
                ("it repeats itself and a person has to look", "`palyra runs show RUN` shows it")
            }
            WaitReason::OutcomeUnknown => {
                ("a person has to say what became of a step", "`palyra runs effects RUN` shows it")
            }
            WaitReason::UnknownKind => ("it needs a newer version", "`palyra runs show RUN` shows it"),
            WaitReason::Budget => ("a budget does not allow its next request", "`palyra budget` shows it"),
            // Its calls are the answer.
            WaitReason::ClientTool => return Ok(None),
        };
        let how = how.replace("RUN", &run.to_string());
        let sentence = format!(
            "This run waits: {what}. {how}. Then send your next message in this conversation to get the answer."
        );
        Ok(Some(sentence))
    }
}
