//! A client as plain as HTTP/1.1 allows: what it sends is written out, and what comes back is taken apart.

use std::net::SocketAddr;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::daemon::{PATIENCE, TestDaemon};

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    /// Returns the body as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Returns a header, whose name is given in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let named = |line: &&str| line.split_once(": ").is_some_and(|(known, _)| known == name);
        self.head.lines().find(named).and_then(|line| line.split_once(": ")).map(|(_, value)| value)
    }

    /// Panics unless the answer is a refusal with this status and code.
    #[track_caller]
    pub(crate) fn refused(&self, status: u16, code: &str) -> String {
        assert_eq!(self.status, status, "{self:?}");
        let error = &self.json()["error"];
        assert_eq!(error["code"], code, "{self:?}");
        error["message"].as_str().unwrap().to_owned()
    }
}

/// One connection.
pub(crate) struct Wire(BufReader<TcpStream>);

impl Wire {
    pub(crate) async fn open(address: SocketAddr) -> Self {
        Self(BufReader::new(TcpStream::connect(address).await.unwrap()))
    }

    pub(crate) async fn send(&mut self, text: &str) {
        self.0.get_mut().write_all(text.as_bytes()).await.unwrap();
    }

    /// Sends until the other side takes no more.
    pub(crate) async fn send_until_closed(&mut self, text: &str) {
        while self.0.get_mut().write_all(text.as_bytes()).await.is_ok() {}
    }

    /// Reads the head of an answer; `None` when the connection ends before it.
    pub(crate) async fn head(&mut self) -> Option<(u16, String)> {
        let mut head = String::new();
        loop {
            let mut line = String::new();
            let read = timeout(PATIENCE, self.0.read_line(&mut line)).await.expect("an answer in time");
            match read {
                Ok(0) | Err(_) => return None,
                Ok(_) if line == "\r\n" => break,
                Ok(_) => head.push_str(&line.replace("\r\n", "\n")),
            }
        }
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap();
        Some((status, head))
    }

    /// Reads a whole answer.
    pub(crate) async fn answer(&mut self) -> Option<Answer> {
        let (status, head) = self.head().await?;
        let body = self.body(&head).await;
        Some(Answer { status, head, body: String::from_utf8(body).unwrap() })
    }

    /// Reads the body that belongs to a head.
    pub(crate) async fn body(&mut self, head: &str) -> Vec<u8> {
        let answer = Answer { status: 0, head: head.to_owned(), body: String::new() };
        let mut body = Vec::new();
        if answer.header("transfer-encoding") == Some("chunked") {
            while let Some(chunk) = self.chunk().await {
                body.extend_from_slice(&chunk);
            }
        } else if let Some(length) = answer.header("content-length") {
            body.resize(length.parse().unwrap(), 0);
            timeout(PATIENCE, self.0.read_exact(&mut body)).await.expect("a body in time").unwrap();
        }
        body
    }

    /// Reads a chunk; `None` after the last, or when the connection ends.
    pub(crate) async fn chunk(&mut self) -> Option<Vec<u8>> {
        let mut line = String::new();
        let read = timeout(PATIENCE, self.0.read_line(&mut line)).await.expect("a chunk in time");
        if read.ok()? == 0 {
            return None;
        }
        let length = usize::from_str_radix(line.trim(), 16).unwrap();
        let mut chunk = vec![0; length + 2];
        timeout(PATIENCE, self.0.read_exact(&mut chunk)).await.expect("a chunk in time").ok()?;
        chunk.truncate(length);
        (length > 0).then_some(chunk)
    }

    /// Returns whether the connection ends without a further byte.
    pub(crate) async fn ends(&mut self) -> bool {
        timeout(PATIENCE, self.0.read_u8()).await.expect("an end in time").is_err()
    }
}

/// What a call sends: JSON, or a text as it is.
pub(crate) struct CallBody(String);

impl From<&str> for CallBody {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl From<String> for CallBody {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<Value> for CallBody {
    fn from(json: Value) -> Self {
        Self(json.to_string())
    }
}

impl From<&Value> for CallBody {
    fn from(json: &Value) -> Self {
        Self(json.to_string())
    }
}

/// A request, with what a program with a token sends.
pub(crate) struct Call<'a> {
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
    pub(crate) token: Option<&'a str>,
    /// Lines of further headers, each with its end.
    pub(crate) headers: String,
    pub(crate) body: String,
}

impl<'a> Call<'a> {
    pub(crate) fn get(path: &'a str, token: &'a str) -> Self {
        Self { method: "GET", path, token: Some(token), headers: String::new(), body: String::new() }
    }

    pub(crate) fn post(path: &'a str, token: &'a str, body: impl Into<CallBody>) -> Self {
        let headers = "content-type: application/json\r\n".to_owned();
        Self { method: "POST", path, token: Some(token), headers, body: body.into().0 }
    }

    /// The same without a token.
    pub(crate) fn open(path: &'a str) -> Self {
        Self { token: None, ..Self::get(path, "") }
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push_str(&format!("{name}: {value}\r\n"));
        self
    }

    pub(crate) fn text(&self, address: SocketAddr) -> String {
        let Self { method, path, headers, body, .. } = self;
        let host = if headers.lines().any(|line| line.starts_with("host: ")) {
            String::new()
        } else {
            format!("host: localhost:{}\r\n", address.port())
        };
        let token = self.token.map(|token| format!("authorization: Bearer {token}\r\n")).unwrap_or_default();
        let length =
            if body.is_empty() { String::new() } else { format!("content-length: {}\r\n", body.len()) };
        format!("{method} {path} HTTP/1.1\r\n{host}{token}{headers}{length}\r\n{body}")
    }

    /// Sends it over a connection of its own.
    pub(crate) async fn send(&self, daemon: &TestDaemon) -> Answer {
        let mut wire = Wire::open(daemon.address).await;
        wire.send(&self.text(daemon.address)).await;
        wire.answer().await.expect("an answer")
    }
}

/// The events of a run, as a script reads them.
pub(crate) struct EventReader {
    wire: Wire,
    text: String,
}

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ReadEvent {
    pub(crate) id: Option<u64>,
    pub(crate) name: String,
    pub(crate) data: String,
}

impl ReadEvent {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.data).unwrap()
    }
}

impl EventReader {
    /// Opens a stream of events; panics unless it begins.
    pub(crate) async fn open(daemon: &TestDaemon, call: Call<'_>) -> Self {
        let mut wire = Wire::open(daemon.address).await;
        wire.send(&call.text(daemon.address)).await;
        let (status, head) = wire.head().await.unwrap();
        assert!(status == 200 && head.contains("content-type: text/event-stream"), "{head}");
        Self { wire, text: String::new() }
    }

    /// Returns the next event; `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<ReadEvent> {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let event = read_block(block);
                self.text = rest.to_owned();
                return Some(event);
            }
            let chunk = self.wire.chunk().await?;
            self.text.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    /// Reads to the end; heartbeats are left out.
    pub(crate) async fn rest(&mut self) -> Vec<ReadEvent> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            if event.name != "heartbeat" {
                events.push(event);
            }
        }
        events
    }
}

fn read_block(block: &str) -> ReadEvent {
    let mut event = ReadEvent::default();
    for line in block.lines() {
        match line.split_once(": ") {
            Some(("id", id)) => event.id = Some(id.parse().unwrap()),
            Some(("event", name)) => event.name = name.to_owned(),
            Some(("data", data)) => event.data.push_str(data),
            Some(("", _)) => {}
            _ => panic!("no line of an event: {line:?}"),
        }
    }
    event
}
