//! Runs, for callers: looking, answering, cancelling, bookmarks, responses that clients delete.

use std::path::PathBuf;
use std::sync::Arc;

use palyra_admin::budgets::RaisedLimit;
use palyra_admin::{Caller, check_short_text};
use palyra_journal_core::families::bookmarks::of_principal;
use palyra_journal_core::families::deleted_responses::is_deleted;
use palyra_journal_core::families::{input_keys, runs};
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::read_records::RunQuery;
use palyra_ports::{AppendError, KeptFile};
use palyra_run_core::{BudgetWake, RunInput};
use palyra_types::access::ActorIdentity;
use palyra_types::effect::{KeptFileId, UndoneFile};
use palyra_types::event::{Bookmark, SessionEvent};
use palyra_types::run::{CancelReason, InputDelivery, RunLifecycleState, RunRecord, UserInput};
use palyra_types::session::SessionRef;
use palyra_types::surface::WorkspaceRootSource;
use palyra_types::{Content, PrincipalId, RunId, Seq, TapeSeq};

use crate::engine::Engine;
use crate::error::RequestError;
use crate::kept::{KeptFiles, ShownKeptFile};
use crate::parts::RuntimePorts;
use crate::run::InputData;
use crate::run_location::{RunLocation, run_location};
use crate::session::branch::place_in_tape;
use crate::session::prepared::PreparedInput;
use crate::session::steering::{RUN_TAKES_NONE, RUN_WAS_OVER};
use crate::session::{
    AdmissionKind, ExistingSession, SessionSelector, SessionsHandle, SubmitReceipt, SubmitRequest,
};
use crate::undo::{UndoPreview, UndoReport, UndoService};

pub use crate::session::{InputReach, InputRequest};

const BOOKMARKS_MAX: usize = 500;
const BOOKMARK_CHARS_MAX: usize = 80;
mod client_results;
mod effects;

/// Looks at runs and speaks to them.
#[derive(Clone)]
pub struct RunsHandle {
    engine: Arc<Engine>,
    ports: Arc<RuntimePorts>,
    sessions: SessionsHandle,
    undoing: UndoService,
    owner: PrincipalId,
}

/// The receipt of a durable cancel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CancelReceipt {
    /// The run's state after the wish was recorded.
    pub state: RunLifecycleState,
    /// Whether the run was over before.
    pub already_finished: bool,
}

/// The receipt of a durable input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputReceipt {
    /// The run that got it.
    pub run: RunId,
    /// Whether it is a run of its own.
    pub queued: bool,
    /// How it was taken, which may differ from the wish.
    pub delivered: InputDelivery,
    /// Why it differs, and what else the person should know.
    pub notes: Vec<String>,
}

/// A page of runs.
#[derive(Debug, Clone, PartialEq)]
pub struct RunPage {
    /// Newest first.
    pub runs: Vec<RunRecord>,
    /// Where the next page begins: before this seq; `None` on the last page.
    pub next: Option<Seq>,
}

impl RunsHandle {
    pub(crate) fn new(
        engine: Arc<Engine>,
        sessions: SessionsHandle,
        undoing: UndoService,
        owner: PrincipalId,
    ) -> Self {
        Self { ports: Arc::clone(&engine.ports), engine, sessions, undoing, owner }
    }

    /// Takes back what a finished run changed in files, from the last change to the first; a file that changed since
    /// is left alone. Returns once what became of each file is durable; repeating it changes nothing twice.
    ///
    /// # Errors
    /// [`RequestError::RunNotFound`], also for another principal's run; [`RequestError::UndoOpenRun`];
    /// [`RequestError::UndoNothing`]; [`RequestError::Append`], also for a journal that takes no entries.
    pub async fn undo(&self, caller: Caller, run: RunId) -> Result<UndoReport, RequestError> {
        let record = self.get(caller, run).await?;
        self.undoing.undo(&record).await
    }

    /// Says what [`undo`](Self::undo) would do to each file; changes and records nothing.
    ///
    /// # Errors
    /// As [`undo`](Self::undo).
    pub async fn preview_undo(&self, caller: Caller, run: RunId) -> Result<Vec<UndoPreview>, RequestError> {
        let record = self.get(caller, run).await?;
        self.undoing.preview(&record).await
    }

    /// Lists what the commands of a run left in protected places, oldest first.
    ///
    /// # Errors
    /// [`RequestError::RunNotFound`], also for another principal's run; [`RequestError::KeptFileRefused`] when the files
    /// cannot be read.
    pub async fn kept_files(&self, caller: Caller, run: RunId) -> Result<Vec<KeptFile>, RequestError> {
        let KeptFiles { engine, record, .. } = self.kept(caller, run).await?;
        let mut files = engine.ports.kept.list(Some(run)).await?;
        files.retain(|file| file.owner.principal == record.principal);
        Ok(files)
    }

    /// Shows a kept file beside what is at its place now.
    ///
    /// # Errors
    /// [`RequestError::RunNotFound`]; [`RequestError::KeptFileRefused`] when there is no such file of this run.
    pub async fn show_kept_file(
        &self,
        caller: Caller,
        run: RunId,
        file: KeptFileId,
    ) -> Result<ShownKeptFile, RequestError> {
        Ok(self.kept(caller, run).await?.look(file).await?.shown)
    }

    /// Puts a kept file in place, where it and its place are what was shown; what it displaces is kept aside.
    ///
    /// # Errors
    /// [`RequestError::RunNotFound`]; [`RequestError::KeptFileRefused`], with what prevents it;
    /// [`RequestError::Append`].
    pub async fn place_kept_file(
        &self,
        caller: Caller,
        run: RunId,
        file: KeptFileId,
        shown_sha256: [u8; 32],
    ) -> Result<Vec<UndoneFile>, RequestError> {
        self.kept(caller, run).await?.place(file, shown_sha256).await
    }

    /// Deletes a kept file that has this digest.
    ///
    /// # Errors
    /// [`RequestError::RunNotFound`]; [`RequestError::KeptFileRefused`] when there is no such file of this run, or it has
    /// another digest.
    pub async fn discard_kept_file(
        &self,
        caller: Caller,
        run: RunId,
        file: KeptFileId,
        sha256: Option<[u8; 32]>,
    ) -> Result<(), RequestError> {
        let kept = self.kept(caller, run).await?;
        if kept.read(file.clone()).await?.file.sha256 != sha256 {
            let what = "the kept file is not what was listed; look at it again".to_owned();
            return Err(RequestError::KeptFileRefused { what });
        }
        Ok(kept.engine.ports.kept.remove(vec![file]).await?)
    }

    async fn kept(&self, caller: Caller, run: RunId) -> Result<KeptFiles<'_>, RequestError> {
        let record = self.get(caller, run).await?;
        Ok(KeptFiles { engine: &self.engine, undoing: &self.undoing, caller, owner: self.owner, record })
    }

    /// Returns a run.
    ///
    /// # Errors
    /// [`RequestError::RunNotFound`], also for another principal's run.
    pub async fn get(&self, caller: Caller, run: RunId) -> Result<RunRecord, RequestError> {
        self.ports.run_of(caller.actor.principal, run).await
    }

    /// Returns the caller's run that was started, or given an input, under an idempotency key.
    ///
    /// # Errors
    /// [`RequestError::Read`].
    pub async fn of_key(&self, caller: Caller, key: &Content<String>) -> Result<Option<RunId>, RequestError> {
        let digest = palyra_ledger::idempotency_digest(caller.actor.principal, key);
        let families = &self.ports.families;
        Ok(families
            .query(move |rows, _| input_keys::run_of_key(rows, caller.actor.principal, digest))
            .await?)
    }

    /// Lists runs of the caller, newest first; the query's principal is the caller's. With a folder, which only callers
    /// of the local socket have, the runs of a page that work elsewhere are left out.
    ///
    /// # Errors
    /// [`RequestError::Read`].
    pub async fn list(
        &self,
        caller: Caller,
        query: RunQuery,
        folder: Option<PathBuf>,
    ) -> Result<RunPage, RequestError> {
        let limit = query.limit;
        let query = RunQuery { principal: caller.actor.principal, ..query };
        let mut runs = self.ports.families.query(move |rows, _| runs::records(rows, &query)).await?;
        let next = runs.last().filter(|_| runs.len() >= limit).map(|run| run.first_seq);
        if let Some(folder) =
            folder.filter(|_| caller.actor.surface.profile().workspace_root == WorkspaceRootSource::Client)
        {
            let mut here = Vec::with_capacity(runs.len());
            for run in runs {
                if run_location(&self.ports, &run, Some(&folder)).await? == RunLocation::Here {
                    here.push(run);
                }
            }
            runs = here;
        }
        Ok(RunPage { runs, next })
    }

    /// Asks a run to stop; returns once the wish is durable. Cancelling a finished run is not an error.
    ///
    /// # Errors
    /// [`RequestError::RunNotFound`]; [`RequestError::Append`] when it could not be recorded, or when the run's own
    /// beginning has an open outcome still: repeating tells.
    pub async fn cancel(&self, caller: Caller, run: RunId) -> Result<CancelReceipt, RequestError> {
        let at_work =
            self.sessions.at_work_on(run).filter(|session| session.principal == caller.actor.principal);
        let session = match at_work {
            Some(session) => session,
            None => {
                let record = self.get(caller, run).await?;
                if record.state.is_terminal() {
                    return Ok(CancelReceipt { state: record.state, already_finished: true });
                }
                session_of(&record)
            }
        };
        let input = RunInput::Cancel { actor: caller.actor.principal, reason: CancelReason::User };
        match self.sessions.deliver(session, run, input, InputData::by(caller.actor)).await {
            Ok(delivered) => Ok(CancelReceipt { state: delivered.state, already_finished: false }),
            Err(RequestError::RunFinished) => {
                let record = self.get(caller, run).await?;
                // Its session does not know it: it was accepted by an append whose answer was lost.
                if !record.state.is_terminal() {
                    return Err(AppendError::Unknown.into());
                }
                Ok(CancelReceipt { state: record.state, already_finished: true })
            }
            Err(error) => Err(error),
        }
    }

    /// Lets a run that waits for a budget go on once: limits in its way are raised by what is missing.
    ///
    /// # Errors
    /// [`RequestError::RunNotFound`]; [`RequestError::RunNotWaiting`]; [`RequestError::InvalidArgument`] where it does not help.
    pub async fn go_on_once(&self, caller: Caller, run: RunId) -> Result<Vec<RaisedLimit>, RequestError> {
        let record = self.ports.run(run).await?.ok_or(RequestError::RunNotFound)?;
        let raised = self.engine.views.budgets.check_go_on(run, &self.engine.runs.ports.zones)?;
        let input = RunInput::BudgetDue(BudgetWake::GoOnOnce);
        self.sessions.deliver(session_of(&record), run, input, InputData::by(caller.actor)).await?;
        Ok(raised)
    }

    /// Sends an input: a waiting run takes it as the answer, unless it interrupts; one that works takes it if it
    /// steers; else it becomes a new run of the session.
    ///
    /// # Errors
    /// [`RequestError::RunNotFound`]; those of [`SessionsHandle::submit`].
    pub async fn send_input(
        &self,
        caller: Caller,
        run: RunId,
        said: InputRequest,
    ) -> Result<InputReceipt, RequestError> {
        let record = self.get(caller, run).await?;
        let prepared = self.sessions.prepare(caller, &said)?;
        // What was sent before is where it went then, even if this run waits for an answer by now.
        if let Some(submitted) = self.sessions.repeated(caller, &prepared).await? {
            return Ok(receipt(submitted, Vec::new()));
        }
        let mut notes = Vec::new();
        match self.offer(&record, &said, prepared, caller.actor).await {
            // A repetition of it was taken meanwhile; the way of a new run finds it.
            Err(RequestError::Append(AppendError::GuardFailed { .. })) => {}
            Err(error) => return Err(error),
            Ok(OfferOutcome::Taken) => {
                let (queued, delivered) = (false, said.delivery);
                return Ok(InputReceipt { run, queued, delivered, notes });
            }
            Ok(OfferOutcome::NotTaken { why, .. }) if said.reach == InputReach::RunOnly => return Err(why),
            Ok(OfferOutcome::NotTaken { note, .. }) => notes.extend(note.map(str::to_owned)),
        }
        let session = SessionSelector {
            id: Some(record.session),
            existing: ExistingSession::Required,
            ..SessionSelector::default()
        };
        let delivery = match said.delivery {
            InputDelivery::Interrupt => InputDelivery::Interrupt,
            InputDelivery::Queue | InputDelivery::Steer => InputDelivery::Queue,
        };
        let request = SubmitRequest {
            files: said.files,
            delivery,
            idempotency_key: said.idempotency_key,
            ..SubmitRequest::new(session, UserInput::text(said.text))
        };
        Ok(receipt(self.sessions.submit_after(caller, request, run).await?, notes))
    }

    /// Offers an input to the run itself.
    async fn offer(
        &self,
        record: &RunRecord,
        said: &InputRequest,
        prepared: PreparedInput,
        actor: ActorIdentity,
    ) -> Result<OfferOutcome, RequestError> {
        let PreparedInput { input, blobs, idempotency } = prepared;
        let beside = InputData { actor: Some(actor), blobs };
        let (input, over, takes_none) = match said.delivery {
            InputDelivery::Interrupt => {
                return Ok(OfferOutcome::NotTaken { note: None, why: RequestError::RunNotWaiting });
            }
            InputDelivery::Queue => (RunInput::Input { input, idempotency }, None, None),
            InputDelivery::Steer => {
                (RunInput::Steer { input, idempotency }, Some(RUN_WAS_OVER), Some(RUN_TAKES_NONE))
            }
        };
        if record.state.is_terminal() {
            return Ok(OfferOutcome::NotTaken { note: over, why: RequestError::RunFinished });
        }
        match self.sessions.deliver(session_of(record), record.run, input, beside).await {
            Ok(_) => Ok(OfferOutcome::Taken),
            Err(why @ RequestError::RunFinished) => Ok(OfferOutcome::NotTaken { note: over, why }),
            Err(why @ RequestError::RunNotWaiting) => Ok(OfferOutcome::NotTaken { note: takes_none, why }),
            Err(error) => Err(error),
        }
    }
}

impl RunsHandle {
    /// Returns the run of a response that the caller has not deleted.
    ///
    /// # Errors
    /// [`RequestError::RunNotFound`], also for a deleted response and for another principal's run.
    pub async fn get_response(&self, caller: Caller, run: RunId) -> Result<RunRecord, RequestError> {
        let principal = caller.actor.principal;
        let is_gone = self.ports.families.query(move |rows, _| is_deleted(rows, principal, run)).await?;
        if is_gone { Err(RequestError::RunNotFound) } else { self.get(caller, run).await }
    }

    /// Deletes the response of a run: it is no longer found. The run goes on and stays.
    ///
    /// # Errors
    /// Those of [`RunsHandle::get_response`]; [`RequestError::Append`].
    pub async fn delete_response(&self, caller: Caller, run: RunId) -> Result<(), RequestError> {
        self.get_response(caller, run).await?;
        let deleted = SessionEvent::ResponseDeleted { run };
        self.ports.recorder.record_act_now(caller.actor, caller.actor.principal, deleted).await?;
        Ok(())
    }

    /// Returns the caller's bookmarks, oldest first.
    ///
    /// # Errors
    /// [`RequestError::Read`].
    pub async fn bookmarks(&self, caller: Caller) -> Result<Vec<(Seq, Bookmark)>, RequestError> {
        let families = &self.ports.families;
        Ok(families.query(move |rows, log| of_principal(rows, log, caller.actor.principal)).await?)
    }

    /// Gives a place in a tape, 0 for its end, a name that no other bookmark of the caller has.
    ///
    /// # Errors
    /// [`RequestError::RunNotFound`], [`RequestError::BranchOutOfRange`], [`RequestError::InvalidArgument`] for a name
    /// that does not fit and one bookmark too many, [`RequestError::Append`].
    pub async fn place_bookmark(
        &self,
        caller: Caller,
        run: RunId,
        tape_seq: TapeSeq,
        name: Content<String>,
    ) -> Result<(), RequestError> {
        let record = self.get(caller, run).await?;
        let tape_seq = place_in_tape(record.last_tape_seq, (tape_seq.0 > 0).then_some(tape_seq))?;
        check_short_text("a bookmark's name", Some(&name), BOOKMARK_CHARS_MAX)?;
        let name = self.ports.redactor.redact(name).text;
        let existing = self.bookmarks(caller).await?;
        if existing.len() >= BOOKMARKS_MAX || existing.iter().any(|(_, bookmark)| bookmark.name == name) {
            let what = format!("the name is taken, or there are {BOOKMARKS_MAX} bookmarks; remove one first");
            return Err(RequestError::InvalidArgument { what });
        }
        let placed = SessionEvent::BookmarkPlaced(Bookmark { run, tape_seq, name });
        self.ports.recorder.record_now(caller.actor.principal, Some(record.session), placed).await?;
        Ok(())
    }

    /// Removes a bookmark of the caller by its name, or the number of the entry that placed it.
    ///
    /// # Errors
    /// [`RequestError::InvalidArgument`] where there is none; [`RequestError::Append`].
    pub async fn remove_bookmark(&self, caller: Caller, name: &str) -> Result<(), RequestError> {
        let mut existing = self.bookmarks(caller).await?.into_iter();
        let named = existing.find(|(seq, one)| one.name.expose() == name || seq.to_string() == name);
        let missing = "there is no such bookmark; `palyra runs bookmarks` lists them".to_owned();
        let (seq, _) = named.ok_or(RequestError::InvalidArgument { what: missing })?;
        let removed = SessionEvent::BookmarkRemoved(seq);
        Ok(self.ports.recorder.record_now(caller.actor.principal, None, removed).await.map(drop)?)
    }
}

/// What came of offering an input to a run.
enum OfferOutcome {
    Taken,
    /// It becomes a run of its own, unless it is for this run only.
    NotTaken {
        /// What to say when that is not what was asked.
        note: Option<&'static str>,
        /// Why the run does not take it.
        why: RequestError,
    },
}

fn receipt(submitted: SubmitReceipt, notes: Vec<String>) -> InputReceipt {
    let SubmitReceipt { run, admission, delivered, notes: more, .. } = submitted;
    let notes = notes.into_iter().chain(more).collect();
    InputReceipt { run, queued: admission != AdmissionKind::Joined, delivered, notes }
}

fn session_of(record: &RunRecord) -> SessionRef {
    SessionRef { principal: record.principal, id: record.session }
}
