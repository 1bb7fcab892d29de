//! What a summary is made from: an earlier summary, and the runs since.

use palyra_types::Redacted;
use palyra_types::attachment::{Attachment, AttachmentBody};
use palyra_types::model::ChatMessage;

use super::lists::SummaryLists;
use crate::prompt::PastRun;

/// The latest runs that stay, at most.
const STAYING_RUNS_MAX: usize = 8;
/// The runs that stay take one part in so many of a request at most; the latest one stays in any case.
const STAYING_SHARE: u64 = 4;

/// What a summary is made from.
#[derive(Debug, Clone, Default)]
pub struct CompactionSource {
    /// The summary that the new one covers and takes the place of.
    pub earlier: Option<Redacted<String>>,
    /// The runs since, oldest first.
    pub runs: Vec<PastRun>,
    /// Marked places in these runs.
    pub marked: Vec<MarkedPlace>,
}

/// A place in a run that a person gave a name, with what is there.
#[derive(Debug, Clone)]
pub struct MarkedPlace {
    /// The name.
    pub name: Redacted<String>,
    /// What was said or read there.
    pub text: Redacted<String>,
}

/// Which of a session's runs are summed up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceShare {
    /// So many, from the oldest on.
    pub taken: usize,
    /// So many that could be taken and are left for another summary, because the request for one is full.
    pub left: usize,
}

/// Chooses among runs, oldest first, by the bytes that a model reads of each. `room` is what a request may have.
#[must_use]
pub fn older_runs(sizes: &[usize], room: u64) -> SourceShare {
    let mut staying_bytes = 0_u64;
    let mut staying = 0;
    for size in sizes.iter().rev().take(STAYING_RUNS_MAX) {
        staying_bytes = staying_bytes.saturating_add(*size as u64);
        if staying > 0 && staying_bytes > room / STAYING_SHARE {
            break;
        }
        staying += 1;
    }
    let older = sizes.len() - staying;
    let mut taken_bytes = 0_u64;
    let mut taken = 0;
    for size in &sizes[..older] {
        taken_bytes = taken_bytes.saturating_add(*size as u64);
        if taken > 0 && taken_bytes > room / 2 {
            break;
        }
        taken += 1;
    }
    SourceShare { taken, left: older - taken }
}

impl CompactionSource {
    /// Returns its size as a model reads it.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let earlier = self.earlier.as_ref().map_or(0, |text| text.expose().len());
        earlier + self.messages().map(ChatMessage::content_bytes).sum::<usize>()
    }

    /// Returns the messages of the runs, oldest first.
    pub fn messages(&self) -> impl Iterator<Item = &ChatMessage> {
        self.runs.iter().flat_map(|run| run.messages.iter())
    }

    /// Returns the lists of the earlier summary.
    pub(super) fn earlier_lists(&self) -> SummaryLists {
        self.earlier.as_ref().and_then(|text| SummaryLists::parse(text.expose())).unwrap_or_default()
    }

    /// Returns every text in it.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let earlier = self.earlier.iter().map(|text| text.expose().as_str());
        let marked = self.marked.iter().flat_map(|place| [&place.name, &place.text]);
        let marked = marked.map(|text| text.expose().as_str());
        earlier.chain(marked).chain(self.messages().flat_map(texts_of))
    }
}

fn texts_of(message: &ChatMessage) -> Vec<&str> {
    match message {
        ChatMessage::User { text, attachments, said } => {
            let bodies = attachments.iter().filter_map(|file| attached_text(&file.attachment));
            let names = attachments.iter().map(|file| &file.attachment.name);
            let files = bodies.chain(names).map(|text| text.expose().as_str());
            files.chain([text.expose().as_str()]).chain(said.as_deref()).collect()
        }
        ChatMessage::Assistant { text, calls, continuation: _ } => {
            let calls = calls.iter().flat_map(|call| [call.tool.as_str(), call.arguments.expose().as_str()]);
            std::iter::once(text.expose().as_str()).chain(calls).collect()
        }
        ChatMessage::ToolResult { text, .. } => vec![text.expose().as_str()],
    }
}

/// Returns the text of an attached file that is one.
pub(super) fn attached_text(file: &Attachment) -> Option<&Redacted<String>> {
    match &file.body {
        AttachmentBody::Text(text) => Some(text),
        AttachmentBody::Blob { .. } => None,
    }
}
