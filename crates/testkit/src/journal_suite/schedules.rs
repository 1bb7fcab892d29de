//! Schedules and their occurrences.

use palyra_journal_core::families::schedules::ScheduleRecord;
use palyra_journal_core::families::{schedule_occurrences, schedule_pauses, schedules};
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::{AppendTape, NewEntry};
use palyra_types::schedule::{
    MissedRule, OccurrenceCause, OccurrenceFinished, OccurrenceOutcome, OccurrenceRecord, OccurrenceStage,
    OverlapRule, PauseScope, SavedAction, SavedTimes, ScheduleEvent, ScheduleProvenance, ScheduleRules,
    ScheduleSaved, SkipReason,
};
use palyra_types::tool::Taints;
use palyra_types::{RunId, ScheduleId, Seq, Timestamp};

use super::JournalFactory;
use super::samples::{self, append};

fn id(number: u128) -> ScheduleId {
    ScheduleId::from_parts(14, number)
}

/// Returns a schedule that is saved at a time, for every minute.
#[must_use]
pub fn saved(number: u128, at: i64) -> ScheduleSaved {
    ScheduleSaved {
        schedule: id(number),
        at: Timestamp(at),
        times: SavedTimes::Cron { line: "* * * * *".into(), zone: "UTC".into() },
        rules: ScheduleRules { missed: MissedRule::Skip, overlap: OverlapRule::Queue, jitter_seconds: 0 },
        action: SavedAction::Reminder,
        provenance: ScheduleProvenance {
            creator: samples::principal(0),
            made_by_run: None,
            taints: Taints::NONE,
            edited_by_person: false,
        },
        name: "drink".into(),
        text: "drink water".into(),
    }
}

async fn record<F: JournalFactory>(journal: &F::Journal, principal: u128, event: ScheduleEvent) -> Seq {
    let entry = NewEntry {
        time: Timestamp(5),
        principal: samples::principal(principal),
        session: None,
        run: None,
        event: event.into(),
    };
    journal.append(append(vec![entry])).await.unwrap().first_seq
}

async fn listed<F: JournalFactory>(journal: &F::Journal, principal: u128) -> Vec<ScheduleRecord> {
    let principal = samples::principal(principal);
    journal.query(move |rows, log| schedules::of_principal(rows, log, principal, 9)).await.unwrap()
}

async fn occurrences<F: JournalFactory>(journal: &F::Journal, number: u128) -> Vec<OccurrenceRecord> {
    journal.query(move |rows, log| schedule_occurrences::latest(rows, log, id(number), 9)).await.unwrap()
}

/// A schedule is what its entries say, and its texts are in the latest entry that saved it.
pub async fn a_schedule_is_folded_from_its_entries<F: JournalFactory>(factory: &F) {
    let journal = factory.make();
    record::<F>(&journal, 0, ScheduleEvent::Created(saved(1, 60))).await;
    record::<F>(&journal, 1, ScheduleEvent::Created(saved(1, 99))).await;
    record::<F>(&journal, 1, ScheduleEvent::Created(saved(2, 60))).await;
    let edited = ScheduleSaved { text: "drink tea".into(), ..saved(1, 70) };
    let edit = record::<F>(&journal, 0, ScheduleEvent::Edited(edited)).await;
    let found = listed::<F>(&journal, 0).await;
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0].row.progress.settled_up_to, found[0].saved.text.expose().as_str()),
        (Timestamp(70), "drink tea")
    );
    factory.erase(&journal, edit);
    let found = listed::<F>(&journal, 0).await;
    assert_eq!((found[0].saved.text.expose().as_str(), found[0].saved.at), ("", Timestamp(70)));
    record::<F>(&journal, 0, ScheduleEvent::Removed { schedule: id(1), at: Timestamp(80) }).await;
    assert!(listed::<F>(&journal, 0).await.is_empty());
    let live = journal.query(schedules::live).await.unwrap();
    assert_eq!(live.iter().map(|one| one.row.schedule).collect::<Vec<_>>(), [id(2)]);
    let gone = journal.query(|rows, log| schedules::record(rows, log, id(1))).await.unwrap();
    assert_eq!(gone.unwrap().row.removed, Some(Timestamp(80)));
    let scope = PauseScope::Everyone;
    record::<F>(&journal, 0, ScheduleEvent::ManyPaused { scope, at: Timestamp(90) }).await;
    let last = record::<F>(&journal, 0, ScheduleEvent::ManyResumed { scope, at: Timestamp(85) }).await;
    let pauses = journal.query(|rows, _| schedule_pauses::all(rows)).await.unwrap();
    assert_eq!(
        (pauses[0].is_paused, pauses[0].settled_up_to, pauses[0].changed),
        (false, Timestamp(90), last)
    );
}

/// A planned instant has one row, and its end stays.
pub async fn an_occurrence_has_one_row<F: JournalFactory>(factory: &F) {
    let journal = factory.make();
    let schedule = id(1);
    let planned = Timestamp(60);
    record::<F>(&journal, 0, ScheduleEvent::Created(saved(1, 5))).await;
    let cause = OccurrenceCause::Due;
    record::<F>(&journal, 0, ScheduleEvent::OccurrenceCreated { schedule, planned, cause }).await;
    assert_eq!(occurrences::<F>(&journal, 1).await[0].stage, OccurrenceStage::Waiting);
    record::<F>(&journal, 0, ScheduleEvent::OccurrenceStarted { schedule, planned, at: Timestamp(61) }).await;
    assert_eq!(listed::<F>(&journal, 0).await[0].row.progress.running, Some(planned));
    let finished = OccurrenceFinished {
        schedule,
        planned,
        outcome: OccurrenceOutcome::Failed,
        run: Some(RunId::from_parts(3, 1)),
        explanation: "the disk is full".into(),
    };
    let end = record::<F>(&journal, 0, ScheduleEvent::OccurrenceFinished(finished)).await;
    let reason = SkipReason::Missed;
    record::<F>(&journal, 0, ScheduleEvent::OccurrenceSkipped { schedule, planned, reason }).await;
    let found = occurrences::<F>(&journal, 1).await;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].stage, OccurrenceStage::Finished(OccurrenceOutcome::Failed));
    assert_eq!((found[0].cause, found[0].started), (Some(cause), Some(Timestamp(61))));
    assert_eq!(found[0].explanation.expose(), "the disk is full");
    factory.erase(&journal, end);
    assert_eq!(occurrences::<F>(&journal, 1).await[0].explanation.expose(), "");
    let first = Timestamp(120);
    let last = Timestamp(600);
    record::<F>(&journal, 0, ScheduleEvent::OccurrencesSkipped { schedule, first, last, count: None }).await;
    let found = occurrences::<F>(&journal, 1).await;
    assert_eq!(found[0].stage, OccurrenceStage::SkippedMany { last, count: None });
}
