//! Results of functions that the client performed: from a request to the run that waits for them.
//!
//! The id of a call names its run, so nothing is searched. Invariant: results are recorded once; a request that brings
//! them again gets the answer that followed them. Begin at [`OpenAiServices::go_on`].

use palyra_runtime::session::{ClientResultsRequest, InputReach, InputRequest};
use palyra_runtime::{Caller, RequestError};
use palyra_types::client_tool::{ClientCallId, ClientToolChoice, ClientToolOffer};
use palyra_types::run::InputDelivery;
use palyra_types::{Content, RunId};

use super::openai_call::previous_or_unknown;
use super::request_slots::RequestSlots;
use super::run_start::{RunRequest, StartedRun, incoming};
use super::run_texts::call_rounds;
use super::services::OpenAiServices;
use crate::call_rounds::{CallRound, RoundState};
use crate::conversation::{BroughtResults, RunText, missing_outputs};
use crate::error_reply::ErrorReply;
use crate::identifiers::ResponseId;

/// The calls that a request answers.
struct AnsweredCalls {
    run: RunId,
    /// The part of the run that they end.
    part: u32,
    round: CallRound,
}

/// Under which key a request is recorded, and whether it was before.
enum ResultsKey {
    /// This run took the same request.
    Taken,
    Free(Content<String>),
}

impl OpenAiServices {
    /// Gives a run the results that a request brings, or finds the answer that followed them before.
    pub(crate) async fn go_on(
        &self,
        caller: Caller,
        request: &RunRequest,
        brought: &BroughtResults,
    ) -> Result<StartedRun, ErrorReply> {
        let calls = self.answered_calls(caller, request, brought).await?;
        let key = match self.results_key(caller, request, calls.run).await? {
            ResultsKey::Taken => return self.attach(caller, calls.run, calls.part.saturating_add(1)).await,
            ResultsKey::Free(key) => key,
        };
        if calls.round.state == RoundState::Answered {
            return Err(no_longer_awaited(brought));
        }
        let missing_at = if request.previous.is_some() { "input" } else { brought.path() };
        let outputs = brought.outputs(calls.run, calls.round.span, missing_at)?;
        let words = request.conversation.words_after(brought.upto);
        let results = ClientResultsRequest {
            span: calls.round.span,
            outputs,
            offer: self.offer(request).unwrap_or_else(|| self.empty_offer(request)),
            idempotency_key: Some(key),
        };
        match self.deliver_results(caller, calls.run, words, results).await {
            Ok(()) => self.attach(caller, calls.run, calls.part.saturating_add(1)).await,
            Err(RequestError::RunNotWaiting | RequestError::RunFinished) => {
                // The same request can have come twice at once.
                match self.results_key(caller, request, calls.run).await? {
                    ResultsKey::Taken => self.attach(caller, calls.run, calls.part.saturating_add(1)).await,
                    ResultsKey::Free(_) => Err(no_longer_awaited(brought)),
                }
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn answered_calls(
        &self,
        caller: Caller,
        request: &RunRequest,
        brought: &BroughtResults,
    ) -> Result<AnsweredCalls, ErrorReply> {
        let call = brought.call().ok_or_else(|| brought.unknown_call())?;
        match self.state.runs.get_response(caller, call.run).await {
            Ok(_) => {}
            Err(RequestError::RunNotFound) => {
                return Err(previous_or_unknown(request.previous, || brought.unknown_call()));
            }
            Err(error) => return Err(error.into()),
        }
        let rounds = call_rounds(&self.state.tapes, caller, call.run).await?;
        let (part, round) = rounds.of_call(call.number).ok_or_else(|| brought.unknown_call())?;
        let is_of_previous = |previous: ResponseId| (previous.run, previous.part) == (call.run, part);
        if !request.previous.is_none_or(is_of_previous) {
            return Err(brought.unknown_call());
        }
        Ok(AnsweredCalls { run: call.run, part, round })
    }

    async fn results_key(
        &self,
        caller: Caller,
        request: &RunRequest,
        run: RunId,
    ) -> Result<ResultsKey, ErrorReply> {
        let (slots, number) = match &request.hints.idempotency_key {
            Some(key) => (RequestSlots::of_client_key(key), 0),
            None => {
                let slots = request.slots();
                let count = slots.count(&self.state.runs, caller).await?;
                if let Some(last) = count.checked_sub(1)
                    && slots.run(&self.state.runs, caller, last).await? == Some(run)
                {
                    return Ok(ResultsKey::Taken);
                }
                (slots, count)
            }
        };
        match slots.run(&self.state.runs, caller, number).await? {
            None => Ok(ResultsKey::Free(slots.key(number))),
            Some(taken) if taken == run => Ok(ResultsKey::Taken),
            Some(_) => {
                let code = palyra_types::ErrorCode::IdempotencyConflict;
                Err(ErrorReply::of_code(code, code.summary()))
            }
        }
    }

    /// Gives a run what its client says beside the results, then the results.
    async fn deliver_results(
        &self,
        caller: Caller,
        run: RunId,
        words: Option<RunText>,
        results: ClientResultsRequest,
    ) -> Result<(), RequestError> {
        if let Some(words) = words {
            let key = results.idempotency_key.as_ref();
            let words = InputRequest {
                files: incoming(&words),
                text: Content::new(words.text),
                delivery: InputDelivery::Steer,
                idempotency_key: key.map(|key| Content::new(format!("{}:words", key.expose()))),
                reach: InputReach::RunOnly,
            };
            self.state.runs.send_input(caller, run, words).await?;
        }
        self.state.runs.answer_client_tools(caller, run, results).await
    }

    /// Returns what the client offers; `None` for a request without functions.
    pub(crate) fn offer(&self, request: &RunRequest) -> Option<ClientToolOffer<Content<String>>> {
        let offered = request.functions.as_ref()?;
        Some(ClientToolOffer {
            tools: offered.functions.clone(),
            choice: offered.choice,
            ..self.empty_offer(request)
        })
    }

    fn empty_offer(&self, request: &RunRequest) -> ClientToolOffer<Content<String>> {
        ClientToolOffer {
            tools: Vec::new(),
            choice: ClientToolChoice::Auto,
            answer_tokens_max: request.output_tokens_max.and_then(|tokens| u32::try_from(tokens).ok()),
            answer_within: self.spans.client_tool_wait,
        }
    }

    /// Refuses words behind a response that ends with calls: their results are missing.
    pub(crate) async fn check_answered(
        &self,
        caller: Caller,
        previous: ResponseId,
    ) -> Result<(), ErrorReply> {
        let rounds = call_rounds(&self.state.tapes, caller, previous.run).await?;
        let Some(round) = rounds.end_of(previous.part) else { return Ok(()) };
        let id = |number| ClientCallId { run: previous.run, number }.to_string();
        let ids: Vec<String> = round.span.numbers().map(id).collect();
        Err(missing_outputs("input", &ids.iter().map(String::as_str).collect::<Vec<_>>()))
    }
}

fn no_longer_awaited(brought: &BroughtResults) -> ErrorReply {
    let text = "The result is not waited for: the run is over, or other results came before. Send the conversation \
                without the last calls and their results.";
    ErrorReply::invalid(brought.path(), text)
}
