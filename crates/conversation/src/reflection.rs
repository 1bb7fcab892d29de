//! Reflection: what is learned from the finished runs of a session, some time after the latest of them.
//!
//! Owns when a session is looked at, how its runs are read for that, and the one request to a model. The crate `learning`
//! decides which candidates there are and which are applied, and `admin` records them. Begin at [`ReflectionHandler`].

mod finished_run;
mod learning_model;
mod reflection_handler;

pub use reflection_handler::{ReflectionHandler, process_post_run_reflection_task};
