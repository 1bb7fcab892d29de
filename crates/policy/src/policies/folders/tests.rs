//! What rules over folders see of every tool, and which of them are refused.

use palyra_types::tool::{DecisionReason, ToolDecision, ToolVerdict};
use serde_json::{Value, json};

use super::misused_folders;
use crate::decide::{CallEvidence, decide_tool_call};
use crate::fixture::{ROOT, call, snapshot_of};
use crate::request::PolicyRequest;
use crate::rules::{ToolPolicyRules, re_evaluate};
use crate::snapshot::ToolCallPolicySnapshot;

const NO_WRITES_IN_SRC: &str = r#"
    @id("no-writes-in-src")
    forbid (principal, action, resource in Capability::"write_files")
    when { context.folders.contains("src") };
    @id("no-reads-of-private")
    forbid (principal, action, resource in Capability::"read_files")
    when { context.folders.contains("private/") };"#;

fn with(rules: &str) -> ToolCallPolicySnapshot {
    snapshot_of(ToolPolicyRules::shipped().with_file("mine.cedar", rules))
}

fn judged(snapshot: &ToolCallPolicySnapshot, tool: &str, arguments: &Value) -> ToolDecision {
    let evidence = CallEvidence { workspace: Some(ROOT), ..CallEvidence::default() };
    decide_tool_call(snapshot, &call(tool, arguments), &evidence)
}

#[test]
fn one_rule_keeps_every_tool_out_of_a_folder() {
    let snapshot = with(NO_WRITES_IN_SRC);
    let patch = |path: &str| json!({"patch": format!("--- a/docs/x\n+++ b/docs/x\n@@ -1 +1 @@\n-a\n+b\n--- a/{path}\n+++ b/{path}\n")});
    for path in [
        "src/a.py",
        "./src/a.py",
        "src//a.py",
        "x/../src/a.py",
        "/home/me/desk/src/a.py",
        "SRC/a.py",
        r"src\a.py",
        "src. /a.py",
    ] {
        for (tool, arguments) in
            [("write_file", json!({"path": path, "content": "x"})), ("apply_patch", patch(path))]
        {
            let decision = judged(&snapshot, tool, &arguments);
            assert_eq!(
                (decision.verdict, decision.reason),
                (ToolVerdict::Deny, DecisionReason::Forbidden),
                "{tool} {path}"
            );
        }
    }
    for path in ["docs/a.py", "srcs/a.py", "docs/src/a.py"] {
        let decision = judged(&snapshot, "write_file", &json!({"path": path, "content": "x"}));
        assert_eq!(decision.verdict, ToolVerdict::Ask, "{path}");
    }
}

#[test]
fn a_call_that_works_above_a_folder_reaches_it() {
    let snapshot = with(NO_WRITES_IN_SRC);
    for (path, expect) in [
        ("private", ToolVerdict::Deny),
        (".", ToolVerdict::Deny),
        ("private/a", ToolVerdict::Deny),
        ("src", ToolVerdict::Allow),
    ] {
        assert_eq!(judged(&snapshot, "read_file", &json!({"path": path})).verdict, expect, "{path}");
    }
}

#[test]
fn commands_reach_every_folder_and_stay_in_none() {
    let rules = r#"
        @id("no-writes-in-src") forbid (principal, action, resource)
        when { context.folders.contains("src") };
        @id("docs-are-free") permit (principal, action == Action::"execute_unattended", resource)
        when { context.within.contains("docs") };"#;
    let command = json!({"argv": ["make", "docs"]});
    let decision = judged(&with(rules), "run_command", &command);
    assert!(decision.explanation.expose().contains("no-writes-in-src"), "{}", decision.explanation.expose());
    let only_docs = with(&rules[rules.find("@id(\"docs").expect("it is there")..]);
    assert_eq!(judged(&only_docs, "run_command", &command).verdict, ToolVerdict::Ask);
    let write = |path: &str| json!({"path": path, "content": "x"});
    assert_eq!(judged(&only_docs, "write_file", &write("./docs//a.md")).verdict, ToolVerdict::Allow);
    for path in ["DOCS/a.md", r"docs\a.md", r"docs/..\a.md", "a.md"] {
        assert_eq!(judged(&only_docs, "write_file", &write(path)).verdict, ToolVerdict::Ask, "{path}");
    }
    let both = "--- a/docs/x\n+++ b/docs/x\n--- a/main.rs\n+++ b/main.rs\n";
    assert_eq!(judged(&only_docs, "apply_patch", &json!({"patch": both})).verdict, ToolVerdict::Ask);
}

#[test]
fn a_recorded_request_has_folders_too() {
    let decision = judged(&with(""), "write_file", &json!({"path": "src/a", "content": "x"}));
    let request = decision.request.expose();
    assert!(!request.contains("folders"), "its form stays as it was: {request}");
    PolicyRequest::from_json(request).expect("it is read");
    let again = re_evaluate(request, with(NO_WRITES_IN_SRC).policies()).expect("it is a request");
    assert_eq!(again.policies, ["no-writes-in-src"]);
}

#[test]
fn a_rule_that_would_permit_more_in_doubt_is_refused() {
    let wrong = |head: &str, condition: &str| {
        let policy = format!("{head} (principal, action, resource) {condition};").parse().expect("a policy");
        misused_folders(&policy).is_some()
    };
    let (folders, within) = (r#"context.folders.contains("a")"#, r#"context.within.containsAny(["a"])"#);
    for (condition, permit, forbid) in [
        (format!("when {{ {folders} }}"), true, false),
        (format!("when {{ {within} }}"), false, true),
        (format!("unless {{ {folders} }}"), false, true),
        (format!("unless {{ {within} }}"), true, false),
        (format!("when {{ !({folders}) && context.risk == \"low\" }}"), false, true),
        (format!("when {{ !({within}) || context.turns > 1 }}"), true, false),
        (format!("when {{ if {folders} then true else false }}"), true, true),
        (format!("when {{ if context.turns > 1 then {folders} else false }}"), true, false),
        (format!("when {{ {folders} == false }}"), true, true),
        ("when { context.folders == [\"a\"] }".to_owned(), true, true),
        (format!("when {{ [false].contains({folders}) }}"), true, true),
        ("when { [\"a\"].containsAll(context.folders) }".to_owned(), true, true),
        ("when { {\"c\": context}.c.folders.contains(\"a\") }".to_owned(), true, true),
        ("when { context.args.folders.contains(\"a\") }".to_owned(), false, false),
        ("when { context.paths.contains(\"a\") }".to_owned(), false, false),
    ] {
        assert_eq!(
            (wrong("permit", &condition), wrong("forbid", &condition)),
            (permit, forbid),
            "{condition}"
        );
    }
}
