//! What later runs of a session see of earlier ones.

use palyra_runtime::session::SessionChange;
use palyra_testkit::scripted_tools::LOOK;
use palyra_testkit::{Gate, Script};
use palyra_types::event::{DropReason, ModelEvent, TapeEvent};
use palyra_types::model::{ChatMessage, ModelFailureClass};
use palyra_types::run::RunLifecycleState;

use crate::rig::{Parts, Rig, settle, soon};
use crate::waiting::a_waiting_run;

/// Says the messages of the last model request in words.
pub(crate) fn shown(rig: &Rig) -> Vec<String> {
    let word = |message: &ChatMessage| match message {
        ChatMessage::User { text, .. } => format!("user {}", text.expose()),
        ChatMessage::Assistant { text, calls, .. } => format!("model {} +{}", text.expose(), calls.len()),
        ChatMessage::ToolResult { text, .. } => format!("result {}", text.expose()),
    };
    rig.model.requests().last().unwrap().messages.iter().map(word).collect()
}

#[tokio::test]
async fn a_second_run_sees_the_first_also_after_a_restart() {
    let rig = Rig::start().await;
    rig.model.push(Script::new().text("let me see").call(LOOK, "{}"));
    let first = rig.submit("k", "first").await.run;
    rig.finished(first).await;
    let second = rig.submit("k", "second").await.run;
    rig.finished(second).await;
    let so_far = ["user first", "model let me see +1", "result {}", "model ok +0", "user second"];
    assert_eq!(shown(&rig), so_far);
    let rig = rig.restarted().await;
    let third = rig.submit("k", "third").await.run;
    rig.finished(third).await;
    assert_eq!(shown(&rig)[..5], so_far);
    assert_eq!(shown(&rig)[5..], ["model ok +0", "user third"]);
}

#[tokio::test]
async fn sessions_do_not_see_each_other() {
    let rig = Rig::start().await;
    let first = rig.submit("one", "first").await.run;
    rig.finished(first).await;
    let second = rig.submit("two", "second").await.run;
    rig.finished(second).await;
    assert_eq!(shown(&rig), ["user second"]);
}

#[tokio::test]
async fn text_of_an_attempt_that_failed_is_not_shown_again() {
    let rig = Rig::start().await;
    rig.model.push(Script::new().text("never again").fail(ModelFailureClass::Network));
    let first = rig.submit("k", "first").await.run;
    rig.finished(first).await;
    let second = rig.submit("k", "second").await.run;
    rig.finished(second).await;
    assert!(shown(&rig).iter().all(|message| !message.contains("never again")), "{:?}", shown(&rig));
}

#[tokio::test]
async fn text_of_an_attempt_caught_by_a_restart_is_not_shown_again() {
    let rig = Rig::start().await;
    rig.model.push(Script::new().text("never again").hang());
    let run = rig.submit("k", "go").await.run;
    rig.until(run, "its text", |event| matches!(event, TapeEvent::Model(ModelEvent::Text { .. }))).await;
    let rig = rig.restarted().await;
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
    assert_eq!(shown(&rig), ["user go"]);
}

/// The same runs in the same places, whether they were lived through or read back.
#[tokio::test]
async fn what_was_cancelled_in_the_queue_has_the_same_place_before_and_after_a_restart() {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.model.push(Script::new().hold(&gate).text("done"));
    let first = rig.submit("k", "first").await.run;
    let second = rig.submit("k", "second").await.run;
    let third = rig.submit("k", "third").await.run;
    rig.cancel(third).await.unwrap();
    gate.open();
    rig.finished(first).await;
    rig.finished(second).await;
    assert_eq!(shown(&rig), ["user first", "model done +0", "user second"], "what came later is not seen");
    let fourth = rig.submit("k", "fourth").await.run;
    rig.finished(fourth).await;
    let lived = shown(&rig);
    let rig = rig.restarted().await;
    let fifth = rig.submit("k", "fifth").await.run;
    rig.finished(fifth).await;
    assert_eq!(shown(&rig)[..lived.len()], lived);
    assert!(lived.contains(&"user third".to_owned()), "nothing typed is lost: {lived:?}");
}

#[tokio::test]
async fn what_does_not_fit_the_window_is_dropped_in_whole_runs_and_the_plan_says_so() {
    let parts = Parts::new();
    let parts = Parts { model: parts.model.with_window(4_000), ..parts };
    let rig = parts.start().await;
    let long = "word ".repeat(800);
    for n in 0..6 {
        let run = rig.submit("k", &format!("{n} {long}")).await.run;
        assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
        let tape = rig.tape(run).await;
        let plan = tape.iter().find_map(|entry| match &entry.event {
            TapeEvent::Model(ModelEvent::Requested(requested)) => Some(requested.context.clone()),
            _ => None,
        });
        let plan = plan.unwrap();
        let kept = rig.model.requests().last().unwrap().messages.len();
        assert_eq!(plan.messages_kept as usize, kept);
        assert_eq!((plan.messages_kept + plan.messages_dropped) as usize, 2 * n + 1);
        assert_eq!(plan.dropped_because, (plan.messages_dropped > 0).then_some(DropReason::Window));
        assert!(n < 3 || plan.messages_dropped > 0);
    }
}

#[tokio::test]
async fn an_input_larger_than_the_window_fails_without_asking() {
    let parts = Parts::new();
    let parts = Parts { model: parts.model.with_window(2_000), ..parts };
    let rig = parts.start().await;
    let run = rig.submit("k", &"word ".repeat(4_000)).await.run;
    let record = rig.finished(run).await;
    assert_eq!(record.error, Some(palyra_types::ErrorCode::ContextExhausted));
    assert_eq!(rig.model.counts().begun, 0);
    let next = rig.submit("k", "short").await.run;
    soon("the next run", rig.finished(next)).await;
    settle().await;
}

#[tokio::test]
async fn a_run_that_is_taken_up_again_sees_what_it_saw_when_it_was_accepted() {
    for restart in [false, true] {
        let rig = Rig::start().await;
        rig.finished(rig.submit("k", "zeroth").await.run).await;
        settle().await;
        let run = a_waiting_run(&rig, "k").await;
        let later = rig.submit("k", "later, and cancelled").await;
        rig.cancel(later.run).await.unwrap();
        rig.finished(later.run).await;
        rig.gateway.sessions.change(rig.me(), later.session, SessionChange::Reset).await.unwrap();
        settle().await;
        let rig = if restart { rig.restarted().await } else { rig };
        rig.input(run, "go on").await.unwrap();
        rig.finished(run).await;
        let said: Vec<_> = shown(&rig).into_iter().filter(|message| message.starts_with("user")).collect();
        assert_eq!(said, ["user zeroth", "user go", "user go on"], "after a restart: {restart}");
    }
}
