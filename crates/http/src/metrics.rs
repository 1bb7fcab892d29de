//! Counters in the text format of Prometheus.
//!
//! Labels are names of operations and classes of statuses, so their number is bounded; nothing of a user is in them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use palyra_ports::maintain_journal::JournalHealth;

use crate::services::HttpServices;

/// The text format, version 0.0.4.
const TEXT_FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";
/// Upper bounds of the buckets of durations, in milliseconds.
const BUCKETS_MS: [u32; 7] = [1, 5, 25, 100, 500, 2_500, 10_000];

/// What was answered since the start.
#[derive(Debug, Default)]
pub(crate) struct HttpMetrics(Mutex<AnswerCounts>);

#[derive(Debug, Default)]
struct AnswerCounts {
    /// By operation and hundreds of the status.
    answers: BTreeMap<(&'static str, u16), u64>,
    /// One for each bucket, then those that took longer.
    durations: [u64; BUCKETS_MS.len() + 1],
    duration_sum: Duration,
}

impl HttpMetrics {
    /// Counts an answer; for a stream the time is the one to its beginning.
    pub(crate) fn note(&self, operation: &'static str, status: StatusCode, span: Duration) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.answers.entry((operation, status.as_u16() / 100)).or_default() += 1;
        let bucket = BUCKETS_MS.iter().position(|bound| span <= Duration::from_millis((*bound).into()));
        counts.durations[bucket.unwrap_or(BUCKETS_MS.len())] += 1;
        counts.duration_sum = counts.duration_sum.saturating_add(span);
    }

    fn write(&self, text: &mut ExpositionText) {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        text.family("palyra_http_requests_total", "counter", "Answers by operation and class of status.");
        for ((operation, class), count) in &counts.answers {
            let labels = format!("{{operation=\"{operation}\",status=\"{class}xx\"}}");
            text.sample("palyra_http_requests_total", &labels, *count);
        }
        let name = "palyra_http_request_duration_seconds";
        text.family(name, "histogram", "Time to an answer, or to the beginning of a stream.");
        let mut sum = 0;
        for (bound, count) in BUCKETS_MS.iter().zip(&counts.durations) {
            sum += count;
            let bound = f64::from(*bound) / 1_000.0;
            text.sample(&format!("{name}_bucket"), &format!("{{le=\"{bound}\"}}"), sum);
        }
        let all: u64 = counts.durations.iter().sum();
        text.sample(&format!("{name}_bucket"), "{le=\"+Inf\"}", all);
        text.sample(&format!("{name}_sum"), "", counts.duration_sum.as_secs_f64());
        text.sample(&format!("{name}_count"), "", all);
    }
}

/// A text of samples.
#[derive(Default)]
struct ExpositionText(String);

impl ExpositionText {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &str, value: impl std::fmt::Display) {
        let _ = writeln!(self.0, "{name}{labels} {value}");
    }

    fn gauge(&mut self, name: &str, help: &str, value: impl std::fmt::Display) {
        self.family(name, "gauge", help);
        self.sample(name, "", value);
    }
}

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
    services.metrics.write(&mut text);
    let mut response = Response::new(Body::from(text.0));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(TEXT_FORMAT));
    response
}

fn label_text(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_counted_by_operation_class_and_bucket() {
        let metrics = HttpMetrics::default();
        metrics.note("GetRun", StatusCode::OK, Duration::from_millis(3));
        metrics.note("GetRun", StatusCode::OK, Duration::from_millis(30));
        metrics.note("GetRun", StatusCode::NOT_FOUND, Duration::from_secs(60));
        let mut text = ExpositionText::default();
        metrics.write(&mut text);
        for line in [
            "palyra_http_requests_total{operation=\"GetRun\",status=\"2xx\"} 2",
            "palyra_http_requests_total{operation=\"GetRun\",status=\"4xx\"} 1",
            "palyra_http_request_duration_seconds_bucket{le=\"0.001\"} 0",
            "palyra_http_request_duration_seconds_bucket{le=\"0.005\"} 1",
            "palyra_http_request_duration_seconds_bucket{le=\"10\"} 2",
            "palyra_http_request_duration_seconds_bucket{le=\"+Inf\"} 3",
            "palyra_http_request_duration_seconds_count 3",
        ] {
            assert!(text.0.lines().any(|found| found == line), "{line} in\n{}", text.0);
        }
    }

    #[test]
    fn a_label_cannot_end_its_line() {
        assert_eq!(label_text("1\"}\n\\"), "1\\\"}\\n\\\\");
    }
}
