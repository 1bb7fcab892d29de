//! Taking back what a run changed in files.
//!
//! Owns the order: the wish is recorded, then the files are put back from the last change to the first, then what became
//! of each is recorded; a wish without an end is carried out at the next start, which changes nothing twice. What a file
//! was comes from the tape alone. Begin at [`Undoing::undo`].

use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;

use futures::FutureExt;
use palyra_ports::maintain_journal::JournalHealth;
use palyra_ports::read_tape::{MAX_TAPE_ENTRIES_PER_RESPONSE, MoreEntries};
use palyra_ports::{AppendClass, AppendError, JournalAppendRequest, NewEntry, RestoreOrder};
use palyra_types::effect::{PreImage, UndoRequested, UndoResult, UndoneFile};
use palyra_types::event::{JournalEvent, TapeEvent};
use palyra_types::run::RunRecord;
use palyra_types::{Redacted, RunId, TapeSeq, UndoId};
use tokio::sync::Mutex;

use crate::engine::Engine;
use crate::error::RequestError;

/// Takes changes back, one run at a time.
#[derive(Clone)]
pub(crate) struct Undoing {
    engine: Arc<Engine>,
    one_at_a_time: Arc<Mutex<()>>,
}

/// What a run changed, in the order in which it did.
struct Changed {
    workspace_root: Redacted<PathBuf>,
    files: Vec<PreImage>,
}

impl Undoing {
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        Self { engine, one_at_a_time: Arc::default() }
    }

    /// Takes back what a finished run changed; a file that is not what the run left is left alone.
    pub(crate) async fn undo(&self, record: &RunRecord) -> Result<Vec<UndoneFile>, RequestError> {
        if !record.state.is_terminal() {
            return Err(RequestError::UndoOpenRun);
        }
        let _alone = self.one_at_a_time.lock().await;
        if self.engine.ports.maintain.status().health == JournalHealth::Quarantined {
            return Err(AppendError::Quarantined.into());
        }
        let changed = self.changed(record.run).await?;
        if changed.files.is_empty() {
            return Err(RequestError::UndoNothing);
        }
        let now = self.engine.ports.clock.wall();
        let (ms, random) = self.engine.ports.entropy.id_parts(now);
        let undo = UndoId::from_parts(ms, random);
        let paths = changed.files.iter().rev().map(|file| file.path.clone()).collect();
        let wish = JournalEvent::UndoRequested(UndoRequested { undo, run: record.run, paths });
        self.append(record, wish, AppendClass::Normal).await?;
        self.carry_out(record, undo, changed).await
    }

    /// Carries out what was wished before the daemon stopped.
    pub(crate) async fn finish_open(&self) {
        let _alone = self.one_at_a_time.lock().await;
        if self.engine.ports.maintain.status().health == JournalHealth::Quarantined {
            return;
        }
        let open = match self.engine.ports.approvals.open_undos().await {
            Ok(open) => open,
            Err(error) => {
                tracing::error!(%error, "what was to be taken back could not be read");
                return;
            }
        };
        for UndoRequested { undo, run, .. } in open {
            match self.finish(undo, run).await {
                Ok(files) => {
                    tracing::info!(%run, files = files.len(), "changes of a run were taken back after a stop");
                }
                Err(error) => tracing::error!(%run, %error, "changes of a run could not be taken back"),
            }
        }
    }

    async fn finish(&self, undo: UndoId, run: RunId) -> Result<Vec<UndoneFile>, RequestError> {
        let record = self.engine.ports.records.run(run).await?.ok_or(RequestError::RunNotFound)?;
        let changed = self.changed(run).await?;
        self.carry_out(&record, undo, changed).await
    }

    async fn carry_out(
        &self,
        record: &RunRecord,
        undo: UndoId,
        changed: Changed,
    ) -> Result<Vec<UndoneFile>, RequestError> {
        let Changed { workspace_root, mut files } = changed;
        files.reverse();
        let order = RestoreOrder { workspace_root, files };
        let restoring = AssertUnwindSafe(async { self.engine.ports.restore.restore(order).await });
        let Ok(files) = restoring.catch_unwind().await else {
            tracing::error!(run = %record.run, "putting files back panicked; this is a bug");
            return Err(AppendError::Unknown.into());
        };
        let files: Vec<_> = files.into_iter().map(|file| self.cleaned(file)).collect();
        let done = JournalEvent::UndoFinished { undo, run: record.run, files: files.clone() };
        self.append(record, done, AppendClass::Ending).await?;
        Ok(files)
    }

    fn cleaned(&self, file: UndoneFile) -> UndoneFile {
        let redactor = &self.engine.ports.redactor;
        let result = match file.result {
            UndoResult::Conflict(difference) => UndoResult::Conflict(redactor.redact(difference).text),
            UndoResult::Failed(why) => UndoResult::Failed(redactor.redact(why).text),
            result @ (UndoResult::Restored | UndoResult::AlreadyRestored | UndoResult::Withheld) => result,
        };
        UndoneFile { result, ..file }
    }

    async fn append(
        &self,
        record: &RunRecord,
        event: JournalEvent,
        class: AppendClass,
    ) -> Result<(), RequestError> {
        let entry = NewEntry {
            time: self.engine.ports.clock.wall(),
            principal: record.principal,
            session: Some(record.session),
            run: None,
            event,
        };
        let entries = vec![entry];
        let redaction = self.engine.redaction_of(&entries);
        let request = JournalAppendRequest { entries, class, redaction, ..JournalAppendRequest::default() };
        self.engine.ports.append.append(request).await?;
        Ok(())
    }

    /// Reads what a run changed from its tape. What was erased is not there any more.
    async fn changed(&self, run: RunId) -> Result<Changed, RequestError> {
        let mut changed = Changed { workspace_root: Redacted::default(), files: Vec::new() };
        let mut last = TapeSeq::default();
        loop {
            let page = self.engine.ports.tapes.tape(run, last, MAX_TAPE_ENTRIES_PER_RESPONSE).await?;
            for entry in page.entries {
                last = entry.tape_seq;
                if let TapeEvent::RunStarted(started) = &entry.event {
                    changed.workspace_root = started.workspace_root.clone();
                } else if let TapeEvent::ToolStarted(started) = entry.event {
                    changed.files.extend(started.plan.pre_images);
                }
            }
            if page.more == MoreEntries::None {
                return Ok(changed);
            }
        }
    }
}
