//! Changes of whole files whose form is simple: a header in each of several files, a target, a script, a dependency.
//!
//! Pure, and without understanding: a file whose form is not the simple one is left as it is, and then all are.

use serde_json::Value;

use super::calls::{glob_call, patch_call, read_call};
use super::extract::{ToolFinding, without_note};
use super::intent::{FileChange, FileSelection, IntendedCall, ToolGoal};
use super::sections::section_lines;
use super::survey::texts;

/// Files that one change covers, at most.
const FILES_MAX: usize = 20;

/// Returns the next calls of a change: the files, and one patch for all of them.
pub(super) fn reshaped(
    files: &FileSelection,
    change: &FileChange,
    found: &[ToolFinding],
) -> Option<Vec<IntendedCall>> {
    let (paths, read) = match (files, found) {
        (FileSelection::Named(paths), read) => (paths.clone(), read),
        (FileSelection::Matching(pattern), []) => return Some(vec![glob_call(pattern, ".")]),
        (FileSelection::Matching(_), [look, read @ ..]) => (matching(look)?, read),
    };
    if read.is_empty() {
        return Some(paths.iter().map(|path| read_call(path)).collect());
    }
    if read.len() != paths.len() {
        return None;
    }
    let patch = paths.iter().zip(read).map(|(path, file)| {
        let (text, note) = without_note(&file.text);
        let is_empty = note.is_some_and(|note| note.starts_with("the file is empty"));
        if file.failed || (note.is_some() && !is_empty) {
            return None;
        }
        let text = if is_empty { "" } else { text };
        patch_of(path, text, &changed(path, text, change)?)
    });
    patch.collect::<Option<String>>().map(|patch| vec![patch_call(&patch)])
}

/// Returns the files of a look, if they can be changed together.
fn matching(look: &ToolFinding) -> Option<Vec<String>> {
    let paths = texts(look);
    let is_whole = !look.failed && !look.text.contains("[stopped at") && !look.text.contains("is cut");
    (is_whole && !paths.is_empty() && paths.len() <= FILES_MAX).then_some(paths)
}

/// Returns the text of a file as it is to be.
fn changed(path: &str, text: &str, change: &FileChange) -> Option<String> {
    let ended = if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") };
    match change {
        FileChange::Header(lines) => {
            let first = text.split_inclusive('\n').next().filter(|line| line.starts_with("#!"));
            let (head, rest) = text.split_at(first.map_or(0, str::len));
            Some(format!("{head}{lines}\n{rest}"))
        }
        FileChange::Footer(lines) => Some(format!("{ended}{lines}\n")),
        FileChange::Target { name, command } => {
            let known = section_lines(super::intent::FileSection::Targets, path, text);
            let gap = if ended.is_empty() || ended.ends_with("\n\n") { "" } else { "\n" };
            (!known.contains(name)).then(|| format!("{ended}{gap}{name}:\n\t{command}\n"))
        }
        FileChange::Script { name, command } => member(text, "scripts", name, command),
        FileChange::Dependency { name, version } => match path.rsplit('/').next()? {
            "package.json" => member(text, "dependencies", name, version),
            "Cargo.toml" => entry(text, "[dependencies]", name, version),
            _ => None,
        },
        FileChange::Trimmed => {
            let lines: Vec<&str> = text.split('\n').map(|line| line.trim_end_matches([' ', '\t'])).collect();
            Some(lines.join("\n"))
        }
        FileChange::Dense => {
            let lines = text.split_inclusive('\n').filter(|line| !line.trim().is_empty());
            Some(lines.collect())
        }
    }
}

/// Adds a member to an object of a JSON text that has one member a line.
fn member(text: &str, object: &str, name: &str, value: &str) -> Option<String> {
    let parsed: Value = serde_json::from_str(text).ok()?;
    let members = parsed.get(object)?.as_object()?;
    if members.contains_key(name) || members.is_empty() {
        return None;
    }
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let opens = format!("\"{object}\":");
    let mut opening = (0..lines.len()).filter(|at| {
        let line = lines[*at].trim();
        line.starts_with(&opens) && line.ends_with('{')
    });
    let at = opening.next().filter(|_| opening.next().is_none())?;
    let last = (at + 1..lines.len()).find(|at| lines[*at].trim_start().starts_with('}'))? - 1;
    if last - at != members.len() {
        return None;
    }
    let line = lines[last].trim_end();
    let indent = &line[..line.len() - line.trim_start().len()];
    let new = format!("{indent}{}: {}\n", Value::from(name), Value::from(value));
    let new_text = format!("{}{line},\n{new}{}", lines[..last].concat(), lines[last + 1..].concat());
    let is_valid = serde_json::from_str::<Value>(&new_text)
        .is_ok_and(|it| it.get(object).and_then(|it| it.get(name)).is_some());
    is_valid.then_some(new_text)
}

/// Adds an entry to a table of a TOML text.
fn entry(text: &str, table: &str, name: &str, version: &str) -> Option<String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let at = lines.iter().position(|line| line.trim() == table)?;
    let end = (at + 1..lines.len()).find(|at| lines[*at].starts_with('[')).unwrap_or(lines.len());
    let is_named = |line: &&str| {
        line.trim_start().strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with(['=', '.']))
    };
    if lines[at..end].iter().any(is_named) || lines[end - 1..end].iter().any(|line| !line.ends_with('\n')) {
        return None;
    }
    let last = (at..end).rev().find(|at| !lines[*at].trim().is_empty())?;
    Some(format!("{}{name} = \"{version}\"\n{}", lines[..=last].concat(), lines[last + 1..].concat()))
}

/// Returns the patch from one text to another; `None` when nothing changes.
fn patch_of(path: &str, old: &str, new: &str) -> Option<String> {
    if old == new {
        return None;
    }
    let (a, b): (Vec<&str>, Vec<&str>) =
        (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let hunks = if a.len() == b.len() {
        let pairs = a.iter().zip(&b).enumerate().filter(|(_, (a, b))| a != b);
        pairs
            .map(|(at, (a, b))| format!("@@ -{n} +{n} @@\n{}{}", signed('-', a), signed('+', b), n = at + 1))
            .collect()
    } else {
        hunk(&a, &b)
    };
    Some(format!("--- a/{path}\n+++ b/{path}\n{hunks}"))
}

/// Returns one hunk from the first line that differs to the last, with a line before or behind it that stays.
fn hunk(a: &[&str], b: &[&str]) -> String {
    let mut begin = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let shared = a.len().min(b.len()) - begin;
    let mut behind = a.iter().rev().zip(b.iter().rev()).take(shared).take_while(|(a, b)| a == b).count();
    let before = usize::from(begin > 0);
    begin -= before;
    let after = usize::from(before == 0 && behind > 0);
    behind -= after;
    let (old, new) = (&a[begin..a.len() - behind], &b[begin..b.len() - behind]);
    let mut out = format!(
        "@@ -{},{} +{},{} @@\n",
        begin + usize::from(!old.is_empty()),
        old.len(),
        begin + 1,
        new.len()
    );
    let lines =
        |lines: &[&str], sign: char| -> String { lines.iter().map(|line| signed(sign, line)).collect() };
    out += &lines(&old[..before], ' ');
    out += &lines(&old[before..old.len() - after], '-');
    out += &lines(&new[before..new.len() - after], '+');
    out + &lines(&old[old.len() - after..], ' ')
}

fn signed(sign: char, line: &str) -> String {
    match line.strip_suffix('\n') {
        Some(line) => format!("{sign}{line}\n"),
        None => format!("{sign}{line}\n\\ No newline at end of file\n"),
    }
}

/// Says why files were not changed.
pub(super) fn unmet_reshape(goal: &ToolGoal, found: &[ToolFinding]) -> Option<String> {
    let ToolGoal::Reshape { files, change } = goal else { return None };
    if super::changes::is_changed(found) {
        return None;
    }
    let named = match files {
        FileSelection::Named(paths) => paths.join(", "),
        FileSelection::Matching(pattern) => format!("files that match `{pattern}`"),
    };
    let why = match change {
        FileChange::Target { name, .. } => {
            format!("it has a target `{name}`, or I cannot read it")
        }
        FileChange::Script { name, .. } | FileChange::Dependency { name, .. } => {
            format!("it has `{name}` already, or is not written with one entry a line in a place that I find")
        }
        FileChange::Trimmed | FileChange::Dense => "there is no such line, or it is too long".to_owned(),
        FileChange::Header(_) | FileChange::Footer(_) => {
            format!("there is none, one is too long, or there are more than {FILES_MAX}")
        }
    };
    Some(format!("I cannot change {named}: {why}. I changed nothing."))
}

#[cfg(test)]
mod tests;
