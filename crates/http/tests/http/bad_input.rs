//! Bodies and parameters that no honest client sends: typed refusals that name the place, and nothing is recorded.

use serde_json::{Value, json};

use crate::daemon::TestDaemon;
use crate::talk::{Call, Wire};

#[tokio::test]
async fn a_faulty_body_is_refused_with_its_place() {
    let daemon = TestDaemon::start().await;
    let token = daemon.token("user:alice").await;
    let deep = format!("{}1{}", "[".repeat(40), "]".repeat(40));
    let cases = [
        ("{", "not valid JSON"),
        ("[]", "must be an object"),
        (r#"{"input": 1}"#, "`input`: must be a string"),
        (r#"{"inptu": "hi"}"#, "`inptu`: `StartRunRequest` has no such member"),
        (r#"{"input": "a", "input": "b"}"#, "`input`: this member occurs twice"),
        (
            r#"{"session": {"session_key": "k", "session_key": "l"}}"#,
            "`session.session_key`: this member occurs twice",
        ),
        (r#"{"delivery": "sometimes"}"#, "`delivery`: not a value of `InputDelivery`"),
        (
            r#"{"attachments": [{"name": "a", "content": "%"}]}"#,
            "`attachments[0].content`: must be a base64 string",
        ),
        (r#"{"attachments": [{"bytes": 1e400}]}"#, "not valid JSON"),
        (r#"{"attachments": [{"bytes": -1}]}"#, "`attachments[0].bytes`: must be a 64-bit number"),
        (r#"{"input": "\ud800"}"#, "not valid JSON"),
        (deep.as_str(), "nested more than 32 levels deep"),
    ];
    for (body, expected) in cases {
        let text = Call::post("/api/v1/runs", &token, body).send(&daemon).await.refused(400, "PLY-1004");
        assert!(text.contains(expected), "{body}: {text}");
    }
    let long = format!(r#"{{"{}": 1}}"#, "x".repeat(100_000));
    let text = Call::post("/api/v1/runs", &token, long).send(&daemon).await.refused(400, "PLY-1004");
    assert!(text.len() < 400, "what a client sent is not sent back whole");
    assert!(daemon.provider.requests().is_empty());
}

#[tokio::test]
async fn fields_belong_to_the_path_the_query_or_the_body() {
    let daemon = TestDaemon::start().await;
    let token = daemon.token("user:alice").await;
    for (path, expected) in [
        ("/api/v1/runs?page_size=many", "`page_size`: must be a whole number"),
        ("/api/v1/runs?page_size=1&page_size=2", "`page_size`: this member occurs twice"),
        ("/api/v1/runs?pagesize=1", "did you mean `page_size`?"),
        ("/api/v1/runs?a=%ff", "not percent-encoded UTF-8"),
        ("/api/v1/runs/X/tape?run_id=Y", "`run_id`: is a part of the path"),
    ] {
        let text = Call::get(path, &token).send(&daemon).await.refused(400, "PLY-1004");
        assert!(text.contains(expected), "{path}: {text}");
    }
    let in_both = Call::post("/api/v1/runs/X/input", &token, json!({ "run_id": "Y" })).send(&daemon).await;
    assert!(in_both.refused(400, "PLY-1004").contains("`run_id`: is a part of the path"));
    let with_body = Call { body: "{}".to_owned(), ..Call::get("/api/v1/runs", &token) }.send(&daemon).await;
    assert!(with_body.refused(400, "PLY-1004").contains("in the query, not in a body"));
    let with_query = Call::post("/api/v1/runs?input=hi", &token, "{}").send(&daemon).await;
    assert!(with_query.refused(400, "PLY-1004").contains("in the body, not in the query"));
    Call::get("/api/v1/runs/not-an-id", &token).send(&daemon).await.refused(400, "PLY-1002");
    Call::get("/api/v1/runs/%ff", &token).send(&daemon).await.refused(400, "PLY-1004");
    let parameter = Call::get("/api/v1/runs?page_token=garbage", &token).send(&daemon).await;
    assert_eq!(parameter.status, 400, "{parameter:?}");
}

/// What a form of a web page can send without asking first.
#[tokio::test]
async fn a_form_of_a_page_posts_nothing() {
    let daemon = TestDaemon::start().await;
    let token = daemon.token("user:alice").await;
    for media_type in
        ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""]
    {
        let call = Call { headers: String::new(), ..Call::post("/api/v1/runs", &token, r#"{"input":"hi"}"#) };
        let call = if media_type.is_empty() { call } else { call.with("content-type", media_type) };
        call.send(&daemon).await.refused(415, "PLY-1005");
    }
    assert!(daemon.provider.requests().is_empty());
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused_before_it_is_read() {
    let daemon = TestDaemon::start().await;
    let token = daemon.token("user:alice").await;
    let head = |path: &str, length: u64| {
        format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n\r\n"
        )
    };
    for length in [20 * 1024 * 1024 + 1, u64::from(u32::MAX)] {
        let mut wire = Wire::open(daemon.address).await;
        wire.send(&head("/api/v1/runs", length)).await;
        wire.answer().await.unwrap().refused(413, "PLY-1003");
    }
    // A client that sends all of it first is told why, and not cut off.
    let mut eager = Wire::open(daemon.address).await;
    let length = 20 * 1024 * 1024 + 1;
    eager.send(&format!("{}{}", head("/api/v1/runs", length), "x".repeat(20 * 1024 * 1024 + 1))).await;
    eager.answer().await.unwrap().refused(413, "PLY-1003");
    // Not an operation that takes files.
    let large = json!({ "session": { "session_key": "x".repeat(1024 * 1024) } });
    Call::post("/api/v1/sessions", &token, large).send(&daemon).await.refused(413, "PLY-1003");
    let chunked = "POST /healthz HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
    let mut wire = Wire::open(daemon.address).await;
    wire.send(chunked).await;
    wire.answer().await.unwrap().refused(405, "PLY-1008");
}

/// The head has a limit of its own, in bytes and in lines.
#[tokio::test]
async fn a_head_that_is_too_large_ends_the_connection() {
    let daemon = TestDaemon::start().await;
    let long = format!("x: {}\r\n", "y".repeat(64 * 1024));
    let many: String = (0..100).map(|number| format!("x-{number}: y\r\n")).collect();
    for headers in [long, many] {
        let mut wire = Wire::open(daemon.address).await;
        wire.send(&format!("GET /healthz HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n")).await;
        assert_eq!(wire.head().await.map(|(status, _)| status), Some(431));
        assert!(wire.ends().await);
    }
    let fine = Call::open("/healthz").send(&daemon).await;
    assert_eq!(fine.json()["status"], Value::from("ok"), "others go on");
}
