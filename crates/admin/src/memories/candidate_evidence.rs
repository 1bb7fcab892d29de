//! What a candidate was concluded from, and what it changes in the next request: what a person is shown of it.

use palyra_context::recalled_memories::shown_preference;
use palyra_types::event::{RunEvent, TapeEvent, ToolEvent};
use palyra_types::learning::{CandidateKind, CandidateRecord, CitedEntry};
use palyra_types::{Redacted, TapeSeq, Timestamp};

use super::MemoriesHandle;
use crate::error::AdminError;

/// An entry that a candidate cites, as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownEvidence {
    /// The entry.
    pub at: CitedEntry,
    /// When it was made; `None` where it cannot be read.
    pub time: Option<Timestamp>,
    /// Its words; empty once erased.
    pub text: Redacted<String>,
}

impl MemoriesHandle {
    /// Returns the entries that a candidate cites.
    ///
    /// # Errors
    /// [`AdminError::Read`].
    pub async fn evidence(&self, candidate: &CandidateRecord) -> Result<Vec<ShownEvidence>, AdminError> {
        let mut shown = Vec::new();
        for at in &candidate.proposed.evidence {
            let before = TapeSeq(at.tape_seq.0.saturating_sub(1));
            let page = self.ports.tapes.tape(at.run, before, 1).await?;
            let entry = page.entries.into_iter().next();
            let entry = entry.filter(|entry| entry.principal == candidate.principal);
            shown.push(ShownEvidence {
                at: *at,
                time: entry.as_ref().map(|entry| entry.time),
                text: entry.map(|entry| words_of(entry.event)).unwrap_or_default(),
            });
        }
        Ok(shown)
    }
}

fn words_of(event: TapeEvent) -> Redacted<String> {
    match event {
        TapeEvent::Run(RunEvent::Started(started)) => started.input.text,
        TapeEvent::Run(RunEvent::InputReceived { input, .. }) => input.text,
        TapeEvent::Tool(ToolEvent::Proposed(proposed)) => {
            proposed.tool.zip(proposed.arguments).map(|(tool, arguments)| format!("{tool} {arguments}"))
        }
        TapeEvent::Run(_)
        | TapeEvent::Model(_)
        | TapeEvent::Tool(_)
        | TapeEvent::Approval(_)
        | TapeEvent::Unknown { .. } => Redacted::default(),
    }
}

/// Returns the lines that a candidate adds to the next request once it is used (`+`), or that leave it once it is taken back
/// (`-`).
#[must_use]
pub fn request_diff(candidate: &CandidateRecord) -> Vec<String> {
    let text = candidate.proposed.text.expose();
    let lines = match candidate.proposed.kind {
        CandidateKind::Preference => shown_preference(text),
        CandidateKind::Fact => {
            format!("An item of memory, where recall is on and it fits the input:\n{text}")
        }
        CandidateKind::Procedure => return Vec::new(),
    };
    let sign = if candidate.state.is_in_use() { '-' } else { '+' };
    lines.lines().map(|line| format!("{sign} {line}")).collect()
}
