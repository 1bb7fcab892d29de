//! `palyra backup`: backups of the state directory, with and without a daemon.
//!
//! Owns the verb, and who does its work: a daemon that runs makes a backup itself, because it writes the journal; else this
//! process does, under the lock of the state directory. Checking and restoring one need no daemon. Knows nothing of the form
//! of a backup, which is that of `palyra-backup`, and starts no daemon.
//!
//! Begin at [`BackupCommand::run`].

mod backup_verb;
mod backup_command;

pub use backup_command::{BackupCommand, BackupCommandError, BackupOutcome};
pub use backup_verb::BackupVerb;
