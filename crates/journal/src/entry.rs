//! An entry on its way to the disk and back.
//!
//! Owns how the columns of `entry`, `payload` and `chunk` make one record. Invariant: what is handed out
//! agrees with its envelope: columns, commitment and decoded event.

use palyra_ledger::envelope::RedactionMark;
use palyra_ledger::{Envelope, PayloadSalt, commitment, leaf_hash};
use palyra_ports::NewEntry;
use palyra_types::access::ActorIdentity;
use palyra_types::attachment::Blob;
use palyra_types::event::kind::KindPlace;
use palyra_types::event::{JournalEvent, TapeEvent};
use palyra_types::tape::{ContentState, JournalEventRecord, OrchestratorTapeRecord};
use palyra_types::{PrincipalId, RunId, Seq, SessionId, TapeSeq, Timestamp};
use rusqlite::{Connection, Row};

use crate::blob::{self, BLOB_CHUNKS};
use crate::fault::{EntryFault, ReadFault};
use palyra_journal_core::codec;

/// Size of a payload's salt.
pub(crate) const SALT_BYTES: usize = 32;

/// Selects the columns that [`StoredEntry::read`] takes, in its order, of all entries; `e` is `entry`, `p` is `payload`.
pub(crate) const SELECT_ENTRIES: &str = concat!(
    "SELECT e.seq, e.envelope, e.run_id, e.tape_seq, e.kind, p.key_id, ",
    "CASE WHEN p.key_id > 0 THEN unseal(p.key_id, p.sealed, substr(e.envelope, 25, 16), e.seq, -1) ",
    "ELSE p.sealed END FROM entry e LEFT JOIN payload p ON p.seq = e.seq"
);

/// A payload with what vouches for it.
#[derive(Debug, Clone)]
pub(crate) struct Payload {
    pub(crate) salt: [u8; SALT_BYTES],
    pub(crate) bytes: Vec<u8>,
    pub(crate) commitment: [u8; 32],
}

/// An entry that is encoded except for its place in the chain.
#[derive(Debug, Clone)]
pub(crate) struct PreparedEntry {
    pub(crate) time: Timestamp,
    pub(crate) principal: PrincipalId,
    pub(crate) session: Option<SessionId>,
    pub(crate) run: Option<(RunId, TapeSeq)>,
    pub(crate) event: JournalEvent,
    pub(crate) kind: u16,
    pub(crate) facts: Vec<u8>,
    pub(crate) payload: Option<Payload>,
    pub(crate) blobs: Vec<Blob>,
    pub(crate) redaction: RedactionMark,
    /// Number of the redaction rule set in force; 0 for none.
    pub(crate) redaction_ruleset: u32,
}

impl PreparedEntry {
    /// Encodes an entry; `salt` is called when it has a payload.
    pub(crate) fn new(
        entry: NewEntry,
        salt: impl FnOnce() -> [u8; SALT_BYTES],
    ) -> Result<Self, codec::NotStorable> {
        let coded = codec::encode(&entry.event)?;
        let payload = (!coded.payload.is_empty()).then(|| {
            let salt = salt();
            let commitment = commitment(&PayloadSalt(salt), &coded.payload);
            Payload { salt, bytes: coded.payload, commitment }
        });
        Ok(Self {
            time: entry.time,
            principal: entry.principal,
            session: entry.session,
            run: entry.run,
            event: entry.event,
            kind: coded.kind,
            facts: coded.facts,
            payload,
            blobs: Vec::new(),
            redaction: RedactionMark::Untouched,
            redaction_ruleset: 0,
        })
    }

    /// Returns the bytes of content that it brings.
    pub(crate) fn payload_bytes(&self) -> usize {
        let beside = self.blobs.iter().map(|blob| blob.expose().len()).sum::<usize>();
        self.payload.as_ref().map_or(0, |payload| payload.bytes.len()) + beside
    }
}

/// An entry as it was read, checked against its envelope.
pub(crate) struct StoredEntry {
    pub(crate) envelope: Envelope,
    pub(crate) encoded: Vec<u8>,
    pub(crate) content: ContentState,
    pub(crate) payload: Vec<u8>,
    /// Whether its payload is marked as sealed.
    pub(crate) is_sealed: bool,
}

impl StoredEntry {
    /// Reads a row of [`SELECT_ENTRIES`], with its chunks where it has any.
    pub(crate) fn read(connection: &Connection, row: &Row<'_>) -> Result<Self, ReadFault> {
        let seq = row_seq(row)?;
        let encoded: Vec<u8> = row.get(1)?;
        let envelope = Envelope::decode(&encoded).map_err(|_| ReadFault::at(seq, EntryFault::Envelope))?;
        check_columns(row, seq, &envelope)?;
        let (content, payload) = read_payload(connection, row, &envelope)?;
        let is_sealed = row.get::<_, Option<i64>>(5)?.is_some_and(|key_id| key_id != 0);
        Ok(Self { envelope, encoded, content, payload, is_sealed })
    }

    /// Reads the entry that a row of a projection names.
    pub(crate) fn at(connection: &Connection, seq: Seq) -> Result<Self, ReadFault> {
        Self::find(connection, seq)?.ok_or_else(|| EntryFault::Row.at(seq))
    }

    /// Reads an entry; `None` where there is none.
    pub(crate) fn find(connection: &Connection, seq: Seq) -> Result<Option<Self>, ReadFault> {
        let mut statement = connection.prepare_cached(&format!("{SELECT_ENTRIES} WHERE e.seq = ?1"))?;
        let mut rows = statement.query([seq.0.cast_signed()])?;
        rows.next()?.map(|row| Self::read(connection, row)).transpose()
    }

    /// Decodes the event.
    pub(crate) fn event(&self) -> Result<JournalEvent, ReadFault> {
        let place = if self.envelope.run.is_some() { KindPlace::Tape } else { KindPlace::Log };
        codec::decode(self.envelope.kind, place, &self.envelope.facts, &self.payload)
            .map_err(|_| ReadFault::at(self.envelope.seq, EntryFault::Facts))
    }

    /// Reads who acted.
    fn actor(&self) -> Result<Option<ActorIdentity>, ReadFault> {
        let actor = codec::actor_of(&self.envelope.facts);
        actor.map_err(|_| ReadFault::at(self.envelope.seq, EntryFault::Facts))
    }

    /// Makes the journal's record of it.
    pub(crate) fn into_record(self) -> Result<JournalEventRecord, ReadFault> {
        let event = self.event()?;
        let actor = self.actor()?;
        Ok(JournalEventRecord {
            seq: self.envelope.seq,
            epoch: self.envelope.epoch,
            time: self.envelope.time,
            principal: self.envelope.principal,
            session: self.envelope.session,
            run: self.envelope.run,
            kind: self.envelope.kind,
            leaf: leaf_hash(&self.encoded).0,
            content: self.content,
            actor,
            event,
        })
    }

    /// Makes the tape's record of it.
    pub(crate) fn into_tape_record(self) -> Result<OrchestratorTapeRecord, ReadFault> {
        let misplaced = ReadFault::at(self.envelope.seq, EntryFault::Place);
        let event: TapeEvent = match self.event()? {
            JournalEvent::Tape(event) => event,
            _ => return Err(misplaced),
        };
        let (Some((run, tape_seq)), Some(session)) = (self.envelope.run, self.envelope.session) else {
            return Err(misplaced);
        };
        let actor = self.actor()?;
        Ok(OrchestratorTapeRecord {
            seq: self.envelope.seq,
            run,
            session,
            principal: self.envelope.principal,
            tape_seq,
            time: self.envelope.time,
            content: self.content,
            actor,
            event,
        })
    }
}

/// Returns the number that a row claims.
pub(crate) fn row_seq(row: &Row<'_>) -> rusqlite::Result<Seq> {
    row.get::<_, i64>(0).map(|seq| Seq(seq.cast_unsigned()))
}

fn check_columns(row: &Row<'_>, seq: Seq, envelope: &Envelope) -> Result<(), ReadFault> {
    let run = row.get_ref(2)?.as_blob_or_null();
    let tape_seq: Option<i64> = row.get(3)?;
    let kind: i64 = row.get(4)?;
    let known = envelope.run.map(|(run, _)| run.to_bytes());
    let agrees = envelope.seq == seq
        && i64::from(envelope.kind) == kind
        && run.is_ok_and(|run| known.as_ref().map(<[u8; 16]>::as_slice) == run)
        && envelope.run.map(|(_, at)| i64::from(at.0)) == tape_seq;
    if agrees { Ok(()) } else { Err(ReadFault::at(seq, EntryFault::Columns)) }
}

fn read_payload(
    connection: &Connection,
    row: &Row<'_>,
    envelope: &Envelope,
) -> Result<(ContentState, Vec<u8>), ReadFault> {
    let key_id: Option<i64> = row.get(5)?;
    let Some(expected) = envelope.commitment else {
        return match key_id {
            None => Ok((ContentState::Present, Vec::new())),
            Some(_) => Err(ReadFault::at(envelope.seq, EntryFault::Payload)),
        };
    };
    let broken = ReadFault::at(envelope.seq, EntryFault::Payload);
    let sealed = row.get_ref(6)?.as_blob_or_null().map_err(|_| EntryFault::Payload.at(envelope.seq))?;
    let sealed = match (sealed, key_id) {
        (_, None) => return Ok((ContentState::Erased, Vec::new())),
        (Some(sealed), Some(_)) => sealed,
        (None, Some(_)) => return Err(EntryFault::Sealed.at(envelope.seq)),
    };
    let Some((salt, inline)) = sealed.split_first_chunk::<SALT_BYTES>() else { return Err(broken) };
    let payload = match inline {
        [] => read_chunks(connection, envelope.seq)?,
        inline => inline.to_vec(),
    };
    if commitment(&PayloadSalt(*salt), &payload) != expected {
        return Err(ReadFault::at(envelope.seq, EntryFault::Payload));
    }
    Ok((ContentState::Present, payload))
}

fn read_chunks(connection: &Connection, seq: Seq) -> rusqlite::Result<Vec<u8>> {
    let mut statement = connection.prepare_cached(&blob::chunks_sql("c.n < ?2"))?;
    let mut rows = statement.query((seq.0.cast_signed(), BLOB_CHUNKS))?;
    let mut payload = Vec::new();
    while let Some(row) = rows.next()? {
        // A part that does not open is left out, and the commitment tells.
        payload.extend_from_slice(row.get_ref(0)?.as_blob_or_null()?.unwrap_or_default());
    }
    Ok(payload)
}
