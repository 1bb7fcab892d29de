//! Whether two statements say the same, or contradict each other, by their words.

use crate::sentence_rules::words_of;

/// Returns whether two statements have the same words.
#[must_use]
pub fn says_the_same(one: &str, other: &str) -> bool {
    plain_words(one) == plain_words(other)
}

fn plain_words(text: &str) -> Vec<String> {
    words_of(text).map(str::to_lowercase).collect()
}

/// Words that turn a statement round.
const NEGATIONS: &[&str] = &[
    "not", "never", "no", "don't", "doesn't", "stop", "without", "isn't", "won't", "can't", "hate", "dislike",
];
/// Words that change nothing about what a statement is about.
const WEIGHTLESS: &[&str] =
    &["always", "please", "ever", "do", "i", "like", "love", "prefer", "now", "from", "on", "again"];

/// Returns whether two statements of a kind cannot both hold.
pub(crate) fn contradicts(one: &str, other: &str) -> bool {
    let one = plain_words(one);
    let other = plain_words(other);
    if one == other {
        return false;
    }
    if let Some(topic) = topic_of(&one)
        && let Some(other_topic) = topic_of(&other)
    {
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
    let mut swapped = sides(other).unwrap_or_default();
    swapped.reverse();
    sides(one).is_some_and(|sides| sides == swapped)
}

/// Returns the words on both sides of `over` or `to`.
fn sides(words: &[String]) -> Option<Vec<&String>> {
    let at = words.iter().position(|word| matches!(word.as_str(), "over" | "to"))?;
    Some(vec![words.get(..at)?.last()?, words.get(at + 1)?])
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
