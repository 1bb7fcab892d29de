//! The pause between attempts.

use std::time::Duration;

use palyra_types::QueuedTaskId;

use crate::task_rules::TaskRules;

/// Returns the pause after a failed attempt, the first of which is number 1: it doubles with each attempt up to the longest
/// one of the kind, and is shortened by up to a half, so that tasks that failed together do not come back together. The same
/// task and attempt always have the same pause, so a replay and a test see the pause of the live queue.
#[must_use]
pub fn backoff(rules: &TaskRules, task: QueuedTaskId, attempt: u32) -> Duration {
    let doublings = attempt.saturating_sub(1).min(32);
    let pause = rules.backoff_min.saturating_mul(1 << doublings.min(31)).min(rules.backoff_max);
    let half = pause / 2;
    let share = u32::try_from(mixed(task, attempt) >> 48).unwrap_or(0);
    half + half.saturating_mul(share) / (1 << 16)
}

/// Mixes the bits of a task and an attempt (the finalizer of `splitmix64`).
fn mixed(task: QueuedTaskId, attempt: u32) -> u64 {
    let [high, low] = [0, 8].map(|at| {
        task.to_bytes()[at..at + 8].iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte))
    });
    let mut bits = high ^ low.rotate_left(32) ^ u64::from(attempt).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use palyra_types::queued_task::TaskKind;

    use super::*;
    use crate::task_rules::rules;

    #[test]
    fn a_pause_grows_stays_within_its_bounds_and_differs_between_tasks() {
        for (kind, word) in TaskKind::ALL {
            let rules = rules(kind);
            let mut pauses = BTreeSet::new();
            for number in 0..100 {
                let task = QueuedTaskId::from_parts(1_000, number);
                for attempt in [0, 1, 2, 3, 10, 40, u32::MAX] {
                    let pause = backoff(rules, task, attempt);
                    assert_eq!(pause, backoff(rules, task, attempt), "{word}: the same each time");
                    assert!(pause >= rules.backoff_min / 2 && pause <= rules.backoff_max, "{word} {pause:?}");
                }
                assert!(backoff(rules, task, 3) >= rules.backoff_min, "{word}");
                pauses.insert(backoff(rules, task, 1));
            }
            assert!(pauses.len() > 90, "{word}: {} different pauses", pauses.len());
        }
    }
}
