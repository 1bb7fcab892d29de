//! A request in Cedar's words, and Cedar's answer in ours.
//!
//! Owns the names of types and actions. Invariant: whatever Cedar could not evaluate makes the whole answer a
//! failure, because the policy that failed could have been a forbid.

use std::collections::{BTreeMap, BTreeSet};

use cedar_policy::{
    Authorizer, Context, Decision, Effect, Entities, Entity, EntityId, EntityTypeName, EntityUid, PolicyId,
    Request, Response, RestrictedExpression,
};
use serde_json::{Value, json};

use super::folders::{reached, within};
use super::index::{PolicyIndex, PolicyQuery};
use super::mentions::PolicyMentions;
use crate::request::{ArgumentValue, PolicyRequest, RequestTool};

/// The names that policies use.
#[derive(Debug, Clone)]
pub(crate) struct CedarNames {
    user: EntityTypeName,
    agent: EntityTypeName,
    session: EntityTypeName,
    tool: EntityTypeName,
    capability: EntityTypeName,
    contract: EntityTypeName,
    pub(crate) unattended: EntityUid,
    pub(crate) execute: EntityUid,
}

impl CedarNames {
    pub(crate) fn new() -> Self {
        let kind = |name: &str| name.parse::<EntityTypeName>().expect("a plain word is a type's name");
        let action = |name: &str| uid(&kind("Action"), name);
        Self {
            user: kind("User"),
            agent: kind("Agent"),
            session: kind("Session"),
            tool: kind("Tool"),
            capability: kind("Capability"),
            contract: kind("Contract"),
            unattended: action("execute_unattended"),
            execute: action("execute"),
        }
    }
}

impl CedarNames {
    /// Returns the name of the tool that an entity stands for, where it stands for one.
    pub(crate) fn tool_of<'a>(&self, entity: &'a EntityUid) -> Option<&'a str> {
        (entity.type_name() == &self.tool).then(|| entity.id().as_ref())
    }
}

fn uid(kind: &EntityTypeName, id: &str) -> EntityUid {
    EntityUid::from_type_name_and_id(kind.clone(), EntityId::new(id))
}

/// A tool with the policies that can matter to its calls.
#[derive(Debug, Clone)]
pub(crate) struct PreparedTool {
    pub(crate) facts: RequestTool,
    uid: EntityUid,
    entity: Entity,
    /// The tool alone, for policies that do not look at the person.
    alone: Entities,
    unattended: cedar_policy::PolicySet,
    execute: cedar_policy::PolicySet,
    /// Whether any policy could permit it unattended; otherwise Cedar need not be asked about that.
    unattended_permits: bool,
    mentions: PolicyMentions,
}

/// The policies in their groups, and what each looks at.
#[derive(Clone, Copy)]
pub(crate) struct PolicyGroups<'p> {
    pub(crate) index: &'p PolicyIndex,
    pub(crate) mentions: &'p BTreeMap<PolicyId, PolicyMentions>,
}

/// How much of a request is put into Cedar's words.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestDetail {
    /// What the tool's policies look at.
    Mentioned,
    /// Everything.
    All,
}

impl PreparedTool {
    pub(crate) fn new(words: &CedarNames, grouped: PolicyGroups<'_>, facts: RequestTool) -> Self {
        let resource = uid(&words.tool, &facts.name);
        let mut groups: Vec<EntityUid> =
            facts.capabilities.iter().map(|name| uid(&words.capability, name)).collect();
        groups.push(uid(&words.contract, &facts.contract));
        let slice = |action| {
            grouped.index.slice(PolicyQuery {
                action,
                action_groups: &[],
                resource: &resource,
                resource_groups: &groups,
            })
        };
        let (unattended, execute) = (slice(&words.unattended), slice(&words.execute));
        let version = RestrictedExpression::new_long(i64::from(facts.version));
        let entity = Entity::new_with_tags(resource.clone(), [("version".to_owned(), version)], groups, [])
            .expect("a number is an attribute");
        let alone = Entities::from_entities([entity.clone()], None).expect("one entity is not a cycle");
        let mut mentions = PolicyMentions::default();
        for policy in unattended.policies().chain(execute.policies()) {
            match grouped.mentions.get(policy.id()) {
                Some(known) => mentions.extend([known]),
                None => mentions = PolicyMentions::everything(),
            }
        }
        let unattended_permits = unattended.policies().any(|policy| policy.effect() == Effect::Permit);
        Self { facts, uid: resource, entity, alone, unattended, execute, unattended_permits, mentions }
    }

    /// Returns the folders that its policies look for.
    pub(crate) fn named_folders(&self) -> &BTreeSet<String> {
        &self.mentions.folders
    }

    /// Returns how many policies can matter to a call, by action.
    pub(crate) fn slices(&self) -> (&cedar_policy::PolicySet, &cedar_policy::PolicySet) {
        (&self.unattended, &self.execute)
    }
}

/// What Cedar says, unattended first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It may run unattended, by these permits.
    Unattended(Vec<String>),
    /// It may run once approved: by the forbids that keep it from running unattended, and by the permits.
    Attended(Vec<String>),
    /// It may not, by these forbids; by none when nothing permits it.
    Denied(Vec<String>),
    /// These could not be evaluated.
    Failed(Vec<String>),
}

/// A call as Cedar is asked about it: twice, with the same context and the same entities.
#[derive(Debug, Clone)]
pub struct CedarQuery {
    /// Whether it may run unattended.
    pub unattended: Request,
    /// Whether it may run once approved.
    pub execute: Request,
    /// The user and the tool, with what they are in.
    pub entities: Entities,
}

/// What is supposed of a call whose arguments do not say it.
#[derive(Clone, Copy)]
pub(crate) struct AssumedFacts<'s> {
    /// Those folders of rules that it may reach.
    pub(crate) folders: &'s BTreeSet<String>,
    /// Whether it can run unattended.
    pub(crate) unattended: bool,
}

/// The forbids that a call meets, by id and action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ForbidIds {
    pub(crate) unattended: Vec<String>,
    pub(crate) execute: Vec<String>,
}

/// Asks Cedar about a call of a prepared tool.
pub(crate) fn ask(
    words: &CedarNames,
    prepared: &PreparedTool,
    request: &PolicyRequest,
    supposed: AssumedFacts<'_>,
) -> Answer {
    let Some(CedarQuery { unattended, execute, entities }) =
        in_cedar(words, prepared, request, supposed.folders, RequestDetail::Mentioned)
    else {
        return Answer::Failed(vec!["the request".to_owned()]);
    };
    let authorizer = Authorizer::new();
    let mut asking = Vec::new();
    if prepared.unattended_permits && supposed.unattended {
        let first = authorizer.is_authorized(&unattended, &prepared.unattended, &entities);
        if let Some(failed) = failed(&first) {
            return failed;
        }
        if first.decision() == Decision::Allow {
            return Answer::Unattended(reasons(&first));
        }
        asking = reasons(&first);
    }
    let second = authorizer.is_authorized(&execute, &prepared.execute, &entities);
    if let Some(failed) = failed(&second) {
        return failed;
    }
    match second.decision() {
        Decision::Allow => {
            asking.extend(reasons(&second));
            Answer::Attended(asking)
        }
        Decision::Deny => Answer::Denied(reasons(&second)),
    }
}

/// Returns what forbids a call that reaches these folders of rules.
///
/// # Errors
/// The answer to a call about which some policy could not be evaluated.
pub(crate) fn forbids(
    words: &CedarNames,
    prepared: &PreparedTool,
    request: &PolicyRequest,
    folders: &BTreeSet<String>,
) -> Result<ForbidIds, Answer> {
    let CedarQuery { unattended, execute, entities } =
        in_cedar(words, prepared, request, folders, RequestDetail::Mentioned)
            .ok_or_else(|| Answer::Failed(vec!["the request".to_owned()]))?;
    let met = |asked: &Request, slice: &cedar_policy::PolicySet| {
        let response = Authorizer::new().is_authorized(asked, slice, &entities);
        match (failed(&response), response.decision()) {
            (Some(failed), _) => Err(failed),
            (None, Decision::Allow) => Ok(Vec::new()),
            (None, Decision::Deny) => Ok(reasons(&response)),
        }
    };
    Ok(ForbidIds {
        unattended: met(&unattended, &prepared.unattended)?,
        execute: met(&execute, &prepared.execute)?,
    })
}

fn failed(response: &Response) -> Option<Answer> {
    let mut ids: Vec<String> = response
        .diagnostics()
        .errors()
        .map(|error| {
            let cedar_policy::AuthorizationError::PolicyEvaluationError(error) = error;
            error.policy_id().to_string()
        })
        .collect();
    ids.sort();
    (!ids.is_empty()).then_some(Answer::Failed(ids))
}

fn reasons(response: &Response) -> Vec<String> {
    let mut ids: Vec<String> = response.diagnostics().reason().map(ToString::to_string).collect();
    ids.sort();
    ids
}

/// Returns the two requests and the entities they speak of.
pub(crate) fn in_cedar(
    words: &CedarNames,
    prepared: &PreparedTool,
    request: &PolicyRequest,
    folders: &BTreeSet<String>,
    show: RequestDetail,
) -> Option<CedarQuery> {
    let user = uid(&words.user, &request.user);
    let entities = if show == RequestDetail::All || prepared.mentions.person {
        let person = person(words, request, user.clone())?;
        Entities::from_entities([person, prepared.entity.clone()], None).ok()?
    } else {
        prepared.alone.clone()
    };
    let shown = |name: &str| show == RequestDetail::All || prepared.mentions.looks_at(name);
    let context = context(request, folders, shown)?;
    let asked = |action: &EntityUid, context| {
        Request::new(user.clone(), action.clone(), prepared.uid.clone(), context, None).ok()
    };
    Some(CedarQuery {
        unattended: asked(&words.unattended, context.clone())?,
        execute: asked(&words.execute, context)?,
        entities,
    })
}

fn person(words: &CedarNames, request: &PolicyRequest, user: EntityUid) -> Option<Entity> {
    let (agent, session) = (uid(&words.agent, &request.agent), uid(&words.session, &request.session));
    let attributes = [
        ("agent".to_owned(), RestrictedExpression::new_entity_uid(agent.clone())),
        ("session".to_owned(), RestrictedExpression::new_entity_uid(session.clone())),
    ];
    Entity::new_with_tags(user, attributes, [agent, session], []).ok()
}

/// Every member of the context.
const MEMBERS: [&str; 24] = [
    "approvers",
    "args",
    "args_bytes",
    "args_left_out",
    "argv",
    "capabilities",
    "command",
    "folders",
    "hosts",
    "hour",
    "now",
    "paths",
    "posture",
    "program",
    "risk",
    "sandbox",
    "shell_line",
    "surface",
    "taints",
    "tool_calls",
    "touches",
    "turns",
    "weekday",
    "within",
];

fn context(
    request: &PolicyRequest,
    named_folders: &BTreeSet<String>,
    shown: impl Fn(&str) -> bool,
) -> Option<Context> {
    let pairs = MEMBERS.into_iter().filter(|name| shown(name));
    let value_of = |name: &str| match name {
        "folders" => Some(texts(&reached(named_folders, request))),
        "within" => Some(texts(&within(named_folders, request))),
        name => member(request, name),
    };
    let pairs = pairs.filter_map(|name| value_of(name).map(|value| (name.to_owned(), value)));
    Context::from_pairs(pairs).ok()
}

/// One member; `None` where the call has none of it.
fn member(request: &PolicyRequest, name: &str) -> Option<RestrictedExpression> {
    let (told, tool) = (&request.context, &request.tool);
    let text = |text: &str| Some(RestrictedExpression::new_string(text.to_owned()));
    let long = |number: u64| Some(RestrictedExpression::new_long(i64::try_from(number).unwrap_or(i64::MAX)));
    match name {
        "approvers" => text(&told.approvers),
        "args" => arguments(&told.args),
        "args_bytes" => long(told.args_bytes),
        "args_left_out" => Some(texts(&told.args_left_out)),
        "argv" => Some(texts(&told.argv)),
        "capabilities" => Some(texts(&tool.capabilities)),
        "command" => told.argv.first().and_then(|_| text(&command_line(&told.argv))),
        "hosts" => Some(texts(&told.hosts)),
        "hour" => long(hour(told.now_ms)),
        "now" => long(told.now_ms / 1000),
        "paths" => Some(texts(&told.paths)),
        "posture" => text(request.posture.name()),
        "program" => told.argv.first().and_then(|program| text(program)),
        "risk" => text(&told.risk),
        "sandbox" => text(&told.sandbox),
        "shell_line" => Some(RestrictedExpression::new_bool(request.is_shell_line())),
        "surface" => text(&told.surface),
        "taints" => Some(texts(&told.taints)),
        "tool_calls" => long(u64::from(told.tool_calls)),
        "touches" => Some(texts(&told.touches)),
        "turns" => long(u64::from(told.turns)),
        "weekday" => long(weekday(told.now_ms)),
        _ => None,
    }
}

fn hour(now_ms: u64) -> u64 {
    now_ms / HOUR_MS % 24
}

/// Returns the day of the week, 1 for Monday; the first of January 1970 was a Thursday.
fn weekday(now_ms: u64) -> u64 {
    (now_ms / (24 * HOUR_MS) + 3) % 7 + 1
}

/// Returns a member of the context that no request has as it is, because it follows from others.
pub(crate) fn worked_out(
    request: &PolicyRequest,
    named_folders: &BTreeSet<String>,
    member: &str,
) -> Option<Value> {
    let told = &request.context;
    Some(match member {
        "folders" => json!(reached(named_folders, request)),
        "within" => json!(within(named_folders, request)),
        "shell_line" => json!(request.is_shell_line()),
        "command" if !told.argv.is_empty() => json!(command_line(&told.argv)),
        "now" => json!(told.now_ms / 1000),
        "hour" => json!(hour(told.now_ms)),
        "weekday" => json!(weekday(told.now_ms)),
        _ => return None,
    })
}

/// Returns a text that is the same for requests that the policies of their tool cannot tell apart.
pub(crate) fn seen_of(prepared: &PreparedTool, request: &PolicyRequest) -> String {
    let told = &request.context;
    let mut seen = format!("{:?}", request.tool);
    if prepared.mentions.person {
        seen.push_str(&format!("{:?}", (&request.user, &request.agent, &request.session)));
    } else {
        seen.push_str(&request.user);
    }
    for name in MEMBERS.into_iter().filter(|name| prepared.mentions.looks_at(name)) {
        let value = match name {
            "args" => format!("{:?}", told.args),
            "args_left_out" => format!("{:?}", told.args_left_out),
            "argv" | "command" | "program" | "shell_line" => format!("{:?}", told.argv),
            "capabilities" => String::new(),
            "hosts" => format!("{:?}", told.hosts),
            "paths" => format!("{:?}", told.paths),
            // What a program may write is known by its sandbox.
            "folders" | "within" => format!("{:?}", (&told.paths, &told.sandbox)),
            "posture" => request.posture.name().to_owned(),
            "risk" => format!("{:?}", told.risk),
            "taints" => format!("{:?}", told.taints),
            "touches" => format!("{:?}", told.touches),
            "approvers" | "sandbox" | "surface" => {
                format!("{:?}", (&told.approvers, &told.sandbox, &told.surface))
            }
            _ => format!("{:?}", (told.args_bytes, told.now_ms / 1000, told.tool_calls, told.turns)),
        };
        seen.push_str(name);
        seen.push_str(&value);
    }
    seen
}

const HOUR_MS: u64 = 60 * 60 * 1000;

fn texts<'a>(texts: impl IntoIterator<Item = &'a String>) -> RestrictedExpression {
    RestrictedExpression::new_set(
        texts.into_iter().map(|text| RestrictedExpression::new_string(text.clone())),
    )
}

fn arguments(arguments: &BTreeMap<String, ArgumentValue>) -> Option<RestrictedExpression> {
    let members = arguments.iter().map(|(name, value)| {
        let value = match value {
            ArgumentValue::Flag(flag) => RestrictedExpression::new_bool(*flag),
            ArgumentValue::Number(number) => RestrictedExpression::new_long(*number),
            ArgumentValue::Text(text) => RestrictedExpression::new_string(text.clone()),
            ArgumentValue::List(members) => texts(members),
        };
        (name.clone(), value)
    });
    RestrictedExpression::new_record(members).ok()
}

/// The words in one line; a word that a shell could read as more than a word stands in quotes.
fn command_line(argv: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@+%^".contains(c);
    let words: Vec<String> = argv
        .iter()
        .map(
            |word| {
                if !word.is_empty() && word.chars().all(plain) { word.clone() } else { format!("{word:?}") }
            },
        )
        .collect();
    words.join(" ")
}
