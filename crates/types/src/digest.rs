//! Digests of content, as entries carry them.

/// A keyed digest of content: HMAC-SHA256 under the run's salt. Zero when there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct ContentDigest(pub [u8; 32]);
