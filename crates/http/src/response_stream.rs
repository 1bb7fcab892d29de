//! Server streams of operations: a line of JSON each, or server-sent events where the client asks for them.
//!
//! Pulled by the client: nothing is queued here. A refusal after the first message is the last line.

use std::convert::Infallible;

use axum::body::{Body, Bytes};
use axum::http::HeaderValue;
use axum::http::header::{ACCEPT, CONTENT_TYPE, HeaderMap};
use axum::response::Response;
use futures::{Stream, StreamExt};
use palyra_api::{ApiError, ResponseStream};
use palyra_wire::json::bytes_to_json_with_defaults;
use palyra_wire::operations::OperationSpec;

use crate::media_type::{EVENTS, JSON_LINES};
use crate::quota::QuotaShare;
use crate::refusal::error_json;
use crate::server_sent_events::SentEvent;
use crate::stream_watch::{StreamSignal, StreamWatch};

/// How the messages of a stream are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamForm {
    /// A line of JSON each.
    Lines,
    /// An event each, and one at the end.
    Events,
}

impl StreamForm {
    /// Returns the form that a client asks for.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let types = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
        let mut types = types.flat_map(|types| types.split(','));
        let names_events =
            |name: &str| name.split(';').next().is_some_and(|name| name.trim().eq_ignore_ascii_case(EVENTS));
        if types.any(names_events) { Self::Events } else { Self::Lines }
    }

    fn media_type(self) -> &'static str {
        match self {
            Self::Lines => JSON_LINES,
            Self::Events => EVENTS,
        }
    }

    fn message(self, json: &str) -> String {
        match self {
            Self::Lines => format!("{json}\n"),
            Self::Events => SentEvent { data: json.to_owned(), ..SentEvent::default() }.to_string(),
        }
    }

    fn refusal(self, refusal: &ApiError) -> String {
        let json = error_json(refusal).to_string();
        match self {
            Self::Lines => format!("{json}\n"),
            Self::Events => SentEvent::named("error", json).to_string(),
        }
    }

    /// Lines have no sign of life: a line is a message.
    fn heartbeat(self) -> Option<String> {
        match self {
            Self::Lines => None,
            Self::Events => Some(SentEvent::heartbeat("{}".to_owned()).to_string()),
        }
    }

    fn end(self) -> Option<String> {
        match self {
            Self::Lines => None,
            Self::Events => Some(SentEvent::named("end", "{}".to_owned()).to_string()),
        }
    }
}

/// Returns the response of a server stream.
///
/// # Errors
/// The refusal that takes the place of the first message.
pub(crate) async fn respond(
    form: StreamForm,
    operation: &'static OperationSpec,
    mut steps: ResponseStream<Vec<u8>>,
    watch: StreamWatch,
    share: QuotaShare,
) -> Result<Response, ApiError> {
    // What is there at once decides over the status; a stream that waits begins without its first message.
    let first = match futures::poll!(steps.next()) {
        std::task::Poll::Ready(Some(Err(refusal))) => return Err(refusal),
        std::task::Poll::Ready(first) => Some(first),
        std::task::Poll::Pending => None,
    };
    let stream = MessageStream { form, operation, steps, first, watch, is_over: false, _share: share };
    let chunks = futures::stream::unfold(stream, |mut stream| async move {
        let chunk = stream.next().await?;
        Some((chunk, stream))
    });
    Ok(streamed(form.media_type(), chunks))
}

/// Returns a response whose body is these texts as they come.
pub fn streamed(media_type: &'static str, chunks: impl Stream<Item = String> + Send + 'static) -> Response {
    let chunks = chunks.map(|chunk| Ok::<_, Infallible>(Bytes::from(chunk)));
    let mut response = Response::new(Body::from_stream(chunks));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    // A proxy in between is not to wait for more.
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// The messages of one operation on their way to one client.
struct MessageStream {
    form: StreamForm,
    operation: &'static OperationSpec,
    steps: ResponseStream<Vec<u8>>,
    /// What was there before the response began.
    first: Option<Option<Result<Vec<u8>, ApiError>>>,
    watch: StreamWatch,
    is_over: bool,
    _share: QuotaShare,
}

impl MessageStream {
    async fn next(&mut self) -> Option<String> {
        while !self.is_over {
            if let Some(first) = self.first.take() {
                return self.step(first);
            }
            let signal = tokio::select! {
                biased;
                signal = self.watch.next() => signal,
                step = self.steps.next() => return self.step(step),
            };
            match (signal, self.form.heartbeat()) {
                (StreamSignal::Heartbeat, Some(heartbeat)) => return Some(heartbeat),
                (StreamSignal::Heartbeat, None) => {}
                (StreamSignal::Ended(refusal), _) => return self.step(Some(Err(refusal))),
            }
        }
        None
    }

    fn step(&mut self, step: Option<Result<Vec<u8>, ApiError>>) -> Option<String> {
        match step {
            Some(Ok(bytes)) => {
                let json = bytes_to_json_with_defaults(self.operation.output, &bytes).unwrap_or_default();
                Some(self.form.message(&json.to_string()))
            }
            Some(Err(refusal)) => {
                self.is_over = true;
                Some(self.form.refusal(&refusal))
            }
            None => {
                self.is_over = true;
                self.form.end()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_sent_where_the_client_names_them() {
        let form = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(ACCEPT, value.parse().expect("a header value"));
            }
            StreamForm::of(&headers)
        };
        for lines in [&[][..], &["*/*"], &["application/json, application/x-ndjson"]] {
            assert_eq!(form(lines), StreamForm::Lines, "{lines:?}");
        }
        for events in [&["text/event-stream"][..], &["application/json", "Text/Event-Stream;q=0.9"]] {
            assert_eq!(form(events), StreamForm::Events, "{events:?}");
        }
    }
}
