//! Reflection: what is learned from the finished runs of a session, some time after the latest of them.
//!
//! Owns when a session is looked at, how its runs are read for that, and the one request to a model. What is a candidate and what
//! becomes of it is decided by the crate `learning` and recorded by `admin`. Begin at [`ReflectionHandler`].

mod finished_run;
mod learning_model;
mod reflection_handler;
mod reflection_watch;

pub use reflection_handler::{LearningConfigNow, ReflectionHandler, process_post_run_reflection_task};
pub use reflection_watch::{REFLECTION_COOLDOWN, ReflectionWatch, schedule_post_run_reflection};
