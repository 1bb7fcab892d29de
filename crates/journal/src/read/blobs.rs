//! Files beside entries.

use std::sync::Arc;

use palyra_types::Redacted;
use palyra_types::attachment::{AttachmentBody, Blob, BlobRef};
use palyra_types::tape::ContentState;
use rusqlite::Connection;

use crate::blob::{self, attachments_of};
use crate::entry::{SELECT_ENTRIES, StoredEntry};
use crate::fault::{EntryFault, ReadFault};

/// Returns the bytes of a file that an entry brought along, checked against what the entry says of it.
pub(crate) fn blob(connection: &Connection, place: BlobRef) -> Result<Option<Blob>, ReadFault> {
    let sql = format!("{SELECT_ENTRIES} WHERE e.run_id = ?1 AND e.tape_seq = ?2");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query((place.run.to_bytes(), place.tape_seq.0))?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let entry = StoredEntry::read(connection, row)?;
    if entry.content == ContentState::Erased {
        return Ok(None);
    }
    let seq = entry.envelope.seq;
    let event = entry.event()?;
    let named = attachments_of(&event)
        .iter()
        .find(|attachment| matches!(attachment.body, AttachmentBody::Blob { index } if index == place.index));
    let Some(named) = named else { return Ok(None) };
    let bytes = blob::read(connection, seq, place.index)?;
    if !blob::is_named(named, &bytes) {
        return Err(EntryFault::Payload.at(seq));
    }
    Ok(Some(Redacted::from_stored(Arc::from(bytes))))
}
