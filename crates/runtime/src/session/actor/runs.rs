//! How the runs of a session begin, are spoken to, are interrupted, and leave.

use palyra_context::session_history::{OvertakesEarlier, PriorContext, VisibleRun, overtakes_once_begun};
use palyra_ports::AppendError;
use palyra_ports::maintain_journal::JournalHealth;
use palyra_run_core::RunInput;
use palyra_types::RunId;
use palyra_types::run::CancelReason;
use tokio::sync::{mpsc, oneshot};

use super::{RETRY_PAUSE_MIN, SessionActor, next_exit};
use crate::error::RequestError;
use crate::run::{ActorExit, FinishedRun, RunCommand, RunExit, RunMailbox, RunSeed, StallKind, spawn_run};
use crate::session::admitted::AdmittedRun;
use crate::session::directory::{Command, SessionBinding};
use crate::session::loaded::{LiveSlot, PendingInterrupt, RecoveryAction, StateFreshness};
use crate::session::request::{AdmissionKind, SubmitReceipt};

/// A run whose actor panics more often than this is ended without it.
const PANICS_MAX: u32 = 1;

impl SessionActor {
    /// Accepts and begins a run. Whoever comes next is behind it, so it has to be in the journal first.
    pub(super) async fn begin(&mut self, admitted: &AdmittedRun) -> Result<SubmitReceipt, RequestError> {
        let run = admitted.spec.run;
        let (first_commit_tx, accepted) = oneshot::channel();
        let acceptance = Box::new(admitted.acceptance(self.engine.ports.clock.wall()));
        let Some(loaded) = &mut self.loaded else { return Err(AppendError::Unknown.into()) };
        let earlier = if admitted.resets() { PriorContext::default() } else { loaded.history.seen_by(None) };
        let seed = RunSeed::Fresh(acceptance, first_commit_tx);
        let live = spawn_run(&self.engine.runs, self.session, seed, earlier, Vec::new());
        let active = LiveSlot::new(run, None, admitted.spec.started.delivery);
        loaded.active = Some(LiveSlot { live: Some(live), ..active });
        // Without a word it panicked, and perhaps after the commit.
        let accepted = accepted.await.unwrap_or(Err(AppendError::Unknown));
        if let Ok(begun) = accepted {
            if let Some(active) = &mut loaded.active {
                active.first_seq = Some(begun.first_seq);
            }
            if admitted.resets() {
                loaded.history.clear();
            }
        }
        let mut leaving = accepted.is_err();
        while leaving {
            let (who, left) = next_exit(&mut self.loaded, &mut self.endings).await;
            self.run_left(who, left);
            leaving = who != run;
        }
        if matches!(accepted, Err(AppendError::GuardFailed { .. }))
            || (accepted.is_err() && admitted.opening.is_some())
        {
            // The journal knows something that is not known here, or was never asked: who comes next has it read.
            self.loaded = None;
        }
        let begun = accepted?;
        self.directory.mark_running(run, self.session);
        if let Some(opening) = &admitted.opening {
            self.directory.register_binding(self.session, SessionBinding::opened(opening.agent));
        }
        let mut receipt = admitted.receipt(AdmissionKind::Started);
        receipt.begun_upto = Some(begun.upto);
        self.tell_of_unreadable(&mut receipt.notes);
        Ok(receipt)
    }

    /// Takes up the run that the journal shows as active.
    pub(super) fn revive(&mut self, revival: RecoveryAction) {
        let active = self.loaded.as_mut().and_then(|loaded| loaded.active.as_mut());
        let Some(active) = active else { return };
        let recovered = RunCommand::without_reply(RunInput::Recovered);
        let first = match revival {
            RecoveryAction::GoOn => vec![recovered],
            RecoveryAction::Interrupt => {
                active.interrupted = PendingInterrupt::Yes;
                // The stop comes first, so that nothing is begun anew on the way to it.
                vec![RunCommand::without_reply(self.interruption()), recovered]
            }
        };
        self.resume(first);
    }

    /// Works on the active run again, from its tape; never on a journal that takes no entries: what a run does
    /// first after a start may have been recorded before it.
    fn resume(&mut self, first: Vec<RunCommand>) {
        if self.engine.ports.maintain.status().health == JournalHealth::Quarantined {
            for command in first {
                command.answer(Err(AppendError::Quarantined.into()));
            }
            return;
        }
        let Some(loaded) = &mut self.loaded else { return };
        let Some(active) = &mut loaded.active else { return };
        let earlier = loaded.history.seen_by(active.first_seq);
        let seed = RunSeed::Replayed(active.run);
        active.live = Some(spawn_run(&self.engine.runs, self.session, seed, earlier, first));
        self.directory.mark_running(active.run, self.session);
    }

    /// Stops the active run for another one that waits in the queue.
    pub(super) fn interrupt(&mut self) {
        let active = self.loaded.as_mut().and_then(|loaded| loaded.active.as_mut());
        let Some(active) = active else { return };
        active.interrupted = PendingInterrupt::Yes;
        let run = active.run;
        let command = RunCommand::without_reply(self.interruption());
        self.deliver(run, command);
    }

    fn interruption(&self) -> RunInput {
        RunInput::Cancel { actor: self.session.principal, reason: CancelReason::Interrupted }
    }

    pub(super) fn deliver(&mut self, run: RunId, command: RunCommand) {
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
                None => self.resume(vec![RunCommand::without_reply(RunInput::Recovered), command]),
            }
            return;
        }
        if !loaded.queue.contains(run) {
            command.answer(Err(RequestError::RunFinished));
        } else if matches!(command.input, RunInput::Cancel { .. }) {
            // It ends with its first step, beside the active run.
            let ending = spawn_run(
                &self.engine.runs,
                self.session,
                RunSeed::Replayed(run),
                PriorContext::default(),
                vec![command],
            );
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
            let Err(mpsc::error::SendError(RunCommand { input, beside, reply: Some(reply) })) =
                mailbox.send(command).await
            else {
                return;
            };
            directory.send(session, Command::Deliver { run, input: Box::new(input), beside, reply }).await;
        });
    }

    pub(super) fn run_left(&mut self, run: RunId, left: Option<ActorExit>) {
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
        if let Some(RunExit::Finished(FinishedRun { past, taints })) = exit {
            loaded.queue.remove(run);
            loaded.history.push(VisibleRun { run: past, overtakes: OvertakesEarlier::No, taints });
        }
        self.begin_next();
    }

    fn active_left(&mut self, run: RunId, exit: Option<RunExit>) {
        self.directory.clear_running(run);
        let Some(loaded) = &mut self.loaded else { return };
        let Some(active) = &mut loaded.active else { return };
        active.live = None;
        match exit {
            Some(RunExit::Finished(FinishedRun { past, taints })) => {
                self.retry_pause = RETRY_PAUSE_MIN;
                let overtakes = overtakes_once_begun(active.delivery);
                loaded.active = None;
                loaded.history.push(VisibleRun { run: past, overtakes, taints });
                if self.engine.config.borrow().compacts && loaded.history.may_need_summary() {
                    self.engine.compaction_watch.note(self.session, self.engine.ports.clock.boot());
                }
                self.engine.conversations.note_completed(self.session);
                self.begin_next();
            }
            Some(RunExit::NotAccepted) => {
                loaded.active = None;
                self.begin_next();
            }
            Some(RunExit::Waiting) => {
                self.retry_pause = RETRY_PAUSE_MIN;
                // The stop may have come when it was about to leave.
                if active.interrupted == PendingInterrupt::Yes {
                    self.interrupt();
                }
            }
            // What is known here may be behind the journal: it is read again.
            Some(RunExit::Stalled(stall)) => {
                self.loaded = None;
                if stall == StallKind::Transient {
                    self.retry_later();
                }
            }
            // Everything is torn down, and the next start finds the run as it is.
            None => {}
            Some(RunExit::Panicked) => {
                active.panics += 1;
                tracing::error!(%run, "the work on a run panicked; this is a bug");
                if active.panics <= PANICS_MAX {
                    self.resume(vec![RunCommand::without_reply(RunInput::Broken)]);
                } else {
                    self.appends.give_up(&self.engine, self.session, run);
                }
            }
        }
    }

    /// A run that nobody can work on was ended without being worked on.
    pub(super) fn given_up(&mut self, run: RunId, result: Result<(), RequestError>) {
        let Some(loaded) = &mut self.loaded else { return };
        match result {
            Ok(()) => {
                self.engine.hub.invalidate(run);
                if loaded.active.as_ref().is_some_and(|active| active.run == run) {
                    loaded.active = None;
                }
            }
            Err(error) => {
                tracing::error!(%run, %error, "a run that cannot be worked on could not be ended");
                self.loaded = None;
                self.retry_later();
            }
        }
    }

    pub(super) fn begin_next(&mut self) {
        let Some(loaded) = &mut self.loaded else { return };
        if loaded.active.is_some() || self.engine.drain.has_begun() {
            return;
        }
        match loaded.freshness {
            StateFreshness::Fresh => {}
            StateFreshness::Stale => {
                self.loaded = None;
                self.retry_later();
                return;
            }
            StateFreshness::Erased => {
                self.loaded = None;
                self.retry_at = Some(self.engine.ports.clock.boot());
                return;
            }
        }
        let endings = &self.endings;
        if let Some(next) = loaded.queue.take_next(|run| !endings.contains_key(&run)) {
            loaded.active = Some(LiveSlot::new(next.run, Some(next.first_seq), next.delivery));
            self.resume(vec![RunCommand::without_reply(RunInput::Begin)]);
        }
    }
}
