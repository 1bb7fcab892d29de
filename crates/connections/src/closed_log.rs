//! Log lines about closed connections: one line for many, because any user of this machine can cause them.
//!
//! Invariant: at most one line in [`LINE_SPAN`], which counts all since the one before.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Between two lines, at least.
pub(crate) const LINE_SPAN: Duration = Duration::from_secs(60);

/// Counts what the next line says.
#[derive(Debug, Default)]
pub struct ClosedLog(Mutex<LogCounts>);

#[derive(Debug, Default)]
struct LogCounts {
    closed: u64,
    failed: u64,
    last_line: Option<Instant>,
}

impl LogCounts {
    fn is_due(&self, now: Instant) -> bool {
        self.last_line.is_none_or(|last| now >= last + LINE_SPAN)
    }

    /// Returns what a line that is due says.
    fn line(&mut self, now: Instant) -> Option<(u64, u64)> {
        let counts = (self.closed, self.failed);
        if counts == (0, 0) || !self.is_due(now) {
            return None;
        }
        *self = Self { last_line: Some(now), ..Self::default() };
        Some(counts)
    }
}

impl ClosedLog {
    /// A connection was closed: there were too many, or it showed no token in time.
    pub fn note_closed(&self) {
        self.state().closed += 1;
        self.log(None);
    }

    /// A connection could not be accepted.
    pub fn note_failed(&self, error: &io::Error) {
        self.state().failed += 1;
        self.log(Some(error));
    }

    /// Says what is still to be said, when its time has come; waits without an end where there is nothing.
    pub async fn log_when_due(&self) {
        let due = {
            let state = self.state();
            (state.closed + state.failed > 0).then(|| state.last_line.map(|last| last + LINE_SPAN)).flatten()
        };
        match due {
            Some(due) => tokio::time::sleep_until(due).await,
            None => std::future::pending().await,
        }
        self.log(None);
    }

    fn log(&self, error: Option<&io::Error>) {
        if let Some((closed, failed)) = self.state().line(Instant::now()) {
            let error = error.map(tracing::field::display);
            tracing::warn!(
                closed,
                failed,
                error,
                "connections were closed without a call: too many, or no token in time"
            );
        }
    }

    fn state(&self) -> MutexGuard<'_, LogCounts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(log: &ClosedLog) -> (u64, u64) {
        let state = log.state();
        (state.closed, state.failed)
    }

    #[tokio::test(start_paused = true)]
    async fn many_connections_are_one_line_in_a_span() {
        let log = ClosedLog::default();
        let now = Instant::now();
        log.note_closed();
        assert_eq!(counts(&log), (0, 0), "the first is said at once");
        for _ in 0..5_000 {
            log.note_closed();
        }
        log.note_failed(&io::ErrorKind::OutOfMemory.into());
        assert_eq!(counts(&log), (5_000, 1), "the others are counted");
        log.log_when_due().await;
        assert!(now.elapsed() >= LINE_SPAN);
        assert_eq!(counts(&log), (0, 0), "and said together");
    }
}
