//! `palyra admin notify`: the targets of notifications, and test messages.
//!
//! Owns the arguments and answers of these verbs. Knows no way to a daemon: the command line hands in the connection, and shows
//! what failed. Begin at [`run`].

mod arguments;
mod notification_text;
mod verb_end;
mod verbs;

pub use arguments::NotifyArgs;
pub use verb_end::{NotifyVerbEnd, NotifyVerbError};
pub use verbs::run;
