//! The bytes and hashes of the log: envelope, leaf, chain, tree, commitments, digests, keys.
//!
//! Owns how an entry is spelled and what vouches for it. Knows no database, clock or randomness: entropy
//! and time are handed in. Invariant: every value has exactly one encoding, so a changed byte is a changed leaf.
//!
//! Begin at [`envelope`].

#![warn(clippy::wildcard_enum_match_arm)]

pub mod domains;
pub mod envelope;
pub mod leaf;

pub mod chain;
pub mod digest;
pub mod epoch_key;
pub mod tree;
pub mod note;
pub mod checkpoint;
pub mod key_ring;

pub use chain::{Chain, ChainFault};
pub use checkpoint::{Checkpoint, CheckpointNote, VerifierKey, log_name};
pub use digest::{
    PayloadSalt, binding_digest, commitment, content_digest, effect_key, idempotency_digest, sha256,
};
pub use envelope::{ENVELOPE_BYTES_MAX, Envelope, EnvelopeError, FACTS_BYTES_MAX};
pub use epoch_key::{EpochKey, LogOrigin, log_id, log_id_v1, log_origin};
pub use key_ring::{KeyRing, KeyRingFault};
pub use leaf::{LeafHash, leaf_hash};
pub use tree::{Frontier, NodeHash, TreeWriter, node_hash};
