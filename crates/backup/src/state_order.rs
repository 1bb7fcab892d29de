//! Orders that a command leaves in a state directory for the next start of its daemon.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::error::BackupError;

/// Leaves an order, which is a file with one word, durably.
///
/// # Errors
/// [`BackupError::OrderNotLeft`].
pub fn leave_order(state_dir: &Path, file: &str, word: &str) -> Result<(), BackupError> {
    let path = state_dir.join(file);
    let opened = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path);
    let written = opened.and_then(|mut file| {
        file.write_all(format!("{word}\n").as_bytes())?;
        file.sync_all()
    });
    written.map_err(|cause| BackupError::OrderNotLeft { path, cause })
}
