//! Stored grants: how often each was used, and whether it was revoked. An id is given once, and the first revocation counts.
//!
//! What a grant permits is in the entry that made the row, and nowhere else.

use palyra_ports::read_approvals::{GrantFilter, STORED_GRANTS_MAX};
use palyra_types::approval::StoredGrantRecord;
use palyra_types::event::{ApprovalEvent, DecidedBy, JournalEvent, PolicyEvent, TapeEvent, ToolEvent};
use palyra_types::{Seq, StoredGrantId, Timestamp};

use crate::family::{
    Family, FamilyCache, FamilyIndex, FamilyTable, FoldedEntry, IndexKey, KeyRange, LogView, RowId, RowStore,
    RowsPerKey, ScanOrder, StoreFault, StoredRow, find_row, scan_rows,
};

/// The family.
pub struct StoredGrantFamily;

/// A stored grant; the row's id is the entry that gave it.
#[derive(Debug, Clone)]
pub struct StoredGrantRow {
    /// The grant.
    pub grant: StoredGrantId,
    /// How often it may be used.
    pub uses_max: Option<u32>,
    /// How often it was used.
    pub uses: u32,
    /// When it was revoked.
    pub revoked: Option<Timestamp>,
}

impl StoredGrantRow {
    /// Returns whether it is neither revoked nor used up.
    #[must_use]
    pub fn is_standing(&self) -> bool {
        self.revoked.is_none() && self.uses_max.is_none_or(|uses_max| self.uses < uses_max)
    }
}

#[derive(Clone, PartialEq, prost::Message)]
struct StoredGrantFacts {
    #[prost(bytes = "vec", tag = "1")]
    grant: Vec<u8>,
    #[prost(uint32, optional, tag = "2")]
    uses_max: Option<u32>,
    #[prost(uint32, tag = "3")]
    uses: u32,
    #[prost(sint64, optional, tag = "4")]
    revoked: Option<i64>,
}

const BY_GRANT: usize = 0;
const STANDING: usize = 1;

fn key(grant: StoredGrantId) -> IndexKey {
    IndexKey::new().bytes(&grant.to_bytes())
}

impl Family for StoredGrantFamily {
    const TABLE: &'static FamilyTable = &FamilyTable {
        name: "stored_grant",
        version: 1,
        indexes: &[
            FamilyIndex { name: "by_grant", rows_per_key: RowsPerKey::One },
            FamilyIndex { name: "standing", rows_per_key: RowsPerKey::Many },
        ],
        content: &[],
    };

    type Row = StoredGrantRow;

    fn facts(row: &StoredGrantRow) -> Vec<u8> {
        prost::Message::encode_to_vec(&StoredGrantFacts {
            grant: row.grant.to_bytes().to_vec(),
            uses_max: row.uses_max,
            uses: row.uses,
            revoked: row.revoked.map(|time| time.0),
        })
    }

    fn load(stored: &StoredRow) -> Option<StoredGrantRow> {
        let facts = <StoredGrantFacts as prost::Message>::decode(stored.facts.as_slice()).ok()?;
        Some(StoredGrantRow {
            grant: StoredGrantId::from_bytes(facts.grant.try_into().ok()?),
            uses_max: facts.uses_max,
            uses: facts.uses,
            revoked: facts.revoked.map(Timestamp),
        })
    }

    fn index(row: &StoredGrantRow, index: usize) -> Option<IndexKey> {
        (index == BY_GRANT || row.is_standing()).then(|| key(row.grant))
    }

    fn fold(rows: &mut FamilyCache<'_, Self>, entry: &FoldedEntry<'_>) -> Result<(), StoreFault> {
        match entry.event {
            JournalEvent::Tape(TapeEvent::Approval(ApprovalEvent::GrantStored(stored))) => {
                let (grant, uses_max) = (stored.grant, stored.uses_max);
                match rows.find(BY_GRANT, &key(grant))? {
                    Some(_) => Ok(()),
                    None => rows.insert(entry, StoredGrantRow { grant, uses_max, uses: 0, revoked: None }),
                }
            }
            JournalEvent::Tape(TapeEvent::Tool(ToolEvent::Decided(decided))) => match decided.decided_by {
                DecidedBy::Grant(grant) => {
                    rows.change_by(BY_GRANT, &key(grant), |row| row.uses = row.uses.saturating_add(1))
                }
                DecidedBy::Policy | DecidedBy::Budget | DecidedBy::Approval(_) => Ok(()),
            },
            JournalEvent::Policy(PolicyEvent::GrantRevoked { grant, .. }) => {
                rows.change_by(BY_GRANT, &key(*grant), |row| row.revoked = row.revoked.or(Some(entry.time)))
            }
            _ => Ok(()),
        }
    }
}

/// Returns the row of a grant in the writer's transaction.
///
/// # Errors
/// [`StoreFault`] when the store fails.
pub fn cached_row(
    rows: &mut FamilyCache<'_, StoredGrantFamily>,
    grant: StoredGrantId,
) -> Result<Option<(Seq, StoredGrantRow)>, StoreFault> {
    Ok(rows.find(BY_GRANT, &key(grant))?.map(|(id, row)| (id.into(), row)))
}

/// Returns a stored grant.
///
/// # Errors
/// [`StoreFault`] when the store fails, or a row contradicts the entry that it names.
pub fn record(
    rows: &mut dyn RowStore,
    log: &mut dyn LogView,
    grant: StoredGrantId,
) -> Result<Option<StoredGrantRecord>, StoreFault> {
    let found = find_row::<StoredGrantFamily>(rows, BY_GRANT, &key(grant))?;
    found.map(|(id, row)| to_record(log, id, &row)).transpose()
}

/// Returns stored grants in order of id.
///
/// # Errors
/// See [`record`].
pub fn records(
    rows: &mut dyn RowStore,
    log: &mut dyn LogView,
    only: GrantFilter,
) -> Result<Vec<StoredGrantRecord>, StoreFault> {
    let index = match only {
        GrantFilter::Standing => STANDING,
        GrantFilter::All => BY_GRANT,
    };
    let all = KeyRange::of_prefix(IndexKey::new());
    let found = scan_rows::<StoredGrantFamily>(rows, index, all, ScanOrder::Ascending, STORED_GRANTS_MAX)?;
    found.into_iter().map(|(id, row)| to_record(log, id, &row)).collect()
}

/// Makes a record of the row and the entry that it names.
fn to_record(
    log: &mut dyn LogView,
    id: RowId,
    row: &StoredGrantRow,
) -> Result<StoredGrantRecord, StoreFault> {
    let seq = id.into();
    let entry = log.entry(seq)?;
    match entry.event {
        JournalEvent::Tape(TapeEvent::Approval(ApprovalEvent::GrantStored(stored)))
            if stored.grant == row.grant && stored.uses_max == row.uses_max =>
        {
            let (uses, created, revoked) = (row.uses, entry.time, row.revoked);
            Ok(StoredGrantRecord { stored, uses, created, revoked, seq })
        }
        _ => Err(StoreFault::Contradiction { seq }),
    }
}
