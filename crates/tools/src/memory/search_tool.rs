//! What the tools that look for something share: what they declare, how many results they give, and the text of these.

use std::time::Duration;

use palyra_tool_kit::WholeNumber;
use palyra_types::tool::{
    ApprovalRiskLevel, EffectContract, Parallelism, Taints, ToolConduct, ToolName, ToolSpec,
};
use serde_json::Value;

const DEADLINE: Duration = Duration::from_secs(20);

/// What one of these tools declares of its own.
pub(super) struct SearchTool {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    pub(super) schema: Value,
    pub(super) output_bytes_max: usize,
}

impl SearchTool {
    /// Returns the declaration: a tool that reads the daemon's own records and changes nothing.
    pub(super) fn spec(self) -> ToolSpec {
        ToolSpec {
            name: ToolName::new(self.name),
            version: 1,
            description: self.description.to_owned(),
            schema: self.schema,
            contract: EffectContract::Pure,
            parallelism: Parallelism::Parallel,
            conduct: ToolConduct::Direct,
            capabilities: Vec::new(),
            taints: Taints::NONE,
            risk: ApprovalRiskLevel::Low,
            deadline: DEADLINE,
            output_bytes_max: self.output_bytes_max,
        }
    }
}

/// How many results a tool gives.
pub(super) struct ResultLimit {
    /// Where a call does not say.
    pub(super) usual: u64,
    /// At most.
    pub(super) max: u64,
}

impl ResultLimit {
    /// Returns how many a call gets.
    pub(super) fn of(&self, asked: Option<WholeNumber>) -> usize {
        let limit = asked.map_or(self.usual, |WholeNumber(limit)| limit.clamp(1, self.max));
        usize::try_from(limit).unwrap_or(usize::MAX)
    }
}

/// Returns the text of a result: a line that says how much was found, then one for each.
pub(super) fn listed(head: String, lines: impl Iterator<Item = String>) -> String {
    std::iter::once(head).chain(lines).collect::<Vec<_>>().join("\n")
}
