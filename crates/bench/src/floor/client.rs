//! A client of the floor: one connection, one question at a time.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context;
use tokio::net::UnixStream;

use super::protocol::{ASK, CALL, END, Frames, TEXT, YES, send};
use crate::model::directive::AnswerDirective;

/// When the first text and the end came.
#[derive(Debug, Clone, Copy)]
pub struct TurnTimes {
    /// From the question to the first text.
    pub first: Duration,
    /// From the question to the end.
    pub total: Duration,
}

/// A connection to the floor.
pub struct FloorClient {
    stream: UnixStream,
    frames: Frames,
}

impl FloorClient {
    /// Connects.
    ///
    /// # Errors
    /// When nobody listens.
    pub async fn connect(socket: &Path) -> anyhow::Result<Self> {
        let stream = UnixStream::connect(socket).await.context("no way to the floor")?;
        Ok(Self { stream, frames: Frames::default() })
    }

    /// Asks, and leaves the answer to come.
    ///
    /// # Errors
    /// When the floor hung up.
    pub async fn begin(&mut self, directive: &AnswerDirective) -> anyhow::Result<()> {
        send(&mut self.stream, ASK, directive.question().as_bytes()).await
    }

    /// Asks, says yes to every call, and hears the answer to its end.
    ///
    /// # Errors
    /// When the floor hung up.
    pub async fn ask(&mut self, directive: &AnswerDirective) -> anyhow::Result<TurnTimes> {
        let begun = Instant::now();
        send(&mut self.stream, ASK, directive.question().as_bytes()).await?;
        let mut first = None;
        loop {
            let (tag, _) = self.frames.next(&mut self.stream).await?.context("the floor hung up")?;
            match tag {
                CALL => send(&mut self.stream, YES, b"").await?,
                TEXT => first = first.or_else(|| Some(begun.elapsed())),
                END => {
                    let first = first.context("an answer without text")?;
                    return Ok(TurnTimes { first, total: begun.elapsed() });
                }
                _ => anyhow::bail!("the floor said what it cannot say"),
            }
        }
    }
}
