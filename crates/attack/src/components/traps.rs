//! Components that trap, so that the next caller finds a wreck (55).

use palyra_testkit::component_text::{Wat, binary};

use super::attempt::in_host;
use super::call::ComponentCall;
use super::loops::changed;
use super::watched::HostCanary;
use crate::pair::CasePair;
use crate::trial::AttackTrial;

/// What a component does that is told `t…`; told anything else, it answers.
const TRAPS: &[(&str, &str)] = &[
    ("a trap of its own", "(unreachable)"),
    ("a division by nothing", "(drop (i32.div_u (i32.const 1) (i32.const 0))) (unreachable)"),
    ("a number that does not fit", "(drop (i32.trunc_f64_s (f64.const 1e300))) (unreachable)"),
    ("a place beyond its memory", "(drop (i32.load (i32.const -8))) (unreachable)"),
    ("an entry that a table does not have", "(call_indirect (i32.const 9)) (unreachable)"),
    ("an entry that is nothing", "(call_indirect (i32.const 0)) (unreachable)"),
    ("a function of another type", "(drop (call_indirect (result i32) (i32.const 1))) (unreachable)"),
];

/// What its memory keeps of a caller, who is then found by the next one.
const KEPT: &str = "(global $kept (mut i32) (i32.const 0))";

/// Returns all of them.
pub(crate) fn trials() -> Vec<AttackTrial> {
    let traps = TRAPS.iter().map(|&(variant, trap)| {
        let bytes = move || trapping("(table 4 funcref) (elem (i32.const 1) $nothing) (func $nothing)", trap);
        trial(variant, bytes, HostCanary::Beside)
    });
    let room = "a room for its arguments that is nowhere";
    let lost = trial(
        room,
        || {
            // The second argument that is given room in one instance gets none.
            let nowhere = "(local $at i32) (if (i32.gt_u (global.get $next) (i32.const 4096)) (then (return (i32.const -8))))";
            binary(&changed(&Wat::running(ECHO_KEPT), "(local $at i32)", nowhere))
        },
        HostCanary::Beside,
    );
    let found = trial(
        "what a caller said, kept for the next one",
        || {
            let run = "(if (global.get $kept) (then (return (call $answer (i32.const 0) (global.get $kept) (i32.const 13)))))
                   (global.set $kept (local.get $ptr))
                   (call $answer (i32.const 0) (i32.const 0) (i32.const 0))";
            Wat { core: KEPT, ..Wat::running(run) }.bytes()
        },
        HostCanary::Secret,
    );
    traps.chain([lost, found]).collect()
}

const ECHO_KEPT: &str = "(call $answer (i32.const 0) (local.get $ptr) (local.get $len))";

fn trapping(core: &str, trap: &str) -> Vec<u8> {
    let wat = Wat { core: "(nothing)", ..Wat::running("(some)") };
    let run = format!(
        "(if (i32.eq (i32.load8_u (local.get $ptr)) (i32.const 116)) (then {trap}))
         (call $answer (i32.const 0) (local.get $ptr) (local.get $len))"
    );
    binary(&changed(&wat, "(nothing)", core).replace("(some)", &run))
}

fn trial(
    variant: &'static str,
    bytes: impl Fn() -> Vec<u8> + Clone + Send + Sync + 'static,
    canary: HostCanary,
) -> AttackTrial {
    AttackTrial::new(vec![CasePair::new(55, variant, "a store for each call")], move |place, pairs| {
        let given = move |_: &str, attempt: &super::attempt::Attempt| {
            let first = if canary == HostCanary::Secret { crate::trial_folder::SECRET } else { "trap" };
            let (arguments, again) = (first.to_owned(), Some("fine".to_owned()));
            (ComponentCall { arguments, again, ..attempt.spec.clone() }, vec![canary])
        };
        in_host(bytes.clone(), given, place, pairs)
    })
}
