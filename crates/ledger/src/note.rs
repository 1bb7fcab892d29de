//! Signed notes: a text and who signed it (C2SP signed-note).
//!
//! Owns the note's lines, key ids and Ed25519 signatures. Knows nothing of what the text says. Invariant: a
//! note that was parsed is encoded to the same bytes, since every line has one spelling. Begin at [`Note::parse`].

pub(crate) mod lines;

use std::fmt;

use ed25519_dalek::{Signature, VerifyingKey};
use palyra_types::proof::CHECKPOINT_NOTE_BYTES_MAX;
use sha2::{Digest, Sha256};

use crate::epoch_key::EpochKey;

/// Bytes of a note with its signatures, at most.
pub const NOTE_BYTES_MAX: usize = CHECKPOINT_NOTE_BYTES_MAX;
/// Signatures of a note, at most.
pub const SIGNATURES_MAX: usize = 16;

/// The signature algorithm of every key here: Ed25519.
const ED25519: u8 = 0x01;
const KEY_ID_BYTES: usize = 4;

/// What a signature line names its key by: a hint, which alone proves nothing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(pub [u8; KEY_ID_BYTES]);

impl KeyId {
    /// Returns the id of an Ed25519 key under a name.
    #[must_use]
    pub fn of(name: &str, key: &[u8; 32]) -> Self {
        let mut hasher = Sha256::new();
        hasher.update(name.as_bytes());
        hasher.update([b'\n', ED25519]);
        hasher.update(key);
        let hash: [u8; 32] = hasher.finalize().into();
        Self(*hash.first_chunk().expect("SHA-256 has more than 4 bytes"))
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyId({self})")
    }
}

/// One signature line. What a witness of another algorithm wrote is kept as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteSignature {
    /// The key's name: not empty, without white space and `+`.
    pub name: String,
    /// Which key of that name.
    pub key_id: KeyId,
    /// 64 bytes for Ed25519; at least one.
    pub signature: Vec<u8>,
}

/// A text of whole lines and its signatures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    text: String,
    signatures: Vec<NoteSignature>,
}

/// Why bytes are no note that is read here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoteError {
    /// It is over [`NOTE_BYTES_MAX`] or has more than [`SIGNATURES_MAX`] signatures.
    #[error("the note is too long or has too many signatures")]
    TooLong,
    /// It is not text, or holds control characters.
    #[error("the note is not plain text")]
    NotText,
    /// There is no empty line with signatures after it.
    #[error("the note has no signatures")]
    Unsigned,
    /// A signature line has another form.
    #[error("the note has a malformed signature line")]
    SignatureLine,
}

/// Why a note does not count as signed by a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignatureFault {
    /// No line names the key.
    #[error("the key has not signed")]
    Absent,
    /// A line names the key, and its signature is not that key's over this text.
    #[error("the signature is bad")]
    Bad,
}

impl Note {
    /// Makes a note of a text that ends in a line feed, signed by one key or several in this order.
    pub(crate) fn sign(text: String, name: &str, keys: &[&EpochKey]) -> Self {
        let mut note = Self { text, signatures: Vec::with_capacity(keys.len()) };
        keys.iter().for_each(|key| note.add_signature(name, key));
        note
    }

    /// Adds the signature of one more key.
    pub(crate) fn add_signature(&mut self, name: &str, key: &EpochKey) {
        self.signatures.push(NoteSignature {
            name: name.to_owned(),
            key_id: KeyId::of(name, &key.public()),
            signature: key.sign(self.text.as_bytes()).to_vec(),
        });
    }

    /// Reads a note; checks no signature.
    ///
    /// # Errors
    /// Names what is wrong with its form.
    pub fn parse(bytes: &[u8]) -> Result<Self, NoteError> {
        lines::parse(bytes)
    }

    /// Returns the note's bytes, signatures included.
    #[must_use]
    pub fn encode(&self) -> String {
        lines::encode(self)
    }

    /// Returns the signed text, with its last line feed.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the signatures in their order, checked or not.
    #[must_use]
    pub fn signatures(&self) -> &[NoteSignature] {
        &self.signatures
    }

    /// Checks that a key has signed, and that every line that names the key is its signature.
    ///
    /// # Errors
    /// [`SignatureFault`]. Lines of other keys are not looked at, as signed-note wants it.
    pub fn verify(&self, name: &str, key: &[u8; 32]) -> Result<(), SignatureFault> {
        let key_id = KeyId::of(name, key);
        let mut own =
            self.signatures.iter().filter(|line| line.name == name && line.key_id == key_id).peekable();
        if own.peek().is_none() {
            return Err(SignatureFault::Absent);
        }
        if own.all(|line| self.is_signature_of(line, key)) { Ok(()) } else { Err(SignatureFault::Bad) }
    }

    /// Returns whether a line is this key's signature over the text.
    ///
    /// Strictly: keys and signatures that other verifiers may judge differently are refused.
    pub(crate) fn is_signature_of(&self, line: &NoteSignature, key: &[u8; 32]) -> bool {
        let Ok(signature) = Signature::from_slice(&line.signature) else { return false };
        VerifyingKey::from_bytes(key)
            .is_ok_and(|key| key.verify_strict(self.text.as_bytes(), &signature).is_ok())
    }
}

#[cfg(test)]
mod tests;
