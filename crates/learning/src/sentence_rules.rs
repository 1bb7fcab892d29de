//! What the rules for facts and preferences share: which part of a sentence is a statement, and how strong one is.

use crate::own_words::OwnSentence;
use crate::word_lists::{HEDGES, KEEP_MARKS, PASSING, QUESTION_WORDS};

/// A statement that a rule found in a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FoundStatement<'a> {
    /// Its words.
    pub(crate) text: &'a str,
    /// How sure one such sentence is, in basis points.
    pub(crate) strength_bps: u32,
}

/// A sentence with the forms that rules look at. All forms have the same length, so places in one are places in the others.
pub(crate) struct StatementView<'a> {
    /// The statement as it was typed.
    pub(crate) text: &'a str,
    /// The same in lower case, as far as it is ASCII.
    pub(crate) lower: String,
    /// Whether the sentence says that it is to be kept.
    pub(crate) is_to_be_kept: bool,
}

/// Words before a statement that belong to none.
const LEADS: &[&str] = &[
    "please ",
    "yes, ",
    "no, ",
    "ok, ",
    "okay, ",
    "also, ",
    "also ",
    "and ",
    "so ",
    "but ",
    "by the way, ",
    "btw ",
    "btw, ",
    "for your notes: ",
    "for your notes, ",
    "for the record, ",
    "for the record: ",
    "fyi ",
    "fyi, ",
    "fyi: ",
    "remember that ",
    "remember: ",
    "please remember: ",
    "please remember that ",
    "remember, ",
    "keep in mind that ",
    "keep in mind: ",
    "note that ",
    "because ",
    "since ",
    "well, ",
    "sorry, ",
    "for future reference, ",
    "for future reference: ",
];

/// Returns the statement in a sentence, if it states anything for certain and for longer than this moment.
pub(crate) fn statement_view<'a>(sentence: &OwnSentence<'a>) -> Option<StatementView<'a>> {
    let whole = sentence.text.to_ascii_lowercase();
    let is_to_be_kept = KEEP_MARKS.iter().any(|mark| whole.contains(mark));
    let stated = if sentence.is_question { sentence.text.split_once(", ")?.0 } else { sentence.text };
    let text = without_leads(stated);
    let lower = text.to_ascii_lowercase();
    let first = first_word(&lower);
    let asks = sentence.is_question && QUESTION_WORDS.contains(&first);
    let is_uncertain = first == "if" || HEDGES.iter().any(|mark| lower.contains(mark));
    let is_passing = PASSING.iter().any(|mark| lower.contains(mark));
    let says_something = !lower.is_empty() && !asks && !is_uncertain && !is_passing;
    says_something.then_some(StatementView { text, lower, is_to_be_kept })
}

/// Removes the words before a statement.
pub(crate) fn without_leads(mut text: &str) -> &str {
    loop {
        text = text.trim();
        let lower = text.to_ascii_lowercase();
        let Some(lead) = LEADS.iter().find(|lead| lower.starts_with(*lead)) else { return text };
        text = &text[lead.len()..];
    }
}

/// Returns the first word.
pub(crate) fn first_word(lower: &str) -> &str {
    lower
        .split(|letter: char| letter.is_whitespace() || matches!(letter, ',' | ':'))
        .next()
        .unwrap_or_default()
}

/// Returns the words, without marks around them.
pub(crate) fn words_of(text: &str) -> impl Iterator<Item = &str> {
    let is_mark = |letter: char| !letter.is_alphanumeric();
    text.split_whitespace().map(move |word| word.trim_matches(is_mark)).filter(|word| !word.is_empty())
}
