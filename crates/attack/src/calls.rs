//! Calls of tools, made as a run makes them: prepared, granted, carried out.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_ports::{
    BoundCredential, CancelFlag, Clock, CredentialHeader, CredentialUnavailable, ExecuteToolError,
    FillCredential, PreparedCall, Supervision, ToolRuntime,
};
use palyra_run_core::{Grant, Intent, RawPrepareRefusal};
use palyra_testkit::GrantRequest;
use palyra_types::tool::{EffectContract, RawToolOutcome, ToolCatalog, ToolConduct, ToolName};
use palyra_types::{BootTime, ErrorCode, Redacted, Timestamp};
use rustix::time::{ClockId, clock_gettime};
use serde_json::Value;

/// What a call came to, for the eyes of a judge only.
#[derive(Debug, Clone)]
pub(crate) struct CallOutcome {
    /// What the model would read: a refusal, or what the tool says.
    pub(crate) text: String,
    /// What a person would be shown before.
    pub(crate) shown: String,
    /// Whether the tool did anything, as it says itself.
    pub(crate) begun: bool,
}

/// Calls a tool with a limit on its output that no honest answer of an attack meets.
pub(crate) async fn call(tools: &dyn ToolRuntime, tool: &str, arguments: &Value, root: &Path) -> CallOutcome {
    call_between(tools, tool, arguments, root, || {}).await
}

/// The same, with something that happens between the look at it and its start.
pub(crate) async fn call_between(
    tools: &dyn ToolRuntime,
    tool: &str,
    arguments: &Value,
    root: &Path,
    between: impl FnOnce(),
) -> CallOutcome {
    let spec = tools.catalog().get(&ToolName::new(tool)).cloned();
    let request = GrantRequest::new(tool, &arguments.to_string(), root).contract(EffectContract::Opaque);
    let (shown, grant) = match spec.map(|spec| spec.conduct) {
        Some(ToolConduct::Prepared) => match request.prepared_by(tools).await {
            Ok((call, grant)) => (shown(&call), grant),
            Err(refusal) => {
                let text = refusal.message.expose().clone();
                return CallOutcome { text, shown: String::new(), begun: false };
            }
        },
        Some(ToolConduct::Direct | ToolConduct::Question) | None => (String::new(), request.grant()),
    };
    between();
    let supervision = supervision(CancelFlag::default());
    match tools.execute(grant, supervision).await {
        Ok(outcome) => {
            CallOutcome { text: outcome.output.expose().clone(), shown, begun: outcome.failure.is_none() }
        }
        Err(error) => CallOutcome { text: error.to_string(), shown, begun: false },
    }
}

fn shown(call: &PreparedCall) -> String {
    [&call.summary, &call.preview, &call.unbound].map(|part| part.expose().as_str()).join("\n")
}

/// What a call is given while it runs.
pub(crate) fn supervision(cancel: CancelFlag) -> Supervision {
    Supervision { cancel, ..Supervision::default() }
}

/// Says of every call that it would do what was recorded of another.
pub(crate) struct ForgedEffectTool {
    /// Whose plan it is.
    pub(crate) body: Redacted<String>,
    /// What it was recorded of.
    pub(crate) catalog: Arc<ToolCatalog>,
}

impl ToolRuntime for ForgedEffectTool {
    fn catalog(&self) -> Arc<ToolCatalog> {
        Arc::clone(&self.catalog)
    }

    fn prepare(&self, _intent: Intent) -> BoxFuture<'static, Result<PreparedCall, RawPrepareRefusal>> {
        let call = PreparedCall { body: self.body.clone().into(), ..PreparedCall::default() };
        async move { Ok(call) }.boxed()
    }

    fn execute(
        &self,
        grant: Grant,
        _supervision: Supervision,
    ) -> BoxFuture<'static, Result<RawToolOutcome, ExecuteToolError>> {
        async move { Err(ExecuteToolError::OutcomeUnknown { tool: grant.tool().clone() }) }.boxed()
    }
}

/// The kernel's clocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    fn wall(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }

    fn boot(&self) -> BootTime {
        let now = clock_gettime(ClockId::Boottime);
        let micros = now.tv_sec.saturating_mul(1_000_000).saturating_add(now.tv_nsec / 1_000);
        BootTime(u64::try_from(micros).unwrap_or(0))
    }

    fn sleep_until(&self, deadline: BootTime) -> BoxFuture<'static, ()> {
        let left: Duration = deadline.since(self.boot());
        tokio::time::sleep(left).boxed()
    }
}

/// Nobody has credentials here.
pub(crate) struct NoCredentials;

impl FillCredential for NoCredentials {
    fn fill(
        &self,
        credential: BoundCredential,
    ) -> BoxFuture<'static, Result<CredentialHeader, CredentialUnavailable>> {
        Box::pin(async move {
            let why = "there are none here".to_owned();
            Err(CredentialUnavailable { handle: credential.handle, code: ErrorCode::FileNotFound, why })
        })
    }
}
