//! 103: paths that policy and a tool could read differently. Whatever a tool would open is what the rules look at.

use palyra_types::tool::{ApprovalRiskLevel, ToolDecision, ToolVerdict};
use serde_json::{Value, json};

use crate::decide::{CallEvidence, decide_tool_call};
use crate::fixture::{ROOT, call, snapshot_of};
use crate::rules::ToolPolicyRules;
use crate::snapshot::ToolCallPolicySnapshot;

/// What the daemon calls its own in these tests: below the workspace, as in a repository of settings.
const OWN: &str = "/home/me/desk/palyra/policies";

fn shipped() -> ToolCallPolicySnapshot {
    snapshot_of(ToolPolicyRules { own_paths: vec![OWN.to_owned()], ..ToolPolicyRules::shipped() })
}

fn judge(snapshot: &ToolCallPolicySnapshot, tool: &str, arguments: &Value) -> ToolDecision {
    let evidence = CallEvidence { workspace: Some(ROOT), ..CallEvidence::default() };
    decide_tool_call(snapshot, &call(tool, arguments), &evidence)
}

/// Judges a write to `path` by each tool that writes.
fn judge_writes(snapshot: &ToolCallPolicySnapshot, path: &str) -> Vec<ToolDecision> {
    let patch = format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n");
    vec![
        judge(snapshot, "write_file", &json!({"path": path, "content": "x"})),
        judge(snapshot, "apply_patch", &json!({"patch": patch})),
    ]
}

#[test]
fn attack_103_a_backslash_hides_no_folder_that_nobody_may_write_to() {
    let shipped = shipped();
    for (hidden, plain, rule) in [
        (r".git/hooks/a\..\..\..\b", ".git/hooks/b", "never-into-git"),
        (r".git/a\..\..\b", ".git/b", "never-into-git"),
        (r"sub/.GIT/a\..\..\..\b", "sub/.git/b", "never-into-git"),
        (r"palyra/policies/a\..\..\..\b.cedar", "palyra/policies/b.cedar", "never-the-daemon"),
    ] {
        for decision in [judge_writes(&shipped, hidden), judge_writes(&shipped, plain)].concat() {
            assert_eq!(decision.verdict, ToolVerdict::Deny, "{hidden}");
            assert!(
                decision.explanation.expose().contains(rule),
                "{hidden}: {:?}",
                decision.explanation.expose()
            );
        }
        // The control: what a reader that takes a backslash for a separator would have judged instead.
        for decision in judge_writes(&shipped, "b") {
            assert_eq!(decision.verdict, ToolVerdict::Ask);
        }
    }
}

#[test]
fn attack_103_a_backslash_hides_nothing_that_runs_later() {
    let shipped = shipped();
    for hidden in [
        r".github/workflows/a\..\..\..\b.yml",
        r".claude/commands/a\..\..\..\b.md",
        r".vscode/a\..\..\tasks.json",
        r".config/autostart/a\..\..\..\b.desktop",
    ] {
        for decision in judge_writes(&shipped, hidden) {
            assert_eq!(decision.risk, ApprovalRiskLevel::Critical, "{hidden}");
        }
    }
    for decision in judge_writes(&shipped, r"notes\a.md") {
        assert_eq!(decision.risk, ApprovalRiskLevel::Medium, "a backslash alone is an odd name");
    }
}

#[test]
fn attack_103_what_is_shown_to_rules_is_what_a_tool_opens() {
    let decision = judge(&shipped(), "write_file", &json!({"path": r"./docs//a\..\..\b", "content": "x"}));
    assert!(
        decision.request.expose().contains(r#""paths":["docs/a\\..\\..\\b"]"#),
        "{}",
        decision.request.expose()
    );
}

#[test]
fn attack_103_a_rule_over_a_path_argument_sees_its_normal_form() {
    let mine = r#"@id("no-writes-in-src")
        forbid (principal, action, resource in Capability::"write_files")
        when { context.args has path && context.args.path like "src/*" };"#;
    let snapshot = snapshot_of(ToolPolicyRules::shipped().with_file("mine.cedar", mine));
    let long = format!("{}src/a.py", "./".repeat(900));
    for path in
        ["src/a.py", "./src/a.py", "src//a.py", "/home/me/desk/src/a.py", "/home/./me//desk/src/a.py", &long]
    {
        let decision = judge(&snapshot, "write_file", &json!({"path": path, "content": "x"}));
        assert!(decision.explanation.expose().contains("no-writes-in-src"), "{path:.60}");
        assert!(decision.request.expose().contains(r#""path":"src/a.py""#), "{path:.60}");
    }
    let beside = json!({"path": "srcs/a.py", "content": "x"});
    assert_eq!(judge(&snapshot, "write_file", &beside).verdict, ToolVerdict::Ask);
}
