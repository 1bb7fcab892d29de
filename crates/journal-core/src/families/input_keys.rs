//! Idempotency keys of inputs and of a client's results that joined or answered a run: the first use counts.
//!
//! Keys of inputs that began a run are in that run's row.

use palyra_types::event::{JournalEvent, RunEvent, TapeEvent};
use palyra_types::run::IdempotencyDigest;
use palyra_types::{PrincipalId, RunId};

use super::runs;
use crate::family::{
    Family, FamilyCache, FamilyIndex, FamilyTable, FoldedEntry, IndexKey, RowStore, RowsPerKey, StoreFault,
    StoredRow, find_row,
};

/// The family.
pub struct InputKeyFamily;

/// A key and the run that its input joined.
#[derive(Debug, Clone, Copy)]
pub struct InputKeyRow {
    /// Who sent the input.
    pub principal: PrincipalId,
    /// The digest of the key.
    pub digest: IdempotencyDigest,
    /// The run.
    pub run: RunId,
}

#[derive(Clone, PartialEq, prost::Message)]
struct InputKeyFacts {
    #[prost(bytes = "vec", tag = "1")]
    principal: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    digest: Vec<u8>,
    #[prost(bytes = "vec", tag = "3")]
    run: Vec<u8>,
}

const BY_KEY: usize = 0;

fn key(principal: PrincipalId, digest: IdempotencyDigest) -> IndexKey {
    IndexKey::new().bytes(&principal.to_bytes()).bytes(&digest.0)
}

impl Family for InputKeyFamily {
    const TABLE: &'static FamilyTable = &FamilyTable {
        name: "input_key",
        version: 1,
        indexes: &[FamilyIndex { name: "by_key", rows_per_key: RowsPerKey::One }],
        content: &[],
    };

    type Row = InputKeyRow;

    fn facts(row: &InputKeyRow) -> Vec<u8> {
        prost::Message::encode_to_vec(&InputKeyFacts {
            principal: row.principal.to_bytes().to_vec(),
            digest: row.digest.0.to_vec(),
            run: row.run.to_bytes().to_vec(),
        })
    }

    fn load(stored: &StoredRow) -> Option<InputKeyRow> {
        let facts = <InputKeyFacts as prost::Message>::decode(stored.facts.as_slice()).ok()?;
        Some(InputKeyRow {
            principal: PrincipalId::from_bytes(facts.principal.try_into().ok()?),
            digest: IdempotencyDigest(facts.digest.try_into().ok()?),
            run: RunId::from_bytes(facts.run.try_into().ok()?),
        })
    }

    fn index(row: &InputKeyRow, _index: usize) -> Option<IndexKey> {
        Some(key(row.principal, row.digest))
    }

    fn fold(rows: &mut FamilyCache<'_, Self>, entry: &FoldedEntry<'_>) -> Result<(), StoreFault> {
        let JournalEvent::Tape(TapeEvent::Run(event)) = entry.event else { return Ok(()) };
        let Some(digest) = key_of(event) else { return Ok(()) };
        let Some((run, _)) = entry.run else { return Ok(()) };
        match rows.find(BY_KEY, &key(entry.principal, digest))? {
            Some(_) => Ok(()),
            None => rows.insert(entry, InputKeyRow { principal: entry.principal, digest, run }),
        }
    }
}

fn key_of(event: &RunEvent) -> Option<IdempotencyDigest> {
    match event {
        RunEvent::InputReceived { idempotency, .. } => *idempotency,
        RunEvent::ClientToolsAnswered(answered) => answered.idempotency,
        // That of a run's beginning is in its row.
        RunEvent::Started(_)
        | RunEvent::LoopDetected { .. }
        | RunEvent::Held { .. }
        | RunEvent::CancelRequested { .. }
        | RunEvent::ClientToolsOffered(_)
        | RunEvent::ClientToolsCalled(_)
        | RunEvent::ReferencesExpanded(_)
        | RunEvent::BudgetReached { .. }
        | RunEvent::SoftLimitNoted { .. }
        | RunEvent::Finished(_) => None,
    }
}

/// Returns the run that an input with this key joined.
///
/// # Errors
/// [`StoreFault`] when the store fails.
pub fn run_of(
    rows: &mut dyn RowStore,
    principal: PrincipalId,
    digest: IdempotencyDigest,
) -> Result<Option<RunId>, StoreFault> {
    Ok(find_row::<InputKeyFamily>(rows, BY_KEY, &key(principal, digest))?.map(|(_, row)| row.run))
}

/// Returns the run that was started, or given an input, with this key.
///
/// # Errors
/// [`StoreFault`] when the store fails.
pub fn run_of_key(
    rows: &mut dyn RowStore,
    principal: PrincipalId,
    digest: IdempotencyDigest,
) -> Result<Option<RunId>, StoreFault> {
    match runs::first_run_of_key(rows, principal, digest)? {
        Some(run) => Ok(Some(run)),
        None => run_of(rows, principal, digest),
    }
}
