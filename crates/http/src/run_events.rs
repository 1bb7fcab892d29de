//! `GET /api/v1/runs/{run_id}/events`: the tape of one run as server-sent events, from a number to its end.
//!
//! Owns nothing of the run. Every entry is one unnamed event whose id is its `tape_seq`, so a browser that comes back
//! with `Last-Event-ID` goes on where it was; numbers are dense, and each entry comes once. `caught_up`, `heartbeat`,
//! `end` and `error` are named events without an id.

use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use palyra_api::{ApiError, id, run_state, tape_entry};
use palyra_runtime::tape::{TapeFollowEvent, TapeFollower};
use palyra_types::TapeSeq;
use palyra_types::run::RunLifecycleState;
use palyra_wire::json::to_json_with_defaults;
use serde_json::json;

use crate::identity::HttpIdentity;
use crate::media_type::EVENTS;
use crate::quota::QuotaShare;
use crate::response_stream::streamed;
use crate::server_sent_events::SentEvent;
use crate::services::HttpServices;
use crate::stream_watch::{StreamSignal, StreamWatch};

/// What a browser sends when it comes back.
const LAST_EVENT_ID: &str = "last-event-id";
/// The parameter for clients that choose where to begin.
const AFTER: &str = "after_tape_seq";

/// Where a client wants to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StartPlace {
    /// After an entry that the client names, or from the beginning.
    After(TapeSeq),
    /// After the last event that a client saw which comes back by itself.
    Resumed(TapeSeq),
}

/// Answers with the events of a run.
///
/// A client that comes back by itself after the last entry of a run that is over gets 204, which ends an `EventSource`.
pub(crate) async fn respond(
    services: &HttpServices,
    identity: HttpIdentity,
    run_id: &str,
    query: &[(String, String)],
    headers: &HeaderMap,
) -> Result<Response, ApiError> {
    let run = id("run_id", run_id)?;
    let place = start_place(query, headers)?;
    let (StartPlace::After(after) | StartPlace::Resumed(after)) = place;
    let caller = identity.caller();
    let follower = services.state.tapes.follow(caller, run, after).await?;
    if matches!(place, StartPlace::Resumed(_)) && follower.ended_as().is_some() {
        let record = services.state.runs.get(caller, run).await?;
        if record.last_tape_seq == after {
            return Ok(StatusCode::NO_CONTENT.into_response());
        }
    }
    let share = services.stream_share(caller.actor.principal)?;
    let watch = services.watch(identity);
    let events = RunEvents { follower, watch, is_over: false, _share: share };
    let chunks = futures::stream::unfold(events, |mut events| async move {
        let event = events.next().await?;
        Some((event.to_string(), events))
    });
    Ok(streamed(EVENTS, chunks))
}

fn start_place(query: &[(String, String)], headers: &HeaderMap) -> Result<StartPlace, ApiError> {
    let number = |text: &str, what: &str| {
        text.parse()
            .map(TapeSeq)
            .map_err(|_| ApiError::invalid_argument(&format!("`{what}` must be a number of an entry")))
    };
    if let Some(value) = headers.get(LAST_EVENT_ID) {
        return Ok(StartPlace::Resumed(number(value.to_str().unwrap_or_default(), LAST_EVENT_ID)?));
    }
    match query {
        [] => Ok(StartPlace::After(TapeSeq(0))),
        [(name, value)] if name == AFTER => Ok(StartPlace::After(number(value, AFTER)?)),
        _ => Err(ApiError::invalid_argument("the only parameter is `after_tape_seq`, once")),
    }
}

/// The events of one run on their way to one client.
struct RunEvents {
    follower: TapeFollower,
    watch: StreamWatch,
    is_over: bool,
    _share: QuotaShare,
}

impl RunEvents {
    async fn next(&mut self) -> Option<SentEvent> {
        if self.is_over {
            return None;
        }
        let followed = tokio::select! {
            biased;
            signal = self.watch.next() => return Some(self.on_signal(signal)),
            followed = self.follower.next() => followed,
        };
        Some(match followed {
            Ok(Some(TapeFollowEvent::Entry(entry))) => {
                let json = to_json_with_defaults(&tape_entry(&entry));
                SentEvent::numbered(entry.tape_seq.0.into(), json.to_string())
            }
            Ok(Some(TapeFollowEvent::CaughtUp(last))) => SentEvent::named("caught_up", place_json(last)),
            Ok(None) => self.end(),
            Err(error) => self.fail(&error.into()),
        })
    }

    fn on_signal(&mut self, signal: StreamSignal) -> SentEvent {
        match signal {
            StreamSignal::Heartbeat => SentEvent::heartbeat(place_json(self.follower.last())),
            StreamSignal::Ended(refusal) => self.fail(&refusal),
        }
    }

    fn end(&mut self) -> SentEvent {
        self.is_over = true;
        let state = self.follower.ended_as().map(state_name);
        let data = json!({ "state": state, "tape_seq": self.follower.last().0 });
        SentEvent::named("end", data.to_string())
    }

    fn fail(&mut self, refusal: &ApiError) -> SentEvent {
        self.is_over = true;
        SentEvent::named("error", crate::refusal::error_json(refusal).to_string())
    }
}

fn place_json(last: TapeSeq) -> String {
    json!({ "tape_seq": last.0 }).to_string()
}

/// Returns the name of a state as messages have it.
fn state_name(state: RunLifecycleState) -> String {
    palyra_wire::v1::RunState::try_from(run_state(state))
        .map(|state| state.as_str_name().to_owned())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(query: &[(&str, &str)], last_event_id: Option<&str>) -> Option<StartPlace> {
        let query: Vec<_> =
            query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let mut headers = HeaderMap::new();
        if let Some(id) = last_event_id {
            headers.insert(LAST_EVENT_ID, id.parse().expect("a header value"));
        }
        start_place(&query, &headers).ok()
    }

    /// A browser keeps the address, and so the parameter, when it comes back.
    #[test]
    fn what_a_client_saw_last_counts_before_where_it_began() {
        assert_eq!(place(&[], None), Some(StartPlace::After(TapeSeq(0))));
        assert_eq!(place(&[(AFTER, "3")], None), Some(StartPlace::After(TapeSeq(3))));
        assert_eq!(place(&[(AFTER, "3")], Some("7")), Some(StartPlace::Resumed(TapeSeq(7))));
        for bad in ["", "-1", "1.5", "99999999999", "x"] {
            assert_eq!((place(&[(AFTER, bad)], None), place(&[], Some(bad))), (None, None), "{bad}");
        }
        assert_eq!(place(&[(AFTER, "1"), (AFTER, "2")], None), None);
        assert_eq!(place(&[("after", "1")], None), None);
    }
}
