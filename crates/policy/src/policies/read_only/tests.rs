//! Which folders are read-only for a program, and when it is denied as a whole.

use std::sync::Arc;

use palyra_types::tool::{
    Capability, DecisionReason, EffectContract, Isolation, ToolCall, ToolCatalog, ToolConduct, ToolDecision,
    ToolSpec, ToolVerdict,
};
use serde_json::json;

use crate::decide::{CallEvidence, decide_tool_call};
use crate::examine::test_fixtures;
use crate::explain::explain;
use crate::fixture::{ROOT, call, tool};
use crate::request::PolicyRequest;
use crate::rules::{Reevaluation, ToolPolicyRules, evaluate_with_config, read_only_folders};
use crate::snapshot::ToolCallPolicySnapshot;

const NO_WRITES: &str = r#"
    @id("no-writes-in-src") @reason("src is for people")
    forbid (principal, action, resource in Capability::"write_files")
    when { context.folders.contains("src/") };"#;

fn program(conduct: ToolConduct) -> ToolSpec {
    use Capability::{Process, ReadFiles, WriteFiles};
    let argv = json!({"argv": {"type": "array", "items": {"type": "string"}, "x-palyra-meaning": "argv"}});
    let capabilities = [ReadFiles, WriteFiles, Process];
    ToolSpec { conduct, ..tool("run_command", EffectContract::Opaque, &capabilities, &argv) }
}

fn snapshot(rules: &str, conduct: ToolConduct) -> ToolCallPolicySnapshot {
    let path = json!({"path": {"type": "string", "x-palyra-meaning": "path"}});
    let write = tool("write_file", EffectContract::Probe, &[Capability::WriteFiles], &path);
    let catalog = Arc::new(ToolCatalog::new(vec![program(conduct), write]));
    let rules = ToolPolicyRules::shipped().with_file("mine.cedar", rules);
    ToolCallPolicySnapshot::compile(catalog, rules, |_| [7; 32]).expect("a snapshot")
}

fn command(isolation: Isolation) -> ToolCall {
    let mut call = call("run_command", &json!({"argv": ["make"]}));
    call.context.isolation = isolation;
    call
}

fn judged(rules: &str, isolation: Isolation) -> (ToolCallPolicySnapshot, ToolDecision) {
    let snapshot = snapshot(rules, ToolConduct::Prepared);
    let evidence = CallEvidence { workspace: Some(ROOT), ..CallEvidence::default() };
    let decision = decide_tool_call(&snapshot, &command(isolation), &evidence);
    (snapshot, decision)
}

#[track_caller]
fn check(rules: &str, verdict: ToolVerdict, folders: &[&str]) {
    let (snapshot, decision) = judged(rules, Isolation::Isolated);
    let told = decision.explanation.expose();
    assert_eq!(decision.verdict, verdict, "{rules}: {told}");
    if verdict != ToolVerdict::Deny {
        let read_only = read_only_folders(snapshot.policies(), decision.request.expose());
        assert_eq!(read_only, folders, "{rules}: {told}");
        for folder in folders {
            assert!(told.contains(&format!("`{folder}` is read-only for it by")), "{told}");
        }
    }
}

#[test]
fn a_program_runs_with_the_folder_read_only_that_a_rule_forbids() {
    check(NO_WRITES, ToolVerdict::Ask, &["src"]);
    let evidence = CallEvidence { workspace: Some(ROOT), ..CallEvidence::default() };
    let snapshot = snapshot(NO_WRITES, ToolConduct::Prepared);
    for (path, verdict) in [("src/a", ToolVerdict::Deny), ("docs/a", ToolVerdict::Ask)] {
        let write = call("write_file", &json!({"path": path}));
        assert_eq!(decide_tool_call(&snapshot, &write, &evidence).verdict, verdict, "{path}");
    }
}

#[test]
fn only_what_keeps_to_every_rule_lets_a_program_run() {
    let forbid = |id: &str, scope: &str, condition: &str| {
        format!("@id(\"{id}\") forbid (principal, action, {scope}) when {{ {condition} }};")
    };
    let writes = r#"resource in Capability::"write_files""#;
    let (src, docs) = (r#"context.folders.contains("src")"#, r#"context.folders.contains("docs")"#);
    let both = [forbid("a", writes, src), forbid("b", writes, docs)].concat();
    check(&both, ToolVerdict::Ask, &["docs", "src"]);
    check(&forbid("a", writes, &format!("{src} && {docs}")), ToolVerdict::Ask, &["docs", "src"]);
    check(&forbid("a", writes, &format!("{src} && {docs} || {src}")), ToolVerdict::Ask, &["src"]);
    check(
        &forbid("a", "resource", &format!(r#"{src} && context.capabilities.contains("write_files")"#)),
        ToolVerdict::Ask,
        &["src"],
    );
    check(&forbid("a", writes, r#"context.folders.contains(".")"#), ToolVerdict::Ask, &["."]);
    check(
        &forbid("a", writes, r#"context.folders.containsAny(["a/./b", "c"])"#),
        ToolVerdict::Ask,
        &["a/b", "c"],
    );
    // Programs are excepted: nothing is read-only.
    let excepted = format!(r#"{src} && !(resource in Capability::"process")"#);
    check(&forbid("a", writes, &excepted), ToolVerdict::Ask, &[]);
    // What a read-only folder does not prevent: reading it, being this tool, and what is not about folders.
    for scope in [
        "resource",
        r#"resource in Capability::"read_files""#,
        r#"resource in Capability::"process""#,
        r#"resource == Tool::"run_command""#,
    ] {
        check(&forbid("a", scope, src), ToolVerdict::Deny, &[]);
    }
    check(&format!("{NO_WRITES}{}", forbid("a", writes, "context.turns > 0")), ToolVerdict::Deny, &[]);
    // Where no mount of the workspace is.
    for elsewhere in ["/etc", "../x", r"src\\a"] {
        let condition = format!("context.folders.contains(\"{elsewhere}\")");
        check(&forbid("a", writes, &condition), ToolVerdict::Deny, &[]);
    }
    let many: Vec<String> = (0..65).map(|n| format!("\"f{n}\"")).collect();
    let many = format!("context.folders.containsAny([{}])", many.join(","));
    check(&forbid("a", writes, &many), ToolVerdict::Deny, &[]);
}

#[test]
fn a_rule_about_reading_unattended_stays_one() {
    let permit = r#"@id("p") permit (principal, action == Action::"execute_unattended", resource);"#;
    check(&[NO_WRITES, permit].concat(), ToolVerdict::Allow, &["src"]);
    let reads = r#"@id("r") forbid (principal, action == Action::"execute_unattended", resource in Capability::"read_files")
        when { context.folders.contains("src/") };"#;
    check(&[NO_WRITES, permit, reads].concat(), ToolVerdict::Ask, &["src"]);
}

#[test]
fn without_mounts_a_program_is_denied_with_the_folder_and_the_rule() {
    for isolation in [Isolation::ConfinedWithoutNamespaces, Isolation::DescriptorRelative] {
        let (snapshot, decision) = judged(NO_WRITES, isolation);
        assert_eq!((decision.verdict, decision.reason), (ToolVerdict::Deny, DecisionReason::Forbidden));
        let told = decision.explanation.expose();
        let named =
            ["`no-writes-in-src` (src is for people)", "could run with `src` read-only", isolation.as_str()];
        assert!(named.iter().all(|name| told.contains(name)), "{told}");
        let request = PolicyRequest::from_json(decision.request.expose()).expect("a request");
        let lines = explain(snapshot.policies(), &request).lines().join("\n");
        assert!(
            lines.contains("`src` would have to be read-only for the program by no-writes-in-src"),
            "{lines}"
        );
    }
    for isolation in [Isolation::Confined, Isolation::ConfinedUncounted, Isolation::IsolatedUncounted] {
        assert_eq!(judged(NO_WRITES, isolation).1.verdict, ToolVerdict::Ask, "{isolation:?}");
    }
    // Who is not asked what a call would do cannot be told either.
    let direct = snapshot(NO_WRITES, ToolConduct::Direct);
    let decision = decide_tool_call(&direct, &command(Isolation::Isolated), &CallEvidence::default());
    assert_eq!((decision.verdict, decision.reason), (ToolVerdict::Deny, DecisionReason::Forbidden));
}

#[test]
fn a_recorded_request_has_its_read_only_folders() {
    let (snapshot, decision) = judged(NO_WRITES, Isolation::Isolated);
    let (_, elsewhere) = judged(NO_WRITES, Isolation::ConfinedWithoutNamespaces);
    let mut again = Reevaluation::new(snapshot.policies());
    for (decision, verdict) in [(&decision, ToolVerdict::Ask), (&elsewhere, ToolVerdict::Deny)] {
        let request = PolicyRequest::from_json(decision.request.expose()).expect("a request");
        assert_eq!(again.judge(&request), evaluate_with_config(snapshot.policies(), &request));
        assert_eq!(again.judge(&request).verdict, verdict);
    }
    let request = PolicyRequest::from_json(decision.request.expose()).expect("a request");
    let lines = explain(snapshot.policies(), &request).lines();
    assert!(
        lines.contains(&"`src` is read-only for the program by no-writes-in-src".to_owned()),
        "{lines:?}"
    );
    assert_eq!(read_only_folders(snapshot.policies(), "{}"), ["."], "in doubt all of it");
}

#[test]
fn a_failed_fixture_of_a_program_says_which_sandbox_it_lacks() {
    let snapshot = snapshot(NO_WRITES, ToolConduct::Prepared);
    for (context, is_asked, is_advised) in [
        (json!({}), false, true),
        (json!({"sandbox": "descriptor_relative"}), false, false),
        (json!({"sandbox": "isolated"}), true, false),
    ] {
        let fixture = json!({"name": "runs", "tool": "run_command", "arguments": {"argv": ["make"]},
                             "expect": "ask", "context": context});
        let tested =
            test_fixtures(&snapshot, &json!({ "fixtures": [fixture] }).to_string()).expect("fixtures");
        let failure = tested[0].failure.clone().unwrap_or_default();
        assert_eq!(failure.is_empty(), is_asked, "{failure}");
        assert_eq!(failure.contains(r#"`"context": {"sandbox": "isolated"}`"#), is_advised, "{failure}");
    }
}
