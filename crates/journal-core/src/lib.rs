//! What a journal holds, whatever stores it: the kinds of entries, and how each event becomes facts and payload.
//!
//! Owns the numbers of kinds and the codec. Knows no database, no envelope, no key. Begin at [`codec::encode`].

pub mod codec;
