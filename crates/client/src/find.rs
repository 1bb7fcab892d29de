//! Finding the daemon of a state directory, or starting it.
//!
//! Owns the only rule about where a client looks: the lock file. Whether a lock is *held* is never
//! tested from here, because a probe could make a starting daemon's own attempt fail; a socket that
//! answers is a daemon, and where none does, a daemon that is started finds out by itself.
//!
//! Begin at [`locate::find`].

mod build_id;
mod lock;
mod log_tail;
mod folder_watch;
mod process_end;
mod model_check;
mod spawn;
mod locate;

pub use build_id::build_id_of;
pub use folder_watch::FolderWatch;
pub(crate) use locate::{DaemonSearch, ModelRule, WhenAbsent, find, until_gone};
pub use lock::read_lock_record;
pub use model_check::NO_OTHER_STARTS;
pub(crate) use process_end::until_ended;
