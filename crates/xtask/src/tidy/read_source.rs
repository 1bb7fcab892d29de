//! Rust text to [`SourceFile`]: the only place that touches the syntax tree.
//!
//! Owns what counts as test code (items under `#[cfg(test)]`, files such modules lead to) and how
//! lines are counted. Invariant: nothing below `#[cfg(test)]` leaves a fact behind but the names of its tests.
//! Begin at [`read`].

mod place;
mod visitor;
mod shapes;
mod nodes;

use anyhow::{Result, anyhow};
use syn::visit::Visit;

use super::source::{ErrorCodeRow, FilePlace, SourceFile, TextPassage};
use visitor::Visitor;

/// Returns the facts of the file at `path`.
pub(super) fn read(path: &str, text: &str) -> Result<SourceFile> {
    let mut file = place::file(path);
    file.has_header = has_header(text);
    file.tests = tests_of(text);
    if file.place == FilePlace::TestTarget {
        // No rule asks what is inside, and parsing is most of the time this takes.
        return Ok(file);
    }
    let syntax = syn::parse_file(text).map_err(|error| {
        let at = error.span().start();
        anyhow!("{path}:{}: could not parse: {error}", at.line)
    })?;
    file.error_codes = error_codes(text);
    let mut visitor = Visitor::new(&mut file, text);
    visitor.visit_file(&syntax);
    let test_lines = visitor.test_lines();
    let is_test = |line| visitor.is_test_line(line);
    let shapes = shapes::shapes(&syntax, &is_test);
    let doc_comments = doc_comments(text, &is_test);
    file.lines_without_tests = text.lines().count().saturating_sub(test_lines);
    file.doc_comments = doc_comments;
    file.shapes = shapes;
    Ok(file)
}

/// Finds the functions that stand below a `#[test]`, with the module within the file, by their text: files of tests are
/// not parsed.
fn tests_of(text: &str) -> Vec<(String, usize)> {
    let mut tests = Vec::new();
    let (mut is_test, mut inside) = (false, String::new());
    for (index, line) in text.lines().enumerate() {
        if let Some((_, module)) = line.split_once("mod ").filter(|_| line.ends_with(" {")) {
            inside = format!("{}::", module.trim_end_matches(" {"));
        } else if line == "}" {
            inside.clear();
        }
        let line = line.trim();
        if line == "#[test]" || line.starts_with("#[tokio::test") {
            is_test = true;
        } else if let Some(rest) = line.strip_prefix("async ").unwrap_or(line).strip_prefix("fn ") {
            if std::mem::take(&mut is_test) {
                let name = rest.split(['(', '<']).next().unwrap_or_default();
                tests.push((format!("{inside}{name}"), index + 1));
            }
        } else if !line.starts_with("#[") && !line.starts_with("//") {
            is_test = false;
        }
    }
    tests
}

/// Marks files that a `#[cfg(test)] mod` leads to, and forgets what was read in them.
pub(super) fn mark_test_files(files: &mut [SourceFile]) {
    let roots: Vec<(String, Vec<String>)> = files
        .iter()
        .filter(|f| f.place == FilePlace::Source)
        .flat_map(|f| f.test_modules.iter().map(|m| (f.crate_folder.clone(), m.clone())))
        .collect();
    for file in files.iter_mut().filter(|f| f.place == FilePlace::Source) {
        if roots.iter().any(|(folder, root)| *folder == file.crate_folder && file.module.starts_with(root)) {
            file.place = FilePlace::SourceTests;
        }
    }
}

fn has_header(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).skip_while(|l| l.is_empty() || l.starts_with("#!"));
    lines.next().and_then(|line| line.strip_prefix("//!")).is_some_and(|rest| rest.trim().len() > 10)
}

fn error_codes(text: &str) -> Vec<ErrorCodeRow> {
    let mut at = 0;
    let rows = text.split_inclusive('\n').enumerate().filter_map(|(index, line)| {
        let begin = at;
        at += line.len();
        let (name, rest) = line.trim().split_once(" = ")?;
        let (number, _) = rest.split_once(", \"")?;
        let is_row = name.starts_with(|c: char| c.is_ascii_uppercase())
            && number.len() == 4
            && number.chars().all(|c| c.is_ascii_digit());
        let mut literals = text[begin..].split('"').skip(1).step_by(2).map(str::to_owned);
        let (slug, summary, mend) = (literals.next()?, literals.next().unwrap_or_default(), literals.next());
        let mend = mend.unwrap_or_default();
        is_row.then(|| ErrorCodeRow { number: number.to_owned(), slug, summary, mend, line: index + 1 })
    });
    rows.collect()
}

/// Returns headers and doc comments, with lines that follow each other as one passage.
fn doc_comments(text: &str, is_test: &dyn Fn(usize) -> bool) -> Vec<TextPassage> {
    let mut passages: Vec<TextPassage> = Vec::new();
    let mut last = 0;
    for (index, line) in text.lines().enumerate() {
        let line_number = index + 1;
        let trimmed = line.trim_start();
        let Some(words) = trimmed.strip_prefix("//!").or_else(|| trimmed.strip_prefix("///")) else {
            continue;
        };
        if is_test(line_number) {
            continue;
        }
        match passages.last_mut().filter(|_| last + 1 == line_number) {
            Some(passage) => passage.text += &format!("\n{words}"),
            None => passages.push(TextPassage { line: line_number, text: words.to_owned() }),
        }
        last = line_number;
    }
    passages
}

#[cfg(test)]
mod tests;
