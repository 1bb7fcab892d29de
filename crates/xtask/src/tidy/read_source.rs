//! Rust text to [`SourceFile`]: the only place that touches the syntax tree.
//!
//! Owns what counts as test code (items under `#[cfg(test)]`, files such modules lead to) and how
//! lines are counted. Invariant: nothing below `#[cfg(test)]` leaves a fact behind but the names of its tests.
//! Begin at [`read`].

mod place;
mod visitor;
mod nodes;

use anyhow::{Result, anyhow};
use syn::visit::Visit;

use super::source::{ErrorCodeRow, Place, SourceFile};
use visitor::Visitor;

/// Returns the facts of the file at `path`.
pub(super) fn read(path: &str, text: &str) -> Result<SourceFile> {
    let mut file = place::file(path);
    file.has_header = has_header(text);
    file.tests = tests_of(text);
    if file.place == Place::TestTarget {
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
    file.lines_without_tests = text.lines().count().saturating_sub(test_lines);
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
        .filter(|f| f.place == Place::Source)
        .flat_map(|f| f.test_modules.iter().map(|m| (f.crate_folder.clone(), m.clone())))
        .collect();
    for file in files.iter_mut().filter(|f| f.place == Place::Source) {
        if roots.iter().any(|(folder, root)| *folder == file.crate_folder && file.module.starts_with(root)) {
            file.place = Place::SourceTests;
        }
    }
}

fn has_header(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).skip_while(|l| l.is_empty() || l.starts_with("#!"));
    lines.next().and_then(|line| line.strip_prefix("//!")).is_some_and(|rest| rest.trim().len() > 10)
}

fn error_codes(text: &str) -> Vec<ErrorCodeRow> {
    let rows = text.lines().enumerate().filter_map(|(index, line)| {
        let (name, rest) = line.trim().split_once(" = ")?;
        let (number, rest) = rest.split_once(", \"")?;
        let (slug, _) = rest.split_once('"')?;
        let is_row = name.starts_with(|c: char| c.is_ascii_uppercase())
            && name.chars().all(|c| c.is_ascii_alphanumeric())
            && number.len() == 4
            && number.chars().all(|c| c.is_ascii_digit());
        is_row.then(|| ErrorCodeRow { number: number.to_owned(), slug: slug.to_owned(), line: index + 1 })
    });
    rows.collect()
}

#[cfg(test)]
mod tests;
