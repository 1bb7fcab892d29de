//! Everything that touches the file system, by descriptor and beneath one root.
//!
//! Knows no tool. A hard link inside the root is the file itself and is readable like any other: two
//! names of one inode cannot be told apart. Mount points inside the root belong to it.
//!
//! Begin at [`Workspace`].

mod root;

mod digest;
mod folders;
mod file_slot;

mod suggest;
mod walk;

mod entries;
mod ignore_rules;
mod open;

mod kind;
mod path;
mod refusal;
mod show;

pub(crate) use digest::{Sha256, hex};
pub(crate) use file_slot::{
    ExchangeOutcome, FILE_BYTES_MAX, FileAccess, FileSlot, FoundFile, SlotContent, SlotState,
};
pub(crate) use folders::MadeFolders;
pub(crate) use kind::EntryKind;
pub(crate) use open::OpenFile;
pub use open::missing_mechanism;
pub(crate) use open::open_file;
pub(crate) use path::WorkspacePath;
pub(crate) use refusal::OpenRefusal;
pub(crate) use root::{PathTarget, Workspace};
pub(crate) use show::{is_blank, show_path, show_text};
pub(crate) use walk::{WalkEntry, WalkReport, WalkStep, walk};
