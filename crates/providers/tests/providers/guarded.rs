//! The decorators: a bounded fair queue, a breaker, and no request where none may be.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};
use palyra_ports::{ModelCapabilities, ModelInfo, ModelProvider};
use palyra_providers::{GuardLimits, guarded};
use palyra_testkit::{FakeClock, Gate, Script, ScriptedProvider};
use palyra_types::model::{
    ModelFailure, ModelFailureClass as Class, ModelName, ModelPiece, ModelRequest, ProviderName,
};

use crate::support::{read, request};

const MODEL: &str = "scripted/scripted";

/// A scripted provider behind a guard, and its clock.
fn stage(limits: GuardLimits) -> (Arc<ScriptedProvider>, Arc<dyn ModelProvider>, FakeClock) {
    let clock = FakeClock::new();
    let scripted = Arc::new(ScriptedProvider::new(Arc::new(clock.clone())));
    let provider = guarded(scripted.clone(), limits, Arc::new(clock.clone()));
    (scripted, provider, clock)
}

fn narrow(parallel: usize, waiting: usize) -> GuardLimits {
    GuardLimits { parallel_requests_max: parallel, waiting_requests_max: waiting, ..GuardLimits::default() }
}

fn stream(provider: &Arc<dyn ModelProvider>) -> BoxStream<'static, Result<ModelPiece, ModelFailure>> {
    provider.stream(Arc::new(request(MODEL, "Hi")))
}

async fn class(provider: &Arc<dyn ModelProvider>) -> Option<Class> {
    read(provider.as_ref(), &request(MODEL, "Hi")).await.end.err().map(|failure| failure.class)
}

fn text(piece: Option<Result<ModelPiece, ModelFailure>>) -> String {
    match piece {
        Some(Ok(ModelPiece::Text(text))) => text.into_exposed(),
        other => panic!("no text but {other:?}"),
    }
}

#[tokio::test]
async fn the_time_to_the_first_words_is_measured() {
    let (scripted, provider, clock) = stage(GuardLimits::default());
    let model = ModelName::new("scripted");
    assert_eq!(provider.first_token(&model), None);
    let gate = Gate::closed();
    scripted.push(Script::new().hold(&gate).text("a").text("b"));
    let mut answer = stream(&provider);
    assert!(answer.next().now_or_never().is_none());
    clock.advance(Duration::from_millis(300));
    gate.open();
    assert_eq!(text(answer.next().await), "a");
    clock.advance(Duration::from_millis(900));
    assert_eq!(text(answer.next().await), "b");
    assert_eq!(provider.first_token(&model), Some(Duration::from_millis(300)));
    assert_eq!(provider.first_token(&ModelName::new("another")), None);
    // A failure says nothing of it.
    scripted.push(Script::new().fail(Class::Transient));
    assert_eq!(class(&provider).await, Some(Class::Transient));
    assert_eq!(provider.first_token(&model), Some(Duration::from_millis(300)));
}

#[tokio::test]
async fn requests_wait_in_their_order_and_a_place_is_free_at_the_end_of_an_answer() {
    let (scripted, provider, _clock) = stage(narrow(2, 8));
    for name in ["a", "b", "c", "d"] {
        scripted.push(Script::new().text(name).text("end"));
    }
    let mut first = stream(&provider);
    let mut second = stream(&provider);
    assert_eq!((text(first.next().await), text(second.next().await)), ("a".into(), "b".into()));
    let mut third = stream(&provider);
    let mut fourth = stream(&provider);
    assert!(third.next().now_or_never().is_none() && fourth.next().now_or_never().is_none());
    assert_eq!(scripted.requests().len(), 2, "a waiting request is not sent");

    // The answer is the end, though nobody drops the stream.
    assert_eq!(text(first.next().await), "end");
    assert!(matches!(first.next().await, Some(Ok(ModelPiece::Answer(_)))));
    assert!(fourth.next().now_or_never().is_none(), "the third is first");
    assert_eq!(text(third.next().await), "c");
    drop(second);
    assert_eq!(text(fourth.next().await), "d");
    assert!(first.next().await.is_none());
}

#[tokio::test]
async fn a_waiting_request_that_is_dropped_leaves_the_queue() {
    let (scripted, provider, _clock) = stage(narrow(1, 1));
    for name in ["a", "b"] {
        scripted.push(Script::new().text(name));
    }
    let mut first = stream(&provider);
    assert_eq!(text(first.next().await), "a");
    let mut waiting = stream(&provider);
    assert!(waiting.next().now_or_never().is_none());
    assert_eq!(class(&provider).await, Some(Class::RateLimit), "the queue is full");
    drop(waiting);
    let mut next = stream(&provider);
    assert!(next.next().now_or_never().is_none(), "and then it is not");
    drop(first);
    assert_eq!(text(next.next().await), "b");
    assert_eq!(scripted.requests().len(), 2);
}

#[tokio::test]
async fn nothing_waits_or_counts_before_the_first_poll() {
    let (scripted, provider, _clock) = stage(narrow(1, 0));
    scripted.push(Script::new().text("a"));
    let idle: Vec<_> = (0..10).map(|_| stream(&provider)).collect();
    let mut first = stream(&provider);
    assert_eq!(text(first.next().await), "a");
    assert_eq!(class(&provider).await, Some(Class::RateLimit));
    drop((idle, first));
    assert_eq!(scripted.requests().len(), 1);
}

#[tokio::test]
async fn three_failures_shut_it_and_one_probe_opens_it_again() {
    let (scripted, provider, clock) = stage(GuardLimits::default());
    for class in [Class::Network, Class::Timeout, Class::Transient] {
        scripted.push(Script::new().fail(class));
    }
    for class_expected in [Class::Network, Class::Timeout, Class::Transient] {
        assert_eq!(class(&provider).await, Some(class_expected));
    }
    let refused = read(provider.as_ref(), &request(MODEL, "Hi")).await.end.expect_err("left alone");
    assert_eq!((refused.class, refused.retry_after), (Class::Transient, Some(Duration::from_secs(30))));
    let told = refused.detail.expose();
    assert!(told.starts_with("provider `"), "{told}");
    assert!(
        told.contains("in a row (errors of its own, or overloaded); requests to all of its models pause for another 30 s"),
        "{told}"
    );
    clock.advance(Duration::from_secs(29));
    let refused = read(provider.as_ref(), &request(MODEL, "Hi")).await.end.expect_err("left alone");
    assert_eq!(refused.retry_after, Some(Duration::from_secs(1)));
    assert_eq!(scripted.requests().len(), 3, "nothing was sent meanwhile");

    clock.advance(Duration::from_secs(1));
    let gate = Gate::closed();
    scripted.push(Script::new().hold(&gate).text("back"));
    scripted.push(Script::new().text("too"));
    let mut probe = stream(&provider);
    assert!(probe.next().now_or_never().is_none());
    assert_eq!(class(&provider).await, Some(Class::Transient), "one probe at a time");
    gate.open();
    assert_eq!(text(probe.next().await), "back");
    assert_eq!(class(&provider).await, None, "its first word is enough");
}

#[tokio::test]
async fn refusals_do_not_shut_it() {
    let (scripted, provider, _clock) = stage(GuardLimits::default());
    let classes = [
        Class::Auth,
        Class::Permission,
        Class::RateLimit,
        Class::Quota,
        Class::Permanent,
        Class::ContextExceeded,
        Class::ContentPolicy,
        Class::Malformed,
    ];
    for expected in classes.into_iter().cycle().take(24) {
        scripted.push(Script::new().fail(expected));
        assert_eq!(class(&provider).await, Some(expected));
    }
    assert_eq!(scripted.requests().len(), 24);
}

#[tokio::test]
async fn who_waited_is_not_sent_to_a_provider_that_went_down_meanwhile() {
    let limits = GuardLimits { failures_max: 1, ..narrow(1, 8) };
    let (scripted, provider, _clock) = stage(limits);
    let gate = Gate::closed();
    scripted.push(Script::new().hold(&gate).fail(Class::Network));
    let first = tokio::spawn(stream(&provider).collect::<Vec<_>>());
    scripted.wait_until(|counts| counts.begun == 1).await;
    let mut waiting = stream(&provider);
    assert!(waiting.next().now_or_never().is_none());
    gate.open();
    assert_eq!(first.await.expect("it ends").len(), 1);
    assert!(matches!(waiting.next().await, Some(Err(failure)) if failure.class == Class::Transient));
    assert_eq!(scripted.requests().len(), 1);
}

/// Panics in the middle of its answer, or before it.
struct Panics(AtomicUsize);

impl ModelProvider for Panics {
    fn name(&self) -> ProviderName {
        ProviderName::new("panics")
    }

    fn model_info(&self, model: &ModelName) -> ModelInfo {
        let capabilities = ModelCapabilities::TEXT;
        ModelInfo { name: model.clone(), context_tokens: 1, note: String::new(), capabilities }
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<ModelInfo>, ModelFailure>> {
        async { Ok(Vec::new()) }.boxed()
    }

    fn stream(&self, _: Arc<ModelRequest>) -> BoxStream<'static, Result<ModelPiece, ModelFailure>> {
        let number = self.0.fetch_add(1, Ordering::Relaxed);
        assert!(number.is_multiple_of(2), "a bug in making the stream");
        futures::stream::once(async { panic!("a bug in the stream") }).boxed()
    }
}

#[tokio::test]
async fn a_panic_gives_its_place_back() {
    let provider = guarded(
        Arc::new(Panics(AtomicUsize::new(0))),
        GuardLimits { failures_max: 1, ..narrow(1, 0) },
        Arc::new(FakeClock::new()),
    );
    for _ in 0..6 {
        let asked = tokio::spawn(stream(&provider).collect::<Vec<_>>());
        assert!(asked.await.expect_err("a panic").is_panic());
    }
}

#[tokio::test]
async fn many_at_once_are_never_more_than_allowed() {
    const ALLOWED: usize = 3;
    let (scripted, provider, _clock) = stage(narrow(ALLOWED, 100));
    let gate = Gate::closed();
    for _ in 0..20 {
        scripted.push(Script::new().hold(&gate).text("done"));
    }
    let asked: Vec<_> = (0..20).map(|_| tokio::spawn(stream(&provider).collect::<Vec<_>>())).collect();
    scripted.wait_until(|counts| counts.begun == ALLOWED).await;
    tokio::task::yield_now().await;
    assert_eq!(scripted.requests().len(), ALLOWED);
    gate.open();
    for one in asked {
        assert!(matches!(one.await.expect("it ends").last(), Some(Ok(ModelPiece::Answer(_)))));
    }
    assert_eq!(scripted.requests().len(), 20);
}
