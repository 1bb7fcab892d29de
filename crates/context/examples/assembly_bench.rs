//! Measures how long the request of a long session takes to assemble, beside an anchor: copying the bytes of its history.
//!
//! Run it as `cargo run --profile dist -p palyra-context --example assembly_bench`; figures of another profile mean little.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program of its own, which measures")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use palyra_context::plan::SourceRule;
use palyra_context::prompt::{PastRun, PromptInputs, RequestSegment, assemble};
use palyra_context::sources::source_rules;
use palyra_types::event::ContextSource;
use palyra_types::model::ChatMessage;
use palyra_types::{Redacted, Seq};

/// Runs of the session, as many as a history keeps.
const RUNS: usize = 250;
const MESSAGES_PER_RUN: usize = 8;
/// So the history of 2,000 messages is about as large as the largest window here.
const MESSAGE_BYTES: usize = 300;
const REPETITIONS: usize = 2_000;
const WINDOWS: [u64; 3] = [8_192, 131_072, 1_048_576];
const INSTRUCTIONS_BYTES: usize = 3_000;
const TOOLS_BYTES: usize = 12_000;

fn history() -> Vec<PastRun> {
    (0..RUNS)
        .map(|run| {
            let message = |at: usize| {
                let text: String =
                    format!("{run}/{at}: milk and bread ").chars().cycle().take(MESSAGE_BYTES).collect();
                ChatMessage::user(Redacted::cleaned(text))
            };
            let messages: Vec<ChatMessage> = (0..MESSAGES_PER_RUN).map(message).collect();
            PastRun { first_seq: Seq(1 + run as u64), ended: Seq(2 + run as u64), messages: messages.into() }
        })
        .collect()
}

fn inputs<'a>(history: &'a [PastRun], rules: &'a [SourceRule], window_tokens: u64) -> PromptInputs<'a> {
    let mut segments = vec![
        RequestSegment::outside(ContextSource::Instructions, INSTRUCTIONS_BYTES),
        RequestSegment::outside(ContextSource::Tools, TOOLS_BYTES),
    ];
    segments.extend(history.iter().map(RequestSegment::past));
    let input = vec![ChatMessage::user(Redacted::cleaned("What is left?".to_owned()))];
    segments.extend(RequestSegment::current(input.into()));
    PromptInputs {
        segments,
        window_tokens,
        tokens_wished: None,
        rules,
        instructions_digest: [0; 32],
        catalog_digest: [0; 32],
    }
}

fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    sorted[(sorted.len() * percent / 100).min(sorted.len() - 1)]
}

fn timed(mut work: impl FnMut()) -> Vec<Duration> {
    let mut times: Vec<Duration> = (0..REPETITIONS)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times
}

fn main() {
    let history = history();
    let rules = source_rules();
    let bytes = RUNS * MESSAGES_PER_RUN * MESSAGE_BYTES;
    let from = vec![1_u8; bytes];
    let mut to = vec![0_u8; bytes];
    let anchor = timed(|| black_box(&mut to).copy_from_slice(black_box(&from)));
    println!(
        "anchor, copy of {bytes} bytes: p50 {:?}, p99 {:?}",
        percentile(&anchor, 50),
        percentile(&anchor, 99)
    );
    for window in WINDOWS {
        let plan = assemble(inputs(&history, &rules, window)).unwrap().plan;
        let times = timed(|| drop(black_box(assemble(inputs(black_box(&history), &rules, window)).unwrap())));
        let (p50, p99) = (percentile(&times, 50), percentile(&times, 99));
        println!(
            "window {window}: {} of {} messages kept, p50 {p50:?}, p99 {p99:?}, p50 / anchor p50: {:.1}",
            plan.messages_kept,
            plan.messages_kept + plan.messages_dropped,
            p50.as_secs_f64() / percentile(&anchor, 50).as_secs_f64()
        );
    }
}
