//! Which rules came nearest to permitting a call that no rule permits, and what they wanted.
//!
//! Owns asking Cedar about one condition of a rule at a time. Only what was denied is looked at, so it may take its
//! time. Invariant: nothing here decides.

use cedar_policy::{Authorizer, Decision, Effect, Policy, PolicyId, PolicySet as CedarPolicies};
use serde_json::Value;

use crate::policies::{CedarQuery, KnownPolicy, PolicySet};
use crate::request::PolicyRequest;

/// Rules that are told of, at most.
pub(crate) const NEAR_RULES_MAX: usize = 3;
/// Rules that are looked at, at most.
const LOOKED_AT_MAX: usize = 200;
/// Letters of a condition that are shown, at most.
const CONDITION_CHARS_MAX: usize = 200;

/// What would help with a condition, where that is known.
const HINTS: [(&str, &str); 1] = [(
    "context.shell_line",
    "call the program itself instead of handing a line to a shell; the shipped rule `shell-lines` asks about lines",
)];

/// A rule whose scope fits a call and whose condition does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearRule {
    /// The rule, as its `@id` has it.
    pub name: String,
    /// Whether it would have asked a person; otherwise it would have let the call run.
    pub asks: bool,
    /// Its first condition that was not met, as it is written.
    pub condition: String,
    failed: usize,
    /// Whether another call of the tool could meet it.
    of_call: bool,
}

impl NearRule {
    /// Says it in one sentence.
    #[must_use]
    pub fn describe(&self) -> String {
        let would = if self.asks { "would ask a person" } else { "would let it run" };
        format!("`{}` {would}, but its condition `{}` is not met", self.name, self.condition)
    }

    /// Returns what would help, where that is known.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        HINTS.iter().find(|(about, _)| self.condition.contains(about)).map(|(_, hint)| *hint)
    }
}

/// Returns the rules that came nearest to permitting a call, the nearest first.
#[must_use]
pub(crate) fn near_rules(policies: &PolicySet, request: &PolicyRequest) -> Vec<NearRule> {
    let Some(asked) = policies.cedar_query(request) else { return Vec::new() };
    let ids = policies.with_tool(request, |prepared| {
        let (unattended, execute) = prepared.slices();
        let of = |slice: &CedarPolicies, asks| {
            let permits = slice.policies().filter(|policy| policy.effect() == Effect::Permit);
            permits.map(|policy| (policy.id().to_string(), asks)).collect::<Vec<_>>()
        };
        [of(execute, true), of(unattended, false)].concat()
    });
    let looked = ids.into_iter().take(LOOKED_AT_MAX);
    let mut near: Vec<NearRule> =
        looked.filter_map(|(id, asks)| near_rule(policies.known(&id)?, &asked, asks)).collect();
    near.sort_by(|a, b| (!a.of_call, a.failed, &a.name).cmp(&(!b.of_call, b.failed, &b.name)));
    near.dedup_by(|a, b| a.name == b.name);
    near.truncate(NEAR_RULES_MAX);
    near
}

/// Looks at one rule; `None` when its scope does not fit, or all of its conditions are met.
fn near_rule(known: &KnownPolicy, asked: &CedarQuery, asks: bool) -> Option<NearRule> {
    let json = known.policy.to_json().ok()?;
    let clauses = json.get("conditions")?.as_array()?.clone();
    let holds = |clauses: &[Value]| {
        let mut alone = json.clone();
        *alone.get_mut("conditions")? = Value::Array(clauses.to_vec());
        let policy = Policy::from_json(Some(PolicyId::new("alone")), alone).ok()?;
        let request = if asks { &asked.execute } else { &asked.unattended };
        let text = policy.to_string();
        let set = CedarPolicies::from_policies([policy]).ok()?;
        let answer = Authorizer::new().is_authorized(request, &set, &asked.entities);
        Some((answer.decision() == Decision::Allow, text))
    };
    if !holds(&[])?.0 {
        return None;
    }
    let failed: Vec<String> = clauses
        .iter()
        .filter_map(|clause| holds(std::slice::from_ref(clause)))
        .filter(|(met, _)| !met)
        .map(|(_, text)| condition_of(&text))
        .collect();
    let condition = failed.first()?.clone();
    let of_call = failed.iter().all(|condition| condition.contains("context"));
    Some(NearRule { name: known.annotations.id.clone(), asks, condition, failed: failed.len(), of_call })
}

/// Returns the only condition of a rule, in one line.
fn condition_of(text: &str) -> String {
    let begin = text.rfind("\nwhen").or_else(|| text.rfind("\nunless")).or_else(|| text.find(") when"));
    let begin = begin.or_else(|| text.find(") unless")).map_or(0, |byte| byte + 1);
    let line = text[begin..].trim_end_matches(';').split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(CONDITION_CHARS_MAX).collect()
}
