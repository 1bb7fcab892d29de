//! A time that goes on with other words: the text of the task behind it, or a part of a time that no form reads.

use super::cursor::{WordCursor, words_of};
use super::{UnreadableWords, WordsContext, read_whole, suggestions};

/// Words with which a part of a time begins, and no task.
const TIME_WORDS: [&str; 28] = [
    "and",
    "or",
    "but",
    "not",
    "except",
    "excluding",
    "unless",
    "if",
    "when",
    "while",
    "between",
    "from",
    "until",
    "till",
    "through",
    "on",
    "at",
    "in",
    "of",
    "by",
    "before",
    "after",
    "starting",
    "beginning",
    "only",
    "every",
    "each",
    "o'clock",
];
/// Words between a time and the text of a task.
const JOINING_WORDS: [&str; 3] = ["to", "please", "-"];
/// Signs behind the last word of a time.
const SEPARATORS: [char; 5] = [',', ';', ':', '.', '-'];

/// Returns what is wrong with a text that begins with a time; `None` where it does not.
pub(super) fn more_words(text: &str, context: &WordsContext<'_>) -> Option<UnreadableWords> {
    let words: Vec<&str> = text.split_whitespace().collect();
    (1..words.len()).rev().find_map(|end| {
        let when = words[..end].join(" ");
        let when = when.trim_end_matches(SEPARATORS).trim_end();
        let Some(Ok(_)) = read_whole(when, context) else { return None };
        Some(behind(when, &words[end..]))
    })
}

fn behind(when: &str, rest: &[&str]) -> UnreadableWords {
    let task = rest.iter().skip_while(|word| JOINING_WORDS.contains(&word.to_lowercase().as_str()));
    let task = task.copied().collect::<Vec<_>>().join(" ");
    let when = when.to_owned();
    if task.is_empty() || is_part_of_time(&task) {
        let suggestions = suggestions(&when);
        return UnreadableWords::Rest { when, rest: rest.join(" "), suggestions };
    }
    UnreadableWords::Task { when, task }
}

fn is_part_of_time(rest: &str) -> bool {
    let words = words_of(rest);
    let mut cursor = WordCursor::new(&words);
    cursor.take(&TIME_WORDS).is_some()
        || cursor.number().is_some()
        || cursor.time_of_day().is_some()
        || cursor.day_of_month().is_some()
        || cursor.weekday_or_plural().is_some()
        || cursor.month().is_some()
}

/// Returns a text as one word of a command line, or a name in its place where a shell could read it otherwise.
pub(super) fn in_quotes(text: &str) -> String {
    let is_plain = |c: char| !c.is_control() && !matches!(c, '"' | '\\' | '$' | '`' | '!');
    if text.chars().all(is_plain) { format!("\"{text}\"") } else { "TEXT".to_owned() }
}
