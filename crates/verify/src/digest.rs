//! The hashes of docs/journal-format.md: leaves, nodes, commitments, ids of logs and keys.
//!
//! Owns every domain string that a verifier needs. Knows nothing of tables or files.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// A SHA-256.
pub(crate) type Hash = [u8; 32];
/// The id of a log.
pub(crate) type LogId = [u8; 16];

const PAYLOAD_DOMAIN: &[u8] = b"palyra/payload/v1\n";

/// The two ways in which the id of a log was ever made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IdGeneration {
    /// Begun in format 1, before there were checkpoints.
    First,
    /// Begun with checkpoints.
    Second,
}

/// Returns SHA-256 of the parts in order.
pub(crate) fn sha256(parts: &[&[u8]]) -> Hash {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize().into()
}

/// Returns the leaf of an envelope (RFC 6962).
pub(crate) fn leaf(envelope: &[u8]) -> Hash {
    sha256(&[&[0], envelope])
}

/// Returns the node above two hashes (RFC 6962).
pub(crate) fn node(left: &Hash, right: &Hash) -> Hash {
    sha256(&[&[1], left, right])
}

/// Returns the id of the log that `key` and `nonce` begin.
pub(crate) fn log_id(generation: IdGeneration, key: &Hash, nonce: &Hash) -> LogId {
    let domain: &[u8] = match generation {
        IdGeneration::First => b"palyra/log/v1\n",
        IdGeneration::Second => b"palyra/log/v2\n",
    };
    let mut id = [0; 16];
    id.copy_from_slice(&sha256(&[domain, key, nonce])[..16]);
    id
}

/// Returns the id of a signed-note Ed25519 key.
pub(crate) fn key_id(name: &str, key: &Hash) -> [u8; 4] {
    let hash = sha256(&[name.as_bytes(), &[0x0A, 0x01], key]);
    [hash[0], hash[1], hash[2], hash[3]]
}

/// A commitment in the making.
pub(crate) struct Commitment(Hmac<Sha256>);

impl Commitment {
    /// Begins one; `None` never happens, HMAC takes keys of any length.
    pub(crate) fn begin(salt: &[u8]) -> Option<Self> {
        let mut mac = Hmac::<Sha256>::new_from_slice(salt).ok()?;
        mac.update(PAYLOAD_DOMAIN);
        Some(Self(mac))
    }

    pub(crate) fn update(&mut self, part: &[u8]) {
        self.0.update(part);
    }

    pub(crate) fn finish(self) -> Hash {
        self.0.finalize().into_bytes().into()
    }
}

/// Returns bytes as lower-case hex.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        for half in [byte >> 4, byte & 15] {
            text.push(char::from_digit(u32::from(half), 16).unwrap_or('?'));
        }
        text
    })
}

/// Returns the bytes that lower-case hex stands for.
pub(crate) fn unhex(text: &str) -> Option<Vec<u8>> {
    let half = |c: u8| match c {
        b'0'..=b'9' => Some(c - b'0'),
        b'a'..=b'f' => Some(c - b'a' + 10),
        _ => None,
    };
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
    pairs.iter().map(|[high, low]| Some(half(*high)? << 4 | half(*low)?)).collect()
}
