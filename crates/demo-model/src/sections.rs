//! Parts of files that their kinds know: headings, targets, scripts, dependencies, versions; and views of lists.
//!
//! Pure, and reads no format as a whole: a line is taken for what its place says. A section that is not found is named.

use serde_json::Value;

use super::extract::{ToolFinding, fenced, listed_names, printed, without_note};
use super::intent::{AnswerView, FileSection};
use super::markdown::headings;

/// Names that are shown of a list, at most.
const NAMES_MAX: usize = 200;

/// Files in which a project says what it is, by the section that they have.
pub(super) fn manifests(section: FileSection) -> &'static [&'static str] {
    match section {
        FileSection::Headings => &["README.md"],
        FileSection::Targets => &["Makefile", "makefile", "GNUmakefile"],
        FileSection::Scripts => &["package.json", "pyproject.toml", "composer.json"],
        FileSection::Dependencies => &[
            "Cargo.toml",
            "package.json",
            "pyproject.toml",
            "requirements.txt",
            "requirements-dev.txt",
            "go.mod",
            "Pipfile",
            "Gemfile",
            "composer.json",
        ],
        FileSection::Version => &[
            "Cargo.toml",
            "package.json",
            "pyproject.toml",
            "setup.cfg",
            "setup.py",
            "VERSION",
            "composer.json",
        ],
    }
}

/// Shows a finding as a section or a list; `None` where the view is another, or nothing was found to show.
pub(super) fn viewed(finding: &ToolFinding, view: AnswerView) -> Option<String> {
    if finding.failed {
        return None;
    }
    let path = finding.arguments.get("path").and_then(Value::as_str).unwrap_or_default();
    match (view, finding.tool.as_str()) {
        (AnswerView::Section(section), "read_file") => {
            let (text, note) = without_note(&finding.text);
            let cut = if note.is_some() { "\n\nThe file is longer than what I read at once." } else { "" };
            Some(shown(section, path, text) + cut)
        }
        (AnswerView::Files, "list_dir") => Some(files(&finding.text)),
        (AnswerView::Tree, "list_dir") => {
            Some(fenced(&entries(&finding.text).join("\n")) + &cut(&finding.text))
        }
        (AnswerView::Smallest, "list_dir") => Some(smallest(&finding.text)),
        (AnswerView::LargerThan(bytes), "list_dir") => Some(larger(&finding.text, bytes)),
        (AnswerView::Kinds, "list_dir") => Some(kinds(&finding.text)),
        (AnswerView::Largest(count), "list_dir") => Some(largest(&finding.text, count)),
        (AnswerView::Newest, "run_command") => {
            let newest = printed(&finding.text).lines().filter(|line| line.contains(' ')).max()?;
            let (when, name) = newest.split_once(' ')?;
            let when: String = when.replace('+', " ").chars().take(19).collect();
            Some(format!("The file that changed last is {}, at {when}.", name.trim_start_matches("./")))
        }
        (AnswerView::Commits, "git") => {
            let lines =
                printed(&finding.text).lines().filter(|line| !line.is_empty() && !line.starts_with('['));
            let commits = lines.count();
            let cut = printed(&finding.text).lines().any(|line| line.starts_with('['));
            let least = if cut { "At least " } else { "" };
            Some(format!("{least}{commits} {}.", if commits == 1 { "commit" } else { "commits" }))
        }
        _ => None,
    }
}

fn shown(section: FileSection, path: &str, text: &str) -> String {
    let lines = section_lines(section, path, text);
    let what = match section {
        FileSection::Headings => "headings",
        FileSection::Targets => "targets",
        FileSection::Scripts => "scripts",
        FileSection::Dependencies => "dependencies",
        FileSection::Version => "version",
    };
    if lines.is_empty() {
        return format!("I do not find {what} in {path}.");
    }
    let more = match lines.len().saturating_sub(NAMES_MAX) {
        0 => String::new(),
        more => format!("\n\n{more} more are not shown."),
    };
    let lines: Vec<&str> = lines.iter().take(NAMES_MAX).map(String::as_str).collect();
    let what = what[..1].to_uppercase() + &what[1..];
    format!("{what} of {path}:\n\n{}{more}", fenced(&lines.join("\n")))
}

/// Returns the lines of a section.
pub(super) fn section_lines(section: FileSection, path: &str, text: &str) -> Vec<String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_json = name.ends_with(".json");
    match section {
        FileSection::Headings => headings(text).into_iter().map(str::to_owned).collect(),
        FileSection::Targets => targets(text),
        FileSection::Scripts if is_json => members(text, &["scripts"]),
        FileSection::Scripts => tables(text, |table| table.ends_with("scripts")),
        FileSection::Dependencies if is_json => {
            members(text, &["dependencies", "devDependencies", "peerDependencies", "require"])
        }
        FileSection::Dependencies if name == "go.mod" => modules(text),
        FileSection::Dependencies if name.ends_with(".toml") || name == "Pipfile" => {
            let arrays = array(text, "dependencies");
            let is_dependency = |table: &str| {
                table.ends_with("dependencies")
                    || table.contains("dependencies.")
                    || table.ends_with("packages")
            };
            [arrays, tables(text, is_dependency)].concat()
        }
        FileSection::Dependencies => plain(text, |line| !line.starts_with(['-', '#'])),
        FileSection::Version if is_json => {
            json(text).get("version").and_then(Value::as_str).map(str::to_owned).into_iter().collect()
        }
        FileSection::Version if name == "VERSION" => plain(text, |_| true),
        FileSection::Version => {
            let is_version = |line: &str| line.starts_with("version") && line.contains('=');
            plain(text, is_version).into_iter().take(1).collect()
        }
    }
}

fn plain(text: &str, fits: impl Fn(&str) -> bool) -> Vec<String> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.filter(|line| fits(line)).map(str::to_owned).collect()
}

/// Returns the targets of a Makefile, without special ones, patterns and assignments.
fn targets(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with(['\t', ' ', '#', '.'])) {
        let Some((names, rest)) = line.split_once(':') else { continue };
        if rest.starts_with('=') || rest.starts_with(":=") || names.contains(['=', '$', '%']) {
            continue;
        }
        for name in names.split_whitespace() {
            if !out.iter().any(|known| known == name) {
                out.push(name.to_owned());
            }
        }
    }
    out
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

fn members(text: &str, names: &[&str]) -> Vec<String> {
    let object = json(text);
    let found = names.iter().filter_map(|name| object.get(name)?.as_object());
    found
        .flat_map(|members| members.iter())
        .map(|(name, value)| {
            format!("{name}: {}", value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        })
        .collect()
}

/// Returns the lines of the tables of a TOML text whose names fit.
fn tables(text: &str, fits: impl Fn(&str) -> bool) -> Vec<String> {
    let mut is_in = false;
    let mut out = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some(table) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            let table = table.trim_matches(['[', ']']);
            is_in = fits(table);
            // A dependency may have a table of its own.
            if is_in && let Some((_, name)) = table.rsplit_once("dependencies.") {
                out.push(name.to_owned());
                is_in = false;
            }
        } else if is_in && !line.is_empty() && !line.starts_with('#') {
            out.push(line.to_owned());
        }
    }
    out
}

/// Returns the items of an array of a TOML text.
fn array(text: &str, name: &str) -> Vec<String> {
    let begins = |line: &str| {
        line.trim_start()
            .strip_prefix(name)
            .is_some_and(|rest| rest.trim_start().starts_with('=') && rest.contains('['))
    };
    let mut lines = text.lines().skip_while(|line| !begins(line)).peekable();
    let Some(first) = lines.next() else { return Vec::new() };
    let mut items = first.split_once('[').map_or(String::new(), |(_, rest)| rest.to_owned());
    let ends = |text: &str| text.trim_end().ends_with(']');
    while !ends(&items) {
        let Some(next) = lines.next() else { break };
        items.push('\n');
        items.push_str(next);
    }
    let items = items.trim_end().trim_end_matches(']');
    items
        .split(['\n', ','])
        .map(|item| item.trim().trim_matches(['"', '\'']).to_owned())
        .filter(|item| !item.is_empty() && !item.starts_with('#'))
        .collect()
}

/// Returns the modules that a `go.mod` requires.
fn modules(text: &str) -> Vec<String> {
    let mut is_in = false;
    let mut out = Vec::new();
    for line in text.lines().map(str::trim) {
        match line {
            "require (" => is_in = true,
            ")" => is_in = false,
            _ if is_in && !line.is_empty() => out.push(line.to_owned()),
            _ => out.extend(line.strip_prefix("require ").map(str::to_owned)),
        }
    }
    out
}

/// Returns the names of a listing, without git's own.
fn entries(text: &str) -> Vec<String> {
    listed_names(text).into_iter().filter(|name| name != ".git/" && !name.starts_with(".git/")).collect()
}

fn cut(text: &str) -> String {
    let is_cut = text.lines().any(|line| line.starts_with("[the list is cut"));
    if is_cut { "\n\nThe list is cut here; there are more.".to_owned() } else { String::new() }
}

fn files(text: &str) -> String {
    let names: Vec<String> = entries(text).into_iter().filter(|name| !name.ends_with('/')).collect();
    if names.is_empty() {
        return "I do not find a file there.".to_owned();
    }
    let shown: Vec<&str> = names.iter().take(NAMES_MAX).map(String::as_str).collect();
    let more = match names.len().saturating_sub(NAMES_MAX) {
        0 => cut(text),
        more => format!("\n\n{more} more are not shown.{}", cut(text)),
    };
    let count = if names.len() == 1 { "1 file".to_owned() } else { format!("{} files", names.len()) };
    format!("{count}:\n\n{}{more}", fenced(&shown.join("\n")))
}

/// Returns the files of a listing with their sizes, without git's own.
fn sizes(text: &str) -> Vec<(u64, String)> {
    let size = |line: &str| {
        let (name, size) = line.strip_suffix(')')?.rsplit_once(" (")?;
        let bytes = size.strip_suffix(" bytes").or_else(|| size.strip_suffix(" byte"))?;
        let bytes = bytes.replace([',', '_'], "").parse::<u64>().ok()?;
        (!name.starts_with(".git/")).then(|| (bytes, name.to_owned()))
    };
    text.lines().filter_map(size).collect()
}

fn smallest(text: &str) -> String {
    match sizes(text).into_iter().min() {
        Some((bytes, name)) => {
            format!("The smallest file that the list shows is {name}, {bytes} bytes.{}", cut(text))
        }
        None => "I do not find a file there.".to_owned(),
    }
}

fn larger(text: &str, least: u64) -> String {
    let mut sizes = sizes(text);
    sizes.retain(|(bytes, _)| *bytes > least);
    sizes.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let lines: Vec<String> =
        sizes.iter().take(NAMES_MAX).map(|(bytes, name)| format!("- {name}, {bytes} bytes")).collect();
    match lines.len() {
        0 => format!("No file that the list shows has more than {least} bytes.{}", cut(text)),
        _ => format!("Files that have more than {least} bytes:\n{}{}", lines.join("\n"), cut(text)),
    }
}

/// Counts files by the endings of their names.
fn kinds(text: &str) -> String {
    let mut counts: std::collections::BTreeMap<String, usize> = std::collections::BTreeMap::new();
    for name in entries(text).iter().filter(|name| !name.ends_with('/')) {
        let name = name.rsplit('/').next().unwrap_or(name);
        let ending = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty());
        *counts.entry(ending.map_or(String::new(), |(_, ending)| ending.to_lowercase())).or_default() += 1;
    }
    let mut counts: Vec<(String, usize)> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let named = |(ending, count): &(String, usize)| {
        let known = super::lexicon::FILE_KINDS.iter().find(|(_, known)| known == ending);
        let files = if *count == 1 { "file" } else { "files" };
        match (ending.as_str(), known) {
            ("", _) => format!("- {count} {files} without an ending"),
            (_, Some((said, _))) => format!("- {count} .{ending} {files} ({said})"),
            (_, None) => format!("- {count} .{ending} {files}"),
        }
    };
    let lines: Vec<String> = counts.iter().take(NAMES_MAX).map(named).collect();
    if lines.is_empty() {
        return "I do not find a file there.".to_owned();
    }
    format!("Files by their endings:\n{}{}", lines.join("\n"), cut(text))
}

fn largest(text: &str, count: usize) -> String {
    let mut sizes = sizes(text);
    sizes.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    match sizes.as_slice() {
        [] => "I do not find a file there.".to_owned(),
        [(bytes, name), ..] if count <= 1 => {
            format!("The largest file that the list shows is {name}, {bytes} bytes.{}", cut(text))
        }
        sizes => {
            let lines: Vec<String> =
                sizes.iter().take(count).map(|(bytes, name)| format!("- {name}, {bytes} bytes")).collect();
            format!("The largest files that the list shows:\n{}{}", lines.join("\n"), cut(text))
        }
    }
}

#[cfg(test)]
mod tests;
