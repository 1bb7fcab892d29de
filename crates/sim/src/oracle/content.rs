//! Whose words go where: items of memory, summaries, and what was erased.
//!
//! Owns the items and summaries as they were committed, and the runs whose content is erased. Invariant: every text of a
//! story begins with the name of who said it, so a text says by itself whose it is.

use std::collections::{BTreeMap, BTreeSet};

use palyra_types::compaction::SessionCompaction;
use palyra_types::event::RunStarted;
use palyra_types::memory::MemoryEvent;
use palyra_types::model::{ChatMessage, ModelRequest};
use palyra_types::{MemoryId, PrincipalId, RunId};

/// Words behind the name of who says something: in an input, and in an item of memory.
static VERBS: [&str; 2] = [" says ", " knows "];
/// Begins the names of the clients that are another principal than the owner.
pub(crate) const STRANGER: char = 'x';
/// Begins the names of the others.
pub(crate) const OWNER: char = 'c';

/// Whose words went where.
#[derive(Default)]
pub(super) struct ContentCheck {
    items: BTreeMap<MemoryId, ItemView>,
    erased: BTreeSet<RunId>,
    /// What was said in erased runs.
    erased_words: BTreeSet<String>,
}

/// Whose words they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SpeakerKind {
    Owner,
    Stranger,
}

impl SpeakerKind {
    /// Returns who says a text that begins with a name.
    pub(super) fn of(text: &str) -> Self {
        if text.starts_with(STRANGER) { Self::Stranger } else { Self::Owner }
    }
}

struct ItemView {
    principal: PrincipalId,
    source: Option<RunId>,
}

impl ContentCheck {
    pub(super) fn take_memory(&mut self, principal: PrincipalId, event: &MemoryEvent) {
        if let MemoryEvent::Saved(saved) = event {
            let source = saved.source.map(|source| source.run);
            self.items.insert(saved.memory, ItemView { principal, source });
        }
    }

    /// The content of a run is erased, with what was said in it.
    pub(super) fn erase(&mut self, run: RunId, words: impl IntoIterator<Item = String>) {
        self.erased.insert(run);
        self.erased_words.extend(words);
    }

    pub(super) fn is_erased(&self, run: RunId) -> bool {
        self.erased.contains(&run)
    }

    /// Returns what is wrong with the items that a run is given.
    pub(super) fn check_start(&self, principal: PrincipalId, started: &RunStarted) -> Option<String> {
        started.recalled.iter().find_map(|recalled| {
            let Some(item) = self.items.get(&recalled.memory) else {
                return Some("is given an item of memory that was never saved".to_owned());
            };
            if item.principal != principal {
                Some("is given an item of another principal".to_owned())
            } else if item.source.is_some_and(|run| self.erased.contains(&run)) {
                Some("is given an item of an erased run".to_owned())
            } else {
                None
            }
        })
    }

    /// Returns what is wrong with a summary.
    pub(super) fn check_summary(&self, made: &SessionCompaction) -> Option<String> {
        let words = self.erased_words_in(made.summary.expose())?;
        Some(format!("a summary has `{words}`, which is erased"))
    }

    /// Returns what is wrong with the words of a request.
    pub(super) fn check_request(&self, request: &ModelRequest, speaker: SpeakerKind) -> Option<String> {
        let mut texts = request.messages.iter().map(text_of);
        texts.find_map(|text| {
            let foreign = speakers(text).find(|name| SpeakerKind::of(name) != speaker)?;
            Some(format!("a model is shown words of `{foreign}`, who is another principal"))
        })
    }

    /// Returns what is wrong with a summary or an item in a request of a run that began after all erasures.
    pub(super) fn check_data(&self, request: &ModelRequest) -> Option<String> {
        let data = request.messages.iter().map(text_of);
        let mut data =
            data.filter(|text| text.contains("from=\"summary\">\n") || text.contains("from=\"memory\">\n"));
        let words = data.find_map(|text| self.erased_words_in(text))?;
        Some(format!("a model is shown a summary or an item with `{words}`, which is erased"))
    }

    fn erased_words_in(&self, text: &str) -> Option<&String> {
        self.erased_words.iter().find(|words| text.contains(words.as_str()))
    }
}

/// Returns the names of those whose words are in a text.
fn speakers(text: &str) -> impl Iterator<Item = &str> {
    VERBS.iter().flat_map(move |verb| {
        text.match_indices(*verb).map(move |(at, _)| {
            let before = &text[..at];
            let from = before.rfind(|c: char| !c.is_ascii_alphanumeric()).map_or(0, |at| at + 1);
            &before[from..]
        })
    })
}

fn text_of(message: &ChatMessage) -> &str {
    match message {
        ChatMessage::User { text, .. }
        | ChatMessage::Assistant { text, .. }
        | ChatMessage::ToolResult { text, .. } => text.expose(),
    }
}
