//! A client of the daemon's `/v1/chat/completions`: one socket, no library, as the model is asked directly.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use anyhow::Context;
use palyra_wire::v1;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::daemon::DaemonProcess;
use crate::floor::client::TurnTimes;
use crate::model::direct_client::{AnswerEvent, EventReader};
use crate::model::directive::AnswerDirective;

/// The model name of the default agent.
pub const AGENT_MODEL: &str = "palyra";
/// The mock model without an agent.
pub const MODEL_ALONE: &str = "mock/mock";

const ADDRESS_PREFIX: &str = "http://localhost:";
const SUCCESS: &[u8] = b"HTTP/1.1 200";
/// The end of a body in chunks.
const BODY_END: &[u8] = b"0\r\n\r\n";
const BUFFER_BYTES: usize = 16 * 1024;

/// Questions that were asked so far: the same words again would be a repetition of a request.
static QUESTIONS: AtomicU64 = AtomicU64::new(0);

/// Where a daemon serves the API, with a token for it.
#[derive(Debug, Clone)]
pub struct ChatEndpoint {
    address: SocketAddr,
    token: String,
}

impl ChatEndpoint {
    /// Finds the API of a daemon and makes a token.
    ///
    /// # Errors
    /// When the daemon serves no HTTP.
    pub async fn of(daemon: &DaemonProcess) -> anyhow::Result<Self> {
        let listening = daemon.client.status().await?.listening;
        let port = listening.iter().find_map(|address| address.strip_prefix(ADDRESS_PREFIX));
        let port = port.context("the daemon serves no HTTP")?.parse::<u16>().context("its port")?;
        let request = v1::CreateTokenRequest {
            principal: "user:local".to_owned(),
            scopes: vec![v1::TokenScope::Openai.into()],
            ..v1::CreateTokenRequest::default()
        };
        let token = daemon.client.call(request).await.context("no token")?.token;
        Ok(Self { address: SocketAddr::from(([127, 0, 0, 1], port)), token })
    }

    /// Connects a client that asks one model.
    ///
    /// # Errors
    /// When the daemon cannot be reached.
    pub async fn connect(&self, model: &'static str) -> anyhow::Result<ChatClient> {
        let stream = TcpStream::connect(self.address).await.context("no way to the daemon's HTTP")?;
        stream.set_nodelay(true)?;
        let mut events = EventReader::default();
        events.raw.reserve(BUFFER_BYTES);
        Ok(ChatClient { endpoint: self.clone(), model, stream, events })
    }
}

/// A connection to the API; one question at a time.
pub struct ChatClient {
    endpoint: ChatEndpoint,
    model: &'static str,
    stream: TcpStream,
    events: EventReader,
}

impl ChatClient {
    /// Asks a question in a conversation of its own, and reads the answer to its end.
    ///
    /// # Errors
    /// The daemon's refusal, or an answer without text.
    pub async fn ask(&mut self, directive: &AnswerDirective) -> anyhow::Result<TurnTimes> {
        let began = Instant::now();
        self.send(directive).await?;
        let mut first = None;
        loop {
            match self.next().await? {
                AnswerEvent::Text(text) if text.is_empty() => {}
                AnswerEvent::Text(_) => first = first.or_else(|| Some(began.elapsed())),
                AnswerEvent::Call => anyhow::bail!("a call was shown"),
                AnswerEvent::End => break,
            }
        }
        let first = first.context("an answer without text")?;
        // Read to the end of the body, the connection can be used again.
        while !self.events.raw.ends_with(BODY_END) {
            self.read().await?;
        }
        Ok(TurnTimes { first, total: began.elapsed() })
    }

    /// Asks a question and returns once the stream of its answer has begun.
    ///
    /// # Errors
    /// The daemon's refusal.
    pub async fn begin(&mut self, directive: &AnswerDirective) -> anyhow::Result<()> {
        self.send(directive).await?;
        while !self.events.raw.ends_with(b"\n\n\r\n") {
            self.read().await?;
        }
        Ok(())
    }

    async fn send(&mut self, directive: &AnswerDirective) -> anyhow::Result<()> {
        let number = QUESTIONS.fetch_add(1, Ordering::Relaxed);
        let model = self.model;
        let question = directive.question();
        let body = format!(
            r#"{{"model":"{model}","stream":true,"messages":[{{"role":"user","content":"{number}. {question}"}}]}}"#
        );
        let ChatEndpoint { address, token } = &self.endpoint;
        let request = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        self.events.begin();
        self.stream.write_all(request.as_bytes()).await.context("the daemon hung up")
    }

    async fn next(&mut self) -> anyhow::Result<AnswerEvent> {
        loop {
            if let Some(event) = self.events.next() {
                return Ok(event);
            }
            anyhow::ensure!(!self.events.raw.ends_with(BODY_END), "an answer failed: {}", self.received());
            self.read().await?;
        }
    }

    async fn read(&mut self) -> anyhow::Result<()> {
        let read = self.stream.read_buf(&mut self.events.raw).await.context("the daemon hung up")?;
        anyhow::ensure!(read > 0, "the daemon hung up");
        let known = self.events.raw.len().min(SUCCESS.len());
        anyhow::ensure!(self.events.raw[..known] == SUCCESS[..known], "refused: {}", self.received());
        Ok(())
    }

    fn received(&self) -> String {
        String::from_utf8_lossy(&self.events.raw).into_owned()
    }
}
