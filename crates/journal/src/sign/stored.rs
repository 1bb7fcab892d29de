//! Rows of `checkpoint`: every handover, the newest head of each log, one of each day, and the first of format 1.
//!
//! Owns which row goes when a newer one comes. Invariant: what is held equals the newest row that is committed
//! or about to be; whoever rolls back puts the former value back.

use palyra_ledger::{CheckpointNote, Envelope, LogOrigin, log_origin};
use palyra_types::event::kind::KindPlace;
use palyra_types::event::{JournalEvent, LogEvent};
use palyra_types::{LogId, Timestamp};
use rusqlite::{Connection, OptionalExtension, params};

use super::signed::{SignedAs, SignedHead};
use crate::sql::{u64_from_sql, u64_to_sql};
use palyra_journal_core::codec;

const MICROS_PER_DAY: i64 = 24 * 60 * 60 * 1_000_000;

/// The newest stored head, as far as keeping the next one depends on it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct StoredHeads {
    newest: Option<NewestHead>,
    /// The log, where it began in format 1.
    format_1: Option<LogId>,
}

#[derive(Debug, Clone, Copy)]
struct NewestHead {
    log_id: LogId,
    size: u64,
    signed_as: SignedAs,
    day: i64,
}

impl StoredHeads {
    /// Looks up the newest row. Its day is that of the last entry it covers: notes tell no time.
    pub(crate) fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let format_1 = begun_in_format_1(connection)?;
        let sql =
            "SELECT c.size, c.note, e.envelope, NOT EXISTS (SELECT 1 FROM checkpoint WHERE size < c.size)
            FROM checkpoint c LEFT JOIN entry e ON e.seq = c.size - 1 ORDER BY c.size DESC LIMIT 1";
        let newest = connection.query_row(sql, [], |row| {
            let note = CheckpointNote::parse(row.get_ref(1)?.as_str()?.as_bytes());
            let envelope = row.get_ref(2)?.as_blob_or_null()?.map(Envelope::decode);
            let time = envelope.and_then(Result::ok).map_or(Timestamp(0), |envelope| envelope.time);
            let signatures = note.as_ref().map_or(0, |note| note.note().signatures().len());
            let log_id = note.map_or(LogId([0; 16]), |note| note.checkpoint().log_id);
            let signed_as = match (signatures, row.get(3)?) {
                (1, true) if format_1 == Some(log_id) => SignedAs::FirstOfFormat1,
                (1, _) => SignedAs::Head,
                (_, _) => SignedAs::Handover,
            };
            Ok(NewestHead { log_id, size: u64_from_sql(row.get(0)?), signed_as, day: day_of(time) })
        });
        Ok(Self { newest: newest.optional()?, format_1 })
    }

    /// Returns whether a head of this size or a larger one is stored.
    pub(crate) fn covers(&self, size: u64) -> bool {
        self.newest.is_some_and(|newest| newest.size >= size)
    }

    /// Writes a head unless one of its size is there, and deletes the one that is not kept beside it.
    pub(crate) fn store(&mut self, connection: &Connection, signed: &SignedHead) -> rusqlite::Result<()> {
        if self.covers(signed.size()) {
            return Ok(());
        }
        let day = day_of(signed.time);
        let sql = "INSERT INTO checkpoint(size, note) VALUES (?1, ?2)";
        let values = params![u64_to_sql(signed.size()), &*signed.checkpoint.note];
        connection.prepare_cached(sql)?.execute(values)?;
        if let Some(before) = self.newest
            && before.signed_as == SignedAs::Head
            && before.day == day
            && before.log_id == signed.checkpoint.log_id
        {
            let sql = "DELETE FROM checkpoint WHERE size = ?1";
            connection.prepare_cached(sql)?.execute([u64_to_sql(before.size)])?;
        }
        let log_id = signed.checkpoint.log_id;
        let is_first = self.newest.is_none() && self.format_1 == Some(log_id);
        let signed_as = if is_first { SignedAs::FirstOfFormat1 } else { signed.signed_as };
        self.newest = Some(NewestHead { log_id, size: signed.size(), signed_as, day });
        Ok(())
    }
}

/// Returns the log that the file began with, if that was in format 1: its first head covers epochs that nobody signed.
pub(crate) fn begun_in_format_1(connection: &Connection) -> rusqlite::Result<Option<LogId>> {
    let sql = "SELECT envelope FROM entry WHERE seq = 0";
    let first: Option<Vec<u8>> = connection.query_row(sql, [], |row| row.get(0)).optional()?;
    let envelope = first.and_then(|first| Envelope::decode(&first).ok());
    let opened = envelope.and_then(|first| codec::decode(first.kind, KindPlace::Log, &first.facts, &[]).ok());
    Ok(match opened {
        Some(JournalEvent::Log(LogEvent::Opened { log_id, nonce, first_key })) => {
            let origin = log_origin(log_id, &first_key, &nonce);
            (origin == Some(LogOrigin::Format1)).then_some(log_id)
        }
        Some(_) | None => None,
    })
}

fn day_of(time: Timestamp) -> i64 {
    time.0.div_euclid(MICROS_PER_DAY)
}
