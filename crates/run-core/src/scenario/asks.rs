//! Calls that ask and are prepared, and what people and tools answer: judged and prepared as a runtime does it.
//!
//! Approvals have numbers: that of the n-th call of attempt a is `10 a + n`; fresh ones are given with the act.

use std::time::Duration;

use palyra_types::approval::{
    ApprovalDecision, ApprovalTerms, ArgumentRule, ArgumentShape, AtExpiry, GrantScope, SeparationRule,
    StoredGrantRequest,
};
use palyra_types::effect::{EffectPlan, EffectResolution};
use palyra_types::event::DecidedBy;
use palyra_types::run::Surface;
use palyra_types::tool::{
    DecisionReason, EffectContract, Parallelism, ToolConduct, ToolDecision, ToolVerdict,
};
use palyra_types::{ApprovalId, EffectId, ErrorCode, PrincipalId, Redacted, SessionId, StoredGrantId};

use super::{ScenarioAct, ScenarioDriver, ScriptedCall, digest, read, shell};
use crate::tool_calls::{CallState, ToolCallState};
use crate::{
    AnswerStage, ApprovalAnswer, JudgedAnswer, JudgementNeed, PrepareRefusal, PreparedEffect, RejudgedCall,
    RunInput, RunStateMachine,
};

/// What every scripted tool finds when it is prepared, unless a test says otherwise.
pub(crate) const FOUND: &str = "as it was";

pub(crate) fn approval(number: u32) -> ApprovalId {
    ApprovalId::from_parts(2, u128::from(number))
}

/// Returns the number of an approval.
pub(crate) fn number_of(approval: ApprovalId) -> u32 {
    let [.., a, b, c, d] = approval.to_bytes();
    u32::from_be_bytes([a, b, c, d])
}

/// The n-th person; the run works for the third.
pub(crate) fn person(number: u128) -> PrincipalId {
    PrincipalId::from_parts(1, number)
}

/// An opaque call that runs alone once a person approves.
pub(crate) fn asking(tool: &'static str) -> ScriptedCall {
    ScriptedCall { tool, verdict: ToolVerdict::Ask, reason: DecisionReason::NeedsApproval, ..shell() }
}

/// A probing call that is prepared, asks, and runs alone.
pub(crate) fn edit(path: &str) -> ScriptedCall {
    ScriptedCall {
        tool: "edit",
        arguments: format!(r#"{{"path":"{path}"}}"#),
        contract: EffectContract::Probe,
        conduct: ToolConduct::Prepared,
        ..asking("edit")
    }
}

/// A probing call that is prepared and allowed.
pub(crate) fn stamp(path: &str) -> ScriptedCall {
    ScriptedCall { tool: "stamp", ..edit(path) }.allowed()
}

/// A keyed call that asks.
pub(crate) fn send() -> ScriptedCall {
    ScriptedCall { contract: EffectContract::Keyed, ..asking("send") }.beside()
}

/// A question to the person.
pub(crate) fn question() -> ScriptedCall {
    ScriptedCall {
        tool: "question",
        contract: EffectContract::Local,
        conduct: ToolConduct::Question,
        ..shell()
    }
}

impl ScriptedCall {
    /// Lets it run beside others.
    pub(crate) fn beside(self) -> Self {
        Self { parallelism: Parallelism::Parallel, ..self }
    }

    pub(crate) fn allowed(self) -> Self {
        Self { verdict: ToolVerdict::Allow, reason: DecisionReason::Permitted, ..self }
    }

    pub(crate) fn under(self, contract: EffectContract) -> Self {
        Self { contract, ..self }
    }

    pub(crate) fn needing(mut self, people: u32) -> Self {
        self.approval.needed = people;
        self
    }

    pub(crate) fn by_another(mut self) -> Self {
        self.approval.separation = SeparationRule::AnotherPerson;
        self
    }

    pub(crate) fn parked(mut self) -> Self {
        self.approval.at_expiry = AtExpiry::Park;
        self
    }

    pub(crate) fn for_secs(mut self, secs: u64) -> Self {
        self.approval.span = Duration::from_secs(secs);
        self
    }

    pub(crate) fn granted(self, number: u128) -> Self {
        let grant = Some(StoredGrantId::from_parts(6, number));
        Self { grant, reason: DecisionReason::Granted, ..self.allowed() }
    }
}

/// What policy says when it is asked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PolicyNow {
    AsBefore,
    Denies,
    /// What it permitted needs an approval by now.
    Asks,
    /// It wants so many people.
    Needs(u32),
    /// The tool has another version.
    OtherVersion,
}

/// A person's answer in the making.
#[derive(Debug, Clone)]
pub(crate) struct ScriptedAnswer {
    pub(crate) approval: u32,
    pub(crate) by: PrincipalId,
    pub(crate) decision: ApprovalDecision,
    pub(super) note: &'static str,
    pub(super) edited: Option<&'static str>,
    pub(super) remember: Option<u128>,
    pub(crate) policy: PolicyNow,
    pub(crate) found: Option<String>,
    pub(crate) fresh: u32,
}

pub(crate) fn approve(approval: u32) -> ScriptedAnswer {
    ScriptedAnswer {
        approval,
        by: person(3),
        decision: ApprovalDecision::Approve,
        note: "",
        edited: None,
        remember: None,
        policy: PolicyNow::AsBefore,
        found: Some(FOUND.to_owned()),
        fresh: 900,
    }
}

pub(crate) fn deny(approval: u32) -> ScriptedAnswer {
    ScriptedAnswer { decision: ApprovalDecision::Deny, ..approve(approval) }
}

impl ScriptedAnswer {
    pub(crate) fn by(self, number: u128) -> Self {
        Self { by: person(number), ..self }
    }

    pub(crate) fn note(self, note: &'static str) -> Self {
        Self { note, ..self }
    }

    pub(crate) fn edited(self, arguments: &'static str) -> Self {
        Self { edited: Some(arguments), ..self }
    }

    pub(crate) fn remember(self, grant: u128) -> Self {
        Self { remember: Some(grant), ..self }
    }

    pub(crate) fn policy(self, policy: PolicyNow) -> Self {
        Self { policy, ..self }
    }

    /// Sets what the tool finds now; another text is another plan.
    pub(crate) fn found(self, found: &str) -> Self {
        Self { found: Some(found.to_owned()), ..self }
    }

    /// The tool says that it cannot work any more.
    pub(crate) fn refused(self) -> Self {
        Self { found: None, ..self }
    }

    pub(crate) fn fresh(self, fresh: u32) -> Self {
        Self { fresh, ..self }
    }

    pub(crate) fn act(self) -> ScenarioAct {
        ScenarioAct::Answer(self)
    }
}

impl ScenarioDriver {
    /// Makes the input of an answer as a run actor does: what would run is judged and prepared again.
    pub(crate) fn answer(&self, answer: &ScriptedAnswer) -> RunInput {
        let id = approval(answer.approval);
        let needed = self.machine.approval_needs_judgement(id, answer.by, answer.decision, self.now);
        let arguments = answer.edited.map(Redacted::from);
        let call = self.machine.call_of(id).filter(|_| needed == Ok(JudgementNeed::Needed));
        let intent = call.and(self.machine.intent_for_answer(id, arguments.as_ref()));
        let edited = arguments.clone().zip(call).map(|(arguments, (_, call))| {
            let edited = digest(&format!("{} {}", call.tool, arguments.expose()));
            (arguments, edited)
        });
        let said = ApprovalAnswer {
            approval: id,
            by: answer.by,
            via: Surface::LocalSocket,
            decision: answer.decision,
            note: answer.note.into(),
            edited,
            remember: answer.remember.map(grant_request),
            fresh: approval(answer.fresh),
        };
        let Some((_, call)) = call else {
            return RunInput::ApprovalAnswered(AnswerStage::Said(Box::new(said)));
        };
        let prepared = intent.map(|intent| {
            prepared(intent.tool().as_str(), intent.arguments().expose(), answer.found.as_deref())
        });
        let judged = JudgedAnswer { answer: said, prepared, judged: judged(call, answer.policy) };
        RunInput::ApprovalAnswered(AnswerStage::Judged(Box::new(judged)))
    }

    /// Makes the answer of a tool to the question what a call would do.
    pub(crate) fn prepared(&self, effect: u32, found: Option<&str>, fresh: u32) -> RunInput {
        let effect = EffectId(effect);
        let preparing = self.machine.preparing();
        let call = preparing.iter().find(|(preparing, _)| *preparing == effect);
        let (tool, arguments) =
            call.map_or(("none", ""), |(_, call)| (call.tool.as_str(), call.arguments.expose().as_str()));
        let prepared = prepared(tool, arguments, found);
        let judged = call.map(|(_, call)| Box::new(judged_now(call, self.policy)));
        RunInput::ToolPrepared { effect, prepared, judged, fresh: approval(fresh) }
    }

    /// Judges a call whose turn has come.
    pub(crate) fn judged_again(&self, machine: &RunStateMachine, effect: EffectId) -> RejudgedCall {
        let call = machine.call(effect).expect("it is open");
        let fresh = approval(700 + effect.0 + 100 * u32::try_from(self.tape.len()).expect("few"));
        RejudgedCall { effect, decision: judged_now(call, self.policy), fresh }
    }
}

/// What a tool says that a call would do, given what it finds; nothing is a refusal.
fn prepared(tool: &str, arguments: &str, found: Option<&str>) -> Result<PreparedEffect, PrepareRefusal> {
    let refusal = PrepareRefusal { code: ErrorCode::FileConflict, message: "it cannot work".into() };
    let found = found.ok_or(refusal)?;
    Ok(PreparedEffect {
        plan: EffectPlan {
            binding: digest(&format!("{tool} {arguments} {found}")),
            body: Redacted::cleaned(format!("plan for {found}")),
            ..EffectPlan::default()
        },
        summary: Redacted::cleaned(format!("will {tool}")),
        preview: Redacted::cleaned(format!("-{found}")),
        unbound: Redacted::default(),
        unchanged: Redacted::default(),
        programs: None,
        read_only: Vec::new(),
    })
}

/// What policy says by now of a call that may have been allowed.
pub(crate) fn judged_now(call: &ToolCallState, policy: PolicyNow) -> ToolDecision {
    let asks = matches!(policy, PolicyNow::Asks | PolicyNow::Needs(_));
    let judged = judged(call, policy);
    if asks || call.station == CallState::AwaitingPrompt || policy == PolicyNow::Denies {
        return judged;
    }
    let grant = match call.terms.decided_by {
        DecidedBy::Grant(grant) => Some(grant),
        DecidedBy::Approval(_) => return judged,
        DecidedBy::Policy | DecidedBy::Budget => None,
    };
    let reason = if grant.is_some() { DecisionReason::Granted } else { DecisionReason::Permitted };
    let (verdict, policy_digest) = (ToolVerdict::Allow, call.terms.policy_digest);
    ToolDecision { verdict, reason, grant, policy_digest, ..judged }
}

/// What policy says of an open call.
fn judged(call: &ToolCallState, policy: PolicyNow) -> ToolDecision {
    let terms = call.ask.map(|(terms, _)| terms).unwrap_or_default();
    let (verdict, reason) = match policy {
        PolicyNow::Denies => (ToolVerdict::Deny, DecisionReason::Forbidden),
        PolicyNow::AsBefore | PolicyNow::Asks | PolicyNow::Needs(_) | PolicyNow::OtherVersion => {
            (ToolVerdict::Ask, DecisionReason::NeedsApproval)
        }
    };
    let needed = if let PolicyNow::Needs(people) = policy { people } else { terms.needed };
    ToolDecision {
        verdict,
        reason,
        explanation: Redacted::cleaned(format!("{reason:?}")),
        policy_digest: [8; 32],
        contract: call.terms.contract,
        parallelism: call.terms.parallelism,
        deadline: call.terms.deadline,
        output_bytes_max: 1_000,
        conduct: call.terms.conduct,
        tool_version: call.terms.tool_version + u32::from(policy == PolicyNow::OtherVersion),
        risk: call.terms.risk,
        taints: call.terms.taints,
        approval: ApprovalTerms { needed, ..terms },
        grant: None,
        request: "{\"again\":true}".into(),
    }
}

fn grant_request(number: u128) -> StoredGrantRequest {
    StoredGrantRequest {
        grant: StoredGrantId::from_parts(6, number),
        scope: GrantScope::Session(SessionId::from_parts(1, 2)),
        expires: None,
        uses_max: Some(3),
        matcher: vec![ArgumentRule { argument: "path".into(), shape: ArgumentShape::Any }],
    }
}

/// A tool says what a call would do.
pub(crate) fn ready(effect: u32) -> ScenarioAct {
    ready_finding(effect, FOUND)
}

/// The same where it finds something else.
pub(crate) fn ready_finding(effect: u32, found: &str) -> ScenarioAct {
    ScenarioAct::Prepared { effect, found: Some(found.to_owned()), fresh: 500 + effect }
}

/// A tool says that a call cannot work.
pub(crate) fn cannot(effect: u32) -> ScenarioAct {
    ScenarioAct::Prepared { effect, found: None, fresh: 500 + effect }
}

pub(crate) fn expire(number: u32) -> ScenarioAct {
    ScenarioAct::Take(RunInput::ApprovalExpired { approval: approval(number) })
}

pub(crate) fn settle(effect: u32, resolution: EffectResolution) -> ScenarioAct {
    ScenarioAct::Take(RunInput::EffectResolved {
        effect: EffectId(effect),
        resolution,
        by: person(3),
        note: "I looked".into(),
    })
}

/// A call that reads beside others and brings a taint.
pub(crate) fn read_tainted(path: &str, taints: palyra_types::tool::Taints) -> ScriptedCall {
    ScriptedCall { taints, ..read(path) }
}
