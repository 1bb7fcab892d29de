//! Components that never end (49).

use std::time::Duration;

use palyra_testkit::component_text::{Wat, binary};

use super::attempt::{Attempt, in_host};
use super::call::{CallAction, ComponentCall};
use super::watched::HostCanary;
use crate::pair::CasePair;
use crate::trial::AttackTrial;

const FUEL: &str = "the fuel of a call";
const TIME: &str = "the time of a call";
const TURNS: &str = "turns between calls";

/// Where a loop stands, how the component is written, and what ends it.
struct LoopCase {
    variant: &'static str,
    bytes: fn() -> Vec<u8>,
    ask: CallAction,
    held_by: &'static [&'static str],
}

const fn run(variant: &'static str, bytes: fn() -> Vec<u8>) -> LoopCase {
    LoopCase { variant, bytes, ask: CallAction::Run, held_by: &[FUEL, TIME, TURNS] }
}

/// One that does nothing, or much with little fuel.
const fn waiting(variant: &'static str, bytes: fn() -> Vec<u8>) -> LoopCase {
    LoopCase { held_by: &[TIME, TURNS], ..run(variant, bytes) }
}

const ENDLESS: &[LoopCase] = &[
    run("a branch", || running("(loop $l (br $l)) (unreachable)")),
    run("a table of branches", || {
        running(
            "(local $n i32) (loop $a (loop $b (local.set $n (i32.add (local.get $n) (i32.const 1)))
             (br_table $a $b (i32.and (local.get $n) (i32.const 1))))) (unreachable)",
        )
    }),
    run("calls at the end of each other", || {
        let core = "(func $a (result i32) (return_call $b)) (func $b (result i32) (return_call $a))";
        Wat { core, ..Wat::running("(call $a)") }.bytes()
    }),
    run("calls by a table", || {
        let core = "(table 1 funcref) (elem (i32.const 0) $nothing) (type $t (func)) (func $nothing)";
        Wat {
            core,
            ..Wat::running("(loop $l (call_indirect (type $t) (i32.const 0)) (br $l)) (unreachable)")
        }
        .bytes()
    }),
    run("its start", || {
        Wat { core: "(func $s (loop $l (br $l))) (start $s)", ..Wat::running("(unreachable)") }.bytes()
    }),
    run("the start of a component inside of it", || {
        let with = "(component $inner (core module $m (func $s (loop $l (br $l))) (start $s)) (core instance (instantiate $m)))
                    (instance (instantiate $inner))";
        Wat { with, ..Wat::running("(unreachable)") }.bytes()
    }),
    run("the room for its arguments", || {
        binary(&changed(
            &Wat::running("(unreachable)"),
            "(local $at i32)",
            "(local $at i32) (loop $l (br $l))",
        ))
    }),
    run("what it does after its answer", || {
        let core = r#"(func (export "after") (param i32) (loop $l (br $l)))"#;
        let wat =
            Wat { core, ..Wat::running("(call $answer (i32.const 0) (local.get $ptr) (local.get $len))") };
        let text = changed(
            &wat,
            r#"(core func $run))"#,
            r#"(core func $run)) (alias core export $i "after" (core func $after))"#,
        );
        binary(&text.replace("lift (core func $run)", "lift (core func $run) (post-return $after)"))
    }),
    run("the end of what it made", || {
        Wat {
            with: DESTRUCTOR,
            core_imports: MADE,
            ..Wat::running("(call $drop (call $new (i32.const 1))) (unreachable)")
        }
        .bytes()
    }),
    run("questions of the time", || asking("(loop $l (drop (call $now)) (br $l)) (unreachable)")),
    waiting("waits that are over at once", || {
        asking(
            "(local $p i32) (loop $l (local.set $p (call $after (i64.const 1))) (call $block (local.get $p))
             (call $drop (local.get $p)) (br $l)) (unreachable)",
        )
    }),
    waiting("a wait of years", || {
        asking("(call $block (call $after (i64.const 1000000000000000000))) (unreachable)")
    }),
    waiting("fills of memory", || {
        running("(drop (memory.grow (i32.const 900)))
                 (loop $l (memory.fill (i32.const 65536) (i32.const 1) (i32.const 58982400)) (br $l)) (unreachable)")
    }),
    waiting("copies of memory", || {
        running("(drop (memory.grow (i32.const 900)))
                 (loop $l (memory.copy (i32.const 65537) (i32.const 65536) (i32.const 58982399)) (br $l)) (unreachable)")
    }),
    LoopCase {
        ask: CallAction::Describe,
        held_by: &[FUEL],
        ..run("what it says of itself", || {
            Wat { describe: "(loop $l (br $l)) (unreachable)", ..Wat::running("(unreachable)") }.bytes()
        })
    },
];

const DESTRUCTOR: &str = r#"
  (core module $ending (func (export "end") (param i32) (loop $l (br $l))))
  (core instance $ending (instantiate $ending))
  (alias core export $ending "end" (core func $end))
  (type $made (resource (rep i32) (dtor (core func $end))))
  (core func $new' (canon resource.new $made))
  (core func $drop' (canon resource.drop $made))
  (core instance $host (export "new" (func $new')) (export "drop" (func $drop')))"#;
const MADE: &str = r#"
    (import "host" "new" (func $new (param i32) (result i32)))
    (import "host" "drop" (func $drop (param i32)))"#;

/// Imports of the time, and of waiting for it.
pub(super) const TIMES: &str = r#"
  (import "wasi:io/poll@0.2.12" (instance $poll
    (export "pollable" (type $p (sub resource)))
    (export "[method]pollable.block" (func (param "self" (borrow $p))))
    (export "poll" (func (param "in" (list (borrow $p))) (result (list u32))))))
  (alias export $poll "pollable" (type $pollable))
  (import "wasi:clocks/monotonic-clock@0.2.12" (instance $clock
    (alias outer 1 $pollable (type $p)) (export "pollable" (type $own (eq $p)))
    (export "now" (func (result u64)))
    (export "subscribe-duration" (func (param "when" u64) (result (own $own))))))"#;
pub(super) const WITH_TIMES: &str = r#"
  (core func $poll' (canon lower (func $poll "poll") (memory $memory) (realloc $realloc)))
  (core func $block' (canon lower (func $poll "[method]pollable.block")))
  (core func $now' (canon lower (func $clock "now")))
  (core func $after' (canon lower (func $clock "subscribe-duration")))
  (core func $drop' (canon resource.drop $pollable))
  (core instance $host (export "poll" (func $poll')) (export "block" (func $block')) (export "now" (func $now'))
    (export "after" (func $after')) (export "drop" (func $drop')))"#;
pub(super) const CORE_TIMES: &str = r#"
    (import "host" "poll" (func $poll (param i32 i32 i32)))
    (import "host" "block" (func $block (param i32)))
    (import "host" "now" (func $now (result i64)))
    (import "host" "after" (func $after (param i64) (result i32)))
    (import "host" "drop" (func $drop (param i32)))"#;

fn running(run: &'static str) -> Vec<u8> {
    Wat::running(run).bytes()
}

/// A component that asks for the time and waits.
pub(super) fn asking(run: &'static str) -> Vec<u8> {
    Wat { imports: TIMES, with: WITH_TIMES, core_imports: CORE_TIMES, ..Wat::running(run) }.bytes()
}

/// Changes the text of a component at one place.
///
/// # Panics
/// When it has no such place: nothing would be attacked.
pub(super) fn changed(wat: &Wat, from: &str, to: &str) -> String {
    let text = wat.text();
    assert!(text.contains(from), "the text has no `{from}`");
    text.replacen(from, to, 1)
}

/// Returns all of them.
pub(crate) fn trials() -> Vec<AttackTrial> {
    ENDLESS.iter().map(trial).collect()
}

fn trial(endless: &'static LoopCase) -> AttackTrial {
    let pairs = endless.held_by.iter().map(|&mechanism| CasePair::new(49, endless.variant, mechanism));
    AttackTrial::new(pairs.collect(), move |place, pairs| {
        in_host(endless.bytes, move |mechanism, attempt| given(endless.ask, mechanism, attempt), place, pairs)
    })
}

fn given(ask: CallAction, mechanism: &str, attempt: &Attempt) -> (ComponentCall, Vec<HostCanary>) {
    let spec = ComponentCall { ask, ..attempt.spec.clone() };
    match mechanism {
        // Little enough that a loop of calls to the host ends in seconds too, on a slow machine without optimisation.
        FUEL => (ComponentCall { fuel: 2_000_000, ..spec }, vec![HostCanary::Running]),
        TIME => (ComponentCall { time_max: Duration::from_millis(300), ..spec }, vec![HostCanary::Running]),
        // It may go on for long, and others have to be answered all the same.
        _ => (ComponentCall { beside: Some(attempt.honest()), ..spec }, vec![HostCanary::Beside]),
    }
}
