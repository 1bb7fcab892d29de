//! Incidents of self-healing: one row for each, made by the entry that opened it; what it is about is in that entry.

use palyra_ports::read_records::RECORD_PAGE_ROWS_MAX;
use palyra_types::event::JournalEvent;
use palyra_types::incident::{
    HealingDomain, IncidentCause, IncidentEvent, IncidentRecord, IncidentResolution, IncidentStage,
    RemedyKind, RemedyOutcome,
};
use palyra_types::{IncidentId, Timestamp};

use crate::codec::incident_entries::{
    cause_from_number, cause_number, outcome_from_number, outcome_number, remedy_from_number, remedy_number,
    resolution_from_number, resolution_number,
};
use crate::family::{
    Family, FamilyCache, FamilyIndex, FamilyTable, FoldedEntry, IndexKey, KeyRange, LogView, RowId, RowScan,
    RowStore, RowsPerKey, ScanOrder, StoreFault, StoredRow, find_row, scan_wanted,
};

/// The family.
pub struct IncidentFamily;

/// What became of an incident.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IncidentRow {
    incident: IncidentId,
    cause: IncidentCause,
    stage: IncidentStage,
    changed: Timestamp,
    remedies: u32,
    last_remedy: Option<RemedyKind>,
    last_outcome: Option<RemedyOutcome>,
    resolution: Option<IncidentResolution>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct IncidentFacts {
    #[prost(bytes = "vec", tag = "1")]
    incident: Vec<u8>,
    #[prost(uint32, tag = "2")]
    cause: u32,
    #[prost(uint32, tag = "3")]
    stage: u32,
    #[prost(int64, tag = "4")]
    changed: i64,
    #[prost(uint32, tag = "5")]
    remedies: u32,
    #[prost(uint32, optional, tag = "6")]
    last_remedy: Option<u32>,
    #[prost(uint32, optional, tag = "7")]
    last_outcome: Option<u32>,
    #[prost(uint32, optional, tag = "8")]
    resolution: Option<u32>,
}

/// Which incidents to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IncidentQuery {
    /// Only those in this stage.
    pub stage: Option<IncidentStage>,
    /// Only those of this domain.
    pub domain: Option<HealingDomain>,
    /// Keyset cursor: incidents below this one.
    pub below: Option<IncidentId>,
    /// At most so many, capped at [`RECORD_PAGE_ROWS_MAX`].
    pub limit: usize,
}

const BY_INCIDENT: usize = 0;
const BY_STAGE: usize = 1;

fn key(incident: IncidentId) -> IndexKey {
    IndexKey::new().bytes(&incident.to_bytes())
}

fn in_stage(stage: IncidentStage) -> IndexKey {
    IndexKey::new().byte(stage_number(stage))
}

impl Family for IncidentFamily {
    const TABLE: &'static FamilyTable = &FamilyTable {
        name: "incident",
        version: 1,
        indexes: &[
            FamilyIndex { name: "by_incident", rows_per_key: RowsPerKey::One },
            FamilyIndex { name: "by_stage", rows_per_key: RowsPerKey::Many },
        ],
        content: &[],
    };

    const HAS_FIXED_KEYS: bool = true;

    type Row = IncidentRow;

    fn facts(row: &IncidentRow) -> Vec<u8> {
        prost::Message::encode_to_vec(&IncidentFacts {
            incident: row.incident.to_bytes().to_vec(),
            cause: cause_number(row.cause),
            stage: stage_number(row.stage).into(),
            changed: row.changed.0,
            remedies: row.remedies,
            last_remedy: row.last_remedy.map(remedy_number),
            last_outcome: row.last_outcome.map(outcome_number),
            resolution: row.resolution.map(resolution_number),
        })
    }

    fn load(stored: &StoredRow) -> Option<IncidentRow> {
        let facts = <IncidentFacts as prost::Message>::decode(stored.facts.as_slice()).ok()?;
        Some(IncidentRow {
            incident: IncidentId::from_bytes(facts.incident.try_into().ok()?),
            cause: cause_from_number(facts.cause)?,
            stage: stage_from_number(facts.stage)?,
            changed: Timestamp(facts.changed),
            remedies: facts.remedies,
            last_remedy: read(facts.last_remedy, remedy_from_number)?,
            last_outcome: read(facts.last_outcome, outcome_from_number)?,
            resolution: read(facts.resolution, resolution_from_number)?,
        })
    }

    fn index(row: &IncidentRow, index: usize) -> Option<IndexKey> {
        match index {
            BY_INCIDENT => Some(key(row.incident)),
            _ => Some(in_stage(row.stage).bytes(&row.incident.to_bytes())),
        }
    }

    fn fold(rows: &mut FamilyCache<'_, Self>, entry: &FoldedEntry<'_>) -> Result<(), StoreFault> {
        let JournalEvent::Incident(event) = entry.event else { return Ok(()) };
        let Some(incident) = event.incident() else { return Ok(()) };
        let key = key(incident);
        if let IncidentEvent::Opened(opened) = event {
            // The first entry with an id counts, so that a repeated one changes nothing.
            if rows.find(BY_INCIDENT, &key)?.is_some() {
                return Ok(());
            }
            let row = IncidentRow {
                incident,
                cause: opened.cause,
                stage: IncidentStage::Open,
                changed: entry.time,
                remedies: 0,
                last_remedy: None,
                last_outcome: None,
                resolution: None,
            };
            return rows.insert(entry, row);
        }
        rows.change_by(BY_INCIDENT, &key, |row| change(row, entry.time, event))
    }
}

fn change(row: &mut IncidentRow, time: Timestamp, event: &IncidentEvent) {
    let before = *row;
    match event {
        IncidentEvent::RemedyStarted { remedy, .. } if row.stage == IncidentStage::Open => {
            row.stage = IncidentStage::Remediating;
            row.remedies = row.remedies.saturating_add(1);
            row.last_remedy = Some(*remedy);
            row.last_outcome = None;
        }
        IncidentEvent::RemedyEnded { remedy, outcome, .. }
            if row.stage == IncidentStage::Remediating && row.last_remedy == Some(*remedy) =>
        {
            row.stage = IncidentStage::Open;
            row.last_outcome = Some(*outcome);
        }
        IncidentEvent::Resolved { resolution, .. } if row.stage != IncidentStage::Resolved => {
            row.stage = IncidentStage::Resolved;
            row.resolution = Some(*resolution);
        }
        IncidentEvent::RemedyStarted { .. }
        | IncidentEvent::RemedyEnded { .. }
        | IncidentEvent::Resolved { .. }
        | IncidentEvent::Opened(_)
        | IncidentEvent::ModeSet { .. } => {}
    }
    if *row != before {
        row.changed = time;
    }
}

/// Returns an incident.
///
/// # Errors
/// [`StoreFault`] when the store fails, or the row contradicts its entry.
pub fn record(
    rows: &mut dyn RowStore,
    log: &mut dyn LogView,
    incident: IncidentId,
) -> Result<Option<IncidentRecord>, StoreFault> {
    let found = find_row::<IncidentFamily>(rows, BY_INCIDENT, &key(incident))?;
    found.map(|(id, row)| record_of(log, id, &row)).transpose()
}

/// Returns a page of incidents, the newest first.
///
/// # Errors
/// As [`record`].
pub fn records(
    rows: &mut dyn RowStore,
    log: &mut dyn LogView,
    query: &IncidentQuery,
) -> Result<Vec<IncidentRecord>, StoreFault> {
    let (index, prefix) = match query.stage {
        Some(stage) => (BY_STAGE, in_stage(stage)),
        None => (BY_INCIDENT, IndexKey::new()),
    };
    let mut range = KeyRange::of_prefix(prefix.clone());
    if let Some(below) = query.below {
        range.until = prefix.bytes(&below.to_bytes());
    }
    let limit = query.limit.clamp(1, RECORD_PAGE_ROWS_MAX);
    let scan = RowScan { index, range, after: None, order: ScanOrder::Descending, limit };
    let is_wanted = |row: &IncidentRow| query.domain.is_none_or(|domain| row.cause.domain() == domain);
    let found = scan_wanted::<IncidentFamily>(rows, scan, is_wanted)?;
    found.into_iter().map(|(id, row)| record_of(log, id, &row)).collect()
}

/// Returns the incidents that are not over, the newest of each stage first.
///
/// # Errors
/// As [`record`].
pub fn unresolved(rows: &mut dyn RowStore, log: &mut dyn LogView) -> Result<Vec<IncidentRecord>, StoreFault> {
    let mut all = Vec::new();
    for stage in [IncidentStage::Open, IncidentStage::Remediating] {
        let query =
            IncidentQuery { stage: Some(stage), limit: RECORD_PAGE_ROWS_MAX, ..IncidentQuery::default() };
        all.extend(records(rows, log, &query)?);
    }
    Ok(all)
}

fn record_of(log: &mut dyn LogView, id: RowId, row: &IncidentRow) -> Result<IncidentRecord, StoreFault> {
    let seq = id.into();
    let entry = log.entry(seq)?;
    let JournalEvent::Incident(IncidentEvent::Opened(opened)) = entry.event else {
        return Err(StoreFault::Contradiction { seq });
    };
    Ok(IncidentRecord {
        opened,
        seq,
        created: entry.time,
        changed: row.changed,
        stage: row.stage,
        remedies: row.remedies,
        last_remedy: row.last_remedy,
        last_outcome: row.last_outcome,
        resolution: row.resolution,
    })
}

/// Reads an optional number; `None` where it is one that this version does not know.
fn read<T>(number: Option<u32>, of: impl Fn(u32) -> Option<T>) -> Option<Option<T>> {
    match number {
        None => Some(None),
        Some(number) => of(number).map(Some),
    }
}

fn stage_number(stage: IncidentStage) -> u8 {
    match stage {
        IncidentStage::Open => 1,
        IncidentStage::Remediating => 2,
        IncidentStage::Resolved => 3,
    }
}

fn stage_from_number(number: u32) -> Option<IncidentStage> {
    IncidentStage::ALL.iter().map(|(stage, _)| *stage).find(|stage| u32::from(stage_number(*stage)) == number)
}
