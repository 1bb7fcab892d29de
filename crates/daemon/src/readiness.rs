//! Lines on standard output tell a starter how far a rebuild is, and at last that the daemon serves, or why it does not.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use palyra_ports::maintain_journal::ProgressCallback;
use palyra_types::ErrorCode;
use palyra_types::daemon_lock::DaemonLockRecord;

/// Characters of why every call is denied.
const DENIAL_CHARS_MAX: usize = 600;

/// Tells that the daemon serves; `denies_all` says why it denies every call, where it does.
pub(crate) fn tell_ready(record: &DaemonLockRecord, denies_all: Option<&str>) {
    tell(&ready_line(record, denies_all));
}

fn ready_line(record: &DaemonLockRecord, denies_all: Option<&str>) -> serde_json::Value {
    let mut line = serde_json::json!({
        "ready": true,
        "socket": record.socket,
        "pid": record.pid,
        "build_id": record.build_id,
        "model": record.model,
    });
    if let Some(why) = denies_all {
        line["denies_all"] = why.chars().take(DENIAL_CHARS_MAX).collect::<String>().into();
    }
    line
}

/// Time between two lines of progress; a starter waits longer for the next one.
const PROGRESS_EVERY: Duration = Duration::from_secs(1);

/// Returns what tells how far the rebuild of the journal's records is.
pub(crate) fn rebuild_progress() -> ProgressCallback {
    let pace = Mutex::new(ProgressPace::default());
    Arc::new(move |done, total| {
        if pace.lock().unwrap_or_else(PoisonError::into_inner).is_due(Instant::now()) {
            tell(&serde_json::json!({ "rebuilding": { "done": done, "total": total } }));
        }
    })
}

/// When the next line of progress is due.
#[derive(Debug, Default)]
struct ProgressPace {
    last: Option<Instant>,
}

impl ProgressPace {
    fn is_due(&mut self, now: Instant) -> bool {
        let is_due = self.last.is_none_or(|last| now.saturating_duration_since(last) >= PROGRESS_EVERY);
        if is_due {
            self.last = Some(now);
        }
        is_due
    }
}

/// Tells that it will not serve.
pub(crate) fn tell_failed(code: ErrorCode, message: &str) {
    tell(&serde_json::json!({ "ready": false, "code": code.to_string(), "message": message }));
}

fn tell(line: &serde_json::Value) {
    let mut out = std::io::stdout().lock();
    // A starter that left does not want to know.
    let _ = writeln!(out, "{line}");
    let _ = out.flush();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_told_at_once_and_then_at_a_pace() {
        let (mut pace, begun) = (ProgressPace::default(), Instant::now());
        let due =
            [0, 1, 999, 1_000, 1_500, 2_000].map(|millis| pace.is_due(begun + Duration::from_millis(millis)));
        assert_eq!(due, [true, false, false, true, false, true]);
    }
}
