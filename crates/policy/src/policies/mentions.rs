//! What policies look at: members of the context, and the person behind a call.
//!
//! Owns reading that off Cedar's JSON form. Invariant: in doubt a policy looks at everything, so what is left out of a
//! request can never be missed.

use std::collections::BTreeSet;

use cedar_policy::{Policy, PrincipalConstraint};
use serde_json::Value;

/// What policies look at.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct PolicyMentions {
    /// Names in the context.
    pub(crate) context: BTreeSet<String>,
    /// Whether the context is used as a whole.
    pub(crate) whole_context: bool,
    /// Whether the attributes or the parents of the principal matter.
    pub(crate) person: bool,
    /// Folders that are looked for in `context.folders` and `context.within`, as they are written.
    pub(crate) folders: BTreeSet<String>,
}

impl PolicyMentions {
    pub(crate) fn of(policy: &Policy) -> Self {
        let mut mentions = Self::default();
        mentions.add(policy);
        mentions
    }

    /// Adds what others look at.
    pub(crate) fn extend<'m>(&mut self, others: impl IntoIterator<Item = &'m Self>) {
        for other in others {
            self.context.extend(other.context.iter().cloned());
            self.whole_context |= other.whole_context;
            self.person |= other.person;
            self.folders.extend(other.folders.iter().cloned());
        }
    }

    /// What is not known looks at everything.
    pub(crate) fn everything() -> Self {
        Self { whole_context: true, person: true, ..Self::default() }
    }

    fn add(&mut self, policy: &Policy) {
        self.person |= match policy.principal_constraint() {
            PrincipalConstraint::Any | PrincipalConstraint::Eq(_) | PrincipalConstraint::Is(_) => false,
            PrincipalConstraint::In(_) | PrincipalConstraint::IsIn(_, _) => true,
        };
        match policy.to_json() {
            Ok(json) => self.expression(json.get("conditions").unwrap_or(&Value::Null)),
            Err(_) => (self.whole_context, self.person) = (true, true),
        }
    }

    fn expression(&mut self, expression: &Value) {
        match expression {
            Value::Object(members) => {
                for (operator, operand) in members {
                    if operator.starts_with("contains") && looks_at_folders(operand) {
                        texts_in(operand.get("right").unwrap_or(&Value::Null), &mut self.folders);
                    }
                    match (operator.as_str(), operand) {
                        ("Var", Value::String(variable)) if variable == "context" => {
                            self.whole_context = true;
                        }
                        ("Var", Value::String(variable)) if variable == "principal" => self.person = true,
                        ("." | "has", _) => self.member(operand),
                        (_, operand) => self.expression(operand),
                    }
                }
            }
            Value::Array(members) => members.iter().for_each(|member| self.expression(member)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn member(&mut self, operand: &Value) {
        let left = operand.get("left").unwrap_or(operand);
        let of_context = left.get("Var").and_then(Value::as_str) == Some("context");
        match operand.get("attr").and_then(Value::as_str) {
            Some(name) if of_context => drop(self.context.insert(name.to_owned())),
            Some(_) | None => self.expression(left),
        }
    }

    /// Whether a member of the context is looked at.
    pub(crate) fn looks_at(&self, name: &str) -> bool {
        self.whole_context || self.context.contains(name)
    }
}

/// Whether the set in which something is looked for is one of those that hold folders.
fn looks_at_folders(operand: &Value) -> bool {
    let Some(set) = operand.get("left").and_then(|left| left.get(".")) else { return false };
    let of_context =
        set.get("left").and_then(|left| left.get("Var")).and_then(Value::as_str) == Some("context");
    of_context && matches!(set.get("attr").and_then(Value::as_str), Some("folders" | "within"))
}

/// Collects the texts that stand in an expression.
fn texts_in(expression: &Value, found: &mut BTreeSet<String>) {
    match expression {
        Value::Object(members) => {
            for (operator, operand) in members {
                match operand.as_str().filter(|_| operator == "Value") {
                    Some(text) => drop(found.insert(text.to_owned())),
                    None => texts_in(operand, found),
                }
            }
        }
        Value::Array(members) => members.iter().for_each(|member| texts_in(member, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(condition: &str, expect: &str) {
        let text = format!("permit (principal, action, resource) when {{ {condition} }};");
        let mentions = PolicyMentions::of(&text.parse().expect("a policy"));
        let mut shown: Vec<String> = mentions.context.into_iter().collect();
        shown.extend(mentions.whole_context.then(|| "CONTEXT".to_owned()));
        shown.extend(mentions.person.then(|| "PERSON".to_owned()));
        shown.extend(mentions.folders.iter().map(|folder| format!("{folder}/")));
        assert_eq!(shown.join(" "), expect, "{condition}");
    }

    #[test]
    fn what_a_policy_looks_at_is_found_and_doubt_means_everything() {
        check("true", "");
        check("context.risk == \"low\"", "risk");
        check("context has args && context.args has path && context.args.path like \"a*\"", "args");
        check("context[\"odd name\"] == 1 || resource.version > 1", "odd name");
        check("if context.a then context.b.contains(1) else [context.c, 2].contains(3)", "a b c");
        check("{\"x\": context.d}.x == 1", "d");
        check("context == {\"a\": 1}", "CONTEXT");
        check("[context].contains(resource)", "CONTEXT");
        check("context.folders.contains(\"src\")", "folders src/");
        check("context.within.containsAny([\"a\", \"b c\"])", "within a/ b c/");
        check("context.paths.contains(\"src\")", "paths");
        check("principal == User::\"a\"", "PERSON");
        check("principal.agent == Agent::\"a\" && context.e", "e PERSON");
        check("principal in Agent::\"a\"", "PERSON");
        let deep = "permit (principal, action, resource) when { context has args.path.deep };";
        assert!(PolicyMentions::of(&deep.parse().expect("a policy")).looks_at("args"));
        let scoped = "permit (principal in Agent::\"a\", action, resource);".parse().expect("a policy");
        assert!(PolicyMentions::of(&scoped).person);
    }
}
