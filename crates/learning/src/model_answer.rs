//! Reads the answer of a model: a strict schema, and citations that are compared with the tape.
//!
//! Invariant: a claim that is returned has at least one citation, each of which is in the words that a principal typed; its text says
//! nothing that its citations do not say.

use palyra_types::Timestamp;
use palyra_types::learning::{CandidateKind, CitedEntry};
use serde::Deserialize;

use crate::model_request::{NumberedEntry, ReflectionRequest};
use crate::sentence_rules::words_of;
use crate::statement_words::is_negated;

/// Candidates of an answer, at most.
const CANDIDATES_MAX: usize = 16;
const TEXT_BYTES_MAX: usize = 400;
const CITATIONS_MAX: usize = 8;
const QUOTE_WORDS_MIN: usize = 2;
/// Letters at the beginning of a word that make it the same word.
const STEM_LETTERS: usize = 5;
/// Words shorter than this carry no claim.
const CLAIM_LETTERS_MIN: usize = 4;
/// Words that a claim may add.
const FREE_WORDS: &[&str] = &[
    "person", "user", "prefers", "prefer", "wants", "want", "likes", "like", "should", "their", "they",
    "them", "always", "that", "this", "with", "from", "answers", "when", "have", "uses", "lives", "works",
    "named", "called", "asks",
];

/// Why an answer is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AnswerFault {
    /// It is not one JSON object of the schema.
    #[error("the answer is not the JSON object that was asked for")]
    NotInForm,
    /// It has too many candidates.
    #[error("the answer has more than {CANDIDATES_MAX} candidates")]
    TooMany,
}

/// Why a candidate of an answer is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum CitationFault {
    /// It cites nothing, or too much.
    #[error("it cites no entry, or more than {CITATIONS_MAX}")]
    Missing,
    /// It cites an entry that the request did not have.
    #[error("it cites an entry that is not there")]
    UnknownEntry,
    /// It cites an entry that the principal did not type.
    #[error("it cites an entry that the person did not type")]
    NotTyped,
    /// Its quotation is not in the entry, or is itself a quotation there.
    #[error("its quotation is not in the person's own words")]
    NotQuoted,
    /// Its text says something that its citations do not.
    #[error("its text says something that it does not cite")]
    NotSupported,
}

/// An answer, as far as its citations hold.
#[derive(Debug, Clone, Default)]
pub struct ReadAnswer {
    /// The claims whose citations hold.
    pub(crate) claims: Vec<CheckedClaim>,
    /// Why the others were refused.
    pub refused: Vec<CitationFault>,
}

/// A claim whose citations hold.
#[derive(Debug, Clone)]
pub(crate) struct CheckedClaim {
    pub(crate) kind: CandidateKind,
    pub(crate) text: String,
    pub(crate) citations: Vec<CheckedCitation>,
}

/// A citation that holds.
#[derive(Debug, Clone)]
pub(crate) struct CheckedCitation {
    pub(crate) at: CitedEntry,
    pub(crate) time: Timestamp,
    pub(crate) quote: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnswerForm {
    candidates: Vec<CandidateForm>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CandidateForm {
    kind: KindForm,
    text: String,
    #[serde(default)]
    citations: Vec<CitationForm>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum KindForm {
    Fact,
    Preference,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CitationForm {
    entry: u64,
    quote: String,
}

impl ReadAnswer {
    /// Returns how many claims hold.
    #[must_use]
    pub fn claims_count(&self) -> usize {
        self.claims.len()
    }
}

/// Reads an answer to a request.
///
/// # Errors
/// [`AnswerFault`] for an answer that is not in the form; a single candidate that does not hold is only left out.
pub fn read_answer(answer: &str, request: &ReflectionRequest) -> Result<ReadAnswer, AnswerFault> {
    let form: AnswerForm = serde_json::from_str(unfenced(answer)).map_err(|_| AnswerFault::NotInForm)?;
    if form.candidates.len() > CANDIDATES_MAX {
        return Err(AnswerFault::TooMany);
    }
    let mut read = ReadAnswer::default();
    for candidate in form.candidates {
        match checked(candidate, request) {
            Ok(claim) => read.claims.push(claim),
            Err(fault) => read.refused.push(fault),
        }
    }
    Ok(read)
}

/// Removes the code fence that some models put around JSON.
fn unfenced(answer: &str) -> &str {
    let answer = answer.trim();
    let inner = answer.strip_prefix("```json").or_else(|| answer.strip_prefix("```"));
    inner.and_then(|inner| inner.strip_suffix("```")).unwrap_or(answer).trim()
}

fn checked(form: CandidateForm, request: &ReflectionRequest) -> Result<CheckedClaim, CitationFault> {
    if form.citations.is_empty() || form.citations.len() > CITATIONS_MAX {
        return Err(CitationFault::Missing);
    }
    let mut citations = Vec::new();
    for cited in form.citations {
        let entry = request.entry(cited.entry).ok_or(CitationFault::UnknownEntry)?;
        let quote = quoted(&cited.quote, entry)?;
        citations.push(CheckedCitation { at: entry.at, time: entry.time, quote });
    }
    let text = form.text.trim().to_owned();
    let fits = !text.is_empty() && text.len() <= TEXT_BYTES_MAX && !text.contains(char::is_control);
    if !fits || !is_supported(&text, &citations) {
        return Err(CitationFault::NotSupported);
    }
    let kind = match form.kind {
        KindForm::Fact => CandidateKind::Fact,
        KindForm::Preference => CandidateKind::Preference,
    };
    Ok(CheckedClaim { kind, text, citations })
}

/// Returns a quotation as the entry has it.
fn quoted(quote: &str, entry: &NumberedEntry) -> Result<String, CitationFault> {
    if entry.own.is_empty() {
        return Err(CitationFault::NotTyped);
    }
    let wanted = plain(quote);
    let has_words = wanted.split(' ').filter(|word| !word.is_empty()).count() >= QUOTE_WORDS_MIN;
    let is_there = has_words && entry.own.iter().any(|own| plain(own).contains(&wanted));
    if is_there { Ok(quote.trim().to_owned()) } else { Err(CitationFault::NotQuoted) }
}

fn plain(text: &str) -> String {
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    words.join(" ").trim_end_matches(['.', '!', '?', ',', ';']).to_owned()
}

/// Returns whether every word of a text that claims something is in the quotations, and none turns them round.
fn is_supported(text: &str, citations: &[CheckedCitation]) -> bool {
    let cited: Vec<String> =
        citations.iter().flat_map(|citation| words_of(&citation.quote)).map(str::to_lowercase).collect();
    let words: Vec<String> = words_of(text).map(str::to_lowercase).collect();
    let stems: Vec<String> = cited.iter().map(|word| stem(word)).collect();
    let all_cited =
        words.iter().filter(|word| claims_something(word)).all(|word| stems.contains(&stem(word)));
    all_cited && is_negated(&words) == is_negated(&cited)
}

fn claims_something(word: &str) -> bool {
    let is_number = word.contains(|letter: char| letter.is_ascii_digit());
    (word.chars().count() >= CLAIM_LETTERS_MIN || is_number) && !FREE_WORDS.contains(&word)
}

fn stem(word: &str) -> String {
    if word.contains(|letter: char| letter.is_ascii_digit()) {
        return word.to_owned();
    }
    word.chars().take(STEM_LETTERS).collect()
}
