//! Releases the mapped pages of the program's file while the daemon has nothing to do.
//!
//! Owns when: the daemon was busy since the last release, and has been at rest for one interval. Looks at processor time
//! alone and knows no runs. Begin at [`run`].

use std::time::Duration;

use futures::channel::oneshot;
use rustix::time::{ClockId, clock_gettime};

/// How often processor time is looked at; rest is an interval with less than [`REST_MAX`].
const INTERVAL: Duration = Duration::from_secs(15);
/// Processor time of an interval at rest.
const REST_MAX: Duration = Duration::from_millis(20);

/// Looks at the process for as long as it runs.
pub(crate) async fn run() {
    let mut intervals = tokio::time::interval(INTERVAL);
    intervals.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut watch = IdleWatch::default();
    loop {
        intervals.tick().await;
        if watch.is_due(processor_time()) {
            match release().await {
                Ok(bytes) => tracing::debug!(bytes, "released pages of the program's file"),
                Err(error) => {
                    tracing::warn!(%error, "could not release pages of the program's file");
                    return;
                }
            }
        }
    }
}

/// Releases the pages on a thread of its own: the kernel looks at every mapped page to list the mappings, and a thread of
/// the blocking pool would stay for ten seconds of a rest that is to cost nothing.
async fn release() -> std::io::Result<usize> {
    let (answer, answered) = oneshot::channel();
    let work = move || drop(answer.send(palyra_sandbox::release_program_pages()));
    std::thread::Builder::new().name("release-pages".to_owned()).spawn(work)?;
    answered.await.map_err(std::io::Error::other)?
}

fn processor_time() -> Duration {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(used.tv_sec.unsigned_abs(), u32::try_from(used.tv_nsec).unwrap_or(0))
}

/// Decides when pages are released.
#[derive(Debug, Default)]
struct IdleWatch {
    /// Processor time at the last look.
    last: Duration,
    /// Whether there was an interval of work since the last release; a start is work.
    was_busy: bool,
}

impl IdleWatch {
    /// Takes the processor time used so far and returns whether to release now.
    fn is_due(&mut self, used: Duration) -> bool {
        let is_busy = used.saturating_sub(self.last) > REST_MAX;
        self.last = used;
        let is_due = self.was_busy && !is_busy;
        self.was_busy = is_busy;
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn no_thread_stays_after_a_release() {
        let threads = || std::fs::read_dir("/proc/self/task").unwrap().count();
        let before = threads();
        for _ in 0..3 {
            release().await.unwrap();
        }
        // The thread ends after it answered.
        let ended = std::iter::repeat_with(|| {
            std::thread::yield_now();
            threads()
        });
        assert!(ended.take(100_000).any(|now| now <= before));
    }

    #[test]
    fn pages_are_released_once_after_each_time_of_work() {
        let mut watch = IdleWatch::default();
        let due: Vec<bool> = [90, 91, 92, 92, 500, 900, 905, 906, 925, 926]
            .map(|milliseconds| watch.is_due(Duration::from_millis(milliseconds)))
            .into();
        let expected = [false, true, false, false, false, false, true, false, false, false];
        assert_eq!(due, expected);
    }
}
