//! Calls that nobody may repeat, taken up by a runtime that did not begin their run.

use std::time::Duration;

use palyra_policy::ToolPolicyRules;
use palyra_testkit::scripted_tools::{ACT, LOOK, SCRIPTED_TOOL_DEADLINE};
use palyra_testkit::{MemoryJournal, Script, ToolScript};
use palyra_types::RunId;
use palyra_types::event::{JournalEvent, TapeEvent, ToolEvent};
use palyra_types::run::{RunLifecycleState, RunPhase, WaitReason};
use palyra_types::tool::{EffectContract, Parallelism, ToolVerdict};

use crate::approval_calls::ACTS;
use crate::rig::{Parts, Rig, entries_of, journal_of, looking, settle, soon};
use crate::shapes::{check, shape};

/// The rules of these runs, before and after: right before a call starts, policy is asked again.
fn acting() -> ToolPolicyRules {
    looking().with_file("acts.cedar", &ACTS.replace("\"execute\"", "\"execute_unattended\""))
}

/// Makes a journal in which a run was just allowed to act, and to look beside it.
async fn just_allowed() -> (MemoryJournal, RunId) {
    let rig = Parts { rules: acting(), ..Parts::new() }.start().await;
    rig.model.push(Script::new().call(LOOK, "{}").call(ACT, "{}"));
    let run = rig.submit("k", "go").await.run;
    rig.finished(run).await;
    let mut entries = entries_of(&rig.memory).await;
    let decided =
        |event: &JournalEvent| matches!(event, JournalEvent::Tape(TapeEvent::Tool(ToolEvent::Decided(_))));
    let last = entries.iter().rposition(|entry| decided(&entry.event)).unwrap();
    entries.truncate(last + 1);
    for entry in &mut entries {
        if let JournalEvent::Tape(TapeEvent::Tool(ToolEvent::Decided(decided))) = &mut entry.event {
            decided.verdict = ToolVerdict::Allow;
            decided.parallelism = Parallelism::Parallel;
            decided.deadline = SCRIPTED_TOOL_DEADLINE;
        }
    }
    (journal_of(&entries).await, run)
}

async fn taken_up(journal: MemoryJournal, scripts: &[(&str, ToolScript)]) -> Rig {
    let parts = Parts { memory: journal, seed: 99, rules: acting(), ..Parts::new() };
    for (tool, script) in scripts {
        parts.tools.push(tool, script.clone());
    }
    parts.start().await
}

#[tokio::test]
async fn an_opaque_call_that_answers_is_like_any_other() {
    let (journal, run) = just_allowed().await;
    let rig = taken_up(journal, &[(ACT, ToolScript::Say("done".to_owned()))]).await;
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
    assert_eq!(rig.tools.executions().len(), 2);
    check(&rig.tape(run).await);
}

#[tokio::test]
async fn an_opaque_call_that_panics_or_is_lost_leaves_the_run_waiting() {
    for script in [ToolScript::Panic, ToolScript::PanicAtOnce, ToolScript::Lose] {
        let (journal, run) = just_allowed().await;
        let rig = taken_up(journal, &[(ACT, script)]).await;
        let unknown = |event: &TapeEvent| matches!(event, TapeEvent::Tool(ToolEvent::OutcomeUnknown { .. }));
        rig.until(run, "an unknown outcome", unknown).await;
        settle().await;
        assert_eq!(rig.record(run).await.phase, RunPhase::Waiting(WaitReason::OutcomeUnknown));
        assert!(shape(&rig.tape(run).await).contains(&"unknown 2 ExecutorLost".to_owned()));
        rig.input(run, "it did happen").await.unwrap();
        assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
        let acted = rig.tools.executions().iter().filter(|execution| execution.tool == ACT).count();
        assert_eq!(acted, 1, "it is never run again");
        check(&rig.tape(run).await);
    }
}

#[tokio::test]
async fn an_opaque_call_that_hangs_is_unknown_after_its_deadline() {
    let (journal, run) = just_allowed().await;
    let rig = taken_up(journal, &[(ACT, ToolScript::Hang)]).await;
    soon("both calls run", rig.tools.wait_until(|counts| counts.begun == 2)).await;
    settle().await;
    rig.clock.advance(SCRIPTED_TOOL_DEADLINE);
    settle().await;
    rig.clock.advance(Duration::from_secs(5));
    settle().await;
    assert_eq!(rig.record(run).await.phase, RunPhase::Waiting(WaitReason::OutcomeUnknown));
    let tape = shape(&rig.tape(run).await);
    assert_eq!(tape.last().map(String::as_str), Some("unknown 2 Deadline"), "{tape:?}");
    rig.cancel(run).await.unwrap();
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Cancelled);
    check(&rig.tape(run).await);
}

#[tokio::test]
async fn a_cancel_does_not_wait_longer_than_five_seconds_for_an_opaque_call() {
    let (journal, run) = just_allowed().await;
    let rig = taken_up(journal, &[(ACT, ToolScript::Hang)]).await;
    soon("both calls run", rig.tools.wait_until(|counts| counts.begun == 2)).await;
    settle().await;
    rig.cancel(run).await.unwrap();
    settle().await;
    rig.clock.advance(Duration::from_secs(5));
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Cancelled);
    assert!(shape(&rig.tape(run).await).contains(&"unknown 2 Cancelled".to_owned()));
    check(&rig.tape(run).await);
}

#[tokio::test]
async fn an_opaque_call_caught_by_a_restart_is_never_run_again() {
    let (journal, run) = just_allowed().await;
    let first = taken_up(journal, &[(LOOK, ToolScript::Hang), (ACT, ToolScript::Hang)]).await;
    soon("both calls run", first.tools.wait_until(|counts| counts.begun == 2)).await;
    let rig = first.restarted().await;
    let unknown = |event: &TapeEvent| matches!(event, TapeEvent::Tool(ToolEvent::OutcomeUnknown { .. }));
    rig.until(run, "an unknown outcome", unknown).await;
    settle().await;
    assert_eq!(rig.record(run).await.phase, RunPhase::Waiting(WaitReason::OutcomeUnknown));
    let again: Vec<String> = rig.tools.executions().into_iter().map(|execution| execution.tool).collect();
    assert_eq!(again, [LOOK], "only what changes nothing ran again");
    let tape = rig.tape(run).await;
    check(&tape);
    assert_eq!(crate::shapes::started(&tape, EffectContract::Opaque).len(), 1);
    let rig = rig.restarted().await;
    settle().await;
    assert_eq!(rig.tape(run).await, tape, "a run that waits is left alone by the next start");
    rig.input(run, "go on").await.unwrap();
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
    assert!(rig.tools.executions().is_empty());
}
