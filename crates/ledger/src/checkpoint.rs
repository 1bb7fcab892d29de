//! Signed heads of the log (C2SP tlog-checkpoint in signed notes).
//!
//! Owns what a checkpoint says and the names of its keys. Knows no tree and no list of trusted keys: those
//! are [`tree`](crate::tree) and [`key_ring`](crate::key_ring). Invariant: log, size and root have one spelling.
//! Begin at [`Checkpoint::sign`] and [`CheckpointNote::parse`].

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use palyra_types::LogId;

use crate::epoch_key::EpochKey;
use crate::note::{Note, NoteError, SignatureFault, lines};
use crate::tree::{LEAVES_MAX, NodeHash};

/// What every name begins with.
const NAME_PREFIX: &str = "palyra.log/";

/// How many entries a log has, and the root of the tree over them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checkpoint {
    /// Which log.
    pub log_id: LogId,
    /// Its entries, at most [`LEAVES_MAX`].
    pub size: u64,
    /// The root over them.
    pub root: NodeHash,
}

/// A checkpoint with its signatures, which are not checked by being here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckpointNote {
    checkpoint: Checkpoint,
    note: Note,
}

/// Why bytes are no checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointError {
    /// They are no note.
    #[error("the checkpoint is not a signed note")]
    Note(#[source] NoteError),
    /// The text is not that of a checkpoint of a log of this kind.
    #[error("the checkpoint's text is malformed")]
    Body,
}

/// Returns the name of a log's keys, which is the first line of its checkpoints.
#[must_use]
pub fn log_name(log_id: LogId) -> String {
    format!("{NAME_PREFIX}{log_id}")
}

impl Checkpoint {
    /// Signs with one key or, for a handover, with the older and the newer.
    #[must_use]
    pub fn sign(self, keys: &[&EpochKey]) -> CheckpointNote {
        let note = Note::sign(self.to_string(), &log_name(self.log_id), keys);
        CheckpointNote { checkpoint: self, note }
    }
}

impl fmt::Display for Checkpoint {
    /// Writes the three lines that are signed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let root = BASE64.encode(self.root.0);
        write!(f, "{}\n{}\n{root}\n", log_name(self.log_id), self.size)
    }
}

impl FromStr for Checkpoint {
    type Err = CheckpointError;

    fn from_str(text: &str) -> Result<Self, CheckpointError> {
        parse_body(text).filter(|read| read.to_string() == text).ok_or(CheckpointError::Body)
    }
}

impl CheckpointNote {
    /// Reads a note and what it says; checks no signature.
    ///
    /// # Errors
    /// Names what is malformed. Extension lines are refused: nothing here writes them.
    pub fn parse(bytes: &[u8]) -> Result<Self, CheckpointError> {
        let note = Note::parse(bytes).map_err(CheckpointError::Note)?;
        Ok(Self { checkpoint: note.text().parse()?, note })
    }

    /// Returns the note's bytes, signatures included.
    #[must_use]
    pub fn encode(&self) -> String {
        self.note.encode()
    }

    /// Returns what is signed.
    #[must_use]
    pub fn checkpoint(&self) -> &Checkpoint {
        &self.checkpoint
    }

    /// Returns the note.
    #[must_use]
    pub fn note(&self) -> &Note {
        &self.note
    }

    /// Adds the signature of one more key.
    pub fn cosign(&mut self, key: &EpochKey) {
        self.note.add_signature(&log_name(self.checkpoint.log_id), key);
    }

    /// Checks that a key of the log has signed.
    ///
    /// # Errors
    /// [`SignatureFault`].
    pub fn verify(&self, key: &[u8; 32]) -> Result<(), SignatureFault> {
        self.note.verify(&log_name(self.checkpoint.log_id), key)
    }
}

/// A public key of a log in its text form (vkey), to be handed from person to person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VerifierKey {
    /// Which log.
    pub log_id: LogId,
    /// Ed25519.
    pub key: [u8; 32],
}

/// The text is no key of a log of this kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this is not a verifier key of a Palyra log")]
pub struct VerifierKeyError;

impl fmt::Display for VerifierKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&lines::encode_vkey(&log_name(self.log_id), &self.key))
    }
}

impl FromStr for VerifierKey {
    type Err = VerifierKeyError;

    fn from_str(vkey: &str) -> Result<Self, VerifierKeyError> {
        let (name, key) = lines::parse_vkey(vkey).ok_or(VerifierKeyError)?;
        let log_id = parse_name(name).ok_or(VerifierKeyError)?;
        Ok(Self { log_id, key })
    }
}

/// Reads what a body may say; the caller compares its spelling.
fn parse_body(text: &str) -> Option<Checkpoint> {
    let mut lines = text.split('\n');
    let (name, size, root) = (lines.next()?, lines.next()?, lines.next()?);
    let log_id = parse_name(name)?;
    let size = size.parse().ok().filter(|size| *size <= LEAVES_MAX)?;
    let root = BASE64.decode(root).ok()?.try_into().ok()?;
    Some(Checkpoint { log_id, size, root: NodeHash(root) })
}

fn parse_name(name: &str) -> Option<LogId> {
    let hex = name.strip_prefix(NAME_PREFIX)?;
    let id = u128::from_str_radix(hex, 16).ok()?;
    let log_id = LogId(id.to_be_bytes());
    (log_name(log_id) == name).then_some(log_id)
}

#[cfg(test)]
mod tests;
