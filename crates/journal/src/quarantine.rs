//! The mark that an I/O error leaves for the next start.
//!
//! Owns one small file beside the database. Invariant: while it is there, nobody trusts the files without
//! having copied and verified them.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

const QUARANTINE_FILE_NAME: &str = "journal.quarantined";

const MET_WHILE_READING: &str = "damage was met while reading";

/// Why the files are copied before they are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CopyReason {
    /// Nobody knows what the disk holds.
    NotToBeTrusted,
    /// Some page is damaged, perhaps one of what is only derived; the rest was used all the time.
    MetWhileReading,
}

/// A file that says that the last daemon saw an I/O error: the next start copies before it trusts.
#[derive(Debug, Clone)]
pub(crate) struct QuarantineMarker {
    path: PathBuf,
}

impl QuarantineMarker {
    pub(crate) fn beside(database: &Path) -> Self {
        Self { path: database.with_file_name(QUARANTINE_FILE_NAME) }
    }

    /// Sets the mark as well as a failing disk lets it.
    pub(crate) fn set(&self, what: &str) {
        let written = File::create(&self.path).and_then(|mut file| {
            file.write_all(what.as_bytes())?;
            file.sync_all()?;
            sync_folder(&self.path)
        });
        if let Err(error) = written {
            tracing::error!(%error, "the quarantine could not be marked");
        }
    }

    /// Lets the next start rebuild what can be rebuilt, after damage was met while reading.
    pub(crate) fn ask_for_repair(&self) {
        if self.found().is_none() {
            self.set(MET_WHILE_READING);
        }
    }

    /// Returns why the next start has to copy, if it has to.
    pub(crate) fn found(&self) -> Option<CopyReason> {
        match fs::read(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Ok(what) if what == MET_WHILE_READING.as_bytes() => Some(CopyReason::MetWhileReading),
            Ok(_) | Err(_) => Some(CopyReason::NotToBeTrusted),
        }
    }

    pub(crate) fn clear(&self) -> io::Result<()> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => sync_folder(&self.path),
        }
    }
}

/// Makes the name of a file durable.
pub(crate) fn sync_folder(file: &Path) -> io::Result<()> {
    match file.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

/// Writes over what is there: the old bytes are gone, and a full disk does not matter.
pub(crate) fn overwrite(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    file.set_len(bytes.len() as u64)?;
    file.sync_all()
}
