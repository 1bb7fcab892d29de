//! Files beside an entry: long content that a model does not read as text.
//!
//! Owns where they lie: in chunks of the one entry that brought them, numbered above the chunks of its
//! payload. Invariant: the entry's payload holds size and SHA-256 of each, so its commitment vouches for them.

use palyra_ledger::sha256;
use palyra_types::Seq;
use palyra_types::attachment::{ATTACHMENTS_MAX, Attachment, AttachmentBody, Blob};
use palyra_types::event::{JournalEvent, RunEvent, TapeEvent};
use rusqlite::{Connection, params};

use crate::schema::CHUNK_BYTES;
use crate::seal::unseal_column;
use crate::sql::{count_to_sql, seq_to_sql};

/// Chunk numbers below this belong to the payload; those of blob `i` begin at `i + 1` times it.
pub(crate) const BLOB_CHUNKS: i64 = 1 << 20;

/// Returns the files that an event brings along.
pub(crate) fn attachments_of(event: &JournalEvent) -> &[Attachment] {
    match event {
        JournalEvent::Tape(TapeEvent::Run(RunEvent::Started(started))) => &started.input.attachments,
        JournalEvent::Tape(TapeEvent::Run(RunEvent::InputReceived { input, .. })) => &input.attachments,
        _ => &[],
    }
}

/// Returns whether an event brings along files that lie beside its entry.
pub(crate) fn has_blobs(event: &JournalEvent) -> bool {
    let is_blob = |attachment: &Attachment| matches!(attachment.body, AttachmentBody::Blob { .. });
    attachments_of(event).iter().any(is_blob)
}

/// Returns whether these bytes are the ones that the attachment names.
pub(crate) fn is_named(attachment: &Attachment, bytes: &[u8]) -> bool {
    attachment.bytes == bytes.len() as u64 && *attachment.sha256.expose() == sha256(bytes)
}

/// Returns whether an event names exactly these blobs, numbered from 0.
pub(crate) fn are_named(event: &JournalEvent, blobs: &[Blob]) -> bool {
    let attachments = attachments_of(event);
    let mut named = 0u32;
    let fits = attachments.iter().all(|attachment| match attachment.body {
        AttachmentBody::Text(_) => true,
        AttachmentBody::Blob { index } => {
            let in_order = index == named;
            named += 1;
            let blob = usize::try_from(index).ok().and_then(|index| blobs.get(index));
            in_order && blob.is_some_and(|blob| is_named(attachment, blob.expose()))
        }
    });
    fits && named as usize == blobs.len() && attachments.len() <= ATTACHMENTS_MAX
}

/// Writes the blobs of an entry; returns their size.
pub(crate) fn insert(connection: &Connection, seq: Seq, blobs: &[Blob]) -> rusqlite::Result<u64> {
    // Nearly every entry; the writer looks up no statement for it.
    if blobs.is_empty() {
        return Ok(0);
    }
    let mut bytes = 0;
    let sql = "INSERT INTO chunk(seq, n, sealed) VALUES (?1, ?2, ?3)";
    let mut insert = connection.prepare_cached(sql)?;
    for (index, blob) in (1..).zip(blobs) {
        bytes += blob.expose().len() as u64;
        for (at, chunk) in blob.expose().chunks(CHUNK_BYTES).enumerate() {
            insert.execute(params![seq_to_sql(seq), index * BLOB_CHUNKS + count_to_sql(at), chunk])?;
        }
    }
    Ok(bytes)
}

/// Writes SQL that reads parts of the entry `?1` in order, as they were before they were sealed, each with its number.
pub(crate) fn chunks_sql(condition: &str) -> String {
    let part = unseal_column("c", "c.n");
    format!(
        "SELECT {part}, c.n FROM chunk c JOIN payload p ON p.seq = c.seq JOIN entry e ON e.seq = c.seq
        WHERE c.seq = ?1 AND {condition} ORDER BY c.n"
    )
}

/// Reads one blob of an entry.
pub(crate) fn read(connection: &Connection, seq: Seq, index: u32) -> rusqlite::Result<Vec<u8>> {
    let from = (i64::from(index) + 1) * BLOB_CHUNKS;
    let mut statement = connection.prepare_cached(&chunks_sql("c.n >= ?2 AND c.n < ?3"))?;
    let mut rows = statement.query((seq_to_sql(seq), from, from + BLOB_CHUNKS))?;
    let mut bytes = Vec::new();
    while let Some(row) = rows.next()? {
        // A part that does not open is left out, and the digest tells.
        bytes.extend_from_slice(row.get_ref(0)?.as_blob_or_null()?.unwrap_or_default());
    }
    Ok(bytes)
}

/// Returns whether every blob that an entry names is there unchanged, and no further one beside them.
pub(crate) fn verify(connection: &Connection, seq: Seq, event: &JournalEvent) -> rusqlite::Result<bool> {
    let mut blobs = 0;
    for attachment in attachments_of(event) {
        if let AttachmentBody::Blob { index } = attachment.body {
            if !is_named(attachment, &read(connection, seq, index)?) {
                return Ok(false);
            }
            blobs = blobs.max(i64::from(index) + 1);
        }
    }
    if blobs == 0 {
        return Ok(true);
    }
    let sql = "SELECT NOT EXISTS (SELECT 1 FROM chunk WHERE seq = ?1 AND n >= ?2)";
    connection.prepare_cached(sql)?.query_row((seq_to_sql(seq), (blobs + 1) * BLOB_CHUNKS), |row| row.get(0))
}
