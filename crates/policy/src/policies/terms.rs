//! The annotations of a policy: its name, its reason, and what it wants of an approval.
//!
//! Owns the list of annotations and their ranges. Invariant: where several policies permit a call, the strictest of
//! what they say holds.

use std::collections::BTreeSet;
use std::time::Duration;

use cedar_policy::{ActionConstraint, Effect, EntityUid, Policy};
use palyra_types::access::{AccessScope, PrincipalRecord, Role};
use palyra_types::approval::{
    APPROVAL_SPAN_MAX, APPROVALS_NEEDED_MAX, ApprovalTerms, ApproverSet, AtExpiry, NAMED_APPROVERS_MAX,
    SeparationRule,
};
use palyra_types::spelling::nearest_name;

/// The shortest time that an approval may wait.
const SPAN_MIN: Duration = Duration::from_secs(60);
const NAMES: [&str; 8] =
    ["id", "reason", "note", "expires", "at_expiry", "approvals", "approvers", "separation"];
const TERMS: [&str; 5] = ["expires", "at_expiry", "approvals", "approvers", "separation"];
/// How a role is named among approvers.
const ROLE: &str = "role:";
const ID_BYTES_MAX: usize = 100;

/// What a policy says outside of Cedar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PolicyAnnotations {
    pub(crate) id: String,
    pub(crate) reason: String,
    pub(crate) terms: StatedTerms,
}

/// What a policy states about approvals; `None` where it is silent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct StatedTerms {
    span: Option<Duration>,
    at_expiry: Option<AtExpiry>,
    separation: Option<SeparationRule>,
    needed: Option<u32>,
    approvers: Option<BTreeSet<NamedApprover>>,
}

/// Who may decide, as a policy names them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NamedApprover {
    /// All principals with a role, by its name.
    Role(String),
    /// One principal.
    Person(String),
}

/// What is wrong with an annotation: what, how to mend it, and its name.
pub(crate) type AnnotationMistake = (String, String, String);

impl StatedTerms {
    /// Returns the strictest of both.
    pub(crate) fn and(self, other: Self) -> Self {
        let expiry = |a, b| if a == AtExpiry::Deny { a } else { b };
        let separation = |a, b| if a == SeparationRule::AnotherPerson { a } else { b };
        Self {
            span: either(self.span, other.span, Duration::min),
            at_expiry: either(self.at_expiry, other.at_expiry, expiry),
            separation: either(self.separation, other.separation, separation),
            needed: either(self.needed, other.needed, u32::max),
            approvers: either(self.approvers, other.approvers, |a, b| &a & &b),
        }
    }

    /// Returns who may decide, where that is stated. A name that no principal has adds none.
    pub(crate) fn approvers(&self, people: &[PrincipalRecord]) -> Option<ApproverSet> {
        let named = self.approvers.as_ref()?;
        Some(named.iter().fold(ApproverSet::default(), |set, named| match named {
            NamedApprover::Role(name) => name.parse().map_or(set, |role| set.with_role(role)),
            NamedApprover::Person(name) => {
                let found = people.iter().find(|person| *person.name.expose() == *name);
                found.map_or(set, |person| set.with_person(person.id))
            }
        }))
    }

    /// Returns the terms, with defaults where nothing is stated. Who may decide is not known yet: that is
    /// [`Self::approvers`].
    pub(crate) fn or_default(&self) -> ApprovalTerms {
        let default = ApprovalTerms::default();
        ApprovalTerms {
            span: self.span.unwrap_or(default.span),
            at_expiry: self.at_expiry.unwrap_or(default.at_expiry),
            separation: self.separation.unwrap_or(default.separation),
            needed: self.needed.unwrap_or(default.needed),
            approvers: self.approvers.as_ref().map(|_| ApproverSet::default()),
        }
    }
}

fn either<T>(a: Option<T>, b: Option<T>, choose: impl Fn(T, T) -> T) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(choose(a, b)),
        (a, b) => a.or(b),
    }
}

/// Reads a policy's annotations; `execute` is the action that asks.
pub(crate) fn read(
    policy: &Policy,
    execute: &EntityUid,
) -> Result<PolicyAnnotations, Vec<AnnotationMistake>> {
    let mut mistakes = Vec::new();
    for (name, _) in policy.annotations() {
        if !NAMES.contains(&name) {
            let near =
                nearest_name(name, NAMES).map_or(String::new(), |near| format!("did you mean `@{near}`? "));
            let mend = format!("{near}known are {}", NAMES.map(|name| format!("@{name}")).join(", "));
            mistakes.push((format!("`@{name}` is not an annotation"), mend, name.to_owned()));
        } else if TERMS.contains(&name) && !can_ask(policy, execute) {
            let what = format!("`@{name}` has no effect on this policy");
            let mend = "only a permit of Action::\"execute\" can ask; take it out".to_owned();
            mistakes.push((what, mend, name.to_owned()));
        }
    }
    let id = policy.annotation("id").unwrap_or_default();
    if !is_id(id) {
        let what = if policy.annotation("id").is_none() {
            "a policy has no @id".to_owned()
        } else {
            format!("`{}` is not an id", id.escape_default().take(40).collect::<String>())
        };
        let mend = format!(
            "write @id(\"what-it-permits\") before it: letters, digits, `-`, `_`, `.`, at most {ID_BYTES_MAX}"
        );
        mistakes.push((what, mend, "id".to_owned()));
    }
    let terms = stated(policy, &mut mistakes);
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let reason = policy.annotation("reason").unwrap_or_default();
    Ok(PolicyAnnotations { id: id.to_owned(), reason: reason.to_owned(), terms })
}

fn is_id(id: &str) -> bool {
    let letters = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !id.is_empty() && id.len() <= ID_BYTES_MAX && id.chars().all(letters)
}

fn can_ask(policy: &Policy, execute: &EntityUid) -> bool {
    let actions = match policy.action_constraint() {
        ActionConstraint::Any => return policy.effect() == Effect::Permit,
        ActionConstraint::Eq(action) => BTreeSet::from([action]),
        ActionConstraint::In(actions) => actions.into_iter().collect(),
    };
    policy.effect() == Effect::Permit && actions.contains(execute)
}

fn stated(policy: &Policy, mistakes: &mut Vec<AnnotationMistake>) -> StatedTerms {
    let mut terms = StatedTerms::default();
    let mut wrong = |name: &str, value: &str, mend: String| {
        let shown: String = value.escape_default().take(40).collect();
        mistakes.push((format!("@{name} cannot be `{shown}`"), mend, name.to_owned()));
    };
    if let Some(value) = policy.annotation("expires") {
        terms.span = span(value);
        if terms.span.is_none() {
            let mend = "write a number and s, m, h or d, such as @expires(\"24h\"): 1m to 30d".to_owned();
            wrong("expires", value, mend);
        }
    }
    if let Some(value) = policy.annotation("at_expiry") {
        terms.at_expiry = match value {
            "deny" => Some(AtExpiry::Deny),
            "park" => Some(AtExpiry::Park),
            _ => None,
        };
        if terms.at_expiry.is_none() {
            wrong("at_expiry", value, "write @at_expiry(\"deny\") or @at_expiry(\"park\")".to_owned());
        }
    }
    if let Some(value) = policy.annotation("separation") {
        terms.separation = match value {
            "any_person" => Some(SeparationRule::AnyPerson),
            "another_person" => Some(SeparationRule::AnotherPerson),
            _ => None,
        };
        if terms.separation.is_none() {
            let mend = "write @separation(\"any_person\") or @separation(\"another_person\")".to_owned();
            wrong("separation", value, mend);
        }
    }
    if let Some(value) = policy.annotation("approvers") {
        terms.approvers = approvers(value);
        if terms.approvers.is_none() {
            let mend = format!(
                "write roles and names, such as @approvers(\"role:approver, user:alice\"): roles are owner, member and \
                 approver, and at most {NAMED_APPROVERS_MAX} names are taken"
            );
            wrong("approvers", value, mend);
        }
    }
    if let Some(value) = policy.annotation("approvals") {
        let plain = value.bytes().all(|byte| byte.is_ascii_digit());
        let needed = value.parse().ok().filter(|needed| plain && (1..=APPROVALS_NEEDED_MAX).contains(needed));
        terms.needed = needed;
        if needed.is_none() {
            let mend =
                format!("write how many people, such as @approvals(\"2\"): 1 to {APPROVALS_NEEDED_MAX}");
            wrong("approvals", value, mend);
        }
    }
    terms
}

fn approvers(value: &str) -> Option<BTreeSet<NamedApprover>> {
    let named = value.split(',').map(str::trim).map(|name| match name.strip_prefix(ROLE) {
        Some(role) => {
            let role: Role = role.parse().ok()?;
            role.scopes().contains(AccessScope::Approve).then(|| NamedApprover::Role(role.name().to_owned()))
        }
        None => name.contains(':').then(|| NamedApprover::Person(name.to_owned())),
    });
    let named: BTreeSet<_> = named.collect::<Option<_>>()?;
    let people = named.iter().filter(|named| matches!(named, NamedApprover::Person(_)));
    (people.count() <= NAMED_APPROVERS_MAX).then_some(named)
}

fn span(value: &str) -> Option<Duration> {
    let digits = value.strip_suffix(['s', 'm', 'h', 'd'])?;
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let seconds: u64 = match value.as_bytes().last()? {
        b's' => 1,
        b'm' => 60,
        b'h' => 60 * 60,
        _ => 24 * 60 * 60,
    };
    let span = Duration::from_secs(digits.parse::<u64>().ok()?.checked_mul(seconds)?);
    (SPAN_MIN..=APPROVAL_SPAN_MAX).contains(&span).then_some(span)
}
