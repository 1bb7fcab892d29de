//! The server over real sockets: sequences, cuts, delivery and a door that shuts.

use serde_json::Value;
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::*;
use crate::*;

/// What came back: the status, the body without its framing, and whether it ended properly.
#[derive(Debug, PartialEq)]
struct ReceivedResponse {
    status: u16,
    body: Vec<u8>,
    ended: bool,
}

impl ReceivedResponse {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

const CHAT: &str = "/v1/chat/completions";
const MESSAGES: &str = "/v1/messages";
const RESPONSES: &str = "/v1/responses";

async fn ask(server: &ModelServer, path: &str, body: &Value) -> std::io::Result<ReceivedResponse> {
    let mut stream = TcpStream::connect(server.address).await?;
    let body = body.to_string();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n{}Content-Length: {}\r\n\r\n",
        if path == MESSAGES { "Anthropic-Version: 2023-06-01\r\n" } else { "" },
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).await?;
    let mut raw = Vec::new();
    while !raw.ends_with(b"\r\n0\r\n\r\n") && stream.read_buf(&mut raw).await? > 0 {}
    Ok(heard(&raw))
}

fn heard(raw: &[u8]) -> ReceivedResponse {
    let head_end = raw.windows(4).position(|four| four == b"\r\n\r\n").map_or(raw.len(), |at| at + 2);
    let status =
        std::str::from_utf8(raw.get(9..12).unwrap_or(b"0")).expect("digits").parse().expect("a status");
    let mut rest = raw.get(head_end + 2..).unwrap_or_default();
    let mut body = Vec::new();
    while let Some(line) = rest.windows(2).position(|two| two == b"\r\n") {
        let size = std::str::from_utf8(&rest[..line]).expect("a size");
        let size = usize::from_str_radix(size, 16).expect("hexadecimal");
        if size == 0 {
            return ReceivedResponse { status, body, ended: true };
        }
        body.extend(&rest[line + 2..line + 2 + size]);
        rest = &rest[line + 2 + size + 2..];
    }
    ReceivedResponse { status, body, ended: false }
}

fn hello(model: &str) -> Value {
    json!({
        "model": model, "max_tokens": 50, "stream": true,
        "messages": [{"role": "user", "content": "Hello"}],
    })
}

/// Returns the body that a path takes.
fn hello_at(path: &str) -> Value {
    if path == RESPONSES {
        return json!({"model": "m", "input": [{"role": "user", "content": "Hello"}], "stream": true});
    }
    hello("m")
}

async fn served(behaviour: Behaviour) -> ModelServer {
    ModelServer::start(behaviour).await.expect("a port")
}

#[tokio::test]
async fn a_server_fails_twice_and_then_answers() {
    let behaviour = Behaviour::times(2, Fault::Overloaded).then(Fault::Quota).then(Reply::text("Here."));
    let server = served(behaviour).await;
    let mut statuses = Vec::new();
    for _ in 0..5 {
        statuses.push(ask(&server, MESSAGES, &hello("m")).await.expect("a reply").status);
    }
    assert_eq!(statuses, [529, 529, 400, 200, 200]);
    assert_eq!(server.wait_asked(5).await.len(), 5);
    server.behave(Behaviour::always(Fault::Server(503)));
    assert_eq!(ask(&server, CHAT, &hello("m")).await.expect("a reply").status, 503);
}

#[tokio::test]
async fn every_model_behaves_by_itself() {
    let server = served(Behaviour::per_model([
        ("small", Behaviour::always(Fault::ContextExceeded)),
        ("large", Behaviour::times(1, Fault::Auth).then(Reply::text("It fits."))),
    ]))
    .await;
    for (model, status) in [("large", 401), ("small", 400), ("large", 200), ("none", 404)] {
        assert_eq!(ask(&server, CHAT, &hello(model)).await.expect("a reply").status, status, "{model}");
    }
    assert_eq!(server.counts().invalid, 0);
    assert_eq!(ask(&server, CHAT, &json!({})).await.expect("a reply").status, 400);
    assert_eq!(server.counts().invalid, 1);
}

#[tokio::test]
async fn a_body_is_cut_at_every_byte_and_may_come_byte_by_byte() {
    for path in [CHAT, MESSAGES, RESPONSES] {
        let reply = || Reply::text("one").call("t", "{}");
        let server = served(Behaviour::always(reply())).await;
        let whole = ask(&server, path, &hello_at(path)).await.expect("a reply");
        let bytes = server.counts().body_bytes;
        assert!(whole.ended && whole.body.len() == bytes);
        // Ids number the replies; a server of its own gives the same again.
        let server = served(Behaviour::always(reply().in_chunks_of(1))).await;
        assert_eq!(ask(&server, path, &hello_at(path)).await.expect("a reply"), whole);
        for at in 0..bytes {
            let (cut, ended) = if at % 2 == 0 { (Cut::Close, false) } else { (Cut::CleanEnd, true) };
            let server = served(Behaviour::always(reply().cut_at(at, cut))).await;
            let heard = ask(&server, path, &hello_at(path)).await.expect("a reply");
            assert_eq!((heard.body.as_slice(), heard.ended), (&whole.body[..at], ended));
        }
    }
}

#[tokio::test]
async fn faults_happen_in_place_of_an_answer_and_behind_its_text() {
    for path in [CHAT, MESSAGES, RESPONSES] {
        for fault in Fault::every() {
            let head = served(Behaviour::always(fault)).await;
            let within = served(Behaviour::always(Reply::text("one two").then(fault))).await;
            if matches!(fault, Fault::Silence | Fault::Stall | Fault::EndlessArguments) {
                continue;
            }
            let first = ask(&head, path, &hello_at(path)).await;
            let second = ask(&within, path, &hello_at(path)).await;
            if fault.is_refusal() {
                let first = first.expect("a refusal");
                assert!(first.status >= 400 && first.ended && first.text().contains("error"), "{first:?}");
                let second = second.expect("an answer");
                assert!(second.text().contains("two") && second.text().contains("error"), "{second:?}");
            } else if matches!(fault, Fault::Reset | Fault::Close) {
                assert!(first.is_err() || first.is_ok_and(|heard| heard.status == 0));
            }
        }
    }
}

#[tokio::test]
async fn a_shut_door_refuses_and_opens_again_at_the_same_address() {
    let server = served(Behaviour::always(Reply::text("ok"))).await;
    for _ in 0..3 {
        assert!(ask(&server, CHAT, &hello("m")).await.is_ok());
        server.shut().await;
        let refused = ask(&server, CHAT, &hello("m")).await.expect_err("refused");
        assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
        server.open().await;
    }
    assert!(ask(&server, CHAT, &hello("m")).await.is_ok());
    assert_eq!(server.counts().requests, 4);
}

#[tokio::test]
async fn the_assistant_has_sense_in_every_dialect() {
    let server = served(Behaviour::assistant(Duration::ZERO)).await;
    let png = "iVBORw0KGgo=";
    let source = json!({"type": "base64", "media_type": "image/png", "data": png});
    let image = json!({"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{png}")}});
    for (path, block) in [(MESSAGES, json!({"type": "image", "source": source})), (CHAT, image)] {
        let mut body = hello("m");
        body["stream"] = json!(false);
        body["messages"][0]["content"] = json!([block, {"type": "text", "text": "What is it?"}]);
        let heard = ask(&server, path, &body).await.expect("a reply");
        assert!(heard.text().contains("You showed: image/png of 8 bytes"), "{}", heard.text());
    }
    let image =
        json!({"type": "input_image", "image_url": format!("data:image/png;base64,{png}"), "detail": "auto"});
    let mut body = hello_at(RESPONSES);
    body["stream"] = json!(false);
    body["input"][0]["content"] = json!([image, {"type": "input_text", "text": "What is it?"}]);
    let heard = ask(&server, RESPONSES, &body).await.expect("a reply");
    assert!(heard.text().contains("You showed: image/png of 8 bytes"), "{}", heard.text());
    let schema =
        json!({"type": "object", "properties": {"said": {"type": "string"}}, "additionalProperties": false});
    let mut body = hello("m");
    body["stream"] = json!(false);
    body["output_config"] = json!({"format": {"type": "json_schema", "schema": schema}});
    body["thinking"] = json!({"type": "adaptive"});
    let heard = ask(&server, MESSAGES, &body).await.expect("a reply").text();
    assert!(heard.contains(r#"{\"said\":\"Hello\"}"#) && heard.contains("\"signature\":\"EqQB"), "{heard}");
}
