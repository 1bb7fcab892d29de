//! Unified diffs: read from text, applied to bytes.
//!
//! Pure. Begin at [`read_patch`]; what a patch does to one file is [`apply`].

mod read;

mod apply;
mod file_patch;
mod header;
mod source;

pub(crate) use apply::apply;
pub(crate) use file_patch::{FilePatch, Hunk, HunkLine, PatchKind};
pub(crate) use read::read_patch;
