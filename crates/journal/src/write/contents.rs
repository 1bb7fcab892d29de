//! Where an entry's content goes: the payload's row, its chunks, the files beside it; sealed where that is wished.

use palyra_types::{LogId, PrincipalId, Seq};
use rusqlite::{Connection, params};

use crate::blob::{self, BLOB_CHUNKS};
use crate::entry::{Payload, PreparedEntry, SALT_BYTES};
use crate::schema::{CHUNK_BYTES, PAYLOAD_INLINE_BYTES_MAX};
use crate::seal::{PayloadSealer, SealPlace};
use crate::sql::{count_to_sql, seq_to_sql};

const INSERT_PAYLOAD: &str = "INSERT INTO payload(seq, key_id, sealed) VALUES (?1, ?2, ?3)";
const INSERT_CHUNK: &str = "INSERT INTO chunk(seq, n, sealed) VALUES (?1, ?2, ?3)";

/// Writes the content of an entry; returns its size before sealing.
pub(super) fn insert(
    connection: &Connection,
    sealer: Option<&mut PayloadSealer>,
    log_id: LogId,
    seq: Seq,
    entry: &PreparedEntry,
) -> rusqlite::Result<u64> {
    let Some(payload) = &entry.payload else { return Ok(0) };
    let bytes = (SALT_BYTES + payload.bytes.len()) as u64;
    match sealer.filter(|sealer| sealer.seals()) {
        Some(sealer) => {
            let mut parts = SealedParts { connection, sealer, principal: entry.principal, log_id, seq };
            let beside = parts.insert(payload, entry)?;
            Ok(bytes + beside)
        }
        None => {
            insert_plain(connection, seq, payload)?;
            Ok(bytes + blob::insert(connection, seq, &entry.blobs)?)
        }
    }
}

/// Returns the row's text, and what lies in chunks.
fn row_and_chunks(payload: &Payload) -> (Vec<u8>, &[u8]) {
    let chunked = payload.bytes.len() > PAYLOAD_INLINE_BYTES_MAX;
    let (inline, chunks): (&[u8], &[u8]) =
        if chunked { (&[], &payload.bytes) } else { (&payload.bytes, &[]) };
    let mut row = Vec::with_capacity(SALT_BYTES + inline.len());
    row.extend_from_slice(&payload.salt);
    row.extend_from_slice(inline);
    (row, chunks)
}

fn insert_plain(connection: &Connection, seq: Seq, payload: &Payload) -> rusqlite::Result<()> {
    let (row, chunks) = row_and_chunks(payload);
    connection.prepare_cached(INSERT_PAYLOAD)?.execute(params![seq_to_sql(seq), 0, row])?;
    if !chunks.is_empty() {
        let mut insert = connection.prepare_cached(INSERT_CHUNK)?;
        for (at, chunk) in chunks.chunks(CHUNK_BYTES).enumerate() {
            insert.execute(params![seq_to_sql(seq), count_to_sql(at + 1), chunk])?;
        }
    }
    Ok(())
}

/// An entry whose parts are all sealed with one key.
struct SealedParts<'a> {
    connection: &'a Connection,
    sealer: &'a mut PayloadSealer,
    principal: PrincipalId,
    log_id: LogId,
    seq: Seq,
}

impl SealedParts<'_> {
    fn insert(&mut self, payload: &Payload, entry: &PreparedEntry) -> rusqlite::Result<u64> {
        let (row, chunks) = row_and_chunks(payload);
        let blobs = entry.blobs.iter().map(|blob| blob.expose());
        let beside = blobs.clone().map(|blob| blob.len().div_ceil(CHUNK_BYTES)).sum::<usize>();
        let parts = 1 + chunks.len().div_ceil(CHUNK_BYTES) + beside;
        self.sealer.reserve(self.principal, count_to_sql(parts))?;
        let (key_id, sealed) = self.sealer.seal(self.principal, self.place(None), &row)?;
        let mut insert = self.connection.prepare_cached(INSERT_PAYLOAD)?;
        insert.execute(params![seq_to_sql(self.seq), key_id, sealed])?;
        self.insert_chunks(1, chunks)?;
        let mut bytes = 0;
        for (index, blob) in (1..).zip(blobs) {
            bytes += blob.len() as u64;
            self.insert_chunks(index * BLOB_CHUNKS, blob)?;
        }
        Ok(bytes)
    }

    fn insert_chunks(&mut self, first: i64, bytes: &[u8]) -> rusqlite::Result<()> {
        for (n, chunk) in (first..).zip(bytes.chunks(CHUNK_BYTES)) {
            let place = self.place(Some(n.cast_unsigned()));
            let (_, sealed) = self.sealer.seal(self.principal, place, chunk)?;
            let mut insert = self.connection.prepare_cached(INSERT_CHUNK)?;
            insert.execute(params![seq_to_sql(self.seq), n, sealed])?;
        }
        Ok(())
    }

    fn place(&self, chunk: Option<u64>) -> SealPlace {
        SealPlace { log_id: self.log_id, seq: self.seq, chunk }
    }
}
