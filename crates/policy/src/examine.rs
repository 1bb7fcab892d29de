//! Checks and tests of policies before they are put in force.
//!
//! Owns the format of fixtures: a JSON file of calls and what is expected of them. Knows no disk: files are handed in.

use palyra_types::approval::ApproverPresence;
use palyra_types::run::Surface;
use palyra_types::tool::{CallContext, Isolation, Taints, ToolCall, ToolCatalog, ToolName};
use palyra_types::{AgentId, PrincipalId, Redacted, RunId, SessionId, Timestamp};
use serde::Deserialize;
use serde_json::Value;

use crate::decide::{CallEvidence, CallObstacle, ExaminedCall, examine_tool_call};
use crate::explain::verdict_name;
use crate::narrow_forbids::narrow_forbids;
use crate::policies::{PolicyFile, PolicyMistake, PolicyMistakes, PolicySet};
use crate::redundant_asks::redundant_asks;
use crate::rules::re_evaluate;
use crate::snapshot::ToolCallPolicySnapshot;
use crate::suggest::near_tool;

/// Where fixtures that name no workspace take place.
pub const FIXTURE_WORKSPACE: &str = "/workspace";

/// A set of policies without mistakes, and what is good to know of it.
#[derive(Debug)]
pub struct PolicyCheck {
    /// The set.
    pub policies: PolicySet,
    /// Likely oversights beside the mistakes: a policy that can never apply, about a tool that does not
    /// exist, that asks where one that ships asks already, or that restricts less than it seems to.
    pub warnings: Vec<PolicyMistake>,
}

/// Checks a set of policies against the tools that there are.
///
/// # Errors
/// [`PolicyMistakes`]: everything that is wrong with it.
pub fn check(files: &[PolicyFile], catalog: &ToolCatalog) -> Result<PolicyCheck, PolicyMistakes> {
    let policies = PolicySet::compile(files, catalog)?;
    let wrong = policies.wrong_words(files);
    if !wrong.is_empty() {
        return Err(PolicyMistakes(wrong));
    }
    let mut warnings = policies.warnings().to_vec();
    for known in policies.all() {
        for entity in known.policy.entity_literals() {
            let Some(tool) =
                policies.words().tool_of(&entity).filter(|tool| catalog.get(&ToolName::new(tool)).is_none())
            else {
                continue;
            };
            let mend = near_tool(tool, catalog)
                .map_or("no tool has a name like it".to_owned(), |near| format!("did you mean `{near}`?"));
            let what = format!("`{}` is about a tool `{tool}` that does not exist", known.annotations.id);
            let (file, line) = (known.file.clone(), known.line);
            warnings.push(PolicyMistake { file, line, column: 1, what, mend });
        }
    }
    warnings.extend(redundant_asks(&policies));
    warnings.extend(narrow_forbids(&policies));
    warnings.sort();
    warnings.dedup();
    Ok(PolicyCheck { policies, warnings })
}

/// A file of fixtures: calls, and what is expected of them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct FixtureFile {
    fixtures: Vec<Fixture>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fixture {
    name: String,
    tool: String,
    arguments: Value,
    expect: String,
    /// Policies that have to be among those that decide.
    #[serde(default)]
    by: Vec<String>,
    #[serde(default)]
    context: FixtureContext,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct FixtureContext {
    agent: Option<AgentId>,
    session: Option<SessionId>,
    user: Option<PrincipalId>,
    workspace: Option<String>,
    approvers: FixtureApprovers,
    surface: Option<String>,
    taints: Vec<String>,
    turns: u32,
    tool_calls: u32,
    /// What the host would hold the call with; descriptors alone where nothing is said.
    sandbox: Option<String>,
    /// Seconds since 1970.
    now: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FixtureApprovers {
    #[default]
    Inbox,
    Nobody,
}

/// A file of fixtures cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the fixtures cannot be read: {reason}")]
pub struct ReadFixturesError {
    /// What is wrong, with line and column.
    pub reason: String,
}

/// What came of one fixture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestedFixture {
    /// Its name.
    pub name: String,
    /// What is otherwise than expected; `None` when nothing is.
    pub failure: Option<String>,
}

/// Runs a file of fixtures (JSON) against a snapshot.
///
/// # Errors
/// [`ReadFixturesError`] when the file is not one.
pub fn test_fixtures(
    snapshot: &ToolCallPolicySnapshot,
    fixtures: &str,
) -> Result<Vec<TestedFixture>, ReadFixturesError> {
    let file: FixtureFile =
        serde_json::from_str(fixtures).map_err(|cause| ReadFixturesError { reason: cause.to_string() })?;
    file.fixtures.iter().map(|fixture| tested(snapshot, fixture)).collect()
}

fn tested(snapshot: &ToolCallPolicySnapshot, fixture: &Fixture) -> Result<TestedFixture, ReadFixturesError> {
    let broken = |what: String| ReadFixturesError { reason: format!("`{}`: {what}", fixture.name) };
    if !["allow", "ask", "deny"].contains(&fixture.expect.as_str()) {
        return Err(broken("`expect` is allow, ask or deny".to_owned()));
    }
    let context = &fixture.context;
    let call = ToolCall {
        tool: ToolName::new(&fixture.tool),
        arguments: Redacted::cleaned(fixture.arguments.to_string()),
        context: CallContext {
            principal: context.user.unwrap_or(PrincipalId::from_parts(0, 1)),
            agent: context.agent.unwrap_or(AgentId::from_parts(0, 2)),
            session: context.session.unwrap_or(SessionId::from_parts(0, 3)),
            run: RunId::from_parts(0, 4),
            surface: surface(context.surface.as_deref()).map_err(broken)?,
            approvers: match context.approvers {
                FixtureApprovers::Inbox => ApproverPresence::Inbox,
                FixtureApprovers::Nobody => ApproverPresence::Nobody,
            },
            taints: taints(&context.taints).map_err(broken)?,
            turns: context.turns,
            tool_calls: context.tool_calls,
            now: Timestamp(context.now.saturating_mul(1_000_000)),
            isolation: isolation(context.sandbox.as_deref()).map_err(broken)?,
        },
    };
    let workspace = Some(context.workspace.as_deref().unwrap_or(FIXTURE_WORKSPACE));
    let evidence = CallEvidence { workspace, ..CallEvidence::default() };
    let ExaminedCall { decision, obstacle } = examine_tool_call(snapshot, &call, &evidence);
    let found = verdict_name(decision.verdict);
    let said = decision.explanation.expose();
    let by = re_evaluate(decision.request.expose(), snapshot.policies()).map(|judged| judged.policies);
    let by = by.unwrap_or_default();
    let failure = if snapshot.tool(&call.tool).is_none() {
        Some(format!("it is about no tool that there is, so it shows nothing: {said}"))
    } else if found == fixture.expect {
        let missing = fixture.by.iter().find(|id| !by.contains(id));
        missing.map(|id| format!("`{id}` is not among those that decide: {said}"))
    } else {
        let sandbox = match (&context.sandbox, obstacle) {
            (None, Some(CallObstacle::NoMounts)) => NAMES_NO_SANDBOX,
            (Some(_), _) | (None, None) => "",
        };
        Some(format!("expected {}, found {found}: {said}{sandbox}", fixture.expect))
    };
    Ok(TestedFixture { name: fixture.name.clone(), failure })
}

/// What a fixture without a sandbox lacks where folders have to be read-only for a program.
const NAMES_NO_SANDBOX: &str = "; the fixture names no sandbox: with `\"context\": {\"sandbox\": \"isolated\"}` it is \
                                decided as for a host whose sandbox has mounts";

fn isolation(named: Option<&str>) -> Result<Isolation, String> {
    let Some(named) = named else { return Ok(Isolation::DescriptorRelative) };
    let known = Isolation::ALL.into_iter().find(|isolation| isolation.as_str() == named);
    let names = || Isolation::ALL.map(Isolation::as_str).join(", ");
    known.ok_or_else(|| format!("there is no sandbox `{named}`; there are {}", names()))
}

fn surface(named: Option<&str>) -> Result<Surface, String> {
    let Some(named) = named else { return Ok(Surface::LocalSocket) };
    let names = || Surface::ALL.map(Surface::name).join(", ");
    Surface::from_name(named).ok_or_else(|| format!("there is no surface `{named}`; there are {}", names()))
}

fn taints(names: &[String]) -> Result<Taints, String> {
    names.iter().try_fold(Taints::NONE, |taints, name| {
        let known = Taints::NAMED.iter().find(|(_, known)| known == name);
        known.map(|(label, _)| taints.with(*label)).ok_or_else(|| format!("there is no taint `{name}`"))
    })
}

#[cfg(test)]
mod tests;
