//! The loop of one run: gather inputs, decide, record, perform.
//!
//! Owns the run's machine and its live work: one model request, some tools. Two lanes lead in: the mailbox
//! (people, tools, timers) and the pieces of the open model request, which are read only while the journal
//! takes entries, so that a full disk holds the model back and never a cancel.
//!
//! Invariant: the machine kept here is the fold of what is committed. Begin at [`RunActor::run`].

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use palyra_ports::AppendError;
use palyra_run_core::coalesce::TextCoalescer;
use palyra_run_core::prompt::PastRun;
use palyra_run_core::{Effect, RunError, RunInput};
use palyra_types::run::{CancelReason, RunPhase};
use palyra_types::session::SessionRef;
use palyra_types::{BootTime, EffectId, Redacted, RunId};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::engine::Engine;
use crate::error::RequestError;
use crate::run::context::ContextSource;
use crate::run::draft::Draft;
use crate::run::mailbox::{
    Acceptance, Delivered, RUN_MAILBOX_MAX, RunCommand, RunExit, RunMailbox, RunSeed, TellAccepted,
};
use crate::run::perform::call_model::{LiveModelCall, ModelNews, execute_run_stream_provider_request, judge};
use crate::run::perform::execute_tool::execute_run_stream_tool_proposal;
use crate::run::record;
use crate::run::replay::replay;
use crate::run::state::AgentRunLoopState;

/// Inputs decided in one step, at most; what is left is the next step's.
const BATCH_MAX: usize = 64;
/// Bytes of one text entry: a page of a tape holds many of them, and no client has to take more at once.
const TEXT_ENTRY_BYTES_MAX: usize = 64 * 1024;
/// How long a step waits after the journal refused it for want of space or a free place in its queue.
const RETRY_PAUSE: Duration = Duration::from_millis(250);

/// A run that is being worked on.
pub(crate) struct LiveRun {
    /// The way in.
    pub(crate) mailbox: RunMailbox,
    /// How it leaves; closed without a word after a panic.
    pub(crate) exit: oneshot::Receiver<RunExit>,
}

/// Starts a run's actor.
pub(crate) fn spawn_run(
    engine: &Arc<Engine>,
    session: SessionRef,
    seed: RunSeed,
    history: Vec<PastRun>,
    first: Vec<RunCommand>,
) -> LiveRun {
    let (mailbox, commands) = mpsc::channel(RUN_MAILBOX_MAX);
    let (left, exit) = oneshot::channel();
    let own_mailbox = mailbox.clone();
    let engine = Arc::clone(engine);
    tokio::spawn(async move {
        let how = match seed {
            RunSeed::Fresh(acceptance, tell) => {
                let state = AgentRunLoopState::new(acceptance.run, session.id, session.principal);
                RunActor::new(engine, session, history, own_mailbox, state)
                    .accept(&acceptance, tell, commands)
                    .await
            }
            RunSeed::Replayed(run) => {
                resume(engine, session, history, own_mailbox, (run, first), commands).await
            }
        };
        // A session that is gone has nothing live; the next one reads the journal.
        let _ = left.send(how);
    });
    LiveRun { mailbox, exit }
}

async fn resume(
    engine: Arc<Engine>,
    session: SessionRef,
    history: Vec<PastRun>,
    own_mailbox: RunMailbox,
    (run, first): (RunId, Vec<RunCommand>),
    commands: mpsc::Receiver<RunCommand>,
) -> RunExit {
    match replay(&engine, run).await {
        Ok(state) => {
            let mut actor = RunActor::new(engine, session, history, own_mailbox, state);
            actor.held = first;
            actor.run(commands).await
        }
        Err(error) => {
            tracing::error!(%run, %error, "a run cannot be resumed");
            first.into_iter().for_each(|command| command.answer(Err(error.clone().into())));
            RunExit::Stalled
        }
    }
}

struct RunActor {
    engine: Arc<Engine>,
    session: SessionRef,
    history: Vec<PastRun>,
    own_mailbox: RunMailbox,
    state: AgentRunLoopState,
    held: Vec<RunCommand>,
    retry_at: Option<BootTime>,
    model: Option<LiveModelCall>,
    text: TextCoalescer,
    tools: BTreeMap<EffectId, CancellationToken>,
    time_limit: TimeLimit,
}

/// When the active time will be used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TimeLimit {
    Unset,
    At(BootTime),
    Reached,
}

/// How a step ended.
enum Stepped {
    Done,
    Later,
    Stop(AppendError),
}

impl RunActor {
    fn new(
        engine: Arc<Engine>,
        session: SessionRef,
        history: Vec<PastRun>,
        own_mailbox: RunMailbox,
        state: AgentRunLoopState,
    ) -> Self {
        Self {
            engine,
            session,
            history,
            own_mailbox,
            state,
            held: Vec::new(),
            retry_at: None,
            model: None,
            text: TextCoalescer::default(),
            tools: BTreeMap::new(),
            time_limit: TimeLimit::Unset,
        }
    }

    /// Accepts and begins a run in one step, then works on it.
    async fn accept(
        mut self,
        acceptance: &Acceptance,
        tell: TellAccepted,
        commands: mpsc::Receiver<RunCommand>,
    ) -> RunExit {
        self.held = vec![
            RunCommand::told(RunInput::Start(Box::new(acceptance.started.clone()))),
            RunCommand::told(RunInput::Begin),
        ];
        let error = match self.step(Some(acceptance)).await {
            Stepped::Done => {
                tell(Ok(()));
                return self.run(commands).await;
            }
            Stepped::Later => AppendError::DiskFull,
            Stepped::Stop(error) => error,
        };
        // After an unknown outcome the run may exist at the next start, which will find it.
        let unknown = error == AppendError::Unknown;
        let exit = if unknown { RunExit::Stalled } else { RunExit::NotAccepted };
        tell(Err(error));
        exit
    }

    /// Works until the run is over or waits for a person.
    async fn run(mut self, mut commands: mpsc::Receiver<RunCommand>) -> RunExit {
        loop {
            if !self.held.is_empty() && self.retry_at.is_none() {
                match self.step(None).await {
                    Stepped::Done | Stepped::Later => {}
                    Stepped::Stop(error) => return self.stall(&error),
                }
            }
            if let Some(exit) = self.leave(&mut commands) {
                return exit;
            }
            if self.held.is_empty() || self.retry_at.is_some() {
                self.receive(&mut commands).await;
            }
        }
    }

    /// Returns how to leave when nothing is left to do here.
    fn leave(&mut self, commands: &mut mpsc::Receiver<RunCommand>) -> Option<RunExit> {
        let idle = self.held.is_empty() && self.model.is_none() && self.tools.is_empty();
        if !idle || !commands.is_empty() {
            return None;
        }
        let exit = match self.state.machine.phase() {
            RunPhase::Running => return None,
            RunPhase::Finished => RunExit::Finished(self.state.past_run()),
            RunPhase::Waiting(_) | RunPhase::Queued => RunExit::Waiting,
        };
        commands.close();
        Some(exit)
    }

    fn stall(self, error: &AppendError) -> RunExit {
        tracing::error!(run = %self.state.machine.run(), %error, "a run stops until the next start");
        self.held.into_iter().for_each(|command| command.answer(Err(error.clone().into())));
        RunExit::Stalled
    }

    /// Waits for something to do, then takes all that is there.
    async fn receive(&mut self, commands: &mut mpsc::Receiver<RunCommand>) {
        let clock = Arc::clone(&self.engine.ports.clock);
        let deadline = self.next_deadline();
        let timer = async {
            match deadline {
                Some(deadline) => clock.sleep_until(deadline).await,
                None => std::future::pending().await,
            }
        };
        let open = self.retry_at.is_none();
        tokio::select! {
            biased;
            command = commands.recv() => self.held.extend(command),
            news = next_news(&mut self.model), if open && self.model.is_some() => self.take_news(news),
            () = timer => self.take_time(),
        }
        while self.held.len() < BATCH_MAX {
            let Ok(command) = commands.try_recv() else { break };
            self.held.push(command);
        }
        while open && self.held.len() < BATCH_MAX {
            let Some(news) = self.model.as_mut().and_then(|model| model.pieces.try_recv().ok()) else {
                break;
            };
            self.take_news(Some(news));
        }
    }

    fn next_deadline(&self) -> Option<BootTime> {
        if let Some(retry_at) = self.retry_at {
            return Some(retry_at);
        }
        let limit = match self.time_limit {
            TimeLimit::At(limit) => Some(limit),
            TimeLimit::Unset | TimeLimit::Reached => None,
        };
        self.text.deadline().into_iter().chain(limit).min()
    }

    fn take_time(&mut self) {
        let now = self.engine.ports.clock.boot();
        if self.retry_at.is_some_and(|retry_at| now >= retry_at) {
            self.retry_at = None;
        }
        if self.text.deadline().is_some_and(|due| now >= due) {
            let text = self.text.flush(now);
            self.hold_text(text);
        }
        if matches!(self.time_limit, TimeLimit::At(limit) if now >= limit) {
            self.time_limit = TimeLimit::Reached;
            let actor = self.session.principal;
            self.held.push(RunCommand::told(RunInput::Cancel { actor, reason: CancelReason::TimeLimit }));
        }
    }

    fn take_news(&mut self, news: Option<ModelNews>) {
        let now = self.engine.ports.clock.boot();
        let Some(attempt) = self.model.as_ref().map(|model| model.attempt) else { return };
        match news {
            Some(ModelNews::Text(text)) => {
                let text = self.engine.ports.redactor.redact(text);
                let due = self.text.push(text.expose(), now);
                self.hold_text(due);
            }
            Some(ModelNews::Answered(answer)) => {
                let text = self.text.flush(now);
                self.hold_text(text);
                let salt = self.salt();
                let proposals = answer.proposals.iter().cloned();
                let calls = proposals.map(|proposal| judge(&self.engine, &salt, proposal)).collect();
                let Some(model) = self.model.take() else { return };
                let model = model.request.model.clone();
                self.held.push(RunCommand::told(RunInput::Answered { attempt, answer, model, calls }));
            }
            Some(ModelNews::Failed(failure)) => {
                let text = self.text.flush(now);
                self.hold_text(text);
                self.model = None;
                let (class, detail) = (failure.class, failure.detail);
                self.held.push(RunCommand::told(RunInput::ModelFailed { attempt, class, detail }));
            }
            // The task ends only after an answer or a failure.
            None => {
                self.model = None;
                self.held.push(RunCommand::told(RunInput::Broken));
            }
        }
    }

    /// Holds text for the next step, in entries of at most [`TEXT_ENTRY_BYTES_MAX`]; an entry that already waits
    /// there is filled first.
    fn hold_text(&mut self, text: Option<Redacted<String>>) {
        let (Some(text), Some(model)) = (text, &self.model) else { return };
        let attempt = model.attempt;
        let mut rest = text.expose().as_str();
        if let Some(RunCommand { input: RunInput::Text { attempt: of, text: waiting }, .. }) =
            self.held.last_mut()
            && *of == attempt
        {
            let room = TEXT_ENTRY_BYTES_MAX.saturating_sub(waiting.expose().len());
            let (fits, beyond) = rest.split_at(rest.floor_char_boundary(room));
            *waiting = Redacted::new([waiting.expose().as_str(), fits].concat());
            rest = beyond;
        }
        while !rest.is_empty() {
            let (fits, beyond) = rest.split_at(rest.floor_char_boundary(TEXT_ENTRY_BYTES_MAX));
            self.held.push(RunCommand::told(RunInput::Text { attempt, text: fits.into() }));
            rest = beyond;
        }
    }

    /// Decides what is held, records it in one commit, and performs what follows.
    async fn step(&mut self, accepts: Option<&Acceptance>) -> Stepped {
        let now = self.engine.ports.clock.wall();
        let mut draft = Draft::new(&self.state, now);
        let mut answers = Vec::new();
        let source = ContextSource { engine: &self.engine, history: &self.history };
        for command in &self.held {
            answers.push(draft.decide(&command.input, &self.state, &source));
        }
        self.stop_at_once(&draft.effects);
        if !draft.events.is_empty() {
            let step = record::Step {
                run: draft.machine.run(),
                session: self.session,
                last: self.state.machine.last_tape_seq(),
                state_before: self.state.machine.state(),
                now,
                events: &draft.events,
                statics: &draft.statics,
                accepts,
            };
            match step.append(&self.engine).await {
                Ok(records) => {
                    for record in &records {
                        self.state.remember(&record.event, record.seq);
                    }
                    self.engine.hub.publish(draft.machine.run(), records);
                }
                Err(AppendError::DiskFull | AppendError::Busy) if accepts.is_none() => {
                    self.retry_at = Some(self.engine.ports.clock.boot().after(RETRY_PAUSE));
                    return Stepped::Later;
                }
                Err(error) => return Stepped::Stop(error),
            }
        }
        self.state.machine = draft.machine.clone();
        for (command, answer) in self.held.drain(..).zip(answers) {
            let delivered = Delivered { state: draft.machine.state() };
            command.answer(answer.map(|()| delivered).map_err(request_error));
        }
        self.perform(draft);
        Stepped::Done
    }

    /// Stopping is quicker than the record of it: what a cancel ends is told at once.
    fn stop_at_once(&mut self, effects: &[Effect]) {
        for effect in effects {
            match effect {
                Effect::AbortModel { .. } => self.drop_model(),
                Effect::AbortTools => self.tools.values().for_each(CancellationToken::cancel),
                Effect::AssembleContext { .. }
                | Effect::CallModel { .. }
                | Effect::Execute(_)
                | Effect::End => {}
            }
        }
    }

    fn drop_model(&mut self) {
        self.model = None;
        self.text = TextCoalescer::default();
    }

    fn perform(&mut self, draft: Draft) {
        let running: Vec<EffectId> = self.tools.keys().copied().collect();
        for effect in running {
            if !self.state.machine.is_tool_running(effect) {
                self.tools.remove(&effect);
            }
        }
        let mut request = draft.request;
        for effect in draft.effects {
            match effect {
                Effect::CallModel { attempt } => {
                    let Some(request) = request.take() else { continue };
                    self.text = TextCoalescer::default();
                    self.model = Some(execute_run_stream_provider_request(&self.engine, attempt, request));
                }
                Effect::Execute(grant) => {
                    let stop = CancellationToken::new();
                    self.tools.insert(grant.effect(), stop.clone());
                    let (engine, mailbox) = (Arc::clone(&self.engine), self.own_mailbox.clone());
                    execute_run_stream_tool_proposal(engine, grant, stop, self.salt(), mailbox);
                }
                Effect::End => self.drop_model(),
                Effect::AssembleContext { .. } | Effect::AbortModel { .. } | Effect::AbortTools => {}
            }
        }
        self.set_time_limit(draft.now);
    }

    fn set_time_limit(&mut self, now: palyra_types::Timestamp) {
        let machine = &self.state.machine;
        self.time_limit = match (self.time_limit, machine.phase()) {
            (TimeLimit::Reached, _) => TimeLimit::Reached,
            (_, RunPhase::Running) => {
                TimeLimit::At(self.engine.ports.clock.boot().after(machine.active_time_left(now)))
            }
            (_, RunPhase::Queued | RunPhase::Waiting(_) | RunPhase::Finished) => TimeLimit::Unset,
        };
    }

    fn salt(&self) -> Redacted<[u8; 32]> {
        self.state.started.as_ref().map(|started| started.run_salt.clone()).unwrap_or_default()
    }
}

async fn next_news(model: &mut Option<LiveModelCall>) -> Option<ModelNews> {
    match model {
        Some(model) => model.pieces.recv().await,
        None => std::future::pending().await,
    }
}

fn request_error(error: RunError) -> RequestError {
    match error {
        RunError::Finished => RequestError::RunFinished,
        RunError::NotWaiting => RequestError::RunNotWaiting,
        RunError::Stale | RunError::OutOfPlace => {
            RequestError::InvalidArgument { what: "the run is elsewhere by now".to_owned() }
        }
    }
}
