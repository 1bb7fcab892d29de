//! Counters in the text format of Prometheus.
//!
//! Labels are names of operations and classes of statuses, so their number is bounded; nothing of a user is in them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;

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

    /// Adds what was counted to a text.
    pub(crate) fn write(&self, text: &mut ExpositionText) {
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
pub(crate) struct ExpositionText(pub(crate) String);

impl ExpositionText {
    pub(crate) fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    pub(crate) fn sample(&mut self, name: &str, labels: &str, value: impl std::fmt::Display) {
        let _ = writeln!(self.0, "{name}{labels} {value}");
    }

    pub(crate) fn gauge(&mut self, name: &str, help: &str, value: impl std::fmt::Display) {
        self.family(name, "gauge", help);
        self.sample(name, "", value);
    }
}

/// Returns a text as the value of a label.
pub(crate) fn label_text(value: &str) -> String {
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
