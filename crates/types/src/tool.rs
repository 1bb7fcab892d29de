//! Tools: what they declare, what a model may ask of them, what policy says, what came of it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{ErrorCode, Redacted};

/// A tool's name as the catalogue has it; a model may also name one that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ToolName(Arc<str>);

impl ToolName {
    /// Wraps a name.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self(name.into())
    }

    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What may be done when it is not known whether a call took effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EffectContract {
    /// It changes nothing: run it again.
    Pure,
    /// Nobody can tell: never again by itself; a human is asked.
    Opaque,
}

/// Whether calls of a tool may run beside each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Parallelism {
    /// Any number at once.
    Parallel,
    /// One at a time, with nothing beside it.
    Exclusive,
}

/// How much harm a call can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ApprovalRiskLevel {
    /// Pure and inside the workspace.
    Low,
    /// Writes inside the workspace.
    Medium,
    /// Starts processes or uses the network.
    High,
    /// Reaches outside the workspace, or touches what will run later.
    Critical,
}

/// What a tool declares about itself.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Its name: `[a-z][a-z0-9_]*`, at most 64 characters.
    pub name: ToolName,
    /// Its version; raised when its behaviour changes.
    pub version: u32,
    /// What it does, written for a model.
    pub description: String,
    /// JSON Schema of its arguments (an object).
    pub schema: serde_json::Value,
    /// What may be done when its outcome is unknown.
    pub contract: EffectContract,
    /// Whether calls may overlap.
    pub parallelism: Parallelism,
    /// Its base risk; the concrete call can raise it.
    pub risk: ApprovalRiskLevel,
    /// How long a call may take.
    pub deadline: Duration,
    /// How much output is kept, in bytes.
    pub output_bytes_max: usize,
}

/// The tools a run may see, by name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolCatalog {
    tools: BTreeMap<ToolName, ToolSpec>,
}

impl Eq for ToolCatalog {}

impl ToolCatalog {
    /// Makes a catalogue; of two tools with one name the later wins.
    #[must_use]
    pub fn new(tools: Vec<ToolSpec>) -> Self {
        Self { tools: tools.into_iter().map(|tool| (tool.name.clone(), tool)).collect() }
    }

    /// Returns the tool of this exact name.
    #[must_use]
    pub fn get(&self, name: &ToolName) -> Option<&ToolSpec> {
        self.tools.get(name)
    }

    /// Returns all tools in order of name.
    pub fn iter(&self) -> impl Iterator<Item = &ToolSpec> {
        self.tools.values()
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Returns a canonical text of the catalogue, the same for equal catalogues.
    #[must_use]
    pub fn canonical_text(&self) -> String {
        let tools = self.iter().map(|tool| {
            serde_json::json!({
                "name": tool.name.as_str(), "version": tool.version, "description": tool.description,
                "schema": tool.schema, "contract": format!("{:?}", tool.contract), "risk": format!("{:?}", tool.risk),
            })
        });
        serde_json::Value::Array(tools.collect()).to_string()
    }
}

/// A call to be judged: a proposal with what is known about who asks and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// The tool as the model named it.
    pub tool: ToolName,
    /// The arguments as the model wrote them.
    pub arguments: Redacted<String>,
}

/// What policy says to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ToolVerdict {
    /// Run it.
    Allow,
    /// A human decides.
    Ask,
    /// Never; the model is told why.
    Deny,
}

/// Why, as a stable code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DecisionReason {
    /// A rule permits exactly this.
    Permitted,
    /// No rule permits it.
    NoRulePermits,
    /// The catalogue has no such tool.
    UnknownTool,
    /// The arguments are not JSON, or not what the schema asks.
    InvalidArguments,
    /// The run has used its tool calls.
    BudgetExhausted,
}

/// A verdict with its reasons, made against one policy snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolDecision {
    /// The verdict.
    pub verdict: ToolVerdict,
    /// Why, for programs.
    pub reason: DecisionReason,
    /// Why, for people and for the model.
    pub explanation: Redacted<String>,
    /// Digest of the policy snapshot it was made against.
    pub policy_digest: [u8; 32],
    /// The tool's contract; `Opaque` where the tool is unknown.
    pub contract: EffectContract,
    /// Whether it may run beside others.
    pub parallelism: Parallelism,
    /// How long it may take.
    pub deadline: Duration,
    /// How much output is kept, in bytes.
    pub output_bytes_max: usize,
}

/// Where a tool ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ToolExecutor {
    /// In the daemon, on the bounded blocking pool.
    Internal,
}

/// What kept it from reaching more than it was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Isolation {
    /// No process isolation; files only by descriptor, resolved beneath the workspace root.
    DescriptorRelative,
}

/// What came of an execution that has a known outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolExecutionOutcome {
    /// `None` for success, else the code of the failure.
    pub failure: Option<ErrorCode>,
    /// What the model will read: the output, or the reason for the failure. At most `output_bytes_max`.
    pub output: Redacted<String>,
    /// Bytes the tool produced before truncation.
    pub output_bytes_total: u64,
    /// Where it ran.
    pub executor: ToolExecutor,
    /// What isolated it.
    pub isolation: Isolation,
}
