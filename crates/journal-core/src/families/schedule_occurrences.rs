//! Occurrences of schedules: one row for each planned instant that was decided about.
//!
//! Invariant: a schedule has one row for a planned instant, however often entries name it.

use palyra_types::event::JournalEvent;
use palyra_types::schedule::{
    OccurrenceCause, OccurrenceFinished, OccurrenceOutcome, OccurrenceRecord, OccurrenceStage, ScheduleEvent,
    SkipReason,
};
use palyra_types::{Redacted, RunId, ScheduleId, Seq, Timestamp};

use crate::codec::schedule_entries::{from_row_number, row_number};
use crate::family::{
    Family, FamilyCache, FamilyIndex, FamilyTable, FoldedEntry, IndexKey, KeyRange, LogView, RowStore,
    RowsPerKey, ScanOrder, StoreFault, StoredRow, scan_rows,
};

/// The family.
pub struct ScheduleOccurrenceFamily;

/// An occurrence without its texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OccurrenceRow {
    /// The schedule.
    pub schedule: ScheduleId,
    /// The planned instant.
    pub planned: Timestamp,
    /// Why it runs.
    pub cause: Option<OccurrenceCause>,
    /// Where it is.
    pub stage: OccurrenceStage,
    /// When it started.
    pub started: Option<Timestamp>,
    /// When its latest entry was written.
    pub changed: Timestamp,
    /// The run that it started, once it has ended.
    pub run: Option<RunId>,
    /// The entry that ended it.
    pub ended: Option<Seq>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct OccurrenceFacts {
    #[prost(bytes = "vec", tag = "1")]
    schedule: Vec<u8>,
    #[prost(sint64, tag = "2")]
    planned: i64,
    #[prost(uint32, tag = "3")]
    cause: u32,
    #[prost(uint32, tag = "4")]
    outcome: u32,
    #[prost(uint32, tag = "5")]
    skipped: u32,
    #[prost(sint64, optional, tag = "6")]
    last_skipped: Option<i64>,
    #[prost(uint32, optional, tag = "7")]
    skipped_count: Option<u32>,
    #[prost(sint64, optional, tag = "8")]
    started: Option<i64>,
    #[prost(sint64, tag = "9")]
    changed: i64,
    #[prost(bytes = "vec", tag = "10")]
    run: Vec<u8>,
    #[prost(uint64, optional, tag = "11")]
    ended: Option<u64>,
}

const BY_OCCURRENCE: usize = 0;

fn of(schedule: ScheduleId) -> IndexKey {
    IndexKey::new().bytes(&schedule.to_bytes())
}

impl Family for ScheduleOccurrenceFamily {
    const TABLE: &'static FamilyTable = &FamilyTable {
        name: "schedule_occurrence",
        version: 1,
        indexes: &[FamilyIndex { name: "by_occurrence", rows_per_key: RowsPerKey::One }],
        content: &[],
    };

    const HAS_FIXED_KEYS: bool = true;

    type Row = OccurrenceRow;

    fn facts(row: &OccurrenceRow) -> Vec<u8> {
        let mut facts = OccurrenceFacts {
            schedule: row.schedule.to_bytes().to_vec(),
            planned: row.planned.0,
            cause: row_number(row.cause),
            started: row.started.map(|time| time.0),
            changed: row.changed.0,
            run: row.run.map_or_else(Vec::new, |run| run.to_bytes().to_vec()),
            ended: row.ended.map(|seq| seq.0),
            ..OccurrenceFacts::default()
        };
        match row.stage {
            // A running one is one that has started and has neither outcome nor reason.
            OccurrenceStage::Waiting | OccurrenceStage::Running => {}
            OccurrenceStage::Finished(outcome) => facts.outcome = row_number(Some(outcome)),
            OccurrenceStage::Skipped(reason) => facts.skipped = row_number(Some(reason)),
            OccurrenceStage::SkippedMany { last, count } => {
                facts.last_skipped = Some(last.0);
                facts.skipped_count = count;
            }
        }
        prost::Message::encode_to_vec(&facts)
    }

    fn load(stored: &StoredRow) -> Option<OccurrenceRow> {
        let facts = <OccurrenceFacts as prost::Message>::decode(stored.facts.as_slice()).ok()?;
        let started = facts.started.map(Timestamp);
        let outcome: Option<OccurrenceOutcome> = from_row_number(facts.outcome)?;
        let skipped: Option<SkipReason> = from_row_number(facts.skipped)?;
        let stage = match (outcome, skipped, facts.last_skipped) {
            (Some(outcome), _, _) => OccurrenceStage::Finished(outcome),
            (None, Some(reason), _) => OccurrenceStage::Skipped(reason),
            (None, None, Some(last)) => {
                OccurrenceStage::SkippedMany { last: Timestamp(last), count: facts.skipped_count }
            }
            (None, None, None) if started.is_some() => OccurrenceStage::Running,
            (None, None, None) => OccurrenceStage::Waiting,
        };
        let run = match facts.run.as_slice() {
            [] => None,
            run => Some(RunId::from_bytes(run.try_into().ok()?)),
        };
        Some(OccurrenceRow {
            schedule: ScheduleId::from_bytes(facts.schedule.try_into().ok()?),
            planned: Timestamp(facts.planned),
            cause: from_row_number(facts.cause)?,
            stage,
            started,
            changed: Timestamp(facts.changed),
            run,
            ended: facts.ended.map(Seq),
        })
    }

    fn index(row: &OccurrenceRow, _index: usize) -> Option<IndexKey> {
        Some(of(row.schedule).signed(row.planned.0))
    }

    fn fold(rows: &mut FamilyCache<'_, Self>, entry: &FoldedEntry<'_>) -> Result<(), StoreFault> {
        let JournalEvent::Schedule(event) = entry.event else { return Ok(()) };
        let Some(occurrence) = occurrence_of(entry, event) else { return Ok(()) };
        let key = of(occurrence.schedule).signed(occurrence.planned.0);
        if rows.find(BY_OCCURRENCE, &key)?.is_some() {
            return rows.change_by(BY_OCCURRENCE, &key, |row| change(row, entry, event));
        }
        match event {
            ScheduleEvent::OccurrenceCreated { .. }
            | ScheduleEvent::OccurrenceSkipped { .. }
            | ScheduleEvent::OccurrencesSkipped { .. } => rows.insert(entry, occurrence),
            _ => Ok(()),
        }
    }
}

/// Returns the row that an entry would make; `None` for one about no occurrence.
fn occurrence_of(entry: &FoldedEntry<'_>, event: &ScheduleEvent) -> Option<OccurrenceRow> {
    let (planned, cause, stage) = match event {
        ScheduleEvent::OccurrenceCreated { planned, cause, .. } => {
            (planned, Some(*cause), OccurrenceStage::Waiting)
        }
        ScheduleEvent::OccurrenceSkipped { planned, reason, .. } => {
            (planned, None, OccurrenceStage::Skipped(*reason))
        }
        ScheduleEvent::OccurrencesSkipped { first, last, count, .. } => {
            (first, None, OccurrenceStage::SkippedMany { last: *last, count: *count })
        }
        ScheduleEvent::OccurrenceStarted { planned, .. } => (planned, None, OccurrenceStage::Running),
        ScheduleEvent::OccurrenceFinished(finished) => {
            (&finished.planned, None, OccurrenceStage::Finished(finished.outcome))
        }
        _ => return None,
    };
    Some(OccurrenceRow {
        schedule: event.schedule()?,
        planned: *planned,
        cause,
        stage,
        started: None,
        changed: entry.time,
        run: None,
        ended: None,
    })
}

/// Folds an entry. An occurrence that has ended or was skipped stays so.
fn change(row: &mut OccurrenceRow, entry: &FoldedEntry<'_>, event: &ScheduleEvent) {
    if !matches!(row.stage, OccurrenceStage::Waiting | OccurrenceStage::Running) {
        return;
    }
    match event {
        ScheduleEvent::OccurrenceStarted { at, .. } => {
            row.stage = OccurrenceStage::Running;
            row.started = Some(*at);
        }
        ScheduleEvent::OccurrenceFinished(OccurrenceFinished { outcome, run, .. }) => {
            row.stage = OccurrenceStage::Finished(*outcome);
            row.run = *run;
            row.ended = Some(entry.seq);
        }
        ScheduleEvent::OccurrenceSkipped { reason, .. } => row.stage = OccurrenceStage::Skipped(*reason),
        _ => return,
    }
    row.changed = entry.time;
}

/// Returns the latest occurrences of a schedule, the latest planned instant first.
///
/// # Errors
/// [`StoreFault`] when the store fails, or a row contradicts its entry.
pub fn latest(
    rows: &mut dyn RowStore,
    log: &mut dyn LogView,
    schedule: ScheduleId,
    limit: usize,
) -> Result<Vec<OccurrenceRecord>, StoreFault> {
    let range = KeyRange::of_prefix(of(schedule));
    let order = ScanOrder::Descending;
    let found = scan_rows::<ScheduleOccurrenceFamily>(rows, BY_OCCURRENCE, range, order, limit)?;
    found.into_iter().map(|(_, row)| record(log, &row)).collect()
}

fn record(log: &mut dyn LogView, row: &OccurrenceRow) -> Result<OccurrenceRecord, StoreFault> {
    Ok(OccurrenceRecord {
        schedule: row.schedule,
        planned: row.planned,
        cause: row.cause,
        stage: row.stage,
        started: row.started,
        changed: row.changed,
        run: row.run,
        explanation: explanation(log, row.ended)?,
    })
}

fn explanation(log: &mut dyn LogView, ended: Option<Seq>) -> Result<Redacted<String>, StoreFault> {
    let Some(seq) = ended else { return Ok(Redacted::default()) };
    match log.entry(seq)?.event {
        JournalEvent::Schedule(ScheduleEvent::OccurrenceFinished(finished)) => Ok(finished.explanation),
        _ => Err(StoreFault::Contradiction { seq }),
    }
}
