//! Tools: what they declare, what a model may ask of them, what policy says, what came of it.

mod digest_text;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::approval_terms::{ApprovalTerms, ApproverPresence};
use crate::surface::Surface;
use crate::{AgentId, Content, ErrorCode, PrincipalId, Redacted, RunId, SessionId, StoredGrantId, Timestamp};

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

/// A tool's name is of the catalogue, or was checked where a model's answer comes in.
impl From<&ToolName> for Redacted<String> {
    fn from(name: &ToolName) -> Self {
        Self::of_name(name.as_str().to_owned())
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
    /// The other side tells a repetition by the key that comes with it: run it again with the same key.
    Keyed,
    /// The world shows whether it took effect: look, then finish it or note that it is done.
    Probe,
    /// It changes only the journal: its effect and its outcome are one commit.
    Local,
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

/// What a tool can reach, as far as its contract does not say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Capability {
    /// Reads files of the workspace.
    ReadFiles,
    /// Changes files of the workspace.
    WriteFiles,
    /// Speaks to other machines.
    Network,
    /// Starts processes.
    Process,
    /// Uses secrets.
    Secrets,
    /// Asks the person for whom the run works.
    AskUser,
    /// Is no part of Palyra: a component that a person added.
    Component,
}

/// How a call gets from its decision to its outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ToolConduct {
    /// It is started as it was decided.
    #[default]
    Direct,
    /// The tool is first asked what the call would do: for the approval, and for the record of the intent.
    Prepared,
    /// A person answers it; no tool is run.
    Question,
}

/// What a run has read, as a set of labels; it only grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Taints(pub u32);

impl Taints {
    /// Nothing but what its person typed.
    pub const NONE: Self = Self(0);
    /// Files of the workspace.
    pub const WORKSPACE: Self = Self(1);
    /// Pages of the web.
    pub const WEB: Self = Self(1 << 1);
    /// Mail.
    pub const MAIL: Self = Self(1 << 2);
    /// What other people said in a chat.
    pub const CHAT_OTHER: Self = Self(1 << 3);
    /// Output of a tool that is not built in.
    pub const TOOL: Self = Self(1 << 4);
    /// A secret.
    pub const SECRET: Self = Self(1 << 5);

    /// Every label with its name, in order.
    pub const NAMED: [(Self, &'static str); 6] = [
        (Self::WORKSPACE, "workspace"),
        (Self::WEB, "web"),
        (Self::MAIL, "mail"),
        (Self::CHAT_OTHER, "chat_other"),
        (Self::TOOL, "tool"),
        (Self::SECRET, "secret"),
    ];

    /// Returns both sets together.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns whether every label of `other` is in this set.
    #[must_use]
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the names of its labels, in order.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::NAMED.into_iter().filter(move |(label, _)| self.has(*label)).map(|(_, name)| name)
    }
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
    /// How its calls are conducted.
    pub conduct: ToolConduct,
    /// What it can reach.
    pub capabilities: Vec<Capability>,
    /// What a run has read once it has seen its output.
    pub taints: Taints,
    /// Its base risk; the concrete call can raise it, never lower it.
    pub risk: ApprovalRiskLevel,
    /// How long a call may take.
    pub deadline: Duration,
    /// How much output is kept, in bytes.
    pub output_bytes_max: usize,
}

impl ToolSpec {
    /// Returns whether a call can change or give away anything: such a tool is denied where nobody could approve.
    #[must_use]
    pub fn is_sensitive(&self) -> bool {
        let harmless = |capability: &Capability| match capability {
            Capability::ReadFiles | Capability::AskUser => true,
            Capability::WriteFiles
            | Capability::Network
            | Capability::Process
            | Capability::Secrets
            | Capability::Component => false,
        };
        let changes = match self.contract {
            EffectContract::Pure => false,
            EffectContract::Local => self.conduct != ToolConduct::Question,
            EffectContract::Keyed | EffectContract::Probe | EffectContract::Opaque => true,
        };
        changes || !self.capabilities.iter().all(harmless)
    }
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
                "schema": tool.schema, "contract": digest_text::contract(tool.contract),
                "risk": digest_text::risk(tool.risk), "conduct": digest_text::conduct(tool.conduct),
                "capabilities": digest_text::capabilities(&tool.capabilities),
            })
        });
        let mut text = serde_json::Value::Array(tools.collect());
        // Maps keep the order in which they were filled where some crate of the build wants it so.
        text.sort_all_objects();
        text.to_string()
    }
}

/// A call to be judged: a proposal with what is known about who asks and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// The tool as the model named it.
    pub tool: ToolName,
    /// The arguments as the model wrote them.
    pub arguments: Redacted<String>,
    /// Who asks, where, and what the run has done so far.
    pub context: CallContext,
}

/// What is known about a call beside its tool and arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallContext {
    /// On whose behalf.
    pub principal: PrincipalId,
    /// The agent that proposes it.
    pub agent: AgentId,
    /// The conversation.
    pub session: SessionId,
    /// The run.
    pub run: RunId,
    /// Where the run's input came from.
    pub surface: Surface,
    /// Whether somebody could approve it.
    pub approvers: ApproverPresence,
    /// What the run has read.
    pub taints: Taints,
    /// Model turns of the run so far.
    pub turns: u32,
    /// Tool calls of the run so far.
    pub tool_calls: u32,
    /// When it is judged.
    pub now: Timestamp,
    /// What would keep it from reaching more than it is given, as this host can.
    pub isolation: Isolation,
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
    /// A rule permits it once a person approves.
    NeedsApproval,
    /// It needs an approval, and nobody could give one.
    NoApprovalChannel,
    /// A rule forbids it.
    Forbidden,
    /// The tool is switched off.
    Disabled,
    /// A skill of the agent does not include it.
    SkillForbids,
    /// The rules could not be evaluated.
    PolicyError,
    /// The arguments hold a secret.
    SecretInArguments,
    /// The arguments hold what stands for a secret that was taken out.
    PlaceholderInArguments,
    /// A stored grant covers it.
    Granted,
    /// A person approved it.
    Approved,
    /// A person denied it.
    ApprovalDenied,
    /// Nobody answered in time.
    ApprovalExpired,
    /// What would run is no longer what was approved.
    Drifted,
    /// The tool says that the call cannot work.
    NotPossible,
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
    /// How the call is conducted.
    pub conduct: ToolConduct,
    /// The tool's version; 0 where it is unknown.
    pub tool_version: u32,
    /// The risk of this very call.
    pub risk: ApprovalRiskLevel,
    /// What the run will have read once it has seen the output.
    pub taints: Taints,
    /// What the rule wants of an approval; meaningful with [`ToolVerdict::Ask`].
    pub approval: ApprovalTerms,
    /// The stored grant that covers it.
    pub grant: Option<StoredGrantId>,
    /// What policy was asked, verbatim, so that it can be asked again: canonical JSON; empty where it was not.
    pub request: Redacted<String>,
}

/// Where a tool ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ToolExecutor {
    /// In the daemon, on the bounded blocking pool.
    Internal,
    /// In a process of its own.
    Process,
    /// In the daemon, as a WebAssembly component.
    Wasm,
}

/// What kept it from reaching more than it was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Isolation {
    /// No process isolation; files only by descriptor, resolved beneath the workspace root.
    DescriptorRelative,
    /// A process under Landlock, a filter of system calls and limits of its own, without namespaces: no network.
    ConfinedWithoutNamespaces,
    /// The same in namespaces of its own; each process is held to its limits, and all together are looked at.
    ConfinedUncounted,
    /// The same, and the kernel counts what all use together.
    Confined,
    /// A process in a root of its own beside all that; each process is held to its limits.
    IsolatedUncounted,
    /// The same, and the kernel counts what all use together.
    Isolated,
    /// A component with a memory of its own: it reaches what its imports are given, and is held to work, time and memory.
    Component,
}

impl Isolation {
    /// All of them, from weak to strong.
    pub const ALL: [Self; 7] = [
        Self::DescriptorRelative,
        Self::ConfinedWithoutNamespaces,
        Self::ConfinedUncounted,
        Self::Confined,
        Self::IsolatedUncounted,
        Self::Isolated,
        Self::Component,
    ];

    /// Returns its name, as policies and people read it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::DescriptorRelative => "descriptor_relative",
            Self::ConfinedWithoutNamespaces => "confined_without_namespaces",
            Self::ConfinedUncounted => "confined_uncounted",
            Self::Confined => "confined",
            Self::IsolatedUncounted => "isolated_uncounted",
            Self::Isolated => "isolated",
            Self::Component => "component",
        }
    }
}

/// What came of an execution that has a known outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolExecutionOutcome<T = Redacted<String>> {
    /// `None` for success, else the code of the failure.
    pub failure: Option<ErrorCode>,
    /// What the model will read: the output, or the reason for the failure. At most `output_bytes_max`.
    pub output: T,
    /// Bytes the tool produced before truncation.
    pub output_bytes_total: u64,
    /// Where it ran.
    pub executor: ToolExecutor,
    /// What isolated it.
    pub isolation: Isolation,
    /// What the output brings beside what the tool declares, such as what an item of memory was learned from.
    pub taints: Taints,
}

/// An outcome as a tool gives it.
pub type RawToolOutcome = ToolExecutionOutcome<Content<String>>;

#[cfg(test)]
mod tests;
