//! Table and property tests of the verdict.

use std::sync::Arc;
use std::time::Duration;

use palyra_types::tool::{ApprovalRiskLevel, ToolCatalog, ToolName};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::rules::ToolPolicyRules;
use crate::snapshot::CompilePolicyError;

fn tool(name: &str, contract: EffectContract, risk: ApprovalRiskLevel) -> ToolSpec {
    ToolSpec {
        name: ToolName::new(name),
        version: 1,
        description: "Does something.".to_owned(),
        schema: json!({
            "type": "object", "additionalProperties": false, "required": ["path"],
            "properties": {"path": {"type": "string", "minLength": 1}, "from": {"type": "integer", "minimum": 1}},
        }),
        contract,
        parallelism: Parallelism::Parallel,
        risk,
        deadline: Duration::from_secs(9),
        output_bytes_max: 4096,
    }
}

fn catalog() -> Arc<ToolCatalog> {
    Arc::new(ToolCatalog::new(vec![
        tool("read_file", EffectContract::Pure, ApprovalRiskLevel::Low),
        tool("peek_outside", EffectContract::Pure, ApprovalRiskLevel::Critical),
        tool("read_page", EffectContract::Pure, ApprovalRiskLevel::High),
        tool("write_file", EffectContract::Opaque, ApprovalRiskLevel::Medium),
        tool("quiet_mail", EffectContract::Opaque, ApprovalRiskLevel::Low),
    ]))
}

fn snapshot_of(catalog: Arc<ToolCatalog>, rules: ToolPolicyRules) -> ToolCallPolicySnapshot {
    ToolCallPolicySnapshot::compile(catalog, rules, |text| [u8::try_from(text.len() % 251).unwrap(); 32])
        .expect("snapshot")
}

fn snapshot() -> ToolCallPolicySnapshot {
    snapshot_of(catalog(), ToolPolicyRules::shipped())
}

fn call(name: &str, arguments: &str) -> ToolCall {
    ToolCall { tool: ToolName::new(name), arguments: arguments.into() }
}

fn check(name: &str, arguments: &str, expect: &str) {
    let decision = decide_tool_call(&snapshot(), &call(name, arguments));
    let line = format!("{:?} {:?}: {}", decision.verdict, decision.reason, decision.explanation.expose());
    assert_eq!(line, expect);
}

#[test]
fn a_pure_low_risk_call_with_fitting_arguments_is_allowed() {
    check(
        "read_file",
        r#"{"path": "a"}"#,
        "Allow Permitted: `read_file` is permitted by `reads-in-the-workspace`",
    );
    let decision = decide_tool_call(&snapshot(), &call("read_file", r#"{"path": "a", "from": 2}"#));
    assert_eq!(decision.policy_digest, snapshot().digest());
    assert_eq!(decision.contract, EffectContract::Pure);
    assert_eq!(decision.parallelism, Parallelism::Parallel);
    assert_eq!(decision.deadline, Duration::from_secs(9));
    assert_eq!(decision.output_bytes_max, 4096);
}

#[test]
fn everything_else_is_denied_with_a_way_on() {
    for name in ["peek_outside", "read_page", "write_file", "quiet_mail"] {
        let expect = format!(
            "Deny NoRulePermits: policy denies `{name}`, no rule permits it; \
             repeating the call changes nothing, permitted are `read_file`"
        );
        check(name, r#"{"path": "a"}"#, &expect);
    }
}

#[test]
fn without_a_rule_every_tool_is_denied() {
    let snapshot = snapshot_of(catalog(), ToolPolicyRules { permits: Vec::new() });
    for spec in catalog().iter() {
        let decision = decide_tool_call(&snapshot, &call(spec.name.as_str(), r#"{"path": "a"}"#));
        assert_eq!((decision.verdict, decision.reason), (ToolVerdict::Deny, DecisionReason::NoRulePermits));
        assert!(decision.explanation.expose().contains("answer without them"));
    }
}

#[test]
fn aliases_case_and_unicode_twins_are_unknown_tools() {
    let names = "`peek_outside`, `quiet_mail`, `read_file`, `read_page`, `write_file`";
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
        let expect =
            format!("Deny UnknownTool: there is no tool `{shown}`; use one of these exact names: {names}");
        check(name, r#"{"path": "a"}"#, &expect);
    }
    let decision = decide_tool_call(&snapshot(), &call("rm", "{}"));
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
        let decision = decide_tool_call(&snapshot(), &call("read_file", &arguments));
        assert_eq!(decision.reason, DecisionReason::InvalidArguments);
        assert!(decision.explanation.expose().len() < 500, "{}", decision.explanation.expose());
    }
    let decision = decide_tool_call(&snapshot(), &call(&canary, "{}"));
    assert!(decision.explanation.expose().len() < 500);
}

#[test]
fn a_catalogue_with_a_bad_name_or_schema_gives_no_snapshot() {
    for name in ["", "Read", "1read", "read-file", "_read", "r\u{e9}ad", &"r".repeat(65)] {
        let catalog = ToolCatalog::new(vec![tool(name, EffectContract::Pure, ApprovalRiskLevel::Low)]);
        let refused =
            ToolCallPolicySnapshot::compile(catalog.into(), ToolPolicyRules::shipped(), |_| [0; 32]);
        assert!(matches!(refused, Err(CompilePolicyError::Name { .. })), "{name:?}");
    }
    let mut broken = tool("read", EffectContract::Pure, ApprovalRiskLevel::Low);
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
    let bare = snapshot_of(catalog(), ToolPolicyRules { permits: Vec::new() });
    let smaller = snapshot_of(Arc::new(ToolCatalog::default()), ToolPolicyRules::shipped());
    assert_eq!(shipped.canonical_text(), snapshot().canonical_text());
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
        let decision = decide_tool_call(&snapshot(), &call(&name, &text));
        prop_assert!(!decision.explanation.expose().is_empty());
    }

    #[test]
    fn any_json_gets_a_verdict_and_allow_means_that_it_fits(value in any_json(), cut in any::<prop::sample::Index>()) {
        let text = value.to_string();
        let decision = decide_tool_call(&snapshot(), &call("read_file", &text));
        let fits = value.as_object().is_some_and(|map| {
            map.get("path").and_then(|p| p.as_str()).is_some_and(|p| !p.is_empty())
                && map.get("from").is_none_or(|n| n.as_f64().is_some_and(|n| n.fract() == 0.0 && n >= 1.0))
                && map.keys().all(|key| key == "path" || key == "from")
        });
        prop_assert_eq!(decision.verdict == ToolVerdict::Allow, fits, "{}", text);

        let at = (0..=cut.index(text.len() + 1)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let _ = decide_tool_call(&snapshot(), &call("read_file", &text[..at]));
    }

    #[test]
    fn a_tool_outside_the_catalogue_is_never_allowed(name in ".{0,24}", arguments in any_json()) {
        prop_assume!(catalog().get(&ToolName::new(&name)).is_none());
        let decision = decide_tool_call(&snapshot(), &call(&name, &arguments.to_string()));
        prop_assert_eq!(decision.verdict, ToolVerdict::Deny);
        prop_assert_eq!(decision.reason, DecisionReason::UnknownTool);
    }
}
