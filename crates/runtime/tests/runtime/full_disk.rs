//! A full disk, and a journal whose queue is full: new work is refused in words, running work waits.

use std::time::Duration;

use futures::FutureExt;
use palyra_ports::AppendError;
use palyra_runtime::RequestError;
use palyra_runtime::runs::InputRequest;
use palyra_testkit::scripted_tools::LOOK;
use palyra_testkit::{Gate, Script, ToolScript};
use palyra_types::event::{ModelEvent, TapeEvent};
use palyra_types::run::{RunLifecycleState, RunPhase};

use crate::faults::Refusal;
use crate::rig::{Rig, by_key, entries_of, follow_to_end, settle, soon};
use crate::shapes::{check, shape};
use crate::waiting::a_waiting_run;

const RETRY: Duration = Duration::from_millis(250);

fn is_disk_full<T>(result: &Result<T, RequestError>) -> bool {
    matches!(result, Err(RequestError::Append(AppendError::DiskFull)))
}

#[tokio::test]
async fn a_new_run_is_refused_in_words_and_nothing_of_it_exists() {
    let rig = Rig::start().await;
    let before = entries_of(&rig.memory).await.len();
    rig.faults.refuse(Refusal::NewWork(AppendError::DiskFull));
    assert!(is_disk_full(&rig.try_submit(by_key("k"), "go").await));
    assert!(is_disk_full(&rig.resolve(by_key("k")).await));
    assert_eq!(entries_of(&rig.memory).await.len(), before);
    assert_eq!(rig.model.counts().begun, 0);
    rig.faults.mend();
    let run = rig.submit("k", "go").await;
    assert!(run.session_created, "the refused one opened nothing");
    assert_eq!(rig.finished(run.run).await.state, RunLifecycleState::Done);
}

#[tokio::test]
async fn a_run_behind_another_is_refused_too_and_the_other_goes_on() {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.model.push(Script::new().hold(&gate).text("done"));
    let first = rig.submit("k", "first").await.run;
    rig.faults.refuse(Refusal::NewWork(AppendError::DiskFull));
    assert!(is_disk_full(&rig.try_submit(by_key("k"), "second").await));
    rig.faults.mend();
    let third = rig.submit("k", "third").await.run;
    gate.open();
    rig.finished(first).await;
    assert_eq!(rig.finished(third).await.state, RunLifecycleState::Done);
}

#[tokio::test]
async fn a_run_holds_its_model_back_and_goes_on_when_there_is_room() {
    let rig = Rig::start().await;
    let (before, after) = (Gate::closed(), Gate::closed());
    let words: Vec<&str> = std::iter::repeat_n("word ", 4_096).collect();
    rig.model.push(Script::new().text("first ").hold(&before).texts(&words).hold(&after).text("last"));
    let run = rig.submit("k", "go").await.run;
    let following = tokio::spawn(follow_to_end(rig.follow(run, 0).await));
    soon("the model pauses", before.reached()).await;
    settle().await;
    rig.faults.refuse(Refusal::NewWork(AppendError::DiskFull));
    let shown = rig.tape(run).await.len();
    before.open();
    soon("text is refused", rig.faults.wait_refused(1)).await;
    for _ in 0..20 {
        settle().await;
        rig.clock.advance(RETRY);
    }
    settle().await;
    assert!(rig.faults.refused() >= 10, "it tries again: {}", rig.faults.refused());
    assert!(after.reached().now_or_never().is_none(), "the model is not read on");
    assert_eq!(rig.tape(run).await.len(), shown, "nothing is shown that is not there");
    rig.faults.mend();
    rig.clock.advance(RETRY);
    soon("the model is read on", after.reached()).await;
    after.open();
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
    let tape = rig.tape(run).await;
    check(&tape);
    let said: String = tape
        .iter()
        .filter_map(|e| {
            if let TapeEvent::Model(ModelEvent::Text { text, .. }) = &e.event {
                Some(text.expose().as_str())
            } else {
                None
            }
        })
        .collect();
    assert_eq!(said, ["first ", &words.concat(), "last"].concat(), "nothing is lost and nothing is doubled");
    let seen = soon("the follower's end", following).await.unwrap();
    assert_eq!(seen.into_iter().map(|entry| (*entry).clone()).collect::<Vec<_>>(), tape);
}

#[tokio::test]
async fn a_cancel_does_not_wait_for_room() {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.model.push(Script::new().text("first ").hold(&gate).texts(&["a"; 40]).hang());
    let run = rig.submit("k", "go").await.run;
    soon("the model pauses", gate.reached()).await;
    settle().await;
    rig.faults.refuse(Refusal::NewWork(AppendError::DiskFull));
    gate.open();
    settle().await;
    rig.clock.advance(Duration::from_millis(50));
    soon("text is refused", rig.faults.wait_refused(1)).await;
    let receipt = rig.cancel(run).await.unwrap();
    assert_eq!(receipt.state, RunLifecycleState::Cancelled, "and the clock stands still");
    assert_eq!(rig.model.counts().dropped, 1);
    check(&rig.tape(run).await);
}

#[tokio::test]
async fn a_cancel_that_finds_no_room_at_all_stops_the_model_and_is_refused_in_words() {
    let rig = Rig::start().await;
    rig.model.push(Script::new().hang());
    let run = rig.submit("k", "go").await.run;
    soon("the model is asked", rig.model.wait_until(|counts| counts.begun == 1)).await;
    rig.faults.refuse(Refusal::All(AppendError::DiskFull));
    assert!(is_disk_full(&rig.cancel(run).await));
    assert_eq!(rig.model.counts().dropped, 1, "it costs nothing more");
    assert!(is_disk_full(&rig.cancel(run).await));
    rig.faults.mend();
    rig.clock.advance(RETRY);
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Cancelled, "the wish is not forgotten");
    let tape = shape(&rig.tape(run).await);
    assert_eq!(tape[2..], ["cancel User", "abandoned 1 Cancelled", "finished Cancelled"]);
}

#[tokio::test]
async fn callers_that_ask_again_and_again_fill_no_memory() {
    let rig = Rig::start().await;
    rig.model.push(Script::new().hang());
    let run = rig.submit("k", "go").await.run;
    soon("the model is asked", rig.model.wait_until(|counts| counts.begun == 1)).await;
    rig.faults.refuse(Refusal::All(AppendError::DiskFull));
    for _ in 0..500 {
        assert!(is_disk_full(&rig.cancel(run).await));
    }
    rig.faults.mend();
    let receipt = rig.cancel(run).await.unwrap();
    assert_eq!(receipt.state, RunLifecycleState::Cancelled);
    check(&rig.tape(run).await);
}

#[tokio::test]
async fn an_input_to_a_waiting_run_is_refused_in_words_and_can_be_repeated() {
    let rig = Rig::start().await;
    let run = a_waiting_run(&rig, "k").await;
    settle().await;
    rig.faults.refuse(Refusal::NewWork(AppendError::DiskFull));
    assert!(is_disk_full(&rig.input(run, "go on").await));
    rig.faults.mend();
    rig.clock.advance(RETRY);
    settle().await;
    assert!(matches!(rig.record(run).await.phase, RunPhase::Waiting(_)), "what was refused has no effect");
    rig.input(run, "go on now").await.unwrap();
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
    let tape = shape(&rig.tape(run).await);
    assert_eq!(tape.iter().filter(|word| word.starts_with("input")).count(), 1, "{tape:?}");
}

#[tokio::test]
async fn an_outcome_gets_in_and_the_next_turn_waits_for_room() {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.model.push(Script::new().call(LOOK, "{}"));
    rig.tools.push(LOOK, ToolScript::Hold(gate.clone(), "seen".to_owned()));
    let run = rig.submit("k", "go").await.run;
    soon("the tool runs", gate.reached()).await;
    rig.faults.refuse(Refusal::NewWork(AppendError::DiskFull));
    gate.open();
    settle().await;
    rig.faults.mend();
    rig.clock.advance(RETRY);
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
    assert_eq!(rig.tools.executions().len(), 1);
    check(&rig.tape(run).await);
}

#[tokio::test]
async fn a_queued_run_begins_when_there_is_room() {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.model.push(Script::new().hold(&gate).text("done"));
    let first = rig.submit("k", "first").await.run;
    let second = rig.submit("k", "second").await.run;
    rig.faults.refuse(Refusal::NewWork(AppendError::Busy));
    gate.open();
    rig.clock.advance(RETRY);
    settle().await;
    rig.faults.mend();
    for _ in 0..4 {
        settle().await;
        rig.clock.advance(RETRY);
    }
    assert_eq!(rig.finished(first).await.state, RunLifecycleState::Done);
    assert_eq!(rig.finished(second).await.state, RunLifecycleState::Done);
    assert_eq!(rig.model.counts().begun, 2);
}

#[tokio::test]
async fn a_caller_waits_while_the_journal_s_queue_is_full() {
    let rig = Rig::start().await;
    let run = a_waiting_run(&rig, "k").await;
    settle().await;
    rig.faults.refuse(Refusal::All(AppendError::Busy));
    let (runs, me) = (rig.gateway.runs.clone(), rig.me());
    let sending =
        tokio::spawn(async move { runs.send_input(me, run, InputRequest::text("go on".into())).await });
    soon("the input is refused", rig.faults.wait_refused(1)).await;
    settle().await;
    assert!(!sending.is_finished());
    rig.faults.mend();
    rig.clock.advance(RETRY);
    soon("the input is taken", sending).await.unwrap().unwrap();
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
}
