//! Asking for chance.

use palyra_types::{TimedId, Timestamp};

/// The only source of randomness.
pub trait Entropy: Send + Sync {
    /// Fills the buffer with random bytes; cryptographic quality outside tests.
    fn fill(&self, buffer: &mut [u8]);
}

impl dyn Entropy {
    /// Returns 32 random bytes.
    pub fn bytes32(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        self.fill(&mut bytes);
        bytes
    }

    /// Makes a new ULID-shaped id of a time and 80 random bits.
    pub fn new_id<I: TimedId>(&self, now: Timestamp) -> I {
        let mut bytes = [0; 16];
        self.fill(&mut bytes[6..]);
        I::of_parts(now.unix_ms(), u128::from_be_bytes(bytes))
    }
}
