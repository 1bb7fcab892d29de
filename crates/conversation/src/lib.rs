//! The earlier part of a conversation: what runs read of it, and the summaries of its older runs.
//!
//! Owns how finished runs are read from their tapes, when older ones are summed up, who writes the summary, and which one a
//! run reads. Knows no running run and no transport. Invariant: a summary is recorded only if the check of the crate
//! `context` took it, and it carries the labels of all that it was made from. Begin at [`ConversationsHandle`].

#![warn(clippy::wildcard_enum_match_arm)]

pub mod history;
pub mod past_run;
pub mod reflection;

mod auxiliary_answer;
mod compaction_handler;
mod compaction_task;
mod conversations;
mod marked_places;
mod parts;
mod reflection_watch;
mod summary_model;

pub use compaction_handler::CompactionHandler;
pub use compaction_task::CompactionWatch;
pub use conversations::{ConversationsHandle, NewCompaction};
pub use parts::{ConversationPorts, ZoneOf};
pub use reflection::ReflectionHandler;
pub use reflection_watch::{
    LearningConfigNow, REFLECTION_COOLDOWN, ReflectionWatch, schedule_post_run_reflection,
};
