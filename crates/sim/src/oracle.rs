//! Watches a story and says what is wrong with it.
//!
//! Owns its own picture of every tape, folded from committed entries one by one, and what people, models and tools
//! were told. Knows nothing of faults: what it demands holds whatever goes wrong. Invariant: it is told of an entry
//! in the moment of its commit, so what somebody sees before that is seen too early.
//!
//! Begin at [`Oracle::committed`].

mod run_view;

mod client_calls;

mod delivered;

mod permission;

mod grants;

mod budgets;

mod content;

mod task_queue;

mod finish;

use std::collections::{BTreeMap, BTreeSet};

use palyra_run_core::RunStateMachine;
use palyra_types::approval::{ApprovalState, SeparationRule};
use palyra_types::effect::EffectResolution;
use palyra_types::event::{EffectEvent, JournalEvent, LogEvent, RunEvent, SessionEvent, TapeEvent};
use palyra_types::proof::SeqRange;
use palyra_types::run::{IdempotencyDigest, InputDelivery, RunLifecycleState};
use palyra_types::surface::Surface;
use palyra_types::tape::{JournalEventRecord, OrchestratorTapeRecord};
use palyra_types::{ApprovalId, EffectId, PrincipalId, RunId, SessionId, TapeSeq};

use crate::fault::Phase;

pub(crate) use content::{OWNER, STRANGER};
pub(crate) use finish::IdleState;
pub(crate) use run_view::RunView;

/// Findings of one story, at most; the first is what matters.
const FINDINGS_MAX: usize = 8;

/// The watcher of a story.
#[derive(Default)]
pub(crate) struct Oracle {
    entries: u64,
    runs: BTreeMap<RunId, RunView>,
    sessions: BTreeMap<SessionId, Vec<RunId>>,
    keyed_sessions: BTreeMap<(PrincipalId, String), SessionId>,
    /// Where each text of a person stands, by the text.
    inputs: BTreeMap<String, Vec<(RunId, TapeSeq)>>,
    /// Inputs of schedules, which are the same each time: they belong to no single run.
    scheduled: BTreeSet<String>,
    keys: BTreeMap<IdempotencyDigest, (RunId, TapeSeq)>,
    cancels: BTreeSet<RunId>,
    executions: BTreeMap<(RunId, EffectId), u32>,
    refused: BTreeSet<String>,
    grants: grants::Grants,
    budgets: budgets::BudgetCheck,
    content: content::ContentCheck,
    task_queue: task_queue::TaskCheck,
    erasures: u64,
    starts_under_way: usize,
    findings: Vec<String>,
}

impl Oracle {
    /// Notes that something is wrong.
    pub(crate) fn find(&mut self, what: String) {
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push(what);
        }
    }

    pub(crate) fn findings(&self) -> &[String] {
        &self.findings
    }

    /// Returns how many entries there are.
    pub(crate) fn entries(&self) -> u64 {
        self.entries
    }

    /// Takes an entry in the moment of its commit.
    pub(crate) fn committed(&mut self, entry: &JournalEventRecord) {
        if entry.seq.0 != self.entries {
            self.find(format!("entry {} came where {} was due", entry.seq.0, self.entries));
        }
        self.entries = entry.seq.0 + 1;
        if let JournalEvent::Session(SessionEvent::Opened { session, key: Some(key), .. }) = &entry.event {
            self.keyed_sessions.insert((entry.principal, key.expose().clone()), *session);
        }
        if let JournalEvent::Effect(EffectEvent::Settled(settled)) = &entry.event {
            let view = self.runs.get_mut(&settled.run);
            let fits = view.is_some_and(|view| view.settled_beside(settled.effect, settled.resolution));
            if !fits {
                let what = format!("call {} of {} is settled beside its tape", settled.effect, settled.run);
                self.find(format!("{what}, which takes it, or is in no doubt"));
            }
        }
        self.take_beside(entry);
        let (JournalEvent::Tape(event), Some((run, tape_seq)), Some(session)) =
            (&entry.event, entry.run, entry.session)
        else {
            return;
        };
        let record = OrchestratorTapeRecord {
            seq: entry.seq,
            run,
            session,
            principal: entry.principal,
            tape_seq,
            time: entry.time,
            content: entry.content,
            actor: entry.actor,
            event: event.clone(),
        };
        if let TapeEvent::Run(RunEvent::Started(started)) = event {
            if self.runs.contains_key(&run) {
                self.find(format!("run {run} begins a second time"));
                return;
            }
            self.sessions.entry(session).or_default().push(run);
            self.runs.insert(run, RunView::new(&record, started.delivery, self.erasures));
            if let Some(what) = self.content.check_start(entry.principal, started) {
                self.find(format!("run {run} {what}"));
            }
        }
        self.hear(event, run, tape_seq);
        if RunStateMachine::is_begun_by(event) {
            self.check_turn(session, run);
        }
        let tape = self.runs.get(&run).map(RunView::tape).unwrap_or_default();
        if let Some(what) = self.grants.take(tape, session, event) {
            self.find(what);
        }
        match self.runs.get_mut(&run) {
            Some(view) => {
                if let Some(what) = view.take(record) {
                    self.find(what);
                }
            }
            None => self.find(format!("run {run} has an entry before its first one")),
        }
    }

    /// Takes what belongs to no tape: budgets, items of memory, summaries, tasks of the queue, erasures.
    fn take_beside(&mut self, entry: &JournalEventRecord) {
        let wrong = if let JournalEvent::Budget(event) = &entry.event {
            self.budgets.take(event)
        } else if let JournalEvent::Session(SessionEvent::Compacted(made)) = &entry.event {
            self.content.check_summary(made).or_else(|| self.task_queue.check_summary(made))
        } else if let JournalEvent::Task(event) = &entry.event {
            self.task_queue.take(entry.session, event)
        } else {
            None
        };
        if let JournalEvent::Memory(event) = &entry.event {
            self.content.take_memory(entry.principal, event);
        }
        if let JournalEvent::Log(LogEvent::Erased { ranges, .. }) = &entry.event {
            self.note_erased(ranges);
        }
        wrong.into_iter().for_each(|what| self.find(what));
    }

    fn note_erased(&mut self, ranges: &[SeqRange]) {
        self.erasures += 1;
        let is_erased = |view: &RunView| ranges.iter().any(|range| range.holds(view.first_seq()));
        let erased: Vec<RunId> =
            self.runs.iter().filter(|(_, view)| is_erased(view)).map(|(run, _)| *run).collect();
        for run in erased {
            let words = self.inputs.iter().filter(|(text, places)| {
                places.iter().any(|(of, _)| *of == run) && !self.scheduled.contains(*text)
            });
            // What follows the first sentence is filler.
            let words = words.filter_map(|(text, _)| text.split_inclusive('.').next().map(str::to_owned));
            let words: Vec<String> = words.collect();
            self.content.erase(run, words);
        }
    }

    /// Returns whether the content of a run is erased.
    pub(crate) fn is_erased(&self, run: RunId) -> bool {
        self.content.is_erased(run)
    }

    /// Takes note of what a person said, now that it is recorded.
    fn hear(&mut self, event: &TapeEvent, run: RunId, at: TapeSeq) {
        let (text, key) = if let TapeEvent::Run(RunEvent::Started(started)) = event {
            if started.surface == Surface::Schedule {
                let text = started.input.text.expose().clone();
                self.inputs.entry(text.clone()).or_default().push((run, at));
                self.scheduled.insert(text);
                return;
            }
            (started.input.text.expose(), started.idempotency)
        } else if let TapeEvent::Run(RunEvent::InputReceived { input, idempotency, .. }) = event {
            (input.text.expose(), *idempotency)
        } else {
            return;
        };
        let text = text.clone();
        let places = self.inputs.entry(text.clone()).or_default();
        places.push((run, at));
        if places.len() > 1 {
            let what = format!("`{text}` was taken {} times: {places:?}", places.len());
            self.find(what);
        }
        if self.refused.contains(&text) {
            self.find(format!("`{text}` was taken after it had been refused for good"));
        }
        if let Some(key) = key
            && let Some(before) = self.keys.insert(key, (run, at))
        {
            self.find(format!("the key of `{text}` was taken before, at {before:?}"));
        }
    }

    /// A run that begins, or asks again, has its session to itself, and did not overtake.
    fn check_turn(&mut self, session: SessionId, run: RunId) {
        let Some(own) = self.runs.get(&run) else { return };
        let begins = own.state() == RunLifecycleState::Pending;
        let (first, delivery) = (own.first_seq(), own.delivery());
        let mut wrong = Vec::new();
        for other in self.sessions.get(&session).into_iter().flatten().filter(|other| **other != run) {
            let Some(view) = self.runs.get(other) else { continue };
            match view.state() {
                RunLifecycleState::InProgress => {
                    wrong.push(format!("two runs of a session at once: {run} asks while {other} is at work"));
                }
                RunLifecycleState::Pending if begins && view.first_seq() < first => {
                    let may = self.cancels.contains(other)
                        // An interrupting run that is accepted while the next one is about to begin stops it.
                        || delivery == InputDelivery::Interrupt && view.delivery() != InputDelivery::Interrupt
                        || delivery != InputDelivery::Interrupt && view.delivery() == InputDelivery::Interrupt;
                    if !may {
                        wrong.push(format!(
                            "out of order: {run} begins before {other}, which was there first"
                        ));
                    }
                }
                RunLifecycleState::Pending
                | RunLifecycleState::Done
                | RunLifecycleState::Cancelled
                | RunLifecycleState::Failed => {}
            }
        }
        wrong.into_iter().for_each(|what| self.find(what));
    }

    /// Returns where a run stands.
    pub(crate) fn phase_of(&self, run: RunId) -> Phase {
        self.runs.get(&run).map_or(Phase::BeforeFirstCommit, RunView::phase)
    }

    /// Returns where the session stands that clients call by this key: its run at work, or the next one.
    pub(crate) fn phase_of_session(&self, principal: PrincipalId, key: &str) -> Phase {
        let known = self.keyed_sessions.get(&(principal, key.to_owned()));
        let Some(session) = known else { return Phase::BeforeFirstCommit };
        let runs = self.sessions.get(session).into_iter().flatten().filter_map(|run| self.runs.get(run));
        let open: Vec<&RunView> = runs.filter(|view| !view.state().is_terminal()).collect();
        let at_work = open.iter().find(|view| view.state() == RunLifecycleState::InProgress);
        at_work.or(open.first()).map_or(Phase::Idle, |view| view.phase())
    }

    /// Returns all sessions of a principal that have a run.
    pub(crate) fn sessions_of(&self, principal: PrincipalId) -> impl Iterator<Item = SessionId> {
        let own = self.sessions.iter().filter(move |(_, runs)| {
            runs.first().and_then(|run| self.runs.get(run)).is_some_and(|view| view.principal() == principal)
        });
        own.map(|(session, _)| *session)
    }

    /// Returns all runs of a principal.
    pub(crate) fn runs_of(&self, principal: PrincipalId) -> Vec<RunId> {
        self.runs.iter().filter(|(_, view)| view.principal() == principal).map(|(run, _)| *run).collect()
    }

    /// Returns the runs of a principal that are not over, oldest first.
    pub(crate) fn open_runs_of(&self, principal: PrincipalId) -> Vec<RunId> {
        let mut open = self.open_runs();
        open.retain(|run| self.runs.get(run).is_some_and(|view| view.principal() == principal));
        open
    }

    /// Returns the runs of a principal that wait for a budget.
    pub(crate) fn waiting_for_budget(&self) -> Vec<RunId> {
        self.runs.iter().filter(|(_, view)| view.waits_for_budget()).map(|(run, _)| *run).collect()
    }

    /// Returns where the runs of all sessions stand, without those that are over.
    pub(crate) fn phases(&self) -> BTreeSet<Phase> {
        let open = self.runs.values().filter(|view| !view.state().is_terminal());
        let mut phases: BTreeSet<Phase> = open.map(RunView::phase).collect();
        if self.starts_under_way > 0 {
            phases.insert(Phase::BeforeFirstCommit);
        }
        if phases.is_empty() {
            phases.insert(Phase::Idle);
        }
        phases
    }

    /// Returns the runs that are not over, oldest first.
    pub(crate) fn open_runs(&self) -> Vec<RunId> {
        let open = self.runs.iter().filter(|(_, view)| !view.state().is_terminal());
        let mut open: Vec<_> = open.map(|(run, view)| (view.first_seq(), *run)).collect();
        open.sort_unstable();
        open.into_iter().map(|(_, run)| run).collect()
    }

    /// Returns what is known of a run.
    pub(crate) fn run(&self, run: RunId) -> Option<&RunView> {
        self.runs.get(&run)
    }

    /// Returns the approvals that wait, with their runs.
    pub(crate) fn pending_approvals(&self) -> Vec<(RunId, ApprovalId)> {
        let pending = self.runs.iter().flat_map(|(run, view)| {
            let waits = view.approvals().iter().filter(|(_, asked)| asked.state == ApprovalState::Pending);
            waits.map(|(approval, _)| (*run, *approval))
        });
        pending.collect()
    }

    /// Returns where an approval stands.
    pub(crate) fn approval_state(&self, run: RunId, approval: ApprovalId) -> Option<ApprovalState> {
        self.runs.get(&run)?.approvals().get(&approval).map(|asked| asked.state)
    }

    /// Returns whether somebody said yes to it and was counted.
    pub(crate) fn has_voted(&self, run: RunId, approval: ApprovalId, who: PrincipalId) -> bool {
        let asked = self.runs.get(&run).and_then(|view| view.approvals().get(&approval));
        asked.is_some_and(|asked| asked.yes.contains(&who))
    }

    /// Returns whether the rule that asks lets this person decide, who has not yet.
    pub(crate) fn may_decide(&self, run: RunId, approval: ApprovalId, who: PrincipalId) -> bool {
        let Some(view) = self.runs.get(&run) else { return false };
        let Some(asked) = view.approvals().get(&approval) else { return false };
        let own = view.tape().first().is_some_and(|first| first.principal == who);
        let eligible = asked.terms.separation == SeparationRule::AnyPerson || !own;
        eligible && !asked.yes.contains(&who)
    }

    /// Returns whether a grant can answer for the rule of an approval.
    pub(crate) fn takes_grants(&self, run: RunId, approval: ApprovalId) -> bool {
        let asked = self.runs.get(&run).and_then(|view| view.approvals().get(&approval));
        asked.is_some_and(|asked| asked.terms.is_plain())
    }

    /// Returns the calls whose outcome nobody knows, also of runs that are over.
    pub(crate) fn doubts(&self) -> impl Iterator<Item = (RunId, EffectId)> {
        self.runs.iter().flat_map(|(run, view)| view.doubts().map(|effect| (*run, effect)))
    }

    /// Returns the calls of which a person said what became of them.
    pub(crate) fn settled(&self) -> impl Iterator<Item = (RunId, EffectId)> {
        self.runs.iter().flat_map(|(run, view)| view.resolutions().map(|(effect, _)| (*run, effect)))
    }

    /// Returns what a person said became of a call.
    pub(crate) fn settled_as(&self, run: RunId, effect: EffectId) -> Option<EffectResolution> {
        let mut resolutions = self.runs.get(&run)?.resolutions();
        resolutions.find(|(other, _)| *other == effect).map(|(_, resolution)| resolution)
    }

    /// Returns all runs.
    pub(crate) fn runs(&self) -> impl Iterator<Item = (RunId, &RunView)> {
        self.runs.iter().map(|(run, view)| (*run, view))
    }

    /// A first entry waits for its commit, or does not any more.
    pub(crate) fn start_is_under_way(&mut self) {
        self.starts_under_way += 1;
    }

    pub(crate) fn starts_are_over(&mut self, count: usize) {
        self.starts_under_way = self.starts_under_way.saturating_sub(count);
    }

    /// A run's end waits for its commit, or does not any more.
    pub(crate) fn end_is_under_way(&mut self, run: RunId) {
        if let Some(view) = self.runs.get_mut(&run) {
            view.end_under_way();
        }
    }

    pub(crate) fn end_did_not_come(&mut self, run: RunId) {
        if let Some(view) = self.runs.get_mut(&run) {
            view.end_did_not_come();
        }
    }
}
