//! What the writer does when a file of the journal is gone from its place.
//!
//! Invariant: nothing is acknowledged that the next start would not find; what was acknowledged before is saved as far
//! as the open files reach.

use palyra_ports::ReadOnlyCause;

use super::log_writer::LogWriter;
use super::thread::Writer;
use crate::connection;
use crate::counters::WriterCounters;
use crate::file_places::{LostFile, rescue};

/// Moves all of the write-ahead log into the database; its open file holds it even when its name is gone.
const MOVE_WAL: &str = "PRAGMA wal_checkpoint(FULL)";

impl Writer {
    /// Returns whether the files hold the commit that was just made.
    pub(super) fn files_hold_commit(&mut self) -> bool {
        let wal_bytes = WriterCounters::get(&self.counters.wal_bytes_used);
        self.files_are_here(wal_bytes)
    }

    /// Returns whether the files are where they were; where they are not, nothing is written from now on.
    pub(super) fn files_are_here(&mut self, wal_bytes: u64) -> bool {
        if self.counters.is_quarantined() {
            return true;
        }
        let Some(lost) = self.places.lost(wal_bytes) else { return true };
        tracing::error!("{}: nothing more is written, stop the daemon", lost.describe());
        self.counters.quarantine(ReadOnlyCause::FilesGone);
        self.signer = None;
        self.save(lost);
        self.marker.set(lost.describe());
        false
    }

    fn save(&self, lost: LostFile) {
        if let Err(error) = move_wal(&self.log) {
            tracing::error!(what = connection::describe(&error), "the write-ahead log cannot be saved");
            return;
        }
        match lost {
            LostFile::Wal => tracing::warn!("everything that was acknowledged is in journal.db"),
            LostFile::Database => match rescue(&self.overwriter.file(), self.overwriter.database()) {
                Ok(Some(path)) => tracing::warn!(path = %path.display(), "the journal is saved there"),
                Ok(None) => {
                    tracing::warn!("everything that was acknowledged is in the file that was moved away");
                }
                Err(error) => tracing::error!(%error, "the journal cannot be saved"),
            },
        }
    }
}

fn move_wal(log: &LogWriter) -> rusqlite::Result<()> {
    log.connection().query_row(MOVE_WAL, [], |_| Ok(()))
}
