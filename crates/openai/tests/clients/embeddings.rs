//! Vectors of texts, as requests of no library see them.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use palyra_ports::Clock;
use palyra_ports::embed_texts::{EMBEDDING_TEXT_BYTES_MAX, EMBEDDING_TEXTS_MAX, EmbedError};
use palyra_testkit::Gate;
use palyra_types::model::{ModelFailure, ModelFailureClass};
use serde_json::{Value, json};

use crate::canary_redactor::{CANARY, PLACEHOLDER};
use crate::client_program::soon;
use crate::daemon::TestDaemon;
use crate::raw_request::{RawAnswer, bearer, send};

const MODEL: &str = "scripted/vectors";
/// Requests of one principal at once, as the daemon has it.
const REQUESTS_OF_ONE_MAX: usize = 16;

async fn embed(daemon: &TestDaemon, token: &str, body: &Value) -> RawAnswer {
    send(daemon.address, "POST /v1/embeddings", &[bearer(token)], &body.to_string()).await
}

fn numbers(entry: &Value) -> Vec<f64> {
    entry["embedding"].as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

fn unpacked(entry: &Value) -> Vec<f64> {
    let bytes = STANDARD.decode(entry["embedding"].as_str().unwrap()).unwrap();
    bytes.as_chunks().0.iter().map(|bytes| f64::from(f32::from_le_bytes(*bytes))).collect()
}

#[tokio::test]
async fn a_vector_for_each_text_is_the_same_as_numbers_and_as_base64() {
    let daemon = TestDaemon::start().await;
    let token = daemon.token("user:alice").await.1;
    let input = json!(["one", "two words", "one"]);
    let floats = embed(&daemon, &token, &json!({ "model": MODEL, "input": input, "user": "u-1" })).await;
    assert_eq!(floats.status, 200, "{}", floats.body);
    assert!(floats.head.contains("x-request-id: req_") && floats.head.contains("content-length: "));
    assert_eq!((&floats.body["object"], &floats.body["model"]), (&json!("list"), &json!(MODEL)));
    assert_eq!(floats.body["usage"], json!({ "prompt_tokens": 4, "total_tokens": 4 }));
    let body = json!({ "model": MODEL, "input": input, "encoding_format": "base64" });
    let packed = embed(&daemon, &token, &body).await.body;
    for index in 0..3 {
        let (float, packed) = (&floats.body["data"][index], &packed["data"][index]);
        assert_eq!((&float["index"], &float["object"]), (&json!(index), &json!("embedding")));
        assert_eq!(numbers(float), unpacked(packed));
    }
    assert_eq!(floats.body["data"][0]["embedding"], floats.body["data"][2]["embedding"]);
    assert_ne!(floats.body["data"][0]["embedding"], floats.body["data"][1]["embedding"]);
    assert_eq!(daemon.vectors.texts()[0], ["one", "two words", "one"]);
}

#[tokio::test]
async fn one_text_is_a_list_of_one_and_the_embedded_model_is_beside_the_configured_one() {
    let daemon = TestDaemon::start().await;
    let token = daemon.token("user:alice").await.1;
    let body = json!({ "model": "palyra-embedded", "input": "one", "dimensions": 6 });
    let answer = embed(&daemon, &token, &body).await;
    assert_eq!((answer.status, answer.body["data"].as_array().unwrap().len()), (200, 1), "{}", answer.body);
    assert!(daemon.vectors.texts().is_empty(), "the configured model was not asked");
    let models = send(daemon.address, "GET /v1/models", &[bearer(&token)], "").await.body;
    for name in [MODEL, "palyra-embedded"] {
        let listed = models["data"].as_array().unwrap().iter().filter(|model| model["id"] == name);
        assert_eq!(listed.count(), 1, "{models}");
        let line = format!("GET /v1/models/{name}");
        assert_eq!(send(daemon.address, &line, &[bearer(&token)], "").await.body["id"], name);
    }
}

#[tokio::test]
async fn what_is_refused_names_the_field_and_reaches_no_model() {
    let daemon = TestDaemon::start().await;
    let token = daemon.token("user:alice").await.1;
    let long = "x".repeat(EMBEDDING_TEXT_BYTES_MAX + 1);
    let many = vec!["x"; EMBEDDING_TEXTS_MAX + 1];
    for (body, status, param, words) in [
        (json!({ "input": "x" }), 400, json!("model"), "Missing required parameter"),
        (
            json!({ "model": "gpt-4o", "input": "x" }),
            404,
            json!("model"),
            "use `scripted/vectors` or `palyra-embedded`",
        ),
        (json!({ "model": "palyra", "input": "x" }), 404, json!("model"), "makes no embeddings"),
        (json!({ "model": "scripted/scripted", "input": "x" }), 404, json!("model"), "makes no embeddings"),
        (json!({ "model": MODEL, "input": [1, 2, 3] }), 400, json!("input"), "send the text as a string"),
        (json!({ "model": MODEL, "input": [] }), 400, json!("input"), "at least one"),
        (json!({ "model": MODEL, "input": ["x", ""] }), 400, json!("input[1]"), "empty"),
        (json!({ "model": MODEL, "input": ["x", long] }), 400, json!("input[1]"), "65536"),
        (json!({ "model": MODEL, "input": many }), 400, json!("input"), "2048"),
        (
            json!({ "model": MODEL, "input": "x", "encoding_format": "int8" }),
            400,
            json!("encoding_format"),
            "base64",
        ),
        (json!({ "model": MODEL, "input": "x", "dimensions": 0 }), 400, json!("dimensions"), "from 1"),
        (json!([]), 400, Value::Null, "JSON object"),
    ] {
        let answer = embed(&daemon, &token, &body).await;
        let error = &answer.body["error"];
        assert_eq!((answer.status, &error["param"]), (status, &param), "{error}");
        assert!(error["message"].as_str().unwrap().contains(words), "{error}");
        assert_eq!(error["type"], "invalid_request_error", "{error}");
        assert!(answer.head.contains("x-should-retry: false"), "{}", answer.head);
    }
    assert!(daemon.vectors.texts().is_empty());
    let body = json!({ "model": MODEL, "input": "x", "dimensions": 100 });
    let answer = embed(&daemon, &token, &body).await;
    let expected =
        "Invalid value for `dimensions`: vectors of this model have 6 dimensions, not 100. Leave it out.";
    assert_eq!((answer.status, &answer.body["error"]["message"]), (400, &json!(expected)));
}

#[tokio::test]
async fn a_model_that_fails_is_an_error_with_advice_on_a_repetition() {
    let daemon = TestDaemon::start().await;
    let token = daemon.token("user:alice").await.1;
    let failure = |class, pause: Option<u64>| {
        let retry_after = pause.map(Duration::from_secs);
        EmbedError::Model(ModelFailure { class, detail: "canary of the provider".into(), retry_after })
    };
    for (error, status, code, advice) in [
        (failure(ModelFailureClass::RateLimit, Some(7)), 429, "rate_limit_exceeded", "retry-after: 7\r\n"),
        (failure(ModelFailureClass::Transient, None), 502, "model_transient", "x-should-retry: true"),
        (failure(ModelFailureClass::Quota, None), 429, "insufficient_quota", "x-should-retry: false"),
        (failure(ModelFailureClass::Auth, None), 502, "model_auth", "x-should-retry: false"),
        (
            failure(ModelFailureClass::ContextExceeded, None),
            400,
            "context_length_exceeded",
            "x-should-retry: false",
        ),
        (EmbedError::Busy, 503, "queue_full", "x-should-retry: true"),
    ] {
        daemon.vectors.fail(error);
        let answer = embed(&daemon, &token, &json!({ "model": MODEL, "input": "x" })).await;
        assert_eq!((answer.status, &answer.body["error"]["code"]), (status, &json!(code)), "{}", answer.body);
        assert!(answer.head.contains(advice), "{}", answer.head);
        assert!(!answer.body.to_string().contains("canary"), "{}", answer.body);
    }
}

#[tokio::test]
async fn no_secret_of_a_text_reaches_a_model() {
    let daemon = TestDaemon::start().await;
    let token = daemon.token("user:alice").await.1;
    let body = json!({ "model": MODEL, "input": ["plain", format!("the key is {CANARY}")] });
    assert_eq!(embed(&daemon, &token, &body).await.status, 200);
    assert_eq!(daemon.vectors.texts(), [["plain".to_owned(), format!("the key is {PLACEHOLDER}")]]);
}

#[tokio::test]
async fn a_large_answer_is_sent_while_it_is_written() {
    let daemon = TestDaemon::start().await;
    let token = daemon.token("user:alice").await.1;
    let texts: Vec<String> = (0..EMBEDDING_TEXTS_MAX).map(|number| format!("text {number}")).collect();
    let body = json!({ "model": MODEL, "input": texts, "dimensions": 64 });
    let answer = embed(&daemon, &token, &body).await;
    assert_eq!(answer.status, 200);
    assert!(answer.head.contains("transfer-encoding: chunked"), "{}", answer.head);
    let data = answer.body["data"].as_array().unwrap();
    assert_eq!(data.len(), EMBEDDING_TEXTS_MAX);
    assert!(
        data.iter().enumerate().all(|(index, entry)| entry["index"] == index && numbers(entry).len() == 64)
    );
}

#[tokio::test]
async fn one_principal_has_so_many_requests_at_once_and_leaves_room_for_others() {
    let daemon = TestDaemon::start().await;
    let alice = daemon.token("user:alice").await.1;
    let bob = daemon.token("user:bob").await.1;
    let gate = Gate::closed();
    daemon.vectors.hold(&gate);
    let (address, headers) = (daemon.address, [bearer(&alice)]);
    let body = json!({ "model": MODEL, "input": "x" }).to_string();
    let open_requests: Vec<_> = (0..REQUESTS_OF_ONE_MAX)
        .map(|_| {
            let (headers, body) = (headers.clone(), body.clone());
            tokio::spawn(async move { send(address, "POST /v1/embeddings", &headers, &body).await.status })
        })
        .collect();
    soon(async {
        while daemon.vectors.texts().len() < REQUESTS_OF_ONE_MAX {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let refused = embed(&daemon, &alice, &json!({ "model": MODEL, "input": "x" })).await;
    assert_eq!((refused.status, &refused.body["error"]["code"]), (503, &json!("queue_full")));
    let other = embed(&daemon, &bob, &json!({ "model": "palyra-embedded", "input": "x" })).await;
    assert_eq!(other.status, 200);
    gate.open();
    for request in open_requests {
        assert_eq!(soon(request).await.unwrap(), 200);
    }
    assert_eq!(embed(&daemon, &alice, &json!({ "model": MODEL, "input": "x" })).await.status, 200);
}

#[tokio::test]
async fn a_model_that_does_not_answer_is_a_timeout() {
    let daemon = TestDaemon::start().await;
    let token = daemon.token("user:alice").await.1;
    daemon.vectors.hold(&Gate::closed());
    let address = daemon.address;
    let body = json!({ "model": MODEL, "input": "x" }).to_string();
    let limit = daemon.clock.boot().after(Duration::from_secs(300));
    let asked =
        tokio::spawn(async move { send(address, "POST /v1/embeddings", &[bearer(&token)], &body).await });
    soon(daemon.clock.someone_sleeps_until(limit)).await;
    daemon.clock.advance(Duration::from_secs(300));
    let answer = soon(asked).await.unwrap();
    assert_eq!((answer.status, &answer.body["error"]["code"]), (504, &json!("model_timeout")));
    assert!(answer.head.contains("x-should-retry: true"), "{}", answer.head);
}
