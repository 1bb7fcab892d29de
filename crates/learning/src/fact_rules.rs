//! Facts in sentences of a person, by rule.

use crate::own_words::OwnSentence;
use crate::sentence_rules::{FoundStatement, StatementView, first_word, statement_view, words_of};
use crate::word_lists::{CONDITIONS, EMPTY_WORDS, OWN_THINGS, PASSING_STATES, TRAITS};

/// The person asked to keep it.
const ASKED_TO_KEEP_BPS: u32 = 9_500;
/// The person said it of themselves.
const STATED_BPS: u32 = 9_150;
/// It may be true of this piece of work only.
const WEAK_BPS: u32 = 7_000;

/// Beginnings of facts about oneself.
const ABOUT_ONESELF: &[&str] = &[
    "i live in ",
    "i live at ",
    "i live near ",
    "i work at ",
    "i work for ",
    "i work in ",
    "i drive a ",
    "i drive an ",
    "i was born in ",
    "i come from ",
    "i grew up in ",
    "we live in ",
];
/// Where something is used that is used everywhere.
const EVERYWHERE: &[&str] = &["for everything", "at work", "at home", "everywhere", "in all "];
const VERBS: &[&str] = &["is", "are", "starts", "start", "runs", "run", "goes", "go", "ends"];
/// Words that a statement begins with.
const SUBJECTS: &[&str] = &[
    "i", "i'm", "i've", "we", "we're", "my", "our", "the", "a", "an", "he", "she", "they", "his", "her",
    "their", "there", "all", "every", "no",
];
const OWNED_WORDS_MAX: usize = 6;

/// Returns the fact that a sentence states.
pub(crate) fn fact_in<'a>(sentence: &OwnSentence<'a>) -> Option<FoundStatement<'a>> {
    let view = statement_view(sentence)?;
    let mut from = 0;
    for clause in view.lower.split(", ") {
        let strength = strength_of(clause);
        if let Some(strength) = strength {
            let strength_bps = if view.is_to_be_kept { ASKED_TO_KEEP_BPS } else { strength };
            return Some(FoundStatement {
                text: trimmed(&view.text[from..from + clause.len()]),
                strength_bps,
            });
        }
        from += clause.len() + ", ".len();
    }
    if view.is_to_be_kept { kept_statement(&view) } else { None }
}

fn trimmed(text: &str) -> &str {
    let text = text.trim();
    ["btw", "by the way", "please"].iter().find_map(|end| text.strip_suffix(end)).unwrap_or(text).trim_end()
}

/// Returns how sure a clause is, if it has the form of a fact.
fn strength_of(clause: &str) -> Option<u32> {
    let clause = clause.trim();
    let about_oneself = ABOUT_ONESELF.iter().any(|begin| clause.starts_with(begin));
    if about_oneself || is_trait(clause) || is_condition(clause) || is_own_thing(clause) {
        return Some(STATED_BPS);
    }
    if let Some(used) = clause.strip_prefix("we use ") {
        let is_everywhere = EVERYWHERE.iter().any(|place| used.contains(place));
        return Some(if is_everywhere { STATED_BPS } else { WEAK_BPS });
    }
    let has_name = clause.starts_with("the ")
        && clause.split_once(" is called ").is_some_and(|(_, name)| {
            !["twice", "once", "by", "when", "from", "only", "in", "on"].contains(&first_word(name))
        });
    (has_name || clause.starts_with("we have a ")).then_some(WEAK_BPS)
}

fn is_trait(clause: &str) -> bool {
    let after = clause.strip_prefix("i am ").or_else(|| clause.strip_prefix("i'm "));
    after.is_some_and(|after| {
        let after = after.strip_prefix("also ").unwrap_or(after);
        TRAITS.iter().any(|words| after.starts_with(words))
    })
}

fn is_condition(clause: &str) -> bool {
    clause.strip_prefix("i have ").is_some_and(|after| {
        CONDITIONS.iter().any(|words| {
            after.strip_prefix(words).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        })
    })
}

/// Returns whether a clause is `my X is Y` of something that lasts.
fn is_own_thing(clause: &str) -> bool {
    let mut words = words_of(clause);
    if !matches!(words.next(), Some("my" | "our")) {
        return false;
    }
    let mut head = "";
    for word in words.by_ref().take(OWNED_WORDS_MAX) {
        if VERBS.contains(&word) && !head.is_empty() {
            let state = words.next().unwrap_or_default();
            let is_named = matches!(state, "called" | "named");
            let is_passing = PASSING_STATES.contains(&state) || state.ends_with("ing") || state.is_empty();
            let head = head.strip_suffix("'s").unwrap_or(head);
            return is_named || (OWN_THINGS.contains(&head) && !is_passing);
        }
        head = word;
    }
    false
}

/// Returns a statement that the person asked to keep, in any form.
fn kept_statement<'a>(view: &StatementView<'a>) -> Option<FoundStatement<'a>> {
    let end = view.lower.find(", ").unwrap_or(view.lower.len());
    let text = &view.text[..end];
    let lower = &view.lower[..end];
    let first = first_word(lower);
    let begins_statement = SUBJECTS.contains(&first);
    let says_something = words_of(lower).filter(|word| !EMPTY_WORDS.contains(word)).count() >= 2;
    let is_fact = begins_statement && says_something;
    is_fact.then_some(FoundStatement { text: trimmed(text), strength_bps: ASKED_TO_KEEP_BPS })
}
