//! The background queue over the real journal, in a process that is killed at a chosen write.
//!
//! Owns one life of such a process: its handlers leave lines in a file, its clock moves by itself when nothing else does, and a
//! SIGKILL ends it right before or right after a write of the queue. Afterwards another life goes on, and says what became of
//! each task. A mistake on purpose proves that the check sees it. Begin at [`live`].

mod handlers;
mod killed_journal;
mod life;

pub use killed_journal::{QueueKill, QueueMistake};
pub use life::{LifeReport, QueueLife, TaskReport, live};
