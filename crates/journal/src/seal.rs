//! Sealed payloads: AES-256-GCM under a key of each principal, wrapped by a root key that every erasure replaces.
//!
//! Owns STATE/keys.db and STATE/keys/root.key, and what is sealed with them; knows no entry and no erasure. Format:
//! docs/journal-format.md, section 6. Invariant: a subject's key is on the disk before anything sealed with it, and
//! the old root is destroyed only when every remaining key is wrapped by the new one. Begin at [`PayloadSealer`] for writing,
//! [`add_unseal`] for reading.

mod cipher;

mod root;
mod keys_db;

mod sealer;
mod unsealer;

pub(crate) use cipher::SealPlace;
pub use sealer::PayloadSealing;
pub(crate) use sealer::{PayloadSealer, SealError};
pub(crate) use unsealer::{add_unseal, unseal_column};
