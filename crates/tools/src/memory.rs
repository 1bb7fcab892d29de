//! The tools of memory: looking for what is remembered, remembering and forgetting, looking for conversations, reading a run.
//!
//! Owns their declarations and what a model reads of an item. Knows no store: memory is a port, which is there once a
//! gateway is. Invariant: whose memory it is comes from the grant, never from an argument. Begin at [`MemoryTools`].

mod memory_search;
mod memory_write;
mod read_run;
mod session_search;
mod search_tool;
mod shown;

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_ports::search_memories::{MemoryCall, MemoryRefusal, UseMemories};
use palyra_tool_kit::{CallError, CallFailure, CallResult, InvalidArguments, Tool, ToolSet};
use palyra_types::ErrorCode;
use palyra_types::tool::ToolSpec;
use serde::de::DeserializeOwned;

use crate::late_access::LateAccess;

/// One tool: what it declares, and what a call does.
struct MemoryTool {
    spec: fn() -> ToolSpec,
    run: fn(Arc<dyn UseMemories>, MemoryRequest) -> BoxFuture<'static, CallResult>,
}

/// What a call asks of memory.
struct MemoryRequest {
    call: MemoryCall,
    /// JSON text.
    arguments: String,
}

impl MemoryRequest {
    fn arguments<T: DeserializeOwned>(&self) -> Result<T, CallError> {
        palyra_tool_kit::parse(&self.arguments).map_err(|_| invalid(InvalidArguments::MESSAGE))
    }
}

const TOOLS: [MemoryTool; 4] = [
    MemoryTool { spec: memory_search::spec, run: |memory, asked| memory_search::run(memory, asked).boxed() },
    MemoryTool { spec: memory_write::spec, run: |memory, asked| memory_write::run(memory, asked).boxed() },
    MemoryTool {
        spec: session_search::spec,
        run: |memory, asked| session_search::run(memory, asked).boxed(),
    },
    MemoryTool { spec: read_run::spec, run: |memory, asked| read_run::run(memory, asked).boxed() },
];

/// Returns what the tools of memory say of themselves, without any that could be called.
#[must_use]
pub fn memory_tool_specs() -> Vec<ToolSpec> {
    TOOLS.iter().map(|row| (row.spec)()).collect()
}

/// The memory that the tools use. Clones share it.
pub type MemoryAccess = LateAccess<dyn UseMemories>;

/// The tools of memory. Cheap to clone.
#[derive(Clone)]
pub struct MemoryTools {
    tools: ToolSet,
    access: MemoryAccess,
}

impl Default for MemoryTools {
    fn default() -> Self {
        Self::new()
    }
}

impl MemoryTools {
    /// Makes the tools; they wait until they are given a memory.
    #[must_use]
    pub fn new() -> Self {
        let access = MemoryAccess::new("memory");
        let tools = ToolSet::new(TOOLS.iter().map(|row| row.tool(&access)).collect());
        Self { tools, access }
    }

    /// Returns the tools, to be joined with others.
    #[must_use]
    pub fn tools(&self) -> ToolSet {
        self.tools.clone()
    }

    /// Returns where the memory is given to them.
    #[must_use]
    pub fn access(&self) -> MemoryAccess {
        self.access.clone()
    }
}

impl MemoryTool {
    fn tool(&self, access: &MemoryAccess) -> Tool {
        let run = self.run;
        let access = access.clone();
        Tool::waiting((self.spec)(), move |invocation| {
            let access = access.clone();
            let call = MemoryCall {
                principal: invocation.used_by.principal,
                session: invocation.session,
                run: invocation.used_by.run,
                effect: invocation.used_by.effect,
                root: invocation.workspace_root,
                taints: invocation.taints,
            };
            let asked = MemoryRequest { call, arguments: invocation.arguments };
            async move {
                let memory = access.wait().await.map_err(CallError::NotStarted)?;
                run(memory, asked).await
            }
        })
    }
}

fn refused(refusal: MemoryRefusal) -> CallError {
    CallError::Failed(CallFailure::new(refusal.code, refusal.message))
}

fn invalid(message: &str) -> CallError {
    CallError::Failed(CallFailure::new(ErrorCode::ToolArgumentsInvalid, message.to_owned()))
}

#[cfg(test)]
mod tests;
