//! What Anthropic Messages has of its own, against a server that checks requests as the vendor does.

use std::sync::Arc;

use palyra_model_server::{Behaviour, ModelServer, Reply, Stop, Tokens};
use palyra_ports::ModelProvider;
use palyra_providers::anthropic_messages::ThinkingMode;
use palyra_providers::{AnthropicMessagesConfig, Secret};
use palyra_types::Redacted;
use palyra_types::attachment::{Attachment, AttachmentBody, RenderedAttachment};
use palyra_types::data_delimiter::DataDelimiter;
use palyra_types::model::{
    CallId, ChatMessage, FinishReason, ModelFailureClass, ModelRequest, ProviderContinuation, RawModelAnswer,
    RenderedCall, ResponseFormat, ToolResultStatus,
};
use palyra_types::sampling::{SamplingNumber, SamplingOptions};
use palyra_types::tool::ToolName;

use crate::support::{KEY, Subject, messages_at, read};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n rest";

async fn thinking_provider(behaviour: Behaviour) -> (ModelServer, Arc<dyn ModelProvider>) {
    let server = ModelServer::start(behaviour.with_key(KEY)).await.expect("a port");
    let key = Some(Secret::new(KEY));
    let config = AnthropicMessagesConfig::new("anthropic", &server.origin(), key);
    (server, messages_at(AnthropicMessagesConfig { thinking: ThinkingMode::Adaptive, ..config }))
}

/// Puts an answer and the results of its calls into the history.
pub(crate) fn go_on(request: &mut ModelRequest, text: &str, answer: &RawModelAnswer) {
    let at = request.messages.len();
    let id = |number: usize| CallId(format!("call_{at}_{number}"));
    let calls = answer.proposals.iter().enumerate();
    let calls = calls.map(|(number, proposal)| RenderedCall {
        call: id(number),
        tool: proposal.tool.clone(),
        arguments: Redacted::cleaned(proposal.arguments.expose().clone()),
    });
    request.messages.push(ChatMessage::Assistant {
        text: Redacted::cleaned(text.to_owned()),
        calls: calls.collect(),
        continuation: answer.continuation.clone().map(|kept| {
            let body = Redacted::cleaned(kept.body.into_exposed());
            Arc::new(ProviderContinuation { model: kept.model, format: kept.format, body })
        }),
    });
    let results = answer.proposals.iter().enumerate().map(|(number, _)| ChatMessage::ToolResult {
        call: id(number),
        tool: ToolName::new("read_file"),
        text: "body".into(),
        status: ToolResultStatus::Succeeded,
        delimiter: DataDelimiter::default(),
    });
    request.messages.extend(results);
}

#[tokio::test]
async fn signed_reasoning_goes_back_unchanged_through_a_whole_conversation() {
    let thinks = || {
        let reply = Reply::empty().thinking("Which \"file\"?\u{2028}").redacted_thinking("hush");
        reply.piece("One ").piece("moment. ").call("read_file", r#"{"path":"a"}"#).call("read_file", "{}")
    };
    let done = Reply::empty().thinking("Now I know.").piece("Done.");
    let script = vec![thinks(), thinks(), done, Reply::text("Welcome.")];
    // The second time nobody asks for reasoning, and what was given comes back all the same.
    for (server, provider) in [
        thinking_provider(Behaviour::each(script.clone())).await,
        Subject::Messages.served(Behaviour::each(script)).await,
    ] {
        let mut request = Subject::Messages.request("Read a");
        for number in 0..3 {
            let given = read(provider.as_ref(), &request).await;
            let answer = given.end.expect("an answer");
            assert!(!given.thoughts.is_empty() && answer.continuation.is_some());
            assert_eq!(answer.proposals.len(), if number < 2 { 2 } else { 0 });
            go_on(&mut request, &given.texts.concat(), &answer);
        }
        request.messages.push(ChatMessage::user("Thanks".into()));
        read(provider.as_ref(), &request).await.end.expect("an answer");
        assert_eq!(server.counts().invalid, 0);
        let last = server.asked().pop().expect("a request").body;
        let kinds: Vec<_> = last["messages"][1]["content"]
            .as_array()
            .expect("blocks")
            .iter()
            .map(|block| block["type"].as_str().expect("a type").to_owned())
            .collect();
        assert_eq!(kinds, ["thinking", "redacted_thinking", "text", "tool_use", "tool_use"]);
    }
}

#[tokio::test]
async fn another_model_gets_no_reasoning_that_is_not_its_own() {
    let reply = Reply::empty().thinking("Hm.").piece("x").call("read_file", "{}");
    let (server, provider) = Subject::Messages.served(Behaviour::each(vec![reply])).await;
    let mut request = Subject::Messages.request("Hi");
    let answer = read(provider.as_ref(), &request).await.end.expect("an answer");
    go_on(&mut request, "x", &answer);
    request.model = palyra_types::model::ModelRef::new("anthropic", "other");
    read(provider.as_ref(), &request).await.end.expect("an answer");
    assert_eq!(server.counts().invalid, 0);
    assert!(!server.asked()[1].body.to_string().contains("thinking"));
}

#[tokio::test]
async fn images_and_files_are_shown_at_both_formats() {
    for subject in Subject::BARE {
        let (server, provider) = subject.served(Behaviour::assistant(std::time::Duration::ZERO)).await;
        let file = |name: &str, kind: &str, body: AttachmentBody, data: Option<&[u8]>| RenderedAttachment {
            attachment: Arc::new(Attachment {
                name: Redacted::cleaned(name.to_owned()),
                media_type: Redacted::cleaned(kind.to_owned()),
                bytes: 13,
                sha256: Redacted::cleaned([7; 32]),
                body,
            }),
            place: None,
            data: data.map(|bytes| Redacted::cleaned(Arc::from(bytes))),
            delimiter: DataDelimiter::default(),
        };
        let blob = || AttachmentBody::Blob { index: 0 };
        let mut request = subject.request("");
        request.messages = vec![ChatMessage::User {
            text: "What is it?".into(),
            attachments: vec![
                file("a.png", "image/png", blob(), Some(PNG)),
                file("b.zip", "application/zip", blob(), None),
                file("c.md", "text/markdown", AttachmentBody::Text("# C".into()), None),
            ],
            said: None,
        }];
        let given = read(provider.as_ref(), &request).await;
        given.end.expect("an answer");
        let seen = format!("You showed: image/png of {} bytes", PNG.len());
        assert_eq!(given.texts.concat(), seen, "{subject:?}");
        let body = server.asked()[0].body[subject.conversation()].to_string();
        assert!(body.contains("b.zip") && body.contains("# C") && body.contains("text/markdown"));
        assert_eq!(server.counts().invalid, 0);
    }
}

/// Returns the schema that a body asks for, by the field of its format.
fn wished_schema(body: &serde_json::Value) -> Option<&serde_json::Value> {
    ["output_config", "response_format", "text"].iter().find_map(|field| body.get(*field))
}

fn with_schema(subject: Subject) -> ModelRequest {
    let schema = r#"{"type":"object","properties":{"answer":{"type":"string"}},"required":["answer"]}"#;
    let response_format = Some(ResponseFormat { schema: Redacted::cleaned(schema.into()) });
    ModelRequest { response_format, ..subject.request("Say it") }
}

#[tokio::test]
async fn an_answer_is_made_to_fit_a_schema() {
    for subject in Subject::BARE {
        let (server, provider) = subject.served(Behaviour::assistant(std::time::Duration::ZERO)).await;
        let given = read(provider.as_ref(), &with_schema(subject)).await;
        given.end.expect("an answer");
        let value: serde_json::Value = serde_json::from_str(&given.texts.concat()).expect("JSON");
        assert!(value["answer"].is_string(), "{subject:?} {value}");
        assert_eq!((server.counts().requests, server.counts().invalid), (1, 0));
    }
}

#[tokio::test]
async fn a_server_that_does_not_know_schemas_is_told_in_words_from_then_on() {
    for subject in Subject::BARE {
        let behaviour = Behaviour::by(|body| match wished_schema(body) {
            Some(_) => Reply::error(400, "invalid_request_error", "output_config / response_format: unknown"),
            None => Reply::text("{}"),
        });
        let (server, provider) = subject.served(behaviour).await;
        let request = with_schema(subject);
        assert!(provider.model_info(&request.model.model).capabilities.structured_output);
        for requests in [2, 3] {
            read(provider.as_ref(), &request).await.end.expect("an answer");
            assert_eq!(server.counts().requests, requests, "{subject:?}: the refusal is remembered");
        }
        assert!(server.asked()[2].body.to_string().contains("fits this JSON Schema"));
        assert!(!provider.model_info(&request.model.model).capabilities.structured_output);
    }
}

#[tokio::test]
async fn one_schema_that_is_too_much_says_nothing_of_others() {
    for subject in Subject::BARE {
        let behaviour = Behaviour::by(|body| match wished_schema(body) {
            Some(_) => {
                Reply::error(400, "invalid_request_error", "Invalid schema for response_format 'answer'")
            }
            None => Reply::text("{}"),
        });
        let (server, provider) = subject.served(behaviour).await;
        let request = with_schema(subject);
        for requests in [2, 4] {
            read(provider.as_ref(), &request).await.end.expect("an answer");
            assert_eq!(server.counts().requests, requests, "{subject:?}");
        }
        assert!(provider.model_info(&request.model.model).capabilities.structured_output);
    }
}

#[tokio::test]
async fn a_cap_that_a_server_refuses_is_left_out() {
    let field = |body: &serde_json::Value| body.get("max_tokens").is_some();
    for (said, then) in [
        ("max_tokens is too large: 100. This model's maximum context length is 80 tokens", 4),
        ("Unsupported parameter: 'max_tokens' is not supported with this model", 3),
    ] {
        let behaviour = Behaviour::by(move |body| match field(body) {
            true => Reply::error(400, "invalid_request_error", said),
            false => Reply::text("Whole"),
        });
        let (server, provider) = Subject::Chat.served(behaviour).await;
        let request = Subject::Chat.request("Say it");
        assert!(request.output_tokens_max.is_some());
        for requests in [2, then] {
            let given = read(provider.as_ref(), &request).await;
            given.end.expect("an answer");
            assert_eq!((given.texts.concat().as_str(), server.counts().requests), ("Whole", requests));
        }
    }
}

#[tokio::test]
async fn a_setting_that_a_model_refuses_is_left_out_from_then_on() {
    for subject in Subject::BARE {
        let behaviour = Behaviour::by(|body| match body.get("temperature") {
            Some(_) => Reply::error(400, "invalid_request_error", "`temperature` is not supported"),
            None => Reply::text("Fine"),
        });
        let (server, provider) = subject.served(behaviour).await;
        let sampling = SamplingOptions {
            temperature: Some(SamplingNumber::rounded(0.7)),
            top_p: Some(SamplingNumber::rounded(0.5)),
            ..SamplingOptions::default()
        };
        let request = ModelRequest { sampling, ..subject.request("Say it") };
        for requests in [2, 3] {
            read(provider.as_ref(), &request).await.end.expect("an answer");
            assert_eq!(server.counts().requests, requests, "{subject:?}: the refusal is remembered");
        }
        assert!(
            server.asked().iter().all(|asked| asked.body["top_p"] == 0.5),
            "{subject:?}: it is not refused"
        );
        assert_eq!(server.counts().invalid, 0);
    }
}

#[tokio::test]
async fn a_refusal_of_something_else_is_no_reason_to_ask_again() {
    for subject in Subject::BARE {
        let no = Reply::error(400, "invalid_request_error", "temperature: unknown");
        let (server, provider) = subject.served(Behaviour::always(no)).await;
        let failure = read(provider.as_ref(), &with_schema(subject)).await.end.expect_err("refused");
        assert_eq!((failure.class, server.counts().requests), (ModelFailureClass::Permanent, 1));
        let never = Reply::error(400, "invalid_request_error", "json_schema: unknown");
        server.behave(Behaviour::always(never).with_key(KEY));
        let failure = read(provider.as_ref(), &with_schema(subject)).await.end.expect_err("refused");
        assert_eq!((failure.class, server.counts().requests), (ModelFailureClass::Permanent, 3));
    }
}

#[tokio::test]
async fn every_reason_to_stop_has_its_meaning_at_both_formats() {
    let table = [
        (Stop::EndTurn, FinishReason::Stop),
        (Stop::StopSequence, FinishReason::Stop),
        (Stop::MaxTokens, FinishReason::Length),
        (Stop::Refusal, FinishReason::ContentFilter),
    ];
    for subject in Subject::BARE {
        for (stop, finish) in table {
            let (_server, provider) = subject.served(Behaviour::always(Reply::text("a").stop(stop))).await;
            let answer = read(provider.as_ref(), &subject.request("Hi")).await.end.expect("an answer");
            assert_eq!(answer.finish, finish, "{subject:?} {stop:?}");
        }
    }
    let full = Reply::text("a").stop(Stop::ContextWindow);
    let (_server, provider) = Subject::Messages.served(Behaviour::always(full)).await;
    let failure = read(provider.as_ref(), &Subject::Messages.request("Hi")).await.end.expect_err("no answer");
    assert_eq!(failure.class, ModelFailureClass::ContextExceeded);
}

#[tokio::test]
async fn usage_is_told_alike_at_both_formats() {
    let tokens = Tokens { input: 100, cached: 80, cache_written: 10, output: 40, reasoning: 30 };
    for subject in Subject::BARE {
        let (_server, provider) = subject.served(Behaviour::always(Reply::text("a").usage(tokens))).await;
        let usage = read(provider.as_ref(), &subject.request("Hi")).await.end.expect("an answer").usage;
        let usage = usage.expect("usage");
        let counts =
            (usage.input_tokens, usage.cached_input_tokens, usage.output_tokens, usage.reasoning_tokens);
        assert_eq!(counts, (100, 80, 40, 30), "{subject:?}");
    }
}

#[tokio::test]
async fn equal_beginnings_give_equal_bytes_for_the_prompt_cache() {
    let (server, provider) = Subject::Messages.served(Behaviour::always(Reply::text("ok"))).await;
    let mut request = Subject::Messages.request("one");
    read(provider.as_ref(), &request).await.end.expect("an answer");
    request.messages.push(ChatMessage::Assistant {
        text: "ok".into(),
        calls: Vec::new(),
        continuation: None,
    });
    request.messages.push(ChatMessage::user("two".into()));
    read(provider.as_ref(), &request).await.end.expect("an answer");
    let [first, second] = &server.asked()[..] else { panic!("two requests") };
    for field in ["tools", "system"] {
        assert_eq!(first.body[field], second.body[field]);
        assert!(first.body[field].to_string().contains("cache_control"), "{field}");
    }
    assert_eq!(first.body["messages"][0], second.body["messages"][0], "its mark is still there");
    assert_eq!(first.header("x-api-key"), Some(KEY));
    assert_eq!(first.authorization, None);
}
