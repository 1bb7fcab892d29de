//! Backups of a state directory: how one is made beside a daemon at work, checked, and put back.
//!
//! Owns the form of a backup (a folder with a manifest), which files of the state directory belong to it, and the pace at
//! which a journal is copied while it is written. Reads journals through `palyra-verify`; knows no daemon, no transport
//! and no terminal.
//!
//! Invariant: below a folder of another maker no link is followed and no file is read that its manifest does not name, and
//! a backup or a restored state is there as a whole or not at all.
//!
//! Begin at [`create`], [`check_backup`] and [`restore`].

mod plan;
mod create;
mod source_files;
mod copied_bytes;
mod database_copy;
mod step_pace;

mod check;
mod restore;
mod retention;

mod manifest;
mod beneath;
mod state_lock;
mod state_order;
mod watch;
mod error;
mod text_report;
mod json_report;

pub use check::{CheckedBackup, check_backup, read_manifest};
pub use create::{BackupReport, create};
pub use error::BackupError;
pub use json_report::{check_json, created_json, restored_json};
pub use manifest::{
    BACKUP_FORMAT, BackedUpFile, BackupManifest, InvalidManifest, MANIFEST_FILE_NAME, VaultKeyState,
};
pub use plan::{BackupPlan, ConfigPlaces, CopyPace, KeyFiles};
pub use restore::{RestorePlan, RestoreReport, restore};
pub use retention::{automatic_backups, automatic_name, remove_older, remove_unfinished};
pub use state_lock::StateLock;
pub use state_order::leave_order;
pub use text_report::{age_text, check_lines, created_lines, restored_lines};
pub use watch::{BackupWatch, ProgressFn, StopSignal};
