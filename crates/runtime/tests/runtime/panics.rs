//! Panics inside the runtime: one run is lost to each, and nothing else.

use palyra_ports::ReadError;
use palyra_runtime::RequestError;
use palyra_testkit::scripted_tools::LOOK;
use palyra_testkit::{Gate, Script, ToolScript};
use palyra_types::ErrorCode;
use palyra_types::run::{RunLifecycleState, TerminationReason};

use crate::delivery::user_texts;
use crate::rig::{Rig, UNSPEAKABLE, settle, soon};
use crate::shapes::{check, shape};
use crate::waiting::a_waiting_run;

#[tokio::test]
async fn a_panic_in_a_run_fails_that_run_with_an_entry_that_says_so() {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.model.push(Script::new().text("before").hold(&gate).text(UNSPEAKABLE).hang());
    let run = rig.submit("k", "go").await.run;
    let queued = rig.submit("k", "next").await.run;
    soon("the model pauses", gate.reached()).await;
    gate.open();
    let record = rig.finished(run).await;
    assert_eq!(record.reason, Some(TerminationReason::InternalError));
    assert_eq!(record.error, Some(ErrorCode::Internal));
    let tape = rig.tape(run).await;
    check(&tape);
    assert_eq!(shape(&tape)[3..], ["abandoned 1 Cancelled", "finished InternalError"]);
    assert_eq!(rig.model.counts().dropped, 1, "its model is dropped");
    assert_eq!(rig.finished(queued).await.state, RunLifecycleState::Done);
}

#[tokio::test]
async fn a_panic_beside_a_running_tool_stops_the_tool() {
    let rig = Rig::start().await;
    rig.model.push(Script::new().call(LOOK, "{}").call(LOOK, "{}"));
    rig.tools.push(LOOK, ToolScript::UntilCancelled);
    rig.tools.push(LOOK, ToolScript::Say(UNSPEAKABLE.to_owned()));
    let run = rig.submit("k", "go").await.run;
    soon("both calls run", rig.tools.wait_until(|counts| counts.begun == 2)).await;
    rig.cancel(run).await.unwrap();
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Cancelled);
    assert!(shape(&rig.tape(run).await).contains(&"outcome 2 ToolFailed".to_owned()));
    check(&rig.tape(run).await);
}

#[tokio::test]
async fn a_panic_while_tools_run_settles_them_and_tells_them_to_stop() {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.model.push(Script::new().hold(&gate).call(LOOK, "{}"));
    rig.tools.push(LOOK, ToolScript::UntilCancelled);
    let run = rig.submit("k", "go").await.run;
    gate.open();
    soon("the call runs", rig.tools.wait_until(|counts| counts.begun == 1)).await;
    rig.memory.fail_next(palyra_ports::AppendError::Invalid { what: "for the test" });
    // Refused once, the cancel is told so, and the run fails for it.
    rig.cancel(run).await.unwrap_err();
    assert_eq!(rig.finished(run).await.reason, Some(TerminationReason::InternalError));
    soon("the tool is told to stop", rig.tools.wait_until(|counts| counts.ended == 1)).await;
    check(&rig.tape(run).await);
}

#[tokio::test]
async fn a_run_that_nobody_can_work_on_is_ended_and_the_next_begins() {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.model.push(Script::new().text("before").hold(&gate).text(UNSPEAKABLE).hang());
    let run = rig.submit("k", "go").await.run;
    let queued = rig.submit("k", "next").await.run;
    soon("the model pauses", gate.reached()).await;
    rig.faults.panic_at_next_read();
    gate.open();
    settle().await;
    let record = rig.record(run).await;
    assert_eq!(record.reason, Some(TerminationReason::InternalError));
    assert_eq!((record.state, record.error), (RunLifecycleState::Failed, Some(ErrorCode::Internal)));
    check(&rig.tape(run).await);
    assert_eq!(rig.finished(queued).await.state, RunLifecycleState::Done);
    let rig = rig.restarted().await;
    assert_eq!(rig.finished(rig.submit("k", "more").await.run).await.state, RunLifecycleState::Done);
}

#[tokio::test]
async fn who_speaks_to_a_run_that_panics_is_told_that_nobody_knows() {
    let rig = Rig::start().await;
    let run = a_waiting_run(&rig, "k").await;
    settle().await;
    rig.faults.panic_at_next_read();
    let told = rig.input(run, "go on").await;
    assert!(matches!(told, Err(RequestError::Append(palyra_ports::AppendError::Unknown))), "{told:?}");
}

#[tokio::test]
async fn a_session_goes_on_without_an_earlier_run_that_cannot_be_read() {
    let rig = Rig::start().await;
    for text in ["first", "second"] {
        rig.finished(rig.submit("k", text).await.run).await;
    }
    let rig = rig.restarted().await;
    rig.faults.fail_next_read(ReadError::Corrupt { seq: 7 });
    let third = rig.submit("k", "third").await;
    assert!(third.notes.iter().any(|note| note.contains("1 earlier runs")), "{:?}", third.notes);
    assert_eq!(rig.finished(third.run).await.state, RunLifecycleState::Done);
    assert_eq!(user_texts(&rig, 0), ["first", "third"], "the newest is read first");
}
