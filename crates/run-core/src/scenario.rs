//! What tests of the run machine are written in: short inputs, a naive driver, and one line per commit.
//!
//! Owns the smallest runtime that keeps the rules: it decides, answers context requests within the step, and
//! keeps the tape. Invariant: after each step a replay of the tape equals the machine.
//!
//! Begin at [`ScenarioDriver::take`]; [`world`] adds chance to it.

#![expect(clippy::wildcard_enum_match_arm, reason = "a test names the cases that it is about")]

use std::time::Duration;

use palyra_types::approval::{ApprovalTerms, ApproverPresence};
use palyra_types::effect::OutputRest;
use palyra_types::event::{
    ContentDigest, ContextPlan, ModelRouting, RunEvent, RunFinished, RunStarted, TapeEvent,
    UnknownOutcomeCause,
};
use palyra_types::model::{
    FinishReason, ModelAnswer, ModelFailureClass, ModelName, ModelRef, TokenUsage, ToolProposal, UsageSource,
};
use palyra_types::run::{
    CancelReason, IdempotencyDigest, InputDelivery, RunLimits, RunPhase, Surface, UserInput,
};
use palyra_types::tool::{
    ApprovalRiskLevel, DecisionReason, EffectContract, Isolation, Parallelism, Taints, ToolConduct,
    ToolDecision, ToolExecutionOutcome, ToolExecutor, ToolName, ToolVerdict,
};
use palyra_types::{
    AgentId, ApprovalId, Attempt, EffectId, ErrorCode, PrincipalId, Redacted, RunId, SessionId,
    StoredGrantId, Timestamp,
};

use crate::{BudgetOutcome, BudgetRefusal, Effect, JudgedCall, RunError, RunInput, RunStateMachine};

pub(crate) mod asks;
pub(crate) mod references;
mod lines;
pub(crate) mod world;
mod actors;

pub(crate) use asks::asking;
pub(crate) use lines::{effect_line, event_line};

/// Tokens that each scripted answer reports.
pub(crate) const ANSWER_TOKENS: u64 = 10;
/// The deadline of each scripted call.
pub(crate) const CALL_DEADLINE: Duration = Duration::from_secs(120);

/// What a test does next.
#[derive(Debug, Clone)]
pub(crate) enum ScenarioAct {
    /// Something enters the run.
    Take(RunInput),
    /// Time passes.
    Wait(Duration),
    /// The daemon is killed and starts again.
    Restart,
    /// A person answers an approval.
    Answer(asks::ScriptedAnswer),
    /// A tool says what a call would do; nothing for a refusal.
    Prepared { effect: u32, found: Option<String>, fresh: u32 },
}

/// What one step committed, and what is to be done outside.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct StepCommit {
    pub(crate) events: Vec<TapeEvent>,
    pub(crate) effects: Vec<Effect>,
}

/// A machine with its tape and its time.
#[derive(Debug, Clone)]
pub(crate) struct ScenarioDriver {
    pub(crate) machine: RunStateMachine,
    pub(crate) tape: Vec<(TapeEvent, Timestamp)>,
    pub(crate) now: Timestamp,
    pub(crate) contexts: ContextAnswers,
    /// What policy says to calls that waited.
    pub(crate) policy: asks::PolicyNow,
    /// Which inputs have references.
    pub(crate) references: Vec<references::ScriptedReferences>,
}

/// How context requests are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ContextAnswers {
    Fit,
    /// Nothing can be left out.
    Incompressible,
    TooLarge,
    /// Too large for every model but the fallback of this number.
    FitsFallback(u32),
    /// A budget does not allow the request.
    OverBudget(BudgetOutcome),
}

impl ScenarioDriver {
    pub(crate) fn new() -> Self {
        Self {
            machine: new_machine(),
            tape: Vec::new(),
            now: Timestamp(1_000_000),
            contexts: ContextAnswers::Fit,
            policy: asks::PolicyNow::AsBefore,
            references: Vec::new(),
        }
    }

    /// Takes one input as a runtime does: all that is inline happens within the step.
    pub(crate) fn take(&mut self, input: &RunInput) -> Result<StepCommit, RunError> {
        let mut copy = self.machine.clone();
        let mut commit = StepCommit::default();
        let mut next = Some(input.clone());
        while let Some(input) = next.take() {
            let decision = copy.decide(&input, self.now)?;
            for event in &decision.events {
                copy.evolve(event, self.now);
            }
            commit.events.extend(decision.events);
            for effect in decision.effects {
                match effect {
                    Effect::AssembleContext { model, instead, tokens_wished, .. } => {
                        let expansion = self.expansion(&commit);
                        let ready = || self.context_answer(model, instead, tokens_wished);
                        next = Some(expansion.unwrap_or_else(ready));
                    }
                    Effect::Judge(calls) => {
                        let judged = |effect: &EffectId| self.judged_again(&copy, *effect);
                        next = Some(RunInput::Judged(calls.iter().map(judged).collect()));
                    }
                    outside => commit.effects.push(outside),
                }
            }
        }
        self.machine = copy;
        self.tape.extend(commit.events.iter().map(|event| (event.clone(), self.now)));
        Ok(commit)
    }

    /// Takes an input that must be taken.
    pub(crate) fn must(&mut self, input: &RunInput) -> StepCommit {
        self.take(input).unwrap_or_else(|error| panic!("{error} for {input:?} on {}", self.tape_line()))
    }

    /// Loses the machine, replays the tape, and goes on.
    pub(crate) fn restart(&mut self) -> Result<StepCommit, RunError> {
        self.machine = replay(&self.tape);
        self.take(&RunInput::Recovered)
    }

    pub(crate) fn act(&mut self, act: &ScenarioAct) -> Option<Result<StepCommit, RunError>> {
        let outcome = match act {
            ScenarioAct::Take(input) => Some(self.take(input)),
            ScenarioAct::Restart => Some(self.restart()),
            ScenarioAct::Answer(answer) => Some(self.take(&self.answer(answer))),
            ScenarioAct::Prepared { effect, found, fresh } => {
                Some(self.take(&self.prepared(*effect, found.as_deref(), *fresh)))
            }
            ScenarioAct::Wait(span) => {
                self.now = self.now.after(*span);
                None
            }
        };
        assert_eq!(replay(&self.tape), self.machine, "a replay differs: {}", self.tape_line());
        outcome
    }

    pub(crate) fn phase(&self) -> RunPhase {
        self.machine.phase()
    }

    /// Returns the whole tape in short words.
    pub(crate) fn tape_line(&self) -> String {
        self.tape.iter().map(|(event, _)| event_line(event)).collect::<Vec<_>>().join(", ")
    }

    /// Returns the last entry of a finished run.
    pub(crate) fn end(&self) -> &RunFinished {
        match self.tape.last() {
            Some((TapeEvent::Run(RunEvent::Finished(finished)), _)) => finished,
            _ => panic!("the run is not over: {}", self.tape_line()),
        }
    }

    fn context_answer(
        &self,
        wanted: Option<ModelRef>,
        instead: Vec<ModelRef>,
        tokens_wished: Option<u64>,
    ) -> RunInput {
        let ready = |model, tokens_estimated| RunInput::ContextReady {
            plan: ContextPlan { tokens_estimated, ..ContextPlan::default() },
            model,
            routing: ModelRouting::default(),
        };
        let first = wanted.unwrap_or_else(model);
        match self.contexts {
            ContextAnswers::Fit => ready(first, tokens_wished.unwrap_or(100)),
            ContextAnswers::Incompressible => ready(first, 100),
            ContextAnswers::TooLarge => RunInput::ContextTooLarge,
            ContextAnswers::OverBudget(outcome) => {
                let explanation = "budget `daily` allows 10 tokens".into();
                RunInput::OverBudget(BudgetRefusal { outcome, explanation })
            }
            ContextAnswers::FitsFallback(number) => {
                let fits = fallback(number);
                let mut all = std::iter::once(first).chain(instead);
                all.find(|model| *model == fits).map_or(RunInput::ContextTooLarge, |model| ready(model, 100))
            }
        }
    }
}

/// Plays the acts and compares: one line per act, `events > effects`, after which a replay must agree.
#[track_caller]
pub(crate) fn check(acts: &[ScenarioAct], expected: &str) -> ScenarioDriver {
    check_from(ScenarioDriver::new(), acts, expected)
}

/// Plays the acts from where a driver stands.
#[track_caller]
pub(crate) fn check_from(mut driver: ScenarioDriver, acts: &[ScenarioAct], expected: &str) -> ScenarioDriver {
    let lines: Vec<String> = acts
        .iter()
        .filter_map(|act| {
            driver.act(act).map(|outcome| match outcome {
                Ok(commit) => commit.line(),
                Err(error) => format!("refused: {error:?}"),
            })
        })
        .collect();
    let wanted: Vec<&str> = expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(lines.join("\n"), wanted.join("\n"), "\ntape: {}", driver.tape_line());
    driver
}

impl StepCommit {
    pub(crate) fn line(&self) -> String {
        let events: Vec<String> = self.events.iter().map(event_line).collect();
        let effects: Vec<String> = self.effects.iter().map(effect_line).collect();
        let events = if events.is_empty() { "nothing".to_owned() } else { events.join(", ") };
        if effects.is_empty() { events } else { format!("{events} > {}", effects.join(", ")) }
    }
}

/// Makes the machine that a tape tells of.
pub(crate) fn replay(tape: &[(TapeEvent, Timestamp)]) -> RunStateMachine {
    let mut machine = new_machine();
    for (event, time) in tape {
        machine.evolve(event, *time);
    }
    machine
}

fn new_machine() -> RunStateMachine {
    let (run, session) = (RunId::from_parts(1, 1), SessionId::from_parts(1, 2));
    RunStateMachine::new(run, session, PrincipalId::from_parts(1, 3))
}

fn model() -> ModelRef {
    ModelRef::new("test", "scripted")
}

/// A call that a scripted model makes, with policy's word on it.
#[derive(Debug, Clone)]
pub(crate) struct ScriptedCall {
    tool: &'static str,
    arguments: String,
    verdict: ToolVerdict,
    reason: DecisionReason,
    contract: EffectContract,
    parallelism: Parallelism,
    deadline: Duration,
    conduct: ToolConduct,
    taints: Taints,
    approval: ApprovalTerms,
    grant: Option<StoredGrantId>,
}

/// A pure call that may run beside others.
pub(crate) fn read(path: &str) -> ScriptedCall {
    ScriptedCall {
        tool: "read",
        arguments: format!(r#"{{"path":"{path}"}}"#),
        verdict: ToolVerdict::Allow,
        reason: DecisionReason::Permitted,
        contract: EffectContract::Pure,
        parallelism: Parallelism::Parallel,
        deadline: CALL_DEADLINE,
        conduct: ToolConduct::Direct,
        taints: Taints::NONE,
        approval: ApprovalTerms::default(),
        grant: None,
    }
}

/// A pure call that runs alone.
pub(crate) fn scan() -> ScriptedCall {
    ScriptedCall { tool: "scan", parallelism: Parallelism::Exclusive, ..read(".") }
}

/// An opaque call that runs alone.
pub(crate) fn shell() -> ScriptedCall {
    ScriptedCall { tool: "shell", contract: EffectContract::Opaque, ..scan() }
}

/// An opaque call that may run beside others.
pub(crate) fn post() -> ScriptedCall {
    ScriptedCall { tool: "post", contract: EffectContract::Opaque, ..read("out") }
}

/// A call that policy denies.
pub(crate) fn denied(tool: &'static str) -> ScriptedCall {
    ScriptedCall { tool, verdict: ToolVerdict::Deny, reason: DecisionReason::NoRulePermits, ..shell() }
}

/// A call of a tool that does not exist.
pub(crate) fn unknown(tool: &'static str) -> ScriptedCall {
    ScriptedCall { reason: DecisionReason::UnknownTool, ..denied(tool) }
}

impl ScriptedCall {
    pub(crate) fn within(self, deadline: Duration) -> Self {
        Self { deadline, ..self }
    }

    fn judged(&self, approval: ApprovalId) -> JudgedCall {
        JudgedCall {
            proposal: self.proposal(),
            digest: digest(&format!("{} {}", self.tool, self.arguments)),
            decision: ToolDecision {
                verdict: self.verdict,
                reason: self.reason,
                explanation: Redacted::cleaned(format!("{:?}", self.reason)),
                policy_digest: [7; 32],
                contract: self.contract,
                parallelism: self.parallelism,
                deadline: self.deadline,
                output_bytes_max: 1_000,
                conduct: self.conduct,
                tool_version: 1,
                risk: ApprovalRiskLevel::Medium,
                taints: self.taints,
                approval: self.approval,
                grant: self.grant,
                request: "{}".into(),
            },
            approval,
        }
    }

    fn proposal(&self) -> ToolProposal {
        ToolProposal {
            model_call_id: "id of the model".into(),
            tool: ToolName::new(self.tool),
            arguments: Redacted::cleaned(self.arguments.clone()),
        }
    }
}

/// Stands in for a keyed digest.
pub(crate) fn digest(content: &str) -> ContentDigest {
    let mut bytes = [1_u8; 32];
    for (at, byte) in content.bytes().enumerate() {
        bytes[at % 31] = bytes[at % 31].wrapping_mul(31).wrapping_add(byte);
    }
    ContentDigest(bytes)
}

pub(crate) fn start() -> ScenarioAct {
    start_with(RunLimits::default())
}

pub(crate) fn start_with(limits: RunLimits) -> ScenarioAct {
    start_with_fallbacks(limits, 0)
}

/// The model of this number behind the first.
fn fallback(number: u32) -> ModelRef {
    ModelRef::new("test", &format!("fallback-{number}"))
}

/// A run that may ask so many models more: `test/fallback-1` and so on.
pub(crate) fn start_with_fallbacks(limits: RunLimits, fallbacks: u32) -> ScenarioAct {
    let chain = (1..=fallbacks).map(fallback);
    ScenarioAct::Take(RunInput::Start(Box::new(RunStarted {
        agent: AgentId::from_parts(1, 4),
        surface: Surface::LocalSocket,
        limits,
        config_digest: [0; 32],
        idempotency: None,
        delivery: InputDelivery::Queue,
        approvers: ApproverPresence::Inbox,
        taints: Taints::NONE,
        skills: Vec::new(),
        input: UserInput::text("do it".into()),
        workspace_root: Redacted::cleaned("/root".into()),
        model: Some(model()).into(),
        project_files: Vec::new(),
        recalled: Vec::new(),
        compaction: None,
        run_salt: [0; 32].into(),
        fallbacks: chain.collect::<Vec<_>>().into(),
        response_format: None,
        sampling: Box::default(),
    })))
}

/// A run that was started under a key.
pub(crate) fn start_keyed(key: u8) -> ScenarioAct {
    let mut act = start();
    if let ScenarioAct::Take(RunInput::Start(started)) = &mut act {
        started.idempotency = Some(IdempotencyDigest([key; 32]));
    }
    act
}

pub(crate) fn begin() -> ScenarioAct {
    ScenarioAct::Take(RunInput::Begin)
}

pub(crate) fn text(attempt: u32, text: &str) -> ScenarioAct {
    ScenarioAct::Take(RunInput::Text { attempt: Attempt(attempt), text: Redacted::cleaned(text.to_owned()) })
}

/// The model's final answer.
pub(crate) fn answer(attempt: u32) -> ScenarioAct {
    answer_finished(attempt, FinishReason::Stop)
}

pub(crate) fn answer_finished(attempt: u32, finish: FinishReason) -> ScenarioAct {
    ScenarioAct::Take(answer_input(attempt, &[], finish))
}

/// The model's answer that wants tools.
pub(crate) fn calls(attempt: u32, calls: &[ScriptedCall]) -> ScenarioAct {
    ScenarioAct::Take(answer_input(attempt, calls, FinishReason::ToolCalls))
}

pub(crate) fn answer_input(attempt: u32, calls: &[ScriptedCall], finish: FinishReason) -> RunInput {
    RunInput::Answered {
        attempt: Attempt(attempt),
        answer: ModelAnswer {
            response_id: "id of the response".into(),
            answered_by: ModelName::new("scripted-1"),
            finish,
            usage: Some(reported(ANSWER_TOKENS)),
            proposals: calls.iter().map(ScriptedCall::proposal).collect(),
            continuation: None,
        },
        model: model(),
        calls: (1..).zip(calls).map(|(n, call)| call.judged(asks::approval(10 * attempt + n))).collect(),
    }
}

pub(crate) fn reported(output_tokens: u64) -> TokenUsage {
    TokenUsage { output_tokens, source: UsageSource::Reported, ..TokenUsage::default() }
}

pub(crate) fn fails(attempt: u32, class: ModelFailureClass) -> ScenarioAct {
    ScenarioAct::Take(failure_input(attempt, class, None))
}

/// The provider fails and names a pause.
pub(crate) fn fails_asking(attempt: u32, class: ModelFailureClass, pause: Duration) -> ScenarioAct {
    ScenarioAct::Take(failure_input(attempt, class, Some(pause)))
}

pub(crate) fn failure_input(
    attempt: u32,
    class: ModelFailureClass,
    retry_after: Option<Duration>,
) -> RunInput {
    RunInput::ModelFailed { attempt: Attempt(attempt), class, detail: "no".into(), retry_after }
}

/// The pause after an attempt is over.
pub(crate) fn due(attempt: u32) -> ScenarioAct {
    ScenarioAct::Take(RunInput::RetryDue { attempt: Attempt(attempt) })
}

pub(crate) fn reasoning(attempt: u32, text: &str) -> ScenarioAct {
    ScenarioAct::Take(RunInput::Reasoning {
        attempt: Attempt(attempt),
        text: Redacted::cleaned(text.to_owned()),
    })
}

/// A tool succeeds with an output of its own.
pub(crate) fn done(effect: u32) -> ScenarioAct {
    done_with(effect, &format!("output {effect}"))
}

pub(crate) fn done_with(effect: u32, output: &str) -> ScenarioAct {
    ScenarioAct::Take(outcome_input(effect, None, output))
}

/// A tool fails.
pub(crate) fn fails_with(effect: u32, output: &str) -> ScenarioAct {
    ScenarioAct::Take(outcome_input(effect, Some(ErrorCode::ToolFailed), output))
}

pub(crate) fn outcome_input(effect: u32, failure: Option<ErrorCode>, output: &str) -> RunInput {
    RunInput::ToolFinished {
        effect: EffectId(effect),
        outcome: ToolExecutionOutcome {
            failure,
            output: Redacted::cleaned(output.to_owned()),
            output_bytes_total: output.len() as u64,
            executor: ToolExecutor::Internal,
            isolation: Isolation::DescriptorRelative,
            taints: Taints::NONE,
        },
        output_digest: digest(output),
        duration: Duration::from_secs(1),
    }
}

pub(crate) fn lost(effect: u32, cause: UnknownOutcomeCause) -> ScenarioAct {
    ScenarioAct::Take(RunInput::ToolOutcomeLost { effect: EffectId(effect), cause })
}

/// A tool prints something.
pub(crate) fn prints(effect: u32, text: &str) -> ScenarioAct {
    prints_with(effect, text, OutputRest::Follows)
}

pub(crate) fn prints_with(effect: u32, text: &str, rest: OutputRest) -> ScenarioAct {
    ScenarioAct::Take(RunInput::ToolPrinted {
        effect: EffectId(effect),
        text: Redacted::cleaned(text.to_owned()),
        rest,
    })
}

pub(crate) fn input() -> ScenarioAct {
    ScenarioAct::Take(answer_of_person())
}

/// A person says something to a run that works.
pub(crate) fn steer() -> ScenarioAct {
    ScenarioAct::Take(steering(None))
}

/// The same under a client's key.
pub(crate) fn steer_keyed(key: u8) -> ScenarioAct {
    ScenarioAct::Take(steering(Some(IdempotencyDigest([key; 32]))))
}

pub(crate) fn answer_of_person() -> RunInput {
    RunInput::Input { input: UserInput::text("go on".into()), idempotency: None }
}

pub(crate) fn steering(idempotency: Option<IdempotencyDigest>) -> RunInput {
    RunInput::Steer { input: UserInput::text("rather so".into()), idempotency }
}

pub(crate) fn cancel() -> ScenarioAct {
    cancel_because(CancelReason::User)
}

pub(crate) fn cancel_because(reason: CancelReason) -> ScenarioAct {
    ScenarioAct::Take(RunInput::Cancel { actor: PrincipalId::from_parts(1, 3), reason })
}

pub(crate) fn broken() -> ScenarioAct {
    ScenarioAct::Take(RunInput::Broken)
}

pub(crate) fn wait(secs: u64) -> ScenarioAct {
    ScenarioAct::Wait(Duration::from_secs(secs))
}

pub(crate) fn restart() -> ScenarioAct {
    ScenarioAct::Restart
}
