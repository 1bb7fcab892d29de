//! Taking back what a run changed in files.
//!
//! Owns the order: the wish is recorded, then the files are put back from the last change to the first, then what became
//! of each is recorded; a wish without an end is carried out at the next start, which changes nothing twice. What a file
//! was comes from the tape alone. Begin at [`UndoService::undo`].

use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;

use futures::FutureExt;
use palyra_background::TickFailure;
use palyra_journal_core::families::undos;
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::maintain_journal::JournalHealth;
use palyra_ports::read_tape::{MAX_TAPE_ENTRIES_PER_RESPONSE, MoreEntries};
use palyra_ports::{AppendClass, AppendError, ComparedFile, KeptEntry, NewEntry, Redactor, RestoreOrder};
use palyra_types::effect::{
    FileBefore, KeptPlacement, RawUndoneFile, RestoreImage, UndoRequested, UndoResult, UndoneFile,
};
use palyra_types::event::{EffectEvent, JournalEvent, RunEvent, TapeEvent, ToolEvent};
use palyra_types::run::RunRecord;
use palyra_types::{Content, Redacted, RunId, TapeSeq, UndoId};
use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::engine::Engine;
use crate::error::RequestError;
use palyra_admin::unless_secret;

/// Takes changes back, one run at a time.
#[derive(Clone)]
pub(crate) struct UndoService {
    engine: Arc<Engine>,
    one_at_a_time: Arc<Mutex<()>>,
}

/// The right to be the only one who puts files back.
pub(crate) struct UndoTurn {
    _alone: OwnedMutexGuard<()>,
}

/// A kept file that is put in place.
pub(crate) struct KeptFilePlacing {
    pub(crate) placement: KeptPlacement,
    pub(crate) workspace_root: Redacted<PathBuf>,
    pub(crate) files: Vec<RestoreImage>,
}

/// What taking back would do to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoPreview {
    /// The file, and what would become of it.
    pub file: UndoneFile,
    /// Whether it did not exist before the run.
    pub is_made: bool,
    /// The difference to what is there now; empty where it cannot be shown, or nothing would change.
    pub difference: Redacted<String>,
}

/// What became of the files of a run that was taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoReport {
    /// The files, the last change first.
    pub files: Vec<UndoneFile>,
    /// Those that did not exist before the run.
    pub made: BTreeSet<String>,
}

/// What a run changed, in the order in which it did.
struct ChangedFiles {
    workspace_root: Redacted<PathBuf>,
    files: Vec<RestoreImage>,
}

impl ChangedFiles {
    /// Returns the files that did not exist before the run.
    fn made(&self) -> BTreeSet<String> {
        let mut seen = BTreeSet::new();
        let first = self.files.iter().filter(|file| seen.insert(file.path.expose()));
        let made = first.filter(|file| matches!(file.before, FileBefore::Absent));
        made.map(|file| file.path.expose().clone()).collect()
    }
}

impl UndoService {
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        Self { engine, one_at_a_time: Arc::default() }
    }

    /// Takes back what a finished run changed; a file that is not what the run left is left alone.
    pub(crate) async fn undo(&self, record: &RunRecord) -> Result<UndoReport, RequestError> {
        if !record.state.is_terminal() {
            return Err(RequestError::UndoOpenRun);
        }
        let _turn = self.turn().await?;
        let changed = self.changed(record.run).await?;
        if changed.files.is_empty() {
            return Err(RequestError::UndoNothing);
        }
        let made = changed.made();
        let files = self.record_and_carry_out(record, changed, None).await?;
        Ok(UndoReport { files, made })
    }

    /// Says what [`undo`](Self::undo) would do to each file, with the difference where it can be shown; changes and
    /// records nothing.
    pub(crate) async fn preview(&self, record: &RunRecord) -> Result<Vec<UndoPreview>, RequestError> {
        if !record.state.is_terminal() {
            return Err(RequestError::UndoOpenRun);
        }
        let changed = self.changed(record.run).await?;
        let made = changed.made();
        let ChangedFiles { workspace_root, mut files } = changed;
        if files.is_empty() {
            return Err(RequestError::UndoNothing);
        }
        files.reverse();
        let order = RestoreOrder { workspace_root, files };
        let restore = &self.engine.ports.restore;
        let results = restore.preview(order.clone()).await;
        let compared = restore.compare(order).await;
        let shown = |(file, compared): (RawUndoneFile, ComparedFile)| {
            let restored = matches!(file.result, UndoResult::Restored);
            let shows = restored && compared.refusal.is_none();
            let difference = if shows { compared.difference } else { Content::default() };
            let difference = self.engine.ports.redactor.redact(difference).text;
            UndoPreview { is_made: made.contains(file.path.expose()), file: self.cleaned(file), difference }
        };
        Ok(results.into_iter().zip(compared).map(shown).collect())
    }

    /// Waits until nobody else puts files back.
    pub(crate) async fn turn(&self) -> Result<UndoTurn, RequestError> {
        let _alone = Arc::clone(&self.one_at_a_time).lock_owned().await;
        if self.engine.ports.maintain.status().health == JournalHealth::Quarantined {
            return Err(AppendError::Quarantined.into());
        }
        Ok(UndoTurn { _alone })
    }

    /// Puts a kept file in place, which takes its removal back.
    pub(crate) async fn place(
        &self,
        _turn: UndoTurn,
        record: &RunRecord,
        placing: KeptFilePlacing,
    ) -> Result<Vec<UndoneFile>, RequestError> {
        let KeptFilePlacing { placement, workspace_root, files } = placing;
        let changed = ChangedFiles { workspace_root, files };
        self.record_and_carry_out(record, changed, Some(placement)).await
    }

    async fn record_and_carry_out(
        &self,
        record: &RunRecord,
        changed: ChangedFiles,
        kept: Option<KeptPlacement>,
    ) -> Result<Vec<UndoneFile>, RequestError> {
        let now = self.engine.ports.clock.wall();
        let undo: UndoId = self.engine.ports.entropy.new_id(now);
        let paths = changed.files.iter().rev().map(|file| file.path.clone()).collect();
        let wish = JournalEvent::Effect(EffectEvent::UndoRequested(UndoRequested {
            undo,
            run: record.run,
            paths,
            kept,
        }));
        self.append(record, wish, AppendClass::Normal).await?;
        self.carry_out(record, undo, changed).await
    }

    /// Carries out what was wished before the daemon stopped.
    ///
    /// # Errors
    /// [`TickFailure`] when some of it stays to be done; the next start does it.
    pub(crate) async fn finish_open(&self) -> Result<(), TickFailure> {
        let _alone = self.one_at_a_time.lock().await;
        if self.engine.ports.maintain.status().health == JournalHealth::Quarantined {
            return Ok(());
        }
        let open = self.engine.ports.families.query(undos::open).await.map_err(|error| {
            TickFailure::new(format_args!("open undo requests could not be read: {error}"))
        })?;
        let mut failed = 0_usize;
        for requested in open {
            let run = requested.run;
            match self.finish(requested).await {
                Ok(files) => {
                    tracing::info!(%run, files = files.len(), "changes of a run were taken back after a stop");
                }
                Err(error) => {
                    tracing::error!(%run, %error, "changes of a run could not be taken back");
                    failed += 1;
                }
            }
        }
        match failed {
            0 => Ok(()),
            failed => Err(TickFailure::new(format_args!("changes of {failed} runs could not be undone"))),
        }
    }

    async fn finish(&self, requested: UndoRequested) -> Result<Vec<UndoneFile>, RequestError> {
        let UndoRequested { undo, run, paths, kept } = requested;
        let record = self.engine.ports.run(run).await?.ok_or(RequestError::RunNotFound)?;
        let mut changed = self.changed(run).await?;
        if let Some(placement) = kept {
            match self.placed(&changed, &placement).await {
                Some(files) => changed.files = files,
                None => return self.finish_without(&record, undo, paths).await,
            }
        }
        self.carry_out(&record, undo, changed).await
    }

    /// Returns the changes of a placement, where the kept file is still what it was.
    async fn placed(&self, changed: &ChangedFiles, placement: &KeptPlacement) -> Option<Vec<RestoreImage>> {
        let content = self.engine.ports.kept.read(placement.file.clone()).await.ok()?;
        let is_same = content.file.sha256 == Some(placement.sha256)
            && content.file.workspace == *changed.workspace_root.expose()
            && content.refusal.is_none()
            && content.entries.len() == placement.before.len();
        let redactor = &*self.engine.ports.redactor;
        is_same.then(|| images(redactor, content.entries, &placement.before)).flatten()
    }

    /// Ends a placement whose file is gone.
    async fn finish_without(
        &self,
        record: &RunRecord,
        undo: UndoId,
        paths: Vec<Redacted<String>>,
    ) -> Result<Vec<UndoneFile>, RequestError> {
        let why = || UndoResult::Failed("the kept file is gone, or is not what it was".into());
        let files: Vec<_> = paths.into_iter().map(|path| UndoneFile { path, result: why() }).collect();
        let done =
            JournalEvent::Effect(EffectEvent::UndoFinished { undo, run: record.run, files: files.clone() });
        self.append(record, done, AppendClass::Ending).await?;
        Ok(files)
    }

    async fn carry_out(
        &self,
        record: &RunRecord,
        undo: UndoId,
        changed: ChangedFiles,
    ) -> Result<Vec<UndoneFile>, RequestError> {
        let ChangedFiles { workspace_root, mut files } = changed;
        files.reverse();
        let order = RestoreOrder { workspace_root, files };
        let restoring = AssertUnwindSafe(async { self.engine.ports.restore.restore(order).await });
        let Ok(files) = restoring.catch_unwind().await else {
            tracing::error!(run = %record.run, "putting files back panicked; this is a bug");
            return Err(AppendError::Unknown.into());
        };
        let files: Vec<_> = files.into_iter().map(|file| self.cleaned(file)).collect();
        let done =
            JournalEvent::Effect(EffectEvent::UndoFinished { undo, run: record.run, files: files.clone() });
        self.append(record, done, AppendClass::Ending).await?;
        Ok(files)
    }

    fn cleaned(&self, file: RawUndoneFile) -> UndoneFile {
        let redactor = &self.engine.ports.redactor;
        let result = match file.result {
            UndoResult::Conflict(difference) => UndoResult::Conflict(redactor.redact(difference).text),
            UndoResult::Failed(why) => UndoResult::Failed(redactor.redact(why).text),
            UndoResult::Restored => UndoResult::Restored,
            UndoResult::AlreadyRestored => UndoResult::AlreadyRestored,
            UndoResult::Withheld => UndoResult::Withheld,
        };
        UndoneFile { path: file.path, result }
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
        self.engine.ports.recorder.record(vec![entry], class, Vec::new()).await?;
        Ok(())
    }

    /// Reads what a run changed from its tape. What was erased is not there any more.
    async fn changed(&self, run: RunId) -> Result<ChangedFiles, RequestError> {
        let mut changed = ChangedFiles { workspace_root: Redacted::default(), files: Vec::new() };
        let mut last = TapeSeq::default();
        loop {
            let page = self.engine.ports.tapes.tape(run, last, MAX_TAPE_ENTRIES_PER_RESPONSE).await?;
            for entry in page.entries {
                last = entry.tape_seq;
                if let TapeEvent::Run(RunEvent::Started(started)) = &entry.event {
                    changed.workspace_root = started.workspace_root.clone();
                } else if let TapeEvent::Tool(ToolEvent::Started(started)) = entry.event {
                    changed.files.extend(started.plan.pre_images.into_iter().map(RestoreImage::from));
                }
            }
            if page.more == MoreEntries::None {
                return Ok(changed);
            }
        }
    }
}

/// Returns the changes that put these files in place where that is still what it was.
///
/// `None` where the name of one holds a secret: names are recorded as they are.
pub(crate) fn images(
    redactor: &dyn Redactor,
    entries: Vec<KeptEntry>,
    before: &[Option<[u8; 32]>],
) -> Option<Vec<RestoreImage>> {
    let image = |(entry, before): (KeptEntry, &Option<[u8; 32]>)| {
        Some(RestoreImage {
            path: unless_secret(redactor, &entry.place.to_string_lossy())?,
            before: FileBefore::File { bytes: entry.bytes, mode: entry.mode },
            after_sha256: *before,
        })
    };
    entries.into_iter().zip(before).map(image).collect()
}
