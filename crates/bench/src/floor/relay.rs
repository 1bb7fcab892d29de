//! What a floor does with a question, whatever is spoken to those before and behind it.
//!
//! Invariant: nothing is shown before its row is durable.

use std::future::Future;

use anyhow::Context;
use tokio::sync::oneshot;

use super::writer::Writer;
use crate::model::direct_client::AnswerEvent;
use crate::model::directive::{AnswerDirective, CallPath};

/// The way to the model; one question at a time.
pub(super) trait ModelRequester: Send {
    /// Sends a question; `tools` of its tool calls were answered already.
    fn ask(&mut self, question: &str, tools: usize) -> impl Future<Output = anyhow::Result<()>> + Send;

    /// Returns what is said next. Dropping the future loses nothing.
    fn next(&mut self) -> impl Future<Output = anyhow::Result<AnswerEvent>> + Send;
}

/// The one who asked.
pub(super) trait ReplySink: Send {
    /// Shows durable text.
    fn text(&mut self, text: &[u8]) -> impl Future<Output = anyhow::Result<()>> + Send;

    /// Shows a durable question, whether a call may run, and waits for the yes.
    fn on_question(&mut self) -> impl Future<Output = anyhow::Result<()>> + Send;

    /// Says that the answer is over.
    fn end(&mut self) -> impl Future<Output = anyhow::Result<()>> + Send;
}

/// Relays one question: accepted, asked, each piece recorded and then sent, ended.
pub(super) async fn relay(
    hearer: &mut impl ReplySink,
    writer: &Writer,
    asker: &mut impl ModelRequester,
    question: &[u8],
) -> anyhow::Result<()> {
    let text = std::str::from_utf8(question).context("a question that is not text")?;
    let (AnswerDirective { calls, .. }, _) = AnswerDirective::read(question);
    writer.append(vec![question.to_vec()])?.await?;
    for tools in 0_usize.. {
        asker.ask(text, tools).await?;
        if pieces(hearer, writer, asker).await? == AnswerEnd::WithAnswer {
            return hearer.end().await;
        }
        if calls == CallPath::Approved {
            hearer.on_question().await?;
            writer.append(vec![b"yes".to_vec()])?.await?;
        }
        // The intent is durable; the tool reads what may not be there, and its outcome becomes durable.
        let found = std::fs::read(calls.file(tools)).unwrap_or_default();
        writer.append(vec![found])?.await?;
    }
    Ok(())
}

#[derive(Debug, PartialEq, Eq)]
enum AnswerEnd {
    WithAnswer,
    WithCall,
}

/// A commit on its way, with the text that may be shown after it.
struct InFlight {
    durable: oneshot::Receiver<()>,
    text: Vec<u8>,
}

async fn pieces(
    hearer: &mut impl ReplySink,
    writer: &Writer,
    asker: &mut impl ModelRequester,
) -> anyhow::Result<AnswerEnd> {
    let mut in_flight: Option<InFlight> = None;
    let mut gathered: Vec<u8> = Vec::new();
    let mut ended = AnswerEnd::WithAnswer;
    loop {
        let said = match &mut in_flight {
            None => asker.next().await?,
            Some(commit) => {
                tokio::select! {
                    biased;
                    said = asker.next() => said?,
                    durable = &mut commit.durable => {
                        durable?;
                        let shown = in_flight.take().map(|commit| commit.text).unwrap_or_default();
                        hearer.text(&shown).await?;
                        in_flight = begin(writer, &mut gathered)?;
                        continue;
                    }
                }
            }
        };
        match said {
            AnswerEvent::Text(text) => gathered.extend(text),
            AnswerEvent::Call => ended = AnswerEnd::WithCall,
            AnswerEvent::End => break,
        }
        if in_flight.is_none() {
            in_flight = begin(writer, &mut gathered)?;
        }
    }
    // The rest of the text and the end go into one commit, behind the one that is on its way.
    let last = writer.append(vec![gathered.clone(), b"end".to_vec()])?;
    if let Some(commit) = in_flight {
        commit.durable.await?;
        hearer.text(&commit.text).await?;
    }
    last.await?;
    if !gathered.is_empty() {
        hearer.text(&gathered).await?;
    }
    Ok(ended)
}

fn begin(writer: &Writer, gathered: &mut Vec<u8>) -> anyhow::Result<Option<InFlight>> {
    if gathered.is_empty() {
        return Ok(None);
    }
    let text = std::mem::take(gathered);
    Ok(Some(InFlight { durable: writer.append(vec![text.clone()])?, text }))
}
