//! The rules of a schedule: their limits, and when an occurrence is due by them.

pub use palyra_types::schedule::{CATCH_UP_MAX, MissedRule, OverlapRule, ScheduleRules};
use palyra_types::{ScheduleId, Timestamp};
use sha2::{Digest, Sha256};

use crate::spec::PlannedTimes;
use crate::spec_error::InvalidSpec;

/// The longest random delay, in seconds.
pub const JITTER_SECONDS_MAX: u32 = 60 * 60;
/// Occurrences that are looked at to find the smallest distance between two.
const DISTANCE_SAMPLES: usize = 500;
const SECOND_MICROS: i64 = 1_000_000;

impl PlannedTimes {
    /// Checks the limits of the rules for the times of a schedule, as they are when a person saves both.
    ///
    /// A random delay has to be shorter than the smallest distance between two occurrences, so that they stay in order.
    ///
    /// # Errors
    /// [`InvalidSpec::Jitter`] and [`InvalidSpec::CatchUp`].
    pub fn check_rules(&self, rules: &ScheduleRules, now: Timestamp) -> Result<(), InvalidSpec> {
        if let MissedRule::CatchUp { count_max: count } = rules.missed
            && !(1..=CATCH_UP_MAX).contains(&count)
        {
            return Err(InvalidSpec::CatchUp { count, count_max: CATCH_UP_MAX });
        }
        if rules.jitter_seconds == 0 {
            return Ok(());
        }
        let seconds_max = smallest_distance_seconds(self, now)
            .map_or(JITTER_SECONDS_MAX, |distance| distance.saturating_sub(1).min(JITTER_SECONDS_MAX));
        if rules.jitter_seconds > seconds_max {
            return Err(InvalidSpec::Jitter { seconds: rules.jitter_seconds, seconds_max });
        }
        Ok(())
    }
}

/// Returns when an occurrence is due: its planned instant and a delay that depends on nothing but schedule and instant.
#[must_use]
pub fn due_at(rules: &ScheduleRules, schedule: ScheduleId, planned: Timestamp) -> Timestamp {
    if rules.jitter_seconds == 0 {
        return planned;
    }
    let digest =
        Sha256::new().chain_update(schedule.to_bytes()).chain_update(planned.0.to_be_bytes()).finalize();
    let number = digest.iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    let seconds = number % (u64::from(rules.jitter_seconds) + 1);
    Timestamp(planned.0.saturating_add(i64::try_from(seconds).unwrap_or(0) * SECOND_MICROS))
}

fn smallest_distance_seconds(planned_times: &PlannedTimes, now: Timestamp) -> Option<u32> {
    let planned: Vec<Timestamp> = planned_times.iter_after(now).take(DISTANCE_SAMPLES).collect();
    let distances = planned.windows(2).filter_map(|pair| match pair {
        [earlier, later] => Some(later.since(*earlier).as_secs()),
        _ => None,
    });
    distances.min().map(|seconds| u32::try_from(seconds).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests;
