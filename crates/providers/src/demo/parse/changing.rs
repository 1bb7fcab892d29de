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
    let plain = |words: &[Word]| {
        let words = words.iter().filter(|word| !holds(&marks, &word.lower()) && word.lower() != "the");
        words.map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
    };
    let behind = mark.map(|at| plain(&rest[at + 1..]));
    // "write X into FILE": what stands before the file, if it is not the file itself.
    let before = || {
        into.filter(|at| rest[at + 1..].iter().any(|word| path_of(word).is_some()))
            .map(|at| plain(&rest[..at]))
    };
    let unquoted = behind.or_else(before);
    let content = text.reduce(|all, next| all + "\n" + &next).or(unquoted).unwrap_or_default();
    Intent::Call(Call::new(Ability::Write, &[("path", &path), ("content", &content)]))
}

/// Adds a file; what shall be added to one cannot be said without having read it.
pub(super) fn add(rest: &[Word]) -> Intent {
    let is_new = rest.iter().any(|word| holds(&["file", "new"], &word.lower()));
    if is_new { write(rest) } else { Intent::Incomplete(Ability::Edit) }
}

/// Replaces text in a file; the file may be named before the verb: "in FILE change A to B".
pub(super) fn edit(before: &[Word], rest: &[Word]) -> Intent {
    let named = |word: &Word| if word.is_quoted() { None } else { path_of(word) };
    let placed = rest.iter().rposition(|word| named(word).is_some());
    let path = placed.and_then(|at| named(&rest[at])).or_else(|| before.iter().find_map(named));
    let everywhere = rest.iter().any(|word| holds(&["everywhere", "all", "every", "each"], &word.lower()));
    let Some((path, (old, new))) = path.zip(pair(rest, placed)) else {
        return Intent::Incomplete(Ability::Edit);
    };
    let call = Call::new(Ability::Edit, &[("path", &path), ("old", &old), ("new", &new)]);
    Intent::Call(if everywhere { call.with("all", json!(true)) } else { call })
}

/// Returns what is replaced and by what: two quoted texts, or the words around "by", "with" or "to".
fn pair(rest: &[Word], placed: Option<usize>) -> Option<(String, String)> {
    let quoted: Vec<&Word> = rest.iter().filter(|word| word.is_quoted()).collect();
    if let [old, new, ..] = quoted.as_slice() {
        return Some((old.text.clone(), new.text.clone()));
    }
    // The words end where the file is named.
    let upto = match placed {
        Some(at) => at
            .checked_sub(1)
            .filter(|before| holds(&["in", "inside", "of", "within"], &rest[*before].lower()))?,
        None => rest.len(),
    };
    let words = &rest[..upto];
    let joint = words.iter().position(|word| holds(&["by", "with", "to", "into"], &word.lower()))?;
    let leading = ["the", "word", "text", "every", "all", "each"];
    let from = words[..joint].iter().position(|word| !holds(&leading, &word.lower()))?;
    let trailing = ["everywhere"];
    let said = |words: &[Word]| {
        let words = words.iter().filter(|word| !holds(&trailing, &word.lower()));
        words.map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
    };
    let (old, new) = (said(&words[from..joint]), said(&words[joint + 1..]));
    (!old.is_empty() && !new.is_empty()).then_some((old, new))
}

/// Deletes a line whose text is told.
pub(super) fn delete(rest: &[Word]) -> Intent {
    let path = rest.iter().rev().find_map(|word| if word.is_quoted() { None } else { path_of(word) });
    let line = rest.iter().position(|word| word.lower() == "line");
    let text = rest.iter().find(|word| word.is_quoted()).map(|word| word.text.clone()).or_else(|| {
        let behind = &rest[line? + 1..];
        let upto = behind.iter().position(|word| holds(&["from", "in", "of"], &word.lower()))?;
        let words: Vec<&str> = behind[..upto].iter().map(|word| word.text.as_str()).collect();
        // A number names a place, and what stands there is not known.
        let is_number = words.iter().all(|word| word.parse::<u64>().is_ok());
        (!is_number).then(|| words.join(" "))
    });
    match (path, line, text) {
        (Some(path), Some(_), Some(text)) if !text.contains('\n') => {
            let patch = format!("--- a/{path}\n+++ b/{path}\n@@ -1 +0,0 @@\n-{text}\n");
            Intent::Call(Call::new(Ability::Patch, &[("patch", &patch)]))
        }
        _ => Intent::Incomplete(Ability::Patch),
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
