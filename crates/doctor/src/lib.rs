//! The checks of `palyra doctor`: of a state directory, of a daemon, and of its providers of models.
//!
//! Each check says what was found and what to do about it. Knows no terminal and no command line. Begin at
//! [`check_state_folder`], [`check_daemon`] and [`check_models`].

mod state_files;
mod state_folder;
mod daemon;
mod models;

use palyra_wire::v1;
use palyra_wire::v1::CheckLevel;

pub use daemon::check_daemon;
pub use models::check_models;
pub use state_files::{foreign_lock, state_dir_itself};
pub use state_folder::{DaemonStart, check_state_folder};

/// All is well.
pub const OK: CheckLevel = CheckLevel::Ok;
/// It works, and something should be done.
pub const WARNING: CheckLevel = CheckLevel::Warning;
/// Something does not work.
pub const ERROR: CheckLevel = CheckLevel::Error;

/// Makes a check: its name, how it stands, what was found, and what to do about it.
#[must_use]
pub fn check(name: &str, level: CheckLevel, found: impl Into<String>, mend: &str) -> v1::Check {
    v1::Check { name: name.to_owned(), level: level.into(), found: found.into(), mend: mend.to_owned() }
}
