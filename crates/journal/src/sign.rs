//! Signed heads: who signs, when, where they are kept, and the key's short life.
//!
//! Owns the epochs' key files, the rows of `checkpoint`, the anchor's file and the signing thread. Knows no
//! tree and no queue's order: heads are handed in, and only committed ones. Invariant: a key signs from the
//! moment a stored handover vouches for it, and the keys before it are then destroyed. Begin at [`signer`].

mod signer;
mod signer_state;

mod signed;
mod stored;

mod anchor;
mod keys;

pub(crate) use anchor::Anchor;
pub(crate) use keys::{KeySource, destroy_older, load, newest as newest_key, save};
pub(crate) use signed::{SignedHead, sign};
pub(crate) use signer::{Signer, spawn};
pub(crate) use signer_state::{SharedHeads, SignDelay};
pub(crate) use stored::{StoredHeads, begun_in_format_1};
