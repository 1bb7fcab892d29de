//! What a person types without seeing it, and what a pipe holds instead.
//!
//! Invariant: the terminal shows what is typed again once this is left, also by Ctrl-C.

use std::io::{self, IsTerminal, Read};

use palyra_types::Content;

use super::interrupts::InterruptListener;
use super::output::Output;
use super::prompt_reader::{PromptReader, ReadingMode};

/// Bytes that are read from a pipe, at most; a value is refused long before.
const PIPED_BYTES_MAX: u64 = 128 * 1024;

/// What came of asking.
#[derive(Debug)]
pub enum HiddenAnswer {
    /// It was given.
    Given(Content<String>),
    /// Two answers that should be the same are not.
    Differ,
    /// Ctrl-C, or the end of the input.
    Quit,
}

/// How often a person is asked for the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskCount {
    /// It is typed once.
    Once,
    /// It cannot be looked at, so it is typed twice.
    Twice,
}

/// Asks for a text: at a terminal without showing it, from a pipe all there is but for one end of a line.
///
/// # Errors
/// What the system says of the pipe, or that it holds no text; that the terminal goes on showing what is typed, and then
/// nothing was asked.
pub async fn ask_unseen(
    output: &Output,
    interrupts: &InterruptListener,
    what: &str,
    times: AskCount,
) -> io::Result<HiddenAnswer> {
    if !io::stdin().is_terminal() {
        return tokio::task::spawn_blocking(piped).await.map_err(io::Error::other)?;
    }
    interrupts.begin("");
    let Some(mut reader) = PromptReader::of_process(output, interrupts) else {
        return Ok(HiddenAnswer::Quit);
    };
    let mut given: Option<String> = None;
    let rounds: &[&str] = match times {
        AskCount::Once => &[""],
        AskCount::Twice => &["", " once more"],
    };
    for round in rounds {
        let line = reader.ask(&format!("{what}{round}:"), ReadingMode::Hidden).await?;
        match (line, &given) {
            (None, _) => return Ok(HiddenAnswer::Quit),
            (Some(line), Some(before)) if line != *before => return Ok(HiddenAnswer::Differ),
            (Some(line), _) => given = Some(line),
        }
    }
    Ok(given.map_or(HiddenAnswer::Quit, |given| HiddenAnswer::Given(Content::new(given))))
}

fn piped() -> io::Result<HiddenAnswer> {
    let mut text = String::new();
    io::stdin().lock().take(PIPED_BYTES_MAX).read_to_string(&mut text)?;
    let line = text.strip_suffix('\n').unwrap_or(&text);
    let line = line.strip_suffix('\r').unwrap_or(line);
    Ok(HiddenAnswer::Given(Content::new(line.to_owned())))
}
