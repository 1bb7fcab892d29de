//! Assembles what a model is shown, within its window.
//!
//! Whole runs are dropped, oldest first, so that calls stay paired with their results; of the running run
//! the oldest rounds go next, but never its input. What was dropped is in the plan, which goes on the tape.

use palyra_types::Seq;
use palyra_types::event::{ContextPlan, DropReason};
use palyra_types::model::{BYTES_PER_TOKEN_ESTIMATED, ChatMessage};

/// A quarter of the window is left for the answer, and at most this many tokens.
pub const ANSWER_TOKENS_MAX: u64 = 8_192;

/// The messages of an earlier run of the session.
#[derive(Debug, Clone)]
pub struct PastRun {
    /// The journal seq of its first entry.
    pub first_seq: Seq,
    /// Its messages, calls and results paired.
    pub messages: std::sync::Arc<[ChatMessage]>,
}

/// What goes into a request.
#[derive(Debug, Clone)]
pub struct PromptInputs<'a> {
    /// Instructions of system and agent.
    pub instructions: &'a str,
    /// Earlier runs of the session, oldest first.
    pub history: &'a [PastRun],
    /// The messages of the running run.
    pub current: Vec<ChatMessage>,
    /// Bytes of the rendered tool catalogue.
    pub catalog_bytes: usize,
    /// The model's window in tokens.
    pub window_tokens: u64,
    /// How many tokens the request should hold at most, if what may be left out allows it.
    pub tokens_wished: Option<u64>,
    /// SHA-256 of the instructions.
    pub instructions_digest: [u8; 32],
    /// SHA-256 of the catalogue.
    pub catalog_digest: [u8; 32],
}

/// An assembled request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// The messages, oldest first.
    pub messages: Vec<ChatMessage>,
    /// What was kept and dropped.
    pub plan: ContextPlan,
}

/// The running run alone is larger than the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the input is larger than the model's window")]
pub struct ContextTooLarge;

/// Assembles a request that fits the window.
///
/// # Errors
/// [`ContextTooLarge`] when instructions, tools and the run's own input do not fit.
pub fn assemble(inputs: PromptInputs<'_>) -> Result<Prompt, ContextTooLarge> {
    let window_bytes = request_tokens_max(inputs.window_tokens).saturating_mul(BYTES_PER_TOKEN_ESTIMATED);
    let wished_bytes = inputs
        .tokens_wished
        .map_or(window_bytes, |tokens| tokens.saturating_mul(BYTES_PER_TOKEN_ESTIMATED).min(window_bytes));
    let fixed = (inputs.instructions.len() + inputs.catalog_bytes) as u64;
    let room = MessageAllowance {
        requested: wished_bytes.saturating_sub(fixed),
        at_most: window_bytes.saturating_sub(fixed),
    };
    let (current, mut dropped) = fit_current(inputs.current, room)?;
    let mut used = fixed + bytes_of(&current);
    let mut kept = 0;
    for past in inputs.history.iter().rev() {
        let bytes = bytes_of(&past.messages);
        if used + bytes > wished_bytes {
            break;
        }
        used += bytes;
        kept += 1;
    }
    let (left_out, shown) = inputs.history.split_at(inputs.history.len() - kept);
    dropped += left_out.iter().map(|past| past.messages.len()).sum::<usize>();
    let mut messages: Vec<ChatMessage> =
        shown.iter().flat_map(|past| past.messages.iter().cloned()).collect();
    messages.extend(current);
    let plan = ContextPlan {
        messages_kept: u32::try_from(messages.len()).unwrap_or(u32::MAX),
        messages_dropped: u32::try_from(dropped).unwrap_or(u32::MAX),
        dropped_because: (dropped > 0).then_some(DropReason::Window),
        oldest_seq: shown.first().map(|past| past.first_seq),
        tokens_estimated: used.div_ceil(BYTES_PER_TOKEN_ESTIMATED),
        instructions_digest: inputs.instructions_digest,
        catalog_digest: inputs.catalog_digest,
    };
    Ok(Prompt { messages, plan })
}

/// Returns how many tokens of a window a request may fill.
#[must_use]
pub fn request_tokens_max(window_tokens: u64) -> u64 {
    window_tokens - (window_tokens / 4).min(ANSWER_TOKENS_MAX)
}

/// Bytes that messages may take.
#[derive(Debug, Clone, Copy)]
struct MessageAllowance {
    requested: u64,
    at_most: u64,
}

/// Drops the oldest rounds of the running run until the rest fits. A round is an assistant message with its
/// results; what the person said always stays.
fn fit_current(
    mut current: Vec<ChatMessage>,
    room: MessageAllowance,
) -> Result<(Vec<ChatMessage>, usize), ContextTooLarge> {
    let mut dropped = 0;
    while bytes_of(&current) > room.requested {
        let Some(round) = next_round(&current) else {
            if bytes_of(&current) > room.at_most {
                return Err(ContextTooLarge);
            }
            break;
        };
        dropped += round.len();
        current.drain(round);
    }
    Ok((current, dropped))
}

/// Returns where the oldest round lies that may go: never the latest one.
fn next_round(messages: &[ChatMessage]) -> Option<std::ops::Range<usize>> {
    let is_round = |message: &ChatMessage| matches!(message, ChatMessage::Assistant { .. });
    let from = messages.iter().position(is_round)?;
    let ends = |message: &ChatMessage| !matches!(message, ChatMessage::ToolResult { .. });
    let to = from + 1 + messages[from + 1..].iter().position(ends)?;
    messages[to..].iter().any(is_round).then_some(from..to)
}

fn bytes_of(messages: &[ChatMessage]) -> u64 {
    messages.iter().map(|message| message.content_bytes() as u64).sum()
}

#[cfg(test)]
mod tests;
