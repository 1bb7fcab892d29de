//! Chance that repeats itself: the same seed gives the same bytes.
//!
//! Owns one counter (splitmix64, Steele et al. 2014). Not for secrets, only for tests and simulations.

use std::sync::atomic::{AtomicU64, Ordering};

use palyra_ports::Entropy;

/// Names the seed of a run of the suite.
const SUITE_SEED: &str = "PALYRA_TEST_SEED";
const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// Entropy from a seed.
#[derive(Debug)]
pub struct FixedEntropy {
    state: AtomicU64,
}

impl FixedEntropy {
    /// Makes a source from its seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: AtomicU64::new(seed) }
    }

    /// Returns the next 64 bits.
    pub fn next_u64(&self) -> u64 {
        let mut mixed = self.state.fetch_add(GOLDEN_GAMMA, Ordering::Relaxed).wrapping_add(GOLDEN_GAMMA);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// Returns the seed of this run of the tests: a number that `cargo xtask test` derives from the commit, 0 without one.
///
/// # Panics
/// When `PALYRA_TEST_SEED` is set and no number.
#[must_use]
pub fn suite_seed() -> u64 {
    let seed = std::env::var(SUITE_SEED).unwrap_or_else(|_| "0".to_owned());
    seed.parse().unwrap_or_else(|_| panic!("{SUITE_SEED} is {seed}, which is no number"))
}

impl Entropy for FixedEntropy {
    fn fill(&self, buffer: &mut [u8]) {
        for chunk in buffer.chunks_mut(8) {
            let bytes = self.next_u64().to_le_bytes();
            chunk.copy_from_slice(&bytes[..chunk.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_sequence_of_splitmix64_comes_out() {
        let entropy = FixedEntropy::new(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| entropy.next_u64()).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn equal_seeds_give_equal_bytes_and_others_do_not() {
        let bytes = |seed| {
            let mut buffer = [0; 21];
            FixedEntropy::new(seed).fill(&mut buffer);
            buffer
        };
        assert_eq!(bytes(7), bytes(7));
        assert_ne!(bytes(7), bytes(8));
    }
}
