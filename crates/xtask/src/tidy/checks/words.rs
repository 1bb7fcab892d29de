//! Words that make texts hard to read, and what to write instead.
//!
//! Owns the comparison of what people read with the list in `crates/xtask/words.toml`. Documents and messages have none
//! of these words, except on lines that the list allows with a reason. Doc comments, and the messages of crates that are
//! not edited yet, are counted; `crates/xtask/word_counts.toml` holds the numbers, which only fall.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use regex::Regex;
use serde::Deserialize;

use crate::tidy::finding::TidyFinding;
use crate::tidy::house::RepositoryView;
use crate::tidy::source::{FilePlace, SourceFile, TextPassage};

const RULE: &str = "words";
const LIST: &str = "crates/xtask/words.toml";
const COUNTS: &str = "crates/xtask/word_counts.toml";
const DOCUMENTS: [&str; 5] =
    ["README.md", "CHANGELOG.md", "ARCHITECTURE.md", "THREAT_MODEL.md", "CONTRIBUTING.md"];

/// The list as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WordList {
    #[serde(rename = "word")]
    words: Vec<WordRule>,
    #[serde(default, rename = "allowed")]
    allowed: Vec<AllowedLine>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WordRule {
    pattern: String,
    /// Hits that begin inside of a match of this pattern are fine.
    unless: Option<String>,
    reason: String,
    write: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AllowedLine {
    path: String,
    /// What the line contains.
    text: String,
    reason: String,
}

/// The list with its patterns compiled.
struct WordReader {
    words: Vec<(Regex, Option<Regex>, String)>,
    /// Whether any of the words is there: most texts are read once.
    any: Regex,
    code: Regex,
    allowed: Vec<AllowedLine>,
}

/// The most hits of the texts that are counted, by kind, then by crate or path.
type WordCounts = BTreeMap<String, BTreeMap<String, usize>>;

/// Texts that are counted together.
struct TextGroup {
    kind: &'static str,
    /// A document's path or a crate's folder.
    name: String,
    /// Passages with the paths of their files.
    texts: Vec<(String, TextPassage)>,
}

/// Returns banned words in texts that must have none, and counts that are over their maximum.
pub(super) fn check(house: &RepositoryView) -> Vec<TidyFinding> {
    let reader = match WordReader::of(house) {
        Ok(Some(reader)) => reader,
        Ok(None) => return Vec::new(),
        Err(problem) => return vec![finding(LIST, 1, "", problem, "correct the list")],
    };
    let most = counts(house);
    let mut found = Vec::new();
    let mut used = vec![false; reader.allowed.len()];
    for TextGroup { kind, name, texts } in groups(house) {
        let mut hits = Vec::new();
        for (path, passage) in texts {
            hits.extend(reader.hits(&path, &passage, &mut used));
        }
        let allowed = most.get(kind).and_then(|by_name| by_name.get(&name)).copied();
        if hits.len() <= allowed.unwrap_or_default() {
            let count = hits.len();
            if allowed.is_some_and(|most| count < most) {
                let what = format!("{kind} of {name} have {count} of the listed words, fewer than noted");
                found.push(finding(
                    COUNTS,
                    1,
                    &name,
                    what,
                    "run `cargo xtask tidy --write`, which lowers the number",
                ));
            }
            continue;
        }
        if let Some(most) = allowed.filter(|most| *most > 0) {
            let what = format!(
                "{kind} of {name} have {} of the listed words, at most {most} are allowed",
                hits.len()
            );
            found.push(finding(
                COUNTS,
                1,
                &name,
                what,
                "write other words in what you added; the number only falls",
            ));
        } else {
            found.extend(hits);
        }
    }
    found.extend(reader.allowed.iter().zip(used).filter(|(_, used)| !used).map(|(line, _)| {
        let what = format!("the line allowed in {} has none of the words: {}", line.path, line.text);
        finding(LIST, 1, &line.path, what, "delete it")
    }));
    found
}

/// Returns the file of counts with each number lowered to what is there, and none raised.
pub(super) fn expected(house: &RepositoryView) -> Vec<(String, String)> {
    let Ok(Some(reader)) = WordReader::of(house) else { return Vec::new() };
    let mut most = counts(house);
    let mut used = vec![false; reader.allowed.len()];
    for TextGroup { kind, name, texts } in groups(house) {
        let Some(number) = most.get_mut(kind).and_then(|by_name| by_name.get_mut(&name)) else { continue };
        let count: usize =
            texts.iter().map(|(path, passage)| reader.hits(path, passage, &mut used).len()).sum();
        *number = count.min(*number);
    }
    let mut text = String::from(
        "# How many of the words in words.toml these texts still have. The numbers only fall: `cargo xtask tidy --write`\n\
         # lowers them to what is there. A crate or a text that is not listed has none.\n",
    );
    for (kind, by_name) in most {
        let _ = writeln!(text, "\n[{kind}]");
        for (name, number) in by_name.iter().filter(|(_, number)| **number > 0) {
            let _ = writeln!(text, "\"{name}\" = {number}");
        }
    }
    vec![(COUNTS.to_owned(), text)]
}

/// Pages and the help; the messages beside it are read where they are written.
fn is_document(path: &str) -> bool {
    path.starts_with("docs/") && path != "docs/reference/messages.txt"
}

fn counts(house: &RepositoryView) -> WordCounts {
    toml::from_str(house.text(COUNTS)).unwrap_or_default()
}

/// Returns kind, name and passages of everything that people read.
fn groups(house: &RepositoryView) -> Vec<TextGroup> {
    let mut groups = Vec::new();
    for (path, text) in &house.texts {
        if DOCUMENTS.contains(&path.as_str()) || is_document(path) {
            let passage = TextPassage { line: 1, text: text.clone() };
            groups.push(TextGroup {
                kind: "documents",
                name: path.clone(),
                texts: vec![(path.clone(), passage)],
            });
        }
    }
    let is_shipped = |file: &&SourceFile| matches!(file.place, FilePlace::Source | FilePlace::OwnTarget);
    let mut by_crate: BTreeMap<&str, [Vec<(String, TextPassage)>; 2]> = BTreeMap::new();
    for file in house.files.iter().filter(is_shipped).filter(|f| !f.crate_folder.is_empty()) {
        let [comments, messages] = by_crate.entry(&file.crate_folder).or_default();
        comments.extend(file.doc_comments.iter().map(|p| (file.path.clone(), p.clone())));
        messages.extend(file.messages.iter().map(|p| (file.path.clone(), p.clone())));
    }
    for (folder, [comments, messages]) in by_crate {
        groups.push(TextGroup { kind: "comments", name: folder.to_owned(), texts: comments });
        groups.push(TextGroup { kind: "messages", name: folder.to_owned(), texts: messages });
    }
    groups
}

impl WordReader {
    fn of(house: &RepositoryView) -> Result<Option<Self>, String> {
        let text = house.text(LIST);
        if text.is_empty() {
            return Ok(None);
        }
        let list: WordList = toml::from_str(text).map_err(|error| error.to_string())?;
        let compile = |pattern: &str| {
            // Texts are wrapped anywhere.
            let pattern = format!("(?im){}", pattern.replace(' ', r"\s+"));
            Regex::new(&pattern).map_err(|error| error.to_string())
        };
        let mut words = Vec::new();
        let patterns: Vec<&str> = list.words.iter().map(|word| word.pattern.as_str()).collect();
        let any = compile(&patterns.join("|"))?;
        for word in list.words {
            let unless = word.unless.as_deref().map(compile).transpose()?;
            words.push((compile(&word.pattern)?, unless, format!("{}: write {}", word.reason, word.write)));
        }
        if let Some(line) = list.allowed.iter().find(|line| line.reason.trim().len() < 10) {
            return Err(format!("the line allowed in {} gives no reason", line.path));
        }
        let code = compile(r"`[^`\s]*`|\]\([^)\s]*\)|\{[^}\s]*\}")?;
        Ok(Some(Self { words, any, code, allowed: list.allowed }))
    }

    fn hits(&self, path: &str, passage: &TextPassage, used: &mut [bool]) -> Vec<TidyFinding> {
        if !self.any.is_match(&passage.text) {
            return Vec::new();
        }
        // Names in code style, fields of formats and addresses are not words, but keep their length so that lines stay right.
        let text =
            self.code.replace_all(&passage.text, |found: &regex::Captures<'_>| "`".repeat(found[0].len()));
        let mut findings = Vec::new();
        for (pattern, unless, advice) in &self.words {
            for hit in pattern.find_iter(&text) {
                let fine = |unless: &Regex| {
                    unless.find_iter(&text).any(|around| around.range().contains(&hit.start()))
                };
                if unless.as_ref().is_some_and(fine) || self.allows(path, &passage.text, hit.range(), used) {
                    continue;
                }
                let line = passage.line + text[..hit.start()].matches('\n').count();
                let words = hit.as_str().split_whitespace().collect::<Vec<_>>().join(" ");
                findings.push(finding(path, line, &words, format!("\"{words}\": {advice}"), MEND));
            }
        }
        findings
    }

    fn allows(&self, path: &str, text: &str, hit: std::ops::Range<usize>, used: &mut [bool]) -> bool {
        let begin = text[..hit.start].rfind('\n').map_or(0, |at| at + 1);
        let end = text[hit.end..].find('\n').map_or(text.len(), |at| hit.end + at);
        let lines = &text[begin..end];
        let at = self.allowed.iter().position(|line| line.path == path && lines.contains(&line.text));
        if let Some(at) = at {
            used[at] = true;
        }
        at.is_some()
    }
}

const MEND: &str = "write plain words, or allow the line in crates/xtask/words.toml with a reason";

fn finding(path: &str, line: usize, item: &str, what: String, mend: &'static str) -> TidyFinding {
    TidyFinding { path: path.to_owned(), line, rule: RULE, item: item.to_owned(), what, mend }
}

#[cfg(test)]
mod tests;
