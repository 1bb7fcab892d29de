//! The tool calls of a run's current round, each at its station, and whose turn it is.
//!
//! Owns the content needed to run a call, and under which terms. Calls of finished rounds are forgotten; the tape
//! remembers them. Knows no approval but the one that a call was asked under.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use palyra_types::approval::{ApprovalRequested, ApprovalResolved, ApprovalState, ApprovalTerms};
use palyra_types::effect::{EffectPlan, OutputRest, ToolOutput};
use palyra_types::event::{
    ApprovalEvent, CallAttestation, ContentDigest, DecidedBy, TapeEvent, ToolDecided, ToolEvent,
    ToolProposed, ToolStarted,
};
use palyra_types::tool::{
    ApprovalRiskLevel, EffectContract, Parallelism, Taints, ToolConduct, ToolName, ToolVerdict,
};
use palyra_types::{ApprovalId, EffectId, Redacted, Timestamp};

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
    pub station: CallState,
    /// The tool, as the model named it.
    pub tool: ToolName,
    /// The arguments as they will run: the model's, unless a person changed them.
    pub arguments: Redacted<String>,
    /// Keyed digest of tool and arguments as they will run.
    pub digest: ContentDigest,
    /// What policy knows of the call; meaningful once it is decided.
    pub terms: CallTerms,
    /// Why policy decided so.
    pub explanation: Redacted<String>,
    /// What the rule wants of an approval, and the id that the next question has.
    pub ask: Option<(ApprovalTerms, Option<ApprovalId>)>,
    /// What it was asked with last; zero when that no longer says what would run.
    pub binding: ContentDigest,
    /// When it started; meaningful at `Started`.
    pub started_at: Timestamp,
    /// What was recorded that it will do; meaningful at `Started`.
    pub plan: Arc<EffectPlan>,
    /// What was shown of its output while it runs.
    pub shown: ShownOutput,
}

/// How much of a running call's output is on the tape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ShownOutput {
    /// Entries.
    pub pieces: u32,
    /// Bytes in them.
    pub bytes: u64,
    /// Whether more may be shown.
    pub rest: OutputRest,
}

/// Where a call stands. Finished and denied calls are gone from the set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallState {
    /// The model wants it.
    Proposed,
    /// A person has to be asked, once it is known what it would do.
    AwaitingPrompt,
    /// A person is asked.
    AwaitingApproval,
    /// It may run, and has not started.
    Allowed,
    /// It may have taken effect.
    Started,
}

/// The terms under which a call may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallTerms {
    /// What may be done when its outcome is unknown.
    pub contract: EffectContract,
    /// Whether it may run beside others.
    pub parallelism: Parallelism,
    /// How long it may take.
    pub deadline: Duration,
    /// How much output is kept, in bytes.
    pub output_bytes_max: u64,
    /// How it is conducted.
    pub conduct: ToolConduct,
    /// The tool's version.
    pub tool_version: u32,
    /// How much harm it can do.
    pub risk: ApprovalRiskLevel,
    /// What the run will have read once it has seen the output.
    pub taints: Taints,
    /// Digest of the policy snapshot that decided.
    pub policy_digest: [u8; 32],
    /// Who decided.
    pub decided_by: DecidedBy,
}

impl CallTerms {
    /// What is assumed of a call that nobody judged.
    const UNKNOWN: Self = Self {
        contract: EffectContract::Opaque,
        parallelism: Parallelism::Exclusive,
        deadline: Duration::ZERO,
        output_bytes_max: 0,
        conduct: ToolConduct::Direct,
        tool_version: 0,
        risk: ApprovalRiskLevel::Critical,
        taints: Taints::NONE,
        policy_digest: [0; 32],
        decided_by: DecidedBy::Policy,
    };

    fn of(decided: &ToolDecided) -> Self {
        Self {
            contract: decided.contract,
            parallelism: decided.parallelism,
            deadline: decided.deadline,
            output_bytes_max: decided.output_bytes_max,
            conduct: decided.conduct,
            tool_version: decided.tool_version,
            risk: decided.risk,
            taints: decided.taints,
            policy_digest: decided.policy_digest,
            decided_by: decided.decided_by,
        }
    }
}

impl ToolCallState {
    /// Returns what it runs under.
    #[must_use]
    pub fn attested(&self) -> CallAttestation {
        let (approval, grant) = match self.terms.decided_by {
            DecidedBy::Policy | DecidedBy::Budget => (None, None),
            DecidedBy::Approval(approval) => (Some(approval), None),
            DecidedBy::Grant(grant) => (None, Some(grant)),
        };
        CallAttestation {
            tool_version: self.terms.tool_version,
            call_digest: self.digest,
            policy_digest: self.terms.policy_digest,
            approval,
            grant,
        }
    }

    /// Returns whether it is started and a tool works at it: not so a question, which only waits.
    fn is_at_work(&self) -> bool {
        self.station == CallState::Started && self.terms.conduct != ToolConduct::Question
    }

    /// Returns whether it can be the turn of this call.
    fn waits_for_its_turn(&self) -> bool {
        match self.station {
            CallState::Allowed => true,
            CallState::AwaitingPrompt => self.terms.conduct == ToolConduct::Prepared,
            CallState::Proposed | CallState::AwaitingApproval | CallState::Started => false,
        }
    }
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

    /// Returns an open call.
    #[must_use]
    pub fn get(&self, effect: EffectId) -> Option<&ToolCallState> {
        self.calls.get(&effect)
    }

    /// Returns the calls that may have taken effect and have no outcome.
    pub fn started(&self) -> impl Iterator<Item = (EffectId, &ToolCallState)> {
        self.at(CallState::Started)
    }

    /// Returns whether this call may have taken effect and has no outcome.
    #[must_use]
    pub fn is_started(&self, effect: EffectId) -> bool {
        self.calls.get(&effect).is_some_and(|call| call.station == CallState::Started)
    }

    /// Returns the started calls at which a tool works.
    pub fn at_work(&self) -> impl Iterator<Item = (EffectId, &ToolCallState)> {
        self.started().filter(|(_, call)| call.is_at_work())
    }

    /// Returns the questions that wait for the person's words.
    pub(crate) fn open_questions(&self) -> Vec<EffectId> {
        self.started().filter(|(_, call)| !call.is_at_work()).map(|(effect, _)| effect).collect()
    }

    /// Returns whether a person is asked about any call.
    pub(crate) fn any_pending_approval(&self) -> bool {
        self.at(CallState::AwaitingApproval).next().is_some()
    }

    pub(crate) fn started_contract(&self, effect: EffectId) -> Option<EffectContract> {
        self.get(effect).filter(|call| call.station == CallState::Started).map(|call| call.terms.contract)
    }

    /// Returns the calls at which a tool works, with their contracts.
    pub(crate) fn contracts_at_work(&self) -> Vec<(EffectId, EffectContract)> {
        self.at_work().map(|(effect, call)| (effect, call.terms.contract)).collect()
    }

    /// Returns the calls that a whole decision would have brought further: without a verdict, or neither asked nor
    /// to be prepared for it.
    pub(crate) fn unjudged(&self) -> Vec<EffectId> {
        let stuck = |call: &ToolCallState| match call.station {
            CallState::Proposed => true,
            CallState::AwaitingPrompt => !call.waits_for_its_turn(),
            CallState::AwaitingApproval | CallState::Allowed | CallState::Started => false,
        };
        self.calls.iter().filter(|(_, call)| stuck(call)).map(|(effect, _)| *effect).collect()
    }

    /// Returns how long a started call has run, at most its deadline: across a restart nobody knows better.
    pub(crate) fn running_for(&self, effect: EffectId, now: Timestamp) -> Duration {
        let call = self.get(effect).filter(|call| call.station == CallState::Started);
        call.map_or(Duration::ZERO, |call| now.since(call.started_at).min(call.terms.deadline))
    }

    /// Returns the calls whose turn it is, in order, given how many may run at once: to be started, or to be
    /// prepared first.
    ///
    /// An exclusive call waits for all before it and holds back all after it until it has its outcome. Calls that a
    /// person is asked about and questions to a person take no room, and parallel ones do not wait for them.
    #[must_use]
    pub fn turns(&self, parallel_max: u32) -> Vec<(EffectId, &ToolCallState)> {
        let mut busy = self.at_work().count();
        let mut turns = Vec::new();
        for (place, (effect, call)) in self.calls.iter().enumerate() {
            if call.terms.parallelism == Parallelism::Exclusive {
                if place == 0 && busy == 0 && call.waits_for_its_turn() {
                    turns.push((*effect, call));
                }
                break;
            }
            if !call.waits_for_its_turn() {
                continue;
            }
            if call.terms.conduct == ToolConduct::Question {
                turns.push((*effect, call));
            } else if busy < parallel_max.max(1) as usize {
                busy += 1;
                turns.push((*effect, call));
            }
        }
        turns
    }

    fn at(&self, station: CallState) -> impl Iterator<Item = (EffectId, &ToolCallState)> {
        let here = move |call: &&ToolCallState| call.station == station;
        self.calls.iter().filter(move |(_, call)| here(call)).map(|(effect, call)| (*effect, call))
    }

    pub(crate) fn evolve(&mut self, event: &TapeEvent, time: Timestamp) {
        match event {
            TapeEvent::Tool(ToolEvent::Proposed(proposed)) => self.propose(proposed),
            TapeEvent::Tool(ToolEvent::Decided(decided)) => self.decide(decided),
            TapeEvent::Approval(ApprovalEvent::Requested(requested)) => self.ask(requested),
            TapeEvent::Approval(ApprovalEvent::Resolved(resolved)) => self.resolve(resolved),
            TapeEvent::Tool(ToolEvent::Started(started)) => self.start(started, time),
            TapeEvent::Tool(ToolEvent::Output(output)) => self.show(output),
            TapeEvent::Tool(ToolEvent::Finished(finished)) => {
                self.calls.remove(&finished.effect);
            }
            TapeEvent::Tool(ToolEvent::OutcomeUnknown { effect, .. }) => {
                self.calls.remove(effect);
            }
            TapeEvent::Run(_)
            | TapeEvent::Model(_)
            | TapeEvent::Tool(ToolEvent::EffectResolved { .. })
            | TapeEvent::Approval(ApprovalEvent::Voted(_) | ApprovalEvent::GrantStored(_))
            | TapeEvent::Unknown { .. } => {}
        }
    }

    fn propose(&mut self, proposed: &ToolProposed) {
        self.last_effect = self.last_effect.max(proposed.effect);
        let call = ToolCallState {
            station: CallState::Proposed,
            tool: ToolName::new(proposed.tool.expose()),
            arguments: proposed.arguments.clone(),
            digest: proposed.call_digest,
            terms: CallTerms::UNKNOWN,
            explanation: Redacted::default(),
            ask: None,
            binding: ContentDigest::default(),
            started_at: Timestamp::default(),
            plan: Arc::default(),
            shown: ShownOutput::default(),
        };
        self.calls.insert(proposed.effect, call);
    }

    fn decide(&mut self, decided: &ToolDecided) {
        if decided.verdict == ToolVerdict::Deny {
            self.calls.remove(&decided.effect);
        }
        let Some(call) = self.calls.get_mut(&decided.effect) else { return };
        call.terms = CallTerms::of(decided);
        call.explanation = decided.explanation.clone();
        match decided.verdict {
            ToolVerdict::Allow => call.station = CallState::Allowed,
            ToolVerdict::Ask => {
                call.station = CallState::AwaitingPrompt;
                call.ask = decided.ask.map(|ask| (ask.terms, Some(ask.approval)));
            }
            ToolVerdict::Deny => {}
        }
    }

    fn ask(&mut self, requested: &ApprovalRequested) {
        if let Some(call) = self.calls.get_mut(&requested.effect) {
            call.station = CallState::AwaitingApproval;
            call.ask = Some((requested.terms, None));
            call.binding = requested.binding;
        }
    }

    fn resolve(&mut self, resolved: &ApprovalResolved) {
        let Some(call) = self.calls.get_mut(&resolved.effect) else { return };
        call.station = CallState::AwaitingPrompt;
        if let (ApprovalState::Approved, Some(edited)) = (resolved.state, &resolved.edited) {
            call.arguments = edited.clone();
            call.digest = resolved.edited_digest;
            call.binding = ContentDigest::default();
        }
    }

    fn start(&mut self, started: &ToolStarted, time: Timestamp) {
        if let Some(call) = self.calls.get_mut(&started.effect) {
            call.station = CallState::Started;
            call.started_at = time;
            call.plan = Arc::new(started.plan.clone());
        }
    }

    fn show(&mut self, output: &ToolOutput) {
        if let Some(call) = self.calls.get_mut(&output.effect).filter(|call| call.is_at_work()) {
            call.shown.pieces = call.shown.pieces.saturating_add(1);
            call.shown.bytes = output.shown_bytes;
            call.shown.rest = output.rest;
        }
    }
}
