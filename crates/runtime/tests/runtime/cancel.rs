//! A cancel is seen at once in every state of a run, and leaves the tape as it should be.

use std::time::Duration;

use palyra_ports::AppendError;
use palyra_runtime::RequestError;
use palyra_runtime::session::{ResetMode, SessionSelector};
use palyra_testkit::scripted_tools::LOOK;
use palyra_testkit::{Gate, Script, ToolScript};
use palyra_types::ErrorCode;
use palyra_types::event::{ModelEvent, RunEvent, TapeEvent};
use palyra_types::run::{RunLifecycleState, RunPhase, TerminationReason, WaitReason};

use crate::rig::{Rig, by_key, request, settle, soon};
use crate::shapes::{check, shape};

#[tokio::test]
async fn a_queued_run_ends_without_ever_beginning() {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.model.push(Script::new().hold(&gate).text("done"));
    let first = rig.submit("k", "first").await.run;
    let queued = rig.submit("k", "second").await.run;
    let third = rig.submit("k", "third").await.run;
    let receipt = rig.cancel(queued).await.unwrap();
    assert_eq!((receipt.state, receipt.already_finished), (RunLifecycleState::Cancelled, false));
    assert_eq!(shape(&rig.tape(queued).await), ["started second", "cancel User", "finished Cancelled"]);
    let again = rig.cancel(queued).await.unwrap();
    assert_eq!((again.state, again.already_finished), (RunLifecycleState::Cancelled, true));
    assert_eq!(rig.record(first).await.phase, RunPhase::Running, "the run before it goes on");
    gate.open();
    assert_eq!(rig.finished(third).await.state, RunLifecycleState::Done, "the run behind it has its turn");
    assert_eq!(rig.model.counts().begun, 2);
}

#[tokio::test]
async fn a_run_that_its_session_does_not_know_yet_is_not_called_over() {
    let rig = Rig::start().await;
    rig.model.push(Script::new().hang());
    let first = rig.submit("k", "first").await.run;
    rig.memory.lose_next_answer();
    let lost = rig.try_submit(by_key("k"), "second").await.unwrap_err();
    assert!(matches!(lost, RequestError::Append(AppendError::Unknown)), "{lost:?}");
    let accepted = rig.open_runs().await.into_iter().find(|run| *run != first).unwrap();
    let answer = rig.cancel(accepted).await;
    assert!(matches!(answer, Err(RequestError::Append(AppendError::Unknown))), "{answer:?}");
}

#[tokio::test]
async fn two_cancels_of_a_queued_run_are_both_answered_with_its_end() {
    let rig = Rig::start().await;
    rig.model.push(Script::new().hang());
    rig.submit("k", "first").await;
    let queued = rig.submit("k", "second").await.run;
    rig.memory.hold();
    let cancelling = [queued, queued].map(|run| {
        let (runs, me) = (rig.gateway.runs.clone(), rig.me());
        tokio::spawn(async move { runs.cancel(me, run).await.unwrap() })
    });
    settle().await;
    rig.memory.release();
    for receipt in soon("both cancels", futures::future::join_all(cancelling)).await {
        assert_eq!(receipt.unwrap().state, RunLifecycleState::Cancelled);
    }
    check(&rig.tape(queued).await);
}

#[tokio::test]
async fn a_run_whose_model_has_not_spoken_drops_the_request_before_the_record() {
    let rig = Rig::start().await;
    rig.model.push(Script::new().hang());
    let run = rig.submit("k", "go").await.run;
    soon("the model is asked", rig.model.wait_until(|counts| counts.begun == 1)).await;
    rig.memory.hold();
    let (runs, me) = (rig.gateway.runs.clone(), rig.me());
    let cancelling = tokio::spawn(async move { runs.cancel(me, run).await });
    soon("the request is dropped", rig.model.wait_until(|counts| counts.dropped == 1)).await;
    assert!(!cancelling.is_finished(), "the canceller is answered after the commit");
    assert_eq!(rig.memory.held(), 1);
    rig.memory.release();
    let receipt = soon("the cancel", cancelling).await.unwrap().unwrap();
    assert_eq!(receipt.state, RunLifecycleState::Cancelled);
    let tape = ["started go", "asked 1", "cancel User", "abandoned 1 Cancelled", "finished Cancelled"];
    assert_eq!(shape(&rig.tape(run).await), tape);
}

#[tokio::test]
async fn a_run_whose_model_speaks_keeps_what_it_said_before_the_cancel() {
    let rig = Rig::start().await;
    rig.model.push(Script::new().texts(&["one ", "two "]).hang());
    let run = rig.submit("k", "go").await.run;
    rig.until(run, "the first text", |event| matches!(event, TapeEvent::Model(ModelEvent::Text { .. })))
        .await;
    settle().await;
    let receipt = rig.cancel(run).await.unwrap();
    assert_eq!((receipt.state, receipt.already_finished), (RunLifecycleState::Cancelled, false));
    assert_eq!(rig.model.counts().dropped, 1);
    let said = ["started go", "asked 1", "text one ", "text two "];
    let tape = [&said[..], &["cancel User", "abandoned 1 Cancelled", "finished Cancelled"]].concat();
    assert_eq!(shape(&rig.tape(run).await), tape);
    assert_eq!(rig.record(run).await.reason, Some(TerminationReason::Cancelled));
}

#[tokio::test]
async fn a_running_tool_is_told_to_stop_and_reports_before_the_end() {
    let rig = Rig::start().await;
    rig.model.push(Script::new().call(LOOK, "{}"));
    rig.tools.push(LOOK, ToolScript::UntilCancelled);
    let run = rig.submit("k", "go").await.run;
    soon("the tool runs", rig.tools.wait_until(|counts| counts.begun == 1)).await;
    let receipt = rig.cancel(run).await.unwrap();
    assert!(!receipt.already_finished);
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Cancelled);
    let tape = shape(&rig.tape(run).await);
    assert_eq!(tape[6..], ["cancel User", "outcome 1 ToolCancelled", "finished Cancelled"], "{tape:?}");
    assert_eq!(rig.tools.counts().ended, 1);
}

#[tokio::test]
async fn a_tool_that_does_not_listen_holds_the_end_up_for_five_seconds_only() {
    let rig = Rig::start().await;
    rig.model.push(Script::new().call(LOOK, "{}"));
    rig.tools.push(LOOK, ToolScript::Hang);
    let run = rig.submit("k", "go").await.run;
    soon("the tool runs", rig.tools.wait_until(|counts| counts.begun == 1)).await;
    let receipt = rig.cancel(run).await.unwrap();
    assert_eq!(receipt.state, RunLifecycleState::InProgress);
    settle().await;
    rig.clock.advance(Duration::from_secs(5));
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Cancelled);
    let tape = shape(&rig.tape(run).await);
    assert_eq!(tape[6..], ["cancel User", "outcome 1 ToolCancelled", "finished Cancelled"], "{tape:?}");
    let next = rig.submit("k", "next").await.run;
    assert_eq!(rig.finished(next).await.state, RunLifecycleState::Done);
}

#[tokio::test]
async fn a_run_that_waits_for_a_person_ends() {
    let rig = Rig::start().await;
    for _ in 0..3 {
        rig.model.push(Script::new().call(LOOK, "{}"));
    }
    let run = rig.submit("k", "go").await.run;
    rig.until(run, "the loop guard", |event| matches!(event, TapeEvent::Run(RunEvent::LoopDetected { .. })))
        .await;
    settle().await;
    assert_eq!(rig.record(run).await.phase, RunPhase::Waiting(WaitReason::LoopCheck));
    let receipt = rig.cancel(run).await.unwrap();
    assert_eq!((receipt.state, receipt.already_finished), (RunLifecycleState::Failed, false));
    let tape = shape(&rig.tape(run).await);
    assert_eq!(tape[tape.len() - 3..], ["loop SameResult 3", "cancel User", "finished LoopStopped"]);
    assert_eq!(rig.record(run).await.error, Some(ErrorCode::LoopStopped));
}

#[tokio::test]
async fn a_finished_run_stays_as_it_is() {
    let rig = Rig::start().await;
    let run = rig.submit("k", "go").await.run;
    rig.finished(run).await;
    let before = rig.tape(run).await;
    let receipt = rig.cancel(run).await.unwrap();
    assert_eq!((receipt.state, receipt.already_finished), (RunLifecycleState::Done, true));
    assert_eq!(rig.tape(run).await, before);
}

#[tokio::test]
async fn a_second_cancel_is_answered_and_recorded_once() {
    let rig = Rig::start().await;
    rig.model.push(Script::new().call(LOOK, "{}"));
    let gate = Gate::closed();
    rig.tools.push(LOOK, ToolScript::Hold(gate.clone(), "late".to_owned()));
    let run = rig.submit("k", "go").await.run;
    soon("the tool runs", gate.reached()).await;
    for _ in 0..3 {
        let receipt = rig.cancel(run).await.unwrap();
        assert_eq!((receipt.state, receipt.already_finished), (RunLifecycleState::InProgress, false));
    }
    gate.open();
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Cancelled);
    let tape = shape(&rig.tape(run).await);
    assert_eq!(tape.iter().filter(|word| word.starts_with("cancel")).count(), 1, "{tape:?}");
    check(&rig.tape(run).await);
}

#[tokio::test]
async fn a_cancel_does_not_wait_behind_what_others_ask_of_the_session() {
    let rig = Rig::start().await;
    rig.model.push(Script::new().hang());
    let run = rig.submit("k", "go").await.run;
    soon("the model is asked", rig.model.wait_until(|counts| counts.begun == 1)).await;
    rig.memory.hold();
    let (sessions, runs, me) = (rig.gateway.sessions.clone(), rig.gateway.runs.clone(), rig.me());
    let submitting = {
        let sessions = sessions.clone();
        tokio::spawn(async move { sessions.submit(me, request(by_key("k"), "next")).await })
    };
    let resetting = tokio::spawn(async move {
        let reset = SessionSelector { reset: ResetMode::Reset, ..by_key("k") };
        sessions.resolve(me, reset, None).await
    });
    settle().await;
    let cancelling = tokio::spawn(async move { runs.cancel(me, run).await });
    soon("the request is dropped", rig.model.wait_until(|counts| counts.dropped == 1)).await;
    rig.memory.release();
    let next = soon("the submit", submitting).await.unwrap().unwrap();
    assert!(soon("the reset", resetting).await.unwrap().unwrap().reset_applied);
    soon("the cancel", cancelling).await.unwrap().unwrap();
    assert_eq!(rig.finished(next.run).await.state, RunLifecycleState::Done);
}

#[tokio::test]
async fn a_cancelled_run_leaves_the_session_to_the_next() {
    let rig = Rig::start().await;
    rig.model.push(Script::new().hang());
    let first = rig.submit("k", "first").await.run;
    let second = rig.submit("k", "second").await.run;
    rig.cancel(first).await.unwrap();
    assert_eq!(rig.finished(second).await.state, RunLifecycleState::Done);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn cancels_that_race_with_the_end_of_runs_are_all_answered() {
    let rig = Rig::start().await;
    for round in 0..200 {
        let run = rig.submit(&format!("k{}", round % 5), "go").await.run;
        let cancelling = (0..8).map(|_| {
            let (runs, me) = (rig.gateway.runs.clone(), rig.me());
            tokio::spawn(async move { runs.cancel(me, run).await.unwrap() })
        });
        let receipts = soon("every cancel is answered", futures::future::join_all(cancelling)).await;
        let state = rig.finished(run).await.state;
        assert!(matches!(state, RunLifecycleState::Done | RunLifecycleState::Cancelled));
        for receipt in receipts.into_iter().map(Result::unwrap) {
            assert!(!receipt.state.is_terminal() || receipt.state == state, "{receipt:?}");
        }
        check(&rig.tape(run).await);
    }
}
