//! A request of no library: its bytes, and the bytes of the answer.

use std::net::SocketAddr;
use std::time::Duration;

use palyra_ports::Clock;
use palyra_testkit::Script;
use palyra_testkit::scripted_tools::CHANGE;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::client_program::soon;
use crate::daemon::{DISCONNECT_GRACE, TestDaemon};

/// An answer with a body of JSON.
pub(crate) struct RawAnswer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Value,
}

/// Sends a request with lines of headers, and reads the answer.
pub(crate) async fn send(address: SocketAddr, line: &str, headers: &[String], body: &str) -> RawAnswer {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    let head = format!(
        "{line} HTTP/1.1\r\nhost: localhost:{}\r\nconnection: close\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n{headers}\r\n",
        address.port(),
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    let mut text = String::new();
    soon(stream.read_to_string(&mut text)).await.unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let head = head.to_ascii_lowercase();
    let body = if head.contains("transfer-encoding: chunked") { joined(body) } else { body.to_owned() };
    RawAnswer { status, body: serde_json::from_str(&body).unwrap(), head }
}

/// Joins the chunks of a body.
fn joined(mut chunked: &str) -> String {
    let mut body = String::new();
    loop {
        let (size, rest) = chunked.split_once("\r\n").unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            return body;
        }
        body.push_str(&rest[..size]);
        chunked = rest[size..].strip_prefix("\r\n").unwrap();
    }
}

pub(crate) fn bearer(token: &str) -> String {
    format!("authorization: Bearer {token}")
}

#[tokio::test]
async fn what_is_not_offered_is_an_error_in_the_shape_that_clients_read() {
    let daemon = TestDaemon::start().await;
    let (_, token) = daemon.token("user:alice").await;
    for (line, status) in [
        ("GET /v1/embeddings", 405),
        ("POST /v1/embeddings/x", 404),
        ("POST /v1/conversations", 404),
        ("GET /v1/conversations/conv_1", 404),
        ("GET /v1/files", 404),
        ("POST /v1/files", 404),
        ("POST /v1/responses/compact", 404),
        ("GET /v1/responses/compact", 404),
        ("GET /v1/responses", 404),
        ("GET /v1/responses/resp_unknown", 404),
        ("GET /v1/models/gpt-4o", 404),
        ("PUT /v1/models", 405),
        ("GET /v1/chat/completions", 405),
    ] {
        let answer = send(daemon.address, line, &[bearer(&token)], "{}").await;
        assert_eq!(answer.status, status, "{line}: {}", answer.body);
        let error = &answer.body["error"];
        assert!(error["message"].is_string() && error["type"].is_string(), "{line}: {}", answer.body);
        assert!(error.get("param").is_some() && error.get("code").is_some(), "{line}: {}", answer.body);
        for header in ["x-request-id: req_", "x-should-retry: false", "content-type: application/json"] {
            assert!(answer.head.contains(header), "{line}: {}", answer.head);
        }
    }
    let answer = send(daemon.address, "GET /v1/models", &[bearer("unknown")], "").await;
    assert_eq!((answer.status, &answer.body["error"]["code"]), (401, &json!("invalid_api_key")));
}

#[tokio::test]
async fn an_answer_for_a_client_with_a_time_limit_comes_five_seconds_before_it() {
    let daemon = TestDaemon::start().await;
    let (_, token) = daemon.token("user:alice").await;
    daemon.provider.push(Script::new().call(CHANGE, r#"{"path":"notes.txt"}"#));
    let headers = [bearer(&token), "x-stainless-read-timeout: 30".to_owned()];
    let body = json!({ "model": "palyra", "messages": [{ "role": "user", "content": "change it" }] });
    let address = daemon.address;
    let answer =
        tokio::spawn(
            async move { send(address, "POST /v1/chat/completions", &headers, &body.to_string()).await },
        );
    let asked = daemon.asked().await;
    let limit = daemon.clock.boot().after(Duration::from_secs(25));
    soon(daemon.clock.someone_sleeps_until(limit)).await;
    daemon.clock.advance(Duration::from_secs(25));
    let answer = soon(answer).await.unwrap();
    let said = answer.body["choices"][0]["message"]["content"].as_str().unwrap();
    assert!(said.contains("This run waits") && said.contains(&asked.run.to_string()), "{said}");
}

/// A client that leaves while its run is being recorded has left a run: that ends after the grace.
#[tokio::test]
async fn a_client_that_leaves_before_its_run_is_recorded_has_left_its_run() {
    let daemon = TestDaemon::start().await;
    let (_, token) = daemon.token("user:alice").await;
    daemon.provider.push(Script::new().hold(&palyra_testkit::Gate::closed()));
    daemon.journal.hold();
    let body = json!({ "model": "palyra", "messages": [{ "role": "user", "content": "go" }] }).to_string();
    let mut stream = TcpStream::connect(daemon.address).await.unwrap();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n{}\r\n\r\n",
        daemon.address,
        body.len(),
        bearer(&token)
    );
    stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    soon(async {
        while daemon.journal.held() == 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    drop(stream);
    // The server notices that the connection is gone, and drops the call.
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
    daemon.journal.release();
    soon(daemon.clock.someone_sleeps_until(daemon.clock.boot().after(DISCONNECT_GRACE))).await;
}

#[tokio::test]
async fn hosted_tools_that_do_not_exist_here_are_named_in_a_header() {
    let daemon = TestDaemon::start().await;
    let (_, token) = daemon.token("user:alice").await;
    for (tools, named) in [(json!([{ "type": "web_search" }, { "type": "mcp" }]), true), (json!([]), false)] {
        daemon.provider.push(Script::new().text("fine"));
        let body = json!({ "model": "palyra", "input": "go", "tools": tools }).to_string();
        let answer = send(daemon.address, "POST /v1/responses", &[bearer(&token)], &body).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        assert_eq!(answer.head.contains("x-palyra-ignored-tools: web_search, mcp"), named, "{}", answer.head);
    }
}
