//! The one adapter between tools and the [`ToolRuntime`] port.
//!
//! Invariant: a call goes to the first source that has its tool, so a name that comes later never takes one that ships;
//! and no person is asked about a call whose secret the vault would refuse.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_ports::{
    CredentialUser, ExecuteToolError, FillCredential, PreparedCall, Supervision, ToolRuntime,
};
use palyra_run_core::{Grant, Intent, PrepareRefusal, RawPrepareRefusal};
use palyra_types::tool::{Isolation, RawToolOutcome, ToolCatalog, ToolName};
use palyra_types::{Content, ErrorCode};
use tokio::sync::watch;

use crate::blocking_pool::BlockingPool;
use crate::conclude::{conclude, may_run, panic_of};
use crate::invocation::ToolInvocation;
use crate::result::{CallFailure, CallResult};
use crate::secret_check::check_secrets;
use crate::tool::{Tool, ToolAct};
use crate::tool_table::ToolTable;

/// Tools of one or more sources. Cheap to clone; clones share pool and catalogue.
#[derive(Clone)]
pub struct ToolSet {
    sources: Arc<[watch::Receiver<Arc<ToolTable>>]>,
    pool: BlockingPool,
    credentials: Option<Arc<dyn FillCredential>>,
    joined: Arc<Mutex<JoinedCatalog>>,
}

/// The catalogues that were joined last, and the whole.
#[derive(Default)]
struct JoinedCatalog {
    parts: Vec<Arc<ToolCatalog>>,
    whole: Arc<ToolCatalog>,
}

impl ToolSet {
    /// Makes a set of tools that stay.
    #[must_use]
    pub fn new(tools: Vec<Tool>) -> Self {
        Self::watching(watch::channel(Arc::new(ToolTable::new(tools))).1)
    }

    /// Makes a set of tools that come and go.
    #[must_use]
    pub fn watching(source: watch::Receiver<Arc<ToolTable>>) -> Self {
        Self::of(vec![source], BlockingPool::default())
    }

    /// Puts sets together, the most trusted one first; they share the pool of that one.
    #[must_use]
    pub fn join(sets: &[Self]) -> Self {
        let pool = sets.first().map(|set| set.pool.clone()).unwrap_or_default();
        Self::of(sets.iter().flat_map(|set| set.sources.iter().cloned()).collect(), pool)
    }

    fn of(sources: Vec<watch::Receiver<Arc<ToolTable>>>, pool: BlockingPool) -> Self {
        Self { sources: sources.into(), pool, credentials: None, joined: Arc::default() }
    }

    /// Refuses calls that carry a secret to a server to which it is not bound, before a person is asked.
    #[must_use]
    pub fn checking_secrets(self, credentials: Arc<dyn FillCredential>) -> Self {
        Self { credentials: Some(credentials), ..self }
    }

    /// Returns the pool of blocking work.
    #[must_use]
    pub fn pool(&self) -> &BlockingPool {
        &self.pool
    }

    fn find(&self, name: &ToolName) -> Option<Arc<Tool>> {
        self.sources.iter().find_map(|source| source.borrow().tools.get(name).cloned())
    }

    async fn prepare_call(self, intent: Intent) -> Result<PreparedCall, CallFailure> {
        let name = intent.tool().clone();
        let Some(tool) = self.find(&name) else {
            let message = format!("there is no tool `{name}` any more");
            return Err(CallFailure::new(ErrorCode::ToolUnknown, message));
        };
        let Some(prepare) = tool.prepare.clone() else {
            let message = format!("calls of `{name}` are not prepared");
            return Err(CallFailure::new(ErrorCode::ToolFailed, message));
        };
        let user =
            CredentialUser { principal: intent.principal(), run: intent.run(), effect: intent.effect() };
        let prepared = self.pool.run(move || prepare(&intent)).await.unwrap_or_else(|| {
            let message = format!("`{name}` hit a bug in itself; try another way");
            Err(CallFailure::new(ErrorCode::ToolFailed, message))
        })?;
        match self.credentials {
            Some(credentials) => check_secrets(prepared, user, credentials, &self.pool).await,
            None => Ok(prepared),
        }
    }

    async fn call(self, invocation: ToolInvocation) -> Result<RawToolOutcome, ExecuteToolError> {
        let unknown = || ExecuteToolError::Unknown { tool: invocation.tool.clone() };
        let Some(tool) = self.find(&invocation.tool) else { return Err(unknown()) };
        let declared = tool.spec.contract;
        if !may_run(declared, &invocation) {
            return Err(ExecuteToolError::OutcomeUnknown { tool: invocation.tool });
        }
        let panicked = || {
            tracing::error!(tool = %tool.spec.name, "a tool panicked; this is a bug");
            panic_of(&tool.spec.name, declared)
        };
        let result: CallResult = match &tool.act {
            ToolAct::Blocking(run) => {
                let (run, invocation) = (Arc::clone(run), invocation.clone());
                let work = move || catch_unwind(AssertUnwindSafe(|| run(&invocation))).ok();
                self.pool.run(work).await.flatten().unwrap_or_else(|| Err(panicked()))
            }
            ToolAct::Async(run) => {
                let work = async { run(invocation.clone()).await };
                AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|_| Err(panicked()))
            }
            ToolAct::Question => return Err(unknown()),
        };
        conclude(declared, &invocation, result)
    }
}

impl ToolRuntime for ToolSet {
    fn catalog(&self) -> Arc<ToolCatalog> {
        let parts: Vec<_> = self.sources.iter().map(|source| Arc::clone(&source.borrow().catalog)).collect();
        let mut joined = self.joined.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = joined.parts.len() == parts.len()
            && joined.parts.iter().zip(&parts).all(|(old, new)| Arc::ptr_eq(old, new));
        if !is_same {
            let whole = match parts.as_slice() {
                [only] => Arc::clone(only),
                // Of two with one name the later wins, so that the most trusted comes last.
                _ => Arc::new(ToolCatalog::new(
                    parts.iter().rev().flat_map(|part| part.iter().cloned()).collect(),
                )),
            };
            *joined = JoinedCatalog { parts, whole };
        }
        Arc::clone(&joined.whole)
    }

    fn isolation(&self, tool: &ToolName) -> Isolation {
        let isolation = self.find(tool).and_then(|tool| tool.isolation.clone());
        isolation.map_or(Isolation::DescriptorRelative, |isolation| isolation())
    }

    fn prepare(&self, intent: Intent) -> BoxFuture<'static, Result<PreparedCall, RawPrepareRefusal>> {
        let prepared = self.clone().prepare_call(intent);
        async move {
            prepared.await.map_err(|failure| PrepareRefusal {
                code: failure.code,
                message: Content::new(failure.message),
            })
        }
        .boxed()
    }

    fn execute(
        &self,
        grant: Grant,
        supervision: Supervision,
    ) -> BoxFuture<'static, Result<RawToolOutcome, ExecuteToolError>> {
        self.clone().call(ToolInvocation::of(&grant, supervision)).boxed()
    }
}

#[cfg(test)]
mod tests;
