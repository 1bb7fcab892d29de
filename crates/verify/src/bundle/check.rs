//! The checks on one entry of a bundle.
//!
//! Owns proof, columns, payload and files of an entry. Knows no file of the bundle.

use super::read::{EntryLine, ProofLine};
use crate::digest::{self, Commitment};
use crate::envelope::Envelope;
use crate::facts;
use crate::fault::{FaultCode, FaultCount};
use crate::files::{FileFault, FileReassembly};
use crate::note::CheckpointNote;
use crate::tree::root_of_inclusion;

const SALT_BYTES: usize = 32;

/// What an entry's payload came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PayloadCheck {
    /// It has none.
    None,
    /// It is what was committed to, or a fault was noted.
    Checked,
    /// It is not there; the entry of this seq is said to have erased it.
    ErasedBy(u64),
}

/// Checks that the entry is in the tree.
pub(super) fn inclusion(
    bytes: &[u8],
    seq: u64,
    proof: Option<&ProofLine>,
    checkpoint: &CheckpointNote,
    faults: &mut FaultCount,
) {
    let mut wrong = |what: &str| faults.add(seq, FaultCode::Mismatch, || format!("entry {seq} {what}"));
    let Some(proof) = proof.filter(|proof| proof.seq == seq) else { return wrong("has no proof") };
    let Ok(hashes) = proof.hashes() else { return wrong("has a proof that cannot be read") };
    if root_of_inclusion(digest::leaf(bytes), seq, checkpoint.size, &hashes) != Some(checkpoint.root) {
        wrong("is not the one that its proof leads from");
    }
}

/// Checks the content beside an entry.
pub(super) fn content(
    line: &EntryLine,
    envelope: &Envelope<'_>,
    faults: &mut FaultCount,
) -> Result<PayloadCheck, String> {
    let seq = line.seq;
    let mut wrong = |code, what: &str| faults.add(seq, code, || format!("entry {seq}: {what}"));
    let Some(payload) = line.payload()? else {
        if !line.files.is_empty() {
            wrong(FaultCode::Mismatch, "there are files of a payload that it does not have");
        }
        return Ok(match line.erased_by {
            Some(by) if envelope.has_payload() => PayloadCheck::ErasedBy(by),
            None if envelope.has_payload() => {
                wrong(FaultCode::Missing, "its payload is missing and no erasure covers it");
                PayloadCheck::Checked
            }
            Some(_) | None => PayloadCheck::None,
        });
    };
    if !envelope.has_payload() || line.erased_by.is_some() {
        wrong(FaultCode::Mismatch, "there is a payload that it does not have, or that was erased");
        return Ok(PayloadCheck::Checked);
    }
    let commitment = payload.split_at_checked(SALT_BYTES).and_then(|(salt, payload)| {
        let mut commitment = Commitment::begin(salt)?;
        commitment.update(payload);
        Some((commitment.finish(), payload))
    });
    match commitment {
        Some((made, payload)) if made == envelope.commitment => match files(line, envelope.kind, payload)? {
            Ok(()) => {}
            Err(FileFault::Missing) => wrong(FaultCode::Missing, "a file that its payload names is missing"),
            Err(FileFault::Numbering | FileFault::Unnamed | FileFault::Differs) => {
                wrong(FaultCode::Mismatch, "a file beside it is not one that its payload names");
            }
        },
        Some(_) | None => wrong(FaultCode::Mismatch, "its payload is not the one it committed to"),
    }
    Ok(PayloadCheck::Checked)
}

fn files(line: &EntryLine, kind: u16, payload: &[u8]) -> Result<Result<(), FileFault>, String> {
    let mut files = FileReassembly::default();
    let mut last = None;
    for part in &line.files {
        if last.is_some_and(|last| last >= part.n) {
            return Ok(Err(FileFault::Numbering));
        }
        last = Some(part.n);
        files.part(part.n, &part.content()?);
    }
    let named = match facts::attachments_field(kind) {
        Some(field) => facts::named_files(payload, field).ok_or("a payload cannot be read")?,
        None => Vec::new(),
    };
    Ok(files.compare(&named))
}
