//! An answer as a stream of server-sent events.
//!
//! The stream is closed right after its last event. In silence an event that says nothing is sent, since clients time
//! the next event and do not count comments.

use std::collections::VecDeque;
use std::convert::Infallible;

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::Response;
use palyra_http::{StreamSignal, StreamWatch};
use palyra_runtime::tape::TapeFollowEvent;

use super::attached_clients::ClientGuard;
use super::run_start::StartedRun;
use crate::error_reply::ErrorReply;
use crate::reply::answer_reader::{AnswerReader, AnswerStep};
use crate::reply::chat_stream::ChatStream;
use crate::reply::response_stream::{ResponseStream, sequence_number};
use crate::reply::server_event::StreamEvent;

/// The shape of a stream.
pub(crate) enum EventShape {
    /// Chunks of a chat completion.
    Chat(ChatStream),
    /// Events of a response with greater numbers than this.
    Response {
        /// The events.
        stream: Box<ResponseStream>,
        /// The last number that the client has.
        after: Option<u64>,
    },
}

impl EventShape {
    fn events(&mut self, step: &AnswerStep) -> Vec<StreamEvent> {
        match self {
            Self::Chat(stream) => stream.events(step),
            Self::Response { stream, after } => {
                let mut events = stream.events(step);
                events.retain(|event| after.is_none_or(|after| sequence_number(event) > Some(after)));
                events
            }
        }
    }

    fn heartbeat(&self) -> StreamEvent {
        match self {
            Self::Chat(stream) => stream.heartbeat(),
            Self::Response { stream, .. } => stream.heartbeat(),
        }
    }

    /// Returns the last events of a stream that fails while its run goes on.
    fn broken(&self, error: &ErrorReply) -> Vec<StreamEvent> {
        match self {
            Self::Chat(_) => vec![StreamEvent::unnamed(error.body())],
            // Without a terminal event a client asks again, and attaches to the run.
            Self::Response { .. } => Vec::new(),
        }
    }
}

/// What a stream is made of.
pub(crate) struct StreamParts {
    pub(crate) started: StartedRun,
    pub(crate) shape: EventShape,
    pub(crate) watch: StreamWatch,
    pub(crate) guard: ClientGuard,
}

struct EventSource {
    parts: StreamParts,
    reader: AnswerReader,
    ready: VecDeque<StreamEvent>,
    is_over: bool,
}

/// Returns the response that streams an answer.
pub(crate) fn streamed(parts: StreamParts) -> Response {
    let reader = AnswerReader::new(parts.started.part);
    let source = EventSource { parts, reader, ready: VecDeque::new(), is_over: false };
    let chunks = futures::stream::unfold(source, |mut source| async move {
        let event = source.next().await?;
        Some((Ok::<_, Infallible>(event.encode()), source))
    });
    let mut response = Response::new(Body::from_stream(chunks));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

impl EventSource {
    async fn next(&mut self) -> Option<StreamEvent> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            if self.is_over {
                return None;
            }
            let followed = tokio::select! {
                biased;
                signal = self.parts.watch.next() => match signal {
                    StreamSignal::Heartbeat => return Some(self.parts.shape.heartbeat()),
                    StreamSignal::Ended(refusal) => {
                        self.fail(&ErrorReply::from(&refusal));
                        continue;
                    }
                },
                followed = self.parts.started.follower.next() => followed,
            };
            match followed {
                Ok(Some(TapeFollowEvent::Entry(entry))) => {
                    for step in self.reader.read(&entry) {
                        if matches!(step, AnswerStep::Ended(_)) {
                            self.end();
                        }
                        self.ready.extend(self.parts.shape.events(&step));
                    }
                }
                Ok(Some(TapeFollowEvent::CaughtUp(_))) => {}
                Ok(None) => self.end(),
                Err(error) => self.fail(&error.into()),
            }
        }
    }

    fn end(&mut self) {
        self.is_over = true;
        self.parts.guard.keep_run();
    }

    fn fail(&mut self, error: &ErrorReply) {
        self.end();
        self.ready.extend(self.parts.shape.broken(error));
    }
}

#[cfg(test)]
mod tests {
    use palyra_types::ErrorCode;

    use super::*;
    use crate::identifiers::{ResponseId, ResponseRetention};
    use crate::reply::chat_stream::UsageReport;
    use crate::reply::response_object::{RequestEcho, ResponseFacts};
    use crate::tape_fixture::run_id;

    #[test]
    fn a_stream_that_breaks_ends_with_an_error_in_chat_and_without_a_terminal_event_in_a_response() {
        let error = ErrorReply::of_code(ErrorCode::ShuttingDown, "The daemon stops.");
        let chat = EventShape::Chat(ChatStream::new(run_id(), 0, "palyra", UsageReport::Included));
        assert_eq!(chat.broken(&error), [StreamEvent::unnamed(error.body())]);
        let id = ResponseId { run: run_id(), part: 0, retention: ResponseRetention::Stored };
        let model = "palyra".to_owned();
        let facts = ResponseFacts { id, model, created: 0, echo: RequestEcho::default() };
        let stream = Box::new(ResponseStream::new(facts));
        assert_eq!(EventShape::Response { stream, after: None }.broken(&error), []);
    }
}
