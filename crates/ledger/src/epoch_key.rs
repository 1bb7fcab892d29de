//! The signing key of one epoch, and the id of a log.
//!
//! Owns how both are made from entropy that the caller brings. Knows no files: where keys are kept is the
//! journal's affair. Invariant: a log's id depends on its first key, so nobody else can claim it.

use std::fmt;

use ed25519_dalek::{Signer as _, SigningKey};
use palyra_types::LogId;
use sha2::{Digest, Sha256};

use crate::domains;

/// An Ed25519 key that lives as long as one epoch. Wiped from memory when dropped.
pub struct EpochKey(SigningKey);

impl EpochKey {
    /// Makes a key from 32 bytes of entropy.
    #[must_use]
    pub fn from_entropy(seed: [u8; 32]) -> Self {
        Self(SigningKey::from_bytes(&seed))
    }

    /// Returns the public half.
    #[must_use]
    pub fn public(&self) -> [u8; 32] {
        self.0.verifying_key().to_bytes()
    }

    /// Signs a message (RFC 8032, Ed25519).
    #[must_use]
    pub fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.0.sign(message).to_bytes()
    }

    /// Returns the secret half, to be kept in a file that only the daemon can read.
    #[must_use]
    pub fn secret(&self) -> [u8; 32] {
        self.0.to_bytes()
    }
}

impl fmt::Debug for EpochKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EpochKey(<secret>)")
    }
}

/// In which format of the journal a log began: its id says so, and cannot be made to say otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogOrigin {
    /// Before there were trees and checkpoints.
    Format1,
    /// With a tree and checkpoints from its first entry on.
    Format2,
}

/// Returns the id of the new log that begins with this key and nonce.
#[must_use]
pub fn log_id(first_key: &[u8; 32], nonce: &[u8; 32]) -> LogId {
    log_id_in(domains::LOG_V2, first_key, nonce)
}

/// Returns the id that a log with this key and nonce got in the journal's format 1.
#[must_use]
pub fn log_id_v1(first_key: &[u8; 32], nonce: &[u8; 32]) -> LogId {
    log_id_in(domains::LOG_V1, first_key, nonce)
}

/// Returns in which format a log of this id began; `None` when the id is not that of this key and nonce.
#[must_use]
pub fn log_origin(log_id: LogId, first_key: &[u8; 32], nonce: &[u8; 32]) -> Option<LogOrigin> {
    let ids = [(domains::LOG_V1, LogOrigin::Format1), (domains::LOG_V2, LogOrigin::Format2)];
    let origin = ids.into_iter().find(|(domain, _)| log_id_in(domain, first_key, nonce) == log_id);
    origin.map(|(_, origin)| origin)
}

fn log_id_in(domain: &[u8], first_key: &[u8; 32], nonce: &[u8; 32]) -> LogId {
    let mut hasher = Sha256::new();
    hasher.update(domain);
    hasher.update(first_key);
    hasher.update(nonce);
    let hash: [u8; 32] = hasher.finalize().into();
    LogId(*hash.first_chunk().expect("SHA-256 has more than 16 bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_its_seed_and_names_the_log() {
        let key = EpochKey::from_entropy([3; 32]);
        assert_eq!(key.secret(), [3; 32]);
        assert_eq!(key.public(), EpochKey::from_entropy([3; 32]).public());
        assert_ne!(log_id(&key.public(), &[0; 32]), log_id(&key.public(), &[1; 32]));
        assert_eq!(format!("{key:?}"), "EpochKey(<secret>)");
    }

    #[test]
    fn a_log_s_id_keeps_its_value_and_tells_its_format() {
        let (key, nonce) = ([1; 32], [2; 32]);
        assert_eq!(log_id_v1(&key, &nonce).to_string(), "6aefe237828b57871d311eea1358c746");
        assert_eq!(log_id(&key, &nonce).to_string(), "46bb1a5bfbc04df76ec22b02efe5cfef");
        assert_eq!(log_origin(log_id_v1(&key, &nonce), &key, &nonce), Some(LogOrigin::Format1));
        assert_eq!(log_origin(log_id(&key, &nonce), &key, &nonce), Some(LogOrigin::Format2));
        assert_eq!(log_origin(log_id(&key, &nonce), &key, &key), None);
    }
}
