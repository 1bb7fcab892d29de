//! Filling the tree's tables from the entries: for a log that began without them, or whose tiles are given up.

use palyra_ledger::{TreeWriter, leaf_hash};
use palyra_types::Seq;
use rusqlite::Connection;

use super::stored::{insert_tile, write_frontier};
use crate::fault::{EntryFault, ReadFault};
use crate::schema;
use crate::sql::seq_from_sql;

/// Entries between two reports of progress.
const PROGRESS_EVERY_ENTRIES: u64 = 65_536;

/// Fills empty tables; the caller holds the transaction.
pub(crate) fn fill(connection: &Connection, progress: &dyn Fn(u64)) -> Result<TreeWriter, ReadFault> {
    let mut tree = TreeWriter::new();
    let mut statement = connection.prepare("SELECT seq, envelope FROM entry NOT INDEXED ORDER BY seq")?;
    let mut rows = statement.query([])?;
    loop {
        let due = Seq(tree.size());
        let Some(row) = rows.next().map_err(|error| ReadFault::from(error).located(due))? else { break };
        if seq_from_sql(row.get(0)?) != due {
            return Err(EntryFault::Numbering.at(due));
        }
        for tile in tree.push(leaf_hash(row.get_ref(1)?.as_blob()?)) {
            insert_tile(connection, &tile)?;
        }
        if tree.size().is_multiple_of(PROGRESS_EVERY_ENTRIES) {
            tree.settle();
            progress(tree.size());
        }
    }
    tree.settle();
    if tree.size() > 0 {
        write_frontier(connection, tree.frontier())?;
    }
    Ok(tree)
}

/// Gives up the tree's tables and fills them anew; the caller holds the transaction.
pub(crate) fn refill(connection: &Connection, progress: &dyn Fn(u64)) -> Result<TreeWriter, ReadFault> {
    schema::recreate_tree(connection)?;
    fill(connection, progress)
}
