//! What runs wait for: calls and approvals under way, kept as sets and asked anew after every entry.

use std::collections::{BTreeMap, BTreeSet};

use palyra_types::event::{ApprovalEvent, RunEvent, TapeEvent, ToolEvent};
use palyra_types::run::{RunLifecycleState, RunPhase, RunRecord, WaitReason};
use palyra_types::tool::{ToolConduct, ToolVerdict};
use palyra_types::{ApprovalId, EffectId, RunId};

/// Where a call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallStation {
    Proposed,
    Started,
    Unknown,
    Over,
    Settled,
}

/// Everything under way.
#[derive(Default)]
pub(super) struct RunWaits {
    calls: BTreeMap<(RunId, EffectId), (ToolConduct, CallStation)>,
    asked: BTreeSet<ApprovalId>,
    open: BTreeMap<ApprovalId, RunId>,
    /// Calls that may be prepared, and are neither asked about nor started.
    unprepared: BTreeSet<(RunId, EffectId)>,
    held: BTreeSet<RunId>,
    /// Runs whose client performs functions.
    with_client: BTreeSet<RunId>,
}

impl RunWaits {
    /// Takes in an entry of a run's tape; returns the run whose approval it decides, which may be another one.
    pub(super) fn fold(&mut self, run: RunId, event: &TapeEvent) -> Option<RunId> {
        match event {
            TapeEvent::Tool(ToolEvent::Proposed(proposed)) => {
                let proposal = (ToolConduct::Direct, CallStation::Proposed);
                self.calls.entry((run, proposed.effect)).or_insert(proposal);
            }
            TapeEvent::Tool(ToolEvent::Decided(decided)) => {
                if let Some((conduct, CallStation::Proposed)) = self.calls.get_mut(&(run, decided.effect)) {
                    *conduct = decided.conduct;
                    if decided.verdict == ToolVerdict::Deny {
                        self.unprepared.remove(&(run, decided.effect));
                    } else {
                        self.wants_preparation(run, decided.effect);
                    }
                }
            }
            TapeEvent::Tool(ToolEvent::Started(started)) => {
                self.unprepared.remove(&(run, started.effect));
                let proposal = (ToolConduct::Direct, CallStation::Proposed);
                let (_, station) = self.calls.entry((run, started.effect)).or_insert(proposal);
                if *station == CallStation::Proposed {
                    *station = CallStation::Started;
                }
            }
            TapeEvent::Tool(ToolEvent::Finished(finished)) => {
                self.end(run, finished.effect, CallStation::Over);
            }
            TapeEvent::Tool(ToolEvent::OutcomeUnknown { effect, .. }) => {
                self.end(run, *effect, CallStation::Unknown);
            }
            TapeEvent::Tool(ToolEvent::EffectResolved { effect, .. }) => {
                self.end(run, *effect, CallStation::Over);
            }
            TapeEvent::Approval(ApprovalEvent::Requested(requested)) => {
                self.unprepared.remove(&(run, requested.effect));
                if self.asked.insert(requested.approval) {
                    self.open.insert(requested.approval, run);
                }
            }
            TapeEvent::Run(RunEvent::Held { .. }) => {
                self.held.insert(run);
            }
            TapeEvent::Run(RunEvent::InputReceived { .. }) => {
                self.held.remove(&run);
            }
            TapeEvent::Run(RunEvent::ClientToolsCalled(_)) => {
                self.with_client.insert(run);
            }
            TapeEvent::Run(RunEvent::ClientToolsAnswered(_)) => {
                self.with_client.remove(&run);
            }
            TapeEvent::Approval(ApprovalEvent::Resolved(resolved)) => {
                self.wants_preparation(run, resolved.effect);
                return self.open.remove(&resolved.approval);
            }
            _ => {}
        }
        None
    }

    fn wants_preparation(&mut self, run: RunId, effect: EffectId) {
        let call = self.calls.get(&(run, effect));
        if call.is_some_and(|call| *call == (ToolConduct::Prepared, CallStation::Proposed)) {
            self.unprepared.insert((run, effect));
        } else {
            self.unprepared.remove(&(run, effect));
        }
    }

    /// Returns how many calls of a run are to be prepared.
    pub(super) fn unprepared(&self, run: RunId) -> u32 {
        let of_run = self.unprepared.range((run, EffectId(0))..=(run, EffectId(u32::MAX)));
        u32::try_from(of_run.count()).unwrap_or(u32::MAX)
    }

    /// Takes in what a person says of an unknown outcome once the run is over.
    pub(super) fn settle(&mut self, run: RunId, effect: EffectId) {
        if let Some((_, station)) = self.calls.get_mut(&(run, effect))
            && *station == CallStation::Unknown
        {
            *station = CallStation::Settled;
        }
    }

    fn end(&mut self, run: RunId, effect: EffectId, end: CallStation) {
        match self.calls.get_mut(&(run, effect)) {
            Some((_, CallStation::Proposed | CallStation::Settled)) | None => {}
            Some((_, station)) => *station = end,
        }
    }

    /// Returns whether nobody knows the outcome of one of the run's calls, or it is held.
    pub(super) fn has_doubt(&self, run: RunId) -> bool {
        self.held.contains(&run) || self.calls_of(run).any(|(_, station)| station == CallStation::Unknown)
    }

    /// Returns the phase of a run that may work, or the one it has.
    pub(super) fn phase(&self, record: &RunRecord) -> RunPhase {
        let works = matches!(
            record.phase,
            RunPhase::Running
                | RunPhase::Waiting(WaitReason::Approval | WaitReason::Question | WaitReason::ClientTool)
        );
        if !works || record.state != RunLifecycleState::InProgress {
            return record.phase;
        }
        let started = |question: bool| {
            self.calls_of(record.run).any(|(conduct, station)| {
                station == CallStation::Started && (conduct == ToolConduct::Question) == question
            })
        };
        if started(false) {
            RunPhase::Running
        } else if started(true) {
            RunPhase::Waiting(WaitReason::Question)
        } else if self.open.values().any(|run| *run == record.run) {
            RunPhase::Waiting(WaitReason::Approval)
        } else if self.with_client.contains(&record.run) {
            RunPhase::Waiting(WaitReason::ClientTool)
        } else {
            RunPhase::Running
        }
    }

    fn calls_of(&self, run: RunId) -> impl Iterator<Item = (ToolConduct, CallStation)> {
        self.calls.range((run, EffectId(0))..=(run, EffectId(u32::MAX))).map(|(_, call)| *call)
    }
}
