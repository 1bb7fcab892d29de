//! What a model sees of a conversation, and how much of it fits.
//!
//! Owns how tapes become messages, which of them a request holds, and the delimiters around data. Knows no clock, disk,
//! network or chance: everything arrives as a value. Begin at [`prompt::assemble`].

#![warn(clippy::wildcard_enum_match_arm)]

pub mod clock_words;

pub mod data_key;

pub mod transcript;

pub mod session_history;

pub mod taints_read;

pub mod plan;

pub mod prompt;

pub mod sources;

pub mod project_files;

pub mod recalled_memories;

pub mod compaction;

pub mod session_summary;

pub mod references;
