//! Tools that act in the story's world, and go wrong as the weather wants.
//!
//! Owns the catalogue: tools of every contract and conduct. Every act is told to the oracle in the moment
//! in which it takes effect. Begin at [`SimTools::execute`](ToolRuntime::execute).

use std::hash::{DefaultHasher, Hasher};
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::{BoxFuture, pending};
use palyra_ports::{Clock, EffectKey, ExecuteToolError, OutputSink, PreparedCall, Supervision, ToolRuntime};
use palyra_run_core::{ExecutionAttempt, Grant, Intent, PrepareRefusal, RawPrepareRefusal};
use palyra_types::ErrorCode;
use palyra_types::tool::{
    ApprovalRiskLevel, Capability, EffectContract, Isolation, Parallelism, RawToolOutcome, Taints,
    ToolCatalog, ToolConduct, ToolExecutionOutcome, ToolExecutor, ToolName, ToolSpec,
};

use crate::fault::{Fault, Phase};
use crate::mutation::Mutation;
use crate::outside::{CallKey, FileChange};
use crate::world::{SimWorld, turns};

/// Pure, beside others.
pub(crate) const LOOK: &str = "look";
/// Pure, alone.
pub(crate) const COUNT: &str = "count";
/// Pure, beside others: what references of inputs call.
pub(crate) const READ: &str = "read_file";
/// Opaque, alone.
pub(crate) const ACT: &str = "act";
/// Opaque, beside others.
pub(crate) const POST: &str = "post";

/// Probing and prepared: it changes the file of the world once a person approves.
pub(crate) const CHANGE: &str = "change";
/// Keyed: it delivers something once a person approves.
pub(crate) const SEND: &str = "send";
/// Opaque: it acts once a person approves, however long that takes.
pub(crate) const PAY: &str = "pay";
/// A question to the person.
pub(crate) const QUESTION: &str = "question";

/// Opaque: it transfers something once two people approve.
pub(crate) const WIRE: &str = "wire";
/// Keyed: it signs once somebody approves for whom the run does not work.
pub(crate) const SIGN: &str = "sign";

/// How long a call may take.
const DEADLINE: Duration = Duration::from_secs(20);
/// How long a call takes, at most, when it is slow; now and then that is too long.
const SLOW_MAX: Duration = Duration::from_secs(24);

/// How long a call may take where work is long, and how long it takes at most.
const LONG_DEADLINE: Duration = Duration::from_secs(600);
const LONG_MAX: Duration = Duration::from_secs(590);

/// What a prepared call will do.
struct CallPlan {
    before: String,
    after: String,
}

impl CallPlan {
    fn read(body: &str) -> Option<Self> {
        let body: serde_json::Value = serde_json::from_str(body).ok()?;
        let text = |name| body.get(name).and_then(serde_json::Value::as_str).map(str::to_owned);
        Some(Self { before: text("before")?, after: text("after")? })
    }
}

/// Why a call did not take effect.
enum CallFailure {
    /// The world is not what the plan was made for.
    Conflict,
    /// Nobody knows what an earlier attempt did.
    Doubt,
}

/// The tools; clones are the same.
#[derive(Clone)]
pub(crate) struct SimTools {
    world: Arc<SimWorld>,
    catalog: Arc<ToolCatalog>,
}

impl SimTools {
    pub(crate) fn new(world: Arc<SimWorld>) -> Self {
        let has_long_work = world.features().has_long_work;
        let deadline = if has_long_work { LONG_DEADLINE } else { DEADLINE };
        Self { world, catalog: Self::all_within(deadline) }
    }

    /// Returns the catalogue, which is the same in every story.
    pub(crate) fn all() -> Arc<ToolCatalog> {
        Self::all_within(DEADLINE)
    }

    fn all_within(deadline: Duration) -> Arc<ToolCatalog> {
        let specs = vec![
            spec(LOOK, EffectContract::Pure, Parallelism::Parallel),
            spec(COUNT, EffectContract::Pure, Parallelism::Exclusive),
            spec(READ, EffectContract::Pure, Parallelism::Parallel),
            spec(ACT, EffectContract::Opaque, Parallelism::Exclusive),
            spec(POST, EffectContract::Opaque, Parallelism::Parallel),
            ToolSpec {
                conduct: ToolConduct::Prepared,
                ..spec(CHANGE, EffectContract::Probe, Parallelism::Exclusive)
            },
            spec(SEND, EffectContract::Keyed, Parallelism::Parallel),
            spec(SIGN, EffectContract::Keyed, Parallelism::Parallel),
            spec(PAY, EffectContract::Opaque, Parallelism::Parallel),
            spec(WIRE, EffectContract::Opaque, Parallelism::Parallel),
            ToolSpec {
                conduct: ToolConduct::Question,
                capabilities: vec![Capability::AskUser],
                ..spec(QUESTION, EffectContract::Local, Parallelism::Exclusive)
            },
        ];
        let within = |spec: ToolSpec| ToolSpec { deadline, ..spec };
        Arc::new(ToolCatalog::new(specs.into_iter().map(within).collect()))
    }

    fn acts(&self, grant: &Grant) {
        let (run, effect) = (grant.run(), grant.effect());
        self.world.note(format_args!("* {run} {effect} {} acts", grant.tool()));
        self.world.oracle().tool_acts(grant);
        if self.world.mutates(Mutation::ActsTwice) {
            self.world.oracle().tool_acts(grant);
        }
    }

    /// Lets the call take effect in the world; returns why it cannot, or that nobody knows.
    fn take_effect(&self, grant: &Grant, key: EffectKey) -> Result<(), CallFailure> {
        let who = CallKey { run: grant.run(), effect: grant.effect() };
        match grant.tool().as_str() {
            CHANGE => {
                let plan = CallPlan::read(grant.plan().body.expose()).ok_or(CallFailure::Doubt)?;
                let (change, times) = self.world.outside().change(who, &plan.before, &plan.after);
                if times > 1 {
                    self.world
                        .oracle()
                        .find(format!("call {} of {} changed its file twice", who.effect, who.run));
                }
                match (change, grant.execution()) {
                    (FileChange::Done, _) => Ok(()),
                    (FileChange::Conflict, ExecutionAttempt::First) => Err(CallFailure::Conflict),
                    (FileChange::Conflict, ExecutionAttempt::Again) => Err(CallFailure::Doubt),
                }
            }
            SEND | SIGN => {
                let before = self.world.outside().deliver(key.0, who);
                if before.is_some_and(|before| before != who) {
                    self.world.oracle().find(format!("two calls have one key: {before:?} and {who:?}"));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Prints something now and then, and sometimes lets it be seen.
    async fn print(&self, output: &OutputSink) {
        let dice = &self.world.dice;
        if dice.below(4) == 0 {
            output.print(&[b'x'; 512][..dice.index(512)]);
            if dice.below(2) == 0 {
                let clock = &self.world.clock;
                clock.sleep_until(clock.boot().after(Duration::from_millis(150))).await;
            }
        }
    }

    async fn work_out(self, intent: Intent) -> Result<PreparedCall, RawPrepareRefusal> {
        let world = Arc::clone(&self.world);
        let strikes = |fault| world.strikes(fault, Phase::Preparing);
        turns(world.dice.below(16)).await;
        if strikes(Fault::PrepareSlow) {
            let span = world.dice.span(SLOW_MAX);
            world.clock.sleep_until(world.clock.boot().after(span)).await;
        }
        if strikes(Fault::PrepareHangs) {
            return pending().await;
        }
        if strikes(Fault::PreparePanics) {
            panic!("{}", crate::fault::EXPECTED_PANIC);
        }
        if strikes(Fault::PrepareRefuses) {
            return Err(PrepareRefusal { code: ErrorCode::FileConflict, message: "it cannot work".into() });
        }
        let before = world.outside().file().to_owned();
        // No state of the file comes twice, for each follows from the one before it.
        let mut hasher = DefaultHasher::new();
        hasher.write(before.as_bytes());
        let (arguments, effect) = (intent.arguments().expose(), intent.effect());
        let after = format!("{arguments} by {effect} after {:016x}", hasher.finish());
        let preview = format!("-{before}\n+{after}\n");
        let body = serde_json::json!({ "before": before, "after": after }).to_string();
        Ok(PreparedCall {
            body: body.into(),
            summary: "it changes the file".into(),
            preview: preview.into(),
            ..PreparedCall::default()
        })
    }

    async fn run(
        self,
        grant: Grant,
        Supervision { cancel, key, output }: Supervision,
    ) -> Result<RawToolOutcome, ExecuteToolError> {
        let world = Arc::clone(&self.world);
        self.print(&output).await;
        let strikes = |fault| world.strikes(fault, Phase::ToolRunning);
        turns(world.dice.below(4)).await;
        self.acts(&grant);
        match self.take_effect(&grant, key) {
            Ok(()) => {}
            Err(CallFailure::Conflict) => return Ok(outcome(Some(ErrorCode::FileConflict), "it changed")),
            Err(CallFailure::Doubt) => {
                return Err(ExecuteToolError::OutcomeUnknown { tool: grant.tool().clone() });
            }
        }
        self.print(&output).await;
        turns(world.dice.below(4)).await;
        if strikes(Fault::ToolSlow) {
            let span = world.dice.span(SLOW_MAX);
            world.clock.sleep_until(world.clock.boot().after(span)).await;
        }
        if world.features().has_long_work && world.dice.below(3) == 0 {
            let span = world.dice.span(LONG_MAX);
            world.clock.sleep_until(world.clock.boot().after(span)).await;
        }
        if strikes(Fault::ToolHangs) {
            return pending().await;
        }
        if strikes(Fault::ToolUntilTold) {
            while !cancel.is_cancelled() {
                world.clock.sleep_until(world.clock.boot().after(Duration::from_millis(300))).await;
            }
            return Ok(outcome(Some(ErrorCode::ToolCancelled), "stopping"));
        }
        if strikes(Fault::ToolLost) {
            return Err(ExecuteToolError::OutcomeUnknown { tool: grant.tool().clone() });
        }
        if strikes(Fault::ToolPanics) {
            panic!("{}", crate::fault::EXPECTED_PANIC);
        }
        if strikes(Fault::ToolFails) {
            return Ok(outcome(Some(ErrorCode::ToolFailed), "no"));
        }
        let said =
            if world.dice.below(3) == 0 { "same".to_owned() } else { world.dice.below(10_000).to_string() };
        Ok(outcome(None, &said))
    }
}

impl ToolRuntime for SimTools {
    fn catalog(&self) -> Arc<ToolCatalog> {
        Arc::clone(&self.catalog)
    }

    fn prepare(&self, intent: Intent) -> BoxFuture<'static, Result<PreparedCall, RawPrepareRefusal>> {
        self.clone().work_out(intent).boxed()
    }

    fn execute(
        &self,
        grant: Grant,
        supervision: Supervision,
    ) -> BoxFuture<'static, Result<RawToolOutcome, ExecuteToolError>> {
        self.clone().run(grant, supervision).boxed()
    }
}

fn spec(name: &str, contract: EffectContract, parallelism: Parallelism) -> ToolSpec {
    ToolSpec {
        name: ToolName::new(name),
        version: 1,
        description: "simulated".to_owned(),
        schema: serde_json::json!({ "type": "object" }),
        contract,
        parallelism,
        conduct: ToolConduct::Direct,
        capabilities: Vec::new(),
        taints: Taints::NONE,
        risk: ApprovalRiskLevel::Low,
        deadline: DEADLINE,
        output_bytes_max: 1_024,
    }
}

fn outcome(failure: Option<ErrorCode>, output: &str) -> RawToolOutcome {
    ToolExecutionOutcome {
        failure,
        output: output.into(),
        output_bytes_total: output.len() as u64,
        executor: ToolExecutor::Internal,
        isolation: Isolation::DescriptorRelative,
        taints: Taints::NONE,
    }
}
