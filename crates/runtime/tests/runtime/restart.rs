//! The runtime stopped after every single entry, and started again.

use std::time::Duration;

use palyra_ports::{AppendError, MaintainJournal, ReadOnlyCause};
use palyra_runtime::RequestError;
use palyra_testkit::scripted_tools::{COUNT, LOOK};
use palyra_testkit::{Gate, MemoryJournal, Script};
use palyra_types::RunId;
use palyra_types::event::{AbandonCause, JournalEvent, LogEvent, ModelEvent, RunEvent, TapeEvent, ToolEvent};
use palyra_types::run::{RunLifecycleState, RunPhase, TerminationReason, WaitReason};
use palyra_types::tape::JournalEventRecord;
use palyra_types::tool::EffectContract;

use crate::rig::{Parts, Rig, by_key, entries_of, journal_of, settle, soon};
use crate::shapes::{check, shape, started};

/// Two turns with tools, a loop that a person looked at, and a run queued behind.
async fn recorded() -> (Vec<JournalEventRecord>, [RunId; 2]) {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.model.push(
        Script::new().text("let me ").hold(&gate).text("see").call(LOOK, "{}").call(LOOK, r#"{"a":1}"#),
    );
    rig.model.push(Script::new().call(LOOK, "{}").call(COUNT, "{}"));
    rig.model.push(Script::new().text("once more").call(LOOK, "{}"));
    let first = rig.submit("k", "first").await.run;
    let second = rig.submit("k", "second").await.run;
    gate.open();
    rig.until(first, "the loop guard", |event| {
        matches!(event, TapeEvent::Run(RunEvent::LoopDetected { .. }))
    })
    .await;
    rig.input(first, "go on").await.unwrap();
    rig.finished(second).await;
    let entries = entries_of(&rig.memory).await;
    let own = |entry: &JournalEventRecord| {
        matches!(entry.event, JournalEvent::Log(LogEvent::Opened { .. } | LogEvent::EpochStarted { .. }))
    };
    (entries.into_iter().filter(|entry| !own(entry)).collect(), [first, second])
}

/// Waits until a run is over or waits for a person, and lets it go on in the second case.
async fn brought_to_an_end(rig: &Rig, run: RunId) {
    for _ in 0..4 {
        settle().await;
        match rig.record(run).await.phase {
            RunPhase::Finished => return,
            RunPhase::Waiting(_) => drop(rig.input(run, "go on").await.unwrap()),
            RunPhase::Queued | RunPhase::Running => rig.clock.advance(Duration::from_secs(1)),
        }
    }
    panic!("the run is stuck: {:?}", shape(&rig.tape(run).await));
}

#[tokio::test]
async fn a_runtime_stopped_after_any_entry_brings_every_run_to_its_end() {
    let (entries, runs) = recorded().await;
    for stopped_after in 1..=entries.len() {
        let rig = Rig::on(journal_of(&entries[..stopped_after]).await).await;
        for run in runs {
            if !entries[..stopped_after].iter().any(|entry| entry.run.is_some_and(|(of, _)| of == run)) {
                continue;
            }
            brought_to_an_end(&rig, run).await;
            let tape = rig.tape(run).await;
            check(&tape);
            assert_eq!(rig.record(run).await.state, RunLifecycleState::Done, "stopped after {stopped_after}");
            let before = entries[..stopped_after].iter().filter_map(|e| e.run.filter(|(of, _)| *of == run));
            assert!(tape.len() >= before.count());
        }
        let mut again: Vec<_> = rig.tools.executions().iter().map(|e| (e.run, e.effect)).collect();
        let all = again.len();
        again.sort_unstable();
        again.dedup();
        assert_eq!(again.len(), all, "nothing runs twice after one start");
    }
}

#[tokio::test]
async fn a_pure_call_caught_by_a_stop_runs_again_under_the_entry_it_has() {
    let (entries, [run, _]) = recorded().await;
    let begun = |entry: &JournalEventRecord| {
        matches!(entry.event, JournalEvent::Tape(TapeEvent::Tool(ToolEvent::Started { .. })))
    };
    let last = entries.iter().position(begun).unwrap() + 1;
    assert!(begun(&entries[last]), "two calls begin in one commit");
    let rig = Rig::on(journal_of(&entries[..=last]).await).await;
    brought_to_an_end(&rig, run).await;
    let tape = rig.tape(run).await;
    check(&tape);
    assert_eq!(rig.tools.executions().iter().take(2).map(|e| e.effect.0).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(started(&tape, EffectContract::Pure)[..2].iter().map(|e| e.0).collect::<Vec<_>>(), [1, 2]);
}

#[tokio::test]
async fn nothing_is_run_again_on_a_read_only_journal_whoever_knocks() {
    let (entries, [run, queued]) = recorded().await;
    let begun = |entry: &JournalEventRecord| {
        matches!(entry.event, JournalEvent::Tape(TapeEvent::Tool(ToolEvent::Started { .. })))
    };
    let last = entries.iter().position(begun).unwrap() + 1;
    let memory = journal_of(&entries[..=last]).await;
    memory.make_read_only(ReadOnlyCause::TailDisagrees);
    let before = memory.status();
    let rig = Rig::on(memory.clone()).await;
    settle().await;
    let quarantined = |error: Option<RequestError>| {
        assert!(matches!(error, Some(RequestError::Append(AppendError::Quarantined))), "{error:?}");
    };
    quarantined(rig.cancel(run).await.err());
    quarantined(rig.input(run, "more").await.err());
    quarantined(rig.try_submit(by_key("k"), "more").await.err());
    quarantined(rig.cancel(queued).await.err());
    settle().await;
    assert_eq!(rig.tools.counts().begun, 0, "a call that was begun before the stop is not begun again");
    assert_eq!(rig.model.counts().begun, 0);
    assert_eq!(memory.status(), before);
    let rig = rig.restarted().await;
    brought_to_an_end(&rig, run).await;
    assert_eq!(rig.tools.executions().iter().take(2).map(|e| e.effect.0).collect::<Vec<_>>(), [1, 2]);
}

#[tokio::test]
async fn a_model_request_caught_again_and_again_waits_for_a_person_and_is_not_given_up() {
    let mut rig = Rig::start().await;
    rig.model.otherwise(Script::new().text("half ").hang());
    let run = rig.submit("k", "go").await.run;
    rig.until(run, "its text", |event| matches!(event, TapeEvent::Model(ModelEvent::Text { .. }))).await;
    for repetition in 1..=4 {
        let parts = Parts { memory: rig.memory.restarted(), seed: repetition, ..Parts::new() };
        parts.model.otherwise(Script::new().text("half ").hang());
        rig = parts.start().await;
        soon("it is asked again", rig.model.wait_until(|counts| counts.begun == 1)).await;
        settle().await;
    }
    let rig = rig.restarted().await;
    rig.until(run, "a question to a person", |event| {
        matches!(event, TapeEvent::Run(RunEvent::LoopDetected { .. }))
    })
    .await;
    settle().await;
    assert_eq!(rig.record(run).await.phase, RunPhase::Waiting(WaitReason::LoopCheck));
    assert_eq!(rig.model.counts().begun, 0);
    let abandoned = rig.tape(run).await.into_iter().filter(|entry| {
        matches!(
            entry.event,
            TapeEvent::Model(ModelEvent::AttemptAbandoned { cause: AbandonCause::Restart, .. })
        )
    });
    assert_eq!(abandoned.count(), 5);
    rig.input(run, "go on").await.unwrap();
    assert_eq!(rig.finished(run).await.reason, Some(TerminationReason::FinalAnswer));
}

#[tokio::test]
async fn a_cancel_that_was_recorded_is_finished_after_a_stop() {
    let (entries, [run, _]) = recorded().await;
    let begun = |entry: &JournalEventRecord| {
        matches!(entry.event, JournalEvent::Tape(TapeEvent::Tool(ToolEvent::Started { .. })))
    };
    let last = entries.iter().position(begun).unwrap() + 1;
    let memory: MemoryJournal = journal_of(&entries[..=last]).await;
    let parts = Parts { memory, ..Parts::new() };
    for _ in 0..2 {
        parts.tools.push(LOOK, palyra_testkit::ToolScript::Hang);
    }
    let rig = parts.start().await;
    soon("the calls run again", rig.tools.wait_until(|counts| counts.begun == 2)).await;
    rig.cancel(run).await.unwrap();
    let rig = rig.restarted().await;
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Cancelled);
    assert!(rig.tools.executions().is_empty(), "what was to stop is not run again");
    check(&rig.tape(run).await);
}
