//! The loop of one run: gather inputs, decide, record, perform.
//!
//! Owns the run's machine and its live work: one model request, some tools. Two lanes lead in: the mailbox
//! (people, tools, timers) and the pieces of the open model request, which are read only while the journal
//! takes entries, so that a full disk holds the model back and never a cancel.
//!
//! Invariant: the machine kept here is the fold of what is committed. Begin at [`RunActor::run`].

use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use palyra_admin::budgets::{BudgetMode, BudgetStep, RunBudget};
use palyra_admin::healing::RunMarker;
use palyra_background::LoopTimer;
use palyra_context::session_history::PriorContext;
use palyra_governance::AnswerProgress;
use palyra_ports::AppendError;
use palyra_run_core::{BudgetWake, Effect, RunError, RunInput};
use palyra_types::approval::ApprovalState;
use palyra_types::run::{CancelReason, RunPhase, WaitReason};
use palyra_types::session::SessionRef;
use palyra_types::{Attempt, BootTime, EffectId, Redacted};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::error::RequestError;
use crate::run::answer::{JudgedProposals, LiveAnswer, StreamProgress};
use crate::run::call_evaluator::{CallEvaluator, salt_of};
use crate::run::context::RequestSource;
use crate::run::draft::StepDraft;
use crate::run::input_queue::InputQueue;
use crate::run::mailbox::{
    ActorExit, DeliveryReceipt, FirstCommit, FirstCommitReply, RUN_MAILBOX_MAX, RunAcceptance, RunCommand,
    RunExit, RunMailbox, RunSeed, StallKind,
};
use crate::run::perform::call_model::{ModelStreamEvent, execute_run_stream_provider_request};
use crate::run::perform::execute_tool::execute_run_stream_tool_proposal;
use crate::run::perform::prepare_tool::prepare_run_stream_tool_proposal;
use crate::run::printing::PrintingCalls;
use crate::run::record;
use crate::run::replay::replay;
use crate::run::state::AgentRunLoopState;
use crate::run_context::RunContext;

/// How long a step waits after the journal refused it for want of space or a free place in its queue.
const RETRY_PAUSE: Duration = Duration::from_millis(250);

/// Told when the machine refuses arguments that nothing here refused.
const EDIT_REFUSED: &str =
    "several people have to say yes to the same call; deny it, and say how it should be";

/// A run that is being worked on.
pub(crate) struct LiveRun {
    /// The way in.
    pub(crate) mailbox: RunMailbox,
    /// How it leaves; closed without a word when everything is torn down.
    pub(crate) exit: oneshot::Receiver<ActorExit>,
}

/// Starts a run's actor.
pub(crate) fn spawn_run(
    run_context: &Arc<RunContext>,
    session: SessionRef,
    seed: RunSeed,
    earlier: PriorContext,
    first: Vec<RunCommand>,
) -> LiveRun {
    let (mailbox, mut commands) = mpsc::channel(RUN_MAILBOX_MAX);
    let (left, exit) = oneshot::channel();
    let own_mailbox = mailbox.clone();
    let run_context = Arc::clone(run_context);
    let working = run_context.drain.work();
    let work = async move {
        match seed {
            RunSeed::Fresh(acceptance, first_commit_tx) => {
                let state = AgentRunLoopState::new(acceptance.run, session.id, session.principal);
                let read = acceptance.started.compaction;
                let earlier = run_context.ports.conversations.prior(session, earlier, read).await;
                let mut actor = RunActor::new(run_context, session, earlier, own_mailbox, state);
                actor.first_commit_tx = Some(first_commit_tx);
                actor.accept(&acceptance, &mut commands).await
            }
            RunSeed::Replayed(run) => match replay(&run_context, run).await {
                Ok(state) => {
                    let read = state.started.as_ref().and_then(|started| started.compaction);
                    let earlier = run_context.ports.conversations.prior(session, earlier, read).await;
                    let mut actor = RunActor::new(run_context, session, earlier, own_mailbox, state);
                    first.into_iter().for_each(|command| actor.take_command(command));
                    actor.run(&mut commands).await
                }
                Err(error) => {
                    tracing::error!(%run, %error, "a run cannot be resumed");
                    first.into_iter().for_each(|command| command.answer(Err(error.clone().into())));
                    for command in close(&mut commands).await {
                        command.answer(Err(error.clone().into()));
                    }
                    ActorExit { exit: RunExit::Stalled(StallKind::of_read(&error)), commands: Vec::new() }
                }
            },
        }
    };
    tokio::spawn(async move {
        let _working = working;
        let how = AssertUnwindSafe(work).catch_unwind().await;
        let how = how.unwrap_or_else(|_| ActorExit { exit: RunExit::Panicked, commands: Vec::new() });
        // A session that is gone has nothing live; the next one reads the journal.
        let _ = left.send(how);
    });
    LiveRun { mailbox, exit }
}

/// Closes a mailbox; returns what came in at the last moment, so that nobody speaks to a run that has left.
async fn close(commands: &mut mpsc::Receiver<RunCommand>) -> Vec<RunCommand> {
    commands.close();
    let mut late = Vec::new();
    while let Some(command) = commands.recv().await {
        late.push(command);
    }
    late
}

/// The worker on one run.
pub(super) struct RunActor {
    pub(super) run_context: Arc<RunContext>,
    pub(super) session: SessionRef,
    pub(super) earlier: PriorContext,
    pub(super) own_mailbox: RunMailbox,
    pub(super) state: AgentRunLoopState,
    pub(super) inputs: InputQueue,
    /// Who waits for the first commit of a run that is being accepted.
    first_commit_tx: Option<FirstCommitReply>,
    retry_at: Option<BootTime>,
    alarm: LoopTimer,
    model: Option<LiveAnswer>,
    pause: Option<RetryPause>,
    /// Calls that have not reported yet.
    tools: BTreeSet<EffectId>,
    /// Calls whose ends were not reported here yet, also those that the machine does not wait for any more.
    performed: BTreeSet<EffectId>,
    /// What they print meanwhile.
    printing: PrintingCalls,
    /// Calls of which it is being found out what they would do.
    preparing: BTreeSet<EffectId>,
    /// Answers to approvals for which the same is being found out again.
    pub(super) answering: usize,
    /// Stops every tool of the run.
    pub(super) stop: CancellationToken,
    /// Stops them also when nobody is left to hear of them.
    _stop_when_dropped: DropGuard,
    time_limit: TimeLimit,
    /// How far it is, for self-healing.
    marker: RunMarker,
    /// Whether a step of this run was refused as not valid.
    broken: bool,
}

/// When the active time will be used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TimeLimit {
    Unset,
    At(BootTime),
    Reached,
}

/// A pause before the model is asked again.
#[derive(Debug, Clone, Copy)]
struct RetryPause {
    /// The attempt that failed.
    attempt: Attempt,
    until: BootTime,
}

/// How a step ended.
enum StepOutcome {
    Done,
    Later,
    Stop(AppendError),
}

impl RunActor {
    fn new(
        run_context: Arc<RunContext>,
        session: SessionRef,
        earlier: PriorContext,
        own_mailbox: RunMailbox,
        state: AgentRunLoopState,
    ) -> Self {
        let stop = CancellationToken::new();
        let marker = run_context.hub.board.begin(state.machine.run());
        Self {
            marker,
            run_context,
            session,
            earlier,
            own_mailbox,
            state,
            inputs: InputQueue::default(),
            first_commit_tx: None,
            retry_at: None,
            alarm: LoopTimer::default(),
            model: None,
            pause: None,
            tools: BTreeSet::new(),
            performed: BTreeSet::new(),
            printing: PrintingCalls::default(),
            preparing: BTreeSet::new(),
            answering: 0,
            _stop_when_dropped: stop.clone().drop_guard(),
            stop,
            time_limit: TimeLimit::Unset,
            broken: false,
        }
    }

    /// Accepts and begins a run in one step, then works on it.
    async fn accept(
        mut self,
        acceptance: &RunAcceptance,
        commands: &mut mpsc::Receiver<RunCommand>,
    ) -> ActorExit {
        self.inputs.tell(RunInput::Start(Box::new(acceptance.started.clone())));
        let offer = acceptance.client_tools.clone().map(Box::new);
        offer.into_iter().for_each(|offer| self.inputs.tell(RunInput::OfferClientTools(offer)));
        self.inputs.tell(RunInput::Begin);
        let error = match self.step(Some(acceptance)).await {
            StepOutcome::Done => return self.run(commands).await,
            StepOutcome::Later => AppendError::DiskFull,
            StepOutcome::Stop(error) => error,
        };
        // After an unknown outcome the run may exist; who reads the journal again will see.
        let unknown = error == AppendError::Unknown;
        let exit = if unknown { RunExit::Stalled(StallKind::Transient) } else { RunExit::NotAccepted };
        self.tell(Err(error));
        ActorExit { exit, commands: close(commands).await }
    }

    /// Works until the run is over or waits for a person.
    async fn run(mut self, commands: &mut mpsc::Receiver<RunCommand>) -> ActorExit {
        loop {
            if !self.inputs.is_empty() && self.retry_at.is_none() {
                match self.step(None).await {
                    StepOutcome::Done | StepOutcome::Later => {}
                    StepOutcome::Stop(error) => return self.stall(&error, commands).await,
                }
            }
            if commands.is_empty()
                && let Some(exit) = self.leave()
            {
                return ActorExit { exit, commands: close(commands).await };
            }
            if self.inputs.is_empty() || self.retry_at.is_some() {
                self.receive(commands).await;
            }
        }
    }

    /// Returns how to leave when nothing is left to do here.
    fn leave(&self) -> Option<RunExit> {
        let prepares = !self.preparing.is_empty() || self.answering > 0;
        if !self.inputs.is_empty() || self.model.is_some() || !self.tools.is_empty() || prepares {
            return None;
        }
        match self.state.machine.phase() {
            // Only asking a model is left to do, and that is for the next start.
            RunPhase::Running if self.run_context.drain.has_begun() => {
                Some(RunExit::Stalled(StallKind::Fatal))
            }
            RunPhase::Running => None,
            RunPhase::Finished => Some(RunExit::Finished(
                self.state.finished_run(&self.run_context.zone_of(self.session.principal)),
            )),
            RunPhase::Waiting(_) | RunPhase::Queued => Some(RunExit::Waiting),
        }
    }

    async fn stall(mut self, error: &AppendError, commands: &mut mpsc::Receiver<RunCommand>) -> ActorExit {
        tracing::error!(run = %self.state.machine.run(), %error, "the work on a run stops");
        if *error == AppendError::Unknown {
            self.run_context.views.grants.doubt();
        }
        // Of an unknown outcome they may find more there than was shown.
        self.run_context.hub.invalidate(self.state.machine.run());
        self.run_context.hub.close_on_fatal(error);
        // The append that finds the journal damaged is told that its outcome is unknown, and no other may follow.
        if self.run_context.is_journal_quarantined() {
            self.run_context.hub.close_on_fatal(&AppendError::Quarantined);
        }
        self.inputs.refuse(error);
        self.stop_calls(error, commands).await;
        for command in close(commands).await {
            command.answer(Err(error.clone().into()));
        }
        ActorExit { exit: RunExit::Stalled(StallKind::of_append(error)), commands: Vec::new() }
    }

    /// Stops the calls that are performed and waits for their ends: the next worker records that their outcomes are unknown, and
    /// none of them may act behind that.
    async fn stop_calls(&mut self, error: &AppendError, commands: &mut mpsc::Receiver<RunCommand>) {
        self.stop.cancel();
        while !self.performed.is_empty() {
            let Some(command) = commands.recv().await else { return };
            self.note_call_end(&command.input);
            command.answer(Err(error.clone().into()));
        }
    }

    fn note_call_end(&mut self, input: &RunInput) {
        if let RunInput::ToolFinished { effect, .. } | RunInput::ToolOutcomeLost { effect, .. } = input {
            self.performed.remove(effect);
        }
    }

    /// Waits for something to do, then takes all that is there.
    async fn receive(&mut self, commands: &mut mpsc::Receiver<RunCommand>) {
        let clock = Arc::clone(&self.run_context.ports.clock);
        let deadline = self.next_deadline();
        let alarm = &mut self.alarm;
        let timer = async {
            match deadline {
                Some(deadline) => alarm.ring(&*clock, deadline).await,
                None => std::future::pending().await,
            }
        };
        let open = self.retry_at.is_none();
        let drain = self.run_context.drain.clone();
        tokio::select! {
            biased;
            Some(command) = commands.recv(), if !self.inputs.is_full() => self.take_command(command),
            news = next_news(&mut self.model), if open && self.model.is_some() => self.on_model_event(news),
            () = self.printing.news() => {}
            () = drain.begun(), if !drain.has_begun() => {}
            () = timer => {}
        }
        while !self.inputs.is_a_batch() {
            let Ok(command) = commands.try_recv() else { break };
            self.take_command(command);
        }
        while open && !self.inputs.is_a_batch() {
            let Some(news) = self.model.as_mut().and_then(LiveAnswer::next_ready) else { break };
            self.on_model_event(Some(news));
        }
        // Not only when the timer wins: a model that never pauses must not outlast its time.
        self.take_time();
    }

    /// Holds a command; a wish to stop does not wait for the next try.
    fn take_command(&mut self, command: RunCommand) {
        if let RunInput::ToolPrepared { effect, .. } = &command.input {
            self.preparing.remove(effect);
        }
        self.note_call_end(&command.input);
        // What was printed is recorded before what came of it.
        self.printing.end(&command.input, self.run_context.ports.clock.boot(), &mut self.inputs);
        let Some(mut command) = self.reprepare(command) else { return };
        if let RunInput::ClientToolsAnswered(results) = &mut command.input {
            // What the client offers again is on the tape.
            results.offer =
                results.offer.take().filter(|offer| self.state.client_tools.as_deref() != Some(offer));
        }
        if matches!(command.input, RunInput::Cancel { .. }) {
            self.retry_at = None;
            if let Some(model) = &mut self.model {
                // What was said before the wish to stop is recorded before it.
                model.end(self.run_context.ports.clock.boot(), &mut self.inputs);
            }
        }
        self.inputs.push(command);
    }

    fn next_deadline(&self) -> Option<BootTime> {
        if let Some(retry_at) = self.retry_at {
            return Some(retry_at);
        }
        let limit = match self.time_limit {
            TimeLimit::At(limit) => Some(limit),
            TimeLimit::Unset | TimeLimit::Reached => None,
        };
        let words = self.model.as_ref().and_then(LiveAnswer::deadline);
        let pause = self.pause.map(|pause| pause.until);
        words.into_iter().chain(self.printing.deadline()).chain(pause).chain(limit).min()
    }

    fn take_time(&mut self) {
        let now = self.run_context.ports.clock.boot();
        if self.retry_at.is_some_and(|retry_at| now >= retry_at) {
            self.retry_at = None;
        }
        if let Some(model) = &mut self.model {
            model.take_time(now, &mut self.inputs);
        }
        // While the journal takes nothing, it gathers where it is printed.
        if self.retry_at.is_none() {
            self.printing.take_time(now, &mut self.inputs);
        }
        if let Some(RetryPause { attempt, .. }) = self.pause.take_if(|pause| now >= pause.until) {
            self.inputs.tell(RunInput::RetryDue { attempt });
        }
        if matches!(self.time_limit, TimeLimit::At(limit) if now >= limit) {
            self.time_limit = TimeLimit::Reached;
            let actor = self.session.principal;
            self.inputs.tell(RunInput::Cancel { actor, reason: CancelReason::TimeLimit });
        }
    }

    fn on_model_event(&mut self, news: Option<ModelStreamEvent>) {
        self.marker.received();
        let now = self.run_context.ports.clock.boot();
        if let Some(ModelStreamEvent::Compacted(read, summary)) = news {
            self.earlier.read_summary(read, Some(summary));
            return;
        }
        let (run_context, session, taints) = (&self.run_context, self.session, self.earlier.taints);
        let state = &self.state;
        let judge = |proposals| {
            let mut evaluator = CallEvaluator::of_run(run_context, state, session, taints);
            if state.machine.client_tools().is_offered() {
                JudgedProposals::of_client(evaluator.cleaned(proposals))
            } else {
                JudgedProposals::of_tools(evaluator.proposals(proposals))
            }
        };
        let heard = match (news, &mut self.model) {
            (Some(news), Some(model)) => model.take(news, now, run_context, judge, &mut self.inputs),
            // The task ends only after an answer or a failure.
            (None, Some(_)) => {
                self.inputs.tell(RunInput::Broken);
                StreamProgress::Over
            }
            (_, None) => return,
        };
        match heard {
            StreamProgress::Open => {}
            StreamProgress::Over => self.model = None,
        }
        self.mark_effects();
    }

    /// Decides what is held, records it in one commit, and performs what follows.
    async fn step(&mut self, accepts: Option<&RunAcceptance>) -> StepOutcome {
        let budget = match self.begin_budget(accepts).await {
            Ok(budget) => budget,
            Err(error) => return self.refused(error, accepts),
        };
        let now = self.run_context.ports.clock.wall();
        self.judge_answers();
        self.judge_prepared();
        let mut draft = StepDraft::new(&self.state, self.session, self.earlier.taints, budget, now);
        let mut answers = Vec::new();
        let zone = self.run_context.zone_of(self.session.principal);
        let source = RequestSource { run_context: &self.run_context, earlier: &self.earlier, zone };
        for command in self.inputs.batch() {
            answers.push(draft.take(command, &self.state, &source));
        }
        self.stop_at_once(&draft.effects);
        let budget = draft.budget.take_step(&draft.events);
        if !draft.events.is_empty() {
            let step = record::StepRecord {
                run: draft.machine.run(),
                session: self.session,
                last: self.state.machine.last_tape_seq(),
                state_before: self.state.machine.state(),
                now,
                events: &draft.events,
                statics: &draft.statics,
                blobs: &draft.blobs,
                actors: &draft.actors,
                beside: budget.as_ref().map(|budget| budget.entries(now)).unwrap_or_default(),
                accepts,
            };
            match step.append(&self.run_context).await {
                Ok(records) => {
                    budget.into_iter().for_each(BudgetStep::committed);
                    for record in &records {
                        self.state.remember(&record.event, record.time, record.seq);
                    }
                    self.run_context.committed(&records);
                    self.run_context.hub.publish(draft.machine.run(), records);
                }
                Err(AppendError::GuardFailed { index }) if step.grant_at(index).is_some() => {
                    let gone = step.grant_at(index);
                    self.reevaluate_without_grant(gone);
                    return StepOutcome::Later;
                }
                Err(error) => {
                    if error == AppendError::Unknown {
                        budget.into_iter().for_each(BudgetStep::in_doubt);
                    }
                    return self.refused(error, accepts);
                }
            }
        }
        self.state.machine = draft.machine.clone();
        let budgets = &self.run_context.views.budgets;
        match self.state.machine.phase() {
            RunPhase::Waiting(WaitReason::Budget) => draft.budget.note_wait(budgets),
            RunPhase::Finished => budgets.forget(draft.machine.run()),
            RunPhase::Queued | RunPhase::Running | RunPhase::Waiting(_) => {}
        }
        for (command, answer) in self.inputs.take(answers.len()).zip(answers) {
            let delivered = DeliveryReceipt { state: draft.machine.state() };
            command.answer(answer.map(|()| delivered).map_err(request_error));
        }
        let first_seq = self.state.first_seq.unwrap_or_default();
        self.tell(Ok(FirstCommit { first_seq, upto: self.state.machine.last_tape_seq() }));
        // Last, so that the model is asked before those who were told take their turns.
        self.perform(draft);
        StepOutcome::Done
    }

    /// Tells whoever waits for the first commit what became of it.
    fn tell(&mut self, accepted: Result<FirstCommit, AppendError>) {
        if let Some(first_commit_tx) = self.first_commit_tx.take() {
            // A session that is gone has nobody to tell.
            let _ = first_commit_tx.send(accepted);
        }
    }

    /// Begins what a step reserves and ends.
    async fn begin_budget(&mut self, accepts: Option<&RunAcceptance>) -> Result<RunBudget, AppendError> {
        let mut batch = self.inputs.batch().iter();
        let once = batch.any(|it| matches!(it.input, RunInput::BudgetDue(BudgetWake::GoOnOnce)));
        let mode = if once { BudgetMode::GoOnOnce } else { BudgetMode::Limited };
        let started = accepts.map(|acceptance| &acceptance.started).or(self.state.started.as_ref());
        let schedule = self.run_context.views.occurrences.schedule_of(started.and_then(|it| it.idempotency));
        let budget = RunBudget::new(self.session, self.state.machine.run(), started).of_schedule(schedule);
        let begun = self.state.machine.has_answer_begun();
        let progress = if begun { AnswerProgress::Begun } else { AnswerProgress::Nothing };
        let run_context = Arc::clone(&self.run_context);
        budget.begin(&run_context.views.budgets, mode, progress, &run_context.ports.zones).await
    }

    /// Says how to go on after the journal did not take a step.
    fn refused(&mut self, error: AppendError, accepts: Option<&RunAcceptance>) -> StepOutcome {
        if accepts.is_some() {
            return StepOutcome::Stop(error);
        }
        match error {
            AppendError::DiskFull => self.inputs.reject_pending(),
            AppendError::Busy => {}
            // The run's own fault, and it fails for it; if it cannot even say that, it stops.
            AppendError::Invalid { what } if !self.broken => {
                tracing::error!(run = %self.state.machine.run(), what, "a step is not valid; this is a bug");
                self.broken = true;
                self.inputs.refuse(&error);
                self.inputs.tell(RunInput::Broken);
                return StepOutcome::Later;
            }
            AppendError::GuardFailed { .. }
            | AppendError::Quarantined
            | AppendError::Unknown
            | AppendError::Fenced
            | AppendError::Invalid { .. }
            | AppendError::Closed => return StepOutcome::Stop(error),
        }
        self.retry_at = Some(self.run_context.ports.clock.boot().after(RETRY_PAUSE));
        StepOutcome::Later
    }

    /// Stopping is quicker than the record of it: what a cancel ends is told at once.
    fn stop_at_once(&mut self, effects: &[Effect]) {
        for effect in effects {
            match effect {
                Effect::AbortModel { .. } => self.model = None,
                Effect::AbortTools => self.stop.cancel(),
                Effect::AssembleContext { .. }
                | Effect::Judge(_)
                | Effect::CallModel { .. }
                | Effect::RetryAt { .. }
                | Effect::Prepare(_)
                | Effect::Execute(_)
                | Effect::End => {}
            }
        }
    }

    fn perform(&mut self, draft: StepDraft) {
        let machine = &self.state.machine;
        self.tools.retain(|effect| machine.is_tool_running(*effect));
        self.printing.retain(|effect| machine.shows_output(effect));
        let pausing = machine.pausing_after();
        self.pause = self.pause.filter(|pause| pausing == Some(pause.attempt));
        self.mark_effects();
        let mut request = draft.request;
        for effect in draft.effects {
            match effect {
                // A later input of the same step may have ended what an earlier one began.
                Effect::CallModel { attempt }
                    if machine.open_attempt() == Some(attempt) && !self.run_context.drain.has_begun() =>
                {
                    let Some(request) = request.take() else { continue };
                    let call = execute_run_stream_provider_request(
                        &self.run_context,
                        self.session,
                        machine.run(),
                        attempt,
                        request,
                    );
                    self.model = Some(LiveAnswer::new(call, &self.run_context));
                }
                Effect::RetryAt { attempt, at } if pausing == Some(attempt) => {
                    self.marker.begin_effect(at.since(draft.now));
                    let until = self.run_context.ports.clock.boot().after(at.since(draft.now));
                    self.pause = Some(RetryPause { attempt, until });
                }
                Effect::Prepare(intent)
                    if machine.preparing().iter().any(|(effect, _)| *effect == intent.effect()) =>
                {
                    self.preparing.insert(intent.effect());
                    let intent = self.intent_by_rules(intent);
                    let (run_context, mailbox) = (Arc::clone(&self.run_context), self.own_mailbox.clone());
                    prepare_run_stream_tool_proposal(run_context, intent, self.bound(), mailbox);
                }
                Effect::Execute(grant) if machine.is_tool_running(grant.effect()) => {
                    self.tools.insert(grant.effect());
                    self.performed.insert(grant.effect());
                    self.marker.begin_effect(grant.deadline());
                    let (run_context, mailbox) = (Arc::clone(&self.run_context), self.own_mailbox.clone());
                    let output = self.printing.begin(grant.effect(), &run_context.ports.redactor);
                    let (stop, salt) = (self.stop.clone(), self.salt());
                    execute_run_stream_tool_proposal(run_context, grant, stop, salt, output, mailbox);
                }
                Effect::End => self.model = None,
                Effect::CallModel { .. }
                | Effect::RetryAt { .. }
                | Effect::Prepare(_)
                | Effect::Execute(_)
                | Effect::AssembleContext { .. }
                | Effect::Judge(_)
                | Effect::AbortModel { .. }
                | Effect::AbortTools => {}
            }
        }
        self.mark_effects();
        self.set_time_limit(draft.now);
    }

    /// Shows self-healing what the run is at.
    fn mark_effects(&self) {
        self.marker.show_phase(self.state.machine.phase());
        self.marker.show(self.model.iter().count(), self.tools.len() + self.pause.iter().count());
    }

    fn set_time_limit(&mut self, now: palyra_types::Timestamp) {
        let machine = &self.state.machine;
        self.time_limit = match (self.time_limit, machine.phase()) {
            (TimeLimit::Reached, _) => TimeLimit::Reached,
            (_, RunPhase::Running) => {
                TimeLimit::At(self.run_context.ports.clock.boot().after(machine.active_time_left(now)))
            }
            (_, RunPhase::Queued | RunPhase::Waiting(_) | RunPhase::Finished) => TimeLimit::Unset,
        };
    }

    pub(super) fn salt(&self) -> Redacted<[u8; 32]> {
        salt_of(self.state.started.as_ref())
    }
}

async fn next_news(model: &mut Option<LiveAnswer>) -> Option<ModelStreamEvent> {
    match model {
        Some(model) => model.next().await,
        None => std::future::pending().await,
    }
}

fn request_error(error: RunError) -> RequestError {
    match error {
        RunError::Finished => RequestError::RunFinished,
        RunError::NotWaiting => RequestError::RunNotWaiting,
        // Who asked reads how, and by whom.
        RunError::ApprovalDecided => {
            RequestError::ApprovalDecided { state: ApprovalState::Withdrawn, by: None }
        }
        RunError::NotEligible => RequestError::ApproverNotEligible,
        RunError::EditRefused => RequestError::EditRefused { what: EDIT_REFUSED.to_owned() },
        RunError::EffectNotUnknown => RequestError::EffectNotUnknown,
        RunError::Stale | RunError::OutOfPlace => {
            RequestError::InvalidArgument { what: "the run is elsewhere by now".to_owned() }
        }
    }
}
