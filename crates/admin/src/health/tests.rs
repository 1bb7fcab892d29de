//! What the check of background tasks says.

use std::time::Duration;

use palyra_background::{FinishedTick, TaskState};
use palyra_types::Timestamp;

use super::*;

#[test]
fn the_check_names_tasks_whose_last_tick_failed_and_how_often() {
    let task = |name, failures_in_a_row, failure: Option<&str>| TaskStatus {
        name,
        state: TaskState::Waiting { until: None },
        ticks: 9,
        failures_in_a_row,
        last: Some(FinishedTick {
            started: Timestamp(1),
            duration: Duration::ZERO,
            failure: failure.map(str::to_owned),
        }),
    };
    let well = background_check(&[task("expiry", 0, None), task("counting", 0, None)]);
    assert_eq!((well.level, well.found.as_str(), well.mend), (CheckLevel::Ok, "2 tasks, none failed", ""));
    let ill = background_check(&[
        task("expiry", 3, Some("no disk")),
        task("counting", 0, None),
        task("vault", 1, Some("locked")),
    ]);
    assert_eq!(ill.level, CheckLevel::Warning);
    assert_eq!(ill.found, "expiry (3 times in a row): no disk; vault: locked");
    assert!(!ill.mend.is_empty());
}
