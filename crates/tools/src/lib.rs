//! The built-in tools: what a model may read and change inside a workspace, and in the memory
//! and the schedules of its person.
//!
//! Owns their descriptions, schemas and execution, and the way back (`undo`). Knows no policy and no run: it takes a
//! grant and does exactly that.
//!
//! Invariant: every file is reached through the descriptor of the workspace root, resolved by the
//! kernel beneath it; no path text is checked and opened later.
//! Begin at [`BuiltinTools`].

mod builtin;

mod glob;
mod list_dir;
mod read_file;
mod search;

mod write_file;
mod edit_file;
mod apply_patch;

mod ask_user;
mod late_access;
mod memory;
mod schedules;

mod writing;
mod patch;

mod project_files;

mod call;
mod credentials;
mod excerpt;
mod lines;
mod page;
mod workspace;

mod failure;
mod quantity;

pub mod untrusted;

#[cfg(test)]
mod attacks;
#[cfg(test)]
mod fixture;

pub use builtin::BuiltinTools;
pub use late_access::LateAccess;
pub use memory::{MemoryAccess, MemoryTools, memory_tool_specs};
pub use project_files::WorkspaceProjectFiles;
pub use schedules::{ScheduleAccess, ScheduleTools, schedule_tool_specs};
pub use workspace::missing_mechanism;
