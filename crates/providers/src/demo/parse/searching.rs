//! Clauses that want files by name, or text in files.

use super::super::intent::{Ability, Call, Intent};
use super::super::lexicon::{PLACES, holds};
use super::super::objects::{
    bare_name, file_kind, folder, has_extension, is_pattern, line_range, path_of, place, tidy_path,
};
use super::super::words::Word;
use super::calls::{glob, read_call, search_call, with_place};
use super::reading::tell;

/// Finds files by name, or text when no name of a file is there.
pub(super) fn find(rest: &[Word]) -> Intent {
    let lower: Vec<String> = rest.iter().map(Word::lower).collect();
    let contains = ["contain", "contains", "containing", "mention", "mentions", "mentioning"];
    if let Some(at) = lower.iter().position(|word| holds(&contains, word)) {
        return search(&rest[at + 1..]);
    }
    if lower.first().is_some_and(|word| word == "out") {
        return tell(rest);
    }
    let upto = lower.iter().position(|word| holds(PLACES, word)).unwrap_or(rest.len());
    if let Some(pattern) = rest.iter().find(|word| is_pattern(&word.text)) {
        return glob(&pattern.text, place(rest));
    }
    if let Some(extension) = file_kind(rest) {
        return glob(&format!("**/*.{extension}"), place(rest));
    }
    let named = rest[..upto].iter().find(|word| {
        has_extension(&word.text)
            || (!word.is_quoted() && path_of(word).is_some())
            || follows_name(rest, word)
    });
    match named {
        Some(word) => {
            let path = path_of(word).unwrap_or_else(|| tidy_path(&word.text));
            let pattern = if path.contains('/') { path } else { format!("**/{path}") };
            glob(&pattern, place(rest))
        }
        None => search(rest),
    }
}

fn follows_name(words: &[Word], word: &Word) -> bool {
    words.windows(2).any(|pair| holds(&["named", "called"], &pair[0].lower()) && &pair[1] == word)
}

/// Searches; "look at X" reads, and the shell's `grep TEXT PLACE` needs no words between.
pub(super) fn look(rest: &[Word], verb: &str) -> Intent {
    if rest.first().is_some_and(|word| holds(&["at", "into"], &word.lower()))
        && let Some(path) = rest.iter().find_map(path_of)
    {
        return Intent::Call(read_call(&path, line_range(rest)));
    }
    let plain: Vec<&Word> = rest.iter().filter(|word| !is_flag(word)).collect();
    match plain.as_slice() {
        [text, at] if matches!(verb, "grep" | "rg") => search_call(&text.text, Some(tidy_path(&at.text))),
        _ => search(rest),
    }
}

/// Searches for what a clause names, where it says.
pub(super) fn search(rest: &[Word]) -> Intent {
    let introduced =
        ["for", "containing", "contain", "contains", "mentioning", "matching", "mention", "mentions"];
    let at = rest.iter().position(|word| holds(&introduced, &word.lower()));
    let (before, after) = match at {
        Some(at) => (&rest[..at], &rest[at + 1..]),
        None => (&rest[..0], rest),
    };
    let after: Vec<Word> = after.iter().filter(|word| !is_flag(word)).cloned().collect();
    let Some((pattern, used)) = sought(&after) else { return Intent::Incomplete(Ability::Search) };
    let wants_regex = rest
        .iter()
        .any(|word| holds(&["regex", "regexp", "expression", "pattern", "matching"], &word.lower()));
    let behind = &after[used..];
    let shell_form = || behind.iter().find_map(path_of);
    let path = place(behind).or_else(shell_form).or_else(|| folder(before)).or_else(|| bare_name(before));
    if wants_regex {
        return Intent::Call(with_place(Call::new(Ability::Search, &[("pattern", &pattern)]), path));
    }
    search_call(&pattern, path)
}

fn is_flag(word: &Word) -> bool {
    !word.is_quoted() && word.text.len() > 1 && word.text.starts_with('-')
}

/// Returns what is searched for, and how many words were used up: a quoted text, or the words up to a place.
fn sought(words: &[Word]) -> Option<(String, usize)> {
    if let Some(at) = words.iter().position(Word::is_quoted) {
        let placed = words[..at].iter().any(|word| holds(&["in", "inside", "under"], &word.lower()));
        if !placed {
            return Some((words[at].text.clone(), at + 1));
        }
    }
    let leading = [
        "the",
        "word",
        "words",
        "text",
        "string",
        "phrase",
        "a",
        "an",
        "all",
        "any",
        "regex",
        "pattern",
        "expression",
        "occurrences",
        "of",
        "uses",
        "every",
        "where",
        "is",
        "are",
        "lines",
        "with",
        "files",
        "that",
    ];
    let from = words.iter().position(|word| !holds(&leading, &word.lower()))?;
    let trailing = ["used", "defined", "mentioned", "called", "declared", "located"];
    let upto = words[from..]
        .iter()
        .position(|word| holds(PLACES, &word.lower()) || holds(&trailing, &word.lower()))
        .map_or(words.len(), |at| from + at);
    // The form of the shell, `grep TODO src/`: the second word is a place.
    let upto = (from + 1..upto).find(|at| path_of(&words[*at]).is_some()).unwrap_or(upto);
    let text = words[from..upto].iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then_some((text, upto))
}
