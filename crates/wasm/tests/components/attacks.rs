//! Components that would take more than they were given.

use std::time::Duration;

use palyra_wasm::{CallError, CallLimits, CompileError, Given};

use crate::component::{Bench, ECHO, Wat};

#[tokio::test(flavor = "multi_thread")]
async fn a_loop_ends_with_its_fuel() {
    let bench = Bench::new();
    let endless = Wat::running("(loop $l (br $l)) (unreachable)");
    let limits = CallLimits { fuel: 50_000_000, ..CallLimits::default() };
    assert_eq!(bench.run(&endless, Given::default(), limits).await, Err(CallError::OutOfFuel));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_loop_ends_with_its_time() {
    let bench = Bench::new();
    let endless = Wat::running("(loop $l (br $l)) (unreachable)");
    let limits = CallLimits { fuel: u64::MAX, time_max: Duration::from_millis(50) };
    assert_eq!(bench.run(&endless, Given::default(), limits).await, Err(CallError::TimedOut));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_loop_lets_others_go_on_and_ends_when_nobody_waits() {
    let bench = Bench::new();
    let endless = Wat::running("(loop $l (br $l)) (unreachable)");
    let limits = CallLimits { fuel: u64::MAX, time_max: Duration::from_secs(600) };
    let busy = bench.run(&endless, Given::default(), limits);
    let echo = Wat::running(ECHO);
    tokio::select! {
        _ = busy => panic!("it does not end by itself"),
        told = bench.run(&echo, Given::default(), CallLimits::default()) => assert_eq!(told, Ok("told".to_owned())),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_and_tables_do_not_grow_for_ever() {
    let bench = Bench::new();
    let hungry = Wat {
        core: "(memory $own 1) (table $t 1 funcref)",
        ..Wat::running(
            "(loop $l (br_if $l (i32.ne (table.grow $t (ref.null func) (i32.const 1000)) (i32.const -1))))
             (loop $l (br_if $l (i32.ne (memory.grow (i32.const 64)) (i32.const -1))))
             (i32.store (i32.const 400) (i32.add (i32.const 48) (i32.le_u (memory.size) (i32.const 1024))))
             (call $answer (i32.const 0) (i32.const 400) (i32.const 1))",
        )
    };
    let hungry = Wat { core: "(table $t 1 funcref)", ..hungry };
    assert_eq!(bench.run(&hungry, Given::default(), CallLimits::default()).await, Ok("1".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn deep_recursion_is_a_trap() {
    let bench = Bench::new();
    let deep = Wat {
        core: "(func $deep (param i64) (result i64) (i64.add (local.get 0) (call $deep (i64.add (local.get 0) (i64.const 1)))))",
        run: "(drop (call $deep (i64.const 0))) (unreachable)",
        ..Wat::default()
    };
    let trapped = bench.run(&deep, Given::default(), CallLimits::default()).await;
    assert!(matches!(trapped, Err(CallError::Trapped(_))), "{trapped:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trap_at_the_start_is_the_call_s_own() {
    let bench = Bench::new();
    let broken = Wat { core: "(func $s (unreachable)) (start $s)", ..Wat::running(ECHO) };
    let trapped = bench.run(&broken, Given::default(), CallLimits::default()).await;
    assert!(matches!(trapped, Err(CallError::Trapped(_))), "{trapped:?}");
    // The engine goes on.
    assert!(bench.run(&Wat::running(ECHO), Given::default(), CallLimits::default()).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_offered_cannot_be_imported() {
    let bench = Bench::new();
    for import in [
        r#"(import "palyra:tool/shell@1.0.0" (instance (export "run" (func (param "line" string)))))"#,
        r#"(import "wasi:http/outgoing-handler@0.2.0" (instance (export "handle" (func))))"#,
    ] {
        let wanting = Wat { imports: import, ..Wat::running(ECHO) };
        let unfit = bench.machine.compile(&wanting.bytes()).err();
        assert!(matches!(unfit, Some(CompileError::Unfit { .. })), "{unfit:?}");
    }
}

#[test]
fn what_is_no_component_is_refused() {
    let bench = Bench::new();
    let good = Wat::running(ECHO).bytes();
    let cases: [&[u8]; 5] =
        [b"", b"\0asm\x0d\0\x01\0", b"not wasm at all", &good[..good.len() / 2], b"\0asm\x01\0\0\0"];
    for bytes in cases {
        let refused = bench.machine.compile(bytes).err();
        assert!(
            matches!(refused, Some(CompileError::Malformed { .. } | CompileError::Unfit { .. })),
            "{refused:?}"
        );
    }
    let large = vec![0; 40 << 20];
    assert!(matches!(bench.machine.compile(&large).err(), Some(CompileError::TooLarge { .. })));
}

#[test]
fn bytes_of_a_component_that_were_changed_never_crash_the_compiler() {
    let bench = Bench::new();
    let good = Wat::running(ECHO).bytes();
    let mut compiled = 0;
    for at in (0..good.len()).step_by(7) {
        let mut changed = good.clone();
        changed[at] ^= 0x55;
        compiled += u32::from(bench.machine.compile(&changed).is_ok());
    }
    assert!(compiled < good.len() as u32 / 7, "nothing was refused");
}
