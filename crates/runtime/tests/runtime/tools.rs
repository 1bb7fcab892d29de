//! Tools that answer, refuse, panic, hang and run beside each other.

use std::time::Duration;

use palyra_ports::AppendError;
use palyra_testkit::scripted_tools::{ACT, COUNT, LOOK, SCRIPTED_TOOL_DEADLINE};
use palyra_testkit::{Gate, Script, ToolScript};
use palyra_types::event::{LoopGuard, RunEvent, TapeEvent};
use palyra_types::model::{ChatMessage, ToolResultStatus};
use palyra_types::run::{RunLifecycleState, RunPhase, TerminationReason, WaitReason};

use crate::faults::Refusal;
use crate::rig::{Rig, settle, soon};
use crate::shapes::{check, shape};

/// Returns what the model read as results in the request of this number.
fn results(rig: &Rig, number: usize) -> Vec<(ToolResultStatus, String)> {
    let of = |message: &ChatMessage| match message {
        ChatMessage::ToolResult { status, text, .. } => Some((*status, text.expose().clone())),
        _ => None,
    };
    rig.model.requests()[number].messages.iter().filter_map(of).collect()
}

#[tokio::test]
async fn a_round_with_one_tool_has_its_entries_in_order() {
    let rig = Rig::start().await;
    rig.model.push(Script::new().text("let me see").call(LOOK, r#"{"a":1}"#));
    let run = rig.submit("k", "go").await.run;
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
    let tape = shape(&rig.tape(run).await);
    assert_eq!(
        tape,
        [
            "started go",
            "asked 1",
            "text let me see",
            "message 1",
            "proposed 1",
            "decided 1 Allow",
            "tool 1",
            "outcome 1",
            "asked 2",
            "text ok",
            "message 2",
            "finished FinalAnswer"
        ]
    );
    assert_eq!(results(&rig, 1), [(ToolResultStatus::Succeeded, r#"{"a":1}"#.to_owned())]);
}

#[tokio::test]
async fn what_policy_denies_is_never_executed_and_told_to_the_model() {
    let rig = Rig::start().await;
    rig.model.push(Script::new().call(ACT, "{}").call("nothing_such", "{}").call(LOOK, "{half"));
    let run = rig.submit("k", "go").await.run;
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
    assert!(rig.tools.executions().is_empty());
    let told = results(&rig, 1);
    assert_eq!(told.len(), 3);
    assert!(told.iter().all(|(status, text)| *status == ToolResultStatus::Failed && !text.is_empty()));
    check(&rig.tape(run).await);
}

#[tokio::test]
async fn a_tool_that_panics_fails_its_call_and_no_more() {
    for script in [ToolScript::Panic, ToolScript::PanicAtOnce, ToolScript::Lose] {
        let rig = Rig::start().await;
        rig.model.push(Script::new().call(LOOK, "{}"));
        rig.tools.push(LOOK, script);
        let run = rig.submit("k", "go").await.run;
        assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
        assert_eq!(results(&rig, 1)[0].0, ToolResultStatus::Failed);
        assert!(shape(&rig.tape(run).await).contains(&"outcome 1 ToolFailed".to_owned()));
    }
}

#[tokio::test]
async fn a_tool_that_hangs_fails_at_its_deadline() {
    let rig = Rig::start().await;
    rig.model.push(Script::new().call(LOOK, "{}"));
    rig.tools.push(LOOK, ToolScript::Hang);
    let run = rig.submit("k", "go").await.run;
    soon("the tool runs", rig.tools.wait_until(|counts| counts.begun == 1)).await;
    settle().await;
    rig.clock.advance(SCRIPTED_TOOL_DEADLINE);
    settle().await;
    rig.clock.advance(Duration::from_secs(5));
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
    assert!(shape(&rig.tape(run).await).contains(&"outcome 1 ToolTimedOut".to_owned()));
    assert_eq!(rig.tools.counts().dropped, 1, "nobody waits for it any more");
}

#[tokio::test]
async fn at_most_four_calls_run_beside_each_other_and_an_exclusive_one_alone() {
    let rig = Rig::start().await;
    let gates: Vec<Gate> = (0..7).map(|_| Gate::closed()).collect();
    let mut answer = Script::new();
    for (n, gate) in gates.iter().enumerate() {
        let tool = if n == 5 { COUNT } else { LOOK };
        answer = answer.call(tool, &format!("{{\"n\":{n}}}"));
        rig.tools.push(tool, ToolScript::Hold(gate.clone(), n.to_string()));
    }
    rig.model.push(answer);
    let run = rig.submit("k", "go").await.run;
    let open = async |gate: usize, begun: usize| {
        gates[gate].open();
        soon("the next calls", rig.tools.wait_until(|counts| counts.begun == begun)).await;
        settle().await;
        assert_eq!(rig.tools.counts().begun, begun, "after gate {gate}");
    };
    soon("four calls", rig.tools.wait_until(|counts| counts.begun == 4)).await;
    settle().await;
    assert_eq!(rig.tools.counts().begun, 4);
    open(2, 5).await;
    for gate in [0, 1, 3] {
        open(gate, 5).await;
    }
    open(4, 6).await;
    open(5, 7).await;
    gates[6].open();
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
    let told: Vec<String> = results(&rig, 1).into_iter().map(|(_, text)| text).collect();
    assert_eq!(told, ["0", "1", "2", "3", "4", "5", "6"], "results stand in the order of the calls");
    check(&rig.tape(run).await);
}

#[tokio::test]
async fn the_same_call_with_the_same_result_parks_the_run() {
    let rig = Rig::start().await;
    rig.model.otherwise(Script::new().call(LOOK, "{}"));
    let run = rig.submit("k", "go").await.run;
    let looped = rig
        .until(run, "the loop guard", |e| matches!(e, TapeEvent::Run(RunEvent::LoopDetected { .. })))
        .await;
    assert_eq!(
        looped.event,
        TapeEvent::Run(RunEvent::LoopDetected { guard: LoopGuard::SameResult, repeats: 3 })
    );
    settle().await;
    assert_eq!(rig.record(run).await.phase, RunPhase::Waiting(WaitReason::LoopCheck));
    assert_eq!(rig.model.counts().begun, 3);
}

#[tokio::test]
async fn the_same_failure_five_times_parks_the_run() {
    let rig = Rig::start().await;
    rig.model.otherwise(Script::new().call(ACT, "{}"));
    let run = rig.submit("k", "go").await.run;
    let looped = rig
        .until(run, "the loop guard", |e| matches!(e, TapeEvent::Run(RunEvent::LoopDetected { .. })))
        .await;
    assert_eq!(
        looped.event,
        TapeEvent::Run(RunEvent::LoopDetected { guard: LoopGuard::SameFailure, repeats: 5 })
    );
}

#[tokio::test]
async fn the_time_limit_stops_a_tool_that_does_not_listen() {
    let rig = Rig::start().await;
    rig.configure(|config| config.limits.active_time_max = Duration::from_secs(10));
    rig.model.push(Script::new().call(LOOK, "{}"));
    rig.tools.push(LOOK, ToolScript::Hang);
    let run = rig.submit("k", "go").await.run;
    soon("the tool runs", rig.tools.wait_until(|counts| counts.begun == 1)).await;
    settle().await;
    rig.clock.advance(Duration::from_secs(10));
    rig.until(run, "the limit", |event| matches!(event, TapeEvent::Run(RunEvent::CancelRequested { .. })))
        .await;
    settle().await;
    rig.clock.advance(Duration::from_secs(5));
    let record = rig.finished(run).await;
    assert_eq!(record.reason, Some(TerminationReason::TimeLimit));
    check(&rig.tape(run).await);
}

#[tokio::test]
async fn a_call_that_is_cancelled_in_the_step_that_starts_it_does_not_run() {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.model.push(Script::new().hold(&gate).call(LOOK, "{}").call(LOOK, "{}"));
    rig.tools.push(LOOK, ToolScript::Hang);
    rig.tools.push(LOOK, ToolScript::Hang);
    let run = rig.submit("k", "go").await.run;
    soon("the model is asked", gate.reached()).await;
    rig.faults.refuse(Refusal::NewWork(AppendError::Busy));
    gate.open();
    soon("the answer is refused", rig.faults.wait_refused(1)).await;
    let receipt = rig.cancel(run).await.unwrap();
    assert!(!receipt.already_finished);
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Cancelled);
    assert!(rig.tools.executions().is_empty(), "{:?}", rig.tools.executions());
    check(&rig.tape(run).await);
}

#[tokio::test]
async fn a_model_request_that_is_cancelled_in_its_own_step_is_never_made() {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.model.push(Script::new().call(LOOK, "{}"));
    rig.tools.push(LOOK, ToolScript::Hold(gate.clone(), "done".to_owned()));
    let run = rig.submit("k", "go").await.run;
    soon("the tool runs", gate.reached()).await;
    rig.faults.refuse(Refusal::All(AppendError::Busy));
    gate.open();
    soon("the outcome is refused", rig.faults.wait_refused(1)).await;
    rig.faults.mend();
    rig.cancel(run).await.unwrap();
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Cancelled);
    settle().await;
    assert_eq!(rig.model.counts().begun, 1, "{:?}", shape(&rig.tape(run).await));
    check(&rig.tape(run).await);
}
