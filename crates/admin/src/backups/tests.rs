//! When a backup is due, and which ones are a warning.

use palyra_types::{LeaseFence, QueuedTaskId, Seq};

use super::*;

const HOUR: Duration = Duration::from_secs(3_600);

fn hours(count: u32) -> Timestamp {
    Timestamp(0).after(HOUR * count)
}

fn task(created: u32, stage: TaskStage, last_end: Option<AttemptEnd>) -> OrchestratorBackgroundTaskRecord {
    OrchestratorBackgroundTaskRecord {
        task: QueuedTaskId::NIL,
        kind: TaskKind::Backup,
        principal: PrincipalId::NIL,
        session: None,
        seq: Seq(1),
        created: hours(created),
        changed: hours(created),
        stage,
        due: hours(created),
        fence: LeaseFence(1),
        attempts: 1,
        progress: 0,
        is_cancel_requested: false,
        last_end,
        explanation: "".into(),
    }
}

#[test]
fn the_next_one_is_due_an_interval_after_the_newest() {
    assert_eq!(wait_after(hours(10), HOUR * 24, hours(12)), Some(HOUR * 22));
    assert_eq!(wait_after(hours(10), HOUR * 24, hours(34)), None, "due");
    assert_eq!(wait_after(hours(10), HOUR * 24, hours(900)), None);
    assert_eq!(wait_after(hours(900), HOUR * 24, hours(1)), Some(HOUR * 24), "the clock was set back");
}

#[test]
fn a_failed_or_late_backup_is_a_warning() {
    let (done, failed) = (Some(AttemptEnd::Completed), Some(AttemptEnd::Failed));
    let level = |tasks: &[_], now| check_of(tasks, HOUR * 24, hours(now)).level;
    assert_eq!(level(&[], 500), CheckLevel::Ok, "it was just configured");
    assert_eq!(level(&[task(10, TaskStage::Done, done)], 50), CheckLevel::Ok);
    assert_eq!(
        level(&[task(10, TaskStage::Done, done)], 59),
        CheckLevel::Warning,
        "older than two intervals"
    );
    let newest_failed = [task(34, TaskStage::DeadLetter, failed), task(10, TaskStage::Done, done)];
    assert_eq!(level(&newest_failed, 35), CheckLevel::Warning);
    let tried_again = [task(34, TaskStage::Waiting, failed), task(10, TaskStage::Done, done)];
    assert_eq!(level(&tried_again, 35), CheckLevel::Warning);
    let mend = |tasks: &[_]| check_of(tasks, HOUR * 24, hours(35)).mend;
    assert!(mend(&newest_failed).ends_with("`palyra admin tasks retry TASK`"));
    assert!(mend(&tried_again).ends_with("`palyra admin tasks run-now TASK`"));
    let at_work = [task(34, TaskStage::Leased, None), task(10, TaskStage::Done, done)];
    assert_eq!(level(&at_work, 35), CheckLevel::Ok);
    assert_eq!(level(&[task(10, TaskStage::Waiting, None)], 59), CheckLevel::Warning, "never made");
}
