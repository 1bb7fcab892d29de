//! The list of rows: the names, what each tells, and where it is measured.

use futures::FutureExt;
use futures::future::LocalBoxFuture;

use super::{
    append, bombs, cancel, chat_completions, components, counts, database, fetch, footprint, full_window,
    lists, long_session, one_turn, open_streams, protocol, rebuild, run_counts, spawn, start, streamed,
    task_queue, throughput, tool_round,
};
use crate::lab::Lab;
use crate::measure::figure::BenchFigure;

/// What a row's measurement comes to.
pub type MeasuredFigures<'a> = LocalBoxFuture<'a, anyhow::Result<Vec<BenchFigure>>>;

/// Something that can be measured.
pub struct BenchRow {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it tells, in one line.
    pub about: &'static str,
    /// Measures it.
    pub measure: for<'a> fn(&'a Lab) -> MeasuredFigures<'a>,
}

/// All rows, in the order in which they are measured and shown.
pub const ROWS: &[BenchRow] = &[
    BenchRow {
        name: counts::NAME,
        about: "commits, entries, rows and bytes of a run, without a clock (exact; a test asserts it)",
        measure: |lab| counts::measure(lab).boxed_local(),
    },
    BenchRow {
        name: one_turn::NAME,
        about: "added time to first token and added total, one client, beside the floor",
        measure: |lab| one_turn::measure(lab).boxed_local(),
    },
    BenchRow {
        name: streamed::NAME,
        about: "first token of a slow stream, beside asking the model directly",
        measure: |lab| streamed::measure(lab).boxed_local(),
    },
    BenchRow {
        name: tool_round::NAME,
        about: "one more tool round, beside the floor, and its commits",
        measure: |lab| tool_round::measure(lab).boxed_local(),
    },
    BenchRow {
        name: tool_round::APPROVAL_NAME,
        about: "one more tool round with a person asked and answering, beside the floor, and its commits",
        measure: |lab| tool_round::measure_approval(lab).boxed_local(),
    },
    BenchRow {
        name: throughput::NAME,
        about: "runs per second at 1, 16 and 64, beside the floor; processor time per run",
        measure: |lab| throughput::measure(lab).boxed_local(),
    },
    BenchRow {
        name: protocol::NAME,
        about: "the floor spoken over gRPC and an HTTP library, beside the floor: what those alone cost",
        measure: |lab| protocol::measure(lab).boxed_local(),
    },
    BenchRow {
        name: chat_completions::NAME,
        about: "/v1/chat/completions: added first token and total, requests per second at 1, 16 and 64, beside the floor",
        measure: |lab| chat_completions::measure(lab).boxed_local(),
    },
    BenchRow {
        name: open_streams::NAME,
        about: "1,000 open chat streams: memory of each, and another client's request beside them",
        measure: |lab| open_streams::measure(lab).boxed_local(),
    },
    BenchRow {
        name: append::NAME,
        about: "durable appends through the journal's port, beside plain SQLite",
        measure: |lab| append::measure(lab).boxed_local(),
    },
    BenchRow {
        name: task_queue::NAME,
        about: "tasks of the background queue: from the call to the worker, and per second, beside appends",
        measure: |lab| task_queue::measure(lab).boxed_local(),
    },
    BenchRow {
        name: lists::NAME,
        about: "pages of sessions, runs, approvals and effects at 10,000 rows, beside plain SQLite",
        measure: |lab| lists::measure(lab).boxed_local(),
    },
    BenchRow {
        name: rebuild::NAME,
        about: "entries per second of a rebuild of what is derived, beside a copy in plain SQLite",
        measure: |lab| rebuild::measure(lab).boxed_local(),
    },
    BenchRow {
        name: run_counts::NAME,
        about: "commits, entries, rows, bytes, system calls and processor time of a run in the real daemon",
        measure: |lab| run_counts::measure(lab).boxed_local(),
    },
    BenchRow {
        name: cancel::NAME,
        about: "from a cancel until the model request is dropped",
        measure: |lab| cancel::measure(lab).boxed_local(),
    },
    BenchRow {
        name: start::NAME,
        about: "cold start to healthy: empty, with 10,000 runs, with a million entries",
        measure: |lab| start::measure(lab).boxed_local(),
    },
    BenchRow {
        name: start::RECOVERY_NAME,
        about: "start after kill -9 with 10,000 finished runs and one at work",
        measure: |lab| start::measure_recovery(lab).boxed_local(),
    },
    BenchRow {
        name: footprint::NAME,
        about: "memory idle and after a load, threads, idle wake-ups",
        measure: |lab| footprint::measure(lab).boxed_local(),
    },
    BenchRow {
        name: footprint::BINARY_NAME,
        about: "size of the daemon's program",
        measure: |lab| std::future::ready(footprint::measure_binary(lab)).boxed_local(),
    },
    BenchRow {
        name: database::NAME,
        about: "what text runs and streamed runs leave in the database file",
        measure: |lab| database::measure(lab).boxed_local(),
    },
    BenchRow {
        name: database::THOUSAND_NAME,
        about: "an answer of 1,000 tokens at 50 per second: database bytes, first text",
        measure: |lab| database::measure_thousand(lab).boxed_local(),
    },
    BenchRow {
        name: long_session::NAME,
        about: "run 200 of a session beside the first run of a new one",
        measure: |lab| long_session::measure(lab).boxed_local(),
    },
    BenchRow {
        name: full_window::NAME,
        about: "runs 200 and 10,000 of a session whose window is full, beside run 50 of a new one",
        measure: |lab| full_window::measure(lab).boxed_local(),
    },
    BenchRow {
        name: fetch::NAME,
        about: "http_fetch of a page, beside a bare client that checks nothing",
        measure: |lab| fetch::measure(lab).boxed_local(),
    },
    BenchRow {
        name: spawn::NAME,
        about: "a held program from start to end, beside one that is not held and beside bubblewrap",
        measure: |lab| spawn::measure(lab).boxed_local(),
    },
    BenchRow {
        name: bombs::NAME,
        about: "a run beside held programs that fork, allocate, write and print without end",
        measure: |lab| bombs::measure(lab).boxed_local(),
    },
    BenchRow {
        name: components::NAME,
        about: "entering a component, beside a pooled instantiate; compiling one",
        measure: |lab| components::measure(lab).boxed_local(),
    },
];
