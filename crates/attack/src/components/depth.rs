//! Components that call themselves without end (51), also by way of their host (57).

use palyra_testkit::component_text::{Wat, binary};

use super::attempt::in_host;
use super::call::{CallAction, ComponentCall};
use super::loops::changed;
use super::watched::HostCanary;
use crate::pair::CasePair;
use crate::trial::AttackTrial;

/// A function that calls itself, so that it cannot be a loop.
const DEEP: &str = "(func $deep (param i64) (result i64)
    (i64.add (local.get 0) (call $deep (i64.add (local.get 0) (i64.const 1)))))";

/// How it goes deeper, and how the component is written.
struct DepthCase {
    case: u8,
    variant: &'static str,
    mechanism: &'static str,
    bytes: fn() -> Vec<u8>,
    ask: CallAction,
}

const fn deep(variant: &'static str, bytes: fn() -> Vec<u8>) -> DepthCase {
    DepthCase { case: 51, variant, mechanism: "the stack of a call", bytes, ask: CallAction::Run }
}

const ALL: &[DepthCase] = &[
    deep("a function that calls itself", || {
        Wat { core: DEEP, ..Wat::running("(drop (call $deep (i64.const 0))) (unreachable)") }.bytes()
    }),
    deep("two functions that call each other", || {
        let core = "(func $a (param i64) (result i64) (i64.add (local.get 0) (call $b (local.get 0))))
                    (func $b (param i64) (result i64) (i64.sub (call $a (local.get 0)) (i64.const 1)))";
        Wat { core, ..Wat::running("(drop (call $a (i64.const 0))) (unreachable)") }.bytes()
    }),
    deep("a function that is called by a table", || {
        let core = "(type $t (func (param i64) (result i64))) (table 1 funcref) (elem (i32.const 0) $d)
                    (func $d (type $t) (i64.add (local.get 0) (call_indirect (type $t) (local.get 0) (i32.const 0))))";
        Wat { core, ..Wat::running("(drop (call $d (i64.const 0))) (unreachable)") }.bytes()
    }),
    deep("a function with large frames", || {
        let params = "i64 ".repeat(400);
        let given: String = (0..400).map(|number| format!("(local.get {number})")).collect();
        let zeros = "(i64.const 0)".repeat(400);
        let wide = format!(
            "(func $wide (param {params}) (result i64) (i64.add (local.get 399) (call $wide {given}))) "
        );
        let wat = Wat { core: "(nothing)", ..Wat::running("(some) (unreachable)") };
        let text =
            changed(&wat, "(nothing)", &wide).replace("(some)", &format!("(drop (call $wide {zeros}))"));
        binary(&text)
    }),
    deep("its start", || {
        let text = changed(
            &Wat { core: DEEP, ..Wat::running("(unreachable)") },
            DEEP,
            &format!("{DEEP} (func $s (drop (call $deep (i64.const 0)))) (start $s)"),
        );
        binary(&text)
    }),
    deep("the room for its arguments", || {
        let text = changed(
            &Wat::running("(unreachable)"),
            "(local $at i32)",
            "(local $at i32) (drop (call $deep (i64.const 0)))",
        );
        let memory = r#"(memory (export "memory") 2)"#;
        binary(&text.replace(memory, &format!("{memory} {DEEP}")))
    }),
    DepthCase {
        ask: CallAction::Describe,
        ..deep("what it says of itself", || {
            let describe = "(drop (call $deep (i64.const 0)))";
            Wat { core: DEEP, describe, ..Wat::running("(unreachable)") }.bytes()
        })
    },
    DepthCase {
        case: 57,
        mechanism: "what is offered",
        ..deep("a tool that calls itself by way of its host", || {
            let imports = r#"(import "palyra:tool/run@1.0.0" (instance $again (export "run" (func (param "arguments" string)))))"#;
            let with = r#"(core func $again' (canon lower (func $again "run") (memory $memory)))
            (core instance $host (export "again" (func $again')))"#;
            let core_imports = r#"(import "host" "again" (func $again (param i32 i32)))"#;
            Wat {
                imports,
                with,
                core_imports,
                ..Wat::running("(call $again (local.get $ptr) (local.get $len)) (unreachable)")
            }
            .bytes()
        })
    },
];

/// Returns all of them.
pub(crate) fn trials() -> Vec<AttackTrial> {
    ALL.iter().map(trial).collect()
}

fn trial(deep: &'static DepthCase) -> AttackTrial {
    AttackTrial::new(vec![CasePair::new(deep.case, deep.variant, deep.mechanism)], move |place, pairs| {
        in_host(
            deep.bytes,
            |_, attempt| {
                (
                    ComponentCall { ask: deep.ask, ..attempt.spec.clone() },
                    vec![HostCanary::Dead, HostCanary::Memory],
                )
            },
            place,
            pairs,
        )
    })
}
