//! A request in Cedar's words, and Cedar's answer in ours.
//!
//! Owns the names of types and actions. Invariant: whatever Cedar could not evaluate makes the whole answer a
//! failure, because the policy that failed could have been a forbid.

use std::collections::BTreeMap;

use cedar_policy::{
    Authorizer, Context, Decision, Entities, Entity, EntityId, EntityTypeName, EntityUid, Request, Response,
    RestrictedExpression,
};

use super::index::{Asked, PolicyIndex};
use crate::request::{ArgumentValue, PolicyRequest, RequestContext, RequestTool};

/// The names that policies use.
#[derive(Debug, Clone)]
pub(crate) struct Words {
    user: EntityTypeName,
    agent: EntityTypeName,
    session: EntityTypeName,
    tool: EntityTypeName,
    capability: EntityTypeName,
    contract: EntityTypeName,
    pub(crate) unattended: EntityUid,
    pub(crate) execute: EntityUid,
}

impl Words {
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

impl Words {
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
    unattended: cedar_policy::PolicySet,
    execute: cedar_policy::PolicySet,
}

impl PreparedTool {
    pub(crate) fn new(words: &Words, index: &PolicyIndex, facts: RequestTool) -> Self {
        let resource = uid(&words.tool, &facts.name);
        let mut groups: Vec<EntityUid> =
            facts.capabilities.iter().map(|name| uid(&words.capability, name)).collect();
        groups.push(uid(&words.contract, &facts.contract));
        let slice = |action| {
            index.slice(Asked { action, action_groups: &[], resource: &resource, resource_groups: &groups })
        };
        let (unattended, execute) = (slice(&words.unattended), slice(&words.execute));
        let version = RestrictedExpression::new_long(i64::from(facts.version));
        let entity = Entity::new_with_tags(resource.clone(), [("version".to_owned(), version)], groups, [])
            .expect("a number is an attribute");
        Self { facts, uid: resource, entity, unattended, execute }
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
    /// It may run once approved, by these permits.
    Attended(Vec<String>),
    /// It may not, by these forbids; by none when nothing permits it.
    Denied(Vec<String>),
    /// These could not be evaluated.
    Failed(Vec<String>),
}

/// A call as Cedar is asked about it: twice, with the same context and the same entities.
#[derive(Debug, Clone)]
pub struct AskedOfCedar {
    /// Whether it may run unattended.
    pub unattended: Request,
    /// Whether it may run once approved.
    pub execute: Request,
    /// The user and the tool, with what they are in.
    pub entities: Entities,
}

/// Asks Cedar about a call of a prepared tool.
pub(crate) fn ask(words: &Words, prepared: &PreparedTool, request: &PolicyRequest) -> Answer {
    let Some(AskedOfCedar { unattended, execute, entities }) = in_cedar(words, prepared, request) else {
        return Answer::Failed(vec!["the request".to_owned()]);
    };
    let authorizer = Authorizer::new();
    let first = authorizer.is_authorized(&unattended, &prepared.unattended, &entities);
    if let Some(failed) = failed(&first) {
        return failed;
    }
    if first.decision() == Decision::Allow {
        return Answer::Unattended(reasons(&first));
    }
    let second = authorizer.is_authorized(&execute, &prepared.execute, &entities);
    if let Some(failed) = failed(&second) {
        return failed;
    }
    match second.decision() {
        Decision::Allow => Answer::Attended(reasons(&second)),
        Decision::Deny => Answer::Denied(reasons(&second)),
    }
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
    words: &Words,
    prepared: &PreparedTool,
    request: &PolicyRequest,
) -> Option<AskedOfCedar> {
    let (user, agent) = (uid(&words.user, &request.user), uid(&words.agent, &request.agent));
    let session = uid(&words.session, &request.session);
    let attributes = [
        ("agent".to_owned(), RestrictedExpression::new_entity_uid(agent.clone())),
        ("session".to_owned(), RestrictedExpression::new_entity_uid(session.clone())),
    ];
    let person = Entity::new_with_tags(user.clone(), attributes, [agent, session], []).ok()?;
    let entities = Entities::from_entities([person, prepared.entity.clone()], None).ok()?;
    let context = context(&request.context, &request.tool)?;
    let asked = |action: &EntityUid, context| {
        Request::new(user.clone(), action.clone(), prepared.uid.clone(), context, None).ok()
    };
    Some(AskedOfCedar {
        unattended: asked(&words.unattended, context.clone())?,
        execute: asked(&words.execute, context)?,
        entities,
    })
}

fn context(told: &RequestContext, tool: &RequestTool) -> Option<Context> {
    let text = |text: &str| RestrictedExpression::new_string(text.to_owned());
    let long = |number: u64| RestrictedExpression::new_long(i64::try_from(number).unwrap_or(i64::MAX));
    let mut pairs = vec![
        ("approvers", text(&told.approvers)),
        ("args", arguments(&told.args)?),
        ("args_bytes", long(told.args_bytes)),
        ("args_left_out", texts(&told.args_left_out)),
        ("argv", texts(&told.argv)),
        ("capabilities", texts(&tool.capabilities)),
        ("hosts", texts(&told.hosts)),
        ("now", long(told.now_ms / 1000)),
        ("hour", long(told.now_ms / HOUR_MS % 24)),
        // The first of January 1970 was a Thursday.
        ("weekday", long((told.now_ms / (24 * HOUR_MS) + 3) % 7 + 1)),
        ("paths", texts(&told.paths)),
        ("risk", text(&told.risk)),
        ("sandbox", text(&told.sandbox)),
        ("surface", text(&told.surface)),
        ("taints", texts(&told.taints)),
        ("tool_calls", long(u64::from(told.tool_calls))),
        ("touches", texts(&told.touches)),
        ("turns", long(u64::from(told.turns))),
    ];
    if let Some(program) = told.argv.first() {
        pairs.push(("program", text(program)));
        pairs.push(("command", text(&command_line(&told.argv))));
    }
    Context::from_pairs(pairs.into_iter().map(|(name, value)| (name.to_owned(), value))).ok()
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
