//! The client as a witness: the newest signed head that it saw of each log, and the demand that the log
//! continues it.
//!
//! Owns the folder of heads and what counts as a rollback or a fork. Knows no terminal; the rules of proofs are
//! the ledger's. Invariant: a head is replaced only by one that was proved to continue it, or by
//! the explicit act of a person.
//! Begin at `Client::witness`.

mod folder;
mod seen;
mod witness;

pub use witness::GivenUpHead;
