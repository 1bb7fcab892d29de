//! How fast calls are decided under many policies, and recorded requests decided again.
//!
//! Prints figures and judges none. Each of ours stands beside Cedar's own over the same slice and over the whole set.
//! Run in release mode; the first argument is how many recorded requests to decide again.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program of its own, which reads the clock"
)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use cedar_policy::{Authorizer, Decision, PolicySet};
use palyra_policy::{
    CallEvidence, PolicyIndex, PolicyRequest, ToolCallPolicySnapshot, ToolPolicyRules, decide_tool_call,
    evaluate_with_config, re_evaluate,
};
use palyra_types::approval::Approvers;
use palyra_types::run::Surface;
use palyra_types::tool::{
    ApprovalRiskLevel, CallContext, Capability, EffectContract, Parallelism, Taints, ToolCall, ToolCatalog,
    ToolConduct, ToolName, ToolSpec,
};
use palyra_types::{AgentId, PrincipalId, RunId, SessionId, Timestamp};

fn main() {
    let again = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(100_000_usize);
    let (catalog, rules) = many();
    let begun = Instant::now();
    let snapshot =
        ToolCallPolicySnapshot::compile(Arc::clone(&catalog), rules, |_| [0; 32]).expect("a snapshot");
    println!("{} policies compiled in {:?}", snapshot.policies().len(), begun.elapsed());
    for tool in ["read_file", "write_file", "tool_7"] {
        let call = call(tool, r#"{"path": "src/main.rs"}"#);
        let evidence = CallEvidence { workspace: Some("/home/me/work"), ..CallEvidence::default() };
        let decide = || decide_tool_call(&snapshot, &call, &evidence);
        let decision = decide();
        let took = median(|| drop(std::hint::black_box(decide())));
        let slice = snapshot.policies().slice_len(tool).unwrap_or_default();
        println!("{tool}: {:?} in {took:?} p50, slices {slice:?}", decision.verdict);
        let json = decision.request.expose();
        beside_cedar(tool, &snapshot, json);
        let took = median(|| drop(std::hint::black_box(re_evaluate(json, snapshot.policies()))));
        println!("{tool}: decided again from its record in {took:?} p50, {} bytes", json.len());
    }
    let shipped = ToolCallPolicySnapshot::compile(catalog, ToolPolicyRules::shipped(), |_| [0; 32])
        .expect("a snapshot");
    let evidence = CallEvidence { workspace: Some("/home/me/work"), ..CallEvidence::default() };
    let record = |at: usize| {
        let call = call(["read_file", "write_file"][at % 2], &format!(r#"{{"path": "src/file{at}.rs"}}"#));
        decide_tool_call(&shipped, &call, &evidence).request.into_exposed()
    };
    let records: Vec<String> = (0..again).map(record).collect();
    let begun = Instant::now();
    let allowed = palyra_policy::diff(
        shipped.policies(),
        snapshot.policies(),
        records.iter().enumerate().map(|(at, json)| (at, json.as_str())),
    );
    println!("{} recorded requests asked of two sets in {:?}", allowed.compared, begun.elapsed());
}

/// Our evaluation of a request beside Cedar over the same slice and over the whole set.
fn beside_cedar(tool: &str, snapshot: &ToolCallPolicySnapshot, json: &str) {
    let policies = snapshot.policies();
    let request = PolicyRequest::from_json(json).expect("a record");
    let whole = policies.whole();
    let index = PolicyIndex::new(&whole).expect("static policies");
    let first = policies.asked_of_cedar(&request).expect("a request");
    let slice = |request| index.slice_of(request, &first.entities);
    let (unattended, execute) = (slice(&first.unattended), slice(&first.execute));
    let cedar = |unattended: &PolicySet, execute: &PolicySet| {
        let asked = policies.asked_of_cedar(&request).expect("a request");
        let authorizer = Authorizer::new();
        if authorizer.is_authorized(&asked.unattended, unattended, &asked.entities).decision()
            == Decision::Deny
        {
            drop(std::hint::black_box(authorizer.is_authorized(&asked.execute, execute, &asked.entities)));
        }
    };
    let ours = median(|| drop(std::hint::black_box(evaluate_with_config(policies, &request))));
    let sliced = median(|| cedar(&unattended, &execute));
    let all = median(|| cedar(&whole, &whole));
    let ratio = ours.as_secs_f64() / sliced.as_secs_f64();
    println!(
        "{tool}: policies alone {ours:?}, Cedar over the slice {sliced:?} ({ratio:.2}x), over all {all:?}"
    );
}

fn median(mut run: impl FnMut()) -> Duration {
    let mut samples: Vec<Duration> = (0..4_000)
        .map(|_| {
            let begun = Instant::now();
            run();
            begun.elapsed()
        })
        .collect();
    samples.sort();
    samples[samples.len() / 2]
}

/// 900 policies about one tool each, 80 about groups, 20 about everything, beside those that ship.
fn many() -> (Arc<ToolCatalog>, ToolPolicyRules) {
    let mut text = String::new();
    for at in 0..900 {
        let tool = format!("tool_{at}");
        text.push_str(&format!(
            "@id(\"one-{at}\") permit (principal, action == Action::\"execute\", resource == Tool::\"{tool}\") \
             when {{ context.risk == \"medium\" && context.turns < 50 }};\n"
        ));
    }
    let groups =
        ["Capability::\"secrets\"", "Capability::\"network\"", "Contract::\"keyed\"", "Contract::\"opaque\""];
    for at in 0..80 {
        let group = groups[at % groups.len()];
        text.push_str(&format!(
            "@id(\"group-{at}\") permit (principal, action == Action::\"execute\", resource in {group}) \
             when {{ context.hosts.contains(\"host{at}.example\") }};\n"
        ));
    }
    for at in 0..20 {
        let action = ["execute", "execute_unattended"][at % 2];
        text.push_str(&format!(
            "@id(\"all-{at}\") forbid (principal, action == Action::\"{action}\", resource) \
             when {{ context.tool_calls > {} }};\n",
            1_000 + at
        ));
    }
    let mut tools: Vec<ToolSpec> = (0..900)
        .map(|at| tool(&format!("tool_{at}"), EffectContract::Probe, Capability::WriteFiles))
        .collect();
    tools.push(tool("read_file", EffectContract::Pure, Capability::ReadFiles));
    tools.push(tool("write_file", EffectContract::Probe, Capability::WriteFiles));
    (Arc::new(ToolCatalog::new(tools)), ToolPolicyRules::shipped().with_file("many.cedar", &text))
}

fn tool(name: &str, contract: EffectContract, capability: Capability) -> ToolSpec {
    ToolSpec {
        name: ToolName::new(name),
        version: 1,
        description: String::new(),
        schema: serde_json::json!({
            "type": "object", "additionalProperties": false, "properties": {"path": {"type": "string"}},
        }),
        contract,
        parallelism: Parallelism::Parallel,
        conduct: ToolConduct::Direct,
        capabilities: vec![capability],
        taints: Taints::WORKSPACE,
        risk: ApprovalRiskLevel::Low,
        deadline: Duration::from_secs(10),
        output_bytes_max: 1024,
    }
}

fn call(tool: &str, arguments: &str) -> ToolCall {
    ToolCall {
        tool: ToolName::new(tool),
        arguments: arguments.into(),
        context: CallContext {
            principal: PrincipalId::from_parts(1, 1),
            agent: AgentId::from_parts(2, 2),
            session: SessionId::from_parts(3, 3),
            run: RunId::from_parts(4, 4),
            surface: Surface::LocalSocket,
            approvers: Approvers::Inbox,
            taints: Taints::WORKSPACE,
            turns: 3,
            tool_calls: 5,
            now: Timestamp(1_700_000_000_000_000),
        },
    }
}
