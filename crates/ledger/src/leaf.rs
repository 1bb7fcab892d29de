//! The leaf hash of an entry (RFC 6962, section 2.1).

use std::fmt;

use sha2::{Digest, Sha256};

use crate::domains::LEAF_PREFIX;

/// RFC 6962 hash of an entry's envelope.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct LeafHash(pub [u8; 32]);

impl LeafHash {
    /// What the first entry names as its predecessor.
    pub const ZERO: Self = Self([0; 32]);
}

impl fmt::Debug for LeafHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().take(6).try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Returns SHA-256(0x00 || envelope).
#[must_use]
pub fn leaf_hash(envelope: &[u8]) -> LeafHash {
    let mut hasher = Sha256::new();
    hasher.update([LEAF_PREFIX]);
    hasher.update(envelope);
    LeafHash(hasher.finalize().into())
}
