//! Unified diffs: read from text, applied to bytes.
//!
//! Pure. Begin at [`read_patch`]; what a patch does to one file is [`apply`].

mod apply;
mod header;
mod read;

pub(crate) use apply::apply;
pub(crate) use read::{FilePatch, Hunk, PatchKind, read_patch};
