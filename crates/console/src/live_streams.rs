//! Streams for pages that are open: the rows of a run as they are recorded, and what waits as it changes.
//!
//! Owns nothing of the run. A row is an unnamed event whose id is its `tape_seq`, so a browser that comes back goes on where
//! it was. A stream ends when its session does.

use std::sync::Arc;

use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use palyra_api::{ApiError, ResponseStream, admit, admit_request, id, tape_entry};
use palyra_http::{SentEvent, StreamSignal, StreamWatch, streamed};
use palyra_runtime::tape::{TapeFollowEvent, TapeFollower};
use palyra_types::{ErrorCode, RunId, TapeSeq};
use palyra_wire::operations::OperationSpec;
use palyra_wire::v1;
use prost::Message;
use serde_json::json;
use tokio::sync::OwnedSemaphorePermit;

use crate::screen_call::ScreenCall;
use crate::tape_row::tape_row;
use crate::wording::item_key;

/// The header of a browser that connects again.
const LAST_EVENT_ID: &str = "last-event-id";
const EVENT_STREAM: &str = "text/event-stream";
/// The event after which a page does not come back.
const REFUSED: &str = "refused";

/// Answers with the rows of a run after a number, to its end.
pub(crate) async fn run_events(call: ScreenCall, headers: &HeaderMap) -> Result<Response, ApiError> {
    admit_request::<v1::ReadTapeRequest>(&call.services.state.admin.access, &call.caller()).await?;
    let run: RunId = id("run_id", &call.param("run_id"))?;
    let returning = headers.get(LAST_EVENT_ID).and_then(|seen| seen.to_str().ok()?.parse().ok());
    let after = TapeSeq(returning.unwrap_or_else(|| call.query_number("after")));
    let follower = call.services.state.tapes.follow(call.caller(), run, after).await?;
    if returning.is_some() && follower.ended_as().is_some() {
        let record = call.services.state.runs.get(call.caller(), run).await?;
        if record.last_tape_seq == after {
            return Ok(StatusCode::NO_CONTENT.into_response());
        }
    }
    let rows = RunRows { follower, stream: OpenStream::of(&call)?, is_over: false };
    Ok(streamed(
        EVENT_STREAM,
        futures::stream::unfold(rows, |mut rows| async move {
            let event = rows.next().await?;
            Some((event.to_string(), rows))
        }),
    ))
}

/// Answers with the keys of what waits, now and after each change.
pub(crate) async fn attention_events(call: ScreenCall) -> Result<Response, ApiError> {
    let missing = || ApiError::new(ErrorCode::Internal, "an operation has no handler".to_owned());
    let watching = OperationSpec::by_name("WatchAttention").ok_or_else(missing)?;
    admit(&call.services.state.admin.access, watching, &call.caller()).await?;
    let message = v1::WatchAttentionRequest::default().encode_to_vec();
    let steps = call.services.operations.dispatch_stream(watching.path, call.caller(), &message).await;
    let steps = steps.ok_or_else(missing)??;
    let changes = AttentionChanges { steps, stream: OpenStream::of(&call)?, is_over: false };
    Ok(streamed(
        EVENT_STREAM,
        futures::stream::unfold(changes, |mut changes| async move {
            let event = changes.next().await?;
            Some((event.to_string(), changes))
        }),
    ))
}

/// A stream that a page has open.
struct OpenStream {
    watch: StreamWatch,
    _permit: OwnedSemaphorePermit,
}

impl OpenStream {
    fn of(call: &ScreenCall) -> Result<Self, ApiError> {
        let services = &call.services;
        let permit = services.streams.clone().try_acquire_owned().map_err(|_| {
            let text = "too many pages are open; close one".to_owned();
            ApiError::new(ErrorCode::TooManyStreams, text)
        })?;
        let clock = Arc::clone(&services.clock);
        let watch =
            StreamWatch::new(call.session.identity.clone(), &services.state, clock, services.stop.clone());
        Ok(Self { watch, _permit: permit })
    }
}

fn heartbeat() -> SentEvent {
    SentEvent::heartbeat("{}".to_owned())
}

/// Returns the last event: one whose page comes back, or one whose page does not.
fn last_event(refusal: &ApiError) -> SentEvent {
    let name = if refusal.code() == ErrorCode::ShuttingDown { "restart" } else { REFUSED };
    SentEvent::named(name, json!({ "code": refusal.code().to_string() }).to_string())
}

struct RunRows {
    follower: TapeFollower,
    stream: OpenStream,
    is_over: bool,
}

impl RunRows {
    async fn next(&mut self) -> Option<SentEvent> {
        while !self.is_over {
            let followed = tokio::select! {
                biased;
                signal = self.stream.watch.next() => return Some(self.on_signal(&signal)),
                followed = self.follower.next() => followed,
            };
            match followed {
                Ok(Some(TapeFollowEvent::Entry(entry))) => {
                    let row = tape_row(&tape_entry(&entry)).into_string();
                    return Some(SentEvent::numbered(
                        entry.tape_seq.0.into(),
                        json!({ "html": row }).to_string(),
                    ));
                }
                Ok(Some(TapeFollowEvent::CaughtUp(_))) => {}
                Ok(None) => {
                    self.is_over = true;
                    return Some(SentEvent::named("end", "{}".to_owned()));
                }
                Err(error) => {
                    self.is_over = true;
                    return Some(last_event(&error.into()));
                }
            }
        }
        None
    }

    fn on_signal(&mut self, signal: &StreamSignal) -> SentEvent {
        match signal {
            StreamSignal::Heartbeat => heartbeat(),
            StreamSignal::Ended(refusal) => {
                self.is_over = true;
                last_event(refusal)
            }
        }
    }
}

struct AttentionChanges {
    steps: ResponseStream<Vec<u8>>,
    stream: OpenStream,
    is_over: bool,
}

impl AttentionChanges {
    async fn next(&mut self) -> Option<SentEvent> {
        while !self.is_over {
            let step = tokio::select! {
                biased;
                signal = self.stream.watch.next() => match signal {
                    StreamSignal::Heartbeat => return Some(heartbeat()),
                    StreamSignal::Ended(refusal) => Some(Err(refusal)),
                },
                step = self.steps.next() => step,
            };
            match step {
                Some(Ok(bytes)) => {
                    if let Some(keys) = keys_of(&bytes) {
                        let data = json!({ "keys": keys }).to_string();
                        return Some(SentEvent { data, ..SentEvent::default() });
                    }
                }
                Some(Err(refusal)) => {
                    self.is_over = true;
                    return Some(last_event(&refusal));
                }
                None => self.is_over = true,
            }
        }
        None
    }
}

/// Returns the keys of what waits; `None` for a sign of life.
fn keys_of(step: &[u8]) -> Option<Vec<String>> {
    match v1::WatchAttentionResponse::decode(step).ok()?.step? {
        v1::watch_attention_response::Step::List(list) => Some(list.items.iter().map(item_key).collect()),
        v1::watch_attention_response::Step::Heartbeat(_) => None,
    }
}
