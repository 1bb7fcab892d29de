//! Vectors from servers: the suite of the port, failures by the same table, and the guards around requests.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use palyra_model_server::{Behaviour, Fault, ModelServer, Reply, RetryAfter, Vendor};
use palyra_ports::ModelProvider;
use palyra_ports::embed_texts::{EmbedError, EmbedTexts, EmbeddingModelName, TextEmbeddings};
use palyra_providers::{GuardLimits, ProviderEmbeddings, guarded};
use palyra_testkit::embedding_suite::{check_embeddings, embedding_request};
use palyra_testkit::{FakeClock, Gate};
use palyra_types::model::{ModelFailure, ModelFailureClass as Class, ModelName, ModelRef, UsageSource};
use serde_json::json;

use crate::support::{KEY, Subject, read};

/// Makes a model of a subject's provider.
fn model(provider: &Arc<dyn ModelProvider>) -> ProviderEmbeddings {
    ProviderEmbeddings::new(Arc::clone(provider), ModelRef::new(provider.name().as_str(), "embed"))
}

async fn embed(provider: &Arc<dyn ModelProvider>) -> Result<TextEmbeddings, ModelFailure> {
    provider.embed(&ModelName::new("embed"), embedding_request(&["one", "two"], None)).await
}

async fn failure(behaviour: Behaviour) -> ModelFailure {
    let (_server, provider) = Subject::Chat.served(behaviour).await;
    embed(&provider).await.expect_err("a failure")
}

#[tokio::test]
async fn models_of_providers_conform_bare_and_guarded() {
    for subject in [Subject::Chat, Subject::GuardedChat] {
        for vendor in [Vendor::OpenAi, Vendor::LlamaCpp] {
            let behaviour = Behaviour::always(Reply::text("ok")).as_vendor(vendor);
            let (server, provider) = subject.served(behaviour).await;
            check_embeddings(&model(&provider)).await;
            // A number of dimensions beyond the model's is refused by the server.
            let requests = server.asked();
            assert!(requests.iter().all(|request| request.path == "/v1/embeddings"));
            let bearer = format!("Bearer {KEY}");
            assert!(requests.iter().all(|request| request.authorization.as_deref() == Some(&bearer)));
        }
    }
}

#[tokio::test]
async fn a_model_of_a_provider_has_its_name() {
    let (_server, provider) = Subject::Chat.served(Behaviour::always(Reply::text("ok"))).await;
    let known = model(&provider).embedding_model();
    assert_eq!(known.name, EmbeddingModelName::OfProvider(ModelRef::new("openai", "embed")));
    assert_eq!(known.dimensions, None);
}

#[tokio::test]
async fn failures_have_the_class_of_the_same_table_and_pauses_are_passed_on() {
    for (fault, class) in [
        (Fault::Auth, Class::Auth),
        (Fault::Permission, Class::Permission),
        (Fault::Quota, Class::Quota),
        (Fault::RateLimit(RetryAfter::Seconds(7)), Class::RateLimit),
        (Fault::Server(500), Class::Transient),
        (Fault::Overloaded, Class::Transient),
        (Fault::BadRequest, Class::Permanent),
        (Fault::UnknownModel, Class::Permanent),
        (Fault::ContextExceeded, Class::ContextExceeded),
        (Fault::TooLarge, Class::ContextExceeded),
        (Fault::ContentPolicy, Class::ContentPolicy),
        (Fault::Reset, Class::Network),
        (Fault::HtmlPage(200), Class::Malformed),
        (Fault::CutJson, Class::Malformed),
    ] {
        let failure = failure(Behaviour::always(fault)).await;
        assert_eq!(failure.class, class, "{fault:?}: {}", failure.detail.expose());
        let pause = (class == Class::RateLimit).then_some(Duration::from_secs(7));
        assert_eq!(failure.retry_after, pause, "{fault:?}");
        assert!(!failure.detail.expose().contains(KEY));
    }
}

#[tokio::test]
async fn a_silent_server_is_a_timeout_and_one_that_sends_too_much_is_malformed() {
    let server = ModelServer::start(Behaviour::always(Reply::silent())).await.expect("a port");
    let provider = Subject::Chat.at(&server.base_url(), Duration::from_millis(150));
    assert_eq!(embed(&provider).await.expect_err("silence").class, Class::Timeout);
    server.wait_until(|counts| counts.aborted == 1).await;

    let large = vec![b' '; 2 * 1024 * 1024];
    let failure = failure(Behaviour::always(Reply::raw("application/json", &large))).await;
    assert_eq!(failure.class, Class::Malformed);
    assert!(failure.detail.expose().contains("more than the"), "{}", failure.detail.expose());
}

#[tokio::test]
async fn a_server_that_passes_over_dimensions_is_found_out() {
    let document = json!({"data": [{"index": 0, "embedding": [1.0, 0.0]}]}).to_string();
    let reply = Reply::raw("application/json", document.as_bytes());
    let (_server, provider) = Subject::Chat.served(Behaviour::always(reply)).await;
    let model = model(&provider);
    let other = model.embed(embedding_request(&["text"], Some(3))).await;
    assert_eq!(other, Err(EmbedError::Dimensions { asked: 3, offered: 2 }));
    let same = model.embed(embedding_request(&["text"], Some(2))).await.expect("as asked for");
    assert_eq!((same.usage().input_tokens, same.usage().source), (1, UsageSource::Estimated));
}

#[tokio::test]
async fn formats_without_embeddings_say_so_and_send_nothing() {
    for subject in [Subject::Messages, Subject::GuardedMessages] {
        let (server, provider) = subject.served(Behaviour::always(Reply::text("ok"))).await;
        let failure = embed(&provider).await.expect_err("no embeddings");
        assert_eq!(failure.class, Class::Permanent);
        assert!(failure.detail.expose().contains("`anthropic` makes no embeddings"));
        assert_eq!(server.counts().requests, 0);
    }
}

/// A guarded provider at a server, with limits of the test's own.
async fn stage(behaviour: Behaviour, limits: GuardLimits) -> (ModelServer, Arc<dyn ModelProvider>) {
    let (server, bare) = Subject::Chat.served(behaviour).await;
    (server, guarded(bare, limits, Arc::new(FakeClock::new())))
}

#[tokio::test]
async fn vectors_and_answers_share_the_leases_of_their_provider() {
    let gate = Gate::closed();
    let delayed = Reply::empty().hold(&gate).piece("done");
    let limits = GuardLimits { parallel_requests_max: 1, waiting_requests_max: 1, ..GuardLimits::default() };
    let (server, provider) = stage(Behaviour::each(vec![delayed]), limits).await;
    let asked = Arc::clone(&provider);
    let answer =
        tokio::spawn(async move { read(asked.as_ref(), &Subject::Chat.request("Hi")).await.end.is_ok() });
    gate.reached().await;
    let mut waiting = embed(&provider).boxed();
    assert!(futures::poll!(&mut waiting).is_pending());
    assert_eq!(server.counts().requests, 1, "a request that waits is not sent");
    let refused = embed(&provider).await.expect_err("the queue is full");
    assert_eq!(refused.class, Class::RateLimit);
    gate.open();
    assert!(answer.await.expect("it ends"));
    assert_eq!(waiting.await.expect("its turn came").vectors().len(), 2);
}

#[tokio::test]
async fn failures_of_vectors_open_the_breaker_of_their_provider_and_good_ones_close_it() {
    let limits = GuardLimits { failures_max: 2, ..GuardLimits::default() };
    let behaviour = Behaviour::times(2, Fault::Overloaded).then(Reply::text("ok"));
    let (server, provider) = stage(behaviour, limits).await;
    for _ in 0..2 {
        assert_eq!(embed(&provider).await.expect_err("overloaded").class, Class::Transient);
    }
    let refused = embed(&provider).await.expect_err("left alone");
    assert!(refused.detail.expose().contains("nothing was sent"), "{}", refused.detail.expose());
    let answer = read(provider.as_ref(), &Subject::Chat.request("Hi")).await.end;
    assert!(answer.expect_err("left alone as well").detail.expose().contains("nothing was sent"));
    assert_eq!(server.counts().requests, 2);
    provider.end_pause();
    assert!(embed(&provider).await.is_ok(), "the probe");
    assert!(embed(&provider).await.is_ok());
}
