//! `palyra admin tasks`, `palyra admin notify` and `palyra admin incidents`: what the daemon does by itself.
//!
//! Owns the arguments and answers of these verbs. Knows no way to a daemon: the command line hands in the connection, and shows
//! what failed. Begin at [`BackgroundVerb::run`].

mod answers;
mod background_verb;
mod incidents;
mod notify;
mod tasks;
mod verb_end;

pub use background_verb::BackgroundVerb;
pub use incidents::IncidentsArgs;
pub use notify::NotifyArgs;
pub use tasks::TasksArgs;
pub use verb_end::{BackgroundVerbEnd, BackgroundVerbError};
