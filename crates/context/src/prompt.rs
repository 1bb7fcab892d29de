//! Assembles what a model is shown, within its window.
//!
//! A request is made of segments, in the order in which a model reads them: what changes least comes first, so that a
//! provider's prompt cache can serve it. Whole runs are dropped, oldest first, so that calls stay paired with their results;
//! of the running run the oldest rounds go next, but never its input. The plan names the pieces that were dropped, and goes on
//! the tape. Begin at [`assemble`].

use std::borrow::Cow;

use palyra_types::Seq;
use palyra_types::event::{ContextPlan, ContextSource, DropReason};
use palyra_types::model::{BYTES_PER_TOKEN_ESTIMATED, ChatMessage};

pub use crate::plan::ContextTooLarge;
use crate::plan::{LeftOut, PieceFate, RequestPiece, RequestRoom, SourceRule, by_source, choose};
use crate::transcript::RenderedTranscript;

/// A quarter of the window is left for the answer, and at most this many tokens.
pub const ANSWER_TOKENS_MAX: u64 = 8_192;

/// The messages of an earlier run of the session.
#[derive(Debug, Clone)]
pub struct PastRun {
    /// The journal seq of its first entry.
    pub first_seq: Seq,
    /// The journal seq of its last entry, or of the last one that is shared.
    pub ended: Seq,
    /// Its messages, calls and results paired.
    pub messages: std::sync::Arc<[ChatMessage]>,
}

/// A part of a request before it is decided whether it is sent.
#[derive(Debug, Clone)]
pub struct RequestSegment<'a> {
    /// Where it comes from.
    pub source: ContextSource,
    /// The journal seq of its first entry, where it is of the journal.
    pub from: Option<Seq>,
    /// What it is.
    pub body: SegmentBody<'a>,
    /// What its own limits leave out of it.
    pub left_out: LeftOut,
    /// What it counts as in the plan; `None` for its messages, or one text.
    pub items: Option<u32>,
}

/// What a part of a request is.
#[derive(Debug, Clone)]
pub enum SegmentBody<'a> {
    /// A text outside of the conversation, by its size in bytes.
    Outside {
        /// Its size.
        bytes: u64,
    },
    /// Messages that stay together.
    Messages(Cow<'a, [ChatMessage]>),
}

/// What goes into a request.
#[derive(Debug, Clone)]
pub struct PromptInputs<'a> {
    /// The parts, in the order in which a model reads them.
    pub segments: Vec<RequestSegment<'a>>,
    /// The model's window in tokens.
    pub window_tokens: u64,
    /// How many tokens the request should hold at most, if what may be left out allows it.
    pub tokens_wished: Option<u64>,
    /// What becomes of the pieces of each source.
    pub rules: &'a [SourceRule],
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

impl<'a> RequestSegment<'a> {
    /// Makes a segment of a text outside of the conversation.
    #[must_use]
    pub fn outside(source: ContextSource, bytes: usize) -> Self {
        Self::new(source, SegmentBody::Outside { bytes: bytes as u64 })
    }

    fn new(source: ContextSource, body: SegmentBody<'a>) -> Self {
        Self { source, from: None, body, left_out: LeftOut::default(), items: None }
    }

    /// Makes a segment of one message.
    #[must_use]
    pub fn message(source: ContextSource, message: ChatMessage) -> Self {
        Self::new(source, SegmentBody::Messages(Cow::Owned(vec![message])))
    }

    /// Makes a segment of an earlier run.
    #[must_use]
    pub fn past(run: &'a PastRun) -> Self {
        let body = SegmentBody::Messages(Cow::Borrowed(&run.messages));
        Self { from: Some(run.first_seq), ..Self::new(ContextSource::History, body) }
    }

    /// Makes the segments of the run itself: what the person said, with its references, and the latest round must stay; the rounds before it, each
    /// an assistant message with its results, may go.
    #[must_use]
    pub fn current(rendered: RenderedTranscript) -> Vec<Self> {
        let RenderedTranscript { messages, references } = rendered;
        let latest = messages.iter().rposition(is_answer);
        let mut segments: Vec<Self> = Vec::new();
        for (at, message) in messages.into_iter().enumerate() {
            match segments.last_mut() {
                Some(Self { body: SegmentBody::Messages(round), .. }) if is_result(&message) => {
                    round.to_mut().push(message);
                }
                _ => {
                    let may_go = is_answer(&message) && latest > Some(at);
                    let source = if may_go { ContextSource::Rounds } else { ContextSource::Input };
                    let segment = Self::message(source, message);
                    segments.push(match references.iter().find(|references| references.at == at) {
                        None => segment,
                        Some(references) => Self {
                            source: ContextSource::References,
                            left_out: references.left_out,
                            items: Some(references.items),
                            ..segment
                        },
                    });
                }
            }
        }
        segments
    }

    fn piece(&self) -> RequestPiece {
        let (items, bytes) = match &self.body {
            SegmentBody::Outside { bytes } => (1, *bytes),
            SegmentBody::Messages(messages) => {
                (u32::try_from(messages.len()).unwrap_or(u32::MAX), bytes_of(messages))
            }
        };
        let items = self.items.unwrap_or(items);
        RequestPiece { source: self.source, items, bytes, from: self.from, left_out: self.left_out }
    }
}

/// Assembles a request that fits the window.
///
/// # Errors
/// [`ContextTooLarge`] when instructions, tools and the run's own input do not fit.
pub fn assemble(inputs: PromptInputs<'_>) -> Result<Prompt, ContextTooLarge> {
    let at_most = request_tokens_max(inputs.window_tokens).saturating_mul(BYTES_PER_TOKEN_ESTIMATED);
    let wished = inputs
        .tokens_wished
        .map_or(at_most, |tokens| tokens.saturating_mul(BYTES_PER_TOKEN_ESTIMATED).min(at_most));
    let pieces: Vec<RequestPiece> = inputs.segments.iter().map(RequestSegment::piece).collect();
    let fates = choose(&pieces, inputs.rules, RequestRoom { wished, at_most })?;
    let sources = by_source(&pieces, &fates);
    let is_kept = |at: &usize| fates[*at] == PieceFate::Kept;
    let used: u64 = (0..pieces.len()).filter(is_kept).map(|at| pieces[at].bytes).sum();
    let oldest_seq = (0..pieces.len()).filter(is_kept).find_map(|at| pieces[at].from);
    let mut messages = Vec::new();
    let mut dropped = 0;
    for (at, segment) in inputs.segments.into_iter().enumerate() {
        match segment.body {
            SegmentBody::Outside { .. } => {}
            SegmentBody::Messages(body) if fates[at] == PieceFate::Kept => messages.extend(body.into_owned()),
            SegmentBody::Messages(body) => dropped += body.len(),
        }
    }
    let plan = ContextPlan {
        messages_kept: u32::try_from(messages.len()).unwrap_or(u32::MAX),
        messages_dropped: u32::try_from(dropped).unwrap_or(u32::MAX),
        dropped_because: (dropped > 0).then_some(DropReason::Window),
        oldest_seq,
        tokens_estimated: used.div_ceil(BYTES_PER_TOKEN_ESTIMATED),
        instructions_digest: inputs.instructions_digest,
        catalog_digest: inputs.catalog_digest,
        sources,
    };
    Ok(Prompt { messages, plan })
}

/// Returns how many tokens of a window a request may fill.
#[must_use]
pub fn request_tokens_max(window_tokens: u64) -> u64 {
    window_tokens - (window_tokens / 4).min(ANSWER_TOKENS_MAX)
}

/// Returns the cap that is sent with a request: the tokens left of the run's limit, once that is no more than each request
/// leaves room for. Servers refuse a larger one that does not fit the window beside the request, or that is above the
/// longest answer of their model; the run machine ends an answer beyond the limit in any case.
#[must_use]
pub fn answer_cap(tokens_left: u64, window_tokens: u64) -> Option<u32> {
    let reserved = window_tokens - request_tokens_max(window_tokens);
    u32::try_from(tokens_left).ok().filter(|_| tokens_left <= reserved)
}

fn is_answer(message: &ChatMessage) -> bool {
    matches!(message, ChatMessage::Assistant { .. })
}

fn is_result(message: &ChatMessage) -> bool {
    matches!(message, ChatMessage::ToolResult { .. })
}

fn bytes_of(messages: &[ChatMessage]) -> u64 {
    messages.iter().map(|message| message.content_bytes() as u64).sum()
}

#[cfg(test)]
mod tests;
