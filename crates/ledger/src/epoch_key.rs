//! The signing key of one epoch, and the id of a log.
//!
//! Owns how both are made from entropy that the caller brings. Knows no files: where keys are kept is the
//! journal's affair. Invariant: a log's id depends on its first key, so nobody else can claim it.

use std::fmt;

use ed25519_dalek::SigningKey;
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

/// Returns the id of the log that begins with this key and nonce.
#[must_use]
pub fn log_id(first_key: &[u8; 32], nonce: &[u8; 32]) -> LogId {
    let mut hasher = Sha256::new();
    hasher.update(domains::LOG);
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
}
