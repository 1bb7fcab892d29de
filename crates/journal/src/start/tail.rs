//! Where the log ends, looked up at start without reading all of it.

use palyra_ledger::{Chain, leaf_hash};
use palyra_types::Epoch;
use rusqlite::Connection;

use crate::entry::{SELECT_ENTRIES, StoredEntry};
use crate::fault::{EntryFault, ReadFault};
use palyra_types::event::kind::EventKind;

/// Entries at the end that are checked at every start.
const TAIL_ENTRIES_CHECKED: i64 = 64;

const LOG_REOPENED: u16 = EventKind::LogReopened as u16;

/// The end of the log.
#[derive(Debug, Clone, Copy)]
pub(super) struct LogTail {
    pub(super) chain: Chain,
    pub(super) last_epoch: Epoch,
}

/// Reads and checks the last entries; `None` when there are none.
pub(super) fn read(connection: &Connection) -> Result<Option<LogTail>, ReadFault> {
    let sql = format!("{SELECT_ENTRIES} ORDER BY e.seq DESC LIMIT ?1");
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([TAIL_ENTRIES_CHECKED])?;
    let mut later: Option<StoredEntry> = None;
    let mut tail = None;
    while let Some(row) = rows.next()? {
        let entry = StoredEntry::read(connection, row)?;
        let leaf = leaf_hash(&entry.encoded);
        let log_id = entry.envelope.log_id;
        tail = tail.or_else(|| {
            let chain = Chain { log_id, next_seq: entry.envelope.seq.next(), head: leaf };
            Some(LogTail { chain, last_epoch: entry.envelope.epoch })
        });
        if let Some(later) = later {
            let seq = later.envelope.seq;
            let follows = later.envelope.prev == leaf && seq == entry.envelope.seq.next();
            let same_log = later.envelope.log_id == log_id || later.envelope.kind == LOG_REOPENED;
            if !follows || !same_log || later.envelope.epoch < entry.envelope.epoch {
                return Err(EntryFault::Chain.at(seq));
            }
        }
        later = Some(entry);
    }
    Ok(tail)
}
