//! Compaction: which runs a summary takes, the facts that must survive it, and whether a summary is taken.
//!
//! Owns the form of a summary, the request for one, the check that each has to pass, and a summary by rule that always passes.
//! Pure: equal sources give equal results. Invariant: a summary that was taken has every marked place, every call without a
//! known outcome, every item of a plan that is not done, and each path and number of the decisions that there is room for.
//! Begin at [`CompactionTask`].

mod facts;
mod fallback;
mod lists;
mod request;
mod source;
mod words;

pub use facts::SurvivingFacts;
pub use lists::SummaryLists;
pub use source::{CompactionSource, MarkedPlace, SourceShare, older_runs};

use palyra_types::compaction::{SUMMARY_BYTES_MAX, SummaryRefusal};
use palyra_types::data_delimiter::DataDelimiter;
use palyra_types::model::{BYTES_PER_TOKEN_ESTIMATED, ChatMessage, ModelRef, ModelRequest};
use palyra_types::{Content, Redacted};

use crate::prompt::request_tokens_max;

/// The smallest summary that is worth it, in bytes.
const SUMMARY_BYTES_MIN: usize = 160;
/// A summary takes one part in so many of a request at most.
const SUMMARY_SHARE: u64 = 4;
/// A summary takes one part in so many of its source at most.
const SOURCE_SHARE: usize = 2;

/// What must survive is nearly as large as the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a summary would hardly be shorter than the runs that it covers")]
pub struct TooLittleToGain;

/// A summary that is wanted of a source.
#[derive(Debug, Clone)]
pub struct CompactionTask {
    source: CompactionSource,
    facts: SurvivingFacts,
    bytes_max: usize,
}

impl CompactionTask {
    /// Looks at a source; the window is that of the model which will read the summary.
    ///
    /// # Errors
    /// [`TooLittleToGain`].
    pub fn new(source: CompactionSource, window_tokens: u64) -> Result<Self, TooLittleToGain> {
        let room = request_bytes_max(window_tokens) / SUMMARY_SHARE;
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        let bytes_max = (source.bytes() / SOURCE_SHARE).min(room).min(SUMMARY_BYTES_MAX);
        if bytes_max < SUMMARY_BYTES_MIN {
            return Err(TooLittleToGain);
        }
        let facts = SurvivingFacts::of(&source, bytes_max).ok_or(TooLittleToGain)?;
        Ok(Self { source, facts, bytes_max })
    }

    /// Returns what the summary is made from.
    #[must_use]
    pub fn source(&self) -> &CompactionSource {
        &self.source
    }

    /// Returns what must be in it.
    #[must_use]
    pub fn facts(&self) -> &SurvivingFacts {
        &self.facts
    }

    /// Returns how long it may be, in bytes.
    #[must_use]
    pub fn bytes_max(&self) -> usize {
        self.bytes_max
    }

    /// Returns the lines that a model is to keep, each behind the name of its list; to be redacted.
    #[must_use]
    pub fn lines_to_keep(&self) -> Content<String> {
        let lines = self.facts.lines().map(|(list, line)| format!("{list}: {line}\n"));
        Content::new(lines.collect())
    }

    /// Returns the request for it to a model, with [the lines to keep](Self::lines_to_keep) as the redactor left them.
    ///
    /// # Errors
    /// [`SummaryRefusal::SourceTooLarge`] when the source does not fit the model's window.
    pub fn request(
        &self,
        model: ModelRef,
        window_tokens: u64,
        lines: Redacted<String>,
        delimiters: [DataDelimiter; 2],
    ) -> Result<ModelRequest, SummaryRefusal> {
        let request = request::request(self, model, lines, delimiters);
        let messages: usize = request.messages.iter().map(ChatMessage::content_bytes).sum();
        let bytes = (messages + request.system.expose().len()) as u64;
        if bytes > request_bytes_max(window_tokens) {
            Err(SummaryRefusal::SourceTooLarge)
        } else {
            Ok(request)
        }
    }

    /// Checks the answer of a model; returns the summary in its own form.
    ///
    /// # Errors
    /// What it lacks, or has too much of.
    pub fn check(&self, answer: &str) -> Result<Content<String>, SummaryRefusal> {
        let lists = SummaryLists::parse(answer).ok_or(SummaryRefusal::NotInForm)?;
        let summary = lists.render();
        if summary.len() > self.bytes_max {
            return Err(SummaryRefusal::TooLong);
        }
        self.facts.check(&lists, &self.source)?;
        Ok(Content::new(summary))
    }

    /// Returns the summary by rule: what must survive, then as much of what was done as there is room for, the latest first.
    #[must_use]
    pub fn fallback(&self) -> Content<String> {
        Content::new(fallback::lists(&self.source, &self.facts, self.bytes_max).render())
    }
}

/// Returns how many bytes a request to a model of this window may have.
#[must_use]
pub fn request_bytes_max(window_tokens: u64) -> u64 {
    request_tokens_max(window_tokens).saturating_mul(BYTES_PER_TOKEN_ESTIMATED)
}

#[cfg(test)]
mod tests;
