//! The contents of a journal in any store: the kinds of entries, how each event becomes facts and payload, and the
//! records that are folded from entries.
//!
//! Owns the numbers of kinds, the codec and the families of records. Knows no database, no envelope, no key. Begin at
//! [`codec::encode`] for entries and at [`family::Family`] for records.

pub mod codec;

pub mod family;

pub mod families;

pub mod seq_ranges;

#[doc(hidden)]
pub mod untrusted;
