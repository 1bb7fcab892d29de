//! Panics inside the runtime: one run is lost to each, and nothing else.

use palyra_testkit::scripted_tools::LOOK;
use palyra_testkit::{Gate, Script, ToolScript};
use palyra_types::ErrorCode;
use palyra_types::run::{RunLifecycleState, TerminationReason};

use crate::rig::{Rig, UNSPEAKABLE, soon};
use crate::shapes::{check, shape};

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
