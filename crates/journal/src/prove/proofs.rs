//! Inclusion and consistency, read off tiles and entries.

use palyra_ledger::tree::{Tiled, consistency_proof, inclusion_proof, root_at};
use palyra_ledger::{CheckpointNote, NodeHash};
use palyra_ports::{ConsistencyProof, InclusionProof};
use palyra_types::Seq;
use palyra_types::proof::{SignedCheckpoint, TreeHead};
use rusqlite::{Connection, OptionalExtension};

use super::fault::ProveFault;
use crate::entry::StoredEntry;
use crate::sql::u64_from_sql;
use crate::tree::StoredTiles;

/// Returns the number of entries that a connection sees.
pub(super) fn entries(connection: &Connection) -> rusqlite::Result<u64> {
    let sql = "SELECT coalesce(max(seq) + 1, 0) FROM entry";
    connection.prepare_cached(sql)?.query_row([], |row| row.get(0)).map(u64_from_sql)
}

/// Returns the newest stored head.
pub(crate) fn newest_head(connection: &Connection) -> Result<Option<SignedCheckpoint>, ProveFault> {
    let sql = "SELECT note FROM checkpoint ORDER BY size DESC LIMIT 1";
    let text: Option<String> = connection.query_row(sql, [], |row| row.get(0)).optional()?;
    let note = text.and_then(|text| CheckpointNote::parse(text.as_bytes()).ok().map(|note| (text, note)));
    Ok(note.map(|(text, note)| {
        let head = TreeHead { size: note.checkpoint().size, root: note.checkpoint().root.0 };
        SignedCheckpoint { log_id: note.checkpoint().log_id, head, note: text.into() }
    }))
}

/// Proves that an entry belongs to the first `size` entries; zero for all there are.
pub(crate) fn inclusion(connection: &Connection, seq: Seq, size: u64) -> Result<InclusionProof, ProveFault> {
    let snapshot = connection.unchecked_transaction()?;
    let entries = entries(&snapshot)?;
    let size = if size == 0 { entries } else { size };
    if size > entries || seq.0 >= size {
        return Err(ProveFault::OutOfRange { entries });
    }
    let entry = StoredEntry::find(&snapshot, seq)?.ok_or(ProveFault::OutOfRange { entries })?;
    let mut tree = Tiled::new(StoredTiles(&snapshot), size);
    let hashes = inclusion_proof(seq.0, size, |subtree| tree.hash(subtree))
        .map_err(|error| ProveFault::of_proof(error, entries))?;
    let root = root_at(size, |subtree| tree.hash(subtree))?;
    let event = entry.event()?;
    Ok(InclusionProof { seq, size, root: root.0, envelope: entry.encoded, hashes: plain(hashes), event })
}

/// Proves that the first `new` entries continue the first `old`; `new` zero for all there are.
pub(crate) fn consistency(
    connection: &Connection,
    old: u64,
    new: u64,
) -> Result<ConsistencyProof, ProveFault> {
    let snapshot = connection.unchecked_transaction()?;
    let entries = entries(&snapshot)?;
    let new = if new == 0 { entries } else { new };
    if new > entries || old > new {
        return Err(ProveFault::OutOfRange { entries });
    }
    let mut tree = Tiled::new(StoredTiles(&snapshot), new);
    let hashes = consistency_proof(old, new, |subtree| tree.hash(subtree))
        .map_err(|error| ProveFault::of_proof(error, entries))?;
    let [old_root, new_root] =
        [old, new].map(|size| root_at(size, |subtree| tree.hash(subtree)).map_err(ProveFault::from));
    Ok(ConsistencyProof { old_root: old_root?.0, new_root: new_root?.0, hashes: plain(hashes) })
}

fn plain(hashes: Vec<NodeHash>) -> Vec<[u8; 32]> {
    hashes.into_iter().map(|hash| hash.0).collect()
}
