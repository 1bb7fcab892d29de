//! Who may change a verdict, and in which direction.

use std::sync::LazyLock;

use palyra_types::approval::{ArgumentRule, ArgumentShape, StoredGrantRecord};
use palyra_types::posture::{PostureChanged, PostureRecord, PostureScope};
use palyra_types::tool::{ToolCall, ToolName};
use palyra_types::{Seq, Timestamp};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::decide::{ArgumentsHold, CallEvidence, decide_tool_call};
use crate::fixture::{ROOT, call, context, granted, snapshot_of};
use crate::skills::{ActiveSkill, SkillStanding};
use crate::snapshot::ToolCallPolicySnapshot;

static SHIPPED: LazyLock<ToolCallPolicySnapshot> = LazyLock::new(|| snapshot_of(ToolPolicyRules::shipped()));

fn evidence() -> CallEvidence<'static> {
    CallEvidence { workspace: Some(ROOT), ..CallEvidence::default() }
}

/// Decides by a set of policies of one's own.
fn by(text: &str, call: &ToolCall, evidence: &CallEvidence<'_>) -> String {
    let snapshot = snapshot_of(ToolPolicyRules::default().with_file("mine.cedar", text));
    let decision = decide_tool_call(&snapshot, call, evidence);
    let again = re_evaluate(decision.request.expose(), snapshot.policies()).expect("a record");
    // Who has a role is known where a call is decided, and is not part of the record.
    let terms =
        |terms: ApprovalTerms| (terms.approvers.is_some(), ApprovalTerms { approvers: None, ..terms });
    assert_eq!(
        (again.verdict, again.reason, terms(again.terms)),
        (decision.verdict, decision.reason, terms(decision.approval))
    );
    format!("{:?} {:?}", decision.verdict, decision.reason)
}

fn nobody(mut call: ToolCall) -> ToolCall {
    call.context.approvers = ApproverPresence::Nobody;
    call
}

const ASKS: &str = r#"@id("asks") permit (principal, action == Action::"execute", resource);"#;

#[test]
fn two_outcomes_of_cedar_become_three() {
    let write = call("write_file", &json!({"path": "a"}));
    let runs = r#"@id("runs") permit (principal, action == Action::"execute_unattended", resource);"#;
    let both = r#"@id("both") permit (principal, action, resource);"#;
    let no_unattended = r#"@id("no") forbid (principal, action == Action::"execute_unattended", resource);"#;
    let no = r#"@id("no") forbid (principal, action, resource);"#;
    assert_eq!(by("", &write, &evidence()), "Deny NoRulePermits");
    assert_eq!(by(ASKS, &write, &evidence()), "Ask NeedsApproval");
    assert_eq!(by(runs, &write, &evidence()), "Allow Permitted");
    assert_eq!(by(both, &write, &evidence()), "Allow Permitted");
    assert_eq!(by(&format!("{both}\n{no_unattended}"), &write, &evidence()), "Ask NeedsApproval");
    assert_eq!(by(&format!("{both}\n{no}"), &write, &evidence()), "Deny Forbidden");
}

#[test]
fn what_cannot_be_evaluated_denies_even_beside_a_permit() {
    let both = r#"@id("both") permit (principal, action, resource);"#;
    let read = call("read_file", &json!({"path": "a", "from": i64::MAX}));
    for action in ["", " == Action::\"execute_unattended\"", " == Action::\"execute\""] {
        for effect in ["permit", "forbid"] {
            let overflows = format!(
                "{both}\n@id(\"odd\") {effect} (principal, action{action}, resource) \
                 when {{ context.args has from && context.args.from + 1 > 0 }};"
            );
            let expect = if action.ends_with("\"execute\"") { "Allow Permitted" } else { "Deny PolicyError" };
            assert_eq!(by(&overflows, &read, &evidence()), expect, "{overflows}");
        }
    }
    let asked = format!(
        "{ASKS}\n@id(\"odd\") forbid (principal, action == Action::\"execute\", resource) \
         when {{ context.args has from && context.args.from + 1 > 0 }};"
    );
    assert_eq!(by(&asked, &read, &evidence()), "Deny PolicyError");
    let small = call("read_file", &json!({"path": "a", "from": 1}));
    assert_eq!(by(&asked, &small, &evidence()), "Deny Forbidden");
    assert_eq!(by(&asked, &call("read_file", &json!({"path": "a"})), &evidence()), "Ask NeedsApproval");
}

#[test]
fn terms_come_from_annotations_and_the_strictest_holds() {
    let write = call("write_file", &json!({"path": "a"}));
    let terms = |texts: &[&str]| {
        let text: String = texts
            .iter()
            .enumerate()
            .map(|(at, text)| {
                format!(
                    "@id(\"p{at}\") {text} permit (principal, action == Action::\"execute\", resource);\n"
                )
            })
            .collect();
        let snapshot = snapshot_of(ToolPolicyRules::default().with_file("mine.cedar", &text));
        let terms = decide_tool_call(&snapshot, &write, &evidence()).approval;
        format!("{}s {:?} {:?} {}", terms.span.as_secs(), terms.at_expiry, terms.separation, terms.needed)
    };
    assert_eq!(terms(&[""]), "86400s Deny AnyPerson 1");
    assert_eq!(
        terms(&["@expires(\"90m\") @at_expiry(\"park\") @approvals(\"2\") @separation(\"another_person\")"]),
        "5400s Park AnotherPerson 2"
    );
    assert_eq!(terms(&["", "@expires(\"30d\") @at_expiry(\"park\")"]), "2592000s Park AnyPerson 1");
    assert_eq!(
        terms(&["@expires(\"2h\") @approvals(\"3\")", "@expires(\"1h\") @separation(\"another_person\")"]),
        "3600s Deny AnotherPerson 3"
    );
    assert_eq!(terms(&["@at_expiry(\"park\")", "@at_expiry(\"deny\")"]), "86400s Deny AnyPerson 1");
}

#[test]
fn where_nobody_could_answer_an_ask_is_a_denial_unless_it_parks() {
    let write = nobody(call("write_file", &json!({"path": "a"})));
    assert_eq!(by(ASKS, &write, &evidence()), "Deny NoApprovalChannel");
    let parks = ASKS.replace("permit", "@at_expiry(\"park\") permit");
    assert_eq!(by(&parks, &write, &evidence()), "Ask NeedsApproval");
    let question = call("ask_user", &json!({"question": "?"}));
    let told = |call: &ToolCall| decide_tool_call(&SHIPPED, call, &evidence()).reason;
    assert_eq!(told(&question), DecisionReason::Permitted);
    assert_eq!(told(&nobody(question)), DecisionReason::NoApprovalChannel);
}

#[test]
fn what_the_arguments_hold_denies_before_any_policy_is_asked() {
    let both = ToolPolicyRules::default().with_file("m", r#"@id("b") permit (principal, action, resource);"#);
    let snapshot = snapshot_of(both);
    for (held, expect) in [
        (ArgumentsHold::Secret, DecisionReason::SecretInArguments),
        (ArgumentsHold::Placeholder, DecisionReason::PlaceholderInArguments),
    ] {
        let write = call("write_file", &json!({"path": "a", "content": "canary"}));
        let decision = decide_tool_call(&snapshot, &write, &CallEvidence { held, ..evidence() });
        assert_eq!((decision.verdict, decision.reason), (ToolVerdict::Deny, expect));
        assert!(decision.request.expose().is_empty() && !decision.explanation.expose().contains("canary"));
    }
}

#[test]
fn a_posture_moves_an_ask_and_lifts_no_denial() {
    use Posture::{AlwaysAllow, Ask, Disabled};
    let told = |posture: Posture, name: &str, arguments: &Value| {
        let postures = PostureRegistry::default().with(&ToolName::new(name), posture);
        let snapshot = snapshot_of(ToolPolicyRules { postures, ..ToolPolicyRules::shipped() });
        let decision = decide_tool_call(&snapshot, &call(name, arguments), &evidence());
        let again = re_evaluate(decision.request.expose(), snapshot.policies()).expect("a record");
        assert_eq!(again.verdict, decision.verdict);
        format!("{:?} {:?}", decision.verdict, decision.reason)
    };
    let path = |path: &str| json!({"path": path});
    assert_eq!(told(AlwaysAllow, "write_file", &path("a")), "Allow Permitted");
    assert_eq!(told(AlwaysAllow, "write_file", &path(".envrc")), "Ask NeedsApproval");
    assert_eq!(told(AlwaysAllow, "write_file", &path(".git/hooks/x")), "Deny Forbidden");
    for steers in ["Makefile", "AGENTS.md", "sub/package.json"] {
        assert_eq!(told(AlwaysAllow, "write_file", &path(steers)), "Ask NeedsApproval", "{steers}");
        assert_eq!(told(AlwaysAllow, "read_file", &path(steers)), "Allow Permitted", "{steers}");
    }
    assert_eq!(told(AlwaysAllow, "write_file", &path("Jenkinsfile")), "Ask NeedsApproval");
    assert_eq!(told(AlwaysAllow, "mystery", &json!({"text": "a"})), "Deny NoRulePermits");
    assert_eq!(told(Ask, "read_file", &path("a")), "Ask NeedsApproval");
    assert_eq!(told(Ask, "read_file", &path("../a")), "Deny Forbidden");
    assert_eq!(told(Disabled, "read_file", &path("a")), "Deny Disabled");
    let rules = ToolPolicyRules { postures: PostureRegistry::Unreadable, ..ToolPolicyRules::shipped() };
    let decision = decide_tool_call(&snapshot_of(rules), &call("read_file", &path("a")), &evidence());
    assert_eq!((decision.verdict, decision.reason), (ToolVerdict::Deny, DecisionReason::PolicyError));
}

#[test]
fn a_posture_is_told_and_policies_can_look_at_it() {
    let always = PostureRegistry::default().with(&ToolName::new("write_file"), Posture::AlwaysAllow);
    let rules = ToolPolicyRules { postures: always, ..ToolPolicyRules::shipped() };
    let write = call("write_file", &json!({"path": "a"}));
    let decision = decide_tool_call(&snapshot_of(rules.clone()), &write, &evidence());
    let told = "; posture: always allow everywhere, by the configuration";
    assert!(decision.explanation.expose().ends_with(told), "{:?}", decision.explanation.expose());
    let wary =
        r#"@id("wary") forbid (principal, action, resource) when { context.posture == "always_allow" };"#;
    let decision = decide_tool_call(&snapshot_of(rules.with_file("wary.cedar", wary)), &write, &evidence());
    assert_eq!((decision.verdict, decision.reason), (ToolVerdict::Deny, DecisionReason::Forbidden));
    let unset = ToolPolicyRules::shipped().with_file("wary.cedar", wary);
    assert_eq!(decide_tool_call(&snapshot_of(unset), &write, &evidence()).verdict, ToolVerdict::Ask);
}

#[test]
fn stored_settings_have_a_digest_of_their_own_and_refer_to_the_rules() {
    let base = snapshot_of(ToolPolicyRules::shipped());
    let (by, via) = (context().principal, context().surface);
    let change = PostureChanged {
        replaces: None,
        scope: PostureScope::Workspace("/home/canary".into()),
        posture: Some(Posture::Disabled),
        by,
        via,
        tool: "read_file".into(),
    };
    let record = PostureRecord { seq: Seq(4), set: Timestamp(0), change };
    let with = base.with_stored_postures(Some(&[record]), |_| [9; 32]);
    assert_eq!((with.digest(), with.texts().len()), ([9; 32], 2));
    assert_eq!(with.texts()[1..], *base.texts());
    let text = with.canonical_text();
    assert!(text.contains("posture entry 4 Disabled") && !text.contains("canary"), "{text}");
    let read = call("read_file", &json!({"path": "a"}));
    let there = CallEvidence { workspace: Some("/home/canary/deep"), ..CallEvidence::default() };
    assert_eq!(decide_tool_call(&with, &read, &there).reason, DecisionReason::Disabled);
    assert_eq!(decide_tool_call(&with, &read, &evidence()).reason, DecisionReason::Permitted);
    assert_eq!(base.with_stored_postures(Some(&[]), |_| [9; 32]).digest(), base.digest());
    let unreadable = base.with_stored_postures(None, |_| [8; 32]);
    let decision = decide_tool_call(&unreadable, &read, &evidence());
    assert_eq!((decision.reason, decision.policy_digest), (DecisionReason::PolicyError, [8; 32]));
}

#[test]
fn a_rule_that_wants_more_than_one_yes_is_not_answered_in_advance() {
    let write = call("write_file", &json!({"path": "a"}));
    let grants = [grant(&write, &ArgumentShape::Any)];
    let granted = CallEvidence { grants: &grants, ..evidence() };
    assert_eq!(by(ASKS, &write, &granted), "Allow Granted");
    assert_eq!(by(ASKS, &nobody(write.clone()), &granted), "Allow Granted");
    let wanting_more =
        ["@approvals(\"2\")", "@separation(\"another_person\")", "@approvers(\"role:approver\")"];
    for annotation in wanting_more {
        let text = ASKS.replace("permit", &format!("{annotation} permit"));
        assert_eq!(by(&text, &write, &granted), "Ask NeedsApproval");
        let own = ToolPolicyRules::default().with_file("mine.cedar", &text);
        let explained = decide_tool_call(&snapshot_of(own), &write, &evidence()).explanation;
        assert!(explained.expose().contains("` asks each time"), "{}", explained.expose());
        let postures = PostureRegistry::default().with(&write.tool, Posture::AlwaysAllow);
        let rules = ToolPolicyRules { postures, ..ToolPolicyRules::default() }.with_file("mine.cedar", &text);
        assert_eq!(decide_tool_call(&snapshot_of(rules), &write, &evidence()).verdict, ToolVerdict::Ask);
    }
}

/// A grant for calls like this one, with the same rule for each argument.
fn grant(call: &ToolCall, shape: &ArgumentShape) -> StoredGrantRecord {
    let arguments: Value = serde_json::from_str(call.arguments.expose()).unwrap_or_default();
    let names = arguments.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
    let matcher = names
        .map(|name| ArgumentRule {
            argument: palyra_types::Redacted::cleaned(name.to_owned()),
            shape: shape.clone(),
        })
        .collect();
    granted(call.tool.as_str(), matcher)
}

/// How far a verdict lets a call go.
fn width(verdict: ToolVerdict) -> u8 {
    match verdict {
        ToolVerdict::Deny => 0,
        ToolVerdict::Ask => 1,
        ToolVerdict::Allow => 2,
    }
}

fn any_call() -> impl Strategy<Value = ToolCall> {
    let paths =
        vec!["a", "src/x.rs", ".env", ".git/config", "../x", "/etc/passwd", ".envrc", "~/.config/palyra/x"];
    let path = prop::sample::select(paths).prop_map(|path| json!({"path": path}));
    let words = prop::collection::vec("[a-z./~-]{1,12}", 1..4).prop_map(|argv| json!({"argv": argv}));
    prop_oneof![
        path.clone().prop_map(|path| call("read_file", &path)),
        path.prop_map(|path| call("write_file", &path)),
        words.prop_map(|argv| call("run_command", &argv)),
        "[a-z:/.]{0,20}".prop_map(|url| call("http_fetch", &json!({"url": url}))),
        Just(call("memory_write", &json!({"text": "x"}))),
        Just(call("mystery", &json!({"text": "x"}))),
        Just(call("ask_user", &json!({"question": "x"}))),
        Just(call("use_secret", &json!({"name": "x"}))),
    ]
}

proptest! {
    #[test]
    fn a_skill_never_widens(call in any_call(), tools in prop::collection::btree_set("(read_file|write_file|mystery)", 0..3)) {
        let plain = decide_tool_call(&SHIPPED, &call, &evidence());
        let allowed_tools = Some(tools.iter().map(|name| ToolName::new(name)).collect());
        let skills = [ActiveSkill { name: "s".to_owned(), allowed_tools, standing: SkillStanding::Trusted }];
        let skilled = decide_tool_call(&SHIPPED, &call, &CallEvidence { skills: &skills, ..evidence() });
        prop_assert!(width(skilled.verdict) <= width(plain.verdict));
        if !tools.contains(call.tool.as_str()) {
            prop_assert_eq!(skilled.reason, DecisionReason::SkillForbids);
        }
    }

    #[test]
    fn grants_and_postures_lift_asks_and_never_denials(call in any_call(), wide in any::<bool>(), posture in 0..3_usize) {
        let plain = decide_tool_call(&SHIPPED, &call, &evidence());
        let shape = if wide { ArgumentShape::Any } else { ArgumentShape::Beneath(".".into()) };
        let grants = [grant(&call, &shape)];
        let granted = decide_tool_call(&SHIPPED, &call, &CallEvidence { grants: &grants, ..evidence() });
        if plain.verdict != ToolVerdict::Ask || plain.risk == ApprovalRiskLevel::Critical {
            prop_assert_eq!(granted.verdict, plain.verdict);
        }
        prop_assert_eq!(granted.grant.is_some(), granted.reason == DecisionReason::Granted);
        let request = PolicyRequest::from_json(plain.request.expose()).expect("a record");
        let posture = [Posture::AlwaysAllow, Posture::Ask, Posture::Disabled][posture];
        let postured = PolicyRequest { posture: StandingPosture::Set(posture), ..request };
        let set = evaluate_with_config(SHIPPED.policies(), &postured);
        if plain.verdict == ToolVerdict::Deny || posture != Posture::AlwaysAllow {
            prop_assert!(width(set.verdict) <= width(plain.verdict));
        }
    }

    #[test]
    fn whatever_no_policy_permits_is_denied(call in any_call()) {
        static EMPTY: LazyLock<ToolCallPolicySnapshot> = LazyLock::new(|| snapshot_of(ToolPolicyRules::default()));
        prop_assert_eq!(decide_tool_call(&EMPTY, &call, &evidence()).verdict, ToolVerdict::Deny);
    }

    #[test]
    fn prepared_slices_decide_as_the_whole_set_does(call in any_call()) {
        let policies = SHIPPED.policies();
        let decision = decide_tool_call(&SHIPPED, &call, &evidence());
        let request = PolicyRequest::from_json(decision.request.expose()).expect("a record");
        let asked = policies.cedar_query(&request).expect("a request");
        let whole = policies.whole();
        let permits = |request| {
            let response = cedar_policy::Authorizer::new().is_authorized(request, &whole, &asked.entities);
            response.decision() == cedar_policy::Decision::Allow
        };
        let verdict = match (permits(&asked.unattended), permits(&asked.execute)) {
            (true, _) => ToolVerdict::Allow,
            (false, true) => ToolVerdict::Ask,
            (false, false) => ToolVerdict::Deny,
        };
        prop_assert_eq!(verdict, decision.verdict);
    }

    #[test]
    fn what_is_remembered_decides_as_what_is_asked(calls in prop::collection::vec((any_call(), 0..3_u32, any::<bool>()), 1..12)) {
        static MANY: LazyLock<ToolCallPolicySnapshot> = LazyLock::new(|| {
            snapshot_of(ToolPolicyRules::shipped().with_file(
                "mine.cedar",
                r#"@id("turns") forbid (principal, action, resource in Capability::"write_files") when { context.turns > 1 };
                @id("paths") permit (principal, action == Action::"execute_unattended", resource == Tool::"write_file")
                when { context.paths.contains("a") };
                @id("me") permit (principal in Agent::"00000000020000000000000002", action, resource == Tool::"mystery");
                @id("argv") permit (principal, action == Action::"execute_unattended", resource == Tool::"run_command")
                when { context has program && context.program like "a*" && !(context.touches.contains("outside_root")) };"#,
            ))
        });
        let mut again = Reevaluation::new(MANY.policies());
        for (mut call, turns, nobody_there) in calls {
            call.context.turns = turns;
            let call = if nobody_there { nobody(call) } else { call };
            let decision = decide_tool_call(&MANY, &call, &evidence());
            let request = PolicyRequest::from_json(decision.request.expose()).expect("a record");
            for _ in 0..2 {
                let judged = again.judge(&request);
                prop_assert_eq!((judged.verdict, judged.reason), (decision.verdict, decision.reason));
            }
            // With everything shown, Cedar says the same over the whole set.
            let asked = MANY.policies().cedar_query(&request).expect("a request");
            let whole = cedar_policy::Authorizer::new().is_authorized(
                &asked.unattended,
                &MANY.policies().whole(),
                &asked.entities,
            );
            let unattended = whole.decision() == cedar_policy::Decision::Allow;
            prop_assert!(unattended == (decision.verdict == ToolVerdict::Allow) || decision.reason == DecisionReason::NoApprovalChannel);
        }
    }

    #[test]
    fn a_record_says_all_that_a_verdict_depends_on(call in any_call(), nobody_there in any::<bool>()) {
        let call = if nobody_there { nobody(call) } else { call };
        let decision = decide_tool_call(&SHIPPED, &call, &evidence());
        let request = PolicyRequest::from_json(decision.request.expose()).expect("a record");
        prop_assert_eq!(&request.to_json(), decision.request.expose());
        let sorted: Value = serde_json::from_str(decision.request.expose()).expect("JSON");
        let mut canonical = sorted.clone();
        canonical.sort_all_objects();
        prop_assert_eq!(sorted.to_string(), canonical.to_string(), "keys are in order");
        let again = evaluate_with_config(SHIPPED.policies(), &request);
        prop_assert_eq!((again.verdict, again.reason, again.terms), (decision.verdict, decision.reason, decision.approval));
        prop_assert_eq!(request.risk(), decision.risk);
    }
}

#[test]
fn the_page_of_a_denial_says_what_to_do_about_each_rule_that_no_rule_overrides() {
    let page = include_str!("../../../../docs/errors/PLY-4003.md");
    let (_, mends) = page.split_once("## What to do").expect("a page says what to do");
    let rules = include_str!("../../policies/never.cedar");
    let ids: Vec<&str> =
        rules.lines().filter_map(|line| line.strip_prefix("@id(\"")?.strip_suffix("\")")).collect();
    assert_eq!(ids.len(), 5, "{ids:?}");
    for id in ids {
        assert!(mends.contains(&format!("`{id}`")), "{id}");
    }
    for way in ["--workspace DIR", "--attach FILE", "`git` tool"] {
        assert!(mends.contains(way), "{way}");
    }
}
