//! The checks of `palyra doctor`: of a state directory, of a daemon, and of its providers of models.
//!
//! Each check says what was found and what to do about it. `daemon_notice` says what
//! happened on the way to a daemon. Knows no command line. Begin at
//! [`check_config_file`], [`check_state_folder`], [`check_daemon`] and [`check_models`].

mod check;

mod key_files;
mod config_file;
mod state_files;
mod state_folder;
mod daemon;
mod daemon_file;
mod daemon_notice;
mod models;
mod model_selection;

pub use check::{ERROR, OK, WARNING, check, check_lines};
pub use config_file::{ConfigFault, check_config_file};
pub use daemon::check_daemon;
pub use daemon_file::{check_other_file, other_file, unused_settings};
pub use daemon_notice::notice_notes;
pub use model_selection::check_selection;
pub use models::{check_models, servers_without_key};
pub use state_files::{foreign_lock, state_dir_itself};
pub use state_folder::{DaemonStart, check_state_folder};
