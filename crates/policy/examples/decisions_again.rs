//! Recorded decisions asked again, as `palyra policy diff` and shadow mode do it: how many in a second.
//!
//! Prints figures, and fails where the policies that decided do not reproduce every verdict. Decisions are made and
//! recorded ten thousand at a time, and only asking again is timed: reading the record, judging, counting. Run it in
//! release mode: `cargo run --release -p palyra-policy --example decisions_again -- 1000000`.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program of its own, which reads the clock"
)]

mod calls;

use std::sync::Arc;
use std::time::{Duration, Instant};

use palyra_policy::{
    CallEvidence, PolicyDiff, RecordedDecision, ToolCallPolicySnapshot, ToolPolicyRules, decide_tool_call,
};
use palyra_types::Timestamp;
use palyra_types::tool::{Taints, ToolDecision};

/// Decisions that are recorded before they are asked again; all of them at once would need a gigabyte.
const BATCH: usize = 10_000;

/// Looks at what differs from call to call, so that nothing can be remembered from one to the next.
const BY_PATH: &str = r#"@id("docs-unattended")
permit (principal, action == Action::"execute_unattended", resource == Tool::"write_file")
when { context.args has path && context.args.path like "docs/*" && context.risk == "medium" };"#;

fn main() {
    let count = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(1_000_000_usize);
    let (catalog, many) = calls::many();
    let compiled = |rules| {
        ToolCallPolicySnapshot::compile(Arc::clone(&catalog), rules, |_| [0; 32]).expect("a snapshot")
    };
    let shipped = compiled(ToolPolicyRules::shipped());
    let others = [
        ("the policies that decided", compiled(ToolPolicyRules::shipped())),
        (
            "those and one that looks at every path",
            compiled(ToolPolicyRules::shipped().with_file("a", BY_PATH)),
        ),
        ("1,000 more", compiled(many)),
    ];
    for (name, other) in &others {
        let mut diff = PolicyDiff::new(other.policies());
        let (mut took, mut bytes) = (Duration::ZERO, 0);
        for begin in (0..count).step_by(BATCH) {
            let batch: Vec<ToolDecision> =
                (begin..count.min(begin + BATCH)).map(|at| recorded(&shipped, at)).collect();
            bytes += batch.iter().map(|decision| decision.request.expose().len()).sum::<usize>();
            let begun = Instant::now();
            for ToolDecision { verdict, reason, request, .. } in &batch {
                let request = request.expose();
                diff.take(RecordedDecision { verdict: *verdict, reason: *reason, request });
            }
            took += begun.elapsed();
        }
        let counts = diff.counts();
        println!(
            "{name}: {} decisions of {} bytes in {took:.2?}, {:.0}/s; same {}, newly allowed {}, asked {}, denied {}",
            counts.judged,
            bytes / count.max(1),
            counts.judged as f64 / took.as_secs_f64(),
            counts.same,
            counts.newly_allowed,
            counts.newly_asked,
            counts.newly_denied,
        );
    }
    let mut again = PolicyDiff::new(others[0].1.policies());
    for at in (0..count).step_by(97) {
        let ToolDecision { verdict, reason, request, .. } = recorded(&shipped, at);
        let changed = again.take(RecordedDecision { verdict, reason, request: request.expose() });
        assert_eq!(changed, None, "the policies that decided decide otherwise");
    }
}

/// A decision about the call of this number: reads and writes of many files, some of them refused, at all hours.
fn recorded(snapshot: &ToolCallPolicySnapshot, at: usize) -> ToolDecision {
    let folder = ["src", "docs", ".git", "../out", "a b"][at % 5];
    let arguments = format!(r#"{{"path": "{folder}/file{at}.rs"}}"#);
    let mut call = calls::call(["read_file", "write_file"][at % 2], &arguments);
    call.context.now = Timestamp(call.context.now.0 + at as i64 * 1_000_000);
    call.context.turns = (at % 40) as u32;
    if at.is_multiple_of(7) {
        call.context.taints = Taints::WEB;
    }
    decide_tool_call(
        snapshot,
        &call,
        &CallEvidence { workspace: Some("/home/me/desk"), ..CallEvidence::default() },
    )
}
