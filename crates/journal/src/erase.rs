//! Erasing content: the entries stay, what they said goes, from every file that we write.
//!
//! Owns which entries belong to a subject, what leaves the tables with them, and the overwriting of bytes that
//! SQLite leaves behind. Knows no run and no actor: whoever orders an erasure has ended the runs concerned.
//! Invariant: payloads, files and derived texts go in the commit of the `Erased` entry; the overwriting follows,
//! is marked as owed until it is done, and may be repeated. Begin at `write::erasure`.

mod find;
mod secrets;

mod take_out;

mod cover;

mod copies;
mod overwrite;
mod pending_overwrites;
mod slack;

pub(crate) use cover::{ErasedCover, names_earlier_only};
pub(crate) use find::{bounds, find, plan_of};
pub(crate) use overwrite::{SpanOverwriter, WipeError, checkpoint};
pub(crate) use palyra_journal_core::seq_ranges::joined;
pub(crate) use secrets::find_secrets;
pub(crate) use take_out::{TakenOut, take_out_named};
