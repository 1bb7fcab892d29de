//! Servers that mean harm: they repeat the credential, never end, lie about sizes and grow without measure.

use std::time::Duration;

use palyra_model_server::{Behaviour, Dialect, ModelServer, Reply};
use palyra_ports::ModelProvider;
use palyra_providers::{
    AnthropicMessagesConfig, OpenAiChatProvider, OpenAiConfig, OpenAiResponsesProvider, Secret,
};
use palyra_types::model::{ModelFailure, ModelFailureClass as Class};
use std::sync::Arc;

use crate::support::{Subject, messages_at, read};

/// No eight bytes of it occur twice or in any other text.
const LONG_KEY: &str = "canary-0123456789-abcdefghijklmnopqrstuvwxyz-ABCDEFGHIJKLMNOPQRSTUVWXYZ-9876543210-zyxwvutsrqponmlkjihgfedcba-end";

fn with_long_key(subject: Subject, base_url: &str) -> Arc<dyn ModelProvider> {
    let key = Some(Secret::new(LONG_KEY));
    match subject.dialect() {
        Dialect::Chat => {
            let config = OpenAiConfig::new("openai", base_url, key);
            Arc::new(OpenAiChatProvider::new(config).expect("a good configuration"))
        }
        Dialect::Responses => {
            let config = OpenAiConfig::new("openai", base_url, key);
            Arc::new(OpenAiResponsesProvider::new(config).expect("a good configuration"))
        }
        Dialect::Messages => messages_at(AnthropicMessagesConfig::new("anthropic", base_url, key)),
    }
}

/// Plays a reply; returns the bytes of text and reasoning that came before the failure, and the failure.
async fn fails(subject: Subject, reply: Reply) -> (usize, ModelFailure) {
    let (_server, provider) = subject.served(Behaviour::always(reply)).await;
    let given = read(provider.as_ref(), &subject.request("Hi")).await;
    let bytes = given.texts.iter().chain(&given.thoughts).map(String::len).sum();
    (bytes, given.end.expect_err("a failure"))
}

#[tokio::test]
async fn no_part_of_a_key_that_a_server_repeats_is_kept() {
    // So often that what is kept would end within it; in words, in JSON, in a stream, in a list's refusal.
    let echo = LONG_KEY.repeat(90);
    let object = serde_json::json!({"error": {"message": echo, "type": "invalid_request_error"}}).to_string();
    for subject in Subject::BARE {
        let replies = [
            Reply::status(400, &echo),
            Reply::status(400, &object),
            Reply::status(401, &format!("Authorization: Bearer {echo}")),
            Reply::error(400, "bad", &echo),
            Reply::raw("text/event-stream", format!("event: error\ndata: {object}\n\n").as_bytes()),
        ];
        for reply in replies {
            let behaviour = Behaviour::always(reply.clone()).with_key(LONG_KEY).with_models_reply(reply);
            let server = ModelServer::start(behaviour).await.expect("a port");
            let base = match subject.dialect() {
                Dialect::Chat | Dialect::Responses => server.base_url(),
                Dialect::Messages => server.origin(),
            };
            let provider = with_long_key(subject, &base);
            let said = read(provider.as_ref(), &subject.request("Hi")).await.end.expect_err("refused");
            let mut details = vec![said.detail.expose().clone()];
            details.extend(provider.models().await.err().map(|failure| failure.detail.expose().clone()));
            for detail in details {
                assert!(!detail.is_empty() && detail.len() <= 2_048);
                let part =
                    LONG_KEY.as_bytes().windows(8).map(|part| std::str::from_utf8(part).expect("ASCII"));
                let told: Vec<_> = part.filter(|part| detail.contains(part)).collect();
                assert!(told.is_empty(), "{subject:?}: {told:?} in {detail}");
            }
        }
    }
}

#[tokio::test]
async fn an_answer_without_end_has_an_end() {
    let piece = "x".repeat(3 << 20);
    for subject in Subject::BARE {
        let mut endless = Reply::empty();
        for _ in 0..12 {
            endless = endless.thinking(&piece);
        }
        let (bytes, failure) = fails(subject, endless).await;
        assert_eq!(failure.class, Class::Malformed, "{}", failure.detail.expose());
        assert!(bytes <= 32 << 20, "{bytes}");

        let (_, failure) = fails(subject, Reply::text("hi").thinking(&"x".repeat(5 << 20))).await;
        assert_eq!(failure.class, Class::Malformed, "one event is larger than one may be");
    }
    let delta = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
    let (bytes, failure) =
        fails(Subject::Chat, Reply::raw("text/event-stream", delta.repeat(1_000_000).as_bytes())).await;
    assert_eq!((failure.class, bytes), (Class::Malformed, (32 << 20) / delta.len()));
}

#[tokio::test]
async fn heads_lists_and_codings_without_measure_are_failures() {
    // What gzip makes of a megabyte of nothing begins so; nobody asked for it and nobody unpacks it.
    let packed = Reply::raw("application/json", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xed\xc1\x01\x0d");
    for subject in Subject::BARE {
        let (_, failure) = fails(subject, Reply::text("hi").header("x-canary", &"h".repeat(2 << 20))).await;
        assert_eq!(failure.class, Class::Network, "{}", failure.detail.expose());
        let (_, failure) = fails(subject, packed.clone().header("content-encoding", "gzip")).await;
        assert_eq!(failure.class, Class::Malformed, "{}", failure.detail.expose());

        let list = format!("{{\"data\":[{}{{\"id\":\"last\"}}]}}", "{\"id\":\"m\"},".repeat(2_000_000));
        let behaviour = Behaviour::always(Reply::text("hi"));
        let behaviour = behaviour.with_models_reply(Reply::raw("application/json", list.as_bytes()));
        let server = ModelServer::start(behaviour).await.expect("a port");
        let base = match subject.dialect() {
            Dialect::Chat | Dialect::Responses => server.base_url(),
            Dialect::Messages => server.origin(),
        };
        let listed = subject.at(&base, Duration::from_secs(20)).models().await;
        assert_eq!(listed.expect_err("too large").class, Class::Malformed);
    }
}

#[tokio::test]
async fn a_call_s_name_and_arguments_have_an_end() {
    for subject in Subject::BARE {
        let named = Reply::empty().call(&"n".repeat(1 << 20), "{}");
        let (_server, provider) = subject.served(Behaviour::always(named)).await;
        let answer = read(provider.as_ref(), &subject.request("Hi")).await.end;
        let longest = answer.map(|answer| answer.proposals.iter().map(|call| call.tool.as_str().len()).max());
        assert!(longest.as_ref().map_or(true, |longest| *longest < Some(1 << 20)), "{longest:?}");

        let (_, failure) = fails(subject, Reply::empty().call("read_file", &"9".repeat(9 << 20))).await;
        assert_eq!(failure.class, Class::Malformed, "{}", failure.detail.expose());
    }
}
