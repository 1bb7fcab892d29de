//! What a person says to a run: an answer if it waits, else an input of its own.

use std::time::Duration;

use palyra_runtime::session::SubmitRequest;
use palyra_testkit::scripted_tools::LOOK;
use palyra_testkit::{Gate, Script};
use palyra_types::event::{RunEvent, TapeEvent};
use palyra_types::model::ModelRef;
use palyra_types::run::{RunLifecycleState, RunPhase, WaitReason};
use palyra_types::{Redacted, RunId};

use crate::rig::{Rig, by_key, follow_to_end, request, settle, soon};
use crate::shapes::{check, shape};

/// Brings a run before the loop guard.
pub(crate) async fn a_waiting_run(rig: &Rig, key: &str) -> RunId {
    for _ in 0..3 {
        rig.model.push(Script::new().call(LOOK, "{}"));
    }
    let run = rig.submit(key, "go").await.run;
    rig.until(run, "the loop guard", |event| matches!(event, TapeEvent::Run(RunEvent::LoopDetected { .. })))
        .await;
    run
}

#[tokio::test]
async fn a_waiting_run_takes_an_input_and_goes_on() {
    let rig = Rig::start().await;
    let run = a_waiting_run(&rig, "k").await;
    let receipt = rig.input(run, "try again").await.unwrap();
    assert_eq!((receipt.run, receipt.queued), (run, false));
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
    let tape = shape(&rig.tape(run).await);
    let at = tape.iter().position(|word| word == "input try again").unwrap();
    assert_eq!(tape[at + 1], "asked 4");
}

#[tokio::test]
async fn a_waiting_run_outlives_its_session_s_actor_and_the_runtime() {
    let rig = Rig::start().await;
    let run = a_waiting_run(&rig, "k").await;
    let queued = rig.submit("k", "queued").await.run;
    settle().await;
    rig.clock.advance(Duration::from_secs(60));
    settle().await;
    assert_eq!(rig.clock.next_deadline(), None, "a waiting run is a row and no task");
    let rig = rig.restarted().await;
    settle().await;
    assert_eq!(rig.clock.next_deadline(), None, "nor is it one after a start");
    assert_eq!(rig.record(run).await.phase, RunPhase::Waiting(WaitReason::LoopCheck));
    let following = tokio::spawn(follow_to_end(rig.follow(run, 0).await));
    rig.input(run, "go on").await.unwrap();
    assert_eq!(rig.finished(queued).await.state, RunLifecycleState::Done);
    let seen = soon("the follower's end", following).await.unwrap();
    let seen: Vec<_> = seen.into_iter().map(|entry| (*entry).clone()).collect();
    assert_eq!(seen, rig.tape(run).await, "who followed it while it waited sees how it went on");
}

#[tokio::test]
async fn an_input_to_a_run_at_work_is_a_run_behind_it_in_the_same_folder_with_the_same_model() {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.model.push(Script::new().hold(&gate).text("done"));
    let submit = SubmitRequest {
        workspace_root: Some(Redacted::cleaned("/somewhere".into()).into()),
        model: Some(ModelRef::new("scripted", "another")),
        ..request(by_key("k"), "first")
    };
    let first = rig.gateway.sessions.submit(rig.me(), submit).await.unwrap().run;
    let receipt = rig.input(first, "second").await.unwrap();
    assert!(receipt.queued && receipt.run != first);
    gate.open();
    assert_eq!(rig.finished(receipt.run).await.state, RunLifecycleState::Done);
    let (one, two) = (rig.tape(first).await, rig.tape(receipt.run).await);
    let (TapeEvent::Run(RunEvent::Started(one)), TapeEvent::Run(RunEvent::Started(two))) =
        (&one[0].event, &two[0].event)
    else {
        panic!("a tape begins with RunStarted");
    };
    assert_eq!((&one.workspace_root, &one.model), (&two.workspace_root, &two.model));
    assert_eq!(two.input.text.expose(), "second");
}

#[tokio::test]
async fn an_input_to_a_queued_and_to_a_finished_run_is_a_run_of_its_own() {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.model.push(Script::new().hold(&gate).text("done"));
    let first = rig.submit("k", "first").await.run;
    let queued = rig.submit("k", "second").await.run;
    let behind = rig.input(queued, "third").await.unwrap();
    assert!(behind.queued);
    gate.open();
    rig.finished(behind.run).await;
    let after = rig.input(first, "fourth").await.unwrap();
    assert!(after.queued);
    assert_eq!(rig.finished(after.run).await.state, RunLifecycleState::Done);
}

#[tokio::test]
async fn of_two_inputs_to_a_waiting_run_one_answers_and_the_other_is_not_lost() {
    let rig = Rig::start().await;
    let run = a_waiting_run(&rig, "k").await;
    let gate = Gate::closed();
    rig.model.push(Script::new().hold(&gate).text("done"));
    let (one, two) = futures::future::join(rig.input(run, "one"), rig.input(run, "two")).await;
    let mut queued: Vec<_> = [one.unwrap(), two.unwrap()].into_iter().filter(|r| r.queued).collect();
    assert_eq!(queued.len(), 1);
    gate.open();
    let other = queued.remove(0).run;
    assert_eq!(rig.finished(other).await.state, RunLifecycleState::Done);
}

/// A run that has just begun to wait is about to leave; whoever speaks to it then must not be lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_input_at_the_moment_a_run_begins_to_wait_is_not_lost() {
    let rig = Rig::start().await;
    for round in 0..150 {
        let run = a_waiting_run(&rig, &format!("k{}", round % 3)).await;
        let receipt = rig.input(run, "go on").await.unwrap();
        assert_eq!((receipt.run, receipt.queued), (run, false), "round {round}");
        assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
        check(&rig.tape(run).await);
    }
}

#[tokio::test]
async fn proposals_keep_their_words_across_a_wait() {
    let rig = Rig::start().await;
    let run = a_waiting_run(&rig, "k").await;
    rig.input(run, "go on").await.unwrap();
    rig.finished(run).await;
    let last = rig.model.requests().last().unwrap().clone();
    let calls = last.messages.iter().filter(|message| {
        matches!(message, palyra_types::model::ChatMessage::Assistant { calls, .. } if !calls.is_empty())
    });
    assert_eq!(calls.count(), 3);
}
