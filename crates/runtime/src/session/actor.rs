//! One session: its active run, the runs that wait for it, and what later runs see of earlier ones.
//!
//! Invariant: one run of a session is in progress at a time (the journal's guard holds even if this actor
//! were wrong); accepted runs begin in the order of their acceptance, interrupting ones before all others.
//! Everything here can be rebuilt from the journal, which is what a new actor does first.
//!
//! Begin at [`SessionActor::handle`]; how runs begin, are spoken to and leave is in `actor/runs.rs`.

use std::collections::BTreeMap;
use std::future::{pending, poll_fn};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use futures::FutureExt;
use palyra_background::LoopTimer;
use palyra_journal_core::families::input_keys;
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::{AppendClass, AppendError};
use palyra_run_core::RunInput;
use palyra_types::run::{IdempotencyDigest, InputDelivery};
use palyra_types::session::SessionRef;
use palyra_types::{BootTime, RunId};
use tokio::sync::{mpsc, oneshot};

use crate::engine::Engine;
use crate::error::RequestError;
use crate::run::{ActorExit, DeliverReply, InputData, LiveRun, RunCommand, StallKind};
use crate::session::admitted::{AdmittedRun, SessionOpening};
use crate::session::appends::{AppendQueue, CommittedRun, FinishedAppend};
use crate::session::deliveries::DeliveryQueue;
use crate::session::directory::{
    ChangeReply, Command, Directory, HandedOver, RetireOutcome, SessionBinding, SteerReply, SubmitReply,
};
use crate::session::loaded::{ArchiveState, LoadedSession, StateFreshness};
use crate::session::request::{RecordedChange, SessionChange};

mod runs;

/// An actor with nothing to do leaves after this.
const IDLE_SPAN: Duration = Duration::from_secs(60);
/// It leaves after this where many others are there: what it remembers can be read again.
const CROWDED_IDLE_SPAN: Duration = Duration::from_secs(1);
/// The first pause before the journal is read again after it failed; each further one is twice as long.
const RETRY_PAUSE_MIN: Duration = Duration::from_millis(250);
/// The longest such pause.
const RETRY_PAUSE_MAX: Duration = Duration::from_secs(30);

/// The owner of one session's order.
pub(super) struct SessionActor {
    engine: Arc<Engine>,
    session: SessionRef,
    directory: Directory,
    /// `None` until somebody asks, and again after the journal failed.
    loaded: Option<LoadedSession>,
    /// Queued runs that end before their turn, beside the active one; they leave the queue when they are over.
    endings: BTreeMap<RunId, LiveRun>,
    appends: AppendQueue,
    deliveries: DeliveryQueue,
    retry_at: Option<BootTime>,
    retry_pause: Duration,
}

impl SessionActor {
    pub(super) fn new(engine: Arc<Engine>, session: SessionRef, directory: Directory) -> Self {
        Self {
            engine,
            session,
            directory,
            loaded: None,
            endings: BTreeMap::new(),
            appends: AppendQueue::default(),
            deliveries: DeliveryQueue::default(),
            retry_at: None,
            retry_pause: RETRY_PAUSE_MIN,
        }
    }

    /// Works until there is nothing to do.
    pub(super) async fn run(mut self, mut commands: mpsc::Receiver<Command>) {
        let clock = Arc::clone(&self.engine.ports.clock);
        let mut alarm = LoopTimer::default();
        let mut leaves_at = clock.boot().after(self.idle_span());
        loop {
            let retry_at = self.retry_at;
            let retry = async {
                match retry_at {
                    Some(retry_at) => clock.sleep_until(retry_at).await,
                    None => pending().await,
                }
            };
            tokio::select! {
                biased;
                appended = self.appends.next() => {
                    let key = appended.key();
                    self.appended(appended);
                    for command in key.map(|key| self.deliveries.freed(key)).unwrap_or_default() {
                        self.handle(command).await;
                    }
                }
                answered = self.deliveries.next() => {
                    for command in self.deliveries.pass_on(answered) {
                        self.handle(command).await;
                    }
                }
                (run, left) = next_exit(&mut self.loaded, &mut self.endings) => self.run_left(run, left),
                () = retry => self.load_again().await,
                command = commands.recv() => match command {
                    Some(command) => self.handle(command).await,
                    None => return,
                },
                () = alarm.ring(&*clock, leaves_at), if !self.is_busy() => {
                    let idle = clock.boot() >= leaves_at;
                    if idle && self.directory.retire(self.session, &mut commands) == RetireOutcome::Gone {
                        break;
                    }
                    continue;
                }
            }
            leaves_at = clock.boot().after(self.idle_span());
        }
        // Senders that held on to the mailbox may still have put something in before it closed.
        while let Some(command) = commands.recv().await {
            self.directory.send(self.session, command).await;
        }
    }

    fn idle_span(&self) -> Duration {
        if self.directory.is_crowded() { CROWDED_IDLE_SPAN } else { IDLE_SPAN }
    }

    fn is_busy(&self) -> bool {
        self.retry_at.is_some() || !self.is_at_rest()
    }

    async fn handle(&mut self, command: Command) {
        if matches!(command, Command::Forget) {
            self.forget();
            return;
        }
        if self.is_at_rest()
            && self.loaded.as_ref().is_some_and(|loaded| loaded.freshness != StateFreshness::Fresh)
        {
            self.loaded = None;
        }
        if self.loaded.is_none() && !self.is_busy() && command.opens() {
            self.loaded = Some(LoadedSession::unopened());
        }
        if let Err(error) = self.ensure_loaded().await {
            self.retry_after(&error);
            refuse(command, error);
            return;
        }
        let active = self.loaded.as_ref().and_then(|loaded| loaded.active.as_ref()).map(|active| active.run);
        let Some(command) = self.deliveries.park(command, active, &self.appends) else { return };
        match command {
            Command::Open { opening, reply } => {
                // A caller that left does not want to know.
                let _ = reply.send(self.open(&opening).await);
            }
            Command::Submit { admitted, reply } => self.submit(*admitted, reply).await,
            Command::Steer { input, idempotency, beside, reply } => {
                let active = self.loaded.as_ref().and_then(|loaded| loaded.active.as_ref());
                let run = active.map(|active| active.run);
                match self.check_input(run, idempotency).await {
                    Ok(()) => self.steer(RunInput::Steer { input, idempotency }, idempotency, beside, reply),
                    Err(error) => drop(reply.send(Err(error))),
                }
            }
            Command::Deliver { run, input, beside, reply } => {
                self.take_delivery(run, *input, beside, reply).await;
            }
            Command::Change { change, reply } => self.change(change, reply),
            Command::Wake | Command::Forget => {}
        }
    }

    /// What is under way goes on with what it was given; whoever begins later is shown what is left.
    fn forget(&mut self) {
        if self.is_at_rest() {
            self.loaded = None;
        } else if let Some(loaded) = &mut self.loaded {
            loaded.history.clear();
            if loaded.freshness == StateFreshness::Fresh {
                loaded.freshness = StateFreshness::Erased;
            }
        }
    }

    /// Returns whether nothing is under way that only this actor knows of.
    fn is_at_rest(&self) -> bool {
        let waits = |loaded: &LoadedSession| loaded.active.is_none() && !loaded.queue.is_empty();
        let works =
            |loaded: &LoadedSession| loaded.active.as_ref().is_some_and(|active| active.live.is_some());
        !self.loaded.as_ref().is_some_and(|loaded| waits(loaded) || works(loaded))
            && self.endings.is_empty()
            && self.appends.is_empty()
            && self.deliveries.is_empty()
    }

    async fn load_again(&mut self) {
        self.retry_at = None;
        if let Err(error) = self.ensure_loaded().await {
            tracing::error!(%error, "a session could not be loaded from the journal");
            self.retry_after(&error);
        }
    }

    /// Runs may be open that nobody drives, so what could not be read is read again, unless it never will be.
    fn retry_after(&mut self, error: &RequestError) {
        let lasting =
            matches!(error, RequestError::Read(error) if StallKind::of_read(error) == StallKind::Fatal);
        if !lasting {
            self.retry_later();
        }
    }

    fn retry_later(&mut self) {
        self.retry_at = Some(self.engine.ports.clock.boot().after(self.retry_pause));
        self.retry_pause = (self.retry_pause * 2).min(RETRY_PAUSE_MAX);
    }

    async fn ensure_loaded(&mut self) -> Result<(), RequestError> {
        if self.loaded.is_some() {
            return Ok(());
        }
        let (mut loaded, revival) = LoadedSession::read(&self.engine, self.session).await?;
        if self.appends.is_archiving() {
            loaded.standing = ArchiveState::Archived;
        }
        if let Some(binding) = loaded.binding {
            self.directory.register_binding(self.session, binding);
        }
        self.loaded = Some(loaded);
        self.retry_at = None;
        match revival {
            Some(revival) => self.revive(revival),
            None => self.begin_next(),
        }
        Ok(())
    }

    /// Hands something to one of the session's runs: a wish to stop always, words of a person if they may be said.
    async fn take_delivery(&mut self, run: RunId, input: RunInput, beside: InputData, reply: DeliverReply) {
        let said = if let RunInput::Input { idempotency, .. } | RunInput::Steer { idempotency, .. } = &input {
            Some(*idempotency)
        } else {
            None
        };
        let may = match said {
            Some(key) => self.check_input(Some(run), key).await,
            None => Ok(()),
        };
        let reply = match (&may, said.flatten()) {
            (Ok(()), Some(key)) => self.deliveries.watch(key, run, reply),
            (Ok(()), None) | (Err(_), _) => reply,
        };
        let command = RunCommand::with_reply(input, beside, reply);
        match may {
            Ok(()) => self.deliver(run, command),
            Err(error) => command.answer(Err(error)),
        }
    }

    /// Returns whether words may be handed to a run: the session takes input, and no other run has them. Who asked
    /// looked before they came here; since then a repetition of theirs may have been taken.
    async fn check_input(
        &mut self,
        run: Option<RunId>,
        key: Option<IdempotencyDigest>,
    ) -> Result<(), RequestError> {
        if self.is_archived() {
            return Err(RequestError::SessionArchived);
        }
        let Some(key) = key else { return Ok(()) };
        let principal = self.session.principal;
        let families = &self.engine.ports.families;
        let had = families.query(move |rows, _| input_keys::run_of_key(rows, principal, key)).await?;
        let elsewhere = had.is_some_and(|had| Some(had) != run);
        if elsewhere || self.appends.is_accepting(key) || self.deliveries.is_elsewhere(key, run) {
            return Err(AppendError::GuardFailed { index: 0 }.into());
        }
        Ok(())
    }

    fn is_archived(&self) -> bool {
        self.loaded.as_ref().is_some_and(|loaded| loaded.standing == ArchiveState::Archived)
    }

    /// Opens the session; a run of it has to wait for that anyway.
    async fn open(&mut self, opening: &SessionOpening) -> Result<(), RequestError> {
        let ports = &self.engine.ports;
        let entries = vec![opening.entry(ports.clock.wall())];
        let opened = ports.recorder.record(entries, AppendClass::Normal, vec![opening.guard()]).await;
        if opened.is_ok() {
            self.directory.register_binding(self.session, SessionBinding::opened(opening.agent));
        }
        self.take_note(opened.as_ref().err());
        // What it shares with another session has to be read, and so has a session that was there before.
        if (opened.is_err() || opening.branched_from.is_some()) && !self.is_busy() {
            self.loaded = None;
        }
        Ok(opened.map(drop)?)
    }

    async fn submit(&mut self, mut admitted: AdmittedRun, reply: SubmitReply) {
        if !admitted.resets() {
            let Some(loaded) = &self.loaded else { return };
            let taints = loaded.history.seen_by(None).taints;
            let may_have_summary = loaded.history.may_have_summary();
            let started = &mut admitted.spec.started;
            started.taints = started.taints.with(taints);
            if may_have_summary {
                self.engine.conversations.give(self.session, started).await;
            }
        }
        let Some(loaded) = &self.loaded else { return };
        let key = admitted.spec.started.idempotency;
        if loaded.standing == ArchiveState::Archived {
            let _ = reply.send(Err(RequestError::SessionArchived));
        } else if key.is_some_and(|key| self.deliveries.is_elsewhere(key, None)) {
            // A repetition of it may be in a run already: who looks again will know.
            let _ = reply.send(Err(AppendError::GuardFailed { index: 0 }.into()));
        } else if loaded.active.is_none() && loaded.queue.is_empty() && self.appends.is_empty() {
            let result = self.begin(&admitted).await;
            // A caller that left does not want to know.
            let _ = reply.send(result);
        } else if loaded.queue.len() + self.appends.len() >= self.engine.config.borrow().session_queue_max {
            let _ = reply.send(Err(RequestError::QueueFull));
        } else {
            self.appends.accept(&self.engine, admitted, reply);
        }
    }

    /// Hands an input to the run that is active.
    fn steer(
        &mut self,
        input: RunInput,
        key: Option<IdempotencyDigest>,
        beside: InputData,
        reply: SteerReply,
    ) {
        let active = self.loaded.as_ref().and_then(|loaded| loaded.active.as_ref());
        let Some(run) = active.map(|active| active.run) else {
            let _ = reply.send(Ok(None));
            return;
        };
        let (answer_in, answer) = oneshot::channel();
        let answer_in = match key {
            Some(key) => self.deliveries.watch(key, run, answer_in),
            None => answer_in,
        };
        self.deliver(run, RunCommand::with_reply(input, beside, answer_in));
        // A caller that left does not want to know.
        let _ = reply.send(Ok(Some(HandedOver { run, answer })));
    }

    fn change(&mut self, change: RecordedChange, reply: ChangeReply) {
        let Some(loaded) = &mut self.loaded else { return };
        match (&change, loaded.standing) {
            (SessionChange::Reset, ArchiveState::Archived) => {
                let _ = reply.send(Err(RequestError::SessionArchived));
                return;
            }
            (SessionChange::Archive, ArchiveState::Archived)
            | (SessionChange::Restore, ArchiveState::Current) => {
                let _ = reply.send(Ok(()));
                return;
            }
            // From now on nothing gets in: what is accepted later would stand behind the entry.
            (SessionChange::Archive, ArchiveState::Current) => loaded.standing = ArchiveState::Archived,
            (SessionChange::Restore, ArchiveState::Archived)
            | (SessionChange::Reset, ArchiveState::Current)
            | (SessionChange::Rename(_) | SessionChange::SetRecall(_), _) => {}
        }
        self.appends.change(&self.engine, self.session, change, reply);
    }

    /// Takes note of what the journal said to one of the session's own appends.
    fn appended(&mut self, appended: FinishedAppend) {
        match appended {
            FinishedAppend::Run { result, reply, .. } => {
                self.take_note(result.as_ref().err());
                let result = result.map(|accepted| self.accepted(accepted));
                let _ = reply.send(result.map_err(RequestError::from));
            }
            FinishedAppend::Change { change, result, reply } => {
                self.take_note(result.as_ref().err());
                if let Some(loaded) = &mut self.loaded {
                    match (&change, &result) {
                        (SessionChange::Reset, Ok(at)) => loaded.history.reset(*at),
                        (SessionChange::Archive, Err(_)) | (SessionChange::Restore, Ok(_)) => {
                            loaded.standing = ArchiveState::Current;
                        }
                        (SessionChange::SetRecall(recall), result) => {
                            self.directory.note_recall(self.session, result.is_ok().then_some(*recall));
                        }
                        (SessionChange::Archive | SessionChange::Rename(_), Ok(_))
                        | (
                            SessionChange::Reset | SessionChange::Restore | SessionChange::Rename(_),
                            Err(_),
                        ) => {}
                    }
                }
                let _ = reply.send(result.map(drop).map_err(RequestError::from));
            }
            FinishedAppend::GivenUp { run, result } => self.given_up(run, result),
        }
        self.begin_next();
    }

    fn accepted(&mut self, accepted: CommittedRun) -> crate::session::request::SubmitReceipt {
        let CommittedRun { queued, reset, mut receipt } = accepted;
        if let Some(loaded) = &mut self.loaded {
            if let Some(at) = reset {
                loaded.history.reset(at);
            }
            // Read from the journal meanwhile, it is known already.
            if !loaded.knows(queued.run) {
                loaded.queue.push(queued);
                if queued.delivery == InputDelivery::Interrupt {
                    self.interrupt();
                }
            }
        }
        self.tell_of_unreadable(&mut receipt.notes);
        receipt
    }

    /// After a lost answer the journal may hold more than what is known here.
    fn take_note(&mut self, error: Option<&AppendError>) {
        if let (Some(loaded), Some(AppendError::Unknown)) = (&mut self.loaded, error) {
            loaded.freshness = StateFreshness::Stale;
        }
    }

    fn tell_of_unreadable(&self, notes: &mut Vec<String>) {
        let unreadable = self.loaded.as_ref().map_or(0, |loaded| loaded.history.unreadable().len());
        if unreadable > 0 {
            notes.push(format!(
                "{unreadable} earlier runs of this session cannot be read and are not shown to the model; \
                 `palyra journal verify` tells more"
            ));
        }
    }
}

/// Resolves when one of the runs has left: with what it left, or `None` when it was torn down.
async fn next_exit(
    loaded: &mut Option<LoadedSession>,
    endings: &mut BTreeMap<RunId, LiveRun>,
) -> (RunId, Option<ActorExit>) {
    let active = loaded.as_mut().and_then(|loaded| loaded.active.as_mut());
    let active = active.and_then(|active| Some((active.run, active.live.as_mut()?)));
    let endings = endings.iter_mut().map(|(run, live)| (*run, live));
    let mut all: Vec<(RunId, &mut LiveRun)> = active.into_iter().chain(endings).collect();
    poll_fn(|context| {
        for (run, live) in &mut all {
            if let Poll::Ready(left) = live.exit.poll_unpin(context) {
                return Poll::Ready((*run, left.ok()));
            }
        }
        Poll::Pending
    })
    .await
}

fn refuse(command: Command, error: RequestError) {
    match command {
        Command::Submit { reply, .. } => drop(reply.send(Err(error))),
        Command::Deliver { reply, .. } => drop(reply.send(Err(error))),
        Command::Steer { reply, .. } => drop(reply.send(Err(error))),
        Command::Open { reply, .. } | Command::Change { reply, .. } => drop(reply.send(Err(error))),
        Command::Wake | Command::Forget => {
            tracing::error!(%error, "a session could not be loaded from the journal");
        }
    }
}
