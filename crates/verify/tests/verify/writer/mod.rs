//! A tiny writer of journals, made from docs/journal-format.md like the verifier, for tests only.
//!
//! Owns no rule of its own: what it writes is what the document says, in memory first, so that a test may break any
//! part of it before or after it is saved.

mod chance;
mod encode;
mod log;
mod sign;
mod save;
mod bundle;
mod calls;
mod shapes;

pub(crate) use calls::{Tape, Wrong};
pub(crate) use chance::Chance;
pub(crate) use encode::{bytes_field, number_field};
pub(crate) use log::{Log, New, leaf, sha256};
pub(crate) use save::frontier;
pub(crate) use shapes::{Shape, shape};
pub(crate) use sign::{Signed, key_id};
