//! Clauses that want a file, a folder, or to be told of one.

use super::super::intent::{Ability, Intent};
use super::super::lexicon::{HERE, holds};
use super::super::objects::{bare_name, file_kind, folder, is_pattern, line_range, path_of, paths, place};
use super::super::words::{Word, lowered};
use super::calls::{glob, list_call, read_call};

/// Reads the files a clause names; `verb` is the word that asked for it.
pub(super) fn read(rest: &[Word], verb: &str) -> Vec<Intent> {
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

/// Returns whether a clause only points back at what was found before.
fn speaks_of_results(rest: &[Word]) -> bool {
    let back =
        ["it", "one", "ones", "its", "them", "their", "results", "matches", "result", "summary", "answer"];
    !rest.is_empty() && rest.iter().any(|word| holds(&back, &word.lower()))
}

/// Lists the folders a clause names, or finds the kind of files it speaks of.
pub(super) fn list(rest: &[Word]) -> Vec<Intent> {
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

/// A wish to be told something: about a file if one is named, about the project if that is named.
pub(super) fn tell(words: &[Word]) -> Intent {
    let files = words.iter().filter(|word| !word.is_quoted()).find_map(path_of);
    if let Some(path) = files.filter(|path| !matches!(path.as_str(), "." | "..")) {
        return Intent::Call(read_call(&path, line_range(words)));
    }
    let lower = lowered(words);
    let ours = HERE.iter().filter(|word| !matches!(**word, "it" | "here" | "files" | "everything"));
    let about_project = ours.into_iter().any(|word| words.iter().any(|said| said.lower() == *word));
    if about_project || lower.contains("this about") { Intent::Project } else { Intent::Aside }
}
