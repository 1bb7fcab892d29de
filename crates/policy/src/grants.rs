//! Whether a stored grant covers a call.
//!
//! Owns matching and how wide a grant may be. Knows no store. Invariants: a grant covers only what its words say,
//! argument by argument, in the workspace and for the version of the tool and the bytes that it was given for; it turns an
//! ask into an allow and nothing else; what is critical, and a line for a shell, is covered only by grants that name every
//! argument's value.

mod below;

use std::path::Path;

use palyra_types::approval::{
    ArgumentRule, ArgumentShape, GrantScope, StoredGrantRecord, StoredGrantRequest,
};
use palyra_types::approval_terms::optional_file_arguments;
use palyra_types::tool::{ApprovalRiskLevel, CallContext, ToolName};
use palyra_types::{Redacted, StoredGrantId};
use serde_json::Value;

use crate::arguments::parse_arguments;
use crate::request::{PathContext, origin_alone, origin_of, read_path, wants_own_yes};
pub(crate) use below::grants_about_their_kind;
use below::has_one_reading;
pub use below::wanted_kind;

/// Rules that one grant may have.
pub const GRANT_RULES_MAX: usize = 64;

/// What the stored grants say to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GrantCoverage {
    /// This one covers it.
    Covered(StoredGrantId),
    /// This one is for the tool, but an argument leaves it.
    Missed {
        /// The grant.
        grant: StoredGrantId,
        /// The argument.
        argument: String,
    },
    /// This one is for the tool and these arguments, but not for what it would act on here.
    Elsewhere {
        /// The grant.
        grant: StoredGrantId,
        /// How the call differs from what the grant was given for.
        difference: GrantDifference,
    },
    /// None is for such calls.
    None,
}

/// How a call differs from what a grant was given for, beside the arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum GrantDifference {
    /// The grant does not say in which folder it was given.
    #[error("was given before grants were bound to a folder; give it again")]
    Unbound,
    /// The call runs in another folder.
    #[error("was given in another folder")]
    Workspace,
    /// The tool has changed.
    #[error("was given for another version of the tool")]
    ToolVersion,
    /// Files that the call runs have changed.
    #[error("was given for other contents of the files that run")]
    Programs,
}

/// What is known of the workspace's files that a call runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProgramsFound {
    /// The call was not prepared yet. It is judged again once it is, before it starts.
    #[default]
    NotLookedAt,
    /// The digest of these files; `None` when it runs none.
    Found(Option<[u8; 32]>),
}

/// A call as grants look at it.
#[derive(Debug, Clone, Copy)]
pub struct GrantedCall<'a> {
    /// The tool.
    pub tool: &'a ToolName,
    /// Its arguments, an object.
    pub arguments: &'a Value,
    /// The risk of the call.
    pub risk: ApprovalRiskLevel,
    /// For whom, where, when.
    pub context: &'a CallContext,
    /// The workspace's absolute path, where it is known.
    pub workspace: Option<&'a str>,
    /// The tool's version.
    pub tool_version: u32,
    /// The workspace's files that it runs.
    pub programs: ProgramsFound,
    /// Whether it hands a line to a shell.
    pub shell_line: bool,
}

impl GrantedCall<'_> {
    /// Whether only a grant covers it that names every argument's value: what is critical, and a line for a shell, where
    /// every other word is another program.
    fn is_covered_exactly(&self) -> bool {
        self.risk >= ApprovalRiskLevel::Critical || self.shell_line
    }
}

/// Returns the first grant that covers the call, or the first that nearly does.
#[must_use]
pub fn covering_grant(grants: &[StoredGrantRecord], call: GrantedCall<'_>) -> GrantCoverage {
    let mut missed = GrantCoverage::None;
    for record in grants.iter().filter(|record| holds(record, call)) {
        let grant = record.stored.grant;
        let miss = match (leaving_argument(&record.stored.matcher, call), difference(record, call)) {
            (None, None) => return GrantCoverage::Covered(grant),
            (Some(argument), _) => GrantCoverage::Missed { grant, argument },
            (None, Some(difference)) => GrantCoverage::Elsewhere { grant, difference },
        };
        // The one that is nearest is named: equal arguments elsewhere before other arguments here.
        let nearer = matches!(
            (&missed, &miss),
            (GrantCoverage::None, _) | (GrantCoverage::Missed { .. }, GrantCoverage::Elsewhere { .. })
        );
        if nearer {
            missed = miss;
        }
    }
    missed
}

/// Returns how a call differs from what a grant is bound to beside its arguments.
fn difference(record: &StoredGrantRecord, call: GrantedCall<'_>) -> Option<GrantDifference> {
    let (scope, bounds) = (record.stored.scope, &record.stored.bounds);
    let here = call.workspace.map(Path::new);
    match (scope, &bounds.workspace) {
        (GrantScope::Everywhere, _) => {}
        (GrantScope::Session(_) | GrantScope::Principal, None) => return Some(GrantDifference::Unbound),
        (GrantScope::Session(_) | GrantScope::Principal, Some(root)) => {
            if here != Some(root.expose().as_path()) {
                return Some(GrantDifference::Workspace);
            }
        }
    }
    if bounds.tool_version != Some(call.tool_version) {
        return Some(GrantDifference::ToolVersion);
    }
    match call.programs {
        ProgramsFound::Found(programs) if programs != bounds.programs => Some(GrantDifference::Programs),
        ProgramsFound::Found(_) | ProgramsFound::NotLookedAt => None,
    }
}

/// Whether a grant is for such calls, and neither revoked, nor used up, nor over.
fn holds(record: &StoredGrantRecord, call: GrantedCall<'_>) -> bool {
    let stored = &record.stored;
    let in_scope = match stored.scope {
        GrantScope::Session(session) => session == call.context.session,
        GrantScope::Principal | GrantScope::Everywhere => true,
    };
    in_scope
        && stored.principal == call.context.principal
        && stored.tool.expose() == call.tool.as_str()
        && record.revoked.is_none()
        && stored.uses_max.is_none_or(|uses_max| record.uses < uses_max)
        && stored.expires.is_none_or(|expires| call.context.now < expires)
}

/// Returns the first argument that is not as the rules say; `None` when all are.
fn leaving_argument(rules: &[ArgumentRule], call: GrantedCall<'_>) -> Option<String> {
    let Some(arguments) = call.arguments.as_object() else { return Some("the arguments".to_owned()) };
    let mut names: Vec<&String> = arguments.keys().collect();
    names.sort();
    let unknown = names.into_iter().find(|name| !rules.iter().any(|rule| rule.argument.expose() == *name));
    if let Some(name) = unknown {
        return Some(name.clone());
    }
    if call.is_covered_exactly() {
        let wide = rules.iter().find(|rule| !matches!(rule.shape, ArgumentShape::Equal(_)));
        if let Some(rule) = wide {
            return Some(rule.argument.expose().clone());
        }
    }
    let ground = PathContext { root: call.workspace, own: &[] };
    let leaves = |rule: &&ArgumentRule| match (arguments.get(rule.argument.expose()), &rule.shape) {
        (value, ArgumentShape::Equal(wanted)) => {
            let wanted: Option<Value> = serde_json::from_str(wanted.expose()).ok();
            value.is_none() || value != wanted.as_ref()
        }
        (Some(value), ArgumentShape::Beneath(above)) => {
            !value.as_str().is_some_and(|path| is_beneath(path, above.expose(), call.workspace))
        }
        (Some(value), ArgumentShape::Origin(wanted)) => {
            !value.as_str().is_some_and(|address| is_on(address, wanted.expose()))
        }
        (None, ArgumentShape::Beneath(_) | ArgumentShape::Origin(_)) => true,
        (Some(value), ArgumentShape::Any) => wants_own_yes(rule.argument.expose(), value, ground),
        (None, ArgumentShape::Any) => false,
    };
    rules.iter().find(leaves).map(|rule| rule.argument.expose().clone())
}

/// Whether a path is at or below another; both have to lie inside the workspace and spell no detour.
fn is_beneath(path_text: &str, above_text: &str, root: Option<&str>) -> bool {
    let ground = PathContext { root, own: &[] };
    let (path, above) = (read_path(path_text, ground), read_path(above_text, ground));
    let inside = |text: &str| !text.starts_with(['/', '~', '$']) && text.split('/').all(|part| part != "..");
    has_one_reading(path_text)
        && has_one_reading(above_text)
        && inside(&path.text)
        && inside(&above.text)
        && path.places.is_empty()
        && (above.text == "."
            || path.text == above.text
            || path.text.strip_prefix(&above.text).is_some_and(|rest| rest.starts_with('/')))
}

/// Whether an address has the scheme, the host and the port of an origin, as the one reader of hosts reads both.
fn is_on(address: &str, origin: &str) -> bool {
    origin_alone(origin).is_some_and(|origin| origin_of(address) == Some(origin))
}

/// Why a grant is not stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoredGrantError {
    /// It would cover any call of the tool.
    #[error("a grant of any arguments is not stored for a call of this risk; name at least one of them")]
    TooWide,
    /// It would cover other lines for a shell than this one.
    #[error("a line for a shell is remembered only word for word: leave out the rule for `{argument}`")]
    ShellLine {
        /// The argument that may differ.
        argument: String,
    },
    /// It does not cover the call it comes from.
    #[error("the grant does not cover the call it comes from: `{argument}` leaves it")]
    Misses {
        /// The argument.
        argument: String,
    },
    /// A rule makes no sense.
    #[error("the rule for `{argument}` cannot be used: {why}")]
    Rule {
        /// The argument.
        argument: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// It has too many rules.
    #[error("a grant has at most {GRANT_RULES_MAX} rules")]
    TooManyRules,
    /// It is over before it begins.
    #[error("the grant would be over at once")]
    Over,
}

/// Checks a grant that a person wants to be stored for a call of `call`'s kind, whose arguments are canonical JSON.
///
/// # Errors
/// [`StoredGrantError`]: what it would have to be.
pub fn check_grant_request(
    requested: &StoredGrantRequest,
    call: GrantedCall<'_>,
) -> Result<(), StoredGrantError> {
    if requested.matcher.len() > GRANT_RULES_MAX {
        return Err(StoredGrantError::TooManyRules);
    }
    if requested.uses_max == Some(0) || requested.expires.is_some_and(|expires| expires <= call.context.now) {
        return Err(StoredGrantError::Over);
    }
    for (at, rule) in requested.matcher.iter().enumerate() {
        let wrong = |why| StoredGrantError::Rule { argument: rule.argument.expose().clone(), why };
        if requested.matcher[..at].iter().any(|earlier| earlier.argument == rule.argument) {
            return Err(wrong("the argument has a rule already"));
        }
        match &rule.shape {
            ArgumentShape::Equal(value) if serde_json::from_str::<Value>(value.expose()).is_err() => {
                return Err(wrong("its value is not JSON"));
            }
            ArgumentShape::Beneath(path) if !is_beneath(path.expose(), path.expose(), call.workspace) => {
                return Err(wrong(
                    "the path is not an ordinary one inside the workspace, without `..`, escapes or a host",
                ));
            }
            ArgumentShape::Origin(origin) if origin_alone(origin.expose()).is_none() => {
                return Err(wrong(
                    "it takes scheme, host and port and nothing else, such as `https://api.example:8443`",
                ));
            }
            ArgumentShape::Any if !can_have(call, rule.argument.expose()) => {
                return Err(wrong("the call does not have it"));
            }
            ArgumentShape::Equal(_)
            | ArgumentShape::Beneath(_)
            | ArgumentShape::Origin(_)
            | ArgumentShape::Any => {}
        }
    }
    let differs = |rule: &&ArgumentRule| !matches!(rule.shape, ArgumentShape::Equal(_));
    if let Some(rule) = requested.matcher.iter().find(differs).filter(|_| call.shell_line) {
        return Err(StoredGrantError::ShellLine { argument: rule.argument.expose().clone() });
    }
    let wide = requested.matcher.iter().all(|rule| match &rule.shape {
        ArgumentShape::Any => true,
        ArgumentShape::Beneath(path) => {
            read_path(path.expose(), PathContext { root: call.workspace, own: &[] }).text == "."
        }
        ArgumentShape::Equal(_) | ArgumentShape::Origin(_) => false,
    });
    if wide && !requested.matcher.is_empty() && call.risk >= ApprovalRiskLevel::High {
        return Err(StoredGrantError::TooWide);
    }
    match leaving_argument(&requested.matcher, call) {
        None => Ok(()),
        Some(argument) => Err(StoredGrantError::Misses { argument }),
    }
}

/// Whether a call has an argument, or left out one that changes nothing but the file that it names.
fn can_have(call: GrantedCall<'_>, argument: &str) -> bool {
    call.arguments.get(argument).is_some() || optional_file_arguments(call.tool.as_str()).contains(&argument)
}

/// Returns rules that cover exactly this call: each argument as it is.
#[must_use]
pub fn exact_matcher(arguments: &Redacted<String>) -> Option<Vec<ArgumentRule>> {
    let members = arguments.clone().map(|arguments| {
        let arguments = parse_arguments(&arguments).ok()?;
        let members = arguments.as_object()?.iter();
        Some(members.map(|(name, value)| (name.clone(), value.to_string())).collect::<Vec<_>>())
    });
    let members = members.transpose()?.into_elements().into_iter().map(Redacted::unzip);
    let mut rules: Vec<ArgumentRule> = members
        .map(|(argument, value)| ArgumentRule { argument, shape: ArgumentShape::Equal(value) })
        .collect();
    rules.sort_by(|a, b| a.argument.expose().cmp(b.argument.expose()));
    Some(rules)
}

#[cfg(test)]
mod tests;
