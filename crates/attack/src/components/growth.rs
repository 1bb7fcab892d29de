//! Components that take more memory than they are given (50), also by lists that their host has to read (54).

use palyra_testkit::component_text::{Wat, binary};

use super::attempt::in_host;
use super::call::{CallAction, ComponentCall, FileAccess};
use super::loops::{CORE_TIMES, TIMES, WITH_TIMES, asking, changed};
use super::reaching::reaching;
use super::watched::HostCanary;
use crate::pair::CasePair;
use crate::trial::AttackTrial;

const CAPS: &str = "the caps of a call";
const CALLS: &str = "the engine's cap on what a host is told";

/// What grows, and how the component is written.
struct GrowthCase {
    case: u8,
    variant: &'static str,
    mechanism: &'static str,
    bytes: fn() -> Vec<u8>,
    ask: CallAction,
    canary: HostCanary,
}

const fn grows(variant: &'static str, bytes: fn() -> Vec<u8>) -> GrowthCase {
    GrowthCase { case: 50, variant, mechanism: CAPS, bytes, ask: CallAction::Run, canary: HostCanary::Memory }
}

const fn growth_case(case: u8, variant: &'static str, bytes: fn() -> Vec<u8>) -> GrowthCase {
    GrowthCase { case, mechanism: CALLS, ..grows(variant, bytes) }
}

const GROWING: &[GrowthCase] = &[
    grows("a memory, page by page", || {
        Wat::running(
            "(local $at i32)
             (block $full (loop $l
               (local.set $at (memory.grow (i32.const 1)))
               (br_if $full (i32.eq (local.get $at) (i32.const -1)))
               (memory.fill (i32.mul (local.get $at) (i32.const 65536)) (i32.const 1) (i32.const 65536))
               (br $l)))
             (call $answer (i32.const 0) (local.get $ptr) (local.get $len))",
        )
        .bytes()
    }),
    grows("a memory, at once", || {
        Wat::running(
            "(local $at i32)
             (local.set $at (i32.mul (memory.grow (i32.const 8192)) (i32.const 65536)))
             (memory.fill (local.get $at) (i32.const 1) (i32.const 536870912))
             (call $answer (i32.const 0) (local.get $ptr) (local.get $len))",
        )
        .bytes()
    }),
    grows("a memory that is large from its beginning", || modules(1, "(memory 8192)", FILL_LARGE)),
    grows("many memories", || modules(28, "(memory 1000)", FILL)),
    grows("many memories that grow", || modules(28, "(memory 1)", GROW_AND_FILL)),
    grows("a table", || modules(1, "(table $t 1 funcref)", GROW_TABLE)),
    grows("a table that is large from its beginning", || {
        modules(1, "(table $t 50000000 funcref)", FILL_TABLE)
    }),
    grows("many tables", || modules(28, "(table $t 1 funcref)", GROW_TABLE)),
    grows("waits that nobody ends", || {
        asking("(loop $l (drop (call $after (i64.const 1000000000000000000))) (br $l)) (unreachable)")
    }),
    GrowthCase {
        canary: HostCanary::Files,
        ..grows("files that nobody closes", || {
            reaching("(call $dirs (i32.const 3200))
            (loop $l
              (call $open (i32.load (i32.load (i32.const 3200))) (i32.const 1) (local.get $ptr) (local.get $len)
                (i32.const 0) (i32.const 1) (i32.const 3220))
              (br $l))
            (unreachable)").bytes()
        })
    },
    GrowthCase {
        ask: CallAction::Describe,
        ..growth_case(50, "what it says of itself, one text many times", || {
            // Each element of the list is a host of 16 MiB, and all are the same bytes.
            let describe = "(local $n i32)
            (drop (memory.grow (i32.const 600)))
            (memory.fill (i32.const 1048576) (i32.const 97) (i32.const 16777216))
            (loop $l
              (i32.store8 (i32.add (i32.const 65536) (i32.mul (local.get $n) (i32.const 12))) (i32.const 2))
              (i32.store (i32.add (i32.const 65540) (i32.mul (local.get $n) (i32.const 12))) (i32.const 1048576))
              (i32.store (i32.add (i32.const 65544) (i32.mul (local.get $n) (i32.const 12))) (i32.const 16777216))
              (local.set $n (i32.add (local.get $n) (i32.const 1)))
              (br_if $l (i32.lt_u (local.get $n) (i32.const 100))))
            (i32.store (i32.const 2076) (i32.const 65536))
            (i32.store (i32.const 2080) (i32.const 100))";
            Wat { describe, ..Wat::running("(unreachable)") }.bytes()
        })
    },
    growth_case(50, "a request, one header many times", || {
        reaching("(local $n i32)
            (drop (memory.grow (i32.const 600)))
            (memory.fill (i32.const 1048576) (i32.const 97) (i32.const 16777216))
            (loop $l
              (i32.store (i32.add (i32.const 65536) (i32.mul (local.get $n) (i32.const 16))) (i32.const 1048576))
              (i32.store (i32.add (i32.const 65540) (i32.mul (local.get $n) (i32.const 16))) (i32.const 16777216))
              (i32.store (i32.add (i32.const 65544) (i32.mul (local.get $n) (i32.const 16))) (i32.const 1048576))
              (i32.store (i32.add (i32.const 65548) (i32.mul (local.get $n) (i32.const 16))) (i32.const 16777216))
              (local.set $n (i32.add (local.get $n) (i32.const 1)))
              (br_if $l (i32.lt_u (local.get $n) (i32.const 50))))
            (call $fetch (i32.const 3007) (i32.const 3) (local.get $ptr) (local.get $len)
              (i32.const 65536) (i32.const 50) (i32.const 0) (i32.const 0) (i32.const 3300))
            (unreachable)").bytes()
    }),
    growth_case(54, "a list of one wait, ten million times", || waits(10_000_000)),
    growth_case(54, "a list of ten million empty headers", || {
        // Two empty texts are sixteen bytes here, and three times that for its host.
        reaching(
            "(drop (memory.grow (i32.const 1000)))
            (call $fetch (i32.const 3007) (i32.const 3) (local.get $ptr) (local.get $len)
              (i32.const 131072) (i32.const 4000000) (i32.const 0) (i32.const 0) (i32.const 3300))
            (unreachable)",
        )
        .bytes()
    }),
];

const FILL_LARGE: &str = "(memory.fill (i32.const 0) (i32.const 1) (i32.const 536870912))";
const FILL: &str = "(memory.fill (i32.const 0) (i32.const 1) (i32.const 65536000))";
const GROW_AND_FILL: &str =
    "(drop (memory.grow (i32.const 999))) (memory.fill (i32.const 0) (i32.const 1) (i32.const 65536000))";
const GROW_TABLE: &str = "(drop (table.grow $t (ref.null func) (i32.const 50000000)))
    (table.fill $t (i32.const 0) (ref.func $own) (table.size $t))";
const FILL_TABLE: &str = "(table.fill $t (i32.const 0) (ref.func $own) (table.size $t))";

/// A component with further core instances, each of which has something and does something when it begins.
fn modules(count: usize, has: &str, begins: &str) -> Vec<u8> {
    let module = format!(
        "(core module $more {has} (func $own {begins}) (elem declare func $own) (start $own)) {}",
        "(core instance (instantiate $more))\n".repeat(count)
    );
    binary(&changed(
        &Wat::running("(unreachable)"),
        "(core module $m\n",
        &format!("{module}\n(core module $m\n"),
    ))
}

/// A component that waits for a list that names one clock over and over.
fn waits(length: u32) -> Vec<u8> {
    let run = format!(
        "(local $p i32) (local $at i32)
         (drop (memory.grow (i32.const 1000)))
         (local.set $p (call $after (i64.const 1)))
         (local.set $at (i32.const 131072))
         (loop $l (i32.store (local.get $at) (local.get $p))
           (local.set $at (i32.add (local.get $at) (i32.const 4)))
           (br_if $l (i32.lt_u (local.get $at) (i32.const {end}))))
         (call $poll (i32.const 131072) (i32.const {length}) (i32.const 3100))
         (unreachable)",
        end = 131_072 + 4 * length,
    );
    let wat = Wat { imports: TIMES, with: WITH_TIMES, core_imports: CORE_TIMES, ..Wat::running("(nothing)") };
    binary(&changed(&wat, "(nothing)", &run))
}

/// Returns all of them.
pub(crate) fn trials() -> Vec<AttackTrial> {
    GROWING.iter().map(trial).collect()
}

fn trial(growing: &'static GrowthCase) -> AttackTrial {
    let pair = CasePair::new(growing.case, growing.variant, growing.mechanism);
    AttackTrial::new(vec![pair], move |place, pairs| {
        let given = |_: &str, attempt: &super::attempt::Attempt| {
            let time_max = std::time::Duration::from_secs(10);
            // What it asks, and the file that it opens.
            let spec =
                ComponentCall { ask: growing.ask, time_max, files: FileAccess::Read, ..attempt.spec.clone() };
            let _ = std::fs::write(spec.work.join("told"), "x");
            (ComponentCall { hosts: vec!["told.example".to_owned()], ..spec }, vec![growing.canary])
        };
        in_host(growing.bytes, given, place, pairs)
    })
}
