//! Responses over real sockets: reasoning that goes back, settings that servers refuse, gateways and embeddings.

use std::sync::Arc;
use std::time::Duration;

use palyra_model_server::{Behaviour, ModelServer, Reply};
use palyra_ports::{EmbeddingRequest, GATEWAY_HEADER, GatewayTrail, ModelProvider};
use palyra_providers::{OpenAiConfig, OpenAiResponsesProvider, Secret};
use palyra_testkit::FixedEntropy;
use palyra_types::model::{ChatMessage, ModelFailureClass, ModelName, ModelRef, ModelRequest};
use palyra_types::sampling::{ReasoningEffort, SamplingOptions};

use crate::messages::go_on;
use crate::support::{KEY, Subject, read};

const SUBJECT: Subject = Subject::Responses;

fn kinds(request: &palyra_model_server::SeenRequest) -> Vec<String> {
    let items = request.body["input"].as_array().expect("items");
    items.iter().map(|item| item["type"].as_str().expect("a type").to_owned()).collect()
}

#[tokio::test]
async fn encrypted_reasoning_goes_back_unchanged_through_a_whole_conversation() {
    let thinks = || {
        let reply = Reply::empty().thinking("Which \"file\"?\u{2028}").redacted_thinking("hush");
        reply.piece("One ").piece("moment. ").call("read_file", r#"{"path":"a"}"#).call("read_file", "{}")
    };
    let done = Reply::empty().thinking("Now I know.").piece("Done.");
    let script = Behaviour::each(vec![thinks(), thinks(), done, Reply::text("Welcome.")]);
    let (server, provider) = SUBJECT.served(script).await;
    let mut request = SUBJECT.request("Read a");
    for number in 0..3 {
        let given = read(provider.as_ref(), &request).await;
        let answer = given.end.expect("an answer");
        assert!(!given.thoughts.is_empty() && answer.continuation.is_some());
        assert_eq!(answer.proposals.len(), if number < 2 { 2 } else { 0 });
        go_on(&mut request, &given.texts.concat(), &answer);
    }
    request.messages.push(ChatMessage::user("Thanks".into()));
    read(provider.as_ref(), &request).await.end.expect("an answer");
    // The server refuses reasoning that was changed, or leads to nothing.
    assert_eq!((server.counts().invalid, server.counts().requests), (0, 4));
    let answered = [
        "reasoning",
        "reasoning",
        "message",
        "function_call",
        "function_call",
        "function_call_output",
        "function_call_output",
    ];
    let expect = [&["message"][..], &answered, &answered, &["reasoning", "message", "message"]].concat();
    assert_eq!(kinds(&server.asked()[3]), expect);
}

#[tokio::test]
async fn another_model_gets_no_reasoning_that_is_not_its_own() {
    let reply = Reply::empty().thinking("Hm.").piece("x").call("read_file", "{}");
    let (server, provider) = SUBJECT.served(Behaviour::each(vec![reply])).await;
    let mut request = SUBJECT.request("Hi");
    let answer = read(provider.as_ref(), &request).await.end.expect("an answer");
    go_on(&mut request, "x", &answer);
    request.model = ModelRef::new("openai", "other");
    read(provider.as_ref(), &request).await.end.expect("an answer");
    assert_eq!(server.counts().invalid, 0);
    assert_eq!(kinds(&server.asked()[1]), ["message", "message", "function_call", "function_call_output"]);
}

/// A server that thinks, calls once, and refuses a request in these words while something holds of its body.
fn refusing(said: &'static str, holds: fn(&serde_json::Value) -> bool) -> Behaviour {
    Behaviour::by(move |body| match holds(body) {
        true => Reply::error(400, "invalid_request_error", said),
        false => Reply::empty().thinking("Hm.").piece("x").call("read_file", "{}"),
    })
}

#[tokio::test]
async fn a_model_without_encrypted_reasoning_is_asked_without_it_from_then_on() {
    for said in [
        "Encrypted content is not supported with this model.",
        "Unknown parameter: 'include'.",
        "1 validation error: include: Extra inputs are not permitted",
    ] {
        let (server, provider) = SUBJECT.served(refusing(said, |body| body.get("include").is_some())).await;
        let mut request = SUBJECT.request("Hi");
        let answer = read(provider.as_ref(), &request).await.end.expect("an answer");
        assert_eq!(answer.continuation, None, "there is nothing to hand back");
        go_on(&mut request, "x", &answer);
        read(provider.as_ref(), &request).await.end.expect("an answer");
        assert_eq!(server.counts().requests, 3, "{said}: the refusal is remembered");
        let other = ModelRequest { model: ModelRef::new("openai", "other"), ..SUBJECT.request("Hi") };
        read(provider.as_ref(), &other).await.end.expect("an answer");
        assert_eq!(server.counts().requests, 5, "{said}: of its model only");
    }
}

#[tokio::test]
async fn reasoning_that_is_out_of_date_is_left_out_of_that_request_only() {
    let has_reasoning = |body: &serde_json::Value| body["input"].to_string().contains("encrypted_content");
    let said = "The encrypted content gAAA... could not be verified.";
    let (server, provider) = SUBJECT.served(refusing(said, has_reasoning)).await;
    let mut request = SUBJECT.request("Hi");
    let answer = read(provider.as_ref(), &request).await.end.expect("an answer");
    go_on(&mut request, "x", &answer);
    let answer = read(provider.as_ref(), &request).await.end.expect("an answer");
    assert_eq!(server.counts().requests, 3);
    assert_eq!(answer.continuation, None);
    let answer = read(provider.as_ref(), &SUBJECT.request("Hello")).await.end.expect("an answer");
    assert!(answer.continuation.is_some(), "new reasoning is asked for");
}

#[tokio::test]
async fn a_setting_for_reasoning_is_refused_by_its_own_name() {
    let (server, provider) = SUBJECT
        .served(refusing(
            "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
            |body| body.get("reasoning").is_some(),
        ))
        .await;
    let sampling =
        SamplingOptions { reasoning_effort: Some(ReasoningEffort::High), ..SamplingOptions::default() };
    let request = ModelRequest { sampling, ..SUBJECT.request("Hi") };
    let answer = read(provider.as_ref(), &request).await.end.expect("an answer");
    assert!(answer.continuation.is_some(), "its reasoning is still handed out");
    assert_eq!((server.counts().requests, server.counts().invalid), (2, 0));
}

#[tokio::test]
async fn a_cap_that_a_server_refuses_is_left_out() {
    for (said, then) in [
        ("Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 200", 4),
        ("Unsupported parameter: 'max_output_tokens' is not supported with this model", 3),
    ] {
        let (server, provider) =
            SUBJECT.served(refusing(said, |body| body.get("max_output_tokens").is_some())).await;
        for requests in [2, then] {
            read(provider.as_ref(), &SUBJECT.request("Hi")).await.end.expect("an answer");
            assert_eq!(server.counts().requests, requests, "{said}");
        }
    }
}

#[tokio::test]
async fn requests_name_the_gateways_that_they_pass_and_a_loop_is_refused_for_good() {
    let said = "this gateway is its own model: its reasoning asks itself";
    let looped = Behaviour::always(Reply::error(400, "gateway_loop", said));
    let server = ModelServer::start(looped.with_key(KEY)).await.expect("a port");
    let config = OpenAiConfig {
        gateways: GatewayTrail::new(&FixedEntropy::new(1)),
        ..OpenAiConfig::new("openai", &server.base_url(), Some(Secret::new(KEY)))
    };
    let provider = OpenAiResponsesProvider::new(config).expect("a good configuration");
    let failure = read(&provider, &SUBJECT.request("Hi")).await.end.expect_err("refused");
    assert_eq!(failure.class, ModelFailureClass::Permanent);
    assert!(failure.detail.expose().contains(said), "{}", failure.detail.expose());
    assert!(
        server
            .asked()
            .iter()
            .all(|request| request.header(GATEWAY_HEADER).is_some_and(|ids| !ids.is_empty()))
    );
}

#[tokio::test]
async fn a_server_of_responses_makes_embeddings_too() {
    let (server, provider) = SUBJECT.served(Behaviour::assistant(Duration::ZERO)).await;
    let request = EmbeddingRequest::new(vec!["one".into(), "two".into()], None).expect("within the limits");
    let embedded = provider.embed(&ModelName::new("m"), request).await.expect("vectors");
    assert_eq!((embedded.vectors().len(), server.counts().invalid), (2, 0));
    let provider: Arc<dyn ModelProvider> = provider;
    assert!(provider.model_info(&ModelName::new("m")).note.contains("Responses"));
}
