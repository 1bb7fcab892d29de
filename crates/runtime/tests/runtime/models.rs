//! What becomes of a run when its model fails, in every way a model can.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::{self, BoxStream};
use palyra_ports::{ModelCapabilities, ModelInfo, ModelProvider};
use palyra_runtime::ModelDirectory;
use palyra_testkit::scripted_tools::LOOK;
use palyra_testkit::{FakeClock, Gate, Script};
use palyra_types::ErrorCode;
use palyra_types::event::{ModelEvent, TapeEvent};
use palyra_types::model::{
    FinishReason, ModelFailure, ModelName, ModelPiece, ModelRef, ModelRequest, ProviderName,
};
use palyra_types::run::{RunLifecycleState, TerminationReason};

use crate::rig::{Rig, settle, soon};
use crate::shapes::check;

#[tokio::test]
async fn a_provider_that_panics_or_says_nothing_fails_the_run_and_no_more() {
    let rig = Rig::start().await;
    for script in [Script::new().panic(), Script::new().text("half").panic(), Script::new().end_silently()] {
        rig.model.otherwise(script);
        let run = rig.submit("k", "go").await.run;
        let record = rig.finished(run).await;
        assert_eq!(record.error, Some(ErrorCode::ModelMalformed));
        check(&rig.tape(run).await);
    }
    rig.model.otherwise(Script::new().text("ok"));
    let next = rig.submit("k", "next").await.run;
    assert_eq!(rig.finished(next).await.state, RunLifecycleState::Done);
}

#[tokio::test]
async fn a_model_that_was_taken_out_of_the_configuration_fails_the_run() {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.model.push(Script::new().hold(&gate).call(LOOK, "{}"));
    let run = rig.submit("k", "go").await.run;
    soon("the model is asked", gate.reached()).await;
    rig.replace_models(ModelDirectory::new(Vec::new(), ModelRef::new("gone", "gone"), Vec::new()));
    gate.open();
    assert_eq!(rig.finished(run).await.reason, Some(TerminationReason::ProviderError));
}

#[tokio::test]
async fn an_answer_that_is_cut_off_or_filtered_says_so() {
    let rig = Rig::start().await;
    rig.model.push(Script::new().text("half").finish(FinishReason::Length));
    let cut = rig.submit("k", "go").await.run;
    assert_eq!(rig.finished(cut).await.state, RunLifecycleState::Done);
    rig.model.push(Script::new().text("half").finish(FinishReason::ContentFilter));
    let filtered = rig.submit("k", "go").await.run;
    assert_eq!(rig.finished(filtered).await.reason, Some(TerminationReason::ContentPolicy));
}

#[tokio::test]
async fn an_answer_with_too_many_calls_fails_the_run_and_no_more() {
    for (calls, reason) in [
        (64, TerminationReason::FinalAnswer),
        (65, TerminationReason::ProviderError),
        (128, TerminationReason::ProviderError),
        (2_000, TerminationReason::ProviderError),
    ] {
        let rig = Rig::start().await;
        let script = (0..calls).fold(Script::new(), |script, n| script.call(LOOK, &format!("{{\"n\":{n}}}")));
        rig.model.push(script.clone());
        if reason == TerminationReason::ProviderError {
            rig.model.push(script);
        }
        let run = rig.submit("k", "go").await.run;
        assert_eq!(rig.finished(run).await.reason, Some(reason), "{calls} calls");
        check(&rig.tape(run).await);
        let next = rig.submit("k", "next").await.run;
        assert_eq!(rig.finished(next).await.state, RunLifecycleState::Done);
    }
}

#[tokio::test]
async fn arguments_that_no_journal_takes_fail_the_run_and_no_more() {
    let rig = Rig::start().await;
    let arguments = format!("{{\"text\":\"{}\"}}", "x".repeat(25 * 1024 * 1024));
    for _ in 0..2 {
        rig.model.push(Script::new().call(LOOK, &arguments));
    }
    let run = rig.submit("k", "go").await.run;
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Failed);
    check(&rig.tape(run).await);
    let next = rig.submit("k", "next").await.run;
    assert_eq!(rig.finished(next).await.state, RunLifecycleState::Done);
}

#[tokio::test]
async fn a_huge_piece_of_text_is_recorded_whole_in_bounded_entries() {
    let rig = Rig::start().await;
    rig.configure(|config| config.limits.output_tokens_max = u64::MAX);
    let text = "ä".repeat(10 * 1024 * 1024);
    rig.model.push(Script::new().text("a").text(&text).text(&text));
    let run = rig.submit("k", "go").await.run;
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
    let mut said = String::new();
    for entry in rig.tape(run).await {
        if let TapeEvent::Model(ModelEvent::Text { text, .. }) = entry.event {
            assert!(text.expose().len() <= 64 * 1024);
            said.push_str(text.expose());
        }
    }
    assert!(said == ["a", &text, &text].concat(), "nothing is lost");
}

/// Says a page each millisecond, for ever, as quickly as it is asked.
struct Endless(FakeClock);

impl ModelProvider for Endless {
    fn name(&self) -> ProviderName {
        ProviderName::new("scripted")
    }

    fn model_info(&self, model: &ModelName) -> ModelInfo {
        let capabilities = ModelCapabilities::TEXT_AND_TOOLS;
        ModelInfo { name: model.clone(), context_tokens: 100_000, note: String::new(), capabilities }
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<ModelInfo>, ModelFailure>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    fn stream(&self, _request: Arc<ModelRequest>) -> BoxStream<'static, Result<ModelPiece, ModelFailure>> {
        let clock = self.0.clone();
        let page = "word ".repeat(400);
        let pages = move || {
            clock.advance(Duration::from_millis(1));
            Ok(ModelPiece::Text(page.as_str().into()))
        };
        stream::repeat_with(pages).boxed()
    }
}

#[tokio::test]
async fn a_model_that_never_stops_talking_is_stopped_by_the_time_limit() {
    let rig = Rig::start().await;
    rig.configure(|config| {
        config.limits.active_time_max = Duration::from_secs(10);
        config.limits.output_tokens_max = u64::MAX;
    });
    let endless: Arc<dyn ModelProvider> = Arc::new(Endless(rig.clock.clone()));
    rig.replace_models(ModelDirectory::new(vec![endless], ModelRef::new("scripted", "x"), Vec::new()));
    let run = rig.submit("k", "go").await.run;
    let record = rig.finished(run).await;
    assert_eq!(record.reason, Some(TerminationReason::TimeLimit));
    assert!(record.last_tape_seq.0 < 1_000, "text is gathered into few entries: {}", record.last_tape_seq);
}

#[tokio::test]
async fn a_silent_model_is_stopped_by_the_time_limit() {
    let rig = Rig::start().await;
    rig.configure(|config| config.limits.active_time_max = Duration::from_secs(10));
    rig.model.push(Script::new().hang());
    let run = rig.submit("k", "go").await.run;
    soon("the model is asked", rig.model.wait_until(|counts| counts.begun == 1)).await;
    rig.clock.advance(Duration::from_millis(9_999));
    settle().await;
    assert_eq!(rig.record(run).await.state, RunLifecycleState::InProgress);
    rig.clock.advance(Duration::from_millis(1));
    let record = rig.finished(run).await;
    assert_eq!(record.state, RunLifecycleState::Cancelled);
    assert_eq!(
        (record.reason, record.error),
        (Some(TerminationReason::TimeLimit), Some(ErrorCode::TimeLimit))
    );
    assert_eq!(rig.model.counts().dropped, 1);
}

#[tokio::test]
async fn the_turn_limit_and_the_tool_limit_end_the_run() {
    let rig = Rig::start().await;
    rig.configure(|config| {
        config.limits.turns_max = 2;
        config.limits.tool_calls_max = 3;
    });
    for n in 0..2 {
        rig.model.push(Script::new().call(LOOK, &format!("{{\"n\":{n}}}")));
    }
    let run = rig.submit("turns", "go").await.run;
    assert_eq!(rig.finished(run).await.reason, Some(TerminationReason::TurnLimit));
    rig.model.push((0..4).fold(Script::new(), |script, n| script.call(LOOK, &format!("{{\"n\":{n}}}"))));
    let run = rig.submit("tools", "go").await.run;
    let record = rig.finished(run).await;
    assert_eq!((record.reason, record.tool_calls), (Some(TerminationReason::ToolLimit), 0));
    assert_eq!(rig.tools.counts().begun, 2, "nothing of the last answer ran");
}
