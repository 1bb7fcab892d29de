//! Judges what a model proposes, and again what a person approves, with all that is known of the run.
//!
//! Owns the context of a call and what no rule can say: a secret in the arguments, and how many questions may be open.
//! The verdict itself is policy's.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use palyra_policy::{
    ActiveSkill, ArgumentsHold, CallEvidence, GrantedCall, PolicyRequest, ProgramsFound, SkillStanding,
    check_grant_request, decide_tool_call, exact_matcher, read_only_folders, wanted_kind,
};
use palyra_ports::RedactionFindings;
use palyra_ports::redactor::PLACEHOLDER_BEGINS;
use palyra_run_core::tool_calls::{CallState, ToolCallState};
use palyra_run_core::{JudgedCall, RunStateMachine};
use palyra_types::approval::{
    ApproverPresence, ArgumentRule, GrantScope, StoredGrantRecord, StoredGrantRequest,
};
use palyra_types::event::{ContentDigest, DecidedBy, RunStarted};
use palyra_types::model::{RawToolProposal, ToolProposal};
use palyra_types::run::Surface;
use palyra_types::session::SessionRef;
use palyra_types::tool::{
    CallContext, DecisionReason, Isolation, Taints, ToolCall, ToolDecision, ToolName, ToolVerdict,
};
use palyra_types::{AgentId, ApprovalId, EffectId, Redacted, StoredGrantId};

use crate::error::RequestError;
use crate::run::state::AgentRunLoopState;
use crate::run_context::{RunContext, RunPorts};
use palyra_admin::pending_approvals::{OPEN_APPROVALS_PRINCIPAL_MAX, OPEN_APPROVALS_RUN_MAX};

/// One run, as a judge sees it.
pub(super) struct CallEvaluator<'a> {
    run_context: &'a RunContext,
    salt: Redacted<[u8; 32]>,
    workspace: Option<Redacted<PathBuf>>,
    context: CallContext,
    /// What the run had read when the model made its open calls.
    taints_of_open_calls: Taints,
    /// Whether stored grants of the principal may cover its calls, if it is the run of a schedule.
    occurrence_uses_grants: bool,
    /// The skills at work in the run, as they stand now.
    skills: Vec<ActiveSkill>,
    /// Approvals of the run that wait, and those that this judge adds.
    open: usize,
    /// Stored grants with a number of uses that this judge has counted on: one use in one commit, so that the
    /// journal's count is never behind.
    counted: BTreeSet<StoredGrantId>,
}

impl<'a> CallEvaluator<'a> {
    pub(super) fn of_run(
        run_context: &'a RunContext,
        state: &AgentRunLoopState,
        session: SessionRef,
        inherited: Taints,
    ) -> Self {
        Self::of(run_context, &state.machine, state.started.as_ref(), session, inherited)
    }

    pub(super) fn of(
        run_context: &'a RunContext,
        machine: &RunStateMachine,
        started: Option<&RunStarted>,
        session: SessionRef,
        inherited: Taints,
    ) -> Self {
        let counts = machine.counts();
        let context = CallContext {
            principal: session.principal,
            agent: started.map_or(AgentId::NIL, |started| started.agent),
            session: session.id,
            run: machine.run(),
            surface: started.map_or(Surface::LocalSocket, |started| started.surface),
            approvers: started.map_or(ApproverPresence::Nobody, |started| started.approvers),
            taints: machine.taints().with(inherited),
            turns: counts.turns,
            tool_calls: counts.tool_calls,
            now: run_context.ports.clock.wall(),
            isolation: Isolation::DescriptorRelative,
        };
        let open = machine.pending_approvals().count();
        let workspace = started.map(|started| started.workspace_root.clone());
        let run_key = started.and_then(|started| started.idempotency);
        let skills = run_context.views.skills.active(started.map_or(&[][..], |started| &started.skills));
        Self {
            run_context,
            salt: salt_of(started),
            workspace,
            context,
            taints_of_open_calls: machine.taints_of_open_calls().with(inherited),
            occurrence_uses_grants: run_context.views.occurrences.allows_grants(run_key),
            skills,
            open,
            counted: BTreeSet::new(),
        }
    }

    /// Judges the proposals of one answer, in order.
    pub(super) fn proposals(&mut self, proposals: Vec<RawToolProposal>) -> Vec<JudgedCall> {
        proposals.into_iter().enumerate().map(|(number, proposal)| self.proposal(number, proposal)).collect()
    }

    /// Cleans the calls of one answer that the client performs: no policy judges them here.
    pub(super) fn cleaned(&self, proposals: Vec<RawToolProposal>) -> Vec<ToolProposal> {
        let cleaned = |(number, proposal): (usize, RawToolProposal)| {
            let (model_call_id, tool) = self.without_secret_names(number, &proposal);
            let arguments = self.run_context.ports.redactor.redact_json(proposal.arguments).text;
            ToolProposal { model_call_id, tool, arguments }
        };
        proposals.into_iter().enumerate().map(cleaned).collect()
    }

    fn proposal(&mut self, number: usize, proposal: RawToolProposal) -> JudgedCall {
        let (model_call_id, tool) = self.without_secret_names(number, &proposal);
        let cleaned = self.run_context.ports.redactor.redact_json(proposal.arguments);
        let proposal = ToolProposal { model_call_id, tool, arguments: cleaned.text };
        let mut decision = self.decide(&proposal.tool, &proposal.arguments, cleaned.findings);
        self.context.tool_calls = self.context.tool_calls.saturating_add(1);
        if decision.verdict == ToolVerdict::Ask {
            self.bound_questions(&mut decision);
        }
        let digest = self.digest_of(&proposal.tool, &proposal.arguments);
        JudgedCall { decision, proposal, digest, approval: fresh_approval(self.run_context) }
    }

    /// Replaces a tool's name and a call's id that hold a secret: no tool is called so, and a model finds its call by
    /// the id that it is given back.
    fn without_secret_names(
        &self,
        number: usize,
        proposal: &RawToolProposal,
    ) -> (Redacted<String>, ToolName) {
        let RunPorts { redactor, recorder, .. } = &self.run_context.ports;
        let tool = redactor.redact(proposal.tool.as_str().into());
        let call_id = recorder.check(self.context.principal, proposal.model_call_id.clone());
        let call_id =
            call_id.unwrap_or_else(|_| Redacted::from(number).map(|number| format!("call-{number}")));
        (call_id, ToolName::new(tool.text.expose()))
    }

    /// Judges an open call again, right before it would start or be asked about.
    pub(super) fn again(
        &mut self,
        effect: EffectId,
        call: &ToolCallState,
        programs: ProgramsFound,
    ) -> ToolDecision {
        let grants = self.grants_for(call);
        // What came after the model made the call is no part of it: its place in the run stays what it was.
        self.context.tool_calls = effect.0.saturating_sub(1);
        self.context.taints = self.taints_of_open_calls;
        let mut decision =
            self.decide_with(&call.tool, &call.arguments, RedactionFindings::default(), &grants, programs);
        let asks_anew = decision.verdict == ToolVerdict::Ask
            && call.station == CallState::Allowed
            && !matches!(call.terms.decided_by, DecidedBy::Approval(_));
        if asks_anew {
            self.bound_questions(&mut decision);
        }
        decision
    }

    /// Returns the grants that may cover an open call: the one that it runs by was counted for it already.
    fn grants_for(&self, call: &ToolCallState) -> Vec<StoredGrantRecord> {
        let mut grants = self.standing_grants(&call.tool);
        let own = match call.terms.decided_by {
            DecidedBy::Grant(grant) => Some(grant),
            DecidedBy::Policy | DecidedBy::Budget | DecidedBy::Approval(_) => None,
        };
        grants.retain(|record| {
            Some(record.stored.grant) == own || !self.counted.contains(&record.stored.grant)
        });
        for record in grants.iter_mut().filter(|record| Some(record.stored.grant) == own) {
            record.uses = record.uses.saturating_sub(1);
        }
        // The one that it runs by stays the one, as long as it covers the call.
        grants.sort_by_key(|record| Some(record.stored.grant) != own);
        grants
    }

    /// Returns the grants of the principal for a tool. Runs of a schedule have none of their session: a person who approved
    /// one of them did not approve those that follow. They have none at all where the words of others may have made the
    /// schedule.
    fn standing_grants(&self, tool: &ToolName) -> Vec<StoredGrantRecord> {
        let mut grants = self.run_context.views.grants.of(self.context.principal, tool);
        if self.context.surface == Surface::Schedule {
            let is_of_session =
                |record: &StoredGrantRecord| matches!(record.stored.scope, GrantScope::Session(_));
            grants.retain(|record| self.occurrence_uses_grants && !is_of_session(record));
        }
        grants
    }

    /// Judges one call as it stands now.
    pub(super) fn decide(
        &mut self,
        tool: &ToolName,
        arguments: &Redacted<String>,
        findings: RedactionFindings,
    ) -> ToolDecision {
        let mut grants = self.standing_grants(tool);
        grants.retain(|record| !self.counted.contains(&record.stored.grant));
        let decision = self.decide_with(tool, arguments, findings, &grants, ProgramsFound::NotLookedAt);
        let used =
            grants.iter().map(|record| &record.stored).find(|stored| Some(stored.grant) == decision.grant);
        self.counted.extend(used.filter(|stored| stored.uses_max.is_some()).map(|stored| stored.grant));
        decision
    }

    fn decide_with(
        &self,
        tool: &ToolName,
        arguments: &Redacted<String>,
        findings: RedactionFindings,
        grants: &[StoredGrantRecord],
        programs: ProgramsFound,
    ) -> ToolDecision {
        let policy = self.run_context.views.policy.snapshot();
        let held = if findings.changed() {
            ArgumentsHold::Secret
        } else if arguments.expose().contains(PLACEHOLDER_BEGINS) {
            ArgumentsHold::Placeholder
        } else {
            ArgumentsHold::Nothing
        };
        let (skills, workspace) = (&self.skills[..], self.workspace());
        let known = Arc::clone(&self.run_context.views.access.borrow());
        let evidence = CallEvidence { grants, held, skills, workspace, programs, people: &known.principals };
        let context =
            CallContext { isolation: self.run_context.ports.tools.isolation(tool), ..self.context.clone() };
        let call = ToolCall { tool: tool.clone(), arguments: arguments.clone(), context };
        let mut decision = decide_tool_call(&policy, &call, &evidence);
        if decision.reason == DecisionReason::SkillForbids {
            self.tell_quarantine(&mut decision);
        }
        decision
    }

    /// Returns the folders to which a judged call may not write, by the rules in force.
    pub(super) fn read_only_folders(&self, decision: &ToolDecision) -> Vec<String> {
        read_only_folders(self.run_context.views.policy.snapshot().policies(), decision.request.expose())
    }

    /// Denies a call that was prepared while the rules about folders were others.
    pub(super) fn deny_other_folders(&self, mut decision: ToolDecision, prepared: &[String]) -> ToolDecision {
        if decision.verdict != ToolVerdict::Deny && self.read_only_folders(&decision) != prepared {
            let message = "the rules about folders changed while it was found out what the call would do; it may be made again";
            refuse(&mut decision, DecisionReason::Drifted, message.into());
        }
        decision
    }

    /// Says of a skill that takes no part what has to happen, instead of what it does not include.
    fn tell_quarantine(&self, decision: &mut ToolDecision) {
        let out = self.skills.iter().find(|skill| skill.standing == SkillStanding::Quarantined);
        if let Some(skill) = out {
            let message = format!(
                "no tool can be used: the skill `{}` is not what was installed, and a person has to look at it \
                 (`palyra tools skills list`); the same call would be denied again",
                skill.name
            );
            decision.explanation = self.run_context.ports.redactor.redact(message.into()).text;
        }
    }

    /// Adds to a grant what its giver did not choose, which is equality, and checks that it makes sense for its call.
    ///
    /// # Errors
    /// [`RequestError::InvalidArgument`].
    pub(super) fn check_grant_request(
        &self,
        requested: &mut StoredGrantRequest,
        tool: &ToolName,
        arguments: &Redacted<String>,
        judged: &ToolDecision,
    ) -> Result<(), RequestError> {
        let wrong = |what: String| RequestError::InvalidArgument { what };
        if !judged.approval.is_plain() {
            return Err(wrong(
                "the rule that asks wants its own yes each time, so no grant would answer for it; approve this \
                 call without a grant"
                    .to_owned(),
            ));
        }
        let exact = exact_matcher(arguments);
        let value = serde_json::from_str(arguments.expose()).ok();
        let (Some(exact), Some(value)) = (exact, value) else {
            return Err(wrong(
                "a call whose arguments are not a JSON object cannot be remembered".to_owned(),
            ));
        };
        let chosen =
            |rule: &ArgumentRule| requested.matcher.iter().any(|other| other.argument == rule.argument);
        let rest: Vec<_> = exact.into_iter().filter(|rule| !chosen(rule)).collect();
        requested.matcher.extend(rest);
        let (context, workspace) = (&self.context, self.workspace());
        let snapshot = self.run_context.views.policy.snapshot();
        let spec = snapshot.catalog().get(tool);
        let misfit = |rule: &ArgumentRule| {
            let kind = wanted_kind(spec?, rule)?;
            Some(format!("the rule for `{0}` cannot be used: `{0}` is not {kind}", rule.argument.expose()))
        };
        if let Some(what) = requested.matcher.iter().find_map(misfit) {
            return Err(wrong(what));
        }
        let request = PolicyRequest::from_json(judged.request.expose());
        let call = GrantedCall {
            tool,
            arguments: &value,
            risk: judged.risk,
            context,
            workspace,
            tool_version: spec.map_or(0, |spec| spec.version),
            programs: ProgramsFound::NotLookedAt,
            shell_line: request.is_ok_and(|request| request.is_shell_line()),
        };
        check_grant_request(requested, call).map_err(|error| wrong(error.to_string()))
    }

    fn workspace(&self) -> Option<&str> {
        self.workspace.as_ref().and_then(|root| root.expose().to_str())
    }

    /// Denies what would be one question too many: whoever answers has to be able to read them all.
    fn bound_questions(&mut self, decision: &mut ToolDecision) {
        let of_principal = self.run_context.asking.waiting_of(self.context.principal);
        let message = if self.open >= OPEN_APPROVALS_RUN_MAX {
            Redacted::from(OPEN_APPROVALS_RUN_MAX).map(|calls| {
                format!("{calls} calls of this run wait for a person already; no further one is asked for")
            })
        } else if of_principal >= OPEN_APPROVALS_PRINCIPAL_MAX {
            Redacted::from(OPEN_APPROVALS_PRINCIPAL_MAX).map(|calls| {
                format!("{calls} calls wait for this person already; no further one is asked for")
            })
        } else {
            self.open += 1;
            return;
        };
        refuse(decision, DecisionReason::NoApprovalChannel, message);
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
pub(crate) fn fresh_approval(run_context: &RunContext) -> ApprovalId {
    run_context.ports.entropy.new_id(run_context.ports.clock.wall())
}

fn refuse(decision: &mut ToolDecision, reason: DecisionReason, message: Redacted<String>) {
    decision.verdict = ToolVerdict::Deny;
    decision.reason = reason;
    decision.explanation = message;
    decision.grant = None;
}
