//! Changes that follow from what files hold: lines beside lines, a name everywhere, a part of one file in another.
//!
//! Pure, and without understanding: an ambiguous sentence changes nothing.

use serde_json::json;

use super::calls::{escaped, patch_call, read_call, search_call};
use super::extract::{ToolFinding, listed_names, printed, without_note};
use super::intent::{IntendedCall, LinePlace, LineSelection, TextPart, ToolAbility, ToolGoal};
use super::markdown::headings;
use super::objects::has_extension;

/// Files in which a name is replaced, at most.
const FILES_MAX: usize = 20;
/// How a comment of one line begins.
const COMMENT_SIGNS: &[&str] = &["#", "//", "--", ";", "%", "<!--", "/*", "*", "\"", "'"];
/// Files of code, in which not every line is a comment.
const PLAIN: &[&str] = &["md", "txt", "rst", "adoc", "org"];
/// How a definition begins.
pub(super) const DEFINING: &str = r"(def|fn|func|function|class|struct|enum|trait|interface|const|static|let|var|type|module|mod|macro_rules!|#define|val|sub)";

/// Returns the search for the definition of a name.
pub(super) fn definition_call(name: &str) -> IntendedCall {
    let name = escaped(name);
    search_call(
        &format!(
            r"\b{DEFINING}\s+(mut\s+|\*)?{name}\b|^\s*{name}\s*(:[^:=]+)?[:=][^=]|^\s*#define\s+{name}\b"
        ),
        ".",
    )
}

/// Returns the search for a word.
pub(super) fn word_call(word: &str, place: &str) -> IntendedCall {
    search_call(&bounded(word), place)
}

/// Returns the next calls of a goal for a name.
pub(super) fn defined(name: &str, found: &[ToolFinding]) -> Option<Vec<IntendedCall>> {
    match found {
        [] => Some(vec![definition_call(name)]),
        [look] if !look.failed && hits(look).is_empty() => Some(vec![word_call(name, ".")]),
        _ => None,
    }
}

/// Writes a word as a regular expression that does not match inside of other words.
fn bounded(word: &str) -> String {
    let edge = |c: Option<char>| if c.is_some_and(is_of_word) { r"\b" } else { "" };
    format!("{}{}{}", edge(word.chars().next()), escaped(word), edge(word.chars().next_back()))
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the files of a search's matches.
fn hits(look: &ToolFinding) -> Vec<String> {
    let mut files: Vec<String> = listed_names(&look.text)
        .iter()
        .filter_map(|line| {
            let (path, rest) = line.split_once(':')?;
            rest.split_once(':')?.0.parse::<u64>().ok()?;
            Some(path.to_owned())
        })
        .collect();
    files.dedup();
    files
}

/// Returns the next calls of a name that is replaced: a search, the files, and one patch for all of them.
pub(super) fn everywhere(
    old: &str,
    new: &str,
    place: &str,
    found: &[ToolFinding],
) -> Option<Vec<IntendedCall>> {
    let Some((look, files)) = found.split_first() else { return Some(vec![word_call(old, place)]) };
    let paths = hits(look);
    let is_whole =
        !look.failed && !look.text.contains("[stopped at") && !look.text.contains("the list is cut");
    if !is_whole || paths.is_empty() || paths.len() > FILES_MAX {
        return None;
    }
    if files.is_empty() {
        return Some(paths.iter().map(|path| read_call(path)).collect());
    }
    if files.len() != paths.len() {
        return None;
    }
    let mut patch = String::new();
    for (path, file) in paths.iter().zip(files) {
        let (text, note) = without_note(&file.text);
        if file.failed || note.is_some() {
            return None;
        }
        patch.push_str(&replaced(path, text, old, new)?);
    }
    Some(vec![patch_call(&patch)])
}

/// Returns the patch of several files that were read; `None` unless each of them has the text.
pub(super) fn among(old: &str, new: &str, paths: &[String], found: &[ToolFinding]) -> Option<IntendedCall> {
    if found.len() != paths.len() {
        return None;
    }
    let patch = paths.iter().zip(found).map(|(path, file)| match without_note(&file.text) {
        (text, None) if !file.failed => replaced(path, text, old, new),
        _ => None,
    });
    patch.collect::<Option<String>>().map(|patch| patch_call(&patch))
}

/// Returns the patch of one file; `None` when nothing in it changes.
fn replaced(path: &str, text: &str, old: &str, new: &str) -> Option<String> {
    let open = !text.ends_with('\n');
    let lines: Vec<&str> = text.strip_suffix('\n').unwrap_or(text).split('\n').collect();
    let mut hunks = String::new();
    for (at, line) in lines.iter().enumerate() {
        let changed = with_word(line, old, new);
        if changed != *line {
            let mark = if open && at + 1 == lines.len() { "\\ No newline at end of file\n" } else { "" };
            hunks.push_str(&format!("@@ -{n} +{n} @@\n-{line}\n{mark}+{changed}\n{mark}", n = at + 1));
        }
    }
    (!hunks.is_empty()).then(|| format!("--- a/{path}\n+++ b/{path}\n{hunks}"))
}

fn with_word(line: &str, old: &str, new: &str) -> String {
    let mut out = String::new();
    let mut from = 0;
    for (at, _) in line.match_indices(old) {
        let before = line[..at].chars().next_back().filter(|_| old.starts_with(is_of_word));
        let behind = line[at + old.len()..].chars().next().filter(|_| old.ends_with(is_of_word));
        if !before.is_some_and(is_of_word) && !behind.is_some_and(is_of_word) {
            out.push_str(&line[from..at]);
            out.push_str(new);
            from = at + old.len();
        }
    }
    out.push_str(&line[from..]);
    out
}

/// Returns the line that a sentence names, from 0, if it is unambiguous.
pub(super) fn chosen(path: &str, lines: &[&str], which: &LineSelection) -> Option<usize> {
    let only = |fits: &dyn Fn(&str) -> bool| {
        let mut fitting = (0..lines.len()).filter(|at| fits(lines[*at]));
        fitting.next().filter(|_| fitting.next().is_none())
    };
    match which {
        LineSelection::Numbered(number) => {
            usize::try_from(*number).ok()?.checked_sub(1).filter(|at| *at < lines.len())
        }
        LineSelection::Last => lines.len().checked_sub(1),
        LineSelection::Range(..) | LineSelection::All(_) => None,
        LineSelection::Holding(text) => only(&|line| line == text).or_else(|| {
            only(&|line| line.contains(text.as_str())).filter(|_| !lines.contains(&text.as_str()))
        }),
        LineSelection::Exactly(text) => only(&|line| {
            let line = line.trim();
            line == text || line.trim_start_matches(['-', '*', ' ']) == text
        }),
        LineSelection::Comment(text) => {
            let at = only(&|line| line.contains(text.as_str()))?;
            let plain = !has_extension(path)
                || path.rsplit_once('.').is_some_and(|(_, ending)| PLAIN.contains(&ending));
            let line = lines[at].trim_start();
            (plain || COMMENT_SIGNS.iter().any(|sign| line.starts_with(sign))).then_some(at)
        }
    }
}

/// Returns all lines that a sentence names, from 0; none where it is ambiguous or names lines that are not there.
pub(super) fn all_chosen(path: &str, lines: &[&str], which: &LineSelection) -> Vec<usize> {
    let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    match which {
        LineSelection::Range(from, to) if number(*to) <= lines.len() => {
            (number(*from) - 1..number(*to)).collect()
        }
        LineSelection::Range(..) => Vec::new(),
        LineSelection::All(text) => {
            (0..lines.len()).filter(|at| lines[*at].contains(text.as_str())).collect()
        }
        _ => chosen(path, lines, which).into_iter().collect(),
    }
}

/// Returns the hunks that take lines out; `end` marks a last line that does not end.
pub(super) fn removed(lines: &[&str], gone: &[usize], end: &str) -> String {
    let hunk = |(before, at): (usize, &usize)| {
        let mark = if at + 1 == lines.len() { end } else { "" };
        format!("@@ -{} +{},0 @@\n-{}\n{mark}", at + 1, at - before, lines[*at])
    };
    gone.iter().enumerate().map(hunk).collect()
}

/// Returns the hunk that puts lines beside a line; `end` marks a last line that does not end.
pub(super) fn inserted(
    path: &str,
    lines: &[&str],
    end: &str,
    text: &str,
    place: &LinePlace,
) -> Option<String> {
    let new: String = text.lines().map(|line| format!("+{line}\n")).collect();
    let count = text.lines().count();
    let (which, before) = match place {
        LinePlace::Before(which) => (which, true),
        LinePlace::Behind(which) => (which, false),
    };
    let at = chosen(path, lines, which)?;
    let mark = if at + 1 == lines.len() { end } else { "" };
    let (n, line) = (at + 1, lines[at]);
    Some(match (before, mark) {
        (true, _) => format!("@@ -{n} +{n},{} @@\n{new} {line}\n{mark}", count + 1),
        (false, "") => format!("@@ -{n} +{n},{} @@\n {line}\n{new}", count + 1),
        (false, _) => format!("@@ -{n} +{n},{} @@\n-{line}\n{mark}+{line}\n{new}", count + 1),
    })
}

/// Returns the call that writes a part of what was found.
pub(super) fn kept(part: TextPart, to: &str, source: &ToolFinding) -> Option<IntendedCall> {
    if source.failed {
        return None;
    }
    let text = match source.tool.as_str() {
        "read_file" => match without_note(&source.text) {
            (text, None) => text.to_owned(),
            _ => return None,
        },
        "run_command" | "git" => printed(&source.text).to_owned(),
        "search" => match hits(source).is_empty() {
            true => return None,
            false => source.text.lines().filter(|line| !is_remark(line)).collect::<Vec<_>>().join("\n"),
        },
        "glob" | "list_dir" => {
            let names = listed_names(&source.text);
            names.into_iter().filter(|name| !is_remark(name)).collect::<Vec<_>>().join("\n")
        }
        _ => return None,
    };
    let lines: Vec<&str> = text.lines().collect();
    let taken = match part {
        TextPart::Whole => text.trim_end_matches('\n').to_owned(),
        TextPart::First(count) => lines[..count.min(lines.len())].join("\n"),
        TextPart::Last(count) => lines[lines.len().saturating_sub(count)..].join("\n"),
        TextPart::Headings => headings(&text).join("\n"),
        TextPart::Title => headings(&text)
            .first()
            .or(lines.iter().find(|line| !line.trim().is_empty()).as_ref().copied())?
            .trim_start_matches(['#', ' '])
            .to_owned(),
    };
    if taken.trim().is_empty() {
        return None;
    }
    let call = IntendedCall::new(ToolAbility::Write, &[("path", to), ("content", &format!("{taken}\n"))]);
    Some(call.with("mode", json!("create")))
}

/// Returns whether a line of an output is the tool's own.
fn is_remark(line: &str) -> bool {
    let counts = line.split_once(' ').is_some_and(|(number, rest)| {
        (number == "no" || number.parse::<u64>().is_ok()) && rest.starts_with("match")
    });
    counts || line.is_empty() || (line.starts_with('[') && line.ends_with(']'))
}

/// Returns whether the last call was the change, or failed and says why itself.
pub(super) fn is_changed(found: &[ToolFinding]) -> bool {
    found.last().is_some_and(|last| {
        matches!(last.tool.as_str(), "apply_patch" | "write_file")
            || (last.failed && last.tool.as_str() != "search")
    })
}

/// Says why one of these goals ended without its change.
pub(super) fn unmet_change(goal: &ToolGoal, found: &[ToolFinding]) -> Option<String> {
    if is_changed(found) {
        return None;
    }
    match goal {
        ToolGoal::Everywhere { old, .. } => Some(match found {
            [look, ..] if !hits(look).is_empty() => format!(
                "I cannot replace `{old}` everywhere: more than {FILES_MAX} files have it, or one is too long. I changed nothing."
            ),
            _ => format!(
                "I cannot replace `{old}`: no file that I search has it as a word. I changed nothing."
            ),
        }),
        ToolGoal::Among { old, paths, .. } => Some(format!(
            "I cannot replace `{old}` in all of {}: one of them does not have it as a word, or is too long. I changed nothing.",
            paths.join(", ")
        )),
        ToolGoal::Insert { path, .. } => Some(format!(
            "I cannot find that line in `{path}`: none has that text, or several have. I changed nothing."
        )),
        ToolGoal::Extract { to, .. } | ToolGoal::Keep { to, .. } => {
            Some(format!("I cannot write `{to}`: what it is to hold was not found, or is too long."))
        }
        _ => None,
    }
}
