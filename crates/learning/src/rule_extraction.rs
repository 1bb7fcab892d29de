//! Facts and preferences of a run by rule.

use crate::fact_rules::fact_in;
use crate::own_words::own_sentences;
use crate::preference_rules::preference_in;
use crate::reflected_run::{EntryVoice, ReflectedEntry, ReflectedRun, is_typed_by_a_person};
use crate::sentence_rules::FoundStatement;
use palyra_types::learning::CandidateKind;

/// Characters of a statement, at most: a longer sentence is a story.
const STATEMENT_CHARS_MAX: usize = 400;

/// A statement of a person.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RuleStatement<'a> {
    /// What it is.
    pub(crate) kind: CandidateKind,
    /// Its words.
    pub(crate) text: &'a str,
    /// How sure it is.
    pub(crate) strength_bps: u32,
}

/// Returns the entries of runs that may be evidence: those that a principal typed.
pub(crate) fn typed_entries(runs: &[ReflectedRun]) -> impl Iterator<Item = (&ReflectedRun, &ReflectedEntry)> {
    let typed = runs.iter().filter(|run| is_typed_by_a_person(run.surface));
    typed.flat_map(|run| {
        let own = run.entries.iter().filter(|entry| entry.voice == EntryVoice::Principal);
        own.map(move |entry| (run, entry))
    })
}

/// Returns the statements of an entry.
pub(crate) fn statements_of(entry: &ReflectedEntry) -> Vec<RuleStatement<'_>> {
    let sentences = own_sentences(entry.text.expose());
    let found = sentences.iter().filter_map(|sentence| {
        let preference = preference_in(sentence).map(|found| (CandidateKind::Preference, found));
        let found = preference.or_else(|| fact_in(sentence).map(|found| (CandidateKind::Fact, found)));
        let (kind, FoundStatement { text, strength_bps }) = found?;
        let fits = text.chars().count() <= STATEMENT_CHARS_MAX;
        fits.then_some(RuleStatement { kind, text, strength_bps })
    });
    found.collect()
}
