//! Preferences in sentences of a person, by rule.
//!
//! An instruction is a preference only if it says that it lasts; a liking only if it is of a kind of things, and not of the one
//! at hand.

use crate::own_words::OwnSentence;
use crate::sentence_rules::{
    FoundStatement, StatementView, first_word, statement_view, without_leads, words_of,
};
use crate::word_lists::{EMPTY_WORDS, LASTING_MARKS, NOT_A_HABIT, NOT_A_VERB, POINTERS};

const INSTRUCTED_BPS: u32 = 9_400;
const PREFERRED_BPS: u32 = 9_300;
const HABIT_BPS: u32 = 9_250;
const LIKED_BPS: u32 = 9_200;

const PREFERRING: &[&str] =
    &["i prefer ", "i'd prefer ", "i would prefer ", "i'd rather ", "i would rather ", "my preference is "];
const LIKING: &[&str] = &[
    "i like ",
    "i love ",
    "i hate ",
    "i dislike ",
    "i don't like ",
    "i do not like ",
    "i really like ",
    "i really hate ",
];
const WANTING: &[&str] = &["i want ", "i don't want ", "i do not want ", "i need "];
const ASKING: &[&str] = &["can you ", "could you ", "would you ", "will you "];
/// Marks that last wherever they are in an instruction.
const MARKS_ANYWHERE: &[&str] = &["from now on", "from here on", "going forward", "any more", "anymore"];
/// Marks before an instruction.
const MARKS_BEFORE: &[&str] = &[
    "from now on",
    "from here on",
    "going forward",
    "in the future",
    "in future",
    "by default",
    "as a rule",
    "always",
];
/// Marks of a rule about things of a kind.
const OF_EACH: &[&str] = &[" in everything you ", " in every ", " on every ", " for every ", " in all "];
/// Beginnings that point at the thing at hand.
const AT_HAND: &[&str] =
    &["the", "this", "your", "it", "these", "those", "what", "how", "one", "both", "neither"];
const PREFIX_WORDS_MAX: usize = 6;

/// Returns the preference that a sentence states.
pub(crate) fn preference_in<'a>(sentence: &OwnSentence<'a>) -> Option<FoundStatement<'a>> {
    if let Some(found) = request_in(sentence) {
        return Some(found);
    }
    let view = statement_view(sentence)?;
    if !says_something(&view.lower) {
        return None;
    }
    let strength_bps = liking(&view)
        .or_else(|| habit(&view.lower))
        .or_else(|| of_each_time(&view.lower))
        .or_else(|| form_of_address(&view))
        .or_else(|| instruction(&view.lower))?;
    Some(FoundStatement { text: view.text, strength_bps })
}

/// Returns an instruction in the form of a question, such as `can you use tabs from now on?`.
fn request_in<'a>(sentence: &OwnSentence<'a>) -> Option<FoundStatement<'a>> {
    let lower = sentence.text.to_ascii_lowercase();
    let begin = ASKING.iter().find(|begin| lower.starts_with(*begin))?;
    let lasts = MARKS_ANYWHERE.iter().chain(&["always", "in future"]).any(|mark| lower.contains(mark));
    let text = without_leads(&sentence.text[begin.len()..]);
    let is_request = sentence.is_question && lasts && says_something(&text.to_ascii_lowercase());
    is_request.then_some(FoundStatement { text, strength_bps: PREFERRED_BPS })
}

fn says_something(lower: &str) -> bool {
    !POINTERS.iter().any(|mark| lower.contains(mark))
        && words_of(lower).any(|word| !EMPTY_WORDS.contains(&word))
}

fn lasts(lower: &str) -> bool {
    LASTING_MARKS.iter().any(|mark| lower.contains(mark))
}

fn liking(view: &StatementView<'_>) -> Option<u32> {
    let lower = &view.lower;
    if let Some(object) = object_of(lower, PREFERRING) {
        let is_of_a_kind = lasts(lower) || !AT_HAND.contains(&first_word(object));
        return is_of_a_kind.then_some(PREFERRED_BPS);
    }
    if let Some(object) = object_of(lower, LIKING) {
        let is_of_a_kind = lasts(lower) || !AT_HAND.contains(&first_word(object));
        return (is_of_a_kind && first_word(object) != "that").then_some(LIKED_BPS);
    }
    let wanted = object_of(lower, WANTING)?;
    let is_rule = lasts(lower) || wanted.contains(" every ");
    is_rule.then_some(PREFERRED_BPS)
}

/// Returns what follows one of these beginnings, which are at the beginning or behind a circumstance.
fn object_of<'a>(lower: &'a str, begins: &[&str]) -> Option<&'a str> {
    begins.iter().find_map(|begin| {
        let at = lower.find(begin)?;
        let before = &lower[..at];
        let is_circumstance = matches!(first_word(before), "for" | "in" | "on" | "when" | "with")
            && words_of(before).count() <= PREFIX_WORDS_MAX;
        (at == 0 || is_circumstance).then(|| &lower[at + begin.len()..])
    })
}

fn habit(lower: &str) -> Option<u32> {
    let after = lower.strip_prefix("i always ").or_else(|| lower.strip_prefix("i never "))?;
    let verb = first_word(after);
    let is_past = verb.ends_with("ed") && verb != "need";
    (!is_past && !NOT_A_HABIT.contains(&verb)).then_some(HABIT_BPS)
}

/// Returns a rule such as `whenever you show amounts, use dots`.
fn of_each_time(lower: &str) -> Option<u32> {
    let begins = ["whenever ", "every time ", "each time "];
    let after = begins.iter().find_map(|begin| lower.strip_prefix(begin))?;
    let is_of_the_model = after.starts_with("you ");
    let instructs = after.split_once(", ").is_some_and(|(_, then)| begins_instruction(then));
    let is_of_the_person = after.starts_with("i ") && !instructs;
    (!is_of_the_person && (is_of_the_model || instructs)).then_some(PREFERRED_BPS)
}

/// Returns `call me NAME`.
fn form_of_address(view: &StatementView<'_>) -> Option<u32> {
    let name = view.lower.starts_with("call me ").then(|| &view.text["call me ".len()..])?;
    name.chars().next().is_some_and(char::is_uppercase).then_some(PREFERRED_BPS)
}

fn instruction(lower: &str) -> Option<u32> {
    let stops = lower.strip_prefix("stop ").is_some_and(|after| {
        let verb = first_word(after);
        verb.ends_with("ing") && !matches!(verb, "thing" | "everything" | "nothing" | "anything")
    });
    if stops {
        return Some(HABIT_BPS);
    }
    let (rest, has_mark_before) = without_marks(lower);
    let forbids = ["never ", "don't ever ", "do not ever "].iter().find_map(|begin| rest.strip_prefix(begin));
    let is_rule_before = has_mark_before || forbids.is_some();
    if is_rule_before && first_word(rest) != "always" && begins_instruction(forbids.unwrap_or(rest)) {
        return (!rest.starts_with("never mind")).then_some(INSTRUCTED_BPS);
    }
    let follows = lower.split_once(", always ").or_else(|| lower.split_once(", never "));
    let is_rule_after = follows.is_some_and(|(when, then)| {
        let is_condition = matches!(first_word(when), "when" | "if" | "before" | "after" | "in" | "for");
        is_condition && begins_instruction(then)
    });
    if is_rule_after {
        return Some(INSTRUCTED_BPS);
    }
    let end = lower.trim_end_matches(|letter: char| !letter.is_alphanumeric());
    let end = end.strip_suffix(" please").unwrap_or(end);
    let ends_with_mark = ["always", "every time", "each time", "in future", "in the future", "by default"]
        .iter()
        .any(|mark| end.ends_with(mark));
    let has_mark = ends_with_mark || MARKS_ANYWHERE.iter().any(|mark| lower.contains(mark));
    let is_of_each = OF_EACH.iter().any(|mark| lower.contains(mark)) && lower.contains(" you ");
    (begins_instruction(lower) && (has_mark || is_of_each)).then_some(INSTRUCTED_BPS)
}

/// Removes marks before an instruction; returns whether there were any.
fn without_marks(lower: &str) -> (&str, bool) {
    let mut rest = lower;
    let mut has_mark = false;
    loop {
        rest = without_leads(rest.trim_start_matches([',', ' ', ':']));
        let marked = MARKS_BEFORE.iter().find_map(|mark| rest.strip_prefix(mark));
        match marked.filter(|after| after.starts_with([' ', ',', ':'])) {
            Some(after) => {
                rest = after;
                has_mark = true;
            }
            None => return (rest, has_mark),
        }
    }
}

/// Returns whether words begin as an instruction does: with a verb in its plain form.
fn begins_instruction(lower: &str) -> bool {
    let first = first_word(lower);
    if matches!(first, "don't" | "do") {
        return lower.starts_with("don't ") || lower.starts_with("do not ");
    }
    let is_plain = !first.ends_with('s') || first.ends_with("ss") || matches!(first, "focus" | "discus");
    let is_word = first.len() > 1 && first.chars().all(|letter| letter.is_alphabetic() || letter == '-');
    is_word && is_plain && !NOT_A_VERB.contains(&first)
}
