//! Makes grants for tests of tools, the only way there is: by driving a run machine.
//!
//! Owns nothing but the shortest road to a [`Grant`]. Knows no tool and no policy: the verdict is an allow.
//! Begin at [`grant_for`].

use std::path::{Path, PathBuf};
use std::time::Duration;

use palyra_ports::{PreparedCall, ToolRuntime};
use palyra_run_core::{
    Effect, Grant, JudgedCall, MachineDecision, PreparedEffect, RawPrepareRefusal, RunInput, RunStateMachine,
};
use palyra_types::approval::{ApprovalTerms, ApproverPresence};
use palyra_types::effect::{EffectPlan, FileBefore, PreImage, RawPreImage};
use palyra_types::event::{ContentDigest, ContextPlan, ModelRouting, RunStarted};
use palyra_types::model::{FinishReason, ModelAnswer, ModelName, ModelRef, ToolProposal};
use palyra_types::run::{InputDelivery, RunLimits, Surface, UserInput};
use palyra_types::tool::{
    ApprovalRiskLevel, DecisionReason, EffectContract, Parallelism, Taints, ToolConduct, ToolDecision,
    ToolName, ToolVerdict,
};
use palyra_types::{
    AgentId, ApprovalId, Attempt, Content, PrincipalId, Redacted, RunId, SessionId, Timestamp,
};

/// Returns a grant for one pure call with a deadline of two minutes and 64 KiB of output.
///
/// # Panics
/// When the run machine does not execute an allowed call: that is a bug of the machine.
#[must_use]
pub fn grant_for(tool: &str, arguments: &str, root: &Path) -> Grant {
    GrantRequest::new(tool, arguments, root).grant()
}

/// A grant in the making, for tests that care about its terms.
#[derive(Debug, Clone)]
pub struct GrantRequest {
    tool: ToolName,
    arguments: Redacted<String>,
    root: PathBuf,
    contract: EffectContract,
    deadline: Duration,
    output_bytes_max: usize,
    tool_version: u32,
}

impl GrantRequest {
    /// Begins with the terms of [`grant_for`].
    #[must_use]
    pub fn new(tool: &str, arguments: &str, root: &Path) -> Self {
        Self {
            tool: ToolName::new(tool),
            arguments: Redacted::cleaned(arguments.to_owned()),
            root: root.to_owned(),
            contract: EffectContract::Pure,
            deadline: Duration::from_secs(120),
            output_bytes_max: 64 * 1_024,
            tool_version: 1,
        }
    }

    /// Sets what may be done when the outcome is unknown.
    #[must_use]
    pub fn contract(self, contract: EffectContract) -> Self {
        Self { contract, ..self }
    }

    /// Sets how long the call may take.
    #[must_use]
    pub fn deadline(self, deadline: Duration) -> Self {
        Self { deadline, ..self }
    }

    /// Sets how much output is kept.
    #[must_use]
    pub fn output_bytes_max(self, output_bytes_max: usize) -> Self {
        Self { output_bytes_max, ..self }
    }

    /// Sets which version of the tool was decided about; 1 where nobody says.
    #[must_use]
    pub fn tool_version(self, tool_version: u32) -> Self {
        Self { tool_version, ..self }
    }

    /// Drives a run until it executes the call.
    ///
    /// # Panics
    /// When the run machine does not execute an allowed call: that is a bug of the machine.
    #[must_use]
    pub fn grant(self) -> Grant {
        let (_, decision) = self.proposed(ToolConduct::Direct);
        executed(decision)
    }

    /// Drives a run until it executes the call, and on as after a restart that found it begun.
    ///
    /// # Panics
    /// When the run machine does not execute an allowed call again: that is a bug of the machine, or of the contract.
    #[must_use]
    pub fn repeated(self) -> Grant {
        let (mut machine, _) = self.proposed(ToolConduct::Direct);
        executed(take(&mut machine, &RunInput::Recovered))
    }

    /// Has the tool prepare the call first, and drives the run on until it executes what was prepared.
    ///
    /// # Errors
    /// The tool's own refusal.
    ///
    /// # Panics
    /// When the run machine does not prepare and execute an allowed call: that is a bug of the machine.
    pub async fn prepared_by(
        self,
        tools: &dyn ToolRuntime,
    ) -> Result<(PreparedCall, Grant), RawPrepareRefusal> {
        let judged = Some(Box::new(self.decision(ToolConduct::Prepared)));
        let (mut machine, decision) = self.proposed(ToolConduct::Prepared);
        let intent = decision.effects.into_iter().find_map(|effect| match effect {
            Effect::Prepare(intent) => Some(intent),
            _ => None,
        });
        let intent = intent.expect("a call that is prepared is prepared first");
        let effect = intent.effect();
        let call = tools.prepare(intent).await?;
        let plan = EffectPlan {
            binding: ContentDigest::default(),
            body: as_cleaned(&call.body),
            pre_images: call.pre_images.iter().map(kept).collect(),
            ..EffectPlan::default()
        };
        let prepared = PreparedEffect {
            plan,
            summary: as_cleaned(&call.summary),
            preview: as_cleaned(&call.preview),
            unbound: as_cleaned(&call.unbound),
            unchanged: as_cleaned(&call.unchanged),
            programs: call.programs,
            read_only: call.read_only.clone(),
        };
        let fresh = ApprovalId::from_parts(1, 6);
        let told = RunInput::ToolPrepared { effect, prepared: Ok(prepared), judged, fresh };
        Ok((call, executed(take(&mut machine, &told))))
    }

    fn proposed(self, conduct: ToolConduct) -> (RunStateMachine, MachineDecision) {
        let mut machine = RunStateMachine::new(
            RunId::from_parts(1, 1),
            SessionId::from_parts(1, 2),
            PrincipalId::from_parts(1, 3),
        );
        let model = ModelRef::new("test", "scripted");
        take(&mut machine, &RunInput::Start(Box::new(self.started())));
        take(&mut machine, &RunInput::Begin);
        take(
            &mut machine,
            &RunInput::ContextReady {
                plan: ContextPlan::default(),
                model: model.clone(),
                routing: ModelRouting::default(),
            },
        );
        let decision = take(&mut machine, &self.answered(model, conduct));
        (machine, decision)
    }

    fn started(&self) -> RunStarted {
        RunStarted {
            agent: AgentId::from_parts(1, 4),
            surface: Surface::LocalSocket,
            limits: RunLimits::default(),
            config_digest: [0; 32],
            idempotency: None,
            delivery: InputDelivery::Queue,
            approvers: ApproverPresence::Inbox,
            taints: Taints::NONE,
            skills: Vec::new(),
            input: UserInput::text("use the tool".into()),
            workspace_root: Redacted::cleaned(self.root.clone()),
            model: Redacted::cleaned(None),
            project_files: Vec::new(),
            recalled: Vec::new(),
            recall: None,
            compaction: None,
            run_salt: Redacted::cleaned([0; 32]),
            fallbacks: Redacted::default(),
            response_format: None,
            sampling: Box::default(),
        }
    }

    fn decision(&self, conduct: ToolConduct) -> ToolDecision {
        ToolDecision {
            verdict: ToolVerdict::Allow,
            reason: DecisionReason::Permitted,
            explanation: Redacted::default(),
            policy_digest: [0; 32],
            contract: self.contract,
            parallelism: Parallelism::Parallel,
            deadline: self.deadline,
            output_bytes_max: self.output_bytes_max,
            conduct,
            tool_version: self.tool_version,
            risk: ApprovalRiskLevel::Low,
            taints: Taints::NONE,
            approval: ApprovalTerms::default(),
            grant: None,
            request: Redacted::default(),
        }
    }

    fn answered(self, model: ModelRef, conduct: ToolConduct) -> RunInput {
        let decision = self.decision(conduct);
        let proposal =
            ToolProposal { model_call_id: "call_0".into(), tool: self.tool, arguments: self.arguments };
        let answer = ModelAnswer {
            response_id: Redacted::default(),
            answered_by: ModelName::new("scripted"),
            finish: FinishReason::ToolCalls,
            usage: None,
            proposals: vec![proposal.clone()],
            continuation: None,
        };
        let call = JudgedCall {
            proposal,
            digest: ContentDigest::default(),
            decision,
            approval: ApprovalId::from_parts(1, 5),
        };
        RunInput::Answered { attempt: Attempt(1), answer, model, calls: vec![call] }
    }
}

fn executed(decision: MachineDecision) -> Grant {
    let granted = decision.effects.into_iter().find_map(|effect| match effect {
        Effect::Execute(grant) => Some(grant),
        _ => None,
    });
    granted.expect("an allowed call is executed at once when nothing else runs")
}

fn take(machine: &mut RunStateMachine, input: &RunInput) -> MachineDecision {
    let now = Timestamp::default();
    let decision = machine.decide(input, now).expect("the inputs come in the order of a plain run");
    for event in &decision.events {
        machine.evolve(event, now);
    }
    decision
}

/// Takes content for cleaned, as a redactor that finds nothing would.
fn as_cleaned<T: Clone>(content: &Content<T>) -> Redacted<T> {
    Redacted::cleaned(content.expose().clone())
}

fn kept(image: &RawPreImage) -> PreImage {
    let before = match &image.before {
        FileBefore::Absent => FileBefore::Absent,
        FileBefore::File { bytes, mode } => FileBefore::File { bytes: as_cleaned(bytes), mode: *mode },
        FileBefore::Withheld { mode } => FileBefore::Withheld { mode: *mode },
    };
    PreImage { path: as_cleaned(&image.path), before, after_sha256: image.after_sha256 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grant_carries_the_call_and_its_terms() {
        let grant = GrantRequest::new("read_file", r#"{"path":"a"}"#, Path::new("/somewhere"))
            .contract(EffectContract::Opaque)
            .deadline(Duration::from_secs(3))
            .output_bytes_max(17)
            .tool_version(4)
            .grant();
        assert_eq!(grant.tool().as_str(), "read_file");
        assert_eq!(grant.arguments().expose(), r#"{"path":"a"}"#);
        assert_eq!(grant.workspace_root(), Path::new("/somewhere"));
        assert_eq!(grant.contract(), EffectContract::Opaque);
        assert_eq!(grant.deadline(), Duration::from_secs(3));
        assert_eq!(grant.output_bytes_max(), 17);
        assert_eq!(grant.tool_version(), 4);
        assert_eq!(grant_for("x", "{}", Path::new("/")).contract(), EffectContract::Pure);
    }
}
