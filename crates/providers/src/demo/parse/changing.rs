//! Clauses that want something done which changes things or leaves the workspace.

use serde_json::json;

use super::super::intent::{Ability, Call, Intent};
use super::super::lexicon::holds;
use super::super::objects::{is_url, path_of, tidy_path};
use super::super::words::Word;
use super::reading::read;

/// Creates a file.
pub(super) fn write(rest: &[Word]) -> Intent {
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

/// Replaces text in a file.
pub(super) fn edit(rest: &[Word]) -> Intent {
    let quoted: Vec<&Word> = rest.iter().filter(|word| word.is_quoted()).collect();
    let path = rest.iter().find_map(|word| if word.is_quoted() { None } else { path_of(word) });
    match (path, quoted.as_slice()) {
        (Some(path), [old, new, ..]) => {
            Intent::Call(Call::new(Ability::Edit, &[("path", &path), ("old", &old.text), ("new", &new.text)]))
        }
        _ => Intent::Incomplete(Ability::Edit),
    }
}

/// Runs a command.
pub(super) fn run(rest: &[Word]) -> Intent {
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

/// Fetches a page; "get" and a file name mean reading.
pub(super) fn fetch(rest: &[Word]) -> Vec<Intent> {
    if let Some(url) = rest.iter().find(|word| is_url(&word.text)) {
        return vec![Intent::Call(Call::new(Ability::Fetch, &[("url", &url.text)]))];
    }
    if rest.iter().any(|word| path_of(word).is_some()) {
        return read(rest, "read");
    }
    vec![Intent::Incomplete(Ability::Fetch)]
}

/// Keeps a fact.
pub(super) fn remember(rest: &[Word]) -> Intent {
    let from = rest.iter().position(|word| !holds(&["that", "this", "to", "down"], &word.lower()));
    let words = from.map_or(&[][..], |from| &rest[from..]);
    if words.is_empty() {
        return Intent::Incomplete(Ability::Remember);
    }
    let text = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
    Intent::Call(Call::new(Ability::Remember, &[("text", &text)]))
}
