//! A clock that moves only when a test says so.
//!
//! Owns the time and who sleeps until when. Invariant: sleepers are woken in the order of their deadlines,
//! and among equal deadlines in the order in which they lay down.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use palyra_ports::Clock;
use palyra_types::{BootTime, Timestamp};
use tokio::sync::{Notify, oneshot};

/// The wall time at which a fake clock begins: 2025-01-01 00:00:00 UTC.
pub const FAKE_WALL_START: Timestamp = Timestamp(1_735_689_600_000_000);

/// A clock for tests. Clones show the same time.
#[derive(Debug, Clone, Default)]
pub struct FakeClock {
    inner: Arc<ClockShared>,
}

#[derive(Debug, Default)]
struct ClockShared {
    state: Mutex<ClockState>,
    slept: Notify,
    /// Wakes in the order in which they began to wait, so that a simulation repeats itself.
    wall_set: Arc<Notify>,
}

#[derive(Debug, Default)]
struct ClockState {
    elapsed: Duration,
    /// Microseconds that the wall clock is ahead of where it would be, or behind.
    ahead: i64,
    sleepers: BTreeMap<(BootTime, u64), oneshot::Sender<()>>,
    sleepers_ever: u64,
}

impl ClockState {
    fn boot(&self) -> BootTime {
        BootTime::default().after(self.elapsed)
    }

    fn has_sleeper_until(&self, deadline: BootTime) -> bool {
        self.sleepers.range((deadline, 0)..=(deadline, u64::MAX)).any(|(_, sleeper)| !sleeper.is_closed())
    }

    fn next_deadline(&mut self) -> Option<BootTime> {
        self.sleepers.retain(|_, sleeper| !sleeper.is_closed());
        self.sleepers.first_key_value().map(|((deadline, _), _)| *deadline)
    }
}

impl FakeClock {
    /// Makes a clock at [`FAKE_WALL_START`] and boot time zero.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Moves both times on and wakes whoever is due.
    pub fn advance(&self, span: Duration) {
        let mut state = self.lock();
        state.elapsed += span;
        let now = state.boot();
        while state.next_deadline().is_some_and(|deadline| deadline <= now) {
            let Some((_, sleeper)) = state.sleepers.pop_first() else { return };
            // A sleeper that was dropped meanwhile needs no waking.
            let _ = sleeper.send(());
        }
    }

    /// Sets the wall clock so many microseconds ahead of where it would be if nobody had set it, or behind; boot time
    /// and sleepers do not notice, and those that wait for a set clock wake.
    pub fn set_wall_ahead(&self, microseconds: i64) {
        self.lock().ahead = microseconds;
        self.inner.wall_set.notify_waiters();
    }

    /// Returns the earliest time somebody sleeps until; sleepers that were dropped do not count.
    #[must_use]
    pub fn next_deadline(&self) -> Option<BootTime> {
        self.lock().next_deadline()
    }

    /// Waits until somebody sleeps; returns the earliest deadline.
    pub async fn someone_sleeps(&self) -> BootTime {
        loop {
            let slept = self.inner.slept.notified();
            tokio::pin!(slept);
            slept.as_mut().enable();
            if let Some(deadline) = self.next_deadline() {
                return deadline;
            }
            slept.await;
        }
    }

    /// Waits for a sleeper with exactly this deadline.
    pub async fn someone_sleeps_until(&self, deadline: BootTime) {
        loop {
            let slept = self.inner.slept.notified();
            tokio::pin!(slept);
            slept.as_mut().enable();
            if self.lock().has_sleeper_until(deadline) {
                return;
            }
            slept.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, ClockState> {
        self.inner.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for FakeClock {
    fn wall(&self) -> Timestamp {
        let state = self.lock();
        Timestamp(FAKE_WALL_START.after(state.elapsed).0.saturating_add(state.ahead))
    }

    fn boot(&self) -> BootTime {
        self.lock().boot()
    }

    fn wall_set(&self) -> BoxFuture<'static, ()> {
        // Begun here: a change before the first poll counts.
        Box::pin(Arc::clone(&self.inner.wall_set).notified_owned())
    }

    fn sleep_until(&self, deadline: BootTime) -> BoxFuture<'static, ()> {
        let mut state = self.lock();
        if deadline <= state.boot() {
            return Box::pin(std::future::ready(()));
        }
        let (wake, woken) = oneshot::channel();
        state.sleepers_ever += 1;
        let key = (deadline, state.sleepers_ever);
        state.sleepers.insert(key, wake);
        drop(state);
        self.inner.slept.notify_waiters();
        Box::pin(async move {
            // An error means that the clock is gone; then no time passes any more.
            if woken.await.is_err() {
                std::future::pending::<()>().await;
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[test]
    fn both_times_move_only_by_advance() {
        let clock = FakeClock::new();
        assert_eq!((clock.wall(), clock.boot()), (FAKE_WALL_START, BootTime(0)));
        clock.advance(Duration::from_millis(3));
        assert_eq!(clock.wall().since(FAKE_WALL_START), Duration::from_millis(3));
        assert_eq!(clock.boot(), BootTime(3_000));
    }

    #[test]
    fn a_sleeper_wakes_at_its_deadline_and_not_before() {
        let clock = FakeClock::new();
        let mut sleeper = clock.sleep_until(BootTime(10));
        clock.advance(Duration::from_micros(9));
        assert!((&mut sleeper).now_or_never().is_none());
        clock.advance(Duration::from_micros(1));
        assert!(sleeper.now_or_never().is_some());
        assert!(clock.sleep_until(BootTime(10)).now_or_never().is_some());
    }

    #[test]
    fn the_next_deadline_forgets_dropped_sleepers() {
        let clock = FakeClock::new();
        let first = clock.sleep_until(BootTime(5));
        let _second = clock.sleep_until(BootTime(7));
        assert_eq!(clock.next_deadline(), Some(BootTime(5)));
        drop(first);
        assert_eq!(clock.next_deadline(), Some(BootTime(7)));
    }

    #[tokio::test]
    async fn a_sleeper_until_a_time_is_awaited_and_one_until_another_time_is_not_it() {
        let clock = FakeClock::new();
        let _other = clock.sleep_until(BootTime(4));
        drop(clock.sleep_until(BootTime(5)));
        let mut awaited = Box::pin(clock.someone_sleeps_until(BootTime(5)));
        assert!((&mut awaited).now_or_never().is_none());
        let _sleeper = clock.sleep_until(BootTime(5));
        assert!((&mut awaited).now_or_never().is_some());
    }

    #[tokio::test]
    async fn sleepers_wake_in_the_order_of_their_deadlines() {
        let clock = FakeClock::new();
        let woken = Arc::new(Mutex::new(Vec::new()));
        let tasks: Vec<_> = [30, 10, 20, 10]
            .into_iter()
            .enumerate()
            .map(|(at, deadline)| {
                let (sleep, woken) = (clock.sleep_until(BootTime(deadline)), Arc::clone(&woken));
                tokio::spawn(async move {
                    sleep.await;
                    woken.lock().unwrap().push((deadline, at));
                })
            })
            .collect();
        assert_eq!(clock.someone_sleeps().await, BootTime(10));
        tokio::task::yield_now().await;
        clock.advance(Duration::from_micros(40));
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(*woken.lock().unwrap(), [(10, 1), (10, 3), (20, 2), (30, 0)]);
    }
}
