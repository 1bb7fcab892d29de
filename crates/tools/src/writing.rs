//! Changing files: what a call would do, and doing it so that a crash leaves each file as it was or as it will be.
//!
//! Owns the road from tasks over changes to files. Knows no tool: a tool only says which tasks its arguments mean.
//!
//! Invariant: nothing is displaced before everything new is on the disk, and what is displaced is kept beside its
//! place until the whole call is done, so that it can be told, finished or taken back at any moment.
//! Begin at [`task::Task`], then [`rollout`].

pub(crate) mod declaration;
pub(crate) mod task;

mod order;

mod change;
mod git_folders;
mod plan;
mod preview;
mod twins;

mod conduct;
mod resume;
mod restore;
mod compare;

mod end;
mod pace;
mod rollout;

pub(crate) use compare::compare;
pub(crate) use conduct::{execute, prepare};
pub(crate) use end::WriteEnd;
pub(crate) use order::{WriteOrder, WritePurpose};
pub(crate) use pace::CallPace;
pub(crate) use restore::{preview_restore, restore};

#[cfg(test)]
pub(crate) use pace::tests::HaltAt;
