//! The verb as it is typed.

use std::path::PathBuf;

use clap::Subcommand;

/// Make, check and restore backups.
#[derive(Debug, Subcommand)]
pub enum BackupVerb {
    /// Make a backup in a new folder, also while the daemon works
    #[command(
        after_help = "Example:\n  palyra backup create /mnt/disk/palyra-monday\n`palyra explain docs/backup.md` says what it holds."
    )]
    Create {
        /// The folder that is to be the backup; it must not exist yet
        folder: PathBuf,
        /// Include the key files of the vault and of sealed payloads
        #[arg(long)]
        with_key: bool,
        /// What was made as JSON
        #[arg(long)]
        json: bool,
    },
    /// Check every file of a backup and its journal; exits with 1 when one does not hold
    #[command(after_help = "Example:\n  palyra backup verify /mnt/disk/palyra-monday")]
    Verify {
        /// The folder of the backup
        folder: PathBuf,
        /// What was found as JSON
        #[arg(long)]
        json: bool,
    },
    /// Check a backup and put it into an empty state directory
    #[command(
        after_help = "Example:\n  palyra backup restore /mnt/disk/palyra-monday --to ~/.local/state/palyra\nThe next start begins a new log over what was restored."
    )]
    Restore {
        /// The folder of the backup
        folder: PathBuf,
        /// The state directory: an empty folder, or one that does not exist yet
        #[arg(long, value_name = "STATE_DIR")]
        to: PathBuf,
        /// What was restored as JSON
        #[arg(long)]
        json: bool,
    },
}
