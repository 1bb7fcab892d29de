//! `palyra admin service`: the daemon as a systemd user service of one state directory.
//!
//! Owns the text of the unit, whether a unit that is there may be replaced or removed, and the calls of `systemctl --user`.
//! Knows no key: a unit has none, and keys of the environment are not copied. Invariant: a file that differs from what
//! `install` wrote is neither replaced (without `--force`) nor removed.
//!
//! Begin at [`ServiceCommand::run`].

mod error;
mod service_verb;

mod unit_text;
mod unit_file;
mod user_systemd;
mod running_daemon;

mod service_command;

pub use error::ServiceVerbError;
pub use service_command::ServiceCommand;
pub use service_verb::ServiceVerb;
