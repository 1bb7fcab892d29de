//! The machine's own clock and randomness.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_ports::{Clock, Entropy};
use palyra_types::{BootTime, Timestamp};
use rustix::time::{ClockId, clock_gettime};

/// The kernel's clocks: `CLOCK_REALTIME` and `CLOCK_BOOTTIME`.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    fn wall(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }

    fn boot(&self) -> BootTime {
        let now = clock_gettime(ClockId::Boottime);
        let micros = now.tv_sec.saturating_mul(1_000_000).saturating_add(now.tv_nsec / 1_000);
        BootTime(u64::try_from(micros).unwrap_or(0))
    }

    fn sleep_until(&self, deadline: BootTime) -> BoxFuture<'static, ()> {
        let clock = *self;
        async move {
            // Timers may fire early by their granularity, and do not count sleep: look again.
            loop {
                let left = deadline.since(clock.boot());
                if left.is_zero() {
                    return;
                }
                tokio::time::sleep(left.min(Duration::from_secs(60))).await;
            }
        }
        .boxed()
    }
}

/// The kernel's random numbers.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn fill(&self, buffer: &mut [u8]) {
        getrandom::fill(buffer).expect("the kernel gives random numbers once it has booted");
    }
}
