//! Everything that touches the file system, by descriptor and beneath one root.
//!
//! Knows no tool. A hard link inside the root is the file itself and is readable like any other: two
//! names of one inode cannot be told apart. Mount points inside the root belong to it.
//!
//! Begin at [`Workspace`].

mod root;

mod nearby;
mod walk;

mod entries;
mod ignore_rules;
mod open;

mod kind;
mod path;
mod refusal;
mod show;

pub(crate) use kind::EntryKind;
pub(crate) use open::OpenFile;
pub use open::missing_mechanism;
#[cfg(test)]
pub(crate) use open::open_file;
pub(crate) use path::WorkspacePath;
pub(crate) use root::{Place, Workspace};
pub(crate) use show::show_path;
pub(crate) use walk::{Entry, Next, WalkReport, walk};
