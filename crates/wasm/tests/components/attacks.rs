//! Components that would take more than they were given.

use std::time::Duration;

use palyra_wasm::{CallError, CallLimits, CallReach, CompileError};

use crate::component::{Bench, ECHO, Wat};

#[tokio::test(flavor = "multi_thread")]
async fn a_loop_ends_with_its_fuel() {
    let bench = Bench::new();
    let endless = Wat::running("(loop $l (br $l)) (unreachable)");
    let limits = CallLimits { fuel: 50_000_000, ..CallLimits::default() };
    assert_eq!(bench.run(&endless, CallReach::default(), limits).await, Err(CallError::OutOfFuel));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_loop_ends_with_its_time() {
    let bench = Bench::new();
    let endless = Wat::running("(loop $l (br $l)) (unreachable)");
    let limits = CallLimits { fuel: u64::MAX, time_max: Duration::from_millis(50) };
    assert_eq!(bench.run(&endless, CallReach::default(), limits).await, Err(CallError::TimedOut));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_loop_lets_others_go_on_and_ends_when_nobody_waits() {
    let bench = Bench::new();
    let endless = Wat::running("(loop $l (br $l)) (unreachable)");
    let limits = CallLimits { fuel: u64::MAX, time_max: Duration::from_secs(600) };
    let busy = bench.run(&endless, CallReach::default(), limits);
    let echo = Wat::running(ECHO);
    tokio::select! {
        _ = busy => panic!("it does not end by itself"),
        told = bench.run(&echo, CallReach::default(), CallLimits::default()) => assert_eq!(told, Ok("told".to_owned())),
    }
}

/// An hour is slept away, on a clock that goes on whenever nothing else does.
const SLEEP: &str = r#"(i32.store (i32.const 3000) (call $clock (i64.const 3600000000000)))
    (call $poll (i32.const 3000) (i32.const 1) (i32.const 3100))"#;
const SLEEP_AT_START: &str = r#"(func $s (i32.store (i32.const 3000) (call $clock (i64.const 3600000000000)))
    (call $poll (i32.const 3000) (i32.const 1) (i32.const 3100))) (start $s)"#;
const LOOP: &str = "(loop $l (br $l))";
const LOOP_AT_START: &str = "(func $s (loop $l (br $l))) (start $s)";

#[tokio::test(start_paused = true)]
async fn whatever_is_done_with_a_component_ends_with_its_time() {
    let bench = Bench::new();
    let sleeping = [Wat { describe: SLEEP, ..polling(1) }, Wat { core: SLEEP_AT_START, ..polling(1) }];
    for wat in &sleeping {
        let told = bench.engine.describe(&bench.compile(wat)).await;
        assert_eq!(told, Err(CallError::TimedOut), "{}{}", wat.describe, wat.core);
    }
    let started = bench.engine.instantiate(&bench.compile(&sleeping[1])).await;
    assert_eq!(started, Err(CallError::TimedOut));
    for wat in [&sleeping[1], &Wat { run: SLEEP_AND_ANSWER, ..polling(1) }] {
        let told = bench.run(wat, CallReach::default(), CallLimits::default()).await;
        assert_eq!(told, Err(CallError::TimedOut));
    }
    // The control: what does not sleep says what it is.
    assert!(bench.engine.describe(&bench.compile(&polling(1))).await.is_ok());
}

const SLEEP_AND_ANSWER: &str = r#"(i32.store (i32.const 3000) (call $clock (i64.const 3600000000000)))
    (call $poll (i32.const 3000) (i32.const 1) (i32.const 3100))
    (call $answer (i32.const 0) (local.get $ptr) (local.get $len))"#;

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_come_to_say_what_it_is_is_ended() {
    let bench = Bench::new();
    for wat in
        [Wat { describe: LOOP, ..Wat::running(ECHO) }, Wat { core: LOOP_AT_START, ..Wat::running(ECHO) }]
    {
        let told = bench.engine.describe(&bench.compile(&wat)).await;
        assert!(matches!(told, Err(CallError::OutOfFuel | CallError::TimedOut)), "{told:?}");
    }
    // The control: the same without the loop says what it is.
    assert!(bench.engine.describe(&bench.compile(&Wat::running(ECHO))).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_call_waits_for_room_no_longer_than_its_time() {
    let bench = Bench::new();
    let sleeper = bench.compile(&Wat { run: SLEEP_AND_ANSWER, ..polling(1) });
    let long = CallLimits { time_max: Duration::from_secs(7_200), ..CallLimits::default() };
    let busy = (0..16).map(|_| bench.call(&sleeper, CallReach::default(), long));
    let (busy, echo) = (futures::future::join_all(busy), bench.compile(&Wat::running(ECHO)));
    let late = bench.call(&echo, CallReach::default(), CallLimits::default());
    tokio::pin!(busy);
    tokio::select! {
        biased;
        _ = &mut busy => panic!("they sleep longer"),
        told = late => assert_eq!(told, Err(CallError::NoRoom)),
    }
    // The control: they are answered, and then there is room.
    assert!(busy.await.iter().all(Result::is_ok));
    assert!(bench.call(&echo, CallReach::default(), CallLimits::default()).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn memories_together_are_no_larger_than_one_may_be() {
    let bench = Bench::new();
    // 512 pages are half of what there may be.
    const ONE: &str = "(core module $half (memory 512)) (core instance (instantiate $half))";
    const THREE: &str = "(core module $half (memory 512)) (core instance (instantiate $half))
        (core instance (instantiate $half)) (core instance (instantiate $half))";
    let run = async |with| {
        let wat = Wat { with, ..Wat::running(ECHO) };
        bench.run(&wat, CallReach::default(), CallLimits::default()).await
    };
    assert_eq!(run(ONE).await, Ok("told".to_owned()), "the control");
    let refused = run(THREE).await;
    assert!(matches!(refused, Err(CallError::Trapped(_))), "{refused:?}");
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
    assert_eq!(bench.run(&hungry, CallReach::default(), CallLimits::default()).await, Ok("1".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn deep_recursion_is_a_trap() {
    let bench = Bench::new();
    let deep = Wat {
        core: "(func $deep (param i64) (result i64) (i64.add (local.get 0) (call $deep (i64.add (local.get 0) (i64.const 1)))))",
        run: "(drop (call $deep (i64.const 0))) (unreachable)",
        ..Wat::default()
    };
    let trapped = bench.run(&deep, CallReach::default(), CallLimits::default()).await;
    assert!(matches!(trapped, Err(CallError::Trapped(_))), "{trapped:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trap_at_the_start_is_the_call_s_own() {
    let bench = Bench::new();
    let broken = Wat { core: "(func $s (unreachable)) (start $s)", ..Wat::running(ECHO) };
    let trapped = bench.run(&broken, CallReach::default(), CallLimits::default()).await;
    assert!(matches!(trapped, Err(CallError::Trapped(_))), "{trapped:?}");
    // The engine goes on.
    assert!(bench.run(&Wat::running(ECHO), CallReach::default(), CallLimits::default()).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_offered_cannot_be_imported() {
    let bench = Bench::new();
    for import in [
        r#"(import "palyra:tool/shell@1.0.0" (instance (export "run" (func (param "line" string)))))"#,
        r#"(import "wasi:http/outgoing-handler@0.2.0" (instance (export "handle" (func))))"#,
    ] {
        let wanting = Wat { imports: import, ..Wat::running(ECHO) };
        let unfit = bench.engine.compile(&wanting.bytes()).err();
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
        let refused = bench.engine.compile(bytes).err();
        assert!(
            matches!(refused, Some(CompileError::Malformed { .. } | CompileError::Unfit { .. })),
            "{refused:?}"
        );
    }
    let large = vec![0; 40 << 20];
    assert!(matches!(bench.engine.compile(&large).err(), Some(CompileError::TooLarge { .. })));
}

#[test]
fn bytes_of_a_component_that_were_changed_never_crash_the_compiler() {
    let bench = Bench::new();
    let good = Wat::running(ECHO).bytes();
    let mut compiled = 0;
    for at in (0..good.len()).step_by(7) {
        let mut changed = good.clone();
        changed[at] ^= 0x55;
        compiled += u32::from(bench.engine.compile(&changed).is_ok());
    }
    assert!(compiled < good.len() as u32 / 7, "nothing was refused");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_poll_list_without_end_is_a_trap() {
    let bench = Bench::new();
    for (length, ends) in [(1, true), (400_000_000, false)] {
        let waiting = polling(length);
        let answer = bench.run(&waiting, CallReach::default(), CallLimits::default()).await;
        assert_eq!(answer.is_ok(), ends, "{length}: {answer:?}");
    }
}

/// Waits for a list of this many clocks, of which memory holds the first.
fn polling(length: u32) -> Wat {
    Wat {
        imports: r#"
  (import "wasi:io/poll@0.2.12" (instance $poll
    (export "pollable" (type $p (sub resource)))
    (export "poll" (func (param "in" (list (borrow $p))) (result (list u32))))))
  (alias export $poll "pollable" (type $pollable))
  (import "wasi:clocks/monotonic-clock@0.2.12" (instance $clock
    (alias outer 1 $pollable (type $p)) (export "pollable" (type $own (eq $p)))
    (export "subscribe-duration" (func (param "when" u64) (result (own $own))))))"#,
        with: r#"
  (core func $poll' (canon lower (func $poll "poll") (memory $memory) (realloc $realloc)))
  (core func $clock' (canon lower (func $clock "subscribe-duration")))
  (core instance $host (export "poll" (func $poll')) (export "clock" (func $clock')))"#,
        core_imports: r#"
    (import "host" "poll" (func $poll (param i32 i32 i32)))
    (import "host" "clock" (func $clock (param i64) (result i32)))"#,
        given: "x".repeat(usize::from(length > 1)),
        run: r#"
    (i32.store (i32.const 3000) (call $clock (i64.const 1)))
    (call $poll (i32.const 3000) (select (i32.const 400000000) (i32.const 1) (global.get $given)) (i32.const 3100))
    (call $answer (i32.const 0) (local.get $ptr) (local.get $len))"#,
        ..Wat::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_component_does_not_enter_itself_through_an_import() {
    let bench = Bench::new();
    // An import that leads back to an export of the same component is not something that can be written: the engine has
    // no such instance when it looks for the import.
    let inward =
        r#"(import "palyra:tool/run@1.0.0" (instance (export "run" (func (param "arguments" string)))))"#;
    let unfit = bench.engine.compile(&Wat { imports: inward, ..Wat::running(ECHO) }.bytes()).err();
    assert!(matches!(unfit, Some(CompileError::Unfit { .. })), "{unfit:?}");
    // The control: the same component without it is answered.
    assert!(bench.run(&Wat::running(ECHO), CallReach::default(), CallLimits::default()).await.is_ok());
}

#[test]
fn memory_that_is_shared_is_no_component_s() {
    let bench = Bench::new();
    let refused = |memory: &str| {
        let bytes = wat::parse_str(format!("(component (core module (memory {memory})))")).expect("a text");
        bench.engine.compile(&bytes).err()
    };
    assert!(matches!(refused("1 1 shared"), Some(CompileError::Malformed { .. })));
    // The control: the same memory for itself alone is taken, and only the exports of a tool are missed.
    assert!(matches!(refused("1 1"), Some(CompileError::Unfit { .. })));
}
