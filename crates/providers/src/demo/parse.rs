//! Turns one clause into what it asks for.
//!
//! Invariant: always yields at least one intent; what is not understood is said so, never guessed.

use serde_json::json;

use super::intent::{Ability, Call, Intent};
use super::lexicon::{COURTESIES, FILLERS, GREETINGS, HERE, PLACES, holds};
use super::objects::{
    bare_name, file_kind, folder, has_extension, is_pattern, is_url, line_range, path_of, paths, place,
    tidy_path,
};
use super::questions::{Question, question};
use super::words::Word;

/// Reads a clause.
pub(super) fn parse(clause: &[Word]) -> Vec<Intent> {
    let words = without_courtesies(clause);
    if words.is_empty() {
        let greets = clause.iter().any(|word| holds(GREETINGS, &word.lower()));
        let morning = GREETINGS.iter().any(|greeting| lowered(clause).contains(greeting));
        return vec![if greets || morning { Intent::Greeting } else { Intent::Aside }];
    }
    if let Some(question) = question(words, &lowered(clause)) {
        return asked(question, words);
    }
    let verb_at = words.iter().position(|word| verb(&word.lower()).is_some());
    let Some(at) = verb_at else { return vec![without_verb(words)] };
    let rest = &words[at + 1..];
    match verb(&words[at].lower()) {
        Some(Verb::Read) => read(rest, &words[at].lower()),
        Some(Verb::List) => list(rest),
        Some(Verb::Find) => vec![find(rest)],
        Some(Verb::Search) => vec![look(rest, &words[at].lower())],
        Some(Verb::Write) => vec![write(rest)],
        Some(Verb::Edit) => vec![edit(rest)],
        Some(Verb::Run) => vec![run(rest)],
        Some(Verb::Fetch) => fetch(rest),
        Some(Verb::Remember) => vec![remember(rest)],
        Some(Verb::Tell) | None => vec![tell(words)],
    }
}

enum Verb {
    Read,
    List,
    Find,
    Search,
    Write,
    Edit,
    Run,
    Fetch,
    Remember,
    Tell,
}

fn verb(word: &str) -> Option<Verb> {
    Some(match word {
        "read" | "open" | "cat" | "show" | "print" | "display" | "view" | "reading" | "check" => Verb::Read,
        "list" | "ls" | "listing" => Verb::List,
        "find" | "glob" | "locate" => Verb::Find,
        "search" | "grep" | "look" | "searching" | "rg" => Verb::Search,
        "create" | "write" | "make" | "save" | "add" => Verb::Write,
        "edit" | "replace" | "change" | "modify" | "update" => Verb::Edit,
        "run" | "execute" | "start" => Verb::Run,
        "fetch" | "download" | "get" | "curl" | "visit" | "browse" => Verb::Fetch,
        "remember" | "memorize" | "memorise" | "note" => Verb::Remember,
        "tell" | "say" | "explain" | "describe" | "summarize" | "summarise" | "give" | "report" | "count"
        | "answer" => Verb::Tell,
        _ => return None,
    })
}

fn asked(question: Question, words: &[Word]) -> Vec<Intent> {
    match question {
        Question::Abilities => vec![Intent::Abilities],
        Question::Thanks => vec![Intent::Aside],
        Question::Files => list(words),
        Question::Place { from } => vec![find(&words[from..])],
        Question::Mention { from } => vec![search(&words[from..])],
        Question::About => vec![tell(words)],
    }
}

/// Drops what people put before the thing they want.
fn without_courtesies(clause: &[Word]) -> &[Word] {
    let mut words = clause;
    loop {
        let longest = COURTESIES.iter().filter_map(|courtesy| {
            let parts: Vec<&str> = courtesy.split(' ').collect();
            let fits = parts.len() <= words.len()
                && parts.iter().zip(words).all(|(part, word)| *part == word.lower());
            fits.then_some(parts.len())
        });
        match longest.max() {
            Some(count) => words = &words[count..],
            None => return words,
        }
    }
}

fn read(rest: &[Word], verb: &str) -> Vec<Intent> {
    let mut files = paths(rest);
    if files.is_empty() && matches!(verb, "read" | "cat" | "open") && !speaks_of_results(rest) {
        files.extend(bare_name(rest));
    }
    let range = line_range(rest);
    if !files.is_empty() {
        return files.iter().map(|path| Intent::Call(read_call(path, range))).collect();
    }
    let speaks_of_files =
        rest.iter().any(|word| holds(&["files", "folder", "folders", "directory"], &word.lower()));
    match verb {
        "read" | "cat" | "open" if !speaks_of_results(rest) => vec![Intent::Incomplete(Ability::Read)],
        _ if speaks_of_files && verb != "read" => list(rest),
        _ => vec![Intent::Aside],
    }
}

fn read_call(path: &str, range: Option<(u64, u64)>) -> Call {
    let call = Call::new(Ability::Read, &[("path", path)]);
    match range {
        Some((from, to)) => call.with("from", json!(from)).with("to", json!(to)),
        None => call,
    }
}

/// Returns whether a clause only points back at what was found before.
fn speaks_of_results(rest: &[Word]) -> bool {
    let back = ["it", "its", "them", "their", "results", "matches", "result", "summary", "answer"];
    !rest.is_empty() && rest.iter().any(|word| holds(&back, &word.lower()))
}

fn list(rest: &[Word]) -> Vec<Intent> {
    if let Some(pattern) = rest.iter().find(|word| is_pattern(&word.text)) {
        return vec![glob(&pattern.text, place(rest))];
    }
    if let Some(extension) = file_kind(rest) {
        return vec![glob(&format!("**/*.{extension}"), place(rest))];
    }
    let folders: Vec<String> = paths(rest);
    if folders.len() > 1 {
        return folders.iter().map(|path| list_call(path)).collect();
    }
    let back = ["its", "them", "their", "headings", "results", "matches"];
    if folders.is_empty() && rest.iter().any(|word| holds(&back, &word.lower())) {
        return vec![Intent::Aside];
    }
    let path = folder(rest).or_else(|| bare_name(rest)).unwrap_or_else(|| ".".to_owned());
    vec![list_call(&path)]
}

fn list_call(path: &str) -> Intent {
    Intent::Call(Call::new(Ability::List, &[("path", path)]))
}

fn glob(pattern: &str, place: Option<String>) -> Intent {
    let pattern = match place {
        Some(place) if place != "." && !is_pattern(&place) && !pattern.starts_with(&place) => {
            format!("{place}/{pattern}")
        }
        _ => pattern.to_owned(),
    };
    Intent::Call(Call::new(Ability::Glob, &[("pattern", &pattern)]))
}

/// Finds files by name, or text when no name of a file is there.
fn find(rest: &[Word]) -> Intent {
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
fn look(rest: &[Word], verb: &str) -> Intent {
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

fn search(rest: &[Word]) -> Intent {
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

fn search_call(text: &str, path: Option<String>) -> Intent {
    let pattern = if is_regex(text) { text.to_owned() } else { escape(text) };
    Intent::Call(with_place(Call::new(Ability::Search, &[("pattern", &pattern)]), path))
}

fn with_place(call: Call, path: Option<String>) -> Call {
    match path {
        Some(path) if path != "." => call.with("path", json!(path)),
        _ => call,
    }
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

fn is_regex(text: &str) -> bool {
    [".*", ".+", "\\", "[^", "[a-", "^"].iter().any(|sign| text.contains(sign))
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(
            c,
            '.' | '+' | '*' | '?' | '(' | ')' | '|' | '[' | ']' | '{' | '}' | '^' | '$' | '\\' | '#'
        ) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

fn write(rest: &[Word]) -> Intent {
    let quoted_at = |at: usize| rest.get(at).filter(|word| word.is_quoted());
    let marks = ["with", "containing", "saying", "contents", "content", "text"];
    let mark = rest.iter().position(|word| holds(&marks, &word.lower()));
    let into = rest.iter().position(|word| holds(&["to", "into", "in"], &word.lower()));
    let path = rest.iter().find_map(|word| if word.is_quoted() { None } else { path_of(word) });
    let path = path.or_else(|| into.and_then(|at| quoted_at(at + 1)).map(|word| tidy_path(&word.text)));
    let Some(path) = path else { return Intent::Incomplete(Ability::Write) };
    let text =
        rest.iter().filter(|word| word.is_quoted() && tidy_path(&word.text) != path).map(|w| w.text.clone());
    let unquoted = mark.map(|at| {
        let words =
            rest[at + 1..].iter().filter(|word| !holds(&marks, &word.lower()) && word.lower() != "the");
        words.map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
    });
    let content = text.reduce(|all, next| all + "\n" + &next).or(unquoted).unwrap_or_default();
    Intent::Call(Call::new(Ability::Write, &[("path", &path), ("content", &content)]))
}

fn edit(rest: &[Word]) -> Intent {
    let quoted: Vec<&Word> = rest.iter().filter(|word| word.is_quoted()).collect();
    let path = rest.iter().find_map(|word| if word.is_quoted() { None } else { path_of(word) });
    match (path, quoted.as_slice()) {
        (Some(path), [old, new, ..]) => {
            Intent::Call(Call::new(Ability::Edit, &[("path", &path), ("old", &old.text), ("new", &new.text)]))
        }
        _ => Intent::Incomplete(Ability::Edit),
    }
}

fn run(rest: &[Word]) -> Intent {
    let leading = ["the", "command", "a", "shell", "program", "script", "this"];
    let from = rest.iter().position(|word| word.is_quoted() || !holds(&leading, &word.lower()));
    let Some(from) = from else { return Intent::Incomplete(Ability::Run) };
    let argv: Vec<String> = match &rest[from..] {
        [only] if only.is_quoted() => only.text.split_whitespace().map(str::to_owned).collect(),
        words => words.iter().map(|word| word.text.clone()).collect(),
    };
    let call = Call { ability: Ability::Run, arguments: serde_json::Map::new() };
    Intent::Call(call.with("argv", json!(argv)))
}

fn fetch(rest: &[Word]) -> Vec<Intent> {
    if let Some(url) = rest.iter().find(|word| is_url(&word.text)) {
        return vec![Intent::Call(Call::new(Ability::Fetch, &[("url", &url.text)]))];
    }
    if rest.iter().any(|word| path_of(word).is_some()) {
        return read(rest, "read");
    }
    vec![Intent::Incomplete(Ability::Fetch)]
}

fn remember(rest: &[Word]) -> Intent {
    let from = rest.iter().position(|word| !holds(&["that", "this", "to", "down"], &word.lower()));
    let words = from.map_or(&[][..], |from| &rest[from..]);
    if words.is_empty() {
        return Intent::Incomplete(Ability::Remember);
    }
    let text = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
    Intent::Call(Call::new(Ability::Remember, &[("text", &text)]))
}

/// A wish to be told something: about a file if one is named, about the project if that is named.
fn tell(words: &[Word]) -> Intent {
    let files = words.iter().filter(|word| !word.is_quoted()).find_map(path_of);
    if let Some(path) = files.filter(|path| !matches!(path.as_str(), "." | "..")) {
        return Intent::Call(read_call(&path, line_range(words)));
    }
    let lower = lowered(words);
    let ours = HERE.iter().filter(|word| !matches!(**word, "it" | "here" | "files" | "everything"));
    let about_project = ours.into_iter().any(|word| words.iter().any(|said| said.lower() == *word));
    if about_project || lower.contains("this about") { Intent::Project } else { Intent::Aside }
}

fn without_verb(words: &[Word]) -> Intent {
    let all_fillers = words.iter().all(|word| holds(FILLERS, &word.lower()));
    if all_fillers {
        return Intent::Aside;
    }
    if let [only] = words
        && let Some(path) = path_of(only)
        && has_extension(&path)
    {
        return Intent::Call(read_call(&path, None));
    }
    Intent::Unclear(words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" "))
}

fn lowered(words: &[Word]) -> String {
    words.iter().map(Word::lower).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
