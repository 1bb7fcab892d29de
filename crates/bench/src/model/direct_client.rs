//! The shortest way to ask the mock model: one socket, no library.
//!
//! It is what "direct" means beside our figures, and what the floor asks with.

use std::net::SocketAddr;

use anyhow::Context;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Something an answer says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerEvent {
    /// A piece of text.
    Text(Vec<u8>),
    /// A tool is called.
    Call,
    /// The answer is over.
    End,
}

/// A connection to the mock model; one question at a time.
pub struct ModelClient {
    stream: TcpStream,
    events: EventReader,
    /// The last event was read; what is missing is the end of the body.
    ended: bool,
}

/// The events of an answer, found in its bytes.
#[derive(Default)]
pub(crate) struct EventReader {
    /// Bytes as they came.
    pub(crate) raw: Vec<u8>,
    read_to: usize,
}

impl EventReader {
    /// Forgets the answer before.
    pub(crate) fn begin(&mut self) {
        self.raw.clear();
        self.read_to = 0;
    }

    /// Returns what is said next in the bytes that are there.
    pub(crate) fn next(&mut self) -> Option<AnswerEvent> {
        while let Some(line) = self.line() {
            if let Some(said) = understood(&self.raw[line.0..line.1]) {
                return Some(said);
            }
        }
        None
    }

    fn line(&mut self) -> Option<(usize, usize)> {
        let from = self.read_to;
        let length = self.raw[from..].iter().position(|byte| *byte == b'\n')?;
        self.read_to = from + length + 1;
        Some((from, from + length))
    }
}

/// Returns the body of a request; `tools` of its tool calls were answered already.
pub(crate) fn body(question: &str, tools: usize) -> String {
    let mut body = format!(
        r#"{{"model":"mock","stream":true,"stream_options":{{"include_usage":true}},"messages":[{{"role":"user","content":"{question}"}}"#
    );
    for at in 0..tools {
        body += &format!(r#",{{"role":"tool","tool_call_id":"call_{at}","content":"milk"}}"#);
    }
    body + "]}"
}

impl ModelClient {
    /// Connects.
    ///
    /// # Errors
    /// When the model cannot be reached.
    pub async fn connect(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await.context("no way to the mock model")?;
        stream.set_nodelay(true)?;
        let events = EventReader { raw: Vec::with_capacity(16 * 1024), read_to: 0 };
        Ok(Self { stream, events, ended: false })
    }

    /// Sends a question; `tools` of its tool calls were answered already.
    ///
    /// # Errors
    /// When the connection broke.
    pub async fn ask(&mut self, question: &str, tools: usize) -> anyhow::Result<()> {
        let body = body(question, tools);
        let request = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: mock\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        self.events.begin();
        self.ended = false;
        self.stream.write_all(request.as_bytes()).await.context("the mock model hung up")
    }

    /// Returns what is said next. Dropping the future loses nothing.
    ///
    /// # Errors
    /// When the connection broke.
    pub async fn next(&mut self) -> anyhow::Result<AnswerEvent> {
        while !self.ended {
            match self.events.next() {
                Some(AnswerEvent::End) => self.ended = true,
                Some(said) => return Ok(said),
                None => self.more().await?,
            }
        }
        // Read to the end of the body, the connection can be used again.
        while !self.events.raw.ends_with(b"0\r\n\r\n") {
            self.more().await?;
        }
        Ok(AnswerEvent::End)
    }

    async fn more(&mut self) -> anyhow::Result<()> {
        let read = self.stream.read_buf(&mut self.events.raw).await.context("the mock model hung up")?;
        anyhow::ensure!(read > 0, "the mock model hung up");
        Ok(())
    }
}

/// Reads an event's line; `None` for sizes of chunks, blank lines, and events that say nothing.
fn understood(line: &[u8]) -> Option<AnswerEvent> {
    let data = line.strip_prefix(b"data: ")?;
    if data == b"[DONE]" {
        return Some(AnswerEvent::End);
    }
    // The head of each event is of a fixed length.
    const DELTA: &[u8] = br#""delta":{"#;
    let at = data.windows(DELTA.len()).position(|window| window == DELTA)? + DELTA.len();
    let delta = &data[at..];
    if let Some(text) = delta.strip_prefix(br#""content":""#) {
        let end = text.iter().position(|byte| *byte == b'"')?;
        return Some(AnswerEvent::Text(text[..end].to_vec()));
    }
    const CALLS: &[u8] = br#""tool_calls":["#;
    delta.windows(CALLS.len()).any(|window| window == CALLS).then_some(AnswerEvent::Call)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::directive::AnswerDirective;
    use crate::model::server::MockModel;

    async fn answer(asker: &mut ModelClient, directive: AnswerDirective, tools: usize) -> (String, usize) {
        asker.ask(&directive.question(), tools).await.expect("asked");
        let (mut text, mut calls) = (String::new(), 0);
        loop {
            match asker.next().await.expect("an answer") {
                AnswerEvent::Text(piece) => text += std::str::from_utf8(&piece).expect("text"),
                AnswerEvent::Call => calls += 1,
                AnswerEvent::End => return (text, calls),
            }
        }
    }

    #[test]
    fn one_connection_serves_answers_at_once_paced_and_with_tools() {
        let model = MockModel::start().expect("a model");
        let work = async {
            let mut asker = ModelClient::connect(model.address()).await?;
            let (text, calls) = answer(&mut asker, AnswerDirective::AT_ONCE, 0).await;
            assert_eq!((text.split_whitespace().count(), calls), (32, 0), "{text}");
            let span = std::time::Duration::from_millis(1);
            let (text, _) = answer(&mut asker, AnswerDirective::paced(span, 3, span), 0).await;
            assert_eq!(text, "The gateway writes ");
            let tool = AnswerDirective::AT_ONCE.with_tools(1);
            assert_eq!(answer(&mut asker, tool, 0).await, (String::new(), 1));
            assert_eq!(answer(&mut asker, tool, 1).await.1, 0);
            asker
                .ask(&AnswerDirective::paced(std::time::Duration::from_secs(900), 1, span).question(), 0)
                .await?;
            model.wait_until(|seen| seen.asked == 5).await?;
            drop(asker);
            let seen = model.wait_until(|seen| seen.dropped == 1).await?;
            assert!(seen.last_drop.is_some());
            Ok(())
        };
        crate::harness::on_one_thread(work).expect("served");
    }
}
