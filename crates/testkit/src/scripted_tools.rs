//! Tools that do what a test wrote down.
//!
//! Owns a queue of [`ToolScript`]s per tool and a record of what was executed and what became of it. A tool
//! without a script answers with its own arguments. Invariant: an execution is recorded when its future is
//! first polled. Begin at [`ScriptedTools::new`].

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_ports::{EffectKey, ExecuteToolError, PreparedCall, Supervision, ToolRuntime};
use palyra_run_core::{Grant, Intent, PrepareRefusal, RawPrepareRefusal};
use palyra_types::effect::EffectPlan;
use palyra_types::tool::{
    ApprovalRiskLevel, Capability, EffectContract, Isolation, Parallelism, RawToolOutcome, Taints,
    ToolCatalog, ToolConduct, ToolExecutionOutcome, ToolExecutor, ToolName, ToolSpec,
};
use palyra_types::{Content, EffectId, ErrorCode, RunId};
use tokio::sync::watch;

use crate::scripted_provider::Gate;

/// How long a call of any scripted tool may take.
pub const SCRIPTED_TOOL_DEADLINE: Duration = Duration::from_secs(30);

/// A pure tool whose calls run beside each other.
pub const LOOK: &str = "look";
/// A pure tool whose calls run alone.
pub const COUNT: &str = "count";
/// An opaque tool; no rule of the shipped policy names it.
pub const ACT: &str = "act";
/// A probing tool that is prepared, changes files, and runs alone.
pub const CHANGE: &str = "change";
/// A keyed tool that speaks to others.
pub const SEND: &str = "send";
/// A question to the person.
pub const QUESTION: &str = "question";

/// What one execution does.
#[derive(Debug, Clone)]
pub enum ToolScript {
    /// Succeeds with this output.
    Say(String),
    /// Waits for the test, then succeeds with this output.
    Hold(Gate, String),
    /// Prints these bytes, each when the test lets it, then does this.
    Print(Vec<(Gate, Vec<u8>)>, Box<ToolScript>),
    /// Waits until it is told to stop, and says that it did.
    UntilCancelled,
    /// Never ends, whatever it is told.
    Hang,
    /// Fails.
    Fail(String),
    /// Reports that it was lost.
    Lose,
    /// Panics while it runs.
    Panic,
    /// Panics before there is anything to wait for.
    PanicAtOnce,
}

/// One execution, as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedExecution {
    /// For which run.
    pub run: RunId,
    /// Its number there.
    pub effect: EffectId,
    /// The tool.
    pub tool: String,
    /// The arguments.
    pub arguments: String,
    /// The folder it may see.
    pub workspace_root: std::path::PathBuf,
    /// What was recorded that it would do.
    pub plan: EffectPlan,
    /// Whether it ran for the first time.
    pub execution: palyra_run_core::ExecutionAttempt,
    /// The key of the effect.
    pub key: EffectKey,
}

/// What became of the executions so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExecutionCounts {
    /// Executions that were polled at least once.
    pub begun: usize,
    /// Of those, executions that came to their end; a panic is one.
    pub ended: usize,
    /// Of those, executions that were dropped before their end.
    pub dropped: usize,
}

/// The tools; clones share their scripts and records.
#[derive(Clone)]
pub struct ScriptedTools {
    catalog: Arc<ToolCatalog>,
    shared: Arc<SharedTools>,
}

struct SharedTools {
    state: Mutex<ToolState>,
    counts: watch::Sender<ExecutionCounts>,
}

#[derive(Default)]
struct ToolState {
    scripts: BTreeMap<String, VecDeque<ToolScript>>,
    found: BTreeMap<String, Result<String, RawPrepareRefusal>>,
    prepared: Vec<Intent>,
    executions: Vec<RecordedExecution>,
}

impl Default for ScriptedTools {
    fn default() -> Self {
        Self::new()
    }
}

impl ScriptedTools {
    /// Makes the tools [`LOOK`], [`COUNT`], [`ACT`], [`CHANGE`], [`SEND`] and [`QUESTION`].
    #[must_use]
    pub fn new() -> Self {
        let catalog = ToolCatalog::new(vec![
            spec(LOOK, EffectContract::Pure, Parallelism::Parallel),
            spec(COUNT, EffectContract::Pure, Parallelism::Exclusive),
            spec(ACT, EffectContract::Opaque, Parallelism::Exclusive),
            ToolSpec {
                conduct: ToolConduct::Prepared,
                capabilities: vec![Capability::WriteFiles],
                risk: ApprovalRiskLevel::Medium,
                ..spec(CHANGE, EffectContract::Probe, Parallelism::Exclusive)
            },
            ToolSpec {
                capabilities: vec![Capability::Network],
                risk: ApprovalRiskLevel::High,
                ..spec(SEND, EffectContract::Keyed, Parallelism::Parallel)
            },
            ToolSpec {
                conduct: ToolConduct::Question,
                capabilities: vec![Capability::AskUser],
                ..spec(QUESTION, EffectContract::Local, Parallelism::Exclusive)
            },
        ]);
        let counts = watch::Sender::new(ExecutionCounts::default());
        Self { catalog: Arc::new(catalog), shared: Arc::new(SharedTools { state: Mutex::default(), counts }) }
    }

    /// Adds a script to the end of a tool's queue.
    pub fn push(&self, tool: &str, script: ToolScript) {
        self.shared.state().scripts.entry(tool.to_owned()).or_default().push_back(script);
    }

    /// Sets what the next preparations of a tool find; another text is another plan.
    pub fn finds(&self, tool: &str, found: &str) {
        self.shared.state().found.insert(tool.to_owned(), Ok(found.to_owned()));
    }

    /// Lets the next preparations of a tool say that the call cannot work.
    pub fn refuses(&self, tool: &str, code: ErrorCode, message: &str) {
        let refusal = PrepareRefusal { code, message: message.into() };
        self.shared.state().found.insert(tool.to_owned(), Err(refusal));
    }

    /// Returns what was prepared so far, in order.
    #[must_use]
    pub fn preparations(&self) -> Vec<Intent> {
        self.shared.state().prepared.clone()
    }

    /// Returns what was executed so far, in order.
    #[must_use]
    pub fn executions(&self) -> Vec<RecordedExecution> {
        self.shared.state().executions.clone()
    }

    /// Returns what became of the executions so far.
    #[must_use]
    pub fn counts(&self) -> ExecutionCounts {
        *self.shared.counts.borrow()
    }

    /// Waits until the counts are as wanted.
    pub async fn wait_until(&self, wanted: impl FnMut(&ExecutionCounts) -> bool) {
        let mut counts = self.shared.counts.subscribe();
        let reached = counts.wait_for(wanted).await;
        drop(reached.expect("the tools own the sender"));
    }
}

impl ToolRuntime for ScriptedTools {
    fn catalog(&self) -> Arc<ToolCatalog> {
        Arc::clone(&self.catalog)
    }

    fn prepare(&self, intent: Intent) -> BoxFuture<'static, Result<PreparedCall, RawPrepareRefusal>> {
        let mut state = self.shared.state();
        let found = state.found.get(intent.tool().as_str()).cloned().unwrap_or_else(|| Ok(String::new()));
        let arguments = intent.arguments().clone();
        let prepared = found.map(|found| PreparedCall {
            body: format!("{{\"arguments\":{},\"found\":{found:?}}}", arguments.expose()).into(),
            pre_images: Vec::new(),
            summary: format!("{} {}", intent.tool(), arguments.expose()).into(),
            preview: format!("-{found}\n+{}\n", arguments.expose()).into(),
            unbound: Content::default(),
            programs: None,
            unchanged: Content::default(),
            read_only: Vec::new(),
            secrets: Vec::new(),
        });
        state.prepared.push(intent);
        futures::future::ready(prepared).boxed()
    }

    fn execute(
        &self,
        grant: Grant,
        supervision: Supervision,
    ) -> BoxFuture<'static, Result<RawToolOutcome, ExecuteToolError>> {
        let script = self.shared.state().scripts.get_mut(grant.tool().as_str()).and_then(VecDeque::pop_front);
        if matches!(script, Some(ToolScript::PanicAtOnce)) {
            RecordedExecution::record(&self.shared, &grant, &supervision);
            panic!("a scripted tool panics at once");
        }
        let shared = Arc::clone(&self.shared);
        async move {
            RecordedExecution::record(&shared, &grant, &supervision);
            let mut under_way = UnderWay::begin(shared);
            let outcome = play(script, &grant, &supervision).await;
            under_way.end();
            outcome
        }
        .boxed()
    }
}

async fn play(
    script: Option<ToolScript>,
    grant: &Grant,
    supervision: &Supervision,
) -> Result<RawToolOutcome, ExecuteToolError> {
    let mut script = script;
    while let Some(ToolScript::Print(pieces, then)) = script {
        for (gate, bytes) in pieces {
            gate.pass().await;
            supervision.output.print(&bytes);
        }
        script = Some(*then);
    }
    match script {
        Some(ToolScript::Print(..)) => unreachable!("all of it is printed"),
        None => Ok(outcome(None, grant.arguments().expose())),
        Some(ToolScript::Say(output)) => Ok(outcome(None, &output)),
        Some(ToolScript::Hold(gate, output)) => {
            gate.pass().await;
            Ok(outcome(None, &output))
        }
        Some(ToolScript::UntilCancelled) => {
            while !supervision.cancel.is_cancelled() {
                tokio::task::yield_now().await;
            }
            Ok(outcome(Some(ErrorCode::ToolCancelled), "stopping"))
        }
        Some(ToolScript::Hang) => futures::future::pending().await,
        Some(ToolScript::Fail(output)) => Ok(outcome(Some(ErrorCode::ToolFailed), &output)),
        Some(ToolScript::Lose) => Err(ExecuteToolError::OutcomeUnknown { tool: grant.tool().clone() }),
        Some(ToolScript::Panic | ToolScript::PanicAtOnce) => panic!("a scripted tool panics"),
    }
}

impl RecordedExecution {
    fn record(shared: &SharedTools, grant: &Grant, supervision: &Supervision) {
        shared.state().executions.push(Self {
            run: grant.run(),
            effect: grant.effect(),
            tool: grant.tool().as_str().to_owned(),
            arguments: grant.arguments().expose().clone(),
            workspace_root: grant.workspace_root().to_owned(),
            plan: grant.plan().clone(),
            execution: grant.execution(),
            key: supervision.key,
        });
    }
}

impl SharedTools {
    fn state(&self) -> MutexGuard<'_, ToolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One execution on its way; counts itself as dropped unless it came to its end.
struct UnderWay {
    shared: Arc<SharedTools>,
    ended: bool,
}

impl UnderWay {
    fn begin(shared: Arc<SharedTools>) -> Self {
        shared.counts.send_modify(|counts| counts.begun += 1);
        Self { shared, ended: false }
    }

    fn end(&mut self) {
        self.ended = true;
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let ended = self.ended || std::thread::panicking();
        self.shared.counts.send_modify(|counts| {
            if ended {
                counts.ended += 1;
            } else {
                counts.dropped += 1;
            }
        });
    }
}

fn spec(name: &str, contract: EffectContract, parallelism: Parallelism) -> ToolSpec {
    ToolSpec {
        name: ToolName::new(name),
        version: 1,
        description: "scripted".to_owned(),
        schema: serde_json::json!({ "type": "object" }),
        contract,
        parallelism,
        conduct: ToolConduct::Direct,
        capabilities: Vec::new(),
        taints: Taints::NONE,
        risk: ApprovalRiskLevel::Low,
        deadline: SCRIPTED_TOOL_DEADLINE,
        output_bytes_max: 64 * 1024,
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::grants::grant_for;

    fn supervised() -> Supervision {
        Supervision::default()
    }

    #[tokio::test]
    async fn scripts_are_played_in_order_and_recorded() {
        let tools = ScriptedTools::new();
        tools.push(LOOK, ToolScript::Say("first".to_owned()));
        tools.push(LOOK, ToolScript::Lose);
        let call = || tools.execute(grant_for(LOOK, "{}", Path::new("/w")), supervised());
        assert_eq!(call().await.unwrap().output.expose(), "first");
        assert!(matches!(call().await, Err(ExecuteToolError::OutcomeUnknown { .. })));
        assert_eq!(call().await.unwrap().output.expose(), "{}");
        assert_eq!(tools.executions().len(), 3);
        assert_eq!(tools.counts(), ExecutionCounts { begun: 3, ended: 3, dropped: 0 });
    }

    #[tokio::test]
    async fn an_execution_that_is_dropped_is_counted_so() {
        let tools = ScriptedTools::new();
        tools.push(LOOK, ToolScript::Hang);
        let mut hanging = tools.execute(grant_for(LOOK, "{}", Path::new("/w")), supervised());
        assert!((&mut hanging).now_or_never().is_none());
        drop(hanging);
        assert_eq!(tools.counts(), ExecutionCounts { begun: 1, ended: 0, dropped: 1 });
    }
}
