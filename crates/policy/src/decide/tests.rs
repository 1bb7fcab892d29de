//! Table and property tests of the verdict.

use std::sync::{Arc, LazyLock};

use palyra_types::tool::{Capability, ToolCatalog, ToolName};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::fixture::{ROOT, call, catalog, context, snapshot_of, tool};
use palyra_types::Redacted;
use palyra_types::approval::ApproverPresence;
use palyra_types::posture::Posture;

use crate::posture::PostureRegistry;
use crate::rules::{ToolPolicyRules, re_evaluate};
use crate::snapshot::CompilePolicyError;

fn snapshot() -> &'static ToolCallPolicySnapshot {
    static SNAPSHOT: LazyLock<ToolCallPolicySnapshot> =
        LazyLock::new(|| snapshot_of(ToolPolicyRules::shipped()));
    &SNAPSHOT
}

#[test]
fn a_denial_without_policies_says_that_none_are_in_force() {
    let closed = snapshot_of(ToolPolicyRules { files: Vec::new(), ..ToolPolicyRules::shipped() });
    let decision = decide_tool_call(&closed, &raw("read_file", r#"{"path": "a"}"#), &evidence());
    let said = decision.explanation.expose();
    assert!(said.contains("no policies are in force; `palyra policy check`"), "{said}");
    assert_eq!(decision.reason, DecisionReason::NoRulePermits);
}

fn evidence() -> CallEvidence<'static> {
    CallEvidence { workspace: Some(ROOT), ..CallEvidence::default() }
}

fn raw(name: &str, arguments: &str) -> ToolCall {
    ToolCall {
        tool: ToolName::new(name),
        arguments: Redacted::cleaned(arguments.to_owned()),
        context: context(),
    }
}

fn check(name: &str, arguments: &str, expect: &str) {
    let decision = decide_tool_call(snapshot(), &raw(name, arguments), &evidence());
    let line = format!("{:?} {:?}: {}", decision.verdict, decision.reason, decision.explanation.expose());
    assert_eq!(line, expect);
}

/// Decides by the shipped policies and returns verdict, reason, risk; what is recorded decides the same again.
fn shipped(name: &str, arguments: &Value) -> String {
    let snapshot = snapshot();
    let decision = decide_tool_call(snapshot, &call(name, arguments), &evidence());
    let again = re_evaluate(decision.request.expose(), snapshot.policies()).expect("a recorded request");
    assert_eq!((again.verdict, again.reason), (decision.verdict, decision.reason), "{name} {arguments}");
    format!("{:?} {:?} {:?}", decision.verdict, decision.reason, decision.risk)
}

#[test]
fn a_secret_in_a_call_that_takes_a_credential_leads_to_the_vault() {
    let text = || json!({"type": "string"});
    let schema = json!({"url": text(), "credential": text()});
    let fetch = tool("fetch", EffectContract::Pure, &[Capability::Network], &schema);
    let plain = tool("plain", EffectContract::Pure, &[Capability::Network], &json!({"url": text()}));
    let digest = |text: &str| [u8::try_from(text.len() % 251).unwrap(); 32];
    let catalog = Arc::new(ToolCatalog::new(vec![fetch, plain]));
    let snapshot =
        ToolCallPolicySnapshot::compile(catalog, ToolPolicyRules::shipped(), digest).expect("a snapshot");
    let said = |name: &str, held| {
        let evidence = CallEvidence { held, ..evidence() };
        let decision = decide_tool_call(&snapshot, &call(name, &json!({"url": "https://h/a"})), &evidence);
        (decision.reason, decision.explanation.expose().clone())
    };
    let (reason, why) = said("fetch", ArgumentsHold::Placeholder);
    assert_eq!(reason, DecisionReason::PlaceholderInArguments);
    assert!(why.contains("palyra admin vault put NAME --host HOST") && why.contains("`credential`"), "{why}");
    assert!(said("fetch", ArgumentsHold::Secret).1.contains("palyra admin vault put"));
    assert!(!said("plain", ArgumentsHold::Secret).1.contains("vault"));
}

#[test]
fn a_secret_is_not_saved_again_and_goes_to_no_address_without_tls() {
    let of = |url: &str| credential_mend(&json!({ "url": url }));
    for url in ["http://127.0.0.1:8944/tide?token=<secret:vault>", "HTTP://h/a?b=<secret:github-token>"] {
        let why = of(url);
        assert!(why.contains("over https:// only, so this http:// address takes none"), "{why}");
        assert!(!why.contains("vault put"), "{why}");
    }
    let kept = of("https://h/a?token=<secret:vault>");
    assert!(
        kept.contains("that is known here; where the vault has it")
            && kept.contains("`palyra admin vault list`"),
        "{kept}"
    );
    assert!(!kept.contains("vault put"), "{kept}");
    assert!(of("https://h/a?token=<secret:github-token>").contains("`palyra admin vault put NAME"));
}

/// A secret that is named raises the risk of whatever tool, and rules can speak of it.
#[test]
fn a_credential_is_judged_and_told_apart() {
    let text = || json!({"type": "string"});
    let schema = json!({"path": text(), "credential": text(), "more": {"type": "object"}});
    let reads = tool("read_remote", EffectContract::Pure, &[Capability::ReadFiles], &schema);
    let catalog = Arc::new(ToolCatalog::new(vec![reads]));
    let digest = |text: &str| [u8::try_from(text.len() % 251).unwrap(); 32];
    let judge = |rules: ToolPolicyRules, arguments: &Value| {
        let snapshot =
            ToolCallPolicySnapshot::compile(Arc::clone(&catalog), rules, digest).expect("a snapshot");
        let decision = decide_tool_call(&snapshot, &call("read_remote", arguments), &evidence());
        (decision.verdict, decision.risk, decision.request.expose().clone())
    };
    let plain = json!({"path": "a.txt"});
    let (verdict, risk, request) = judge(ToolPolicyRules::shipped(), &plain);
    assert_eq!((verdict, risk), (ToolVerdict::Allow, ApprovalRiskLevel::Low));
    assert!(!request.contains("\"vault\""), "{request}");
    for arguments in [
        json!({"path": "a.txt", "credential": "forge"}),
        json!({"path": "a.txt", "more": {"inner": {"credentials": ["forge"]}}}),
    ] {
        let (verdict, risk, request) = judge(ToolPolicyRules::shipped(), &arguments);
        assert_eq!((verdict, risk), (ToolVerdict::Ask, ApprovalRiskLevel::High), "{arguments}");
        assert!(request.contains(r#""touches":["vault"]"#), "{request}");
        let mut rules = ToolPolicyRules::shipped();
        let text = "@id(\"no-secrets\")\nforbid (principal, action, resource) when { context.touches.contains(\"vault\") };";
        rules.files.push(crate::PolicyFile::new("own.cedar", text));
        assert_eq!(judge(rules.clone(), &arguments).0, ToolVerdict::Deny);
        assert_eq!(judge(rules, &plain).0, ToolVerdict::Allow, "the control");
    }
}

/// A person who reads the question learns which rule asks, not which one permits what is approved.
#[test]
fn a_call_that_a_rule_of_ones_own_makes_ask_names_that_rule() {
    let own = r#"@id("else-asks")
        forbid (principal, action == Action::"execute_unattended", resource)
        unless { context.within.contains("src") };"#;
    let mut rules = ToolPolicyRules::shipped();
    rules.files.push(crate::PolicyFile::new("own.cedar", own));
    let snapshot = snapshot_of(rules);
    let why = |path: &str| {
        let decision = decide_tool_call(&snapshot, &call("read_file", &json!({"path": path})), &evidence());
        (decision.verdict, decision.explanation.expose().clone())
    };
    let (verdict, said) = why("docs/settings.txt");
    assert_eq!(verdict, ToolVerdict::Ask);
    assert!(said.contains("`else-asks`") && !said.contains("reads-of-credentials"), "{said}");
    assert_eq!(why("src/a.py").0, ToolVerdict::Allow, "the control");
    assert!(shipped_reason("read_file", ".env").contains("reads-of-credentials"), "the control");
}

fn shipped_reason(tool: &str, path: &str) -> String {
    let decision = decide_tool_call(snapshot(), &call(tool, &json!({"path": path})), &evidence());
    decision.explanation.expose().clone()
}

#[test]
fn what_ships_decides_so() {
    for (name, arguments, expect) in [
        ("read_file", json!({"path": "src/main.rs"}), "Allow Permitted Low"),
        ("read_file", json!({"path": "/home/me/desk/a"}), "Allow Permitted Low"),
        ("read_file", json!({"path": ".git/hooks/pre-commit"}), "Allow Permitted Low"),
        ("read_file", json!({"path": ".env"}), "Ask NeedsApproval Critical"),
        ("read_file", json!({"path": "../x"}), "Deny Forbidden Critical"),
        ("read_file", json!({"path": "/etc/passwd"}), "Deny Forbidden Critical"),
        ("read_file", json!({"path": "~/.config/palyra/key"}), "Deny Forbidden Critical"),
        ("write_file", json!({"path": "src/main.rs", "content": ""}), "Ask NeedsApproval Medium"),
        ("write_file", json!({"path": ".envrc"}), "Ask NeedsApproval Critical"),
        ("write_file", json!({"path": ".gitlab-ci.yml"}), "Ask NeedsApproval Critical"),
        ("write_file", json!({"path": ".gdbinit"}), "Ask NeedsApproval Critical"),
        ("write_file", json!({"path": "Makefile"}), "Ask NeedsApproval Medium"),
        ("write_file", json!({"path": "AGENTS.md"}), "Ask NeedsApproval Medium"),
        ("read_file", json!({"path": "Makefile"}), "Allow Permitted Low"),
        ("read_file", json!({"path": "prod.tfvars"}), "Ask NeedsApproval Critical"),
        ("write_file", json!({"path": ".vscode/tasks.json"}), "Ask NeedsApproval Critical"),
        ("write_file", json!({"path": ".bashrc"}), "Ask NeedsApproval Critical"),
        ("write_file", json!({"path": "deploy/id_rsa"}), "Ask NeedsApproval Critical"),
        ("write_file", json!({"path": ".git/hooks/pre-commit"}), "Deny Forbidden Critical"),
        ("write_file", json!({"path": "x/../.GIT/config"}), "Deny Forbidden Critical"),
        ("write_file", json!({"path": "../.ssh/authorized_keys"}), "Deny Forbidden Critical"),
        ("apply_patch", json!({"patch": "--- a/src/a.rs\n+++ b/src/a.rs\n"}), "Ask NeedsApproval Medium"),
        ("apply_patch", json!({"patch": "--- /dev/null\n+++ b/.git/hooks/x\n"}), "Deny Forbidden Critical"),
        ("apply_patch", json!({"patch": "--- a//dev/null\n+++ b//dev/null\n"}), "Deny Forbidden Critical"),
        ("apply_patch", json!({"patch": "rename from x\nrename to /dev/null\n"}), "Deny Forbidden Critical"),
        (
            "apply_patch",
            json!({"patch": "*** Update File: a\n*** Move to: ../b\n"}),
            "Deny Forbidden Critical",
        ),
        ("apply_patch", json!({"patch": "rename from a\nrename to .zshrc\n"}), "Ask NeedsApproval Critical"),
        ("run_command", json!({"argv": ["cargo", "test"]}), "Ask NeedsApproval High"),
        ("run_command", json!({"argv": ["/usr/bin/env"]}), "Ask NeedsApproval High"),
        ("run_command", json!({"argv": ["cat", "/etc/shadow"]}), "Ask NeedsApproval Critical"),
        (
            "run_command",
            json!({"argv": ["sh", "-c", "cat ~/.local/state/palyra/key"]}),
            "Deny Forbidden Critical",
        ),
        ("run_command", json!({"argv": ["sh", "-c", "ls"]}), "Ask NeedsApproval High"),
        ("run_command", json!({"argv": ["/bin/bash", "-lc", "ls"]}), "Ask NeedsApproval High"),
        ("run_command", json!({"argv": ["bash", "-ce", "ls"]}), "Ask NeedsApproval High"),
        ("run_command", json!({"argv": ["timeout", "5", "sh", "-c", "ls"]}), "Ask NeedsApproval High"),
        ("run_command", json!({"argv": ["bash", "build.sh"]}), "Ask NeedsApproval High"),
        ("run_command", json!({"argv": ["bash", "build.sh", "--x", "doc", "y"]}), "Ask NeedsApproval High"),
        ("http_fetch", json!({"url": "https://example.com/"}), "Ask NeedsApproval High"),
        ("memory_write", json!({"text": "x"}), "Allow Permitted Medium"),
        ("ask_user", json!({"question": "x"}), "Allow Permitted Low"),
        ("use_secret", json!({"name": "x"}), "Deny NoRulePermits High"),
        ("mystery", json!({"text": "x"}), "Deny NoRulePermits Medium"),
    ] {
        assert_eq!(shipped(name, &arguments), expect, "{name} {arguments}");
    }
}

#[test]
fn a_question_of_critical_risk_says_why_it_is_critical() {
    let why = |name: &str, arguments: &Value| {
        let decision = decide_tool_call(snapshot(), &raw(name, &arguments.to_string()), &evidence());
        let reason = decision.explanation.expose().split_once("; the risk is critical, because ");
        reason.map(|(_, why)| why.to_owned())
    };
    for (name, arguments, expect) in [
        (
            "run_command",
            json!({"argv": ["sh", "-c", "for x in 1 2; do echo \"$HOME\"; done"]}),
            Some("what `$HOME` leads to is not known before it runs"),
        ),
        (
            "run_command",
            json!({"argv": ["cat", "/etc/shadow"]}),
            Some("it names a place outside of the workspace, and it names a file that holds credentials"),
        ),
        (
            "write_file",
            json!({"path": ".vscode/tasks.json"}),
            Some("it changes a file that runs by itself later"),
        ),
        ("write_file", json!({"path": "a"}), None),
    ] {
        assert_eq!(why(name, &arguments).as_deref(), expect, "{arguments}");
    }
}

#[test]
fn an_explanation_names_policies_and_reasons() {
    check(
        "read_file",
        r#"{"path": "a"}"#,
        "Allow Permitted: `read_file` is permitted by `reads-in-the-workspace` \
         (it only reads, and only inside the workspace)",
    );
    check(
        "write_file",
        r#"{"path": "a"}"#,
        "Ask NeedsApproval: `write_file` needs an approval by `changes-of-files` (it changes files)",
    );
    check(
        "write_file",
        r#"{"path": ".git/config"}"#,
        "Deny Forbidden: policy forbids this call of `write_file` by `never-into-git` \
         (what lies in .git runs with the next git command); the same call would be denied again",
    );
    check(
        "mystery",
        r#"{"text": "a"}"#,
        "Deny NoRulePermits: policy denies this call of `mystery`, no rule permits it; \
         the same call would be denied again",
    );
    let decision =
        decide_tool_call(snapshot(), &raw("read_file", r#"{"path": "a", "from": 2}"#), &evidence());
    assert_eq!(decision.policy_digest, snapshot().digest());
    assert_eq!((decision.contract, decision.parallelism), (EffectContract::Pure, Parallelism::Parallel));
    assert_eq!((decision.tool_version, decision.taints), (1, Taints::WORKSPACE));
    assert_eq!((decision.deadline.as_secs(), decision.output_bytes_max), (9, 4096));
}

#[test]
fn a_path_outside_leads_to_what_that_tool_can_still_do() {
    let said = |name: &str, arguments: &str| {
        decide_tool_call(snapshot(), &raw(name, arguments), &evidence()).explanation.expose().clone()
    };
    let read = said("read_file", r#"{"path": "/etc/a"}"#);
    assert!(read.contains("--attach PATH"), "{read}");
    // A file that is to be written is not attached.
    let written = said("write_file", r#"{"path": "/etc/a", "content": "b"}"#);
    assert!(written.contains("`palyra run --workspace DIR`") && !written.contains("attach"), "{written}");
}

#[test]
fn without_a_rule_every_tool_is_denied() {
    let snapshot = snapshot_of(ToolPolicyRules::default());
    for spec in catalog().iter() {
        let arguments = match spec.name.as_str() {
            "run_command" => json!({"argv": ["a"]}),
            _ => {
                let name = spec.schema["required"][0].as_str().expect("an argument");
                json!({name: "a"})
            }
        };
        let decision = decide_tool_call(&snapshot, &call(spec.name.as_str(), &arguments), &evidence());
        assert_eq!((decision.verdict, decision.reason), (ToolVerdict::Deny, DecisionReason::NoRulePermits));
    }
}

#[test]
fn aliases_case_and_unicode_twins_are_unknown_tools() {
    let names = "`apply_patch`, `ask_user`, `http_fetch`, `memory_write`, `mystery`, `read_file`, `run_command`, \
                 `use_secret`, `write_file`";
    for (name, shown) in [
        ("Read_File", "Read_File"),
        ("readFile", "readFile"),
        ("read-file", "read-file"),
        (" read_file", " read_file"),
        ("read_file ", "read_file "),
        ("read_file\0", "read_file\\u{0}"),
        ("functions.read_file", "functions.read_file"),
        ("read_f\u{0456}le", "read_f\\u{456}le"),
        ("read\u{200b}_file", "read\\u{200b}_file"),
        ("\u{ff52}ead_file", "\\u{ff52}ead_file"),
        ("", ""),
    ] {
        let near = if name.is_empty() { "" } else { "did you mean `read_file`? " };
        let expect = format!(
            "Deny UnknownTool: there is no tool `{shown}`; {near}use one of these exact names: {names}"
        );
        check(name, r#"{"path": "a"}"#, &expect);
    }
    let decision = decide_tool_call(snapshot(), &raw("rm", "{}"), &evidence());
    assert_eq!(decision.contract, EffectContract::Opaque);
    assert_eq!(decision.output_bytes_max, 0);
}

#[test]
fn arguments_that_do_not_fit_are_denied_with_the_place_and_the_mend() {
    let takes = "It takes `path` (string, required), `from` (integer)";
    check(
        "read_file",
        r#"{"path": ""}"#,
        &format!(
            "Deny InvalidArguments: the arguments of `read_file` do not fit: \
             `/path`: the value is shorter than 1 character. {takes}"
        ),
    );
    check(
        "read_file",
        r#"{"path": "a", "approved": true}"#,
        &format!(
            "Deny InvalidArguments: the arguments of `read_file` do not fit: \
             the arguments: unknown `approved`. {takes}"
        ),
    );
    check(
        "read_file",
        r#"{"path": "a", "path": "b"}"#,
        "Deny InvalidArguments: the arguments of `read_file` do not fit: they are not valid JSON: \
         the key `path` is said twice at line 1 column 20; send one complete JSON object",
    );
    check(
        "read_file",
        "",
        "Deny InvalidArguments: the arguments of `read_file` do not fit: they are not valid JSON: \
         EOF while parsing a value at line 1 column 0; send one complete JSON object",
    );
}

#[test]
fn an_explanation_stays_short_and_repeats_no_large_content() {
    let canary = "canary-".repeat(50_000);
    for arguments in [
        format!(r#"{{"path": ["{canary}"]}}"#),
        format!(r#"{{"path": "a", "{canary}": 1}}"#),
        format!(r#"{{"path": "a", "from": "{canary}"}}"#),
        format!(r#"{{"path": "{canary}"#),
    ] {
        let decision = decide_tool_call(snapshot(), &raw("read_file", &arguments), &evidence());
        assert_eq!(decision.reason, DecisionReason::InvalidArguments);
        assert!(decision.explanation.expose().len() < 500, "{}", decision.explanation.expose());
    }
    let decision = decide_tool_call(snapshot(), &raw(&canary, "{}"), &evidence());
    assert!(decision.explanation.expose().len() < 500);
}

#[test]
fn a_catalogue_with_a_bad_name_or_schema_gives_no_snapshot() {
    for name in ["", "Read", "1read", "read-file", "_read", "r\u{e9}ad", &"r".repeat(65)] {
        let catalog = ToolCatalog::new(vec![tool(
            name,
            EffectContract::Pure,
            &[Capability::ReadFiles],
            &json!({"path": {}}),
        )]);
        let refused =
            ToolCallPolicySnapshot::compile(catalog.into(), ToolPolicyRules::shipped(), |_| [0; 32]);
        assert!(matches!(refused, Err(CompilePolicyError::Name { .. })), "{name:?}");
    }
    let mut broken = tool("read", EffectContract::Pure, &[Capability::ReadFiles], &json!({"path": {}}));
    broken.schema = json!({"type": "object", "properties": {"path": {"pattern": "("}}});
    let refused = ToolCallPolicySnapshot::compile(
        ToolCatalog::new(vec![broken]).into(),
        ToolPolicyRules::shipped(),
        |_| [0; 32],
    );
    assert!(matches!(refused, Err(CompilePolicyError::Schema { .. })));
}

#[test]
fn the_canonical_text_covers_catalogue_and_rules() {
    let shipped = snapshot();
    let bare = snapshot_of(ToolPolicyRules::default());
    let smaller =
        ToolCallPolicySnapshot::compile(Arc::new(ToolCatalog::default()), ToolPolicyRules::shipped(), |_| {
            [0; 32]
        })
        .expect("a snapshot");
    let postures = PostureRegistry::default().with(&ToolName::new("a"), Posture::Ask);
    let postured = snapshot_of(ToolPolicyRules { postures, ..ToolPolicyRules::shipped() });
    assert_ne!(shipped.canonical_text(), postured.canonical_text());
    assert_eq!(shipped.canonical_text(), snapshot_of(ToolPolicyRules::shipped()).canonical_text());
    assert_ne!(shipped.canonical_text(), bare.canonical_text());
    assert_ne!(shipped.canonical_text(), smaller.canonical_text());
}

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|b| json!(b)),
        any::<i64>().prop_map(|n| json!(n)),
        any::<f64>().prop_map(|n| json!(n)),
        ".{0,12}".prop_map(|s| json!(s)),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
            prop::collection::btree_map("(path|from|.{0,6})", inner, 0..4)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_text_gets_a_verdict_without_a_panic(name in "(read_file|write_file|.{0,12})", text in "\\PC{0,64}") {
        let decision = decide_tool_call(snapshot(), &raw(&name, &text), &evidence());
        prop_assert!(!decision.explanation.expose().is_empty());
    }

    #[test]
    fn any_json_gets_a_verdict_and_allow_means_that_it_fits(value in any_json(), cut in any::<prop::sample::Index>()) {
        let text = value.to_string();
        let decision = decide_tool_call(snapshot(), &raw("read_file", &text), &CallEvidence::default());
        let fits = value.as_object().is_some_and(|map| {
            map.get("path").and_then(|p| p.as_str()).is_some_and(|p| !p.is_empty())
                && map.get("from").is_none_or(|n| n.as_f64().is_some_and(|n| n.fract() == 0.0 && n >= 1.0))
                && map.keys().all(|key| key == "path" || key == "from")
        });
        prop_assert_eq!(decision.reason != DecisionReason::InvalidArguments, fits, "{}", text);
        prop_assert!(fits || decision.verdict == ToolVerdict::Deny);

        let at = (0..=cut.index(text.len() + 1)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let _ = decide_tool_call(snapshot(), &raw("read_file", &text[..at]), &evidence());
    }

    #[test]
    fn a_tool_outside_the_catalogue_is_never_allowed(name in ".{0,24}", arguments in any_json()) {
        prop_assume!(catalog().get(&ToolName::new(&name)).is_none());
        let decision = decide_tool_call(snapshot(), &call(&name, &arguments), &evidence());
        prop_assert_eq!(decision.verdict, ToolVerdict::Deny);
        prop_assert_eq!(decision.reason, DecisionReason::UnknownTool);
    }
}

/// To end a job is no change that anybody is asked about: it ends what the conversation itself started.
#[test]
fn the_end_of_a_job_is_not_asked_about() {
    let schema = json!({"job": {"type": "string"}});
    let tools = ["stop_job", "stop_jobs"]
        .map(|name| tool(name, EffectContract::Probe, &[Capability::ReadFiles], &schema));
    let digest = |text: &str| [u8::try_from(text.len() % 251).unwrap(); 32];
    let catalog = Arc::new(ToolCatalog::new(tools.to_vec()));
    let snapshot =
        ToolCallPolicySnapshot::compile(catalog, ToolPolicyRules::shipped(), digest).expect("a snapshot");
    let verdict =
        |name: &str| decide_tool_call(&snapshot, &call(name, &json!({"job": "job-1"})), &evidence()).verdict;
    assert_eq!(verdict("stop_job"), ToolVerdict::Allow);
    assert_eq!(verdict("stop_jobs"), ToolVerdict::Ask, "the control: another tool of this contract");
}

/// A page or a file that a run has read may contain the words that it is to remember.
#[test]
fn only_a_run_that_has_read_nothing_remembers_unasked() {
    let snapshot = snapshot_of(ToolPolicyRules::shipped());
    let verdict = |taints, approvers| {
        let mut call = call("memory_write", &json!({"text": "likes tea"}));
        call.context.taints = taints;
        call.context.approvers = approvers;
        decide_tool_call(&snapshot, &call, &evidence()).verdict
    };
    assert_eq!(verdict(Taints::NONE, ApproverPresence::Inbox), ToolVerdict::Allow);
    assert_eq!(verdict(Taints::NONE, ApproverPresence::Nobody), ToolVerdict::Allow);
    for (label, name) in Taints::NAMED {
        assert_eq!(verdict(label, ApproverPresence::Inbox), ToolVerdict::Ask, "{name}");
        assert_eq!(verdict(label, ApproverPresence::Nobody), ToolVerdict::Deny, "{name}");
    }
}

#[test]
fn a_denial_that_no_rule_permits_names_the_rule_that_came_nearest_and_what_it_wanted() {
    let rule = "@id(\"one-secret\")\npermit (principal, action == Action::\"execute\", resource == Tool::\"use_secret\") \
                when { context.args has name && context.args.name == \"notes\" };";
    let snapshot = snapshot_of(ToolPolicyRules::shipped().with_file("own.cedar", rule));
    let decide =
        |name: &str| decide_tool_call(&snapshot, &call("use_secret", &json!({ "name": name })), &evidence());
    let decision = decide("forge");
    assert_eq!(decision.reason, DecisionReason::NoRulePermits);
    let told = decision.explanation.expose();
    assert!(told.contains("`one-secret` would ask a person, but its condition `when"), "{told}");
    assert!(!decide("notes").explanation.expose().contains("condition"), "the control asks");
    let request = crate::request::PolicyRequest::from_json(decision.request.expose());
    let lines = crate::explain::explain(snapshot.policies(), &request.expect("a request")).lines();
    assert!(lines.iter().any(|line| line.starts_with("near: `one-secret` would ask a person")), "{lines:?}");
}

#[test]
fn a_line_for_a_shell_asks_by_a_rule_of_its_own_that_no_setting_covers() {
    let (line, plain) = (json!({"argv": ["sh", "-c", "ls"]}), json!({"argv": ["ls"]}));
    let decision = decide_tool_call(snapshot(), &call("run_command", &line), &evidence());
    let told = decision.explanation.expose();
    assert!(told.contains("needs an approval by `shell-lines` (it hands a line to a shell"), "{told}");
    let request = crate::request::PolicyRequest::from_json(decision.request.expose());
    let lines = crate::explain::explain(snapshot().policies(), &request.expect("a request")).lines();
    assert!(lines.iter().any(|line| line.starts_with("by shell-lines (changes.cedar")), "{lines:?}");

    let always = snapshot_of(ToolPolicyRules {
        postures: PostureRegistry::default().with(&ToolName::new("run_command"), Posture::AlwaysAllow),
        ..ToolPolicyRules::shipped()
    });
    let verdict = |arguments| decide_tool_call(&always, &call("run_command", arguments), &evidence()).verdict;
    assert_eq!(verdict(&line), ToolVerdict::Ask);
    assert_eq!(verdict(&plain), ToolVerdict::Allow, "the control: a plain command by the same setting");
}
