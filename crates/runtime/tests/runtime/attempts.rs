//! Every class of failure, before and after words were shown, alone and with another model behind: what is done
//! about it, what the tape says, and what a client reads in the end.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use palyra_ports::{AppendError, Clock};
use palyra_run_core::failure_table::{CLASSES, FailureRule, LastResort, rule};
use palyra_runtime::ModelDirectory;
use palyra_testkit::{Gate, Script, ScriptedProvider};
use palyra_types::event::{AbandonCause, ModelEvent, NextAttempt, RunEvent, TapeEvent};
use palyra_types::model::{ChatMessage, ModelFailure, ModelFailureClass, ModelRef};
use palyra_types::run::{InputDelivery, RunLifecycleState, TerminationReason};
use palyra_types::tape::OrchestratorTapeRecord;
use palyra_types::{ErrorCode, RunId};

use crate::faults::Refusal;
use crate::rig::{Rig, by_key, follow_to_end, request, settle, soon};
use crate::shapes::{check, shape};

/// A conversation with something to leave out, whose model may be followed by another one.
struct Stage {
    rig: Rig,
    second: ScriptedProvider,
}

impl Stage {
    async fn set(behind: Behind) -> Self {
        let rig = Rig::start().await;
        let second = ScriptedProvider::new(Arc::new(rig.clock.clone())).named("second");
        let providers: Vec<Arc<dyn palyra_ports::ModelProvider>> =
            vec![Arc::new(rig.model.clone()), Arc::new(second.clone())];
        let fallbacks = match behind {
            Behind::Nobody => Vec::new(),
            Behind::Second => vec![ModelRef::new("second", "other")],
        };
        let default = ModelRef::new("scripted", "scripted");
        rig.replace_models(ModelDirectory::new(providers, default, Vec::new()).with_fallbacks(fallbacks));
        let before = rig.submit("k", &"something to leave out ".repeat(40)).await.run;
        rig.finished(before).await;
        second.otherwise(Script::new().text("from the second"));
        Self { rig, second }
    }

    async fn run(&self) -> (RunId, Vec<OrchestratorTapeRecord>) {
        let run = self.rig.submit("k", "go").await.run;
        self.rig.finished(run).await;
        let tape = self.rig.tape(run).await;
        check(&tape);
        (run, tape)
    }

    /// Returns how often each model was asked for the run.
    fn asked(&self) -> (usize, usize) {
        (self.rig.model.requests().len() - 1, self.second.requests().len())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Behind {
    Nobody,
    Second,
}

/// What a client reads in the end: all text but what was superseded.
fn read<'a>(entries: impl IntoIterator<Item = &'a OrchestratorTapeRecord>) -> String {
    let mut words = BTreeMap::new();
    for entry in entries {
        match &entry.event {
            TapeEvent::Model(ModelEvent::Text { text, .. }) => {
                words.insert(entry.tape_seq, text.expose().clone());
            }
            TapeEvent::Model(ModelEvent::AttemptAbandoned { text_from, text_to, .. }) => {
                words.retain(|tape_seq, _| tape_seq < text_from || tape_seq > text_to);
            }
            _ => {}
        }
    }
    words.into_values().collect()
}

/// Returns what followed each failure.
fn followed_by(tape: &[OrchestratorTapeRecord]) -> Vec<NextAttempt> {
    let next = tape.iter().filter_map(|entry| match &entry.event {
        TapeEvent::Model(ModelEvent::AttemptAbandoned { next, detail, retry_at, cause, .. }) => {
            assert!(matches!(cause, AbandonCause::Failure(_)));
            assert_eq!(detail.expose(), "scripted", "the tape says what the provider said");
            assert_eq!(retry_at.is_some(), *next == NextAttempt::SameModel);
            Some(*next)
        }
        _ => None,
    });
    next.collect()
}

/// What the page says of a first failure.
fn documented(rule: FailureRule, behind: Behind, said: bool) -> NextAttempt {
    match rule.resort {
        _ if rule.repeats_max > 0 => NextAttempt::SameModel,
        LastResort::ShorterContext => NextAttempt::ShorterContext,
        LastResort::NextModel if behind == Behind::Second && !said => NextAttempt::NextModel,
        LastResort::NextModel | LastResort::None => NextAttempt::None,
    }
}

#[tokio::test]
async fn a_first_failure_is_followed_by_what_the_table_says_and_no_text_is_doubled() {
    for class in CLASSES {
        for behind in [Behind::Nobody, Behind::Second] {
            for said in [false, true] {
                let case = format!("{class:?}, behind {behind:?}, said {said}");
                let stage = Stage::set(behind).await;
                let broken = if said { Script::new().text("Hel") } else { Script::new() };
                stage.rig.model.push(broken.fail(class));
                stage.rig.model.push(Script::new().text("Hel").text("lo"));
                let (run, tape) = stage.run().await;
                let next = documented(rule(class), behind, said);
                assert_eq!(followed_by(&tape), [next], "{case}");
                let (answer, asked, state) = match next {
                    NextAttempt::SameModel | NextAttempt::ShorterContext => {
                        ("Hello", (2, 0), RunLifecycleState::Done)
                    }
                    NextAttempt::NextModel => ("from the second", (1, 1), RunLifecycleState::Done),
                    NextAttempt::None => ("", (1, 0), RunLifecycleState::Failed),
                };
                assert_eq!(read(&tape), answer, "{case}: {:?}", shape(&tape));
                let followed = follow_to_end(stage.rig.follow(run, 0).await).await;
                assert_eq!(read(followed.iter().map(|entry| &**entry)), answer, "{case}, followed");
                assert_eq!(stage.asked(), asked, "{case}");
                let record = stage.rig.record(run).await;
                assert_eq!(record.state, state, "{case}");
                let error = (state == RunLifecycleState::Failed).then(|| class.code());
                assert_eq!(record.error, error, "{case}");
            }
        }
    }
}

#[tokio::test]
async fn a_model_that_always_fails_is_asked_as_often_as_the_table_allows() {
    for class in CLASSES {
        for behind in [Behind::Nobody, Behind::Second] {
            for said in [false, true] {
                let case = format!("{class:?}, behind {behind:?}, said {said}");
                let stage = Stage::set(behind).await;
                let broken = if said { Script::new().text("half ") } else { Script::new() };
                stage.rig.model.otherwise(broken.fail(class));
                let (run, tape) = stage.run().await;
                let rule = rule(class);
                let repeats = rule.repeats_max as usize;
                let asked = match (rule.resort, said) {
                    // What was left out the first time is all that may be.
                    (LastResort::ShorterContext, _) => (2, 0),
                    (LastResort::None, _) => (1, 0),
                    (LastResort::NextModel, true) => (1 + repeats.min(1), 0),
                    (LastResort::NextModel, false) if behind == Behind::Second => (1 + repeats, 1),
                    (LastResort::NextModel, false) => (1 + repeats, 0),
                };
                assert_eq!(stage.asked(), asked, "{case}: {:?}", shape(&tape));
                let record = stage.rig.record(run).await;
                let answer = if asked.1 == 1 { "from the second" } else { "" };
                assert_eq!(read(&tape), answer, "{case}");
                let wanted = if asked.1 == 1 { TerminationReason::FinalAnswer } else { rule.end };
                assert_eq!(record.reason, Some(wanted), "{case}");
            }
        }
    }
}

#[tokio::test]
async fn a_pause_is_waited_for_by_the_clock() {
    let stage = Stage::set(Behind::Nobody).await;
    let asked = Duration::from_secs(30);
    let failure = ModelFailure {
        class: ModelFailureClass::RateLimit,
        detail: "scripted".into(),
        retry_after: Some(asked),
    };
    stage.rig.model.push(Script::new().fail_with(failure));
    let run = stage.rig.submit("k", "go").await.run;
    let abandoned =
        |event: &TapeEvent| matches!(event, TapeEvent::Model(ModelEvent::AttemptAbandoned { .. }));
    stage.rig.until(run, "the failure", abandoned).await;
    settle().await;
    stage.rig.clock.advance(asked - Duration::from_millis(1));
    settle().await;
    assert_eq!(stage.asked(), (1, 0), "it is not hurried");
    stage.rig.clock.advance(Duration::from_millis(1));
    assert_eq!(stage.rig.finished(run).await.state, RunLifecycleState::Done);
    assert_eq!(stage.asked(), (2, 0));
}

#[tokio::test]
async fn a_rate_limit_of_hours_says_when_to_come_back_or_goes_to_the_next_model() {
    let failure = || ModelFailure {
        class: ModelFailureClass::RateLimit,
        detail: "scripted".into(),
        retry_after: Some(Duration::from_secs(5 * 3_600)),
    };
    let stage = Stage::set(Behind::Nobody).await;
    stage.rig.model.push(Script::new().fail_with(failure()));
    let (run, tape) = stage.run().await;
    let Some(TapeEvent::Run(RunEvent::Finished(finished))) = tape.last().map(|entry| &entry.event) else {
        panic!("it ends: {:?}", shape(&tape));
    };
    let message = finished.message.expose();
    assert!(message.starts_with("the provider takes no request before 2025-01-01 05:00:00 UTC"), "{message}");
    assert_eq!(stage.rig.record(run).await.error, Some(ErrorCode::ModelRateLimited));

    let stage = Stage::set(Behind::Second).await;
    stage.rig.model.push(Script::new().fail_with(failure()));
    let (_, tape) = stage.run().await;
    assert_eq!(read(&tape), "from the second");
}

async fn in_a_pause(stage: &Stage) -> RunId {
    stage.rig.model.push(Script::new().fail(ModelFailureClass::Transient));
    let run = stage.rig.submit("k", "go").await.run;
    let abandoned =
        |event: &TapeEvent| matches!(event, TapeEvent::Model(ModelEvent::AttemptAbandoned { .. }));
    stage.rig.until(run, "the failure", abandoned).await;
    settle().await;
    run
}

#[tokio::test]
async fn a_cancel_ends_a_pause_at_once() {
    let stage = Stage::set(Behind::Nobody).await;
    let run = in_a_pause(&stage).await;
    let receipt = stage.rig.cancel(run).await.unwrap();
    assert_eq!(receipt.state, RunLifecycleState::Cancelled);
    stage.rig.clock.advance(Duration::from_secs(60));
    settle().await;
    assert_eq!(stage.asked(), (1, 0));
    let next = stage.rig.submit("k", "next").await.run;
    assert_eq!(stage.rig.finished(next).await.state, RunLifecycleState::Done);
}

#[tokio::test]
async fn the_time_limit_ends_a_pause() {
    let stage = Stage::set(Behind::Nobody).await;
    stage.rig.configure(|config| config.limits.active_time_max = Duration::from_millis(100));
    let run = in_a_pause(&stage).await;
    stage.rig.clock.advance(Duration::from_millis(100));
    settle().await;
    let record = stage.rig.record(run).await;
    assert_eq!(record.reason, Some(TerminationReason::TimeLimit));
}

#[tokio::test]
async fn a_restart_keeps_the_rest_of_a_pause() {
    let stage = Stage::set(Behind::Nobody).await;
    let run = in_a_pause(&stage).await;
    let tape = stage.rig.tape(run).await;
    let Some(TapeEvent::Model(ModelEvent::AttemptAbandoned { retry_at: Some(at), .. })) =
        tape.last().map(|e| &e.event)
    else {
        panic!("it pauses: {:?}", shape(&tape));
    };
    let rig = stage.rig.restarted().await;
    settle().await;
    assert!(rig.model.requests().is_empty(), "the pause is not over");
    rig.clock.advance(at.since(rig.clock.wall()));
    soon("the model is asked", rig.model.wait_until(|counts| counts.begun == 1)).await;
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
}

#[tokio::test]
async fn a_run_stays_with_the_model_it_was_taken_to_and_who_names_one_means_it() {
    let stage = Stage::set(Behind::Second).await;
    stage.rig.model.push(Script::new().fail(ModelFailureClass::Auth));
    stage.second.push(Script::new().call(palyra_testkit::scripted_tools::LOOK, "{}"));
    let (_, tape) = stage.run().await;
    assert_eq!(stage.asked(), (1, 2), "{:?}", shape(&tape));

    stage.rig.model.push(Script::new().fail(ModelFailureClass::Auth));
    let mut named = request(by_key("k"), "go");
    named.model = Some(ModelRef::new("scripted", "scripted"));
    let run = stage.rig.gateway.sessions.submit(stage.rig.me(), named).await.unwrap().run;
    assert_eq!(stage.rig.finished(run).await.error, Some(ErrorCode::ModelAuth));
}

#[tokio::test]
async fn a_model_that_was_taken_out_of_the_configuration_is_passed_over() {
    let stage = Stage::set(Behind::Second).await;
    let gate = Gate::closed();
    stage.rig.model.push(Script::new().hold(&gate).call(palyra_testkit::scripted_tools::LOOK, "{}"));
    let run = stage.rig.submit("k", "go").await.run;
    soon("the model is asked", gate.reached()).await;
    let second: Arc<dyn palyra_ports::ModelProvider> = Arc::new(stage.second.clone());
    let default = ModelRef::new("second", "other");
    stage.rig.replace_models(ModelDirectory::new(vec![second], default, Vec::new()));
    gate.open();
    assert_eq!(stage.rig.finished(run).await.state, RunLifecycleState::Done);
    assert_eq!(read(&stage.rig.tape(run).await), "from the second");
}

#[tokio::test]
async fn a_runtime_comes_to_rest_in_a_pause_and_the_next_one_goes_on() {
    let stage = Stage::set(Behind::Nobody).await;
    let run = in_a_pause(&stage).await;
    soon("rest", stage.rig.gateway.sessions.drain()).await;
    assert_eq!(stage.asked(), (1, 0));
    let rig = stage.rig.restarted().await;
    settle().await;
    rig.clock.advance(Duration::from_secs(1));
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
}

#[tokio::test]
async fn a_pause_that_ends_on_a_full_disk_is_not_forgotten() {
    let stage = Stage::set(Behind::Nobody).await;
    let run = in_a_pause(&stage).await;
    stage.rig.faults.refuse(Refusal::All(AppendError::DiskFull));
    stage.rig.clock.advance(Duration::from_secs(1));
    settle().await;
    assert_eq!(stage.asked(), (1, 0), "nothing is asked that is not recorded");
    stage.rig.faults.mend();
    stage.rig.clock.advance(Duration::from_secs(1));
    assert_eq!(stage.rig.finished(run).await.state, RunLifecycleState::Done);
    assert_eq!(stage.asked(), (2, 0));
}

#[tokio::test]
async fn what_is_said_in_a_pause_is_shown_by_the_repeated_request() {
    let stage = Stage::set(Behind::Nobody).await;
    let run = in_a_pause(&stage).await;
    let mut submit = request(by_key("k"), "rather so");
    submit.delivery = InputDelivery::Steer;
    let joined = stage.rig.gateway.sessions.submit(stage.rig.me(), submit).await.unwrap();
    assert_eq!(joined.run, run);
    assert_eq!(stage.asked(), (1, 0));
    stage.rig.clock.advance(Duration::from_secs(1));
    assert_eq!(stage.rig.finished(run).await.state, RunLifecycleState::Done);
    let last = stage.rig.model.requests().last().unwrap().messages.last().cloned();
    let Some(ChatMessage::User { text, .. }) = last else { panic!("a person spoke last: {last:?}") };
    assert_eq!(text.expose(), "rather so");
}

#[tokio::test]
async fn a_model_too_small_for_the_run_is_passed_over_and_the_next_one_answers() {
    for first_fails in [false, true] {
        let rig = Rig::start().await;
        let clock = || -> Arc<dyn Clock> { Arc::new(rig.clock.clone()) };
        let small = ScriptedProvider::new(clock()).named("small").with_window(2_000);
        let large = ScriptedProvider::new(clock()).named("large");
        large.otherwise(Script::new().text("from the large"));
        let providers: Vec<Arc<dyn palyra_ports::ModelProvider>> =
            vec![Arc::new(rig.model.clone()), Arc::new(small.clone()), Arc::new(large.clone())];
        let (first, between) = (ModelRef::new("scripted", "scripted"), ModelRef::new("small", "small"));
        let (default, mut behind) = if first_fails { (first, vec![between]) } else { (between, Vec::new()) };
        behind.push(ModelRef::new("large", "large"));
        rig.replace_models(ModelDirectory::new(providers, default, Vec::new()).with_fallbacks(behind));
        rig.model.otherwise(Script::new().fail(ModelFailureClass::Auth));
        let run = rig.submit("k", &"too much for some ".repeat(1_000)).await.run;
        let record = rig.finished(run).await;
        assert_eq!(record.state, RunLifecycleState::Done, "{record:?}");
        let asked = [rig.model.requests().len(), small.requests().len(), large.requests().len()];
        assert_eq!(asked, [usize::from(first_fails), 0, 1]);
        let tape = rig.tape(run).await;
        check(&tape);
        assert_eq!(read(&tape), "from the large");
    }
}
