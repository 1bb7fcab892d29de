//! Judges tool calls: pure functions from a snapshot and a call to a decision.
//!
//! Knows no run, disk, clock or human. Whatever no rule permits is denied.
//!
//! Begin at [`decide_tool_call`].

#![warn(clippy::wildcard_enum_match_arm)]

mod decide;
mod snapshot;

mod answer;
mod arguments;
mod rules;
mod schema;
mod expanded;

mod quote;

pub use answer::{AnswerSchema, AnswerSchemaError};
pub use arguments::{ARGUMENTS_BYTES_MAX, ARGUMENTS_DEPTH_MAX};
pub use decide::decide_tool_call;
pub use rules::{PermitRule, ToolPolicyRules, evaluate_with_config};
pub use snapshot::{CompilePolicyError, ToolCallPolicySnapshot};
