//! What components are for.

use palyra_wasm::{CallError, CallLimits, DescribedCapability, DescribedContract, Given};

use crate::component::{Bench, ECHO, Wat};

#[tokio::test(flavor = "multi_thread")]
async fn a_component_says_what_it_is_and_what_it_is_told() {
    let bench = Bench::new();
    let echo = Wat::running(ECHO);
    let described = bench.machine.describe(&bench.compile(&echo)).await.expect("a description");
    assert_eq!((described.name.as_str(), described.schema.as_str()), ("echo", r#"{"type":"object"}"#));
    assert_eq!(described.contract, DescribedContract::Pure);
    assert_eq!(described.capabilities, [DescribedCapability::KeyValue]);
    assert_eq!(bench.run(&echo, Given::default(), CallLimits::default()).await, Ok("told".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_component_says_why_it_could_not() {
    let bench = Bench::new();
    let no = Wat::running("(call $answer (i32.const 1) (local.get $ptr) (local.get $len))");
    let said = bench.run(&no, Given::default(), CallLimits::default()).await;
    assert_eq!(said, Err(CallError::Said("told".to_owned())));
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_do_not_see_each_other() {
    let bench = Bench::new();
    let counting = Wat {
        core: "(global $n (mut i32) (i32.const 48))",
        run: "(global.set $n (i32.add (global.get $n) (i32.const 1)))
              (i32.store8 (i32.const 400) (global.get $n))
              (call $answer (i32.const 0) (i32.const 400) (i32.const 1))",
        ..Wat::default()
    };
    for _ in 0..3 {
        assert_eq!(bench.run(&counting, Given::default(), CallLimits::default()).await, Ok("1".to_owned()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_calls_wait_for_room_and_all_are_answered() {
    let bench = Bench::new();
    let echo = Wat::running(ECHO);
    let calls = (0..100).map(|_| bench.run(&echo, Given::default(), CallLimits::default()));
    for answer in futures::future::join_all(calls).await {
        assert_eq!(answer, Ok("told".to_owned()));
    }
}
