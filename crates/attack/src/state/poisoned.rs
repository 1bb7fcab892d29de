//! A journal that a daemon wrote, changed by somebody who has its file, and opened again.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use palyra_journal::{JournalStore, OpenOptions};
use palyra_ports::AppendTape;
use palyra_ports::maintain_journal::MaintainJournal;
use palyra_testkit::journal_suite::approval_entries::{asked, granted, resolved};
use palyra_testkit::journal_suite::samples::{self, SampleRun};
use palyra_testkit::{FakeClock, FixedEntropy};
use palyra_types::approval::ApprovalState;
use rusqlite::Connection;

use crate::trial_folder::TrialFolder;

/// What a tool said, and what a person did.
pub(super) const SAID: &str = "honest-output";
pub(super) const ASKED: &str = "honest-question";

/// The journal's folder, and one run in it.
pub(super) struct PoisonedJournal {
    trial_folder: TrialFolder,
    seed: AtomicU64,
    pub(super) run: SampleRun,
}

impl PoisonedJournal {
    /// Writes a journal: one approval waits, one was denied, a grant may be used three times, a tool said something.
    pub(super) async fn write() -> io::Result<Self> {
        let run = SampleRun::new(samples::session(samples::principal(0), 0), 0);
        let mut written = Self { trial_folder: TrialFolder::new()?, seed: AtomicU64::new(7), run };
        let journal = written.open().map_err(io::Error::other)?;
        let run = &mut written.run;
        let mut entries = vec![run.started(ASKED), run.requested(1)];
        entries.extend([asked(run, 0, 1, None), asked(run, 1, 2, None)]);
        entries.extend([resolved(run, 1, 2, ApprovalState::Denied), granted(run, 0, Some(3), None)]);
        entries.extend(run.proposed(7));
        entries.extend([run.tool_started(7), run.tool_finished(7, SAID)]);
        journal.append(samples::append(entries)).await.map_err(io::Error::other)?;
        if let Some(fault) = noticed(&journal).await {
            return Err(io::Error::other(format!("the journal is bad before anybody changes it: {fault}")));
        }
        journal.close().await;
        Ok(written)
    }

    /// Opens it, as a daemon that starts does.
    pub(super) fn open(&self) -> Result<JournalStore, palyra_journal::OpenError> {
        // Each start draws other keys than the one before.
        let entropy = FixedEntropy::new(self.seed.fetch_add(1, Ordering::Relaxed));
        JournalStore::open(&OpenOptions::new(self.folder(), Arc::new(FakeClock::new()), Arc::new(entropy)))
    }

    /// Returns the journal's folder.
    pub(super) fn folder(&self) -> PathBuf {
        self.trial_folder.scratch().join("state")
    }

    fn database(&self) -> PathBuf {
        self.folder().join("journal.db")
    }

    /// Changes the file as somebody does who may write it, without what guards its tables.
    pub(super) fn change(&self, sql: &str) -> io::Result<()> {
        self.change_with(|connection| connection.execute_batch(sql))
            .map_err(|error| io::Error::new(error.kind(), format!("{error}: {sql}")))
    }

    /// Changes the file as [`Poisoned::change`] does, by a function.
    pub(super) fn change_with(
        &self,
        change: impl FnOnce(&Connection) -> rusqlite::Result<()>,
    ) -> io::Result<()> {
        let connection = Connection::open(self.database()).map_err(io::Error::other)?;
        let triggers = "SELECT coalesce(group_concat('DROP TRIGGER ' || name, ';'), '') FROM sqlite_schema
            WHERE type = 'trigger'";
        let drops: String = connection.query_row(triggers, [], |row| row.get(0)).map_err(io::Error::other)?;
        connection.execute_batch(&drops).map_err(io::Error::other)?;
        let before = connection.total_changes();
        change(&connection).map_err(io::Error::other)?;
        if connection.total_changes() == before {
            return Err(io::Error::other("nothing was changed"));
        }
        Ok(())
    }

    /// Asks the file alone, as a reader does who believes it.
    pub(super) fn plainly(&self, sql: &str) -> io::Result<bool> {
        self.plainly_with(|connection| connection.query_row(sql, [], |row| row.get(0)))
    }

    /// Asks the file alone by a function.
    pub(super) fn plainly_with(
        &self,
        ask: impl FnOnce(&Connection) -> rusqlite::Result<bool>,
    ) -> io::Result<bool> {
        let connection = Connection::open(self.database()).map_err(io::Error::other)?;
        ask(&connection).map_err(io::Error::other)
    }
}

/// Says what verifying notices.
pub(super) async fn noticed(journal: &JournalStore) -> Option<String> {
    match journal.verify(Arc::new(|_, _| ())).await {
        Ok(report) => report.fault.map(|(seq, what)| format!("{}: {what}", seq.0)),
        Err(error) => Some(error.to_string()),
    }
}
