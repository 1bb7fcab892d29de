//! Standing settings and counts of candidates, as the entries that their rows name say them.

use palyra_types::event::{JournalEvent, PolicyEvent};
use palyra_types::posture::PostureRecord;
use palyra_types::shadow::ShadowCounts;
use rusqlite::Connection;

use crate::entry::StoredEntry;
use crate::fault::{EntryFault, ReadFault};
use crate::project::{newest_shadow, standing_postures};

/// Returns the settings that hold, oldest first. A row whose entry makes no setting is damage.
pub(crate) fn postures(connection: &Connection) -> Result<Vec<PostureRecord>, ReadFault> {
    let standing = standing_postures(connection)?;
    let record = |seq| {
        let entry = StoredEntry::at(connection, seq)?;
        match entry.event()? {
            JournalEvent::Policy(PolicyEvent::PostureChanged(change)) if change.posture.is_some() => {
                Ok(PostureRecord { seq, set: entry.envelope.time, change })
            }
            _ => Err(EntryFault::Row.at(seq)),
        }
    };
    standing.into_iter().map(record).collect()
}

/// Returns the newest count of a candidate; of any where none is named.
pub(crate) fn shadow(
    connection: &Connection,
    candidate: Option<[u8; 32]>,
) -> Result<Option<ShadowCounts>, ReadFault> {
    let Some(seq) = newest_shadow(connection, candidate)? else { return Ok(None) };
    match StoredEntry::at(connection, seq)?.event()? {
        JournalEvent::Policy(PolicyEvent::ShadowCounted(counts)) => Ok(Some(counts)),
        _ => Err(EntryFault::Row.at(seq)),
    }
}
