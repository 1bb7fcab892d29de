//! Rules that restrict less than they seem to: a pattern on one argument, and a forbid of running without a question.
//!
//! Owns naming them and the rule that does more. Invariant: nothing here decides.

use std::collections::BTreeSet;

use cedar_policy::{ActionConstraint, Effect};
use serde_json::Value;

use crate::policies::{KnownPolicy, PolicyFile, PolicyMistake, PolicySet, StatedTerms};

/// Returns a warning for each such rule outside of the shipped files.
pub(crate) fn narrow_forbids(policies: &PolicySet) -> Vec<PolicyMistake> {
    let shipped: BTreeSet<String> = PolicyFile::shipped().into_iter().map(|file| file.name).collect();
    let own = policies.all().filter(|known| !shipped.contains(&known.file));
    own.flat_map(|known| pattern_on_argument(known).into_iter().chain(question_forbid(policies, known)))
        .collect()
}

fn warning(known: &KnownPolicy, what: String, mend: String) -> PolicyMistake {
    PolicyMistake { file: known.file.clone(), line: known.line, column: 1, what, mend }
}

/// Warns of a rule that restricts by a pattern on an argument.
fn pattern_on_argument(known: &KnownPolicy) -> Option<PolicyMistake> {
    let restricts =
        known.policy.effect() == Effect::Forbid || known.annotations.terms != StatedTerms::default();
    let json = known.policy.to_json().ok().filter(|_| restricts)?;
    let compared = argument_pattern(json.get("conditions")?)?;
    let what = format!(
        "`{}` compares `context.args.{}` with a pattern, so it covers only calls that have this argument",
        known.annotations.id, compared.argument
    );
    let mend = match compared.folder {
        Some(folder) => format!(
            "`context.folders.contains(\"{folder}\")` covers every tool, also renames, patches and searches"
        ),
        None => "every call has `context.folders`, `context.hosts` and `context.argv`".to_owned(),
    };
    Some(warning(known, what, mend))
}

/// An argument that is compared with a pattern.
struct ComparedArgument {
    argument: String,
    /// The folder that the pattern begins with, where it is one of a path.
    folder: Option<String>,
}

/// Finds the first comparison of an argument with a pattern in Cedar's JSON form of expressions.
fn argument_pattern(expression: &Value) -> Option<ComparedArgument> {
    let members = match expression {
        Value::Object(members) => members,
        Value::Array(all) => return all.iter().find_map(argument_pattern),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return None,
    };
    members.iter().find_map(|(operator, operand)| {
        let argument = operand.get("left").and_then(argument_name).filter(|_| operator == "like");
        match argument {
            Some(argument) => {
                let folder = operand.get("pattern").and_then(folder_of_pattern);
                Some(ComparedArgument { argument: argument.to_owned(), folder })
            }
            None => argument_pattern(operand),
        }
    })
}

/// Returns the name of an argument, where an expression is `context.args.NAME`.
fn argument_name(expression: &Value) -> Option<&str> {
    let access = expression.get(".")?;
    let arguments = access.get("left")?.get(".")?;
    let of_context = arguments.get("left")?.get("Var")? == "context" && arguments.get("attr")? == "args";
    access.get("attr")?.as_str().filter(|_| of_context)
}

/// Returns the folder that a pattern begins with.
fn folder_of_pattern(pattern: &Value) -> Option<String> {
    // One letter each, up to the first wildcard.
    let literals = pattern.as_array()?.iter().map_while(|part| part.get("Literal")?.as_str());
    let first: String = literals.collect();
    let (folder, _) = first.rsplit_once('/')?;
    let is_folder = !folder.is_empty() && !folder.contains(':') && !folder.starts_with('/');
    is_folder.then(|| folder.to_owned())
}

/// Warns of a rule that forbids running without a question, and nothing else.
fn question_forbid(policies: &PolicySet, known: &KnownPolicy) -> Option<PolicyMistake> {
    let unattended = &policies.words().unattended;
    let is_about_questions = match known.policy.action_constraint() {
        ActionConstraint::Any => false,
        ActionConstraint::Eq(action) => action == *unattended,
        ActionConstraint::In(actions) => actions.iter().all(|action| action == unattended),
    };
    (is_about_questions && known.policy.effect() == Effect::Forbid).then(|| {
        let what = format!(
            "`{}` has such calls ask, and a stored grant, the answers `s` and `f` and `always_allow` answer that in advance",
            known.annotations.id
        );
        let mend = "to ask each time, permit Action::\"execute\" with @approvers, see `palyra explain \
                    docs/policy.md#ask-each-time`";
        warning(known, what, mend.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use palyra_types::Redacted;
    use palyra_types::approval::{ArgumentRule, ArgumentShape};
    use palyra_types::tool::{DecisionReason, ToolVerdict};
    use serde_json::json;

    use super::*;
    use crate::decide::{CallEvidence, decide_tool_call};
    use crate::examine::check;
    use crate::fixture::{ROOT, call, catalog, granted, snapshot_of};
    use crate::rules::ToolPolicyRules;

    const ASK_FORBID: &str = r#"@id("src-asks")
        forbid (principal, action == Action::"execute_unattended", resource in Capability::"write_files")
        when { context.folders.contains("src") };"#;
    const ASK_EACH_TIME: &str = r#"@id("src-asks-each-time")
        @approvers("role:owner, role:member, role:approver")
        permit (principal, action == Action::"execute", resource in Capability::"write_files")
        when { context.within.contains("src") };"#;

    fn warnings(text: &str) -> Vec<String> {
        let checked = check(&[PolicyFile::new("mine.cedar", text)], &catalog()).expect("no mistakes");
        checked.warnings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_forbid_by_a_pattern_on_an_argument_names_the_folder() {
        let rule = |effect: &str, condition: &str| {
            format!("@id(\"a\") {effect} (principal, action, resource) when {{ {condition} }};")
        };
        let path = r#"context.args has path && context.args.path like "src/*""#;
        let found = warnings(&rule("forbid", path));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("covers only calls that have this argument"), "{found:?}");
        assert!(found[0].contains("`context.folders.contains(\"src\")`"), "{found:?}");
        let url = r#"context.args has url && context.args.url like "https://a.example/*""#;
        let found = warnings(&rule("forbid", url));
        assert!(found.len() == 1 && found[0].contains("context.hosts"), "{found:?}");
        assert_eq!(warnings(&rule("permit", path)), Vec::<String>::new());
        assert_eq!(warnings(&rule("forbid", r#"context.folders.contains("src")"#)), Vec::<String>::new());
    }

    #[test]
    fn a_forbid_of_running_unattended_is_passed_by_a_grant_and_named_people_are_asked_each_time() {
        let rule =
            |argument: &str, shape| ArgumentRule { argument: Redacted::cleaned(argument.to_owned()), shape };
        let below = ArgumentShape::Beneath(Redacted::cleaned("src".to_owned()));
        let grants = [granted("write_file", vec![rule("path", below), rule("content", ArgumentShape::Any)])];
        let decided = |text: &str| {
            let snapshot = snapshot_of(ToolPolicyRules::shipped().with_file("mine.cedar", text));
            let evidence = CallEvidence { grants: &grants, workspace: Some(ROOT), ..CallEvidence::default() };
            let call = call("write_file", &json!({"path": "src/a.py", "content": "x"}));
            let decision = decide_tool_call(&snapshot, &call, &evidence);
            (decision.verdict, decision.reason)
        };
        assert_eq!(decided(ASK_FORBID), (ToolVerdict::Allow, DecisionReason::Granted));
        assert_eq!(decided(ASK_EACH_TIME), (ToolVerdict::Ask, DecisionReason::NeedsApproval));
        let found = warnings(ASK_FORBID);
        assert!(found.len() == 1 && found[0].contains("a stored grant"), "{found:?}");
        assert!(found[0].contains("with @approvers"), "{found:?}");
        assert_eq!(warnings(ASK_EACH_TIME), Vec::<String>::new());
    }
}
