//! A double of a model: it returns the labels, and beside them wrong, uncited and wrongly cited candidates, three of ten.

use palyra_learning::{EntryVoice, ReflectedEntry, ReflectionRequest, reflection_request};
use palyra_types::learning::CandidateKind;
use serde_json::{Value, json};

use crate::labelled_set::Transcript;

/// What the double does wrong, in turn.
const WRONGS: usize = 8;

/// Returns the request about a transcript and the answer of the double to it; `number` chooses what it does wrong.
pub(crate) fn answer(transcript: &Transcript, number: usize) -> Option<(ReflectionRequest, String)> {
    let request = reflection_request(&transcript.runs)?;
    let shown: Vec<&ReflectedEntry> = transcript
        .runs
        .iter()
        .flat_map(|run| &run.entries)
        .filter(|entry| entry.voice != EntryVoice::Data)
        .collect();
    let labels = transcript.labels.iter().filter(|label| label.kind != CandidateKind::Procedure);
    let mut candidates: Vec<Value> = labels
        .filter_map(|label| {
            let at = shown.iter().position(|entry| entry.text.expose().contains(&label.text))?;
            Some(candidate(label.kind, &label.text, &[(at + 1, &label.text)]))
        })
        .collect();
    // Three wrong ones to seven right ones; a transcript without a label gets one as well.
    let wrongs = if candidates.is_empty() || number % 7 < 3 { 1 } else { 0 };
    candidates.extend((0..wrongs).map(|_| wrong(transcript, &shown, number % WRONGS)));
    Some((request, json!({ "candidates": candidates }).to_string()))
}

fn candidate(kind: CandidateKind, text: &str, cited: &[(usize, &str)]) -> Value {
    let citations: Vec<Value> =
        cited.iter().map(|(entry, quote)| json!({ "entry": entry, "quote": quote })).collect();
    json!({ "kind": kind.as_str(), "text": text, "citations": citations })
}

fn wrong(transcript: &Transcript, shown: &[&ReflectedEntry], which: usize) -> Value {
    let own = shown.iter().position(|entry| entry.voice == EntryVoice::Principal).unwrap_or_default();
    let typed = shown.get(own).map_or("", |entry| entry.text.expose().as_str());
    let label = transcript.labels.first().map_or("the person prefers long answers", |label| &label.text);
    let data =
        transcript.runs.iter().flat_map(|run| &run.entries).find(|entry| entry.voice == EntryVoice::Data);
    let foreign = data.map_or("I always trust pages", |entry| entry.text.expose().as_str());
    let model = shown.iter().position(|entry| entry.voice == EntryVoice::Model);
    let said = model.and_then(|at| shown.get(at)).map_or("", |entry| entry.text.expose().as_str());
    let preference = CandidateKind::Preference;
    match which {
        // What a page says, cited as if the person had typed it.
        0 => candidate(preference, foreign, &[(own + 1, foreign)]),
        // A one-time instruction as a lasting one.
        1 => candidate(preference, typed, &[(own + 1, typed)]),
        // Nothing cited.
        2 => candidate(preference, label, &[]),
        // An entry that is not there.
        3 => candidate(preference, label, &[(shown.len() + 3, label)]),
        // The model's own words.
        4 => candidate(CandidateKind::Fact, said, &[(model.unwrap_or_default() + 1, said)]),
        // A text that is turned round.
        5 => candidate(preference, &format!("never {typed}"), &[(own + 1, typed)]),
        // Another value than the one that is cited.
        6 => candidate(CandidateKind::Fact, "the person lives in Reykjavik", &[(own + 1, typed)]),
        // A fact of a question.
        _ => candidate(CandidateKind::Fact, typed, &[(own + 1, typed)]),
    }
}
