//! Checks, fixtures, explanations and comparisons, as people use them.

use palyra_types::tool::{DecisionReason, ToolVerdict};
use serde_json::json;

use super::*;
use crate::decide::decide_tool_call;
use crate::diff::{DecisionCounts, PolicyDiff, RecordedDecision};
use crate::explain::explain;
use crate::fixture::{call, catalog, snapshot_of};
use crate::request::PolicyRequest;
use crate::rules::ToolPolicyRules;

/// What ships about capabilities, with a tool for each, whether or not one is built in. Fixtures of the built-in tools
/// lie beside the policies, and are run by who has those tools.
const CAPABILITIES: &str = r#"{"fixtures": [
    {"name": "a command", "tool": "run_command", "arguments": {"argv": ["cargo", "test"]}, "expect": "ask", "by": ["commands"]},
    {"name": "a fetch", "tool": "http_fetch", "arguments": {"url": "https://example.com/"}, "expect": "ask", "by": ["fetches"]},
    {"name": "a memory", "tool": "memory_write", "arguments": {"text": "likes tea"}, "expect": "ask", "by": ["memories"], "context": {"taints": ["web"]}},
    {"name": "a question", "tool": "ask_user", "arguments": {"question": "Tea?"}, "expect": "allow", "by": ["questions"]},
    {"name": "a secret", "tool": "use_secret", "arguments": {"name": "k"}, "expect": "deny"},
    {"name": "what no rule speaks of", "tool": "mystery", "arguments": {"text": "x"}, "expect": "deny"}
]}"#;

#[test]
fn what_ships_speaks_of_every_capability() {
    let tested = test_fixtures(&snapshot_of(ToolPolicyRules::shipped()), CAPABILITIES).expect("fixtures");
    assert_eq!((tested.len(), tested.iter().find(|fixture| fixture.failure.is_some())), (6, None));
}

#[test]
fn a_fixture_that_fails_says_why_and_a_bad_file_where() {
    let snapshot = snapshot_of(ToolPolicyRules::shipped());
    let tested = |fixture: Value| {
        let file = json!({"fixtures": [fixture]}).to_string();
        match test_fixtures(&snapshot, &file) {
            Ok(tested) => tested[0].failure.clone().unwrap_or_else(|| "passes".to_owned()),
            Err(error) => error.to_string(),
        }
    };
    let with = |more: Value| {
        let mut fixture =
            json!({"name": "n", "tool": "read_file", "arguments": {"path": "a"}, "expect": "allow"});
        for (name, value) in more.as_object().into_iter().flatten() {
            fixture[name] = value.clone();
        }
        tested(fixture)
    };
    assert_eq!(with(json!({})), "passes");
    assert_eq!(with(json!({"by": ["reads-in-the-workspace"]})), "passes");
    assert!(with(json!({"by": ["commands"]})).starts_with("`commands` is not among those that decide"));
    assert!(
        with(json!({"expect": "deny"})).starts_with("expected deny, found allow: `read_file` is permitted")
    );
    assert!(with(json!({"tool": "raed_file"})).contains("did you mean `read_file`?"));
    assert!(with(json!({"expect": "maybe"})).contains("`expect` is allow, ask or deny"));
    assert!(with(json!({"context": {"taints": ["wep"]}})).contains("there is no taint `wep`"));
    assert!(with(json!({"contxt": {}})).contains("unknown field `contxt`"));
    assert_eq!(with(json!({"tool": "ask_user", "arguments": {"question": "?"}})), "passes");
    let nobody = json!({"approvers": "nobody"});
    let asked =
        json!({"tool": "ask_user", "arguments": {"question": "?"}, "context": nobody, "expect": "deny"});
    assert_eq!(with(asked), "passes");
}

/// What is demanded, its condition, and what it comes to on each level.
type Demand = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// What rules that demand a level of what holds a call say of each level.
const DEMANDS: &[Demand] = &[
    (
        "a root of its own, and counted",
        r#"unless { context.sandbox == "isolated" }"#,
        &[
            ("descriptor_relative", "deny"),
            ("confined_without_namespaces", "deny"),
            ("confined_uncounted", "deny"),
            ("confined", "deny"),
            ("isolated_uncounted", "deny"),
            ("isolated", "allow"),
            ("component", "deny"),
        ],
    ),
    (
        "a root of its own, counted or not",
        r#"unless { context.sandbox like "isolated*" }"#,
        &[
            ("descriptor_relative", "deny"),
            ("confined_without_namespaces", "deny"),
            ("confined_uncounted", "deny"),
            ("confined", "deny"),
            ("isolated_uncounted", "allow"),
            ("isolated", "allow"),
            ("component", "deny"),
        ],
    ),
    (
        "namespaces",
        r#"when { context.sandbox == "descriptor_relative" || context.sandbox == "confined_without_namespaces" }"#,
        &[
            ("descriptor_relative", "deny"),
            ("confined_without_namespaces", "deny"),
            ("confined_uncounted", "allow"),
            ("confined", "allow"),
            ("isolated_uncounted", "allow"),
            ("isolated", "allow"),
            ("component", "allow"),
        ],
    ),
    (
        "a memory of its own",
        r#"unless { context.sandbox == "component" }"#,
        &[
            ("descriptor_relative", "deny"),
            ("confined_without_namespaces", "deny"),
            ("confined_uncounted", "deny"),
            ("confined", "deny"),
            ("isolated_uncounted", "deny"),
            ("isolated", "deny"),
            ("component", "allow"),
        ],
    ),
];

#[test]
fn a_rule_that_demands_a_level_refuses_every_weaker_one() {
    for (demand, when, levels) in DEMANDS {
        let rules = format!(
            r#"@id("commands-run") permit (principal, action, resource == Tool::"run_command");
               @id("held-well") forbid (principal, action, resource == Tool::"run_command") {when};"#
        );
        let named: Vec<_> = levels.iter().map(|(level, _)| *level).collect();
        assert_eq!(
            named,
            Isolation::ALL.map(Isolation::as_str),
            "{demand}: every level, from weak to strong"
        );
        let fixtures: Vec<_> = levels
            .iter()
            .map(|(level, expect)| {
                let by = if *expect == "deny" { "held-well" } else { "commands-run" };
                json!({"name": format!("{demand}: {level}"), "tool": "run_command", "arguments": {"argv": ["make"]},
                       "expect": expect, "by": [by], "context": {"sandbox": level}})
            })
            .collect();
        let file = json!({ "fixtures": fixtures }).to_string();
        let snapshot = snapshot_of(ToolPolicyRules::default().with_file("mine.cedar", &rules));
        let failed: Vec<_> = test_fixtures(&snapshot, &file)
            .expect("fixtures")
            .into_iter()
            .filter_map(|tested| Some((tested.name, tested.failure?)))
            .collect();
        assert_eq!(failed, [], "{demand}");
    }
}

#[test]
fn words_in_the_reason_of_a_rule_decide_nothing() {
    let rules = r#"@id("no-makes") @reason("the build host has no mounts for that")
        forbid (principal, action, resource == Tool::"run_command");"#;
    let snapshot = snapshot_of(ToolPolicyRules::default().with_file("mine.cedar", rules));
    let fixture =
        json!({"name": "n", "tool": "run_command", "arguments": {"argv": ["make"]}, "expect": "ask"});
    let tested = test_fixtures(&snapshot, &json!({"fixtures": [fixture]}).to_string()).expect("fixtures");
    let failure = tested[0].failure.as_deref().expect("it is forbidden");
    assert!(failure.contains("has no mounts for that"), "{failure}");
    assert!(!failure.contains("names no sandbox"), "{failure}");
}

#[test]
fn a_check_warns_of_tools_that_do_not_exist() {
    let text = r#"@id("a") permit (principal, action == Action::"execute", resource == Tool::"raed_file");
        @id("b") permit (principal, action == Action::"execute", resource == Tool::"read_file")
        when { context.args has pth && context.args.pth like "docs/*" };"#;
    let checked = check(&[PolicyFile::new("mine.cedar", text)], &catalog()).expect("no mistakes");
    let warnings: Vec<String> = checked.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(checked.policies.len(), 2);
    assert!(warnings[1].starts_with("mine.cedar:2:"), "{warnings:?}");
    assert!(warnings[1].contains("impossible"), "{warnings:?}");
    assert_eq!(
        warnings[..1],
        ["mine.cedar:1:1: `a` is about a tool `raed_file` that does not exist; did you mean `read_file`?"]
    );
}

#[test]
fn a_permit_that_asks_where_a_shipped_rule_asks_already_names_the_other_action() {
    let rule = |id: &str, action: &str, before: &str| {
        format!(
            r#"@id("{id}") {before} permit (principal, action == Action::"{action}", resource in Capability::"write_files")
               when {{ context.within.contains("src") }};"#
        )
    };
    let text = [
        rule("src-free", "execute", ""),
        rule("src-two", "execute", r#"@approvals("2")"#),
        rule("src-runs", "execute_unattended", ""),
    ]
    .join("\n");
    let files = [PolicyFile::shipped(), vec![PolicyFile::new("mine.cedar", &text)]].concat();
    let warnings = check(&files, &catalog()).expect("no mistakes").warnings;
    // This catalogue does not have every tool that shipped rules are about.
    let warnings: Vec<String> = warnings
        .iter()
        .map(ToString::to_string)
        .filter(|warning| warning.starts_with("mine.cedar"))
        .collect();
    assert_eq!(
        warnings,
        [
            "mine.cedar:1:1: `src-free` permits what asks a person already, by `changes-of-files`; the action that runs calls \
          without asking is Action::\"execute_unattended\""
        ]
    );

    let explained = |text: &str| {
        let snapshot = snapshot_of(ToolPolicyRules::shipped().with_file("mine.cedar", text));
        let request = recorded(&snapshot, "write_file", &json!({"path": "src/a.py", "content": "x"}));
        explain(snapshot.policies(), &PolicyRequest::from_json(&request).expect("a record")).lines()
    };
    let lines = explained(&rule("src-free", "execute", ""));
    assert_eq!(lines[0], "ask: needs approval");
    let hint = "hint: `src-free` permits the action `execute`, which asks a person; the action that runs calls without asking \
                is Action::\"execute_unattended\"";
    assert!(lines.iter().any(|line| line == hint), "{lines:?}");
    for other in [rule("src-two", "execute", r#"@approvals("2")"#), String::new()] {
        let lines = explained(&other);
        assert!(lines.iter().all(|line| !line.starts_with("hint: ")), "{lines:?}");
    }
}

fn recorded(snapshot: &ToolCallPolicySnapshot, name: &str, arguments: &Value) -> String {
    decide_tool_call(snapshot, &call(name, arguments), &CallEvidence::default()).request.into_exposed()
}

#[test]
fn an_explanation_names_policies_and_the_values_that_they_looked_at() {
    let snapshot = snapshot_of(ToolPolicyRules::shipped());
    let request = recorded(&snapshot, "write_file", &json!({"path": ".git/config"}));
    let request = PolicyRequest::from_json(&request).expect("a record");
    let explained = explain(snapshot.policies(), &request);
    assert_eq!(explained.deciding[0].id.as_str(), "never-into-git");
    assert!(explained.deciding[0].text.contains("forbid"));
    let lines = explained.lines();
    assert_eq!(lines[0], "deny: forbidden");
    assert!(lines[1].starts_with("by never-into-git (never.cedar:"), "{lines:?}");
    assert_eq!(lines[2], r#"looked at context.touches: ["credentials","git"]"#);
}

#[test]
fn an_explanation_shows_members_of_the_context_that_follow_from_others() {
    let rules = ToolPolicyRules::shipped()
        .with_file(
            "src.cedar",
            r#"@id("no-src") forbid (principal, action, resource == Tool::"write_file")
               when { context.folders.contains("src") && context.hour >= 0 && context.weekday >= 1 && context.now > 0 };"#,
        )
        .with_file(
            "lines.cedar",
            r#"@id("no-lines") forbid (principal, action, resource in Capability::"process")
               when { context.shell_line && context has command && context.command like "*ls*" };"#,
        );
    let snapshot = snapshot_of(rules);
    let lines_of = |tool: &str, arguments: &Value| {
        // Monday, 1 January 2024, 07:00 UTC.
        let mut call = call(tool, arguments);
        call.context.now = palyra_types::Timestamp(1_704_092_400_000_000);
        let request = decide_tool_call(&snapshot, &call, &CallEvidence::default()).request;
        explain(snapshot.policies(), &PolicyRequest::from_json(request.expose()).expect("a record")).lines()
    };
    let lines = lines_of("write_file", &json!({"path": "src/a.py", "content": "x"}));
    for wanted in [
        r#"looked at context.folders: ["src"]"#,
        "looked at context.hour: 7",
        "looked at context.now: 1704092400",
        "looked at context.weekday: 1",
    ] {
        assert!(lines.iter().any(|line| line == wanted), "{wanted}: {lines:?}");
    }
    let lines = lines_of("run_command", &json!({"argv": ["sh", "-c", "ls"]}));
    for wanted in [r#"looked at context.command: "sh -c ls""#, "looked at context.shell_line: true"] {
        assert!(lines.iter().any(|line| line == wanted), "{wanted}: {lines:?}");
    }
}

#[test]
fn a_comparison_tells_what_is_newly_decided_otherwise() {
    let before = snapshot_of(ToolPolicyRules::shipped());
    let after = snapshot_of(
        ToolPolicyRules::shipped()
            .with_file(
                "docs.cedar",
                r#"@id("docs") permit (principal, action == Action::"execute_unattended", resource == Tool::"write_file")
                   when { context.args has path && context.args.path like "docs/*" };"#,
            )
            .with_file("no-web.cedar", r#"@id("no-web") forbid (principal, action, resource in Capability::"network");"#),
    );
    let records = [
        recorded(&before, "write_file", &json!({"path": "docs/a.md"})),
        recorded(&before, "write_file", &json!({"path": "src/a.rs"})),
        recorded(&before, "http_fetch", &json!({"url": "https://example.com"})),
        recorded(&before, "read_file", &json!({"path": "a"})),
        "{}".to_owned(),
    ];
    let mut found = PolicyDiff::new(after.policies());
    let changed = records.iter().map(|request| {
        let verdict = re_evaluate(request, before.policies()).map(|judged| (judged.verdict, judged.reason));
        let (verdict, reason) = verdict.unwrap_or((ToolVerdict::Deny, DecisionReason::UnknownTool));
        found.take(RecordedDecision { verdict, reason, request })
    });
    let changed: Vec<_> = changed.map(|change| change.map(|change| change.policies.join(" "))).collect();
    assert_eq!(changed, [Some("docs".to_owned()), None, Some("no-web".to_owned()), None, None]);
    assert_eq!(
        found.counts(),
        DecisionCounts { judged: 4, same: 2, newly_allowed: 1, newly_asked: 0, newly_denied: 1, skipped: 1 }
    );
}

#[test]
fn a_question_that_was_one_too_many_is_compared_as_the_question_it_was() {
    let snapshot = snapshot_of(ToolPolicyRules::shipped());
    let request = recorded(&snapshot, "write_file", &json!({"path": "a"}));
    let mut same = PolicyDiff::new(snapshot.policies());
    let (verdict, reason) = (ToolVerdict::Deny, DecisionReason::NoApprovalChannel);
    assert_eq!(same.take(RecordedDecision { verdict, reason, request: &request }), None);
    let verdict = ToolVerdict::Allow;
    let change =
        same.take(RecordedDecision { verdict, reason: DecisionReason::Permitted, request: &request });
    let change = change.expect("a difference");
    assert_eq!(
        (change.was, change.would_be, change.tool.as_str()),
        (verdict, ToolVerdict::Ask, "write_file")
    );
}
