//! What every tool is made with, and the one adapter that runs them all.
//!
//! Owns the shape of a tool ([`Tool`]), the call that it receives ([`ToolInvocation`]), what it returns, and everything
//! around a call that is the same for all tools: the pool of blocking work, panics, repetitions after a restart, the limit
//! of the output. Knows no single tool. Invariant: a tool runs only inside [`ToolSet::execute`], which takes a grant.
//! Begin at [`Tool`], then [`ToolSet`].

mod tool;
mod invocation;
mod result;
mod arguments;

mod tool_set;
mod tool_table;
mod conclude;
mod truncate;
mod blocking_pool;
mod secret_check;
mod delegate;

pub use arguments::{InvalidArguments, WholeNumber, parse};
pub use blocking_pool::{BLOCKING_CALLS_MAX, BlockingPool};
pub use conclude::{conclude, panic_of};
#[doc(hidden)]
pub use delegate::named;
pub use invocation::{CallLimits, ToolInvocation};
pub use palyra_run_core::{ExecutionAttempt, Intent};
pub use result::{CallError, CallFailure, CallResult, ExecutionSite, ToolResult};
pub use tool::{Tool, ToolAct};
pub use tool_set::ToolSet;
pub use tool_table::ToolTable;
pub use truncate::truncate;
