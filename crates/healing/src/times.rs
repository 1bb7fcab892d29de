//! How long things may take.

use std::time::Duration;

/// The spans by which incidents and remedies are decided. Tests choose shorter ones; nothing else does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HealingTimes {
    /// A run shows no progress for at least this long before it counts as stuck.
    pub run_window: Duration,
    /// A task likewise.
    pub task_window: Duration,
    /// An approval may be without a reachable approver, or after its expiry, for this long.
    pub approval_window: Duration,
    /// A provider, a connector, a worker, a browser or the write-ahead log may be in a bad state for this long.
    pub condition_window: Duration,
    /// The longest deadline of an effect that lengthens a window.
    pub deadline_max: Duration,
    /// What is added to the deadline of the current effect.
    pub deadline_margin: Duration,
    /// A look counts at most so much silence, so that a machine that slept, or a look that came late, finds nothing stuck.
    pub look_step_max: Duration,
    /// The time between two looks while something could be stuck.
    pub look_span: Duration,
    /// The longest time between two looks while an incident is open and nothing can be done about it; it is approached by
    /// doubling from `look_span`.
    pub look_span_max: Duration,
    /// How long a remedy has until its postcondition is checked.
    pub settle_span: Duration,
    /// The pause after a remedy; it doubles with each further one of the same incident.
    pub pause_min: Duration,
    /// The longest such pause.
    pub pause_max: Duration,
}

impl Default for HealingTimes {
    fn default() -> Self {
        Self {
            run_window: Duration::from_secs(120),
            task_window: Duration::from_secs(120),
            approval_window: Duration::from_secs(600),
            condition_window: Duration::from_secs(120),
            deadline_max: Duration::MAX,
            deadline_margin: Duration::from_secs(10),
            look_step_max: Duration::from_secs(90),
            look_span: Duration::from_secs(60),
            look_span_max: Duration::from_secs(600),
            settle_span: Duration::from_secs(50),
            pause_min: Duration::from_secs(60),
            pause_max: Duration::from_secs(60 * 60),
        }
    }
}

impl HealingTimes {
    /// Returns spans whose windows are `window`, without the deadlines of effects, with looks, checks and pauses to match.
    #[must_use]
    pub fn with_window(window: Duration) -> Self {
        Self {
            run_window: window,
            task_window: window,
            approval_window: window,
            condition_window: window,
            deadline_max: Duration::ZERO,
            deadline_margin: Duration::ZERO,
            look_step_max: window,
            look_span: window / 4,
            look_span_max: window,
            settle_span: window,
            pause_min: window / 4,
            pause_max: window,
        }
    }

    /// Returns the window of work with a deadline: the usual window, or the deadline with a margin if that is longer.
    #[must_use]
    pub fn window(&self, usual: Duration, deadline: Option<Duration>) -> Duration {
        deadline.map_or(usual, |deadline| {
            usual.max(deadline.min(self.deadline_max).saturating_add(self.deadline_margin))
        })
    }

    /// Returns the pause after so many remedies of one incident.
    #[must_use]
    pub fn pause_after(&self, remedies: u32) -> Duration {
        doubled(self.pause_min, remedies.saturating_sub(1), self.pause_max)
    }

    /// Returns the time until the next look after so many looks at which nothing changed.
    #[must_use]
    pub fn look_span_after(&self, quiet_looks: u32) -> Duration {
        doubled(self.look_span, quiet_looks, self.look_span_max)
    }
}

fn doubled(span: Duration, times: u32, most: Duration) -> Duration {
    span.saturating_mul(1_u32.checked_shl(times).unwrap_or(u32::MAX)).min(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_the_usual_one_or_the_deadline_with_its_margin() {
        let times = HealingTimes::default();
        let window = |deadline: Option<u64>| {
            times.window(times.run_window, deadline.map(Duration::from_secs)).as_secs()
        };
        assert_eq!([None, Some(5), Some(110), Some(111), Some(600)].map(window), [120, 120, 120, 121, 610]);
    }

    #[test]
    fn a_pause_doubles_up_to_the_longest() {
        let times = HealingTimes::default();
        let pause = |remedies| times.pause_after(remedies).as_secs();
        assert_eq!(
            [0, 1, 2, 3, 6, 7, 40, u32::MAX].map(pause),
            [60, 60, 120, 240, 1_920, 3_600, 3_600, 3_600]
        );
    }

    #[test]
    fn looks_at_which_nothing_changes_are_farther_and_farther_apart() {
        let times = HealingTimes::default();
        let span = |quiet| times.look_span_after(quiet).as_secs();
        assert_eq!([0, 1, 2, 3, 4, 40, u32::MAX].map(span), [60, 120, 240, 480, 600, 600, 600]);
    }
}
