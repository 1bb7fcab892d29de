//! Why a request is decided as it is: which policies, and which values they looked at.
//!
//! Owns finding what a policy mentions. Invariant: the values shown are those with which Cedar was asked.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use palyra_types::tool::{DecisionReason, ToolVerdict};
use serde_json::Value;

use crate::near_rules::{NearRule, near_rules};
use crate::policies::{KnownPolicy, PolicySet, ReadOnlyFolder, worked_out};
use crate::redundant_asks::unattended_hint;
use crate::request::PolicyRequest;
use crate::rules::{Judgement, evaluate_with_config};

/// Why a request is decided as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyExplanation {
    /// What is decided.
    pub judgement: Judgement,
    /// The policies that decided.
    pub deciding: Vec<ExplainedPolicy>,
    /// What those policies look at, and what they found there, as JSON; `None` where the request has nothing.
    pub looked_at: BTreeMap<String, Option<String>>,
    /// Folders that are read-only for the program that it starts; of a forbidden call those that would have to be.
    pub read_only: Vec<ReadOnlyFolder>,
    /// Why the risk of the call is critical, where it is.
    pub critical: Option<String>,
    /// The standing setting of the tool, where there is one: what, where, by whom and when.
    pub posture: Option<String>,
    /// The rules that came nearest, where none permits it.
    pub nearest: Vec<NearRule>,
    /// For a call that asks: the rule that was written as if it let it run, and the action that does.
    pub hint: Option<String>,
    /// How many policies could have mattered, unattended and attended, and how many there are.
    pub considered: (usize, usize, usize),
}

/// The name of a policy, as its `@id` has it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PolicyName(String);

impl PolicyName {
    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PolicyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One policy that decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExplainedPolicy {
    /// Its name.
    pub id: PolicyName,
    /// Where it stands.
    pub file: String,
    /// Its line there, from 1.
    pub line: usize,
    /// Its reason.
    pub reason: String,
    /// The policy itself.
    pub text: String,
}

/// Explains the decision of one request.
#[must_use]
pub fn explain(policies: &PolicySet, request: &PolicyRequest) -> PolicyExplanation {
    let judgement = evaluate_with_config(policies, request);
    let known: Vec<&KnownPolicy> = judgement.policies.iter().filter_map(|id| policies.known(id)).collect();
    let told: Value = serde_json::to_value(request).unwrap_or_default();
    let mentioned: BTreeSet<String> = known.iter().flat_map(|known| mentions(known)).collect();
    let named_folders = policies.named_folders(request);
    let looked_at = mentioned.into_iter().map(|path| {
        let member = path.strip_prefix("context.");
        let worked_out = member.and_then(|member| worked_out(request, &named_folders, member));
        let found = worked_out.or_else(|| found_at(&told, &path).cloned()).map(|value| value.to_string());
        (path, found)
    });
    let slices = policies.with_tool(request, |prepared| {
        let (unattended, execute) = prepared.slices();
        (unattended.num_of_policies(), execute.num_of_policies(), policies.len())
    });
    let posture = request.posture_text();
    let explained = |known: &&KnownPolicy| ExplainedPolicy {
        id: PolicyName(known.annotations.id.clone()),
        file: known.file.clone(),
        line: known.line,
        reason: known.annotations.reason.clone(),
        text: known.policy.to_string(),
    };
    let asks = judgement.reason == DecisionReason::NeedsApproval;
    PolicyExplanation {
        hint: unattended_hint(policies, &known).filter(|_| asks),
        deciding: known.iter().map(explained).collect(),
        looked_at: looked_at.collect(),
        posture,
        critical: request.critical_because(),
        read_only: judgement.read_only.clone(),
        considered: slices,
        nearest: if judgement.reason == DecisionReason::NoRulePermits {
            near_rules(policies, request)
        } else {
            Vec::new()
        },
        judgement,
    }
}

impl PolicyExplanation {
    /// Returns it in lines for people.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let mut lines =
            vec![format!("{}: {}", verdict_name(self.judgement.verdict), reason_name(self.judgement.reason))];
        for policy in &self.deciding {
            lines.push(format!("by {} ({}:{}): {}", policy.id, policy.file, policy.line, policy.reason));
        }
        for (path, value) in &self.looked_at {
            lines.push(format!("looked at {path}: {}", value.as_deref().unwrap_or("nothing there")));
        }
        lines.extend(self.read_only.iter().map(|read_only| self.read_only_line(read_only)));
        lines.extend(self.critical.iter().map(|why| format!("critical risk, because {why}")));
        lines.extend(self.posture.iter().map(|posture| format!("posture: {posture}")));
        for near in &self.nearest {
            lines.push(format!("near: {}", near.describe()));
        }
        lines.extend(self.nearest.iter().find_map(NearRule::hint).map(str::to_owned));
        lines.extend(self.hint.iter().map(|hint| format!("hint: {hint}")));
        let (unattended, execute, all) = self.considered;
        lines.push(format!(
            "checked: {unattended} of the {all} rules say whether this tool runs without asking, {execute} whether it runs \
             after a person agreed"
        ));
        lines
    }
}

impl PolicyExplanation {
    fn read_only_line(&self, read_only: &ReadOnlyFolder) -> String {
        let (folder, by) = (&read_only.folder, read_only.policies.join(", "));
        if self.judgement.verdict == ToolVerdict::Deny {
            return format!(
                "`{folder}` would have to be read-only for the program by {by}, and its sandbox has no mounts for that"
            );
        }
        format!("`{folder}` is read-only for the program by {by}")
    }
}

/// Returns a verdict's name.
#[must_use]
pub fn verdict_name(verdict: ToolVerdict) -> &'static str {
    match verdict {
        ToolVerdict::Allow => "allow",
        ToolVerdict::Ask => "ask",
        ToolVerdict::Deny => "deny",
    }
}

/// Returns a reason in words.
fn reason_name(reason: DecisionReason) -> String {
    let mut words = String::new();
    for letter in format!("{reason:?}").chars() {
        if letter.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(letter.to_lowercase());
    }
    words
}

/// Everything of `context`, `principal` and `resource` that a policy's conditions name, such as `context.risk`.
fn mentions(known: &KnownPolicy) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    if let Ok(policy) = known.policy.to_json() {
        collect(policy.get("conditions").unwrap_or(&Value::Null), &mut found);
    }
    found
}

/// Walks Cedar's JSON form of expressions: `{".": {"left": {"Var": "context"}, "attr": "risk"}}`.
fn collect(expression: &Value, found: &mut BTreeSet<String>) {
    match expression {
        Value::Object(members) => {
            for (operator, operand) in members {
                if (operator == "." || operator == "has")
                    && let Some(path) = path_of(operand)
                {
                    found.insert(path);
                } else {
                    collect(operand, found);
                }
            }
        }
        Value::Array(members) => members.iter().for_each(|member| collect(member, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn path_of(operand: &Value) -> Option<String> {
    let attribute = operand.get("attr").and_then(Value::as_str)?;
    let left = operand.get("left")?;
    if let Some(variable) = left.get("Var").and_then(Value::as_str) {
        return Some(format!("{variable}.{attribute}"));
    }
    Some(format!("{}.{attribute}", path_of(left.get(".")?)?))
}

/// What a request has at a path, in the words that policies use.
fn found_at<'v>(told: &'v Value, path: &str) -> Option<&'v Value> {
    let mut parts = path.split('.');
    let place = match parts.next()? {
        "context" => told.get("context")?,
        "resource" => told.get("tool")?,
        _ => told,
    };
    let path: Vec<&str> = parts.collect();
    let renamed = match path.as_slice() {
        ["posture"] => return told.get("posture"),
        ["capabilities"] => return told.get("tool")?.get("capabilities"),
        ["program"] => return place.get("argv")?.get(0),
        path => path.to_vec(),
    };
    renamed.into_iter().try_fold(place, |place, part| place.get(part))
}
