//! Servers that misbehave in ways no vendor means to.

use std::time::Duration;

use palyra_model_server::{Behaviour, ModelServer, Reply, Tear};
use palyra_providers::{
    AnthropicMessagesConfig, OpenAiChatProvider, OpenAiConfig, OpenAiResponsesProvider, ProviderConfigError,
    Secret, Timeouts,
};
use palyra_types::model::ModelFailureClass as Class;
use palyra_types::model::{FinishReason, ModelFailure};
use tokio::net::TcpListener;

use crate::support::{KEY, Subject, read};

/// Plays a reply; returns the texts that came before the failure, and the failure.
async fn fails(subject: Subject, reply: Reply) -> (String, ModelFailure) {
    let (_server, provider) = subject.served(Behaviour::always(reply)).await;
    let given = read(provider.as_ref(), &subject.request("Hi")).await;
    (given.texts.concat(), given.end.expect_err("a failure"))
}

#[tokio::test]
async fn broken_answers_have_their_class_and_keep_their_text() {
    let table = [
        (Reply::text("one two").torn(Tear::MidFrame), Class::Network, "one "),
        (Reply::text("one two").torn(Tear::CleanEnd), Class::Malformed, "one two"),
        (Reply::raw("text/event-stream", b"\x00\xff garbage \n\n\r\r"), Class::Malformed, ""),
        (Reply::raw("text/html", b"<html>log in first</html>"), Class::Malformed, ""),
        (Reply::raw("application/json", b"{\"choices\": [{\"mess"), Class::Malformed, ""),
        (Reply::raw("text/event-stream", b""), Class::Malformed, ""),
    ];
    for subject in Subject::ALL {
        for (reply, class, text) in &table {
            let (texts, failure) = fails(subject, reply.clone()).await;
            let detail = failure.detail.expose();
            assert_eq!((failure.class, texts.as_str()), (*class, *text), "{subject:?} {reply:?}: {detail}");
            assert!(!detail.is_empty());
        }
    }
}

#[tokio::test]
async fn oddities_are_no_faults() {
    for subject in Subject::ALL {
        let odd = Reply::text("all well").with_unknown_fields().without_done().finish("weird");
        let (_server, provider) = subject.served(Behaviour::always(odd)).await;
        let given = read(provider.as_ref(), &subject.request("Hi")).await;
        let answer = given.end.expect("an answer");
        assert_eq!((given.texts.concat().as_str(), answer.finish), ("all well", FinishReason::Other));

        let wrong = Reply::empty().call("read_file", r#"{"path": "#).call("search", "{}");
        let (_server, provider) = subject.served(Behaviour::always(wrong)).await;
        let answer = read(provider.as_ref(), &subject.request("Hi")).await.end.expect("an answer");
        let arguments: Vec<_> =
            answer.proposals.iter().map(|call| call.arguments.expose().as_str()).collect();
        assert_eq!(arguments, [r#"{"path": "#, "{}"], "wrong arguments are the machine's to judge");
    }
    for subject in [Subject::Chat, Subject::Responses] {
        let quiet = Reply::text("all well").without_usage();
        let (_server, provider) = subject.served(Behaviour::always(quiet)).await;
        let answer = read(provider.as_ref(), &subject.request("Hi")).await.end.expect("an answer");
        assert_eq!(answer.usage, None);
    }
}

#[tokio::test]
async fn silence_is_a_timeout_and_slowness_is_not() {
    for subject in Subject::BARE {
        for (reply, text) in [(Reply::silent(), ""), (Reply::text("one two").torn(Tear::Silence), "one two")]
        {
            let server = ModelServer::start(Behaviour::always(reply)).await.expect("a port");
            let provider = subject.at(&server.base_url(), Duration::from_millis(150));
            let given = read(provider.as_ref(), &subject.request("Hi")).await;
            assert_eq!(given.texts.concat(), text);
            assert_eq!(given.end.expect_err("a failure").class, Class::Timeout);
            server.wait_until(|counts| counts.aborted == 1).await;
        }
        let slow = Reply::text("1 2 3 4 5 6 7 8 9 10").paced(Duration::from_millis(60));
        let server = ModelServer::start(Behaviour::always(slow)).await.expect("a port");
        let provider = subject.at(&server.base_url(), Duration::from_millis(500));
        let given = read(provider.as_ref(), &subject.request("Hi")).await;
        assert_eq!((given.texts.len(), given.end.is_ok()), (10, true));
    }
}

#[tokio::test]
async fn nobody_there_is_a_network_failure_that_does_not_tell_the_key() {
    let port =
        TcpListener::bind("127.0.0.1:0").await.expect("a port").local_addr().expect("an address").port();
    for subject in Subject::BARE {
        let provider = subject.at(&format!("http://127.0.0.1:{port}/v1"), Duration::from_secs(5));
        let failure = read(provider.as_ref(), &subject.request(KEY)).await.end.expect_err("a failure");
        assert_eq!(failure.class, Class::Network);
        assert!(!format!("{failure:?} {failure} {}", failure.detail.expose()).contains(KEY));
        assert_eq!(provider.models().await.expect_err("a failure").class, Class::Network);
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_the_key_stays_here() {
    let elsewhere = ModelServer::start(Behaviour::always(Reply::text("ok"))).await.expect("a port");
    for subject in Subject::BARE {
        for status in [301, 302, 303, 307, 308] {
            let target = format!("{}/chat/completions", elsewhere.base_url());
            let (_, failure) = fails(subject, Reply::status(status, "").header("Location", &target)).await;
            assert_eq!(failure.class, Class::Permanent);
            assert!(failure.detail.expose().contains("redirect"));
        }
    }
    assert_eq!(elsewhere.counts().connections, 0);
}

#[tokio::test]
async fn an_unwelcome_key_is_refused() {
    for subject in Subject::ALL {
        let behaviour = Behaviour::always(Reply::text("ok")).with_key("another");
        let server = ModelServer::start(behaviour).await.expect("a port");
        let provider = subject.at(&server.base_url(), Duration::from_secs(5));
        assert_eq!(provider.models().await.expect_err("refused").class, Class::Auth);
        let failure = read(provider.as_ref(), &subject.request("Hi")).await.end.expect_err("refused");
        assert_eq!(failure.class, Class::Auth);
    }
}

#[tokio::test]
async fn no_configuration_shows_its_key() {
    let key = || Some(Secret::new(KEY));
    let chat = OpenAiConfig::new("openai", "http://127.0.0.1:9/v1", key());
    let messages = AnthropicMessagesConfig::new("anthropic", "http://127.0.0.1:9", key());
    assert!(!format!("{chat:?} {chat:#?} {messages:?} {messages:#?}").contains(KEY));
    for key in ["sk-\u{7f}canary", "sk\ncanary"] {
        let config = OpenAiConfig::new("openai", "http://127.0.0.1:9/v1", Some(Secret::new(key)));
        let responses = OpenAiResponsesProvider::new(config.clone()).err();
        for error in [OpenAiChatProvider::new(config).err(), responses] {
            let error = error.expect("no header can carry it");
            assert_eq!(error, ProviderConfigError::Key);
            assert!(!format!("{error:?} {error}").contains("canary"));
        }
    }
}

#[tokio::test]
async fn the_head_of_a_reply_and_the_pauses_within_it_have_their_own_patience() {
    for subject in Subject::BARE {
        let stalls = Reply::text("one ").torn(Tear::Silence);
        let (server, _) = subject.served(Behaviour::always(stalls)).await;
        let timeouts = Timeouts { idle: Duration::from_millis(100), ..Timeouts::default() };
        let provider = subject.with_timeouts(&server.base_url(), timeouts);
        let failure = read(provider.as_ref(), &subject.request("Hi")).await.end.expect_err("it stalls");
        assert_eq!(failure.class, Class::Timeout);
        assert!(failure.detail.expose().contains("0.1 s"), "{}", failure.detail.expose());

        let (server, _) = subject.served(Behaviour::always(Reply::silent())).await;
        let timeouts = Timeouts { first_byte: Duration::from_millis(150), ..Timeouts::default() };
        let provider = subject.with_timeouts(&server.base_url(), timeouts);
        let failure = read(provider.as_ref(), &subject.request("Hi")).await.end.expect_err("it is silent");
        assert_eq!(failure.class, Class::Timeout);
        assert!(failure.detail.expose().contains("0.15 s"), "{}", failure.detail.expose());
    }
}
