//! The tool calls of a run's current round: proposed, decided, started, finished.
//!
//! Owns each open call's station and the content needed to run it. Calls of finished rounds are forgotten;
//! the tape remembers them.

use std::collections::BTreeMap;
use std::time::Duration;

use palyra_types::event::{TapeEvent, ToolDecided, ToolProposed};
use palyra_types::tool::{EffectContract, Parallelism, ToolName, ToolVerdict};
use palyra_types::{EffectId, Redacted, Timestamp};

/// The open calls of one run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolCalls {
    calls: BTreeMap<EffectId, ToolCallState>,
    last_effect: EffectId,
}

/// One call on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCallState {
    /// Where it stands.
    pub station: Station,
    /// The tool, as the model named it.
    pub tool: ToolName,
    /// The arguments, as the model wrote them.
    pub arguments: Redacted<String>,
    /// What policy knows of the tool; meaningful from `Allowed` on.
    pub terms: Terms,
    /// When it started; meaningful at `Started`.
    pub started_at: Timestamp,
}

/// Where a call stands. Finished and denied calls are gone from the set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Station {
    /// The model wants it.
    Proposed,
    /// It may run, and has not started.
    Allowed,
    /// It may have taken effect.
    Started,
}

/// The terms under which a call may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// What may be done when its outcome is unknown.
    pub contract: EffectContract,
    /// Whether it may run beside others.
    pub parallelism: Parallelism,
    /// How long it may take.
    pub deadline: Duration,
    /// How much output is kept, in bytes.
    pub output_bytes_max: u64,
}

impl ToolCalls {
    /// Returns the number of the next effect.
    #[must_use]
    pub fn next_effect(&self) -> EffectId {
        self.last_effect.next()
    }

    /// Returns whether every call of the round has its outcome.
    #[must_use]
    pub fn all_settled(&self) -> bool {
        self.calls.is_empty()
    }

    /// Returns the calls that may have taken effect and have no outcome.
    pub fn started(&self) -> impl Iterator<Item = (EffectId, &ToolCallState)> {
        self.at(Station::Started)
    }

    /// Returns whether this call may have taken effect and has no outcome.
    #[must_use]
    pub fn is_started(&self, effect: EffectId) -> bool {
        self.calls.get(&effect).is_some_and(|call| call.station == Station::Started)
    }

    pub(crate) fn started_contract(&self, effect: EffectId) -> Option<EffectContract> {
        self.started().find(|(started, _)| *started == effect).map(|(_, call)| call.terms.contract)
    }

    pub(crate) fn started_contracts(&self) -> Vec<(EffectId, EffectContract)> {
        self.started().map(|(effect, call)| (effect, call.terms.contract)).collect()
    }

    /// Returns the calls that were proposed and have no verdict.
    pub(crate) fn unjudged(&self) -> Vec<EffectId> {
        self.at(Station::Proposed).map(|(effect, _)| effect).collect()
    }

    /// Returns how long a started call has run, at most its deadline: across a restart nobody knows better.
    pub(crate) fn running_for(&self, effect: EffectId, now: Timestamp) -> Duration {
        let call = self.started().find(|(started, _)| *started == effect);
        call.map_or(Duration::ZERO, |(_, call)| now.since(call.started_at).min(call.terms.deadline))
    }

    /// Returns the longest that the started calls may still take together.
    pub(crate) fn deadline_max(&self) -> Option<Duration> {
        self.started().map(|(_, call)| call.terms.deadline).max()
    }

    /// Returns the calls that may run now, given how many may run at once: an exclusive call runs alone,
    /// and calls start in the model's order.
    #[must_use]
    pub fn startable(&self, parallel_max: u32) -> Vec<(EffectId, &ToolCallState)> {
        let mut running: Vec<Parallelism> = self.started().map(|(_, call)| call.terms.parallelism).collect();
        let mut starting = Vec::new();
        for (effect, call) in self.at(Station::Allowed) {
            let room = running.len() < parallel_max.max(1) as usize;
            let beside = running.iter().all(|other| *other == Parallelism::Parallel)
                && (running.is_empty() || call.terms.parallelism == Parallelism::Parallel);
            if !room || !beside {
                break;
            }
            running.push(call.terms.parallelism);
            starting.push((effect, call));
        }
        starting
    }

    fn at(&self, station: Station) -> impl Iterator<Item = (EffectId, &ToolCallState)> {
        let here = move |call: &&ToolCallState| call.station == station;
        self.calls.iter().filter(move |(_, call)| here(call)).map(|(effect, call)| (*effect, call))
    }

    pub(crate) fn evolve(&mut self, event: &TapeEvent, time: Timestamp) {
        match event {
            TapeEvent::ToolProposed(proposed) => self.propose(proposed),
            TapeEvent::ToolDecided(decided) => self.decide(decided),
            TapeEvent::ToolStarted(started) => {
                if let Some(call) = self.calls.get_mut(&started.effect) {
                    call.station = Station::Started;
                    call.started_at = time;
                }
            }
            TapeEvent::ToolFinished(finished) => {
                self.calls.remove(&finished.effect);
            }
            TapeEvent::ToolOutcomeUnknown { effect, .. } => {
                self.calls.remove(effect);
            }
            TapeEvent::RunStarted(_)
            | TapeEvent::InputReceived { .. }
            | TapeEvent::ModelRequested(_)
            | TapeEvent::ModelText { .. }
            | TapeEvent::ModelReasoning { .. }
            | TapeEvent::ModelMessage(_)
            | TapeEvent::ModelAttemptAbandoned { .. }
            | TapeEvent::EffectResolved { .. }
            | TapeEvent::ApprovalRequested(_)
            | TapeEvent::ApprovalVoted(_)
            | TapeEvent::ApprovalResolved(_)
            | TapeEvent::GrantStored(_)
            | TapeEvent::LoopDetected { .. }
            | TapeEvent::RunHeld { .. }
            | TapeEvent::CancelRequested { .. }
            | TapeEvent::RunFinished(_)
            | TapeEvent::Unknown { .. } => {}
        }
    }

    fn propose(&mut self, proposed: &ToolProposed) {
        self.last_effect = self.last_effect.max(proposed.effect);
        let terms = Terms {
            contract: EffectContract::Opaque,
            parallelism: Parallelism::Exclusive,
            deadline: Duration::ZERO,
            output_bytes_max: 0,
        };
        let call = ToolCallState {
            station: Station::Proposed,
            tool: ToolName::new(proposed.tool.expose()),
            arguments: proposed.arguments.clone(),
            terms,
            started_at: Timestamp::default(),
        };
        self.calls.insert(proposed.effect, call);
    }

    fn decide(&mut self, decided: &ToolDecided) {
        match decided.verdict {
            ToolVerdict::Allow => {
                if let Some(call) = self.calls.get_mut(&decided.effect) {
                    call.station = Station::Allowed;
                    call.terms = Terms {
                        contract: decided.contract,
                        parallelism: decided.parallelism,
                        deadline: decided.deadline,
                        output_bytes_max: decided.output_bytes_max,
                    };
                }
            }
            // Nobody can be asked yet, so an `Ask` that reached a tape ends the call like a denial.
            ToolVerdict::Ask | ToolVerdict::Deny => {
                self.calls.remove(&decided.effect);
            }
        }
    }
}
