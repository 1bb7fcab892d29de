//! Servers that misbehave: every fault has its class, and none leaks the key.

use std::time::Duration;

use palyra_ports::ModelProvider;
use palyra_testkit::model_server::{Behaviour, ModelServer, Reply, Tear};
use palyra_types::model::ModelFailureClass as Class;
use palyra_types::model::{FinishReason, ModelFailure};
use tokio::net::TcpListener;

use crate::support::{KEY, provider_at, read, request, served};

/// Plays a reply; returns the texts that came before the failure, and the failure.
async fn fails(reply: Reply) -> (String, ModelFailure) {
    let (_server, provider) = served(Behaviour::always(reply)).await;
    let given = read(&provider, &request("openai/m", "Hi")).await;
    (given.texts.concat(), given.end.expect_err("a failure"))
}

#[tokio::test]
async fn refusals_have_their_class_and_their_pause() {
    let table = [
        (Reply::error(401, "invalid_api_key", "no"), Class::Auth, None),
        (Reply::error(403, "forbidden", "no"), Class::Permission, None),
        (Reply::error(404, "model_not_found", "no"), Class::Permanent, None),
        (Reply::error(400, "context_length_exceeded", "no"), Class::ContextExceeded, None),
        (Reply::error(400, "content_policy_violation", "no"), Class::ContentPolicy, None),
        (Reply::error(429, "insufficient_quota", "no"), Class::Quota, None),
        (
            Reply::error(429, "rate_limit_exceeded", "no").header("Retry-After", "7"),
            Class::RateLimit,
            Some(7_000),
        ),
        (
            Reply::error(429, "rate_limit_exceeded", "no")
                .header("Date", "Wed, 21 Oct 2015 07:28:00 GMT")
                .header("Retry-After", "Wed, 21 Oct 2015 07:28:09 GMT"),
            Class::RateLimit,
            Some(9_000),
        ),
        (
            Reply::status(503, "<html>overloaded</html>").header("retry-after-ms", "40"),
            Class::Transient,
            Some(40),
        ),
        (Reply::status(500, ""), Class::Transient, None),
    ];
    for (reply, class, pause) in table {
        let (texts, failure) = fails(reply.clone()).await;
        assert_eq!((failure.class, texts.as_str()), (class, ""), "{reply:?}");
        assert_eq!(failure.retry_after, pause.map(Duration::from_millis), "{reply:?}");
    }
}

#[tokio::test]
async fn broken_answers_have_their_class_and_keep_their_text() {
    let table = [
        (Reply::text("one two").torn(Tear::MidFrame), Class::Network, "one "),
        (Reply::text("one two").torn(Tear::CleanEnd), Class::Malformed, "one two"),
        (Reply::raw("text/event-stream", b"\x00\xff garbage \n\n\r\r"), Class::Malformed, ""),
        (Reply::raw("text/html", b"<html>log in first</html>"), Class::Malformed, ""),
        (Reply::raw("application/json", b"{\"choices\": [{\"mess"), Class::Malformed, ""),
        (
            Reply::raw("text/event-stream", b"data: {\"error\":{\"code\":503,\"message\":\"x\"}}\n\n"),
            Class::Transient,
            "",
        ),
        (Reply::raw("text/event-stream", b""), Class::Malformed, ""),
        (Reply::text("one").twice(), Class::Malformed, "one"),
    ];
    for (reply, class, text) in table {
        let (texts, failure) = fails(reply.clone()).await;
        assert_eq!((failure.class, texts.as_str()), (class, text), "{reply:?}: {}", failure.detail.expose());
        assert!(!failure.detail.expose().is_empty());
    }
}

#[tokio::test]
async fn oddities_are_no_faults() {
    let odd = Reply::text("all well").with_unknown_fields().without_done().without_usage().finish("weird");
    let (_server, provider) = served(Behaviour::always(odd)).await;
    let given = read(&provider, &request("openai/m", "Hi")).await;
    let answer = given.end.expect("an answer");
    assert_eq!(
        (given.texts.concat().as_str(), answer.finish, answer.usage),
        ("all well", FinishReason::Other, None)
    );
    let wrong = Reply::empty().call("read_file", r#"{"path": "#).call("search", "{}");
    let (_server, provider) = served(Behaviour::always(wrong)).await;
    let answer = read(&provider, &request("openai/m", "Hi")).await.end.expect("an answer");
    let arguments: Vec<_> = answer.proposals.iter().map(|call| call.arguments.expose().as_str()).collect();
    assert_eq!(arguments, [r#"{"path": "#, "{}"], "wrong arguments are the machine's to judge");
}

#[tokio::test]
async fn silence_is_a_timeout_and_slowness_is_not() {
    for (reply, text) in [(Reply::silent(), ""), (Reply::text("one two").torn(Tear::Silence), "one two")] {
        let server = ModelServer::start(Behaviour::always(reply)).await.expect("a port");
        let provider = provider_at(&server.base_url(), Duration::from_millis(150));
        let given = read(&provider, &request("openai/m", "Hi")).await;
        assert_eq!(given.texts.concat(), text);
        assert_eq!(given.end.expect_err("a failure").class, Class::Timeout);
        server.wait_until(|counts| counts.aborted == 1).await;
    }
    let slow = Reply::text("1 2 3 4 5 6 7 8 9 10").paced(Duration::from_millis(60));
    let server = ModelServer::start(Behaviour::always(slow)).await.expect("a port");
    let provider = provider_at(&server.base_url(), Duration::from_millis(500));
    let given = read(&provider, &request("openai/m", "Hi")).await;
    assert_eq!((given.texts.len(), given.end.is_ok()), (10, true));
}

#[tokio::test]
async fn nobody_there_is_a_network_failure() {
    let port =
        TcpListener::bind("127.0.0.1:0").await.expect("a port").local_addr().expect("an address").port();
    let provider = provider_at(&format!("http://127.0.0.1:{port}/v1"), Duration::from_secs(5));
    let failure = read(&provider, &request("openai/m", "Hi")).await.end.expect_err("a failure");
    assert_eq!(failure.class, Class::Network);
    assert_eq!(provider.models().await.expect_err("a failure").class, Class::Network);
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_the_key_stays_here() {
    let elsewhere = ModelServer::start(Behaviour::always(Reply::text("ok"))).await.expect("a port");
    for status in [301, 302, 303, 307, 308] {
        let target = format!("{}/chat/completions", elsewhere.base_url());
        let (_, failure) = fails(Reply::status(status, "").header("Location", &target)).await;
        assert_eq!(failure.class, Class::Permanent);
        assert!(failure.detail.expose().contains("redirect"));
    }
    assert_eq!(elsewhere.counts().connections, 0);
}

#[tokio::test]
async fn a_key_that_is_echoed_is_not_repeated() {
    let words = format!("bad key {KEY}");
    let event = serde_json::json!({"error": {"message": words}});
    let in_stream = Reply::raw("text/event-stream", format!("data: {event}\n\n").as_bytes());
    for reply in [Reply::error(401, KEY, &words), Reply::status(500, &words), in_stream] {
        let (_, failure) = fails(reply).await;
        assert!(failure.detail.expose().contains("[credential]"), "{}", failure.detail.expose());
        assert!(!failure.detail.expose().contains("canary"));
    }
    let provider = provider_at("http://127.0.0.1:9/v1", Duration::from_secs(1));
    let failure = read(&provider, &request("openai/m", KEY)).await.end.expect_err("a failure");
    assert!(!format!("{failure:?} {failure} {}", failure.detail.expose()).contains("canary"));
}

#[tokio::test]
async fn an_unwelcome_key_is_refused() {
    let server =
        ModelServer::start(Behaviour::always(Reply::text("ok")).with_key("another")).await.expect("a port");
    let provider = provider_at(&server.base_url(), Duration::from_secs(5));
    assert_eq!(provider.models().await.expect_err("refused").class, Class::Auth);
}
