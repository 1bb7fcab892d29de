//! Compactions: one row for each that was made; the summary is in the entry that made the row.
//!
//! Invariant: every key begins with a principal, so no query finds a compaction of another one.

use palyra_types::compaction::{CompactedSpan, OrchestratorCompactionArtifactRecord};
use palyra_types::event::{JournalEvent, SessionEvent};
use palyra_types::session::SessionRef;
use palyra_types::{PrincipalId, Seq, SessionId, Timestamp};

use crate::family::{
    Family, FamilyCache, FamilyIndex, FamilyTable, FoldedEntry, IndexKey, KeyRange, LogView, RowId,
    RowLookup, RowStore, RowsPerKey, ScanOrder, StoreFault, StoredRow, load_row, scan_rows,
};

/// The family.
pub struct CompactionFamily;

/// What is known of a compaction beside its entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompactionRow {
    /// The conversation.
    pub session: SessionRef,
    /// What it was made from.
    pub spans: Vec<CompactedSpan>,
    /// Since when it is not used any more.
    pub reverted: Option<Timestamp>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct CompactionFacts {
    #[prost(bytes = "vec", tag = "1")]
    principal: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    session: Vec<u8>,
    #[prost(message, repeated, tag = "3")]
    spans: Vec<SpanFacts>,
    #[prost(sint64, optional, tag = "4")]
    reverted: Option<i64>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct SpanFacts {
    #[prost(bytes = "vec", tag = "1")]
    session: Vec<u8>,
    #[prost(uint64, tag = "2")]
    first: u64,
    #[prost(uint64, tag = "3")]
    last: u64,
}

const OF_SESSION: usize = 0;
const OF_PRINCIPAL: usize = 1;

fn of_principal(principal: PrincipalId) -> IndexKey {
    IndexKey::new().bytes(&principal.to_bytes())
}

fn key(session: SessionRef) -> IndexKey {
    of_principal(session.principal).bytes(&session.id.to_bytes())
}

impl Family for CompactionFamily {
    const TABLE: &'static FamilyTable = &FamilyTable {
        name: "compaction",
        version: 1,
        indexes: &[
            FamilyIndex { name: "of_session", rows_per_key: RowsPerKey::Many },
            FamilyIndex { name: "of_principal", rows_per_key: RowsPerKey::Many },
        ],
        content: &[],
    };

    type Row = CompactionRow;

    fn facts(row: &CompactionRow) -> Vec<u8> {
        let spans = row.spans.iter().map(|span| SpanFacts {
            session: span.session.to_bytes().to_vec(),
            first: span.first.0,
            last: span.last.0,
        });
        prost::Message::encode_to_vec(&CompactionFacts {
            principal: row.session.principal.to_bytes().to_vec(),
            session: row.session.id.to_bytes().to_vec(),
            spans: spans.collect(),
            reverted: row.reverted.map(|time| time.0),
        })
    }

    fn load(stored: &StoredRow) -> Option<CompactionRow> {
        let facts = <CompactionFacts as prost::Message>::decode(stored.facts.as_slice()).ok()?;
        let session = |bytes: Vec<u8>| Some(SessionId::from_bytes(bytes.try_into().ok()?));
        let spans = facts.spans.into_iter().map(|span| {
            let session = session(span.session)?;
            Some(CompactedSpan { session, first: Seq(span.first), last: Seq(span.last) })
        });
        Some(CompactionRow {
            spans: spans.collect::<Option<_>>()?,
            session: SessionRef {
                principal: PrincipalId::from_bytes(facts.principal.try_into().ok()?),
                id: session(facts.session)?,
            },
            reverted: facts.reverted.map(Timestamp),
        })
    }

    fn index(row: &CompactionRow, index: usize) -> Option<IndexKey> {
        Some(if index == OF_SESSION { key(row.session) } else { of_principal(row.session.principal) })
    }

    fn fold(rows: &mut FamilyCache<'_, Self>, entry: &FoldedEntry<'_>) -> Result<(), StoreFault> {
        let JournalEvent::Session(event) = entry.event else { return Ok(()) };
        match event {
            SessionEvent::Compacted(made) => {
                let session = SessionRef { principal: entry.principal, id: made.session };
                rows.insert(entry, CompactionRow { session, spans: made.spans.clone(), reverted: None })
            }
            SessionEvent::CompactionReverted(made) => rows.change((*made).into(), |row| {
                if row.session.principal == entry.principal {
                    row.reverted.get_or_insert(entry.time);
                }
            }),
            _ => Ok(()),
        }
    }
}

/// Returns the compactions of a session, oldest first, also those that were reverted; an erased one has no summary.
///
/// # Errors
/// [`StoreFault`] when the store fails, or a row contradicts its entry.
pub fn of_session(
    rows: &mut dyn RowStore,
    log: &mut dyn LogView,
    session: SessionRef,
) -> Result<Vec<OrchestratorCompactionArtifactRecord>, StoreFault> {
    let range = KeyRange::of_prefix(key(session));
    let found = scan_rows::<CompactionFamily>(rows, OF_SESSION, range, ScanOrder::Ascending, usize::MAX)?;
    found.into_iter().map(|(id, row)| logged(log, id, &row)).collect()
}

/// Returns the newest compaction of a session that runs may read which begin after its latest reset.
///
/// # Errors
/// [`StoreFault`] when the store fails, or a row contradicts its entry.
pub fn in_force(
    rows: &mut dyn RowStore,
    log: &mut dyn LogView,
    session: SessionRef,
    since: Option<Seq>,
) -> Result<Option<OrchestratorCompactionArtifactRecord>, StoreFault> {
    // Nearly always the newest one is it, and a session can have thousands: few are looked at first.
    let mut seen = 0;
    loop {
        let limit = (2 * seen).max(1);
        let range = KeyRange::of_prefix(key(session));
        let found = scan_rows::<CompactionFamily>(rows, OF_SESSION, range, ScanOrder::Descending, limit)?;
        for (id, row) in found.iter().skip(seen) {
            // One that ends before the reset: so do all older ones.
            if since.is_some_and(|since| row.spans.iter().all(|span| span.last <= since)) {
                return Ok(None);
            }
            if row.reverted.is_some() {
                continue;
            }
            let record = logged(log, *id, row)?;
            if record.is_usable(since) {
                return Ok(Some(record));
            }
        }
        if found.len() < limit {
            return Ok(None);
        }
        seen = found.len();
    }
}

/// Returns a compaction of a session, also one that was reverted or erased.
///
/// # Errors
/// [`StoreFault`] when the store fails, or a row contradicts its entry.
pub fn record(
    rows: &mut dyn RowStore,
    log: &mut dyn LogView,
    session: SessionRef,
    seq: Seq,
) -> Result<Option<OrchestratorCompactionArtifactRecord>, StoreFault> {
    let id = RowId::from(seq);
    let Some(stored) = rows.get(CompactionFamily::TABLE, RowLookup::Id(id))? else { return Ok(None) };
    let row = load_row::<CompactionFamily>(&stored)?;
    if row.session == session { logged(log, id, &row).map(Some) } else { Ok(None) }
}

/// Returns the entries of the compactions that cover a run of a session, by its first entry.
///
/// # Errors
/// [`StoreFault`] when the store fails.
pub fn covering(rows: &mut dyn RowStore, session: SessionRef, first: Seq) -> Result<Vec<Seq>, StoreFault> {
    let range = KeyRange::of_prefix(of_principal(session.principal));
    let found = scan_rows::<CompactionFamily>(rows, OF_PRINCIPAL, range, ScanOrder::Ascending, usize::MAX)?;
    let covers = |row: &CompactionRow| row.spans.iter().any(|span| span.covers(session.id, first));
    Ok(found.into_iter().filter(|(_, row)| covers(row)).map(|(id, _)| id.into()).collect())
}

fn logged(
    log: &mut dyn LogView,
    id: RowId,
    row: &CompactionRow,
) -> Result<OrchestratorCompactionArtifactRecord, StoreFault> {
    let seq = Seq::from(id);
    let entry = log.entry(seq)?;
    match entry.event {
        JournalEvent::Session(SessionEvent::Compacted(made)) if entry.principal == row.session.principal => {
            Ok(OrchestratorCompactionArtifactRecord {
                made: *made,
                principal: entry.principal,
                seq,
                created: entry.time,
                reverted: row.reverted,
            })
        }
        _ => Err(StoreFault::Contradiction { seq }),
    }
}
