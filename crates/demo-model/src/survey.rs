//! Looks at several files of a project at once: its manifests, or all files below a folder.
//!
//! Pure: what a first look listed decides which files are read.

use super::calls::{glob_call, list_call, read_call};
use super::extract::{ToolFinding, describe, listed_names, without_note};
use super::intent::{AnswerView, FileSection, IntendedCall, ToolAbility, ToolGoal};
use super::sections::{manifests, viewed};

/// Files whose lines are counted, at most.
const FILES_MAX: usize = 30;
/// Endings of binary files.
const BINARY: &[&str] = &[
    "png", "jpg", "jpeg", "gif", "ico", "pdf", "zip", "gz", "so", "o", "a", "pyc", "wasm", "woff", "woff2",
    "db",
];

/// Returns the next calls of a look at the manifests.
pub(super) fn surveyed(section: FileSection, found: &[ToolFinding]) -> Option<Vec<IntendedCall>> {
    match found {
        [] => Some(vec![list_call(".")]),
        [look] if !look.failed => {
            let there = listed_names(&look.text);
            let named = manifests(section).iter().filter(|name| there.iter().any(|found| found == *name));
            let calls: Vec<IntendedCall> = named.map(|name| read_call(name)).collect();
            (!calls.is_empty()).then_some(calls)
        }
        _ => None,
    }
}

/// Returns the next calls of a count of lines.
pub(super) fn counted(pattern: &str, found: &[ToolFinding]) -> Option<Vec<IntendedCall>> {
    match found {
        [] => Some(vec![glob_call(pattern, ".")]),
        [look] => {
            let files = texts(look);
            let fits = !look.failed && !files.is_empty() && files.len() <= FILES_MAX;
            fits.then(|| files.iter().map(|path| read_call(path)).collect())
        }
        _ => None,
    }
}

/// Returns the files of a look that can be texts.
pub(super) fn texts(look: &ToolFinding) -> Vec<String> {
    let is_binary = |path: &str| path.rsplit_once('.').is_some_and(|(_, ending)| BINARY.contains(&ending));
    let mut names = listed_names(&look.text);
    if names.first().is_some_and(|head| head.ends_with(" match") || head.ends_with(" matches")) {
        names.remove(0);
    }
    names.retain(|path| !path.ends_with('/') && !path.starts_with("no matches") && !is_binary(path));
    names
}

/// Shows what the files say, those that say something first.
pub(super) fn shown(goal: &ToolGoal, found: &[ToolFinding]) -> Option<Vec<String>> {
    let (_, files) = found.split_first().filter(|(_, files)| !files.is_empty())?;
    match goal {
        ToolGoal::Manifests(section) => {
            let shown: Vec<String> = files
                .iter()
                .map(|file| viewed(file, AnswerView::Section(*section)).unwrap_or_else(|| describe(file)))
                .collect();
            let says = |text: &&String| !text.starts_with("I do not find");
            let some: Vec<String> = shown.iter().filter(says).cloned().collect();
            Some(if some.is_empty() { shown } else { some })
        }
        ToolGoal::CountLines(_) => Some(vec![total(files)]),
        _ => None,
    }
}

fn total(files: &[ToolFinding]) -> String {
    let mut sum = 0;
    let mut shown = Vec::new();
    let mut is_whole = true;
    for file in files {
        let path = file.arguments.get("path").and_then(serde_json::Value::as_str).unwrap_or_default();
        let (text, note) = without_note(&file.text);
        let is_empty = note.is_some_and(|note| note.starts_with("the file is empty"));
        if file.failed || (note.is_some() && !is_empty) {
            is_whole = false;
            shown.push(format!("- {path}: not counted"));
            continue;
        }
        let lines = text.lines().count();
        sum += lines;
        shown.push(format!("- {path}: {lines}"));
    }
    let least = if is_whole { "" } else { "At least " };
    let lines = if sum == 1 { "line" } else { "lines" };
    let files = if files.len() == 1 { "file" } else { "files" };
    format!(
        "{least}{sum} {lines} in {} {files}, empty lines and comments among them:\n{}",
        shown.len(),
        shown.join("\n")
    )
}

/// Says why such a look ended before it read anything.
pub(super) fn unmet_survey(goal: &ToolGoal, found: &[ToolFinding]) -> Option<String> {
    let [look] = found else { return None };
    if look.failed {
        return None;
    }
    match goal {
        ToolGoal::Manifests(section) => Some(format!(
            "I do not find a file here that says it; I look for {}.",
            manifests(*section).join(", ")
        )),
        ToolGoal::CountLines(pattern) if look.tool.as_str() == ToolAbility::Glob.tool() => {
            Some(match texts(look).len() {
                0 => format!("Nothing matches `{pattern}`."),
                files => format!(
                    "I cannot count the lines of {files} files: I read {FILES_MAX} at once, at most. Try: run `git ls-files`, or \
                 name a folder."
                ),
            })
        }
        _ => None,
    }
}
