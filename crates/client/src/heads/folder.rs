//! Where heads are kept: `LOG.note` for each log, `LOG.given-up` for the last one that a person gave up, and under `daemons`
//! which log a daemon served last.

use std::fmt::Write as _;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use palyra_types::LogId;
use palyra_types::proof::CHECKPOINT_NOTE_BYTES_MAX;
use rustix::fs::{FlockOperation, flock};

use super::seen::SeenHead;

const DAEMONS_FOLDER_NAME: &str = "daemons";
const GIVEN_UP_EXTENSION: &str = "given-up";
const LOCK_FILE_NAME: &str = ".lock";

/// The folder; it is made when the first head is kept.
#[derive(Debug, Clone)]
pub(crate) struct HeadsFolder {
    path: PathBuf,
}

impl HeadsFolder {
    pub(crate) fn at(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    /// Returns the head that is kept of a log; a file that is none is as good as no file.
    pub(crate) fn head(&self, log: LogId) -> Option<SeenHead> {
        let head = SeenHead::from_note(read_small(&self.note_path(log)).ok()?.into()).ok()?;
        (head.log_id == log).then_some(head)
    }

    /// Returns the log that a daemon served last.
    pub(crate) fn log_of(&self, daemon: &str) -> Option<LogId> {
        read_small(&self.daemon_path(daemon)).ok()?.trim().parse().ok()
    }

    /// Keeps a head as the newest of its log and of this daemon, unless a larger one came in between.
    pub(crate) fn keep(&self, daemon: &str, head: &SeenHead) -> io::Result<()> {
        let daemons = self.path.join(DAEMONS_FOLDER_NAME);
        DirBuilder::new().recursive(true).mode(0o700).create(&daemons)?;
        let lock =
            open_own(OpenOptions::new().create(true).truncate(false), &self.path.join(LOCK_FILE_NAME))?;
        flock(&lock, FlockOperation::LockExclusive)?;
        if self.log_of(daemon) != Some(head.log_id) {
            replace(&self.daemon_path(daemon), format!("{}\n", head.log_id).as_bytes())?;
        }
        if self.head(head.log_id).is_some_and(|kept| kept.head.size >= head.head.size) {
            return Ok(());
        }
        replace(&self.note_path(head.log_id), head.note.as_bytes())
    }

    /// Keeps `now` instead of a larger head that a person gives up, or no head; the one given up is kept aside as evidence.
    pub(crate) fn give_up(&self, given_up: &SeenHead, now: Option<&SeenHead>) -> io::Result<()> {
        let lock =
            open_own(OpenOptions::new().create(true).truncate(false), &self.path.join(LOCK_FILE_NAME))?;
        flock(&lock, FlockOperation::LockExclusive)?;
        let note = self.note_path(given_up.log_id);
        replace(&note.with_extension(GIVEN_UP_EXTENSION), given_up.note.as_bytes())?;
        match now {
            Some(now) => replace(&note, now.note.as_bytes()),
            None => fs::remove_file(note),
        }
    }

    fn note_path(&self, log: LogId) -> PathBuf {
        self.path.join(format!("{log}.note"))
    }

    fn daemon_path(&self, daemon: &str) -> PathBuf {
        let digest = palyra_ledger::sha256(daemon.as_bytes());
        let mut name = String::with_capacity(32);
        for byte in &digest[..16] {
            write!(name, "{byte:02x}").expect("writing to a string does not fail");
        }
        self.path.join(DAEMONS_FOLDER_NAME).join(name)
    }
}

fn read_small(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let limit = CHECKPOINT_NOTE_BYTES_MAX as u64 + 1;
    File::open(path)?.take(limit).read_to_string(&mut text)?;
    if text.len() > CHECKPOINT_NOTE_BYTES_MAX { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(text) }
}

/// Replaces a file as a whole: whoever reads it finds the old or the new text, also after a power cut.
fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    let fresh = path.with_extension("new");
    let mut file = open_own(OpenOptions::new().create(true).truncate(true), &fresh)?;
    file.write_all(text)?;
    file.sync_all()?;
    fs::rename(&fresh, path)
}

fn open_own(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    options.write(true).mode(0o600).open(path)
}
