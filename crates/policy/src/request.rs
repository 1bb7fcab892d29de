//! What policy is asked about one call: who, which tool, and everything that a rule may look at.
//!
//! Owns the canonical JSON of a request, by which it is asked again later, word for word. Knows no rule. Invariant:
//! a request holds all that a verdict depends on beside the policies: same request, same policies, same verdict.

mod arguments;
mod exclusions;
mod hosts;
mod places;
mod risk;

use std::collections::{BTreeMap, BTreeSet};

use palyra_types::StoredGrantId;
use palyra_types::approval::ApproverPresence;
use palyra_types::shell_line::is_shell_line;
use palyra_types::tool::{ApprovalRiskLevel, CallContext, Capability, EffectContract, ToolSpec};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::posture::{PostureFrom, StandingPosture};
use crate::quote::quoted;
pub use arguments::{ARGUMENT_TEXT_BYTES_MAX, NAMED_MAX};
pub(crate) use arguments::{ArgumentShape, ArgumentShapes, ArgumentValue, meaning_of, wants_own_yes};
pub use hosts::host_of;
pub(crate) use hosts::{origin_alone, origin_of};
use places::PlaceCategory;
pub(crate) use places::{PathContext, read_path};
use risk::{ArgumentReach, risk_of};

/// The version of the JSON form; a request of another one is not read.
const FORM: u32 = 1;

/// Places that make a call critical, and why.
const CRITICAL_PLACES: [(PlaceCategory, &str); 5] = [
    (PlaceCategory::OutsideRoot, "it names a place outside of the workspace"),
    (PlaceCategory::Daemon, "it names files of the daemon"),
    (PlaceCategory::Credentials, "it names a file that holds credentials"),
    (PlaceCategory::Git, "it changes the folder of git itself"),
    (PlaceCategory::RunsLater, "it changes a file that runs by itself later"),
];

/// One question to policy. Its members are in order of name, so that its JSON is canonical.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyRequest {
    pub(crate) agent: String,
    pub(crate) context: RequestContext,
    pub(crate) form: u32,
    /// The stored grant that covers it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) grant: Option<StoredGrantId>,
    #[serde(default)]
    pub(crate) posture: StandingPosture,
    /// Whose setting that is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) posture_from: Option<PostureFrom>,
    /// Whether the call is a question to the person.
    #[serde(default)]
    pub(crate) question: bool,
    pub(crate) session: String,
    /// A skill that does not include the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) skill: Option<String>,
    pub(crate) tool: RequestTool,
    pub(crate) user: String,
}

/// The tool as it declares itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RequestTool {
    pub(crate) capabilities: BTreeSet<String>,
    pub(crate) contract: String,
    pub(crate) name: String,
    pub(crate) version: u32,
}

/// What rules find in `context`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RequestContext {
    pub(crate) approvers: String,
    pub(crate) args: BTreeMap<String, ArgumentValue>,
    pub(crate) args_bytes: u64,
    pub(crate) args_left_out: BTreeSet<String>,
    /// In order, as they would be started.
    pub(crate) argv: Vec<String>,
    pub(crate) hosts: BTreeSet<String>,
    /// Milliseconds since 1970.
    pub(crate) now_ms: u64,
    pub(crate) paths: BTreeSet<String>,
    pub(crate) risk: String,
    pub(crate) sandbox: String,
    pub(crate) surface: String,
    pub(crate) taints: BTreeSet<String>,
    pub(crate) tool_calls: u32,
    pub(crate) touches: BTreeSet<String>,
    pub(crate) turns: u32,
}

/// A text is not a recorded request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadRequestError {
    /// It is not JSON of this shape.
    #[error("it is not a request to policy: {reason}")]
    Malformed {
        /// What is wrong.
        reason: String,
    },
    /// It was written by a version that knows more.
    #[error("it has form {form}, and this version reads form {FORM}")]
    Form {
        /// Its form.
        form: u32,
    },
}

impl PolicyRequest {
    /// Returns its canonical JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads a recorded request.
    ///
    /// # Errors
    /// [`ReadRequestError`] for anything that [`Self::to_json`] does not write.
    pub fn from_json(json: &str) -> Result<Self, ReadRequestError> {
        let request: Self = serde_json::from_str(json)
            .map_err(|cause| ReadRequestError::Malformed { reason: cause.to_string() })?;
        if request.form != FORM {
            return Err(ReadRequestError::Form { form: request.form });
        }
        Ok(request)
    }

    /// Returns the tool's name.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool.name
    }

    /// Returns what would keep the call from reaching more than it is given, by the name that rules use.
    pub(crate) fn sandbox(&self) -> &str {
        &self.context.sandbox
    }

    /// Returns the risk of the call; whatever cannot be read is critical.
    #[must_use]
    pub fn risk(&self) -> ApprovalRiskLevel {
        RISKS
            .iter()
            .find(|(_, name)| *name == self.context.risk)
            .map_or(ApprovalRiskLevel::Critical, |(risk, _)| *risk)
    }

    /// Returns whether it hands a line to a shell.
    #[must_use]
    pub fn is_shell_line(&self) -> bool {
        is_shell_line(&self.context.argv)
    }

    /// Returns whether no setting permits it in advance: it hands a line to a shell, or changes files that steer a build
    /// or an agent.
    pub(crate) fn wants_own_yes(&self) -> bool {
        if self.is_shell_line() {
            return true;
        }
        let can = |capability| self.tool.capabilities.contains(capability_name(capability));
        let steers = [PlaceCategory::BuildFiles, PlaceCategory::AgentInstructions]
            .into_iter()
            .any(|place| self.context.touches.contains(place.name()));
        steers && can(Capability::WriteFiles) && !can(Capability::Process)
    }

    /// Returns the standing setting in words, where there is one: what it is, where it holds, who set it and when.
    #[must_use]
    pub fn posture_text(&self) -> Option<String> {
        match (self.posture, &self.posture_from) {
            (StandingPosture::Set(posture), Some(from)) => Some(from.describe(posture)),
            (StandingPosture::Unreadable, _) => Some("unreadable, so everything is disabled".to_owned()),
            (StandingPosture::Set(_), None) | (StandingPosture::Unset, _) => None,
        }
    }

    /// Returns why the risk of the call is critical; `None` where it is lower.
    #[must_use]
    pub fn critical_because(&self) -> Option<String> {
        if self.risk() != ApprovalRiskLevel::Critical {
            return None;
        }
        let changes = self.tool.contract != contract_name(EffectContract::Pure);
        let reasons = CRITICAL_PLACES.iter().filter(|(place, _)| {
            let is_of_changes = matches!(place, PlaceCategory::Git | PlaceCategory::RunsLater);
            self.context.touches.contains(place.name()) && (changes || !is_of_changes)
        });
        let reasons: Vec<String> = reasons
            .map(|(place, why)| match self.variable_word().filter(|_| *place == PlaceCategory::OutsideRoot) {
                Some(word) => format!("what {} leads to is not known before it runs", quoted(word, 64)),
                None => (*why).to_owned(),
            })
            .collect();
        Some(if reasons.is_empty() { "the tool declares it".to_owned() } else { reasons.join(", and ") })
    }

    /// Returns a word of the command that names another place in each environment: a variable, or a home directory.
    fn variable_word(&self) -> Option<&str> {
        arguments::named_words(&self.context.argv).find(|word| word.starts_with(['$', '~']))
    }

    pub(crate) fn approvers(&self) -> ApproverPresence {
        if self.context.approvers == INBOX { ApproverPresence::Inbox } else { ApproverPresence::Nobody }
    }
}

/// Where a call comes from beside its context.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallOrigin<'a> {
    pub(crate) posture: StandingPosture,
    pub(crate) posture_from: Option<PostureFrom>,
    pub(crate) skill: Option<String>,
    pub(crate) ground: PathContext<'a>,
}

/// More was named than can be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NamesTooMuch {
    pub(crate) count: usize,
}

/// Arguments of a call, as the model wrote them and as they are read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WrittenArguments<'a> {
    pub(crate) text: &'a str,
    pub(crate) parsed: &'a Value,
}

/// Makes the request for a call of `tool` whose arguments fit its schema.
pub(crate) fn request_of(
    tool: &ToolSpec,
    shapes: &ArgumentShapes,
    arguments: WrittenArguments<'_>,
    context: &CallContext,
    circumstances: CallOrigin<'_>,
) -> Result<PolicyRequest, NamesTooMuch> {
    let named = arguments::named_by(tool, arguments.parsed, circumstances.ground);
    if named.count > NAMED_MAX {
        return Err(NamesTooMuch { count: named.count });
    }
    let reach =
        ArgumentReach { places: &named.places, hosts: !named.hosts.is_empty(), argv: !named.argv.is_empty() };
    let risk = risk_of(tool, reach);
    let (args, args_left_out) = shapes.show(tool, arguments.parsed, circumstances.ground);
    Ok(PolicyRequest {
        agent: context.agent.to_string(),
        context: RequestContext {
            approvers: approvers_name(context.approvers).to_owned(),
            args,
            args_bytes: arguments.text.len() as u64,
            args_left_out,
            argv: named.argv,
            hosts: named.hosts,
            now_ms: context.now.unix_ms(),
            paths: named.paths,
            risk: risk_name(risk).to_owned(),
            sandbox: context.isolation.as_str().to_owned(),
            surface: context.surface.name().to_owned(),
            taints: context.taints.names().map(str::to_owned).collect(),
            tool_calls: context.tool_calls,
            touches: named.places.iter().map(|place| place.name().to_owned()).collect(),
            turns: context.turns,
        },
        form: FORM,
        grant: None,
        posture: circumstances.posture,
        posture_from: circumstances.posture_from,
        question: tool.conduct == palyra_types::tool::ToolConduct::Question,
        session: context.session.to_string(),
        skill: circumstances.skill,
        tool: RequestTool::of(tool),
        user: context.principal.to_string(),
    })
}

impl RequestTool {
    pub(crate) fn of(tool: &ToolSpec) -> Self {
        Self {
            capabilities: tool
                .capabilities
                .iter()
                .map(|capability| capability_name(*capability).to_owned())
                .collect(),
            contract: contract_name(tool.contract).to_owned(),
            name: tool.name.as_str().to_owned(),
            version: tool.version,
        }
    }
}

const INBOX: &str = "inbox";

const RISKS: [(ApprovalRiskLevel, &str); 4] = [
    (ApprovalRiskLevel::Low, "low"),
    (ApprovalRiskLevel::Medium, "medium"),
    (ApprovalRiskLevel::High, "high"),
    (ApprovalRiskLevel::Critical, "critical"),
];

pub(crate) fn risk_name(risk: ApprovalRiskLevel) -> &'static str {
    match risk {
        ApprovalRiskLevel::Low => "low",
        ApprovalRiskLevel::Medium => "medium",
        ApprovalRiskLevel::High => "high",
        ApprovalRiskLevel::Critical => "critical",
    }
}

pub(crate) fn capability_name(capability: Capability) -> &'static str {
    match capability {
        Capability::ReadFiles => "read_files",
        Capability::WriteFiles => "write_files",
        Capability::Network => "network",
        Capability::Process => "process",
        Capability::Secrets => "secrets",
        Capability::AskUser => "ask_user",
        Capability::Component => "component",
    }
}

fn contract_name(contract: EffectContract) -> &'static str {
    match contract {
        EffectContract::Pure => "pure",
        EffectContract::Keyed => "keyed",
        EffectContract::Probe => "probe",
        EffectContract::Local => "local",
        EffectContract::Opaque => "opaque",
    }
}

fn approvers_name(approvers: ApproverPresence) -> &'static str {
    match approvers {
        ApproverPresence::Inbox => INBOX,
        ApproverPresence::Nobody => "nobody",
    }
}
