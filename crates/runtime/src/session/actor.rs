//! One session: its active run, the runs that wait for it, and what later runs see of earlier ones.
//!
//! Invariant: one run of a session is in progress at a time (the journal's guard holds even if this actor
//! were wrong); accepted runs begin in the order of their acceptance. Everything here can be rebuilt from the
//! journal, which is what a new actor does first.

use std::collections::{BTreeMap, VecDeque};
use std::future::{pending, poll_fn};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use futures::FutureExt;
use palyra_ports::read_records::{RECORD_PAGE_ROWS_MAX, RunFilter, RunQuery};
use palyra_ports::{AppendError, JournalAppendRequest, NewEntry};
use palyra_run_core::RunInput;
use palyra_types::event::{JournalEvent, TapeEvent};
use palyra_types::run::{RunLifecycleState, RunPhase, RunRecord, WaitReason};
use palyra_types::session::SessionRef;
use palyra_types::{BootTime, RunId, TapeSeq};
use tokio::sync::{mpsc, oneshot};

use crate::engine::Engine;
use crate::error::RequestError;
use crate::run::{Left, LiveRun, RunCommand, RunExit, RunMailbox, RunSeed, Stall, spawn_run};
use crate::session::admitted::Admitted;
use crate::session::directory::{Command, Directory, Retired};
use crate::session::history::History;
use crate::session::request::{Admission, Submitted};

/// An actor with nothing to do leaves after this.
const IDLE_SPAN: Duration = Duration::from_secs(60);
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
    loaded: Option<Loaded>,
    /// Queued runs that end before their turn, beside the active one; they leave the queue when they are over.
    endings: BTreeMap<RunId, LiveRun>,
    retry_at: Option<BootTime>,
    retry_pause: Duration,
}

/// What the journal says, kept current from then on.
struct Loaded {
    active: Option<Active>,
    queue: VecDeque<RunId>,
    history: History,
    freshness: Freshness,
}

/// Whether the journal may hold more than what is known here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Freshness {
    Fresh,
    /// An answer was lost: the journal is read again before the next run begins.
    Stale,
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
        let (endings, retry_pause) = (BTreeMap::new(), RETRY_PAUSE_MIN);
        Self { engine, session, directory, loaded: None, endings, retry_at: None, retry_pause }
    }

    /// Works until there is nothing to do.
    pub(super) async fn run(mut self, mut commands: mpsc::Receiver<Command>) {
        loop {
            let clock = Arc::clone(&self.engine.ports.clock);
            let idle = clock.sleep_until(clock.boot().after(IDLE_SPAN));
            let retry_at = self.retry_at;
            let retry = async {
                match retry_at {
                    Some(retry_at) => clock.sleep_until(retry_at).await,
                    None => pending().await,
                }
            };
            tokio::select! {
                biased;
                (run, left) = self.next_exit() => self.run_left(run, left),
                () = retry => self.load_again().await,
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
        }) || self.retry_at.is_some()
            || !self.endings.is_empty()
    }

    /// Resolves when one of the session's runs has left: with what it left, or `None` after a panic.
    async fn next_exit(&mut self) -> (RunId, Option<Left>) {
        let active = self.loaded.as_mut().and_then(|loaded| loaded.active.as_mut());
        let active = active.and_then(|active| Some((active.run, active.live.as_mut()?)));
        let endings = self.endings.iter_mut().map(|(run, live)| (*run, live));
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

    async fn handle(&mut self, command: Command) {
        if let Err(error) = self.ensure_loaded().await {
            self.retry_after(&error);
            refuse(command, error);
            return;
        }
        match command {
            Command::Submit { admitted, reply } => self.submit(*admitted, reply).await,
            Command::Deliver { run, input, reply } => {
                self.deliver(run, RunCommand { input, reply: Some(reply) });
            }
            Command::Reset { reply } => {
                let _ = reply.send(self.reset().await);
            }
            Command::Wake => {}
        }
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
            matches!(error, RequestError::Read(error) if Stall::of_read(error) == Stall::UntilRestart);
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
        let records = &self.engine.ports.records;
        let reset_at = records.session(self.session).await?.and_then(|record| record.reset_at);
        let history = History::load(&self.engine, self.session, reset_at).await?;
        let mut loaded =
            Loaded { active: None, queue: VecDeque::new(), history, freshness: Freshness::Fresh };
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
        self.retry_at = None;
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
            let result = self.begin(&admitted).await;
            let _ = reply.send(result);
            return;
        }
        if loaded.queue.len() >= self.engine.config.borrow().session_queue_max {
            let _ = reply.send(Err(RequestError::QueueFull));
            return;
        }
        let result = accept_queued(&self.engine, &admitted).await;
        match &result {
            Ok(_) => loaded.queue.push_back(admitted.spec.run),
            Err(RequestError::Append(AppendError::Unknown)) => loaded.freshness = Freshness::Stale,
            Err(_) => {}
        }
        let _ = reply.send(result);
    }

    /// Accepts and begins a run. Whoever comes next is behind it, so it has to be in the journal first.
    async fn begin(&mut self, admitted: &Admitted) -> Result<Submitted, RequestError> {
        let run = admitted.spec.run;
        let (told, accepted) = oneshot::channel();
        let acceptance = Box::new(admitted.acceptance(self.engine.ports.clock.wall()));
        self.spawn(run, RunSeed::Fresh(acceptance, told), Vec::new());
        // Without a word it panicked, and perhaps after the commit.
        let accepted = accepted.await.unwrap_or(Err(AppendError::Unknown));
        let mut leaving = accepted.is_err();
        while leaving {
            let (who, left) = self.next_exit().await;
            self.run_left(who, left);
            leaving = who != run;
        }
        accepted.map(|()| admitted.receipt(Admission::Begun)).map_err(RequestError::from)
    }

    fn deliver(&mut self, run: RunId, command: RunCommand) {
        if let Some(ending) = self.endings.get(&run) {
            self.hand_over(&ending.mailbox.clone(), run, command);
            return;
        }
        let Some(loaded) = &mut self.loaded else {
            // It speaks to a run that has just stopped; the next who asks finds it in the journal.
            command.answer(Err(AppendError::Unknown.into()));
            return;
        };
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
        if !loaded.queue.contains(&run) {
            command.answer(Err(RequestError::RunFinished));
        } else if matches!(command.input, RunInput::Cancel { .. }) {
            // It ends with its first step, beside the active run.
            let ending =
                spawn_run(&self.engine, self.session, RunSeed::Replayed(run), Vec::new(), vec![command]);
            self.endings.insert(run, ending);
        } else {
            // An input for it goes on as a new run.
            command.answer(Err(RequestError::RunNotWaiting));
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

    fn run_left(&mut self, run: RunId, left: Option<Left>) {
        let (exit, commands) = match left {
            Some(left) => (Some(left.exit), left.commands),
            None => (None, Vec::new()),
        };
        if self.endings.remove(&run).is_some() {
            self.ending_left(run, exit);
        } else {
            self.active_left(run, exit);
        }
        commands.into_iter().for_each(|command| self.deliver(run, command));
    }

    /// One that did not come to its end keeps its place in the queue.
    fn ending_left(&mut self, run: RunId, exit: Option<RunExit>) {
        let Some(loaded) = &mut self.loaded else { return };
        let place = loaded.queue.iter().position(|queued| *queued == run);
        if let (Some(RunExit::Finished(past)), Some(place)) = (exit, place) {
            loaded.queue.remove(place);
            loaded.history.push(past);
        }
        self.begin_next();
    }

    fn active_left(&mut self, run: RunId, exit: Option<RunExit>) {
        let Some(loaded) = &mut self.loaded else { return };
        let Some(active) = &mut loaded.active else { return };
        active.live = None;
        match exit {
            Some(RunExit::Finished(past)) => {
                self.retry_pause = RETRY_PAUSE_MIN;
                loaded.active = None;
                loaded.history.push(past);
                self.begin_next();
            }
            Some(RunExit::NotAccepted) => {
                loaded.active = None;
                self.begin_next();
            }
            Some(RunExit::Waiting) => self.retry_pause = RETRY_PAUSE_MIN,
            // What is known here may be behind the journal: it is read again.
            Some(RunExit::Stalled(stall)) => {
                self.loaded = None;
                if stall == Stall::ForNow {
                    self.retry_later();
                }
            }
            None => {
                active.panics += 1;
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
        if loaded.freshness == Freshness::Stale {
            self.loaded = None;
            self.retry_later();
            return;
        }
        let next = loaded.queue.iter().position(|queued| !self.endings.contains_key(queued));
        if let Some(run) = next.and_then(|next| loaded.queue.remove(next)) {
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
