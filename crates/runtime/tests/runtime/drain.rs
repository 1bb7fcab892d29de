//! A runtime that comes to rest: what was begun finishes, the rest parks, and the next start goes on.

use std::time::Duration;

use palyra_ports::AppendError;
use palyra_runtime::RequestError;
use palyra_runtime::tape::{TapeError, TapeFollowEvent};
use palyra_testkit::scripted_tools::{LOOK, ToolScript};
use palyra_testkit::{Gate, Script};
use palyra_types::TapeSeq;
use palyra_types::event::{ModelEvent, RunEvent, TapeEvent, ToolEvent};
use palyra_types::model::ModelFailureClass;
use palyra_types::run::{RunLifecycleState, RunPhase};

use crate::rig::{Rig, by_key, settle, soon};
use crate::shapes::{check, shape};

#[tokio::test]
async fn an_answer_that_was_begun_finishes_and_what_waits_behind_it_does_not_begin() {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.model.push(Script::new().text("half ").hold(&gate).text("whole"));
    let first = rig.submit("k", "first").await.run;
    let second = rig.submit("k", "second").await.run;
    rig.until(first, "text", |event| matches!(event, TapeEvent::Model(ModelEvent::Requested(_)))).await;
    let drain = rig.gateway.sessions.drain();
    tokio::pin!(drain);
    assert!(futures::poll!(&mut drain).is_pending());
    let refused = rig.try_submit(by_key("other"), "third").await;
    assert!(matches!(refused, Err(RequestError::ShuttingDown)), "{refused:?}");
    gate.open();
    soon("rest", drain).await;
    assert_eq!(rig.record(first).await.state, RunLifecycleState::Done);
    assert_eq!(rig.record(second).await.phase, RunPhase::Queued);
    let again = rig.restarted().await;
    assert_eq!(again.finished(second).await.state, RunLifecycleState::Done);
}

#[tokio::test]
async fn a_tool_that_was_begun_reports_and_the_run_parks_before_it_asks_again() {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.model.push(Script::new().call(LOOK, "{}"));
    rig.tools.push(LOOK, ToolScript::Hold(gate.clone(), "seen".to_owned()));
    let run = rig.submit("k", "look").await.run;
    rig.until(run, "a tool", |event| matches!(event, TapeEvent::Tool(ToolEvent::Started { .. }))).await;
    let drain = rig.gateway.sessions.drain();
    tokio::pin!(drain);
    assert!(futures::poll!(&mut drain).is_pending());
    gate.open();
    soon("rest", drain).await;
    let parked = shape(&rig.tape(run).await);
    assert_eq!(parked.last().unwrap(), "asked 2", "{parked:?}");
    assert_eq!((rig.model.requests().len(), rig.record(run).await.phase), (1, RunPhase::Running));

    let again = rig.restarted().await;
    again.model.push(Script::new().text("done"));
    assert_eq!(again.finished(run).await.state, RunLifecycleState::Done);
    let tape = again.tape(run).await;
    check(&tape);
    assert_eq!(shape(&tape)[..parked.len()], parked);
    assert_eq!((again.tools.executions().len(), again.model.requests().len()), (0, 1), "{:?}", shape(&tape));
}

#[tokio::test]
async fn a_run_that_waits_for_a_person_is_at_rest() {
    let rig = Rig::start().await;
    soon("rest", rig.gateway.sessions.drain()).await;
    let rig = Rig::start().await;
    for _ in 0..3 {
        rig.model.push(Script::new().call(LOOK, "{}"));
    }
    let run = rig.submit("k", "look").await.run;
    rig.until(run, "the loop guard", |event| matches!(event, TapeEvent::Run(RunEvent::LoopDetected { .. })))
        .await;
    soon("rest", rig.gateway.sessions.drain()).await;
    assert!(matches!(rig.record(run).await.phase, RunPhase::Waiting(_)));
    // An answer is taken; asking the model is for the next start.
    rig.input(run, "go on").await.unwrap();
    settle().await;
    assert_eq!(rig.model.requests().len(), 3);
    let again = rig.restarted().await;
    assert_eq!(again.finished(run).await.state, RunLifecycleState::Done);
}

#[tokio::test]
async fn followers_see_every_committed_entry_before_they_are_sent_home() {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.model.push(Script::new().text("a").hold(&gate));
    let run = rig.submit("k", "say").await.run;
    let mut late = rig.follow(run, 0).await;
    rig.until(run, "a request", |event| matches!(event, TapeEvent::Model(ModelEvent::Requested(_)))).await;
    rig.gateway.sessions.end_followers();
    let mut seen = Vec::new();
    let ended = loop {
        match soon("an end", late.next()).await {
            Ok(Some(TapeFollowEvent::Entry(entry))) => seen.push(entry.tape_seq),
            Ok(Some(TapeFollowEvent::CaughtUp(_))) => {}
            Ok(None) => panic!("the run is not over"),
            Err(error) => break error,
        }
    };
    assert!(matches!(ended, TapeError::Append(AppendError::Closed)), "{ended:?}");
    let committed: Vec<_> = rig.tape(run).await.iter().map(|entry| entry.tape_seq).collect();
    assert_eq!(seen, committed);
    assert_eq!(seen[0], TapeSeq(1));
}

#[tokio::test]
async fn a_run_that_pauses_before_it_asks_again_parks_at_once() {
    let rig = Rig::start().await;
    rig.model.push(Script::new().fail(ModelFailureClass::Transient));
    let run = rig.submit("k", "say").await.run;
    rig.until(run, "a failure", |event| {
        matches!(event, TapeEvent::Model(ModelEvent::AttemptAbandoned { .. }))
    })
    .await;
    soon("rest", rig.gateway.sessions.drain()).await;
    assert_eq!((rig.model.requests().len(), rig.record(run).await.phase), (1, RunPhase::Running));
    let again = rig.restarted().await;
    again.model.push(Script::new().text("done"));
    settle().await;
    again.clock.advance(Duration::from_secs(60));
    assert_eq!(again.finished(run).await.state, RunLifecycleState::Done);
    check(&again.tape(run).await);
}
