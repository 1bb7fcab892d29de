//! The tools of schedules: making, listing and cancelling schedules of the person for whom the run works.
//!
//! Owns their declarations, and what a person reads before they approve a call. Knows no clock and no store: schedules are a
//! port, which is there once a gateway is. Invariant: whose schedules they are comes from the grant, never from an argument,
//! and the times that are recorded are those that were shown. Begin at [`ScheduleTools`].

mod schedule_cancel;
mod schedule_create;
mod schedule_list;
mod shown;

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_ports::{CredentialUser, PreparedCall, ScheduleRefusal, UseSchedules};
use palyra_tool_kit::{
    CallError, CallFailure, CallResult, ExecutionAttempt, Intent, InvalidArguments, Tool, ToolSet,
};
use palyra_types::ErrorCode;
use palyra_types::tool::{Taints, ToolSpec};
use serde::de::DeserializeOwned;

use crate::late_access::LateAccess;

const DEADLINE: Duration = Duration::from_secs(20);

/// What a call asks of schedules. All but the arguments comes from its grant.
struct ScheduleCall {
    user: CredentialUser,
    taints: Taints,
    execution: ExecutionAttempt,
    /// JSON text.
    arguments: String,
    /// What was approved beside the arguments, in JSON.
    plan: String,
}

type RunFn = fn(Arc<dyn UseSchedules>, ScheduleCall) -> BoxFuture<'static, CallResult>;
type PrepareFn = fn(Arc<dyn UseSchedules>, Intent) -> BoxFuture<'static, Result<PreparedCall, CallFailure>>;

/// One tool: what it declares, what a call does, and what it says of a call beforehand.
struct ScheduleTool {
    spec: fn() -> ToolSpec,
    run: RunFn,
    prepare: Option<PrepareFn>,
}

const TOOLS: [ScheduleTool; 3] = [
    ScheduleTool {
        spec: schedule_create::spec,
        run: |schedules, call| schedule_create::run(schedules, call).boxed(),
        prepare: Some(|schedules, intent| schedule_create::prepare(schedules, intent).boxed()),
    },
    ScheduleTool {
        spec: schedule_list::spec,
        run: |schedules, call| schedule_list::run(schedules, call).boxed(),
        prepare: None,
    },
    ScheduleTool {
        spec: schedule_cancel::spec,
        run: |schedules, call| schedule_cancel::run(schedules, call).boxed(),
        prepare: Some(|schedules, intent| schedule_cancel::prepare(schedules, intent).boxed()),
    },
];

/// Returns what the tools of schedules say of themselves, without any that could be called.
#[must_use]
pub fn schedule_tool_specs() -> Vec<ToolSpec> {
    TOOLS.iter().map(|row| (row.spec)()).collect()
}

/// The schedules that the tools use. Clones share them.
pub type ScheduleAccess = LateAccess<dyn UseSchedules>;

/// The tools of schedules. Cheap to clone.
#[derive(Clone)]
pub struct ScheduleTools {
    tools: ToolSet,
    access: ScheduleAccess,
}

impl Default for ScheduleTools {
    fn default() -> Self {
        Self::new()
    }
}

impl ScheduleTools {
    /// Makes the tools; they wait until they are given schedules.
    #[must_use]
    pub fn new() -> Self {
        let access = ScheduleAccess::new("schedules");
        let tools = ToolSet::new(TOOLS.iter().map(|row| row.tool(&access)).collect());
        Self { tools, access }
    }

    /// Returns the tools, to be joined with others.
    #[must_use]
    pub fn tools(&self) -> ToolSet {
        self.tools.clone()
    }

    /// Returns where the schedules are given to them.
    #[must_use]
    pub fn access(&self) -> ScheduleAccess {
        self.access.clone()
    }
}

impl ScheduleTool {
    fn tool(&self, access: &ScheduleAccess) -> Tool {
        let run = self.run;
        let of_calls = access.clone();
        let tool = Tool::waiting((self.spec)(), move |invocation| {
            let access = of_calls.clone();
            let call = ScheduleCall {
                user: invocation.used_by,
                taints: invocation.taints,
                execution: invocation.execution,
                arguments: invocation.arguments,
                plan: invocation.plan,
            };
            async move {
                let schedules = access.wait().await.map_err(CallError::NotStarted)?;
                run(schedules, call).await
            }
        });
        let Some(prepare) = self.prepare else { return tool };
        let access = access.clone();
        tool.prepared_by(move |intent| {
            let intent = intent.clone();
            // The pool of the kit has threads of its own for work that blocks.
            tokio::runtime::Handle::current().block_on(async { prepare(access.wait().await?, intent).await })
        })
    }
}

/// Returns on whose behalf a call is prepared.
fn user_of(intent: &Intent) -> CredentialUser {
    CredentialUser { principal: intent.principal(), run: intent.run(), effect: intent.effect() }
}

fn arguments<T: DeserializeOwned>(text: &str) -> Result<T, CallFailure> {
    palyra_tool_kit::parse(text).map_err(|_| invalid(InvalidArguments::MESSAGE))
}

fn refused(refusal: ScheduleRefusal) -> CallFailure {
    CallFailure::new(refusal.code, refusal.message)
}

fn invalid(message: &str) -> CallFailure {
    CallFailure::new(ErrorCode::ToolArgumentsInvalid, message.to_owned())
}

#[cfg(test)]
mod tests;
