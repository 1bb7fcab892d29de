//! Components as tools: the ones that a person added, each called with exactly what it was given.
//!
//! Invariant: a call reaches what its component was pinned with, and only while the component is the version that was
//! decided about and its bytes are those.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use palyra_ports::{
    CancelFlag, Clock, ComponentShelfError, CredentialUser, ExecuteToolError, FetchHttp, PreparedCall,
    ProcessLimits, ProcessSandbox, SecretNames, Supervision, ToolRuntime,
};
use palyra_run_core::{Execution, Grant, Intent, PrepareRefusal};
use palyra_types::component::{AddedComponent, ComponentCapability};
use palyra_types::tool::{
    EffectContract, Isolation, ToolCatalog, ToolExecutionOutcome, ToolExecutor, ToolName,
};
use palyra_types::{ErrorCode, Redacted};
use tokio::time::Instant;

use crate::call::{CallError, CallRequest};
use crate::compiled::Compiled;
use crate::file_values::FileValues;
use crate::key_value::KeepValues;
use crate::limits::CallLimits;
use crate::machine::Machine;
use crate::offered::Offered;
use crate::reach::{Given, GivenFiles, Methods, Ports};
use crate::workshop::{KeptFault, Workshop};

/// The folder of values below that of components.
const VALUES: &str = "values";

/// What is told where a call found no room in its time.
const NO_ROOM: &str = "the limit of concurrent component calls was reached until the deadline";

/// What is told where a component is not ready in the time of a call.
const COMPILING: &str =
    "the component is still being compiled for this version of the daemon; call it again later";

/// What components are made of and reach through.
pub struct ComponentParts {
    /// A folder of the daemon's own, for components, their native code and what they keep.
    pub folder: PathBuf,
    /// The compiler: a program that compiles when it is run with [`COMPILE`](crate::COMPILE), usually
    /// [`COMPILER_PROGRAM`](crate::COMPILER_PROGRAM) beside the daemon.
    pub program: PathBuf,
    /// Holds the compiler.
    pub sandbox: Arc<dyn ProcessSandbox>,
    /// What compiling may use up; [`COMPILE_LIMITS`](crate::COMPILE_LIMITS) where nobody knows better.
    pub compiling: ProcessLimits,
    /// Other machines; `None` where the daemon reaches none.
    pub fetch: Option<Arc<dyn FetchHttp>>,
    /// Which secrets there are; `None` where there is no vault.
    pub secrets: Option<Arc<dyn SecretNames>>,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

/// The components that a person added, as tools. Cheap to clone.
#[derive(Clone)]
pub struct Components {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) folder: PathBuf,
    pub(crate) workshop: Arc<Workshop>,
    pub(crate) values: Arc<dyn KeepValues>,
    fetch: Option<Arc<dyn FetchHttp>>,
    secrets: Option<Arc<dyn SecretNames>>,
    clock: Arc<dyn Clock>,
    /// Made with the first component: it reserves address space.
    machine: OnceLock<Result<Machine, String>>,
    offered: Mutex<Arc<Offered>>,
    compiled: Mutex<BTreeMap<[u8; 32], Compiled>>,
    /// What is being made ready, by tasks of their own.
    making: Mutex<BTreeMap<[u8; 32], Making>>,
    /// Held while what is offered changes, disk and all.
    pub(crate) offering: Arc<tokio::sync::Mutex<()>>,
}

/// A component that is being made ready, for all who wait for it.
type Making = Shared<BoxFuture<'static, Result<Compiled, KeptFault>>>;

impl Components {
    /// Offers what was offered last.
    #[must_use]
    pub fn new(parts: ComponentParts) -> Self {
        let ComponentParts { folder, program, sandbox, compiling, fetch, secrets, clock } = parts;
        let inner = Inner {
            workshop: Arc::new(Workshop::new(folder.clone(), program, (sandbox, compiling))),
            values: Arc::new(FileValues::new(folder.join(VALUES))),
            offered: Mutex::new(Arc::new(Offered::read(&folder))),
            machine: OnceLock::new(),
            compiled: Mutex::default(),
            making: Mutex::default(),
            offering: Arc::default(),
            fetch,
            secrets,
            clock,
            folder,
        };
        Self { inner: Arc::new(inner) }
    }
}

impl Inner {
    pub(crate) fn offered(&self) -> Arc<Offered> {
        Arc::clone(&self.offered.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn offer(&self, offered: Offered) {
        self.compiled().retain(|digest, _| offered.components.iter().any(|added| added.sha256 == *digest));
        *self.offered.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(offered);
    }

    fn compiled(&self) -> MutexGuard<'_, BTreeMap<[u8; 32], Compiled>> {
        self.compiled.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn machine(&self) -> Result<Machine, ComponentShelfError> {
        let made = self.machine.get_or_init(|| Machine::new().map_err(|error| error.to_string()));
        made.clone().map_err(|what| ComponentShelfError::Host { what })
    }

    fn making(&self) -> MutexGuard<'_, BTreeMap<[u8; 32], Making>> {
        self.making.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a component that can be called; its bytes were compared with their digest when it was first asked for.
    pub(crate) async fn ready(self: &Arc<Self>, digest: [u8; 32]) -> Result<Compiled, KeptFault> {
        let making = {
            let mut making = self.making();
            if let Some(compiled) = self.compiled().get(&digest) {
                return Ok(compiled.clone());
            }
            making.entry(digest).or_insert_with(|| self.make(digest)).clone()
        };
        making.await
    }

    /// Makes a component ready in a task that goes on when whoever asked is gone: compiling may take longer than a call.
    fn make(self: &Arc<Self>, digest: [u8; 32]) -> Making {
        let (inner, after) = (Arc::clone(self), Arc::clone(self));
        let made = tokio::spawn(async move { inner.workshop.ready(&inner.machine()?, digest).await });
        let done = tokio::spawn(async move {
            let lost = |error: tokio::task::JoinError| {
                KeptFault::from(ComponentShelfError::System { what: error.to_string() })
            };
            let made = made.await.unwrap_or_else(|error| Err(lost(error)));
            let mut making = after.making();
            if let Ok(compiled) = &made {
                after.compiled().insert(digest, compiled.clone());
            }
            making.remove(&digest);
            made
        });
        let lost = |_| Err(ComponentShelfError::System { what: "the daemon ends".to_owned() }.into());
        done.map(move |done| done.unwrap_or_else(lost)).boxed().shared()
    }

    async fn run(
        self: &Arc<Self>,
        added: &AddedComponent,
        grant: &Grant,
        supervision: &Supervision,
    ) -> Answer {
        if added.tool_version != grant.tool_version() {
            let what = "another version of the component was added since this call was decided about";
            return Answer::unbegun(ErrorCode::ComponentChanged, what);
        }
        let end = Instant::now() + grant.deadline();
        let ready = tokio::select! {
            biased;
            () = supervision.cancel.cancelled() => {
                return Answer::unbegun(ErrorCode::ToolCancelled, "the call was stopped with its run");
            }
            ready = tokio::time::timeout_at(end, self.ready(added.sha256)) => ready,
        };
        let compiled = match ready {
            Ok(Ok(compiled)) => compiled,
            Ok(Err(KeptFault::Changed)) => {
                return Answer::unbegun(ErrorCode::ComponentChanged, "the component is not what was pinned");
            }
            Ok(Err(KeptFault::Shelf(fault))) => return Answer::unbegun(fault.code(), fault),
            Err(_) => return Answer::unbegun(ErrorCode::ComponentLimit, COMPILING),
        };
        let machine = match self.machine() {
            Ok(machine) => machine,
            Err(fault) => return Answer::unbegun(fault.code(), fault),
        };
        let request = CallRequest { arguments: grant.arguments().clone(), principal: grant.principal() };
        let ports = self.ports(supervision.cancel.clone());
        let limits = CallLimits { time_max: end.duration_since(Instant::now()), ..CallLimits::default() };
        let call = machine.call(&compiled, request, given(added, grant, supervision), ports, limits);
        let ended = tokio::select! {
            biased;
            // Dropping the call ends it at the next point where it lets others go on.
            () = supervision.cancel.cancelled() => None,
            ended = call => Some(ended),
        };
        match ended {
            Some(Ok(text)) => Answer { failure: None, text, ran: Ran::Perhaps },
            Some(Err(CallError::NoRoom)) => Answer::unbegun(ErrorCode::ComponentLimit, NO_ROOM),
            Some(Err(CallError::Workspace(error))) => Answer::unbegun(ErrorCode::PathRefused, error),
            Some(Err(error)) => Answer::failed(code_of(&error), error.to_string()),
            None => {
                Answer::failed(ErrorCode::ToolCancelled, "the component was stopped with its run".to_owned())
            }
        }
    }

    fn ports(&self, cancel: CancelFlag) -> Ports {
        Ports {
            fetch: self.fetch.clone(),
            secrets: self.secrets.clone(),
            values: Arc::clone(&self.values),
            clock: Arc::clone(&self.clock),
            cancel,
        }
    }
}

struct Answer {
    failure: Option<ErrorCode>,
    text: String,
    ran: Ran,
}

/// How much of a component ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ran {
    Nothing,
    Perhaps,
}

impl Answer {
    fn failed(code: ErrorCode, text: String) -> Self {
        Self { failure: Some(code), text, ran: Ran::Perhaps }
    }

    fn unbegun(code: ErrorCode, why: impl std::fmt::Display) -> Self {
        let text = format!("{why}; nothing of it ran");
        Self { failure: Some(code), text, ran: Ran::Nothing }
    }

    /// Whether an earlier try, before a restart, may have done what this one did not even begin.
    fn leaves_doubt(&self, execution: Execution, contract: EffectContract) -> bool {
        self.ran == Ran::Nothing && execution == Execution::Again && contract != EffectContract::Pure
    }

    fn outcome(mut self, contract: EffectContract, output_bytes_max: usize) -> ToolExecutionOutcome {
        if self.failure.is_some() && self.ran == Ran::Perhaps && contract != EffectContract::Pure {
            self.text.push_str("; what it did before that stays done");
        }
        let output_bytes_total = self.text.len() as u64;
        self.text.truncate(self.text.floor_char_boundary(output_bytes_max));
        ToolExecutionOutcome {
            failure: self.failure,
            output: Redacted::new(self.text),
            output_bytes_total,
            executor: ToolExecutor::Wasm,
            isolation: Isolation::Component,
        }
    }
}

fn code_of(error: &CallError) -> ErrorCode {
    match error {
        CallError::Said(_) => ErrorCode::ToolFailed,
        CallError::Workspace(_) => ErrorCode::PathRefused,
        CallError::Trapped(_) => ErrorCode::ComponentTrapped,
        CallError::OutOfFuel | CallError::TimedOut | CallError::NoRoom => ErrorCode::ComponentLimit,
    }
}

/// Returns what one call may reach: what its component was pinned with, in the workspace of its run.
fn given(added: &AddedComponent, grant: &Grant, supervision: &Supervision) -> Given {
    let mut given = Given {
        methods: if added.contract == EffectContract::Pure { Methods::Safe } else { Methods::All },
        used_by: Some(CredentialUser {
            principal: grant.principal(),
            run: grant.run(),
            effect: grant.effect(),
        }),
        key: (added.contract == EffectContract::Keyed).then_some(supervision.key),
        ..Given::default()
    };
    for capability in &added.capabilities {
        let root = || grant.workspace_root().to_owned();
        match capability {
            ComponentCapability::ReadFiles => {
                if !matches!(given.files, GivenFiles::Change(_)) {
                    given.files = GivenFiles::Read(root());
                }
            }
            ComponentCapability::WriteFiles => given.files = GivenFiles::Change(root()),
            ComponentCapability::Http(host) => drop(given.hosts.insert(host.clone())),
            ComponentCapability::Secret(name) => drop(given.secrets.insert(name.clone())),
            ComponentCapability::KeyValue => given.key_value = Some(added.name.expose().clone()),
        }
    }
    given
}

impl ToolRuntime for Components {
    fn catalog(&self) -> Arc<ToolCatalog> {
        Arc::clone(&self.inner.offered().catalog)
    }

    fn isolation(&self, _tool: &ToolName) -> Isolation {
        Isolation::Component
    }

    fn prepare(&self, intent: Intent) -> BoxFuture<'static, Result<PreparedCall, PrepareRefusal>> {
        let message = format!("`{}` is a component, which is not asked what it would do", intent.tool());
        let refusal = PrepareRefusal { code: ErrorCode::ToolFailed, message: Redacted::new(message) };
        async { Err(refusal) }.boxed()
    }

    fn execute(
        &self,
        grant: Grant,
        supervision: Supervision,
    ) -> BoxFuture<'static, Result<ToolExecutionOutcome, ExecuteToolError>> {
        let inner = Arc::clone(&self.inner);
        async move {
            let tool = grant.tool().clone();
            let offered = inner.offered();
            let named = |added: &&AddedComponent| added.name.expose() == tool.as_str();
            let Some(added) = offered.components.iter().find(named) else {
                return Err(ExecuteToolError::Unknown { tool });
            };
            // What may be done again is what was said when it was decided, not what a later version says.
            if grant.execution() == Execution::Again && grant.contract() == EffectContract::Opaque {
                return Err(ExecuteToolError::OutcomeUnknown { tool });
            }
            let answer = inner.run(added, &grant, &supervision).await;
            if answer.leaves_doubt(grant.execution(), grant.contract()) {
                return Err(ExecuteToolError::OutcomeUnknown { tool });
            }
            Ok(answer.outcome(grant.contract(), grant.output_bytes_max()))
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repetition_that_did_not_begin_says_nothing_of_the_first_try() {
        let unbegun = || Answer::unbegun(ErrorCode::ComponentLimit, NO_ROOM);
        let failed = || Answer::failed(ErrorCode::ComponentTrapped, "a trap".to_owned());
        for (answer, execution, contract, doubts) in [
            (unbegun(), Execution::Again, EffectContract::Keyed, true),
            (unbegun(), Execution::Again, EffectContract::Pure, false),
            (unbegun(), Execution::First, EffectContract::Keyed, false),
            (failed(), Execution::Again, EffectContract::Keyed, false),
        ] {
            assert_eq!(answer.leaves_doubt(execution, contract), doubts, "{execution:?} {contract:?}");
        }
    }
}
