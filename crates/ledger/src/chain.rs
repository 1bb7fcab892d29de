//! The chain through the leaves.
//!
//! Owns the rule that entry n+1 names the leaf of entry n. Invariant: a
//! [`Chain`] has seen a gapless sequence from where it began. Begin at [`Chain::admit`].

use palyra_types::{LogId, Seq};

use crate::envelope::Envelope;
use crate::leaf::{LeafHash, leaf_hash};

/// Where a log stands: what the next entry has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chain {
    /// The log.
    pub log_id: LogId,
    /// The next entry's number.
    pub next_seq: Seq,
    /// The leaf that the next entry names.
    pub head: LeafHash,
}

/// How an entry breaks the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ChainFault {
    /// Its number is not the next one.
    #[error("the entry's number is not the next one")]
    Seq,
    /// It does not name the leaf before it.
    #[error("the entry does not name the leaf before it")]
    Prev,
    /// It belongs to another log.
    #[error("the entry belongs to another log")]
    Log,
}

impl Chain {
    /// Returns the chain of an empty log.
    #[must_use]
    pub fn begin(log_id: LogId) -> Self {
        Self { log_id, next_seq: Seq(0), head: LeafHash::ZERO }
    }

    /// Checks that an entry is the next one, and moves on behind it.
    ///
    /// # Errors
    /// Names the rule that the entry breaks; the chain then stays where it was.
    pub fn admit(&mut self, envelope: &Envelope, encoded: &[u8]) -> Result<LeafHash, ChainFault> {
        if envelope.seq != self.next_seq {
            return Err(ChainFault::Seq);
        }
        if envelope.prev != self.head {
            return Err(ChainFault::Prev);
        }
        if envelope.log_id != self.log_id {
            return Err(ChainFault::Log);
        }
        self.head = leaf_hash(encoded);
        self.next_seq = self.next_seq.next();
        Ok(self.head)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_leaf_has_the_hash_of_rfc_6962() {
        let hex: String = leaf_hash(b"").0.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d");
    }
}
