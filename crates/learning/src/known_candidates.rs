//! What becomes of a found candidate beside those that are known already: nothing is proposed twice, and a person's refusal stands.

use palyra_types::learning::{CandidateKind, CandidateState, CitedEntry};
use palyra_types::{CandidateId, Timestamp};

use crate::confidence::{SupportingEvidence, confidence_bps};
use crate::find_candidates::FoundCandidate;
use crate::sentence_rules::words_of;

/// A candidate that was proposed earlier.
#[derive(Debug, Clone)]
pub struct KnownCandidate {
    /// Its id.
    pub candidate: CandidateId,
    /// What it is.
    pub kind: CandidateKind,
    /// Its state.
    pub state: CandidateState,
    /// Its words; empty once erased.
    pub text: String,
    /// How sure it was.
    pub confidence_bps: u32,
    /// When that was computed.
    pub time: Timestamp,
    /// What it was concluded from.
    pub evidence: Vec<CitedEntry>,
}

/// What to do with a found candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextStep {
    /// Nothing: it is known, or a person refused it.
    Skip,
    /// Propose it.
    Propose {
        /// How sure it is with what is known.
        confidence_bps: u32,
        /// The open candidate that says the same with less evidence.
        supersedes: Option<CandidateId>,
        /// The one in use that it contradicts; it takes its place when it is applied.
        replaces: Option<CandidateId>,
        /// All evidence, the entry that has its words first.
        evidence: Vec<CitedEntry>,
    },
}

/// Decides what to do with a found candidate.
#[must_use]
pub fn next_step(found: &FoundCandidate, known: &[KnownCandidate], now: Timestamp) -> NextStep {
    let of_kind = || known.iter().filter(|known| known.kind == found.kind && !known.text.is_empty());
    let same = |one: &&KnownCandidate| is_same(found, one);
    let settles = |state: CandidateState| {
        state.is_in_use() || matches!(state, CandidateState::Rejected | CandidateState::Undone)
    };
    if of_kind().any(|one| settles(one.state) && is_same(found, one)) {
        return NextStep::Skip;
    }
    let open = of_kind().filter(same).find(|one| one.state.is_open());
    let is_new = |cited: &CitedEntry| open.is_none_or(|open| !open.evidence.contains(cited));
    if open.is_some() && !found.evidence.iter().any(is_new) {
        return NextStep::Skip;
    }
    let mut supporting = found.supporting.clone();
    let mut evidence = found.evidence.clone();
    if let Some(open) = open {
        evidence.extend(open.evidence.iter().copied().filter(|cited| !found.evidence.contains(cited)));
        evidence.truncate(palyra_types::learning::CANDIDATE_EVIDENCE_MAX);
        let is_of_other_run = |cited: &&CitedEntry| found.evidence.iter().all(|own| own.run != cited.run);
        supporting.extend(open.evidence.iter().find(is_of_other_run).map(|cited| SupportingEvidence {
            run: cited.run,
            time: open.time,
            strength_bps: open.confidence_bps,
        }));
    }
    let contradicted = of_kind().find(|one| one.state.is_in_use() && contradicts(found.text.expose(), &one.text));
    let against = contradicted.and_then(|one| {
        let run = one.evidence.first()?.run;
        Some(SupportingEvidence { run, time: one.time, strength_bps: one.confidence_bps })
    });
    let against: Vec<SupportingEvidence> = against.into_iter().collect();
    NextStep::Propose {
        confidence_bps: confidence_bps(&supporting, &against, now),
        supersedes: open.map(|open| open.candidate),
        replaces: contradicted.map(|one| one.candidate),
        evidence,
    }
}

fn is_same(found: &FoundCandidate, known: &KnownCandidate) -> bool {
    match found.kind {
        // A draft changes with each further run, its name does not.
        CandidateKind::Procedure => second_line(found.text.expose()) == second_line(&known.text),
        CandidateKind::Fact | CandidateKind::Preference => says_the_same(found.text.expose(), &known.text),
    }
}

fn second_line(text: &str) -> Option<&str> {
    text.lines().nth(1)
}

/// Returns whether two statements have the same words.
#[must_use]
pub fn says_the_same(one: &str, other: &str) -> bool {
    plain_words(one) == plain_words(other)
}

fn plain_words(text: &str) -> Vec<String> {
    words_of(text).map(str::to_lowercase).collect()
}

/// Words that turn a statement round.
const NEGATIONS: &[&str] =
    &["not", "never", "no", "don't", "doesn't", "stop", "without", "isn't", "won't", "can't", "hate", "dislike"];
/// Words that change nothing about what a statement is about.
const WEIGHTLESS: &[&str] =
    &["always", "please", "ever", "do", "i", "like", "love", "prefer", "now", "from", "on", "again"];

/// Returns whether two statements of a kind cannot both hold.
pub(crate) fn contradicts(one: &str, other: &str) -> bool {
    let (one, other) = (plain_words(one), plain_words(other));
    if one == other {
        return false;
    }
    if let (Some(topic), Some(other_topic)) = (topic_of(&one), topic_of(&other)) {
        return topic == other_topic;
    }
    is_negated(&one) != is_negated(&other) && weight_words(&one) == weight_words(&other)
        || is_swapped(&one, &other)
}

pub(crate) fn is_negated(words: &[String]) -> bool {
    words.iter().filter(|word| NEGATIONS.contains(&word.as_str())).count() % 2 == 1
}

fn weight_words(words: &[String]) -> Vec<&String> {
    let is_weightless = |word: &str| WEIGHTLESS.contains(&word) || NEGATIONS.contains(&word);
    words.iter().filter(|word| !is_weightless(word)).collect()
}

/// Returns whether statements prefer `A over B` and `B over A`.
fn is_swapped(one: &[String], other: &[String]) -> bool {
    let sides = |words: &[String]| {
        let at = words.iter().position(|word| matches!(word.as_str(), "over" | "to"))?;
        Some((words.get(..at)?.last()?.clone(), words.get(at + 1)?.clone()))
    };
    match (sides(one), sides(other)) {
        (Some((a, b)), Some((c, d))) => a == d && b == c,
        _ => false,
    }
}

/// Returns what a statement gives a value to, where there can be one value only.
fn topic_of(words: &[String]) -> Option<Vec<String>> {
    let first: Vec<&str> = words.iter().take(3).map(String::as_str).collect();
    match first.as_slice() {
        ["i", "live", "in" | "at" | "near"] => Some(vec!["live".to_owned()]),
        ["i", "work", "at" | "for" | "in"] => Some(vec!["work".to_owned()]),
        ["call", "me", _] => Some(vec!["name".to_owned()]),
        ["answer", "in", _] | ["answer", "me", "in"] => Some(vec!["language".to_owned()]),
        ["my" | "our", ..] => {
            let at = words.iter().position(|word| matches!(word.as_str(), "is" | "are" | "starts"))?;
            words.get(1..at).map(<[String]>::to_vec)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_contradict_each_other_about_one_thing() {
        for (one, other, expected) in [
            ("I live in Leeds now", "I live in York", true),
            ("I live in Leeds", "I live in Leeds", false),
            ("my dog is called Rex", "my dog is called Bo", true),
            ("my dog is called Rex", "my cat is called Bo", false),
            ("always use emojis", "never use emojis", true),
            ("I prefer tabs over spaces", "I prefer spaces over tabs", true),
            ("I prefer tabs", "I prefer tea", false),
            ("call me Sam", "call me Sandra", true),
        ] {
            assert_eq!(contradicts(one, other), expected, "{one} / {other}");
            assert_eq!(contradicts(other, one), expected, "{other} / {one}");
        }
    }
}
