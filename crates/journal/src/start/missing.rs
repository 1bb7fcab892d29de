//! A journal that was here and is not: no new one is begun in its place by itself.
//!
//! Owns the mark that a log was begun in a state directory, and what else tells of one. Invariant: the mark is written
//! once a log is durable, so a first start that is cut off leaves none.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use palyra_types::{Epoch, LogId};

use super::error::OpenError;
use crate::connection::wal_path;
use crate::file_places::RESCUED_FILE_NAME;
use crate::quarantine::sync_folder;
use crate::sign;

/// In the state directory: the id of the log that was begun there.
const LOG_MARK_FILE_NAME: &str = "journal.log-id";

/// Where a log stands that the next start has to find.
fn mark_path(state_dir: &Path) -> PathBuf {
    state_dir.join(LOG_MARK_FILE_NAME)
}

/// Refuses to begin a log where there are traces of one; the caller found no database, or an empty file.
pub(super) fn refuse_lost_database(state_dir: &Path, database: &Path) -> Result<(), OpenError> {
    let mut traces = traces(state_dir)?;
    if has_frames(&wal_path(database)).map_err(OpenError::doing("reading the write-ahead log"))? {
        traces.push("journal.db-wal with entries".to_owned());
    }
    refuse(&traces)
}

/// As [`refuse_lost_database`], where the caller found a database without tables: then a write-ahead log holds no more
/// than the first commit, which was cut off.
pub(super) fn refuse_lost_log(state_dir: &Path) -> Result<(), OpenError> {
    refuse(&traces(state_dir)?)
}

fn refuse(traces: &[String]) -> Result<(), OpenError> {
    if traces.is_empty() { Ok(()) } else { Err(OpenError::Missing { traces: traces.join(", ") }) }
}

fn traces(state_dir: &Path) -> Result<Vec<String>, OpenError> {
    let mut traces = Vec::new();
    if let Ok(id) = fs::read_to_string(mark_path(state_dir)) {
        traces.push(format!("{LOG_MARK_FILE_NAME} (log {})", id.trim()));
    }
    let keys = sign::newest_key(state_dir).map_err(OpenError::doing("reading the epochs' keys"))?;
    // The first key is written before the log's first entry.
    if let Some(epoch) = keys.filter(|epoch| *epoch > Epoch(1)) {
        traces.push(format!("keys/epoch-{epoch}.key"));
    }
    if state_dir.join(RESCUED_FILE_NAME).is_file() {
        traces.push(format!("{RESCUED_FILE_NAME}, which is the journal as the last daemon saved it"));
    }
    Ok(traces)
}

/// Returns whether a write-ahead log has a header: then something was written to it.
fn has_frames(wal: &Path) -> io::Result<bool> {
    let mut header = [0; 32];
    match File::open(wal).and_then(|mut file| file.read_exact(&mut header)) {
        Ok(()) => Ok(header != [0; 32]),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::UnexpectedEof) => {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

/// Marks that a log is here. A disk that does not take the mark does not keep the journal from its service.
pub(super) fn mark(state_dir: &Path, log_id: LogId) {
    let path = mark_path(state_dir);
    let text = format!("{log_id}\n");
    if fs::read_to_string(&path).is_ok_and(|found| found == text) {
        return;
    }
    let open = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path);
    let written = open.and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        sync_folder(&path)
    });
    if let Err(error) = written {
        tracing::warn!(%error, "the mark of the log cannot be written");
    }
}
