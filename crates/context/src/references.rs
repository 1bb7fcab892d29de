//! References in an input, such as `@file:src/main.rs:3-9`: words that name material to be shown beside them.
//!
//! Owns how a reference is written, which call of a tool it is, how much of the results fits, and how a model reads them.
//! Performs no call: a reference is a proposal, which policy judges as it judges a proposal of a model.
//!
//! Invariant: an item that fails has an error of its own and changes no other item. Begin at [`scan_references`].

mod target;
mod scan;
mod call;
mod fit;
mod render;
mod preview;

pub use call::{
    MEMORY_TOOL, PlannedInput, PlannedItem, PlannedReference, RUN_TOOL, ReferenceCall, is_made_by_preview,
    plan_calls, unasked_call,
};
pub use fit::{ItemFit, fit_items};
pub use preview::{
    PreviewItem, PreviewedInput, PreviewedReference, ProposedCall, ReferenceCost, ReferencePreview,
    preview_context_references,
};
pub use render::{
    ReferenceItem, ReferenceOutcome, ResolvedReferences, TAG_BEGIN, TAG_END, render_context_reference_prompt,
};
pub use scan::{FoundReference, ScannedInput, SurplusReferences, TextSpan, scan_references};

use palyra_types::context_reference::ReferenceKind;

/// Bytes of what a reference names, at most.
pub const TARGET_BYTES_MAX: usize = 8192;

/// Estimated tokens below which an item is left out instead of cut: less than this says little.
pub const CUT_ITEM_TOKENS_MIN: u64 = 128;

/// Levels of a folder that are listed.
pub const FOLDER_DEPTH: u64 = 2;

/// Lines of a file, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LineRange {
    /// The first.
    pub from: u64,
    /// The last, included; `None` for the end of the file.
    pub to: Option<u64>,
}

/// A reference, as it is written. Whether its target exists, and may be read, is found out by its call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ContextReference {
    /// The text of a file.
    File {
        /// From the workspace root.
        path: String,
        /// Which lines; `None` for all.
        lines: Option<LineRange>,
    },
    /// The names in a folder.
    Folder {
        /// From the workspace root.
        path: String,
    },
    /// Changes of the working tree that are not staged.
    Diff {
        /// Only below this path.
        path: Option<String>,
    },
    /// Changes that are staged.
    Staged {
        /// Only below this path.
        path: Option<String>,
    },
    /// The text at an address.
    Url {
        /// An `http://` or `https://` address.
        url: String,
    },
    /// What memory has about something.
    Memory {
        /// The words to search with.
        query: String,
    },
    /// What a run did.
    Run {
        /// Its id, a unique part of it, `last` or `last~N`.
        run: String,
        /// Which entries; `None` for all.
        entries: Option<LineRange>,
    },
}

impl ContextReference {
    /// Returns the kind.
    #[must_use]
    pub fn kind(&self) -> ReferenceKind {
        match self {
            Self::File { .. } => ReferenceKind::File,
            Self::Folder { .. } => ReferenceKind::Folder,
            Self::Diff { .. } => ReferenceKind::Diff,
            Self::Staged { .. } => ReferenceKind::Staged,
            Self::Url { .. } => ReferenceKind::Url,
            Self::Memory { .. } => ReferenceKind::Memory,
            Self::Run { .. } => ReferenceKind::Run,
        }
    }

    /// Returns the path of the workspace that it names, if it names one.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::File { path, .. } | Self::Folder { path } => Some(path),
            Self::Diff { path } | Self::Staged { path } => path.as_deref(),
            Self::Url { .. } | Self::Memory { .. } | Self::Run { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests;
