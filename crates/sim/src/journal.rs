//! A journal that can do everything a real one can do to its callers.
//!
//! Owns the queue between an append and its commit, and the time between a commit and its answer; the entries lie in
//! the journal of the test kit. Invariant: appends take place in the order in which they were asked for, and only a
//! [`Mutation`](crate::Mutation) answers before the commit. Begin at [`SimJournal::append`](AppendTape::append).

mod queue;

mod reads;

mod erasures;

mod observed_rows;

use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use futures::channel::oneshot;
use futures::future::{BoxFuture, ready};
use palyra_ports::{
    AppendClass, AppendError, AppendTape, Clock, CommitReceipt, JournalAppendRequest, NewEntry,
};
use palyra_testkit::MemoryJournal;
use palyra_types::budget::{AccountEvent, BudgetEvent, LimitMeasure};
use palyra_types::event::{JournalEvent, RunEvent, TapeEvent};
use palyra_types::queued_task::{AttemptEnd, TaskAttemptEnded, TaskEvent, TaskFollowUp};
use palyra_types::{BootTime, Redacted, RunId};

use crate::fault::{Fault, Phase};
use crate::mutation::Mutation;
use crate::world::SimWorld;
use queue::{AppendVerdict, DiskRoom, JournalState, QueuedAppend};

/// Steps that a late append or a late answer takes, at most.
const LATE_STEPS_MAX: u64 = 40;
/// Time that a late append takes, at most.
const LATE_SPAN_MAX: Duration = Duration::from_secs(4);
/// How long a disk stays full, at most.
const FULL_SPAN_MAX: Duration = Duration::from_secs(3);

/// The journal of one story; clones are the same one.
#[derive(Clone)]
pub(crate) struct SimJournal {
    world: Arc<SimWorld>,
    memory: MemoryJournal,
    state: Arc<Mutex<JournalState>>,
}

impl SimJournal {
    pub(crate) fn new(world: Arc<SimWorld>) -> Self {
        let journal = Self { world, memory: MemoryJournal::new(), state: Arc::default() };
        journal.show_oracle();
        journal
    }

    /// Returns the journal that lies below.
    pub(crate) fn memory(&self) -> &MemoryJournal {
        &self.memory
    }

    /// Does one step's worth of work; returns what is left.
    pub(crate) fn work(&self) -> JournalProgress {
        let answers = self.lock().answers_due();
        let mut done = !answers.is_empty();
        for (answer, result) in answers {
            // A caller that left does not want to know.
            let _ = answer.send(result);
        }
        let now = self.world.clock.boot();
        let due = self.lock().due(now);
        if let Some(append) = due {
            done = true;
            self.commit(append);
        }
        let state = self.lock();
        if done {
            JournalProgress::Done
        } else if state.is_empty() {
            JournalProgress::Nothing
        } else if let Some(at) = state.waits_until(now) {
            JournalProgress::At(at)
        } else {
            JournalProgress::Now
        }
    }

    /// Ends everything that full disks and busy queues hold up.
    pub(crate) fn mend(&self) {
        self.lock().disk = DiskRoom::Roomy;
    }

    /// Returns whether nothing is written until the next start.
    pub(crate) fn is_quarantined(&self) -> bool {
        self.lock().quarantined
    }

    /// The daemon is gone: what was not committed is lost, or appears after all. Returns the journal that the next
    /// start opens.
    pub(crate) fn reopened(&self) -> Self {
        let (left, limbo) = self.lock().died();
        self.world.oracle().starts_are_over(left.iter().filter(|append| append.starts).count());
        for run in left.iter().flat_map(|append| append.ends) {
            self.world.oracle().end_did_not_come(run);
        }
        for (request, verdict) in limbo {
            if verdict == AppendVerdict::Kept {
                let _ = self.apply(request);
            }
        }
        // What was on its way to the disk may have reached it.
        let kept = self.world.dice.index(left.len() + 1);
        let kept = if self.world.dice.below(3) == 0 { kept } else { 0 };
        for append in left.into_iter().take(kept) {
            let _ = self.apply(append.request);
        }
        let memory = self.memory.restarted();
        let journal = Self { world: Arc::clone(&self.world), memory, state: Arc::default() };
        journal.show_oracle();
        journal
    }

    fn lock(&self) -> MutexGuard<'_, JournalState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Decides what becomes of an append when its turn comes.
    fn judge(&self, phase: Phase) -> AppendVerdict {
        let world = &self.world;
        if world.strikes(Fault::UnknownLost, phase) {
            AppendVerdict::Lost
        } else if world.strikes(Fault::UnknownKept, phase) {
            AppendVerdict::Kept
        } else if world.strikes(Fault::QuarantinedLost, phase) {
            AppendVerdict::QuarantineLost
        } else if world.strikes(Fault::QuarantinedKept, phase) {
            AppendVerdict::QuarantineKept
        } else if world.mutates(Mutation::LosesCommits) && world.dice.below(12) == 0 {
            AppendVerdict::Pretended
        } else {
            AppendVerdict::Committed
        }
    }

    /// The disk may become full by this append, or be full already.
    fn has_room(&self, class: AppendClass, phase: Phase) -> bool {
        let now = self.world.clock.boot();
        if self.lock().disk.ends().is_some_and(|until| now >= until) || self.world.is_calm() {
            self.mend();
        }
        let disk = self.lock().disk;
        if disk == DiskRoom::Roomy {
            let until = now.after(self.world.dice.span(FULL_SPAN_MAX));
            if self.world.strikes(Fault::DiskFull, phase) {
                self.lock().disk = DiskRoom::Full(until);
            } else if class == AppendClass::Normal && self.world.strikes(Fault::DiskFullForNewWork, phase) {
                self.lock().disk = DiskRoom::EndingsOnly(until);
            }
            return self.lock().disk.takes(class);
        }
        let takes = disk.takes(class);
        if !takes {
            let fault =
                if matches!(disk, DiskRoom::Full(_)) { Fault::DiskFull } else { Fault::DiskFullForNewWork };
            self.world.struck(fault, phase);
        }
        takes
    }

    fn commit(&self, append: QueuedAppend) {
        let QueuedAppend { request, phase, answer, starts, ends, .. } = append;
        if starts {
            self.world.oracle().starts_are_over(1);
        }
        let (memory, class) = (request.clone(), request.class);
        let result = if self.is_quarantined() {
            Err(AppendError::Quarantined)
        } else if !self.has_room(class, phase) {
            Err(AppendError::DiskFull)
        } else {
            match self.judge(phase) {
                AppendVerdict::Committed => self.apply(memory),
                AppendVerdict::Lost => Err(AppendError::Unknown),
                AppendVerdict::Kept => self.apply(memory).and(Err(AppendError::Unknown)),
                AppendVerdict::Pretended => {
                    Ok(CommitReceipt { first_seq: palyra_types::Seq(self.memory_entries()) })
                }
                verdict @ (AppendVerdict::QuarantineLost | AppendVerdict::QuarantineKept) => {
                    let verdict = if verdict == AppendVerdict::QuarantineKept {
                        AppendVerdict::Kept
                    } else {
                        AppendVerdict::Lost
                    };
                    self.lock().quarantine(memory, verdict);
                    Err(AppendError::Unknown)
                }
            }
        };
        if result.is_err() {
            ends.into_iter().for_each(|run| self.world.oracle().end_did_not_come(run));
        }
        self.world.note(format_args!(
            "= append of {} while {}: {result:?}",
            request.entries.len(),
            phase.name()
        ));
        let late = if self.world.strikes(Fault::AnswerLate, phase) {
            self.world.dice.below(LATE_STEPS_MAX)
        } else {
            self.world.dice.below(3)
        };
        if let Some(answer) = answer {
            self.lock().answer(answer, result, late);
        }
    }

    /// Puts entries into the journal, and shows them to the oracle in the same moment.
    fn apply(&self, mut request: JournalAppendRequest) -> Result<CommitReceipt, AppendError> {
        if self.world.mutates(Mutation::ForgetsKeys) {
            forget_keys(&mut request);
        }
        if self.world.mutates(Mutation::LosesCharges) {
            lose_charges(&mut request);
        }
        if self.world.mutates(Mutation::ForgetsWhoIsActive) {
            request.guards.retain(|guard| !matches!(guard, palyra_ports::Guard::NoOtherRunInProgress { .. }));
        }
        if self.world.mutates(Mutation::LosesLeases) {
            request.entries.retain(|entry| leased_again(&entry.event).is_none());
            if request.entries.is_empty() {
                return Ok(CommitReceipt { first_seq: palyra_types::Seq(self.memory_entries()) });
            }
        }
        let leased = request.entries.iter().rfind(|entry| leased_again(&entry.event) == Some(true)).cloned();
        let end = request.entries.iter().rfind(|entry| is_end(&entry.event)).cloned();
        let charged = request.entries.iter().rfind(|entry| is_charge(&entry.event)).cloned();
        let result = self.memory.append(request).now_or_never().unwrap_or(Err(AppendError::Closed));
        if let (Ok(_), Some(end), true) = (&result, end, self.world.mutates(Mutation::WritesAfterTheEnd)) {
            let run = end.run.map(|(run, at)| (run, at.next()));
            let again = JournalAppendRequest {
                entries: vec![palyra_ports::NewEntry { run, ..end }],
                ..JournalAppendRequest::default()
            };
            let _ = self.memory.append(again).now_or_never();
        }
        if let (Ok(_), Some(charged), true) = (&result, charged, self.world.mutates(Mutation::ChargesTwice)) {
            let again = JournalAppendRequest { entries: vec![charged], ..JournalAppendRequest::default() };
            let _ = self.memory.append(again).now_or_never();
        }
        if let (Ok(_), Some(leased), true) = (&result, leased, self.world.mutates(Mutation::IgnoresFences)) {
            let late =
                JournalAppendRequest { entries: vec![late_end(leased)], ..JournalAppendRequest::default() };
            let _ = self.memory.append(late).now_or_never();
        }
        self.show_oracle();
        result
    }

    fn memory_entries(&self) -> u64 {
        self.lock().shown
    }

    fn show_oracle(&self) {
        use palyra_ports::MaintainJournal;
        loop {
            let from = self.lock().shown.max(self.world.oracle().entries());
            let page = self.memory.entries(palyra_types::Seq(from), 1_000).now_or_never();
            let Some(Ok(page)) = page else { return };
            if page.is_empty() {
                return;
            }
            for entry in &page {
                let kind = event_word(&entry.event);
                let run = entry.run.map(|(run, at)| format!("{run} {}", at.0)).unwrap_or_default();
                self.world.note(format_args!("+ {} {run} {kind}", entry.seq.0));
                self.world.oracle().committed(entry);
            }
            self.lock().shown = from + page.len() as u64;
        }
    }
}

/// What the journal did in a step, and what is left for it to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JournalProgress {
    /// It did something, so somebody may have been woken.
    Done,
    /// Nothing.
    Nothing,
    /// Something, without any time passing.
    Now,
    /// Something, at this time.
    At(BootTime),
}

impl AppendTape for SimJournal {
    fn append(
        &self,
        request: JournalAppendRequest,
    ) -> BoxFuture<'static, Result<CommitReceipt, AppendError>> {
        let phase = self.phase_of(&request);
        if self.is_quarantined() {
            return ready(Err(AppendError::Quarantined)).boxed();
        }
        if self.world.strikes(Fault::AppendBusy, phase) {
            return ready(Err(AppendError::Busy)).boxed();
        }
        let (steps, span) = if self.world.strikes(Fault::AppendLate, phase) {
            let span = if self.world.dice.below(2) == 0 { LATE_SPAN_MAX } else { Duration::from_micros(1) };
            (self.world.dice.below(LATE_STEPS_MAX), self.world.dice.span(span))
        } else {
            (self.world.dice.below(4), Duration::ZERO)
        };
        let starts = request.entries.iter().any(|entry| is_start(&entry.event));
        if starts {
            self.world.oracle().start_is_under_way();
        }
        let ending = request.entries.iter().find(|entry| is_end(&entry.event));
        let ends: Option<RunId> = ending.and_then(|entry| entry.run).map(|(run, _)| run);
        ends.into_iter().for_each(|run| self.world.oracle().end_is_under_way(run));
        let (told, answered) = oneshot::channel();
        let early = self.world.mutates(Mutation::AcknowledgesEarly) && self.world.dice.below(4) == 0;
        let (answer, early) = if early { (None, Some(told)) } else { (Some(told), None) };
        let due = self.world.clock.boot().after(span);
        let first_seq = {
            let mut state = self.lock();
            let first_seq = state.next_seq();
            state.push(QueuedAppend { request, phase, steps, due, answer, starts, ends });
            first_seq
        };
        if let Some(told) = early {
            let _ = told.send(Ok(CommitReceipt { first_seq: palyra_types::Seq(first_seq) }));
        }
        async move { answered.await.unwrap_or(Err(AppendError::Closed)) }.boxed()
    }
}

impl SimJournal {
    fn phase_of(&self, request: &JournalAppendRequest) -> Phase {
        let mut runs = request.entries.iter().filter_map(|entry| entry.run).map(|(run, _)| run);
        if request.entries.iter().any(|entry| is_end(&entry.event)) {
            return Phase::Ending;
        }
        runs.next().map_or(Phase::Idle, |run| self.world.oracle().phase_of(run))
    }
}

fn is_start(event: &JournalEvent) -> bool {
    matches!(event, JournalEvent::Tape(TapeEvent::Run(RunEvent::Started(_))))
}

fn is_end(event: &JournalEvent) -> bool {
    matches!(event, JournalEvent::Tape(TapeEvent::Run(RunEvent::Finished(_))))
}

/// Returns whether a lease is not the first of its task; `None` for other events.
fn leased_again(event: &JournalEvent) -> Option<bool> {
    let JournalEvent::Task(TaskEvent::Leased { fence, .. }) = event else { return None };
    Some(fence.0 > 1)
}

/// Returns the end that an earlier worker of a task reports late, under the number of the present lease.
fn late_end(leased: NewEntry) -> NewEntry {
    let JournalEvent::Task(TaskEvent::Leased { task, fence, .. }) = leased.event else { return leased };
    let ended = TaskAttemptEnded {
        task,
        fence,
        end: AttemptEnd::Completed,
        next: TaskFollowUp::Done,
        explanation: Redacted::default(),
    };
    NewEntry { event: TaskEvent::AttemptEnded(ended).into(), ..leased }
}

fn is_charge(event: &JournalEvent) -> bool {
    let JournalEvent::Budget(BudgetEvent::Account { event, .. }) = event else { return false };
    matches!(event, AccountEvent::Settled { .. })
}

/// Puts an event that changes no sum in the place of each end of a reservation.
fn lose_charges(request: &mut JournalAppendRequest) {
    for entry in &mut request.entries {
        if let JournalEvent::Budget(BudgetEvent::Account { event, .. }) = &mut entry.event
            && matches!(event, AccountEvent::Settled { .. } | AccountEvent::Released { .. })
        {
            *event = AccountEvent::SoftLimitPassed { measure: LimitMeasure::Requests };
        }
    }
}

fn forget_keys(request: &mut JournalAppendRequest) {
    request.guards.retain(|guard| !matches!(guard, palyra_ports::Guard::IdempotencyUnseen { .. }));
    for entry in &mut request.entries {
        if let JournalEvent::Tape(TapeEvent::Run(RunEvent::Started(started))) = &mut entry.event {
            started.idempotency = None;
        }
        if let JournalEvent::Tape(TapeEvent::Run(RunEvent::InputReceived { idempotency, .. })) =
            &mut entry.event
        {
            *idempotency = None;
        }
    }
}

/// Returns an event in words, content included, so that the digest of a story covers it.
fn event_word(event: &JournalEvent) -> String {
    let mut words = format!("{event:?}");
    event.for_each_content(&mut |field, leaf| {
        leaf.for_each_text(&mut |text| {
            let _ = write!(words, " {}={text}", field.path);
        });
    });
    words
}
