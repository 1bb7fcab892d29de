//! One session: its active run, the runs that wait for it, and what later runs see of earlier ones.
//!
//! Invariant: one run of a session is in progress at a time (the journal's guard holds even if this actor
//! were wrong); accepted runs begin in the order of their acceptance. Everything here can be rebuilt from the
//! journal, which is what a new actor does first.

use std::collections::BTreeMap;
use std::future::{pending, poll_fn};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use futures::FutureExt;
use palyra_ports::AppendError;
use palyra_run_core::RunInput;
use palyra_types::session::SessionRef;
use palyra_types::{BootTime, RunId};
use tokio::sync::{mpsc, oneshot};

use crate::engine::Engine;
use crate::error::RequestError;
use crate::run::{Left, LiveRun, RunCommand, RunExit, RunMailbox, RunSeed, Stall, spawn_run};
use crate::session::admitted::Admitted;
use crate::session::appends::{Appended, Appends, SubmitReply};
use crate::session::directory::{Command, Directory, Retired};
use crate::session::loaded::{Active, Freshness, Loaded};
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
    appends: Appends,
    retry_at: Option<BootTime>,
    retry_pause: Duration,
}

/// A run whose actor panics more often than this is left to the next start.
const PANICS_MAX: u32 = 1;

impl SessionActor {
    pub(super) fn new(engine: Arc<Engine>, session: SessionRef, directory: Directory) -> Self {
        Self {
            engine,
            session,
            directory,
            loaded: None,
            endings: BTreeMap::new(),
            appends: Appends::default(),
            retry_at: None,
            retry_pause: RETRY_PAUSE_MIN,
        }
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
                appended = self.appends.next() => self.appended(appended),
                (run, left) = next_exit(&mut self.loaded, &mut self.endings) => self.run_left(run, left),
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
            || !self.appends.is_empty()
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
            Command::Reset { reply } => self.appends.reset(&self.engine, self.session, reply),
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
        let (loaded, revive) = Loaded::read(&self.engine, self.session).await?;
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

    async fn submit(&mut self, admitted: Admitted, reply: SubmitReply) {
        let Some(loaded) = &self.loaded else { return };
        if loaded.active.is_none() && loaded.queue.is_empty() && self.appends.is_empty() {
            let result = self.begin(&admitted).await;
            // A caller that left does not want to know.
            let _ = reply.send(result);
        } else if loaded.queue.len() + self.appends.len() >= self.engine.config.borrow().session_queue_max {
            let _ = reply.send(Err(RequestError::QueueFull));
        } else {
            self.appends.accept(&self.engine, &admitted, reply);
        }
    }

    /// Takes note of what the journal said to one of the session's own appends.
    fn appended(&mut self, appended: Appended) {
        match appended {
            Appended::Run { run, result, reply } => {
                self.take_note(result.as_ref().err());
                if let (Some(loaded), true) = (&mut self.loaded, result.is_ok())
                    // Read from the journal meanwhile, it is known already.
                    && !loaded.knows(run)
                {
                    loaded.queue.push_back(run);
                }
                let _ = reply.send(result.map_err(RequestError::from));
            }
            Appended::Reset { result, reply } => {
                self.take_note(result.as_ref().err());
                if let (Some(loaded), Ok(at)) = (&mut self.loaded, &result) {
                    loaded.history.reset(*at);
                }
                let _ = reply.send(result.map(drop).map_err(RequestError::from));
            }
        }
        self.begin_next();
    }

    /// After a lost answer the journal may hold more than what is known here.
    fn take_note(&mut self, error: Option<&AppendError>) {
        if let (Some(loaded), Some(AppendError::Unknown)) = (&mut self.loaded, error) {
            loaded.freshness = Freshness::Stale;
        }
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
            let (who, left) = next_exit(&mut self.loaded, &mut self.endings).await;
            self.run_left(who, left);
            leaving = who != run;
        }
        if matches!(accepted, Err(AppendError::GuardFailed { .. })) {
            // The journal knows something that is not known here: who asks next has it read again.
            self.loaded = None;
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
        if loaded.active.is_some() || self.engine.drain.has_begun() {
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

/// Resolves when one of the runs has left: with what it left, or `None` after a panic.
async fn next_exit(
    loaded: &mut Option<Loaded>,
    endings: &mut BTreeMap<RunId, LiveRun>,
) -> (RunId, Option<Left>) {
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
        Command::Reset { reply } => drop(reply.send(Err(error))),
        Command::Wake => {
            tracing::error!(%error, "a session could not be loaded from the journal");
        }
    }
}
