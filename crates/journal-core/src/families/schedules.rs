//! Schedules: one row for each, made by the entry that made the schedule and folded by the schedule's own rules.
//!
//! Its texts are in the entry that made or changed it last. Invariant: how far a schedule is, is what
//! [`ScheduleProgress::evolve`] makes of its entries, and nothing else writes it.

use palyra_schedule::change_of;
pub use palyra_schedule::{SCHEDULES_PER_PRINCIPAL_MAX, ScheduleProgress};
use palyra_types::event::JournalEvent;
use palyra_types::schedule::{ScheduleEvent, ScheduleSaved};
use palyra_types::{PrincipalId, ScheduleId, Seq, Timestamp};

use crate::codec::schedule_entries::{from_row_number, row_number};
use crate::family::{
    Family, FamilyCache, FamilyIndex, FamilyTable, FoldedEntry, IndexKey, KeyRange, LogView, RowId, RowStore,
    RowsPerKey, ScanOrder, StoreFault, StoredRow, all_rows, find_row, scan_rows,
};

/// The family.
pub struct ScheduleFamily;

/// A schedule without its texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduleRow {
    /// Its id.
    pub schedule: ScheduleId,
    /// Whose it is.
    pub principal: PrincipalId,
    /// When it was made.
    pub created: Timestamp,
    /// When its latest entry was written.
    pub changed: Timestamp,
    /// The entry that saved it last.
    pub saved: Seq,
    /// Since when it is gone.
    pub removed: Option<Timestamp>,
    /// When it was paused last, if it is paused.
    pub paused_at: Option<Timestamp>,
    /// How far it is.
    pub progress: ScheduleProgress,
}

/// A schedule, as lists show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduleRecord {
    /// The entry that made it.
    pub seq: Seq,
    /// The schedule without its texts.
    pub row: ScheduleRow,
    /// The schedule as it was saved last; its texts are empty once erased.
    pub saved: ScheduleSaved,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ScheduleFacts {
    #[prost(bytes = "vec", tag = "1")]
    schedule: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    principal: Vec<u8>,
    #[prost(sint64, tag = "3")]
    created: i64,
    #[prost(sint64, tag = "4")]
    changed: i64,
    #[prost(uint64, tag = "5")]
    saved: u64,
    #[prost(sint64, optional, tag = "6")]
    removed: Option<i64>,
    #[prost(sint64, tag = "7")]
    settled_up_to: i64,
    #[prost(uint32, tag = "8")]
    paused: u32,
    #[prost(sint64, optional, tag = "9")]
    running: Option<i64>,
    #[prost(bool, tag = "10")]
    cancel_requested: bool,
    #[prost(sint64, repeated, tag = "11")]
    waiting: Vec<i64>,
    #[prost(uint32, tag = "12")]
    failures: u32,
    #[prost(sint64, optional, tag = "13")]
    paused_at: Option<i64>,
}

const BY_SCHEDULE: usize = 0;
const OF_PRINCIPAL: usize = 1;
const LIVE: usize = 2;

fn key(schedule: ScheduleId) -> IndexKey {
    IndexKey::new().bytes(&schedule.to_bytes())
}

fn of(principal: PrincipalId) -> IndexKey {
    IndexKey::new().bytes(&principal.to_bytes())
}

impl Family for ScheduleFamily {
    const TABLE: &'static FamilyTable = &FamilyTable {
        name: "schedule",
        version: 2,
        indexes: &[
            FamilyIndex { name: "by_schedule", rows_per_key: RowsPerKey::One },
            FamilyIndex { name: "of_principal", rows_per_key: RowsPerKey::Many },
            FamilyIndex { name: "live", rows_per_key: RowsPerKey::Many },
        ],
        content: &[],
    };

    const HAS_FIXED_KEYS: bool = true;

    type Row = ScheduleRow;

    fn facts(row: &ScheduleRow) -> Vec<u8> {
        let ScheduleProgress { settled_up_to, paused, running, cancel_requested, waiting, failures } =
            &row.progress;
        prost::Message::encode_to_vec(&ScheduleFacts {
            schedule: row.schedule.to_bytes().to_vec(),
            principal: row.principal.to_bytes().to_vec(),
            created: row.created.0,
            changed: row.changed.0,
            saved: row.saved.0,
            removed: row.removed.map(|time| time.0),
            settled_up_to: settled_up_to.0,
            paused: row_number(*paused),
            running: running.map(|planned| planned.0),
            cancel_requested: *cancel_requested,
            waiting: waiting.iter().map(|planned| planned.0).collect(),
            failures: *failures,
            paused_at: row.paused_at.map(|time| time.0),
        })
    }

    fn load(stored: &StoredRow) -> Option<ScheduleRow> {
        let facts = <ScheduleFacts as prost::Message>::decode(stored.facts.as_slice()).ok()?;
        Some(ScheduleRow {
            schedule: ScheduleId::from_bytes(facts.schedule.try_into().ok()?),
            principal: PrincipalId::from_bytes(facts.principal.try_into().ok()?),
            created: Timestamp(facts.created),
            changed: Timestamp(facts.changed),
            saved: Seq(facts.saved),
            removed: facts.removed.map(Timestamp),
            paused_at: facts.paused_at.map(Timestamp),
            progress: ScheduleProgress {
                settled_up_to: Timestamp(facts.settled_up_to),
                paused: from_row_number(facts.paused)?,
                running: facts.running.map(Timestamp),
                cancel_requested: facts.cancel_requested,
                waiting: facts.waiting.into_iter().map(Timestamp).collect(),
                failures: facts.failures,
            },
        })
    }

    fn index(row: &ScheduleRow, index: usize) -> Option<IndexKey> {
        match index {
            BY_SCHEDULE => Some(key(row.schedule)),
            OF_PRINCIPAL => row.removed.is_none().then(|| of(row.principal).bytes(&row.schedule.to_bytes())),
            _ => (row.removed.is_none() || row.progress.running.is_some()).then(IndexKey::new),
        }
    }

    fn fold(rows: &mut FamilyCache<'_, Self>, entry: &FoldedEntry<'_>) -> Result<(), StoreFault> {
        let JournalEvent::Schedule(event) = entry.event else { return Ok(()) };
        let Some(schedule) = event.schedule() else { return Ok(()) };
        let key = key(schedule);
        if let ScheduleEvent::Created(_) = event {
            // The first entry with an id counts, so that a repeated one changes nothing.
            if rows.find(BY_SCHEDULE, &key)?.is_some() {
                return Ok(());
            }
            let mut row = ScheduleRow {
                schedule,
                principal: entry.principal,
                created: entry.time,
                changed: entry.time,
                saved: entry.seq,
                removed: None,
                paused_at: None,
                progress: ScheduleProgress::default(),
            };
            evolve(&mut row, event);
            return rows.insert(entry, row);
        }
        rows.change_by(BY_SCHEDULE, &key, |row| change(row, entry, event))
    }
}

/// Folds an entry. A removed schedule takes the end of its running occurrence and nothing else.
fn change(row: &mut ScheduleRow, entry: &FoldedEntry<'_>, event: &ScheduleEvent) {
    let is_end = matches!(event, ScheduleEvent::OccurrenceFinished(_));
    if row.removed.is_some() && !is_end {
        return;
    }
    row.changed = entry.time;
    evolve(row, event);
    match event {
        ScheduleEvent::Edited(_) => row.saved = entry.seq,
        ScheduleEvent::Removed { at, .. } => row.removed = Some(*at),
        ScheduleEvent::Paused { at, .. } => row.paused_at = Some(*at),
        ScheduleEvent::Resumed { .. } => row.paused_at = None,
        _ => {}
    }
}

fn evolve(row: &mut ScheduleRow, event: &ScheduleEvent) {
    if let Some(change) = change_of(event) {
        row.progress.evolve(&change);
    }
}

/// Returns a schedule, also one that is gone.
///
/// # Errors
/// [`StoreFault`] when the store fails, or a row contradicts its entry; so for every query.
pub fn record(
    rows: &mut dyn RowStore,
    log: &mut dyn LogView,
    schedule: ScheduleId,
) -> Result<Option<ScheduleRecord>, StoreFault> {
    let found = find_row::<ScheduleFamily>(rows, BY_SCHEDULE, &key(schedule))?;
    found.map(|(id, row)| logged(log, id, row)).transpose()
}

/// Returns the schedules of a principal that are not gone, those with the highest ids first, which are the newest.
///
/// # Errors
/// See [`record`].
pub fn of_principal(
    rows: &mut dyn RowStore,
    log: &mut dyn LogView,
    principal: PrincipalId,
    limit: usize,
) -> Result<Vec<ScheduleRecord>, StoreFault> {
    let range = KeyRange::of_prefix(of(principal));
    let found = scan_rows::<ScheduleFamily>(rows, OF_PRINCIPAL, range, ScanOrder::Descending, limit)?;
    found.into_iter().map(|(id, row)| logged(log, id, row)).collect()
}

/// Returns every schedule that is not gone, and those whose last occurrence still runs, oldest first.
///
/// # Errors
/// See [`record`].
pub fn live(rows: &mut dyn RowStore, log: &mut dyn LogView) -> Result<Vec<ScheduleRecord>, StoreFault> {
    let found = all_rows::<ScheduleFamily>(rows, LIVE)?;
    found.into_iter().map(|(id, row)| logged(log, id, row)).collect()
}

fn logged(log: &mut dyn LogView, id: RowId, row: ScheduleRow) -> Result<ScheduleRecord, StoreFault> {
    match log.entry(row.saved)?.event {
        JournalEvent::Schedule(ScheduleEvent::Created(saved) | ScheduleEvent::Edited(saved)) => {
            Ok(ScheduleRecord { seq: id.into(), row, saved })
        }
        _ => Err(StoreFault::Contradiction { seq: row.saved }),
    }
}
