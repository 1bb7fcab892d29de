//! A tool: what it declares, how it acts, and what it says of a call beforehand.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_ports::PreparedCall;
use palyra_run_core::Intent;
use palyra_types::tool::{Isolation, ToolConduct, ToolSpec};

use crate::invocation::ToolInvocation;
use crate::result::{CallFailure, CallResult};

/// How a tool acts.
#[derive(Clone)]
pub enum ToolAct {
    /// It blocks, on files: it runs in the pool of its set.
    Blocking(Arc<dyn Fn(&ToolInvocation) -> CallResult + Send + Sync>),
    /// It waits, for programs or servers.
    Async(Arc<dyn Fn(ToolInvocation) -> BoxFuture<'static, CallResult> + Send + Sync>),
    /// It does not act: a person answers.
    Question,
}

/// Works out what a call would do, and changes nothing; it may block.
pub(crate) type PrepareFn = dyn Fn(&Intent) -> Result<PreparedCall, CallFailure> + Send + Sync;

/// One tool. A value rather than a trait: tools differ in a declaration and in one or two functions over what their crate
/// shares, so a trait would want a type for each of them, and a `prepare` also of those that are never prepared.
#[derive(Clone)]
pub struct Tool {
    pub(crate) spec: ToolSpec,
    pub(crate) act: ToolAct,
    pub(crate) prepare: Option<Arc<PrepareFn>>,
    pub(crate) isolation: Option<Arc<dyn Fn() -> Isolation + Send + Sync>>,
}

impl Tool {
    /// Makes a tool that blocks.
    #[must_use]
    pub fn blocking(
        spec: ToolSpec,
        run: impl Fn(&ToolInvocation) -> CallResult + Send + Sync + 'static,
    ) -> Self {
        Self::new(spec, ToolAct::Blocking(Arc::new(run)))
    }

    /// Makes a tool that waits.
    #[must_use]
    pub fn waiting<F>(spec: ToolSpec, run: impl Fn(ToolInvocation) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = CallResult> + Send + 'static,
    {
        Self::new(spec, ToolAct::Async(Arc::new(move |invocation| run(invocation).boxed())))
    }

    /// Makes a tool that a person answers.
    #[must_use]
    pub fn question(spec: ToolSpec) -> Self {
        Self::new(spec, ToolAct::Question)
    }

    fn new(spec: ToolSpec, act: ToolAct) -> Self {
        Self { spec, act, prepare: None, isolation: None }
    }

    /// Sets what works out beforehand what a call would do; it runs in the pool of the set.
    #[must_use]
    pub fn prepared_by(
        self,
        prepare: impl Fn(&Intent) -> Result<PreparedCall, CallFailure> + Send + Sync + 'static,
    ) -> Self {
        Self { prepare: Some(Arc::new(prepare)), ..self }
    }

    /// Sets what would keep a call from reaching more than it is given, as this host can; asked with each judgement.
    #[must_use]
    pub fn isolated_as(self, isolation: impl Fn() -> Isolation + Send + Sync + 'static) -> Self {
        Self { isolation: Some(Arc::new(isolation)), ..self }
    }

    /// Returns what the tool declares.
    #[must_use]
    pub fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// Returns whether it acts as it declares: only what is declared as prepared is prepared, only a question is answered
    /// by a person.
    pub(crate) fn is_consistent(&self) -> bool {
        let is_question = matches!(self.act, ToolAct::Question);
        match self.spec.conduct {
            ToolConduct::Direct => !is_question && self.prepare.is_none(),
            ToolConduct::Prepared => !is_question && self.prepare.is_some(),
            ToolConduct::Question => is_question && self.prepare.is_none(),
        }
    }
}
