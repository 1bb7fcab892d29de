//! The machine's own clock and randomness.

use std::io;
use std::os::fd::OwnedFd;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_ports::{Clock, Entropy};
use palyra_types::{BootTime, Timestamp};
use rustix::io::Errno;
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime,
    timerfd_create, timerfd_settime,
};
use tokio::sync::oneshot;

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
        let waiting = clock_set_timer().and_then(wait_for_set_clock);
        async move {
            match waiting {
                // The thread ends with an answer only.
                Ok(set) => drop(set.await),
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
/// The stack of the thread that waits for a set clock.
const CLOCK_THREAD_BYTES: usize = 64 * 1024;
/// The end of the wait for a set clock, in seconds since 1970: in the year 2200.
const CLOCK_WAIT_END: i64 = 7_258_118_400;

/// Makes a timer of the wall clock that is cancelled when the clock is set.
fn clock_set_timer() -> io::Result<OwnedFd> {
    let timer = timerfd_create(TimerfdClockId::Realtime, TimerfdFlags::CLOEXEC)?;
    let zero = Timespec { tv_sec: 0, tv_nsec: 0 };
    let wait = Itimerspec { it_interval: zero, it_value: Timespec { tv_sec: CLOCK_WAIT_END, tv_nsec: 0 } };
    timerfd_settime(&timer, TimerfdTimerFlags::ABSTIME | TimerfdTimerFlags::CANCEL_ON_SET, &wait)?;
    Ok(timer)
}

/// Waits in a thread until the kernel cancels the timer: a daemon has one such wait at a time, and it sleeps all the while.
fn wait_for_set_clock(timer: OwnedFd) -> io::Result<oneshot::Receiver<()>> {
    let (set_tx, set_rx) = oneshot::channel();
    let wait = move || {
        let mut expirations = [0; 8];
        while rustix::io::read(&timer, &mut expirations) == Err(Errno::INTR) {}
        // The one who waits may have left.
        let _ = set_tx.send(());
    };
    thread::Builder::new().name("wall-clock".to_owned()).stack_size(CLOCK_THREAD_BYTES).spawn(wait)?;
    Ok(set_rx)
}

/// The kernel's random numbers.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn fill(&self, buffer: &mut [u8]) {
        getrandom::fill(buffer).expect("the kernel gives random numbers once it has booted");
    }
}
