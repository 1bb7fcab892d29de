//! The machine's own clock and randomness.

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_ports::{Clock, Entropy};
use palyra_types::{BootTime, Timestamp};
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime,
    timerfd_create, timerfd_settime,
};
use tokio::io::unix::AsyncFd;

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

    fn wall_set(&self) -> BoxFuture<'static, ()> {
        let timer = clock_set_timer();
        async move {
            match timer {
                // The kernel makes the timer readable when the clock is set: a wait for a time in two centuries is cancelled.
                Ok(timer) => drop(timer.readable().await),
                Err(error) => {
                    tracing::warn!(%error, "a wall clock that is set is noticed late: the kernel gives no timer");
                    tokio::time::sleep(CLOCK_LOOK_SPAN).await;
                }
            }
        }
        .boxed()
    }
}

/// How often the wall clock is looked at where the kernel does not say when it is set.
const CLOCK_LOOK_SPAN: Duration = Duration::from_secs(60);
/// The end of the wait for a set clock, in seconds since 1970: in the year 2200.
const CLOCK_WAIT_END: i64 = 7_258_118_400;

/// Makes a timer of the wall clock that is cancelled when the clock is set.
#[expect(deprecated, reason = "an OwnedFd keeps its descriptor, as `register` demands of an unsafe caller")]
fn clock_set_timer() -> io::Result<AsyncFd<OwnedFd>> {
    let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
    let timer = timerfd_create(TimerfdClockId::Realtime, flags)?;
    let zero = Timespec { tv_sec: 0, tv_nsec: 0 };
    let wait = Itimerspec { it_interval: zero, it_value: Timespec { tv_sec: CLOCK_WAIT_END, tv_nsec: 0 } };
    timerfd_settime(&timer, TimerfdTimerFlags::ABSTIME | TimerfdTimerFlags::CANCEL_ON_SET, &wait)?;
    AsyncFd::new(timer)
}

/// The kernel's random numbers.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn fill(&self, buffer: &mut [u8]) {
        getrandom::fill(buffer).expect("the kernel gives random numbers once it has booted");
    }
}
