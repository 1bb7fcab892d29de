//! The page that Prometheus reads: what was answered, the journal, the runs and the tokens of models.

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;
use palyra_ports::maintain_journal::JournalHealth;

use crate::metrics::{ExpositionText, label_text};
use crate::services::HttpServices;

/// The text format, version 0.0.4.
const TEXT_FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";
/// Answers with all counters.
pub(crate) async fn exposition(services: &HttpServices) -> Response {
    let mut text = ExpositionText::default();
    let labels = format!("{{version=\"{}\"}}", label_text(&services.daemon.version));
    text.family("palyra_build_info", "gauge", "The version that runs.");
    text.sample("palyra_build_info", &labels, 1);
    let started = services.daemon.started.0 / 1_000_000;
    text.gauge("palyra_start_time_seconds", "When the daemon started, in seconds since the epoch.", started);
    let journal = services.state.journal.status();
    let writable = u8::from(journal.health == JournalHealth::Writable);
    text.gauge("palyra_journal_writable", "1 while the journal takes all entries.", writable);
    text.gauge("palyra_journal_entries", "Entries in the journal.", journal.entries);
    text.gauge("palyra_journal_database_bytes", "Size of the database file.", journal.database_bytes);
    text.gauge("palyra_journal_wal_bytes", "Size of the write-ahead log.", journal.wal_bytes);
    text.family("palyra_journal_commits_total", "counter", "Commits since the start.");
    text.sample("palyra_journal_commits_total", "", journal.commits);
    if let Ok(open) = services.state.health.open_runs().await {
        text.gauge("palyra_runs_open", "Runs that are not over.", open);
    }
    if let Ok(working) = services.state.health.working_runs().await {
        text.gauge(
            "palyra_runs_working",
            "Runs that work or wait for their turn, and not for a person.",
            working,
        );
    }
    if let Ok(used) = services.state.admin.usage.all_time().await {
        let name = "palyra_model_tokens_total";
        text.family(name, "counter", "Tokens that models read and wrote in all runs of the journal.");
        text.sample(name, "{kind=\"input\"}", used.input_tokens);
        text.sample(name, "{kind=\"output\"}", used.output_tokens);
    }
    services.metrics.write(&mut text);
    let mut response = Response::new(Body::from(text.0));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(TEXT_FORMAT));
    response
}
