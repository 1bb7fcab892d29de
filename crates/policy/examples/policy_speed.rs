//! How fast calls are decided under 1,000 policies.
//!
//! Prints figures and judges none. Each of ours stands beside Cedar's own over the same slice and over the whole set.
//! Run it in release mode: `cargo run --release -p palyra-policy --example policy_speed`.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program of its own, which reads the clock"
)]

mod calls;

use std::sync::Arc;
use std::time::{Duration, Instant};

use cedar_policy::{Authorizer, Decision, PolicySet};
use palyra_policy::{
    CallEvidence, PolicyIndex, PolicyRequest, ToolCallPolicySnapshot, decide_tool_call, evaluate_with_config,
    re_evaluate,
};

use calls::{call, many};

fn main() {
    let (catalog, rules) = many();
    let begun = Instant::now();
    let snapshot =
        ToolCallPolicySnapshot::compile(Arc::clone(&catalog), rules, |_| [0; 32]).expect("a snapshot");
    println!("{} policies compiled in {:?}", snapshot.policies().len(), begun.elapsed());
    for tool in ["read_file", "write_file", "tool_7"] {
        let call = call(tool, r#"{"path": "src/main.rs"}"#);
        let evidence = CallEvidence { workspace: Some("/home/me/desk"), ..CallEvidence::default() };
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
}

/// Our evaluation of a request beside Cedar over the same slice and over the whole set.
fn beside_cedar(tool: &str, snapshot: &ToolCallPolicySnapshot, json: &str) {
    let policies = snapshot.policies();
    let request = PolicyRequest::from_json(json).expect("a record");
    let whole = policies.whole();
    let index = PolicyIndex::new(&whole).expect("static policies");
    let first = policies.cedar_query(&request).expect("a request");
    let slice = |request| index.slice_of(request, &first.entities);
    let (unattended, execute) = (slice(&first.unattended), slice(&first.execute));
    let cedar = |unattended: &PolicySet, execute: &PolicySet| {
        let asked = policies.cedar_query(&request).expect("a request");
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
