//! What others can hold the journal to: proofs, and bundles that prove themselves.
//!
//! Owns how they are read off the tables, in a snapshot of one connection. Knows no keys: a signed head is handed
//! in. Invariant: everything that a bundle holds lies below the size of its head. Begin at [`proofs::inclusion`].

mod proofs;

mod bundle;
mod static_tiles;

mod fault;

pub(crate) use bundle::export_run;
pub(crate) use fault::ProveFault;
pub(crate) use proofs::{consistency, inclusion, newest_head};
pub(crate) use static_tiles::export_tiles;
