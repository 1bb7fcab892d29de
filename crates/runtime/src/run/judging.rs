//! Judges what a model proposes, and again what a person approves, with all that is known of the run.
//!
//! Owns the context of a call and what no rule can say: a secret in the arguments, and how many questions may be open.
//! The verdict itself is policy's.

use std::collections::BTreeSet;
use std::path::PathBuf;

use palyra_policy::{
    ActiveSkill, ArgumentsHold, CallEvidence, GrantedCall, ProgramsFound, SkillStanding, check_wish,
    decide_tool_call, exact_matcher,
};
use palyra_ports::Findings;
use palyra_ports::redactor::PLACEHOLDER_BEGINS;
use palyra_run_core::JudgedCall;
use palyra_types::approval::{Approvers, ArgumentRule, GrantWish};
use palyra_types::event::{ContentDigest, RunStarted};
use palyra_types::model::ToolProposal;
use palyra_types::run::Surface;
use palyra_types::session::SessionRef;
use palyra_types::tool::{
    ApprovalRiskLevel, CallContext, DecisionReason, Isolation, Taints, ToolCall, ToolDecision, ToolName,
    ToolVerdict,
};
use palyra_types::{AgentId, ApprovalId, Redacted, StoredGrantId};

use crate::asking::{OPEN_APPROVALS_PRINCIPAL_MAX, OPEN_APPROVALS_RUN_MAX};
use crate::engine::Engine;
use crate::error::RequestError;
use crate::run::state::AgentRunLoopState;

/// One run, as a judge sees it.
pub(super) struct Judging<'a> {
    engine: &'a Engine,
    salt: Redacted<[u8; 32]>,
    workspace: Option<Redacted<PathBuf>>,
    context: CallContext,
    /// The skills at work in the run, as they stand now.
    skills: Vec<ActiveSkill>,
    /// Approvals of the run that wait, and those that this judge adds.
    open: usize,
    /// Stored grants with a number of uses that this judge has counted on: one use in one commit, so that the
    /// journal's count is never behind.
    counted: BTreeSet<StoredGrantId>,
}

impl<'a> Judging<'a> {
    pub(super) fn of(
        engine: &'a Engine,
        state: &AgentRunLoopState,
        session: SessionRef,
        inherited: Taints,
    ) -> Self {
        let (machine, started) = (&state.machine, state.started.as_ref());
        let counts = machine.counts();
        let context = CallContext {
            principal: session.principal,
            agent: started.map_or(AgentId::NIL, |started| started.agent),
            session: session.id,
            run: machine.run(),
            surface: started.map_or(Surface::LocalSocket, |started| started.surface),
            approvers: started.map_or(Approvers::Nobody, |started| started.approvers),
            taints: machine.taints().with(inherited),
            turns: counts.turns,
            tool_calls: counts.tool_calls,
            now: engine.ports.clock.wall(),
            isolation: Isolation::DescriptorRelative,
        };
        let open = machine.pending_approvals().count();
        let workspace = started.map(|started| started.workspace_root.clone());
        let skills = engine.skills.active(started.map_or(&[][..], |started| &started.skills));
        Self { engine, salt: salt_of(started), workspace, context, skills, open, counted: BTreeSet::new() }
    }

    /// Judges the proposals of one answer, in order.
    pub(super) fn proposals(&mut self, proposals: Vec<ToolProposal>) -> Vec<JudgedCall> {
        proposals.into_iter().map(|proposal| self.proposal(proposal)).collect()
    }

    fn proposal(&mut self, proposal: ToolProposal) -> JudgedCall {
        let cleaned = self.engine.ports.redactor.redact_json(proposal.arguments.clone());
        let proposal = ToolProposal { arguments: cleaned.text, ..proposal };
        let mut decision = self.decide(&proposal.tool, &proposal.arguments, cleaned.findings);
        self.context.tool_calls = self.context.tool_calls.saturating_add(1);
        if decision.verdict == ToolVerdict::Ask {
            self.bound_questions(&mut decision);
        }
        let digest = self.digest_of(&proposal.tool, &proposal.arguments);
        JudgedCall { decision, proposal, digest, approval: fresh_approval(self.engine) }
    }

    /// Judges one call as it stands now.
    pub(super) fn decide(
        &mut self,
        tool: &ToolName,
        arguments: &Redacted<String>,
        findings: Findings,
    ) -> ToolDecision {
        let policy = self.engine.policy.snapshot();
        let mut grants = self.engine.grants.of(self.context.principal, tool);
        grants.retain(|record| !self.counted.contains(&record.stored.grant));
        let held = if findings.changed() {
            ArgumentsHold::Secret
        } else if arguments.expose().contains(PLACEHOLDER_BEGINS) {
            ArgumentsHold::Placeholder
        } else {
            ArgumentsHold::Nothing
        };
        let programs = ProgramsFound::NotLookedAt;
        let (skills, workspace) = (&self.skills[..], self.workspace());
        let evidence = CallEvidence { grants: &grants, held, skills, workspace, programs };
        let context =
            CallContext { isolation: self.engine.ports.tools.isolation(tool), ..self.context.clone() };
        let call = ToolCall { tool: tool.clone(), arguments: arguments.clone(), context };
        let mut decision = decide_tool_call(&policy, &call, &evidence);
        if decision.reason == DecisionReason::SkillForbids {
            self.tell_quarantine(&mut decision);
        }
        let used =
            grants.iter().map(|record| &record.stored).find(|stored| Some(stored.grant) == decision.grant);
        self.counted.extend(used.filter(|stored| stored.uses_max.is_some()).map(|stored| stored.grant));
        decision
    }

    /// Says of a skill that takes no part what has to happen, instead of what it does not include.
    fn tell_quarantine(&self, decision: &mut ToolDecision) {
        let out = self.skills.iter().find(|skill| skill.standing == SkillStanding::Quarantined);
        if let Some(skill) = out {
            decision.explanation = Redacted::new(format!(
                "no tool can be used: the skill `{}` is not what was installed, and a person has to look at it \
                 (`palyra tools skills`); repeating the call changes nothing",
                skill.name
            ));
        }
    }

    /// Adds to a grant what its giver did not choose, which is equality, and checks that it makes sense for its call.
    ///
    /// # Errors
    /// [`RequestError::InvalidArgument`].
    pub(super) fn check_wish(
        &self,
        wish: &mut GrantWish,
        (tool, arguments): (&ToolName, &Redacted<String>),
        risk: ApprovalRiskLevel,
    ) -> Result<(), RequestError> {
        let wrong = |what: String| RequestError::InvalidArgument { what };
        let exact = exact_matcher(arguments.expose());
        let value = serde_json::from_str(arguments.expose()).ok();
        let (Some(exact), Some(value)) = (exact, value) else {
            return Err(wrong(
                "nothing can be remembered of a call whose arguments are no JSON object".to_owned(),
            ));
        };
        let chosen = |rule: &ArgumentRule| wish.matcher.iter().any(|other| other.argument == rule.argument);
        let rest: Vec<_> = exact.into_iter().filter(|rule| !chosen(rule)).collect();
        wish.matcher.extend(rest);
        let (context, workspace) = (&self.context, self.workspace());
        let tool_version = self.engine.policy.snapshot().catalog().get(tool).map_or(0, |spec| spec.version);
        let programs = ProgramsFound::NotLookedAt;
        let call = GrantedCall { tool, arguments: &value, risk, context, workspace, tool_version, programs };
        check_wish(wish, call).map_err(|error| wrong(error.to_string()))
    }

    fn workspace(&self) -> Option<&str> {
        self.workspace.as_ref().and_then(|root| root.expose().to_str())
    }

    /// Denies what would be one question too many: whoever answers has to be able to read them all.
    fn bound_questions(&mut self, decision: &mut ToolDecision) {
        let of_principal = self.engine.asking.waiting_of(self.context.principal);
        let told = if self.open >= OPEN_APPROVALS_RUN_MAX {
            format!(
                "{OPEN_APPROVALS_RUN_MAX} calls of this run wait for a person already; no further one is asked for"
            )
        } else if of_principal >= OPEN_APPROVALS_PRINCIPAL_MAX {
            format!(
                "{OPEN_APPROVALS_PRINCIPAL_MAX} calls wait for this person already; no further one is asked for"
            )
        } else {
            self.open += 1;
            return;
        };
        refuse(decision, DecisionReason::NoApprovalChannel, told);
    }

    /// Returns the keyed digest of a call.
    pub(super) fn digest_of(&self, tool: &ToolName, arguments: &Redacted<String>) -> ContentDigest {
        let content = [tool.as_str(), arguments.expose()].join("\0");
        palyra_ledger::content_digest(&self.salt, content.as_bytes())
    }
}

/// Returns the key of a run's digests.
pub(super) fn salt_of(started: Option<&RunStarted>) -> Redacted<[u8; 32]> {
    started.map(|started| started.run_salt.clone()).unwrap_or_default()
}

/// Makes the id of an approval that may be asked for.
pub(crate) fn fresh_approval(engine: &Engine) -> ApprovalId {
    let (ms, random) = engine.ports.entropy.id_parts(engine.ports.clock.wall());
    ApprovalId::from_parts(ms, random)
}

fn refuse(decision: &mut ToolDecision, reason: DecisionReason, told: String) {
    decision.verdict = ToolVerdict::Deny;
    decision.reason = reason;
    decision.explanation = Redacted::new(told);
    decision.grant = None;
}
