//! 102: arguments of other names than `path` that name files; a schema declares what they mean.

use palyra_types::tool::{Capability, EffectContract, ToolCatalog, ToolDecision, ToolVerdict};
use serde_json::{Value, json};

use crate::decide::{CallEvidence, decide_tool_call};
use crate::fixture::{ROOT, call, tool};
use crate::rules::ToolPolicyRules;
use crate::snapshot::ToolCallPolicySnapshot;

/// The policies that ship, for a tool with an argument `words` as `property` declares it.
fn judge_of(property: &Value, capabilities: &[Capability]) -> ToolCallPolicySnapshot {
    let declared = tool("git", EffectContract::Pure, capabilities, &json!({ "words": property }));
    let catalog = ToolCatalog::new(vec![declared]).into();
    ToolCallPolicySnapshot::compile(catalog, ToolPolicyRules::shipped(), |_| [0; 32]).expect("a snapshot")
}

fn judge(snapshot: &ToolCallPolicySnapshot, words: &Value) -> ToolDecision {
    let evidence = CallEvidence { workspace: Some(ROOT), ..CallEvidence::default() };
    decide_tool_call(snapshot, &call("git", &json!({ "words": words })), &evidence)
}

fn list(meaning: &str) -> Value {
    json!({"type": "array", "x-palyra-meaning": meaning, "items": {"type": "string"}})
}

const READS: &[Capability] = &[Capability::ReadFiles];

#[test]
fn attack_102_no_word_of_an_option_names_a_credential_unattended() {
    let (options, texts) = (judge_of(&list("option"), READS), judge_of(&list("text"), READS));
    for words in [
        json!(["--no-index", "/dev/null", ".env"]),
        json!(["-h", "", "--", "secrets"]),
        json!(["HEAD:.env"]),
        json!(["HEAD~2:config/.ssh/id_rsa"]),
        json!([":(icase).ENV"]),
        json!(["--contents=.env"]),
        json!(["-f.env"]),
        json!(["-nf./secrets/x"]),
        json!(["-X", ".ssh/id_rsa"]),
        json!(["/etc/passwd"]),
        json!(["-O/etc/shadow"]),
        json!(["--exclude-from=../x"]),
        json!(["../../x"]),
    ] {
        let decision = judge(&options, &words);
        assert_ne!(decision.verdict, ToolVerdict::Allow, "{words}");
        // The control: the same words as text run unattended.
        assert_eq!(judge(&texts, &words).verdict, ToolVerdict::Allow, "{words}");
    }
    for words in [
        json!(["--stat", "HEAD~3"]),
        json!(["main..feature/tea", "--", "src/main.rs"]),
        json!(["-n5", "--format=%h %s", "--since=2.weeks"]),
        json!(["-U3", "HEAD:src/main.rs"]),
        json!(["-n", r"\bfoo\.bar$", "src"]),
        json!(["$user", "a:b"]),
        json!([":/fix the build"]),
    ] {
        assert_eq!(judge(&options, &words).verdict, ToolVerdict::Allow, "{words}");
    }
}

#[test]
fn attack_102_a_declared_meaning_holds_whatever_the_name_is() {
    let path = judge_of(&json!({"type": "string", "x-palyra-meaning": "path"}), READS);
    assert_eq!(judge(&path, &json!(".env")).verdict, ToolVerdict::Ask);
    assert_eq!(judge(&path, &json!("../x")).verdict, ToolVerdict::Deny);
    let undeclared = judge_of(&json!({"type": "string"}), READS);
    assert_eq!(judge(&undeclared, &json!(".env")).verdict, ToolVerdict::Allow, "the control");
}

#[test]
fn attack_102_a_component_cannot_declare_a_path_away() {
    let component = &[Capability::ReadFiles, Capability::Component];
    let hidden = json!({"type": "string", "x-palyra-meaning": "text", "format": "path"});
    let risk = |property: &Value| judge(&judge_of(property, component), &json!(".env")).risk;
    assert_eq!(risk(&hidden), palyra_types::tool::ApprovalRiskLevel::Critical);
    assert_eq!(
        risk(&json!({"type": "string"})),
        palyra_types::tool::ApprovalRiskLevel::Medium,
        "the control"
    );
}
