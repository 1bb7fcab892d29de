//! The scripted provider keeps to its script, and its records to the truth.

use std::time::Duration;

use palyra_types::model::{FinishReason, ModelFailureClass, ModelRef};
use palyra_types::sampling::SamplingOptions;
use palyra_types::{BootTime, Timestamp};

use super::*;

/// A clock whose sleeps tokio's paused time governs.
struct TokioClock(tokio::time::Instant);

impl Clock for TokioClock {
    fn wall(&self) -> Timestamp {
        Timestamp(0)
    }

    fn boot(&self) -> BootTime {
        BootTime::default().after(self.0.elapsed())
    }

    fn sleep_until(&self, deadline: BootTime) -> BoxFuture<'static, ()> {
        tokio::time::sleep_until(self.0 + deadline.since(BootTime::default())).boxed()
    }
}

fn provider() -> ScriptedProvider {
    ScriptedProvider::new(Arc::new(TokioClock(tokio::time::Instant::now())))
}

fn request() -> Arc<ModelRequest> {
    Arc::new(ModelRequest {
        model: ModelRef::new("scripted", "m"),
        system: "".into(),
        messages: Vec::new(),
        tools: Arc::default(),
        client_tools: None,
        output_tokens_max: None,
        response_format: None,
        sampling: SamplingOptions::default(),
    })
}

#[tokio::test(start_paused = true)]
async fn scripts_are_played_in_order_and_then_the_usual_one() {
    let provider = provider();
    provider.push(Script::new().texts(&["a", "b"]).pause(Duration::from_secs(2)).call("search", "{"));
    provider.push(Script::new().text("x").fail(ModelFailureClass::RateLimit));
    let begin = tokio::time::Instant::now();
    let first: Vec<_> = provider.stream(request()).collect().await;
    assert_eq!(begin.elapsed(), Duration::from_secs(2));
    let [Ok(ModelPiece::Text(_)), Ok(ModelPiece::Text(_)), Ok(ModelPiece::Answer(answer))] = first.as_slice()
    else {
        panic!("{first:?}")
    };
    assert_eq!(
        (answer.finish, answer.proposals[0].arguments.expose().as_str()),
        (FinishReason::ToolCalls, "{")
    );
    let second: Vec<_> = provider.stream(request()).collect().await;
    assert!(matches!(&second[..], [Ok(_), Err(failure)] if failure.class == ModelFailureClass::RateLimit));
    let third: Vec<_> = provider.stream(request()).collect().await;
    assert!(
        matches!(&third[..], [Ok(ModelPiece::Text(text)), Ok(ModelPiece::Answer(_))] if text.expose() == "ok")
    );
    assert_eq!(provider.counts(), StreamCounts { begun: 3, ended: 3, dropped: 0 });
}

#[tokio::test]
async fn a_gate_holds_the_answer_and_a_drop_is_seen() {
    let provider = provider();
    let gate = Gate::closed();
    provider.push(Script::new().text("a").hold(&gate).text("b"));
    provider.push(Script::new().hang());
    let mut stream = provider.stream(request());
    assert_eq!(provider.requests().len(), 0);
    assert!(stream.next().await.is_some());
    let rest = tokio::spawn(stream.collect::<Vec<_>>());
    gate.reached().await;
    gate.open();
    assert_eq!(rest.await.expect("no panic").len(), 2);
    let hanging = tokio::spawn(provider.stream(request()).collect::<Vec<_>>());
    provider.wait_until(|counts| counts.begun == 2).await;
    hanging.abort();
    provider.wait_until(|counts| counts.dropped == 1).await;
    assert_eq!(provider.requests().len(), 2);
}
