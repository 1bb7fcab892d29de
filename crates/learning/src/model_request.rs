//! What a model is asked for: candidates in a conversation, with citations.
//!
//! Results of tools, pages, files and words of other people are not shown to it: they are not evidence.

use std::fmt::Write;

use palyra_types::learning::CitedEntry;
use palyra_types::{Content, Timestamp};

use crate::own_words::own_sentences;
use crate::reflected_run::{EntryVoice, ReflectedEntry, ReflectedRun, is_typed_by_a_person};

/// Tokens of a request, at most.
pub const REFLECTION_INPUT_TOKENS_MAX: u64 = 4_000;
/// Tokens of an answer, at most.
pub const REFLECTION_OUTPUT_TOKENS_MAX: u32 = 600;

/// Bytes of the conversation in a request: what is left beside the instructions, at four bytes a token.
const CONVERSATION_BYTES_MAX: usize = 13_000;
/// Bytes of one entry.
const ENTRY_BYTES_MAX: usize = 1_500;

/// The instructions of a request.
const INSTRUCTIONS: &str = "\
You read a conversation and list what is worth remembering of the person who typed the entries marked `person`.
Two kinds count: `fact` (something about the person or their work that stays true) and `preference` (how they want things done
from now on). One-time instructions, questions, quotations, examples, fiction, and anything that another person, a page, a file
or you said do not count. Most conversations have nothing: then the list is empty.
Each candidate cites the entries it comes from by their number, with a quotation of 3 to 30 words, letter by letter, that the
person typed as their own words. Use the words of the person.
Answer with one JSON object and nothing else:
{\"candidates\":[{\"kind\":\"preference\",\"text\":\"...\",\"citations\":[{\"entry\":1,\"quote\":\"...\"}]}]}";

/// A request, with what its numbers name.
#[derive(Debug, Clone)]
pub struct ReflectionRequest {
    /// The instructions.
    pub instructions: &'static str,
    /// The conversation, to be shown as data.
    pub conversation: Content<String>,
    entries: Vec<NumberedEntry>,
}

/// An entry under its number.
#[derive(Debug, Clone)]
pub(crate) struct NumberedEntry {
    pub(crate) at: CitedEntry,
    pub(crate) time: Timestamp,
    /// The sentences that may be cited; none where a principal did not type it.
    pub(crate) own: Vec<String>,
}

impl ReflectionRequest {
    /// Returns the entry of a number.
    pub(crate) fn entry(&self, number: u64) -> Option<&NumberedEntry> {
        let at = usize::try_from(number).ok()?.checked_sub(1)?;
        self.entries.get(at)
    }
}

/// Makes a request about finished runs, the oldest run first; `None` where no principal typed anything. The oldest
/// entries are left out where there is too little room.
#[must_use]
pub fn reflection_request(runs: &[ReflectedRun]) -> Option<ReflectionRequest> {
    let all = runs.iter().flat_map(|run| run.entries.iter().map(move |entry| (run, entry)));
    let shown: Vec<(&ReflectedRun, &ReflectedEntry)> =
        all.filter(|(_, entry)| entry.voice != EntryVoice::Data).collect();
    let mut bytes = 0;
    let fits = shown.iter().rev().take_while(|(_, entry)| {
        bytes += entry.text.expose().len().min(ENTRY_BYTES_MAX) + 32;
        bytes <= CONVERSATION_BYTES_MAX
    });
    let from = shown.len() - fits.count();
    let mut conversation = String::new();
    let mut entries = Vec::new();
    for (run, entry) in &shown[from..] {
        let is_evidence = entry.voice == EntryVoice::Principal && is_typed_by_a_person(run.surface);
        let who = if is_evidence { "person" } else { "context" };
        let text = beginning(entry.text.expose(), ENTRY_BYTES_MAX);
        // Writing to a string cannot fail.
        let _ = writeln!(conversation, "[{}] {who}: {text}", entries.len() + 1);
        let own = if is_evidence { own_sentences(text) } else { Vec::new() };
        let own = own.into_iter().map(|sentence| sentence.text.to_owned()).collect();
        entries.push(NumberedEntry { at: entry.at, time: entry.time, own });
    }
    let has_evidence = entries.iter().any(|entry| !entry.own.is_empty());
    has_evidence.then_some(ReflectionRequest {
        instructions: INSTRUCTIONS,
        conversation: Content::new(conversation),
        entries,
    })
}

fn beginning(text: &str, bytes_max: usize) -> &str {
    let mut end = text.len().min(bytes_max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
