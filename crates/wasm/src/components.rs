//! Components as tools: the ones that a person added, each called with exactly what it was given.
//!
//! Invariant: a call reaches what its component was pinned with, and only while the component is the version that was
//! decided about and its bytes are those.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use palyra_ports::{
    CancelFlag, Clock, ComponentStoreError, FetchHttp, ProcessLimits, ProcessSandbox, SecretNames,
};
use palyra_tool_kit::{
    CallError, CallFailure, CallResult, ExecutionSite, Tool, ToolInvocation, ToolResult, ToolSet, ToolTable,
    delegate_tool_runtime,
};
use palyra_types::component::{AddedComponent, ComponentCapability};
use palyra_types::tool::{EffectContract, Isolation, ToolExecutor};
use palyra_types::{Content, ErrorCode};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::call::{self, CallRequest};
use crate::compile_cache::{CompileCache, CompilerSandbox, KeptFault};
use crate::compiled::CompiledComponent;
use crate::component_catalog::ComponentCatalog;
use crate::engine::Engine;
use crate::examine::spec_of;
use crate::file_values::FileValues;
use crate::key_value::KeepValues;
use crate::limits::CallLimits;
use crate::reach::{CallReach, GivenFiles, Methods, Ports};

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
pub struct ComponentTools {
    pub(crate) inner: Arc<ComponentsInner>,
    /// What is offered, as tools that refer to `inner`.
    pub(crate) offer: Arc<watch::Sender<Arc<ToolTable>>>,
    tools: ToolSet,
}

delegate_tool_runtime!(ComponentTools);

pub(crate) struct ComponentsInner {
    pub(crate) folder: PathBuf,
    pub(crate) cache: Arc<CompileCache>,
    pub(crate) values: Arc<dyn KeepValues>,
    fetch: Option<Arc<dyn FetchHttp>>,
    secrets: Option<Arc<dyn SecretNames>>,
    clock: Arc<dyn Clock>,
    /// Made with the first component: it reserves address space.
    engine: OnceLock<Result<Engine, String>>,
    compiled: Mutex<BTreeMap<[u8; 32], CompiledComponent>>,
    /// What is being made ready, by tasks of their own.
    making: Mutex<BTreeMap<[u8; 32], PendingCompile>>,
    /// Components whose bytes were not the pinned ones when they were called.
    pub(crate) differing: Mutex<BTreeSet<[u8; 32]>>,
    /// Held while what is offered changes, disk and all.
    pub(crate) offering: Arc<tokio::sync::Mutex<()>>,
}

/// A component that is being made ready, for all who wait for it.
type PendingCompile = Shared<BoxFuture<'static, Result<CompiledComponent, KeptFault>>>;

impl ComponentTools {
    /// Offers what was offered last.
    #[must_use]
    pub fn new(parts: ComponentParts) -> Self {
        let ComponentParts { folder, program, sandbox, compiling, fetch, secrets, clock } = parts;
        let offered = ComponentCatalog::read(&folder);
        let compiler = CompilerSandbox { sandbox, limits: compiling };
        let inner = ComponentsInner {
            cache: Arc::new(CompileCache::new(folder.clone(), program, compiler)),
            values: Arc::new(FileValues::new(folder.join(VALUES))),
            engine: OnceLock::new(),
            compiled: Mutex::default(),
            making: Mutex::default(),
            differing: Mutex::default(),
            offering: Arc::default(),
            fetch,
            secrets,
            clock,
            folder,
        };
        let inner = Arc::new(inner);
        let (offer, watched) = watch::channel(Arc::new(inner.table(&offered)));
        Self { inner, offer: Arc::new(offer), tools: ToolSet::watching(watched) }
    }

    /// Returns the tools, to be joined with others.
    #[must_use]
    pub fn tools(&self) -> ToolSet {
        self.tools.clone()
    }

    /// Returns the bytes of native code that [`Self::free_compiled`] removes. Blocks.
    #[must_use]
    pub fn compiled_bytes(&self) -> u64 {
        self.inner.cache.native_bytes()
    }

    /// Removes native code of components that are not worked on; it is made again when they are called after the next start.
    /// Returns its bytes. Blocks.
    #[must_use]
    pub fn free_compiled(&self) -> u64 {
        self.inner.cache.free_native()
    }
}

impl ComponentsInner {
    /// Returns what is offered, as tools.
    pub(crate) fn table(self: &Arc<Self>, offered: &ComponentCatalog) -> ToolTable {
        ToolTable::new(offered.components.iter().filter_map(|added| self.tool(added)).collect())
    }

    fn tool(self: &Arc<Self>, added: &AddedComponent) -> Option<Tool> {
        let (inner, added) = (Arc::clone(self), Arc::new(added.clone()));
        let tool = Tool::waiting(spec_of(&added)?, move |invocation| {
            let (inner, added) = (Arc::clone(&inner), Arc::clone(&added));
            async move { inner.run(&added, &invocation).await }
        });
        Some(tool.isolated_as(|| Isolation::Component))
    }

    /// Forgets the compiled form of every component that was removed.
    pub(crate) fn forget_compiled(&self, offered: &ComponentCatalog) {
        self.compiled().retain(|digest, _| offered.components.iter().any(|added| added.sha256 == *digest));
    }

    fn compiled(&self) -> MutexGuard<'_, BTreeMap<[u8; 32], CompiledComponent>> {
        self.compiled.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn engine(&self) -> Result<Engine, ComponentStoreError> {
        let made = self.engine.get_or_init(|| Engine::new().map_err(|error| error.to_string()));
        made.clone().map_err(|what| ComponentStoreError::Host { what })
    }

    fn making(&self) -> MutexGuard<'_, BTreeMap<[u8; 32], PendingCompile>> {
        self.making.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a component that can be called; its bytes were compared with their digest when it was first asked for.
    pub(crate) async fn ready(self: &Arc<Self>, digest: [u8; 32]) -> Result<CompiledComponent, KeptFault> {
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
    fn make(self: &Arc<Self>, digest: [u8; 32]) -> PendingCompile {
        let (inner, after) = (Arc::clone(self), Arc::clone(self));
        let made = tokio::spawn(async move { inner.cache.ready(&inner.engine()?, digest).await });
        let done = tokio::spawn(async move {
            let lost = |error: tokio::task::JoinError| {
                KeptFault::from(ComponentStoreError::System { what: error.to_string() })
            };
            let made = made.await.unwrap_or_else(|error| Err(lost(error)));
            let mut making = after.making();
            if let Ok(compiled) = &made {
                after.compiled().insert(digest, compiled.clone());
            }
            making.remove(&digest);
            made
        });
        let lost = |_| Err(ComponentStoreError::System { what: "the daemon ends".to_owned() }.into());
        done.map(move |done| done.unwrap_or_else(lost)).boxed().shared()
    }

    async fn run(self: &Arc<Self>, added: &AddedComponent, invocation: &ToolInvocation) -> CallResult {
        if added.tool_version != invocation.tool_version {
            let why = "another version of the component was added since this call was decided about";
            return Err(not_started(ErrorCode::ComponentChanged, why));
        }
        let cancel = &invocation.supervision.cancel;
        let end = Instant::now() + invocation.limits.deadline;
        let ready = tokio::select! {
            biased;
            () = cancel.cancelled() => {
                return Err(not_started(ErrorCode::ToolCancelled, "the call was stopped with its run"));
            }
            ready = tokio::time::timeout_at(end, self.ready(added.sha256)) => ready,
        };
        let compiled = ready.map_err(|_| not_started(ErrorCode::ComponentLimit, COMPILING))?;
        let compiled = compiled.map_err(|fault| match fault {
            KeptFault::Changed => {
                self.note_differing(added.sha256);
                not_started(ErrorCode::ComponentChanged, "the component is not what was pinned")
            }
            KeptFault::Shelf(fault) => not_started(fault.code(), fault),
        })?;
        let engine = self.engine().map_err(|fault| not_started(fault.code(), fault))?;
        let (arguments, principal) = (invocation.arguments.clone(), invocation.used_by.principal);
        let request = CallRequest { arguments: Content::new(arguments), principal };
        let limits = CallLimits { time_max: end.duration_since(Instant::now()), ..CallLimits::default() };
        let ports = self.ports(cancel.clone());
        let call = engine.call(&compiled, request, given(added, invocation), ports, limits);
        let ended = tokio::select! {
            biased;
            // Dropping the call ends it at the next point where it lets others go on.
            () = cancel.cancelled() => None,
            ended = call => Some(ended),
        };
        match ended {
            Some(Ok(text)) => Ok(ToolResult { text, site: SITE, ..ToolResult::default() }),
            Some(Err(error)) => Err(failed(&error, invocation.contract)),
            None => {
                let text = "the component was stopped with its run".to_owned();
                Err(ended_early(ErrorCode::ToolCancelled, text, invocation.contract))
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

/// Where components run.
const SITE: ExecutionSite = ExecutionSite { executor: ToolExecutor::Wasm, isolation: Isolation::Component };

fn not_started(code: ErrorCode, why: impl std::fmt::Display) -> CallError {
    CallError::NotStarted(CallFailure { code, message: format!("{why}; nothing of it ran"), site: SITE })
}

/// Returns the failure of a call of which something may have run.
fn ended_early(code: ErrorCode, mut message: String, contract: EffectContract) -> CallError {
    if contract != EffectContract::Pure {
        message.push_str("; what it did before that stays done");
    }
    CallError::Failed(CallFailure { code, message, site: SITE })
}

fn failed(error: &call::CallError, contract: EffectContract) -> CallError {
    let code = match error {
        call::CallError::NoRoom => return not_started(ErrorCode::ComponentLimit, NO_ROOM),
        call::CallError::Workspace(why) => return not_started(ErrorCode::PathRefused, why),
        call::CallError::Said(_) => ErrorCode::ToolFailed,
        call::CallError::Trapped(_) => ErrorCode::ComponentTrapped,
        call::CallError::OutOfFuel | call::CallError::TimedOut => ErrorCode::ComponentLimit,
    };
    ended_early(code, error.to_string(), contract)
}

/// Returns what one call may reach: what its component was pinned with, in the workspace of its run.
fn given(added: &AddedComponent, invocation: &ToolInvocation) -> CallReach {
    let mut given = CallReach {
        methods: if added.contract == EffectContract::Pure { Methods::Safe } else { Methods::All },
        used_by: Some(invocation.used_by),
        key: (added.contract == EffectContract::Keyed).then_some(invocation.supervision.key),
        ..CallReach::default()
    };
    for capability in &added.capabilities {
        let root = || invocation.workspace_root.clone();
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
