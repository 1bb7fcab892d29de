//! One session: its active run, the runs that wait for it, and what later runs see of earlier ones.
//!
//! Invariant: one run of a session is in progress at a time (the journal's guard holds even if this actor
//! were wrong); accepted runs begin in the order of their acceptance. Everything here can be rebuilt from the
//! journal, which is what a new actor does first.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use palyra_ports::read_records::{RECORD_PAGE_ROWS_MAX, RunFilter, RunQuery};
use palyra_ports::{AppendError, JournalAppendRequest, NewEntry};
use palyra_run_core::RunInput;
use palyra_types::RunId;
use palyra_types::TapeSeq;
use palyra_types::event::{JournalEvent, TapeEvent};
use palyra_types::run::{RunLifecycleState, RunPhase, RunRecord, WaitReason};
use palyra_types::session::SessionRef;
use tokio::sync::{mpsc, oneshot};

use crate::engine::Engine;
use crate::error::RequestError;
use crate::run::{DeliverReply, LiveRun, RunCommand, RunExit, RunMailbox, RunSeed, spawn_run};
use crate::session::admitted::Admitted;
use crate::session::directory::{Command, Directory, Retired};
use crate::session::history::History;
use crate::session::request::{Admission, Submitted};

/// An actor with nothing to do leaves after this.
const IDLE_SPAN: Duration = Duration::from_secs(60);

/// The owner of one session's order.
pub(super) struct SessionActor {
    engine: Arc<Engine>,
    session: SessionRef,
    directory: Directory,
    loaded: Option<Loaded>,
}

/// What the journal says, kept current from then on.
struct Loaded {
    active: Option<Active>,
    queue: VecDeque<RunId>,
    history: History,
}

struct Active {
    run: RunId,
    /// `None` while the run waits for a person.
    live: Option<LiveRun>,
    panics: u32,
}

/// A run whose actor panics more often than this is left to the next start.
const PANICS_MAX: u32 = 1;

impl SessionActor {
    pub(super) fn new(engine: Arc<Engine>, session: SessionRef, directory: Directory) -> Self {
        Self { engine, session, directory, loaded: None }
    }

    /// Works until there is nothing to do.
    pub(super) async fn run(mut self, mut commands: mpsc::Receiver<Command>) {
        loop {
            let clock = &self.engine.ports.clock;
            let idle = clock.sleep_until(clock.boot().after(IDLE_SPAN));
            tokio::select! {
                biased;
                exit = run_exit(&mut self.loaded) => self.run_exited(exit),
                command = commands.recv() => match command {
                    Some(command) => self.handle(command).await,
                    None => return,
                },
                () = idle, if !self.is_busy() => {
                    if self.directory.retire(self.session, &mut commands) == Retired::Gone {
                        break;
                    }
                }
            }
        }
        // Senders that held on to the mailbox may still have put something in before it closed.
        while let Some(command) = commands.recv().await {
            self.directory.send(self.session, command).await;
        }
    }

    fn is_busy(&self) -> bool {
        self.loaded.as_ref().is_some_and(|loaded| {
            let live = loaded.active.as_ref().is_some_and(|active| active.live.is_some());
            live || (loaded.active.is_none() && !loaded.queue.is_empty())
        })
    }

    async fn handle(&mut self, command: Command) {
        if let Err(error) = self.ensure_loaded().await {
            refuse(command, error);
            return;
        }
        match command {
            Command::Submit { admitted, reply } => self.submit(*admitted, reply).await,
            Command::Deliver { run, input, reply } => self.deliver(run, input, reply),
            Command::Reset { reply } => {
                let _ = reply.send(self.reset().await);
            }
            Command::Wake => {}
        }
    }

    async fn ensure_loaded(&mut self) -> Result<(), RequestError> {
        if self.loaded.is_some() {
            return Ok(());
        }
        let records = &self.engine.ports.records;
        let reset_at = records.session(self.session).await?.and_then(|record| record.reset_at);
        let history = History::load(&self.engine, self.session, reset_at).await?;
        let mut loaded = Loaded { active: None, queue: VecDeque::new(), history };
        let mut revive = None;
        for record in self.open_runs().await? {
            if record.state == RunLifecycleState::Pending {
                loaded.queue.push_back(record.run);
            } else {
                loaded.active = Some(Active { run: record.run, live: None, panics: 0 });
                revive = needs_driving(&record).then_some(record.run);
            }
        }
        self.loaded = Some(loaded);
        match revive {
            Some(run) => {
                self.spawn(run, RunSeed::Replayed(run), vec![RunCommand::told(RunInput::Recovered)]);
            }
            None => self.begin_next(),
        }
        Ok(())
    }

    /// Returns the session's open runs, oldest first.
    async fn open_runs(&self) -> Result<Vec<RunRecord>, RequestError> {
        let mut newest_first: Vec<RunRecord> = Vec::new();
        loop {
            let query = RunQuery {
                principal: self.session.principal,
                session: Some(self.session.id),
                only: RunFilter::Open,
                before: newest_first.last().map(|record| record.first_seq),
                limit: RECORD_PAGE_ROWS_MAX,
            };
            let page = self.engine.ports.records.runs(query).await?;
            let full = page.len() == RECORD_PAGE_ROWS_MAX;
            newest_first.extend(page);
            if !full {
                break;
            }
        }
        newest_first.reverse();
        Ok(newest_first)
    }

    async fn submit(&mut self, admitted: Admitted, reply: oneshot::Sender<Result<Submitted, RequestError>>) {
        let Some(loaded) = &mut self.loaded else { return };
        if loaded.active.is_none() && loaded.queue.is_empty() {
            let run = admitted.spec.run;
            let receipt = admitted.receipt(Admission::Begun);
            let tell = Box::new(move |accepted: Result<(), AppendError>| {
                // A caller that left does not want to know.
                let _ = reply.send(accepted.map(|()| receipt).map_err(RequestError::from));
            });
            let acceptance = Box::new(admitted.acceptance(self.engine.ports.clock.wall()));
            self.spawn(run, RunSeed::Fresh(acceptance, tell), Vec::new());
            return;
        }
        if loaded.queue.len() >= self.engine.config.borrow().session_queue_max {
            let _ = reply.send(Err(RequestError::QueueFull));
            return;
        }
        let result = accept_queued(&self.engine, &admitted).await;
        if result.is_ok() {
            loaded.queue.push_back(admitted.spec.run);
        }
        let _ = reply.send(result);
    }

    fn deliver(&mut self, run: RunId, input: RunInput, reply: DeliverReply) {
        let Some(loaded) = &mut self.loaded else { return };
        let command = RunCommand { input, reply: Some(reply) };
        if let Some(active) = loaded.active.as_ref().filter(|active| active.run == run) {
            match active.live.as_ref().map(|live| live.mailbox.clone()) {
                Some(mailbox) => self.hand_over(&mailbox, run, command),
                // What the actor before left open is taken up first: it may have stalled.
                None => {
                    let recovered = RunCommand::told(RunInput::Recovered);
                    self.spawn(run, RunSeed::Replayed(run), vec![recovered, command]);
                }
            }
            return;
        }
        match loaded.queue.iter().position(|queued| *queued == run) {
            // Only a cancel ends a pending run; an input for it goes on as a new run.
            Some(at) if matches!(command.input, RunInput::Cancel { .. }) => {
                loaded.queue.remove(at);
                let seed = RunSeed::Replayed(run);
                // It ends with its first step, beside the active run, and nobody has to wait for it.
                let _ending = spawn_run(&self.engine, self.session, seed, Vec::new(), vec![command]);
            }
            Some(_) => command.answer(Err(RequestError::RunNotWaiting)),
            None => command.answer(Err(RequestError::RunFinished)),
        }
    }

    /// Puts a command into a run's mailbox; if the run has just left, the command comes back to this session.
    fn hand_over(&self, mailbox: &RunMailbox, run: RunId, command: RunCommand) {
        let command = match mailbox.try_send(command) {
            Ok(()) => return,
            Err(mpsc::error::TrySendError::Full(command) | mpsc::error::TrySendError::Closed(command)) => {
                command
            }
        };
        let (mailbox, directory, session) = (mailbox.clone(), self.directory.clone(), self.session);
        tokio::spawn(async move {
            let Err(mpsc::error::SendError(RunCommand { input, reply: Some(reply) })) =
                mailbox.send(command).await
            else {
                return;
            };
            directory.send(session, Command::Deliver { run, input, reply }).await;
        });
    }

    async fn reset(&mut self) -> Result<(), RequestError> {
        let event = JournalEvent::SessionReset { session: self.session.id };
        let time = self.engine.ports.clock.wall();
        let (principal, session) = (self.session.principal, Some(self.session.id));
        let entry = NewEntry { time, principal, session, run: None, event };
        let request = JournalAppendRequest { entries: vec![entry], ..JournalAppendRequest::default() };
        let committed = self.engine.ports.append.append(request).await?;
        if let Some(loaded) = &mut self.loaded {
            loaded.history.reset(committed.first_seq);
        }
        Ok(())
    }

    /// `None` after a panic.
    fn run_exited(&mut self, exit: Option<RunExit>) {
        let Some(loaded) = &mut self.loaded else { return };
        let Some(active) = &mut loaded.active else { return };
        active.live = None;
        match exit {
            Some(RunExit::Finished(past)) => {
                loaded.active = None;
                loaded.history.push(past);
                self.begin_next();
            }
            Some(RunExit::NotAccepted) => {
                loaded.active = None;
                self.begin_next();
            }
            Some(RunExit::Waiting | RunExit::Stalled) => {}
            None => {
                active.panics += 1;
                let run = active.run;
                tracing::error!(%run, "the work on a run panicked; this is a bug");
                if active.panics <= PANICS_MAX {
                    let broken = RunCommand::told(RunInput::Broken);
                    self.spawn(run, RunSeed::Replayed(run), vec![broken]);
                }
            }
        }
    }

    fn begin_next(&mut self) {
        let Some(loaded) = &mut self.loaded else { return };
        if loaded.active.is_some() {
            return;
        }
        if let Some(run) = loaded.queue.pop_front() {
            self.spawn(run, RunSeed::Replayed(run), vec![RunCommand::told(RunInput::Begin)]);
        }
    }

    fn spawn(&mut self, run: RunId, seed: RunSeed, first: Vec<RunCommand>) {
        let Some(loaded) = &mut self.loaded else { return };
        let history = loaded.history.snapshot();
        let panics =
            loaded.active.as_ref().filter(|active| active.run == run).map_or(0, |active| active.panics);
        let live = spawn_run(&self.engine, self.session, seed, history, first);
        loaded.active = Some(Active { run, live: Some(live), panics });
    }
}

/// A run beside whose unknown outcome other tools may still have been running is driven until it really waits.
fn needs_driving(record: &RunRecord) -> bool {
    matches!(record.phase, RunPhase::Running | RunPhase::Waiting(WaitReason::OutcomeUnknown))
}

/// Resolves when the active run's actor has left: with its exit, or `None` after a panic.
async fn run_exit(loaded: &mut Option<Loaded>) -> Option<RunExit> {
    let active = loaded.as_mut().and_then(|loaded| loaded.active.as_mut());
    match active.and_then(|active| active.live.as_mut()) {
        Some(live) => (&mut live.exit).await.ok(),
        None => std::future::pending().await,
    }
}

/// Accepts a run that has to wait: its first entry alone.
async fn accept_queued(engine: &Engine, admitted: &Admitted) -> Result<Submitted, RequestError> {
    let now = engine.ports.clock.wall();
    let spec = &admitted.spec;
    let mut entries = admitted.entries_before(now);
    entries.push(NewEntry {
        time: now,
        principal: spec.principal,
        session: Some(spec.session),
        run: Some((spec.run, TapeSeq(1))),
        event: JournalEvent::Tape(TapeEvent::RunStarted(admitted.started())),
    });
    let request =
        JournalAppendRequest { guards: admitted.guards(), entries, ..JournalAppendRequest::default() };
    engine.ports.append.append(request).await?;
    Ok(admitted.receipt(Admission::Queued))
}

fn refuse(command: Command, error: RequestError) {
    match command {
        Command::Submit { reply, .. } => drop(reply.send(Err(error))),
        Command::Deliver { reply, .. } => drop(reply.send(Err(error))),
        Command::Reset { reply } => drop(reply.send(Err(error))),
        Command::Wake => {
            tracing::error!(%error, "a session could not be loaded from the journal");
        }
    }
}
