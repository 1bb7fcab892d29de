//! Every reset of every session, because branches look further back than the latest one.

use palyra_types::Seq;
use palyra_types::event::{JournalEvent, SessionEvent};
use palyra_types::session::SessionRef;

use crate::family::{
    Family, FamilyCache, FamilyIndex, FamilyTable, FoldedEntry, IndexKey, KeyRange, RowScan, RowStore,
    RowsPerKey, ScanOrder, StoreFault, StoredRow,
};

/// The family.
pub struct ResetFamily;

const OF_SESSION: usize = 0;

fn key(session: SessionRef) -> IndexKey {
    IndexKey::new().bytes(&session.principal.to_bytes()).bytes(&session.id.to_bytes())
}

impl Family for ResetFamily {
    const TABLE: &'static FamilyTable = &FamilyTable {
        name: "session_reset",
        version: 1,
        indexes: &[FamilyIndex { name: "of_session", rows_per_key: RowsPerKey::Many }],
        content: &[],
    };

    /// The session; the row's id is the entry of the reset.
    type Row = SessionRef;

    fn facts(row: &SessionRef) -> Vec<u8> {
        [row.principal.to_bytes(), row.id.to_bytes()].concat()
    }

    fn load(stored: &StoredRow) -> Option<SessionRef> {
        let (principal, id) = stored.facts.split_first_chunk()?;
        let principal = palyra_types::PrincipalId::from_bytes(*principal);
        Some(SessionRef { principal, id: palyra_types::SessionId::from_bytes(id.try_into().ok()?) })
    }

    fn index(row: &SessionRef, _index: usize) -> Option<IndexKey> {
        Some(key(*row))
    }

    fn fold(rows: &mut FamilyCache<'_, Self>, entry: &FoldedEntry<'_>) -> Result<(), StoreFault> {
        match entry.event {
            JournalEvent::Session(SessionEvent::Reset { session }) => {
                rows.insert(entry, SessionRef { principal: entry.principal, id: *session })
            }
            _ => Ok(()),
        }
    }
}

/// Returns the latest reset of a session before a place in the log.
///
/// # Errors
/// [`StoreFault`] when the store fails.
pub fn latest_before(
    rows: &mut dyn RowStore,
    session: SessionRef,
    seq: Seq,
) -> Result<Option<Seq>, StoreFault> {
    let key = key(session);
    let (range, after) = (KeyRange::of_prefix(key.clone()), Some((key, seq.into())));
    let scan = RowScan { index: OF_SESSION, range, after, order: ScanOrder::Descending, limit: 1 };
    Ok(rows.scan(ResetFamily::TABLE, &scan)?.pop().map(|scanned| scanned.row.id.into()))
}
