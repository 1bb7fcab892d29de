//! Whether the tree's stored edge is that of the entries, looked up at start without reading all of them.

use palyra_ledger::TreeWriter;
use palyra_ledger::tree::{RestoreError, TiledError};
use rusqlite::Connection;

use super::tail::LogTail;
use crate::tree::{StoredTiles, read_frontier};

/// Returns the tree to go on from; `None` where frontier, tiles and the last entries contradict each other.
pub(super) fn restore(connection: &Connection, tail: &LogTail) -> rusqlite::Result<Option<TreeWriter>> {
    let entries = tail.chain.next_seq.0;
    let Some(frontier) = read_frontier(connection)? else {
        tracing::error!("the tree's frontier is missing or malformed");
        return Ok(None);
    };
    if frontier.size() != entries {
        tracing::error!(entries, frontier = frontier.size(), "the tree has another size than the log");
        return Ok(None);
    }
    match TreeWriter::restore(frontier, StoredTiles(connection)) {
        Ok(tree) => Ok(Some(tree)),
        Err(RestoreError::Source(TiledError::Store(error))) => Err(error),
        Err(error) => {
            let what =
                std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
            tracing::error!(what, "the tree contradicts the log");
            Ok(None)
        }
    }
}
