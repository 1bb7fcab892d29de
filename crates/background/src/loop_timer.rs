//! A timer that is kept from one wait to the next.
//!
//! Setting one takes a lock that all tasks share and may wake the thread that waits for them all, so a loop that waits
//! often for a deadline that moves away sets it again only once it has rung.

use futures::future::BoxFuture;
use palyra_ports::Clock;
use palyra_types::BootTime;

/// A timer of one loop.
#[derive(Default)]
pub struct LoopTimer {
    set: Option<(BootTime, BoxFuture<'static, ()>)>,
}

impl LoopTimer {
    /// Waits until it rings: at the deadline, or at an earlier one that was waited for before. The caller looks
    /// at the clock. Cancel-safe.
    pub async fn ring(&mut self, clock: &dyn Clock, deadline: BootTime) {
        let keep = self.set.take_if(|(at, _)| *at <= deadline);
        let (_, rings) = self.set.insert(keep.unwrap_or_else(|| (deadline, clock.sleep_until(deadline))));
        rings.await;
        self.set = None;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures::FutureExt;
    use palyra_testkit::FakeClock;

    use super::*;

    #[test]
    fn it_rings_at_the_earliest_deadline_that_was_waited_for_and_then_is_set_anew() {
        let (clock, mut alarm) = (FakeClock::default(), LoopTimer::default());
        let due = |seconds| BootTime::default().after(Duration::from_secs(seconds));
        assert!(alarm.ring(&clock, due(5)).now_or_never().is_none());
        assert!(alarm.ring(&clock, due(9)).now_or_never().is_none(), "kept");
        clock.advance(Duration::from_secs(5));
        assert!(alarm.ring(&clock, due(9)).now_or_never().is_some(), "the earlier one");
        assert!(alarm.ring(&clock, due(9)).now_or_never().is_none(), "set anew");
        assert!(alarm.ring(&clock, due(6)).now_or_never().is_none(), "moved nearer");
        clock.advance(Duration::from_secs(1));
        assert!(alarm.ring(&clock, due(9)).now_or_never().is_some());
    }
}
