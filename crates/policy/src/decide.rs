//! The verdict on one tool call.
//!
//! Owns the order of the stations: name, arguments, what they hold, skills, postures, policies, grants, approvers.
//! Invariant: the only way to [`ToolVerdict::Allow`] leads through all of them.

use cedar_policy::Effect;
use palyra_types::Redacted;
use palyra_types::access::PrincipalRecord;
use palyra_types::approval::{ApprovalTerms, StoredGrantRecord};
use palyra_types::session::SessionRef;
use palyra_types::tool::{
    ApprovalRiskLevel, CallContext, Capability, DecisionReason, EffectContract, Parallelism, Taints,
    ToolCall, ToolConduct, ToolDecision, ToolName, ToolSpec, ToolVerdict,
};
use serde_json::Value;

use crate::arguments::parse_arguments;
use crate::grants::{GrantCoverage, GrantedCall, ProgramsFound, covering_grant, grants_about_their_kind};
use crate::near_rules::{NearRule, near_rules};
use crate::policies::ReadOnlyFolder;
use crate::posture::PosturePlace;
use crate::quote::{listed, quoted};
use crate::request::{CallOrigin, NAMED_MAX, PathContext, PolicyRequest, WrittenArguments, request_of};
use crate::rules::{Judgement, PolicyStandpoint, conclude};
use crate::schema::ArgumentsSchema;
use crate::skills::{ActiveSkill, forbidding_skill};
use crate::snapshot::ToolCallPolicySnapshot;
use crate::suggest::near_tool;

const TOOLS_LISTED_MAX: usize = 40;
/// How an address begins over which no secret is sent.
const PLAIN_SCHEME: &str = "http://";
/// The placeholder of a value of the vault, or of a key of a model server.
const OF_VAULT: &str = "<secret:vault>";

/// What the caller found out about a call, beside its context.
#[derive(Debug, Clone, Copy, Default)]
pub struct CallEvidence<'a> {
    /// Stored grants that may cover it.
    pub grants: &'a [StoredGrantRecord],
    /// What the redactor found in its arguments.
    pub held: ArgumentsHold,
    /// Skills that are active in the run.
    pub skills: &'a [ActiveSkill],
    /// The workspace's absolute path. Without it, every absolute path counts as outside.
    pub workspace: Option<&'a str>,
    /// The workspace's files that the call runs, once it is prepared.
    pub programs: ProgramsFound,
    /// The known principals, for rules that name who may decide.
    pub people: &'a [PrincipalRecord],
}

/// What the redactor found in the arguments of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ArgumentsHold {
    /// Nothing that matters.
    #[default]
    Nothing,
    /// A secret.
    Secret,
    /// What stands for a secret that was taken out: to write it anywhere would destroy what was there.
    Placeholder,
}

/// Why a call is not judged by policies at all.
struct Refusal {
    reason: DecisionReason,
    explanation: String,
}

/// A call that was put to the policies.
struct JudgedRequest {
    judgement: Judgement,
    request: PolicyRequest,
    coverage: GrantCoverage,
}

impl JudgedRequest {
    fn obstacle(&self) -> Option<CallObstacle> {
        let is_forbidden = self.judgement.reason == DecisionReason::Forbidden;
        (is_forbidden && !self.judgement.read_only.is_empty()).then_some(CallObstacle::NoMounts)
    }
}

/// What keeps a forbidden call from running in a narrower way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallObstacle {
    /// Folders would have to be read-only for it, and its sandbox has no mounts for that.
    NoMounts,
}

/// A decision, with what its explanation says in words.
pub(crate) struct ExaminedCall {
    pub(crate) decision: ToolDecision,
    pub(crate) obstacle: Option<CallObstacle>,
}

/// Judges one call against one snapshot; denies whatever nothing permits.
#[must_use]
pub fn decide_tool_call(
    snapshot: &ToolCallPolicySnapshot,
    call: &ToolCall,
    evidence: &CallEvidence<'_>,
) -> ToolDecision {
    examine_tool_call(snapshot, call, evidence).decision
}

/// As [`decide_tool_call`], with the data behind the explanation.
pub(crate) fn examine_tool_call(
    snapshot: &ToolCallPolicySnapshot,
    call: &ToolCall,
    evidence: &CallEvidence<'_>,
) -> ExaminedCall {
    let Some((tool, schema)) = snapshot.tool(&call.tool) else {
        return ExaminedCall {
            decision: refused(snapshot, None, unknown_tool(snapshot, call)),
            obstacle: None,
        };
    };
    match evaluate_tool_proposal_security(snapshot, tool, schema, call, evidence) {
        Ok(judged) => {
            let obstacle = judged.obstacle();
            ExaminedCall { obstacle, decision: decided(snapshot, tool, judged, evidence.people) }
        }
        Err(refusal) => ExaminedCall { decision: refused(snapshot, Some(tool), refusal), obstacle: None },
    }
}

/// Returns what becomes of an ordinary call of a tool from a place: one that names nothing. The arguments of a call may
/// change that.
#[must_use]
pub fn ordinary_verdict(
    snapshot: &ToolCallPolicySnapshot,
    tool: &ToolName,
    context: &CallContext,
) -> ToolVerdict {
    let Some((tool, _)) = snapshot.tool(tool) else { return ToolVerdict::Deny };
    let session = SessionRef { principal: context.principal, id: context.session };
    let place = PosturePlace { agent: context.agent, workspace: None, session };
    let (posture, posture_from) = snapshot.rules().postures.holds(&tool.name, place);
    let circumstances = CallOrigin { posture, posture_from, ..CallOrigin::default() };
    let nothing = Value::Object(serde_json::Map::new());
    let shapes = snapshot.policies().shapes();
    let arguments = WrittenArguments { text: "{}", parsed: &nothing };
    request_of(tool, shapes, arguments, context, circumstances).map_or(ToolVerdict::Deny, |request| {
        conclude(&PolicyStandpoint::of(snapshot.policies(), &request), &request).verdict
    })
}

/// Puts a call of a known tool through the stations.
fn evaluate_tool_proposal_security(
    snapshot: &ToolCallPolicySnapshot,
    tool: &ToolSpec,
    schema: &ArgumentsSchema,
    call: &ToolCall,
    evidence: &CallEvidence<'_>,
) -> Result<JudgedRequest, Refusal> {
    let written = call.arguments.expose();
    let arguments = fitting_arguments(tool, schema, written)?;
    check_hold(tool, evidence.held, &arguments)?;
    let session = SessionRef { principal: call.context.principal, id: call.context.session };
    let place = PosturePlace { agent: call.context.agent, workspace: evidence.workspace, session };
    let (posture, posture_from) = snapshot.rules().postures.holds(&tool.name, place);
    let circumstances = CallOrigin {
        posture,
        posture_from,
        skill: forbidding_skill(evidence.skills, &tool.name).map(str::to_owned),
        ground: PathContext { root: evidence.workspace, own: &snapshot.rules().own_paths },
    };
    let shapes = snapshot.policies().shapes();
    let written = WrittenArguments { text: written, parsed: &arguments };
    let request = request_of(tool, shapes, written, &call.context, circumstances);
    let mut request = request.map_err(|too_much| Refusal {
        reason: DecisionReason::InvalidArguments,
        explanation: format!(
            "the arguments of `{}` name {} paths, hosts and words, at most {NAMED_MAX} are judged; do it in parts",
            tool.name, too_much.count
        ),
    })?;
    let standpoint = PolicyStandpoint::of(snapshot.policies(), &request);
    let mut judgement = conclude(&standpoint, &request);
    let mut coverage = GrantCoverage::None;
    if matches!(judgement.reason, DecisionReason::NeedsApproval | DecisionReason::NoApprovalChannel) {
        let call = GrantedCall {
            tool: &tool.name,
            arguments: &arguments,
            risk: request.risk(),
            context: &call.context,
            workspace: evidence.workspace,
            tool_version: tool.version,
            programs: evidence.programs,
            shell_line: request.is_shell_line(),
        };
        coverage = covering_grant(&grants_about_their_kind(tool, evidence.grants), call);
        if let GrantCoverage::Covered(grant) = coverage {
            request.grant = Some(grant);
            judgement = conclude(&standpoint, &request);
        }
    }
    // Only what a call would do is worked out with the folders that it may not write to.
    if tool.conduct != ToolConduct::Prepared {
        judgement = judgement.without_read_only();
    }
    Ok(JudgedRequest { judgement, request, coverage })
}

fn fitting_arguments(tool: &ToolSpec, schema: &ArgumentsSchema, written: &str) -> Result<Value, Refusal> {
    let complaint = match parse_arguments(written) {
        Ok(arguments) => match schema.complaint(&arguments) {
            None => return Ok(arguments),
            Some(complaint) => complaint,
        },
        Err(error) => error.to_string(),
    };
    let explanation = format!("the arguments of `{}` do not fit: {complaint}", tool.name);
    Err(Refusal { reason: DecisionReason::InvalidArguments, explanation })
}

fn check_hold(tool: &ToolSpec, held: ArgumentsHold, arguments: &Value) -> Result<(), Refusal> {
    let takes_credential = tool.schema.pointer("/properties/credential").is_some();
    let reason = match held {
        ArgumentsHold::Nothing => return Ok(()),
        ArgumentsHold::Secret => DecisionReason::SecretInArguments,
        ArgumentsHold::Placeholder => DecisionReason::PlaceholderInArguments,
    };
    let why = match held {
        _ if takes_credential => credential_mend(arguments),
        ArgumentsHold::Secret => "hold a secret; leave it out, or name where it is kept instead of its value",
        ArgumentsHold::Nothing | ArgumentsHold::Placeholder => {
            "hold the placeholder of a secret that was taken out; change only the parts around it"
        }
    };
    Err(Refusal { reason, explanation: format!("the arguments of `{}` {why}", tool.name) })
}

/// Says how a secret goes with a request: never to an address without TLS, and one of the vault by its name.
fn credential_mend(arguments: &Value) -> &'static str {
    let url = arguments["url"].as_str().unwrap_or_default();
    if url.get(..PLAIN_SCHEME.len()).is_some_and(|scheme| scheme.eq_ignore_ascii_case(PLAIN_SCHEME)) {
        return "hold a secret or its placeholder; secrets are sent over https:// only, so this http:// address takes none: leave \
                it out, or use the https:// address, where the argument `credential` names a secret of the vault";
    }
    if arguments.to_string().contains(OF_VAULT) {
        return "hold a secret that is known here; where the vault has it (`palyra admin vault list` shows the names), the argument \
                `credential` names it instead: NAME";
    }
    "hold a secret or its placeholder; the person saves it by `palyra admin vault put NAME --host HOST`, then the argument \
     `credential` names it: NAME"
}

fn decided(
    snapshot: &ToolCallPolicySnapshot,
    tool: &ToolSpec,
    judged: JudgedRequest,
    people: &[PrincipalRecord],
) -> ToolDecision {
    let mut explanation = explanation(snapshot, tool, &judged);
    if judged.judgement.verdict != ToolVerdict::Deny {
        explanation.push_str(&read_only_text(&judged.judgement.read_only));
    }
    if judged.judgement.verdict == ToolVerdict::Ask
        && let Some(why) = judged.request.critical_because()
    {
        explanation.push_str(&format!("; the risk is critical, because {why}"));
    }
    if judged.judgement.verdict == ToolVerdict::Ask {
        explanation.push_str(&each_time_text(snapshot, &judged.judgement.policies));
    }
    if let Some(posture) = judged.request.posture_text() {
        explanation.push_str(&format!("; posture: {posture}"));
    }
    let JudgedRequest { judgement, request, .. } = judged;
    let named = judgement.terms.approvers.is_some();
    let approvers = named.then(|| snapshot.policies().terms(&judgement.policies).approvers(people)).flatten();
    ToolDecision {
        verdict: judgement.verdict,
        reason: judgement.reason,
        risk: request.risk(),
        approval: ApprovalTerms { approvers, ..judgement.terms },
        grant: (judgement.reason == DecisionReason::Granted).then_some(request.grant).flatten(),
        request: Redacted::cleaned(request.to_json()),
        ..refused(snapshot, Some(tool), Refusal { reason: judgement.reason, explanation })
    }
}

fn refused(snapshot: &ToolCallPolicySnapshot, tool: Option<&ToolSpec>, refusal: Refusal) -> ToolDecision {
    ToolDecision {
        verdict: ToolVerdict::Deny,
        reason: refusal.reason,
        explanation: Redacted::cleaned(refusal.explanation),
        policy_digest: snapshot.digest(),
        contract: tool.map_or(EffectContract::Opaque, |tool| tool.contract),
        parallelism: tool.map_or(Parallelism::Exclusive, |tool| tool.parallelism),
        deadline: tool.map(|tool| tool.deadline).unwrap_or_default(),
        output_bytes_max: tool.map(|tool| tool.output_bytes_max).unwrap_or_default(),
        conduct: tool.map_or(ToolConduct::Direct, |tool| tool.conduct),
        tool_version: tool.map_or(0, |tool| tool.version),
        risk: tool.map_or(ApprovalRiskLevel::Critical, |tool| tool.risk),
        taints: tool.map_or(Taints::NONE, |tool| tool.taints),
        approval: ApprovalTerms::default(),
        grant: None,
        request: Redacted::default(),
    }
}

/// Says what was decided and by which policies, for people and for the model.
fn explanation(snapshot: &ToolCallPolicySnapshot, tool: &ToolSpec, judged: &JudgedRequest) -> String {
    let name = &tool.name;
    let by = by_policies(snapshot, &judged.judgement.policies);
    let again = "the same call would be denied again";
    match judged.judgement.reason {
        DecisionReason::Permitted => format!("`{name}` is permitted by {by}"),
        DecisionReason::NeedsApproval => match &judged.coverage {
            GrantCoverage::Missed { grant, argument } => format!(
                "`{name}` needs an approval by {by}; {} differs from what the stored grant {grant} covers",
                quoted(argument, 64)
            ),
            GrantCoverage::Elsewhere { grant, difference } => {
                format!("`{name}` needs an approval by {by}; the stored grant {grant} {difference}")
            }
            GrantCoverage::Covered(_) | GrantCoverage::None => format!("`{name}` needs an approval by {by}"),
        },
        DecisionReason::Granted => match judged.request.grant {
            Some(grant) => format!("`{name}` runs silently because of the stored grant {grant}"),
            None => format!("`{name}` runs silently because of a stored grant"),
        },
        DecisionReason::NoApprovalChannel => {
            format!(
                "`{name}` needs a person's approval by {by}, and no person can answer in this run; continue without it"
            )
        }
        DecisionReason::Forbidden => {
            let cannot = cannot_be_read_only(judged);
            let mend = forbidden_mend(&judged.judgement.policies, tool).unwrap_or(again);
            format!("policy forbids this call of `{name}` by {by}{cannot}; {mend}")
        }
        DecisionReason::NoRulePermits if snapshot.rules().files.is_empty() => format!(
            "policy denies this call of `{name}`: no policies are in force; `palyra policy check` shows the mistake in a policy file, \
             and `palyra config reload` applies the files once it is mended"
        ),
        DecisionReason::NoRulePermits => {
            let near = near_rules(snapshot.policies(), &judged.request);
            let told = near.first().map_or(String::new(), |near| format!(": {}", near.describe()));
            let mend = near.first().and_then(NearRule::hint).unwrap_or(again);
            format!("policy denies this call of `{name}`, no rule permits it{told}; {mend}")
        }
        DecisionReason::Disabled => format!("`{name}` is disabled here; {again}"),
        DecisionReason::SkillForbids => {
            let skill = quoted(judged.request.skill.as_deref().unwrap_or_default(), 64);
            format!("the skill {skill} does not include `{name}`; {again}")
        }
        DecisionReason::PolicyError if by.is_empty() => {
            format!("`{name}` is denied, because its settings cannot be read; {again}")
        }
        DecisionReason::PolicyError => {
            format!("`{name}` is denied, because {by} could not be evaluated; {again}")
        }
        DecisionReason::UnknownTool
        | DecisionReason::InvalidArguments
        | DecisionReason::BudgetExhausted
        | DecisionReason::SecretInArguments
        | DecisionReason::PlaceholderInArguments
        | DecisionReason::Approved
        | DecisionReason::ApprovalDenied
        | DecisionReason::ApprovalExpired
        | DecisionReason::Drifted
        | DecisionReason::NotPossible => format!("`{name}` is denied"),
    }
}

/// The shipped rules against reading and writing outside of the workspace.
const READS_OUTSIDE: &str = "never-reads-outside";
const WRITES_OUTSIDE: &str = "never-writes-outside";
/// The tool that reads one file, which can be attached instead.
const FILE_READER: &str = "read_file";
/// The policy that ships and keeps runs of schedules from making schedules.
const SCHEDULES_OF_SCHEDULES: &str = "never-schedules-of-schedules";

/// Returns what would help where a policy that ships forbids a call.
fn forbidden_mend(policies: &[String], tool: &ToolSpec) -> Option<&'static str> {
    let starts = tool.capabilities.contains(&Capability::Process);
    let is_by = |rule: &str| policies.iter().any(|id| id == rule);
    if !starts && is_by(READS_OUTSIDE) && tool.name.as_str() == FILE_READER {
        return Some(
            "the person can attach a file that is elsewhere: /attach PATH in a chat, --attach PATH with an input",
        );
    }
    if !starts && (is_by(READS_OUTSIDE) || is_by(WRITES_OUTSIDE)) {
        return Some(
            "the person can start in that folder: `palyra run --workspace DIR` and `palyra chat --workspace DIR` \
             work there",
        );
    }
    if is_by(SCHEDULES_OF_SCHEDULES) {
        return Some(
            "say in your answer which schedule there should be: the person makes it with `palyra admin schedules add`, \
             or asks a run of their own for it",
        );
    }
    (starts && is_by("never-into-git"))
        .then_some(
            "no program may name `.git`: leave it out of the line; `read_file` reads a file in it, and the `git` tool \
             shows status, log and diff",
        )
}

/// Names the policies whose question no grant and no standing setting answers.
fn each_time_text(snapshot: &ToolCallPolicySnapshot, ids: &[String]) -> String {
    let policies = snapshot.policies();
    let asks = |id: &&String| !policies.terms(std::slice::from_ref(*id)).or_default().is_plain();
    let named: Vec<String> = ids.iter().filter(asks).map(|id| format!("`{id}`")).collect();
    match named.as_slice() {
        [] => String::new(),
        [one] => format!("; the rule {one} asks each time"),
        more => format!("; the rules {} ask each time", more.join(" and ")),
    }
}

/// Says which folders are read-only for a program, and by which policies.
fn read_only_text(folders: &[ReadOnlyFolder]) -> String {
    let told = |folder: &ReadOnlyFolder| {
        let by: Vec<String> = folder.policies.iter().map(|id| format!("`{id}`")).collect();
        format!("; {} is read-only for it by {}", quoted(&folder.folder, 64), by.join(" and "))
    };
    folders.iter().map(told).collect()
}

/// Says of a forbidden program which folders would have to be read-only, and why they cannot be.
fn cannot_be_read_only(judged: &JudgedRequest) -> String {
    match judged.obstacle() {
        None => String::new(),
        Some(CallObstacle::NoMounts) => {
            let folders = judged.judgement.read_only.iter().map(|folder| quoted(&folder.folder, 64));
            format!(
                "; it could run with {} read-only, and the sandbox here (`{}`) has no mounts for that",
                folders.collect::<Vec<_>>().join(" and "),
                judged.request.sandbox()
            )
        }
    }
}

/// The policies in backticks, each with its reason.
fn by_policies(snapshot: &ToolCallPolicySnapshot, ids: &[String]) -> String {
    const SHOWN_MAX: usize = 3;
    const REASON_CHARS_MAX: usize = 200;
    // A call that a forbid keeps from running unattended asks because of it, and not because of the permit.
    let forbids: Vec<String> =
        snapshot.policies().named(ids, Effect::Forbid).map(|known| known.annotations.id.clone()).collect();
    let ids = if forbids.is_empty() { ids } else { &forbids };
    let shown = ids.iter().take(SHOWN_MAX).map(|id| {
        let reason = snapshot.policies().known(id).map_or("", |known| known.annotations.reason.as_str());
        match reason {
            "" => format!("`{id}`"),
            reason => format!("`{id}` ({})", reason.chars().take(REASON_CHARS_MAX).collect::<String>()),
        }
    });
    let mut shown: Vec<String> = shown.collect();
    if ids.len() > SHOWN_MAX {
        shown.push(format!("{} more", ids.len() - SHOWN_MAX));
    }
    shown.join(" and ")
}

fn unknown_tool(snapshot: &ToolCallPolicySnapshot, call: &ToolCall) -> Refusal {
    let named = quoted(call.tool.as_str(), 64);
    let explanation = if snapshot.catalog().is_empty() {
        format!("there is no tool {named}; this run has no tools, answer without them")
    } else {
        let all = snapshot.catalog().iter().map(|tool| tool.name.as_str());
        let names = listed(all, TOOLS_LISTED_MAX);
        let near = near_tool(call.tool.as_str(), snapshot.catalog())
            .map_or(String::new(), |near| format!("did you mean `{near}`? "));
        format!("there is no tool {named}; {near}use one of these exact names: {names}")
    };
    Refusal { reason: DecisionReason::UnknownTool, explanation }
}

#[cfg(test)]
mod tests;
