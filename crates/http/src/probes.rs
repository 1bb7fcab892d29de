//! Probes for supervisors, without a token: whether the process lives, and whether it can work.
//!
//! What they say holds nothing of anyone: names of checks, and how old the newest entry is.

use std::time::Duration;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use palyra_ports::ReadError;
use palyra_ports::maintain_journal::JournalHealth;
use palyra_types::{Seq, Timestamp};
use serde_json::{Value, json};

use crate::operation_call::json_response;
use crate::services::HttpServices;

/// Time for the journal and the runs to answer.
const ANSWER_SPAN: Duration = Duration::from_secs(2);

/// Answers whether the process lives.
pub(crate) async fn health() -> Response {
    json_response(&json!({ "status": "ok" }))
}

/// Answers whether new work can begin: 503 where it cannot.
pub(crate) async fn readiness(services: &HttpServices) -> Response {
    let journal = services.state.journal.status();
    let newest = tokio::time::timeout(ANSWER_SPAN, newest_entry(services, journal.entries));
    let runs = tokio::time::timeout(ANSWER_SPAN, services.state.health.working_runs());
    let (newest, runs) = tokio::join!(newest, runs);
    let checks = [
        ("serving", !services.daemon.stop_requested.is_cancelled()),
        ("journal_writable", journal.health == JournalHealth::Writable),
        ("journal_answers", matches!(newest, Ok(Ok(_)))),
        ("runs_answer", matches!(runs, Ok(Ok(_)))),
    ];
    let is_ready = checks.iter().all(|(_, holds)| *holds);
    let named: serde_json::Map<String, Value> =
        checks.iter().map(|(name, holds)| ((*name).to_owned(), (*holds).into())).collect();
    let age = newest.ok().and_then(Result::ok).flatten();
    let age = age.map(|time| services.clock.wall().since(time).as_secs());
    let status = if is_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let body = json!({ "ready": is_ready, "checks": named, "newest_entry_age_seconds": age });
    (status, json_response(&body)).into_response()
}

/// Returns when the newest entry was written, as the journal says when it is read.
async fn newest_entry(services: &HttpServices, entries: u64) -> Result<Option<Timestamp>, ReadError> {
    let read = services.state.journal.entries(Seq(entries.saturating_sub(1)), 1).await?;
    Ok(read.first().map(|entry| entry.time))
}
