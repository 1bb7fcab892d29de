//! Payloads, their chunks and files, against the commitments of their entries.
//!
//! Owns docs/journal-format.md, section 5, and the rows `payload` and `chunk` of section 1. Reads alongside the
//! entries, in the same order. Begin at [`ContentTables::entry`].

use ring::aead::LessSafeKey;

use super::cursor::{Cursor, ReadTrouble};
use super::rows::{ChunkRow, PayloadRow};
use crate::digest::Commitment;
use crate::envelope::Envelope;
use crate::erasure::ErasedRanges;
use crate::facts::{self, EpochSealing};
use crate::fault::{FaultCode, FaultCount};
use crate::files::{FileFault, FileReassembly, PARTS_PER_FILE};
use crate::limits::PAYLOAD_KEPT_BYTES_MAX;
use crate::sealed::{self, PAYLOAD_ROW, StateKeys};

const SALT_BYTES: usize = 32;

/// The content tables, read alongside the log.
pub(super) struct ContentTables<'s> {
    pub(super) payloads: Cursor<'s, PayloadRow>,
    pub(super) chunks: Cursor<'s, ChunkRow>,
    pub(super) keys: Option<&'s mut StateKeys>,
    pub(super) erasures: ErasedRanges,
    pub(super) unreadable: bool,
    pub(super) checked: u64,
    pub(super) sealed: u64,
}

/// How the rows of one entry are opened.
#[derive(Clone, Copy)]
enum RowOpener<'k> {
    Plain,
    Key(&'k LessSafeKey),
}

/// What stands against an entry's content.
enum ContentObjection {
    Fault(FaultCode, &'static str),
    Unreadable(ReadTrouble),
}

impl From<ReadTrouble> for ContentObjection {
    fn from(trouble: ReadTrouble) -> Self {
        Self::Unreadable(trouble)
    }
}

impl ContentTables<'_> {
    /// Checks the content of one entry; entries come in order and without gaps.
    pub(super) fn entry(&mut self, envelope: &Envelope<'_>, sealing: EpochSealing, faults: &mut FaultCount) {
        if self.unreadable {
            return;
        }
        let seq = envelope.seq;
        match self.check(envelope, sealing) {
            Ok(()) => {}
            Err(ContentObjection::Fault(code, what)) => {
                faults.add(seq, code, || format!("entry {seq}: {what}"));
            }
            Err(ContentObjection::Unreadable(ReadTrouble(what))) => {
                self.unreadable = true;
                faults.add(seq, FaultCode::Malformed, || format!("content from entry {seq} on: {what}"));
            }
        }
    }

    /// Notes rows of entries that are not there.
    pub(super) fn leftovers(&mut self, entries: u64, faults: &mut FaultCount) {
        if self.unreadable {
            return;
        }
        match (self.payloads.peek().map(|row| row.is_some()), self.chunks.peek().map(|row| row.is_some())) {
            (Ok(false), Ok(false)) => {}
            (Ok(_), Ok(_)) => faults.add(entries, FaultCode::Truncated, || {
                format!("content exists for entry {entries} or later, after the end of the log")
            }),
            (Err(ReadTrouble(what)), _) | (_, Err(ReadTrouble(what))) => {
                faults.add(entries, FaultCode::Malformed, || format!("content after the last entry: {what}"));
            }
        }
    }

    fn check(&mut self, envelope: &Envelope<'_>, sealing: EpochSealing) -> Result<(), ContentObjection> {
        let seq = envelope.seq;
        let erased = self.erasures.covers(seq);
        let row = self.payloads.next_at(seq)?;
        let objection = match row {
            Some(_) if erased => Some((FaultCode::Mismatch, "it was erased, and its payload is still there")),
            Some(_) if !envelope.has_payload() => {
                Some((FaultCode::Mismatch, "it has no payload, and there is one"))
            }
            Some(row) => return self.check_payload(envelope, &row, sealing),
            None if envelope.has_payload() && !erased => {
                Some((FaultCode::Missing, "its payload is missing and no erasure covers it"))
            }
            None => None,
        };
        let parts = self.skip_chunks(seq)?;
        match objection {
            Some((code, what)) => Err(ContentObjection::Fault(code, what)),
            None if parts > 0 => Err(ContentObjection::Fault(
                FaultCode::Mismatch,
                "there are parts of a payload it does not have",
            )),
            None => Ok(()),
        }
    }

    fn check_payload(
        &mut self,
        envelope: &Envelope<'_>,
        row: &PayloadRow,
        sealing: EpochSealing,
    ) -> Result<(), ContentObjection> {
        let opener = match row.key_id {
            0 => RowOpener::Plain,
            id if id < 0 => {
                self.skip_chunks(envelope.seq)?;
                return Err(ContentObjection::Fault(
                    FaultCode::Malformed,
                    "its payload has a negative key number",
                ));
            }
            _ if sealing == EpochSealing::Off => {
                self.skip_chunks(envelope.seq)?;
                return Err(ContentObjection::Fault(
                    FaultCode::Mismatch,
                    "its payload is marked as sealed, and its epoch seals nothing",
                ));
            }
            id => match self.keys.as_deref_mut().map(|keys| keys.get(id)) {
                Some(Some(key)) => RowOpener::Key(key),
                Some(None) => {
                    self.skip_chunks(envelope.seq)?;
                    return Err(ContentObjection::Fault(
                        FaultCode::Mismatch,
                        "the key that its payload is sealed with is not there",
                    ));
                }
                None => {
                    self.sealed += 1;
                    self.skip_chunks(envelope.seq)?;
                    return Ok(());
                }
            },
        };
        self.checked += 1;
        let checked = check_opened(&mut self.chunks, opener, envelope, &row.sealed);
        // Whatever was wrong, the next entry begins at its own rows.
        while self.chunks.next_at(envelope.seq)?.is_some() {}
        checked
    }

    fn skip_chunks(&mut self, seq: u64) -> Result<u64, ReadTrouble> {
        let mut parts = 0;
        while self.chunks.next_at(seq)?.is_some() {
            parts += 1;
        }
        Ok(parts)
    }
}

fn check_opened(
    chunks: &mut Cursor<'_, ChunkRow>,
    opener: RowOpener<'_>,
    envelope: &Envelope<'_>,
    sealed: &[u8],
) -> Result<(), ContentObjection> {
    let fault = |what| ContentObjection::Fault(FaultCode::Mismatch, what);
    let seq = envelope.seq;
    let row = opened(opener, envelope, PAYLOAD_ROW, sealed).ok_or(fault("its payload does not open"))?;
    let (salt, inline) =
        row.split_at_checked(SALT_BYTES).ok_or(fault("its payload is shorter than a salt"))?;
    let mut commitment = Commitment::begin(salt).ok_or(fault("its salt is none"))?;
    commitment.update(inline);
    let attachments = facts::attachments_field(envelope.kind);
    let mut kept = if attachments.is_some() { inline.to_vec() } else { Vec::new() };
    let mut files = FileReassembly::default();
    let (mut next, mut has_files) = (1, false);
    while let Some(chunk) = chunks.next_at(seq)? {
        let n = u64::try_from(chunk.n).map_err(|_| ReadTrouble("a part has a negative number".to_owned()))?;
        let part =
            opened(opener, envelope, n, &chunk.sealed).ok_or(fault("a part of its payload does not open"))?;
        if n >= PARTS_PER_FILE {
            has_files = true;
            files.part(n, &part);
            continue;
        }
        if n != next || !inline.is_empty() {
            return Err(fault("the parts of its payload are not numbered as they should be"));
        }
        next += 1;
        commitment.update(&part);
        if attachments.is_some() {
            kept.extend_from_slice(&part);
        }
        if kept.len() > PAYLOAD_KEPT_BYTES_MAX {
            return Err(ContentObjection::Fault(
                FaultCode::Malformed,
                "its payload is larger than a verifier keeps",
            ));
        }
    }
    if commitment.finish() != envelope.commitment {
        return Err(fault("its payload is not the one it committed to"));
    }
    let named = match attachments {
        Some(field) => facts::named_files(&kept, field)
            .ok_or(ContentObjection::Fault(FaultCode::Malformed, "its payload cannot be read"))?,
        None if has_files => return Err(fault("there are files beside it, and its kind has none")),
        None => return Ok(()),
    };
    files.compare(&named).map_err(|found| match found {
        FileFault::Numbering => fault("the parts of a file are not numbered as they should be"),
        FileFault::Unnamed => fault("there is a file beside it that its payload does not name"),
        FileFault::Differs => fault("a file beside it is not the one that its payload names"),
        FileFault::Missing => {
            ContentObjection::Fault(FaultCode::Missing, "a file that its payload names is missing")
        }
    })
}

fn opened<'r>(
    opener: RowOpener<'_>,
    envelope: &Envelope<'_>,
    n: u64,
    sealed: &'r [u8],
) -> Option<std::borrow::Cow<'r, [u8]>> {
    match opener {
        RowOpener::Plain => Some(sealed.into()),
        RowOpener::Key(key) => {
            sealed::open_row(key, &envelope.log_id, envelope.seq, n, sealed).map(Into::into)
        }
    }
}
