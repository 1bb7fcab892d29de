//! What a person types without seeing it, and what a pipe holds instead.
//!
//! Invariant: the terminal shows what is typed again once this is left, also by Ctrl-C.

use std::io::{self, IsTerminal, Read};

use palyra_types::Redacted;

use super::interrupts::Interrupts;
use super::output::Output;
use super::prompt_reader::{PromptReader, Reading};

/// Bytes that are read from a pipe, at most; a value is refused long before.
const PIPED_BYTES_MAX: u64 = 128 * 1024;

/// What came of asking.
#[derive(Debug)]
pub enum Unseen {
    /// It was given.
    Given(Redacted<String>),
    /// Two answers that should be the same are not.
    Differ,
    /// Ctrl-C, or the end of the input.
    Left,
}

/// How often a person is asked for the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Times {
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
    interrupts: &Interrupts,
    what: &str,
    times: Times,
) -> io::Result<Unseen> {
    if !io::stdin().is_terminal() {
        return tokio::task::spawn_blocking(piped).await.map_err(io::Error::other)?;
    }
    interrupts.begin("");
    let Some(mut reader) = PromptReader::of_process(output, interrupts) else { return Ok(Unseen::Left) };
    let mut given: Option<String> = None;
    let rounds: &[&str] = match times {
        Times::Once => &[""],
        Times::Twice => &["", " once more"],
    };
    for round in rounds {
        let line = reader.ask(&format!("{what}{round}:"), Reading::Hidden).await?;
        match (line, &given) {
            (None, _) => return Ok(Unseen::Left),
            (Some(line), Some(before)) if line != *before => return Ok(Unseen::Differ),
            (Some(line), _) => given = Some(line),
        }
    }
    Ok(given.map_or(Unseen::Left, |given| Unseen::Given(Redacted::new(given))))
}

fn piped() -> io::Result<Unseen> {
    let mut text = String::new();
    io::stdin().lock().take(PIPED_BYTES_MAX).read_to_string(&mut text)?;
    let line = text.strip_suffix('\n').unwrap_or(&text);
    let line = line.strip_suffix('\r').unwrap_or(line);
    Ok(Unseen::Given(Redacted::new(line.to_owned())))
}
