//! The rows of docs/known-faults.md that name a commit and a test.
//!
//! Owns the shape of a row: a table line with a commit in a code span and tests in others, named as the test runner
//! names them (`PACKAGE MODULE::test` or `PACKAGE::BINARY MODULE::test`).

use anyhow::{Context, Result, bail};

use crate::repo;

const PAGE: &str = "docs/known-faults.md";
/// The shortest abbreviation of a commit that a row may name.
const COMMIT_DIGITS_MIN: usize = 8;

/// One mended fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FaultRow {
    /// The first cell.
    pub(super) fault: String,
    /// The commit that mended it.
    pub(super) commit: String,
    /// The tests that fail without it; at least one.
    pub(super) tests: Vec<TestName>,
}

impl FaultRow {
    /// Returns whether a test of it starts the program that ships.
    pub(super) fn needs_the_whole_product(&self) -> bool {
        self.tests.iter().any(|test| test.package == "palyra")
    }
}

/// A test as the runner names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TestName {
    /// The package it belongs to.
    pub(super) package: String,
    /// The binary of an integration test; none for tests beside the code.
    pub(super) binary: Option<String>,
    /// Modules and name.
    pub(super) path: String,
}

/// Reads the page.
pub(super) fn read() -> Result<Vec<FaultRow>> {
    let page =
        std::fs::read_to_string(repo::root().join(PAGE)).with_context(|| format!("could not read {PAGE}"))?;
    let rows: Vec<FaultRow> = page.lines().filter_map(row).collect();
    if rows.is_empty() {
        bail!("{PAGE} has no row that names a commit and a test");
    }
    Ok(rows)
}

fn row(line: &str) -> Option<FaultRow> {
    let cells: Vec<&str> = line.strip_prefix('|')?.split('|').collect();
    let spans: Vec<&str> = line.split('`').skip(1).step_by(2).collect();
    let commit = spans.iter().find(|span| is_commit(span))?;
    let tests: Vec<TestName> = spans.iter().filter_map(|span| test_name(span)).collect();
    let fault = cells.first()?.trim().to_owned();
    (!tests.is_empty()).then(|| FaultRow { fault, commit: (*commit).to_owned(), tests })
}

fn is_commit(span: &str) -> bool {
    (COMMIT_DIGITS_MIN..=40).contains(&span.len()) && span.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn test_name(span: &str) -> Option<TestName> {
    let (program, path) = span.split_once(' ')?;
    let is_path = !path.is_empty() && path.chars().all(|c| c.is_ascii_alphanumeric() || "_:".contains(c));
    if !program.starts_with("palyra") || !is_path || !path.contains('_') {
        return None;
    }
    let (package, binary) = match program.split_once("::") {
        Some((package, binary)) => (package, Some(binary.to_owned())),
        None => (program, None),
    };
    Some(TestName { package: package.to_owned(), binary, path: path.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_names_a_commit_and_its_tests() {
        let line = "| a `\\` was read twice | one reading | `0123456789` | `palyra-policy places::tests::one_reading`, \
            `palyra::e2e attacks_places::a_letter` |";
        let row = row(line).expect("it is a row");
        assert_eq!((row.fault.as_str(), row.commit.as_str()), ("a `\\` was read twice", "0123456789"));
        let programs: Vec<_> =
            row.tests.iter().map(|test| (test.package.as_str(), test.binary.as_deref())).collect();
        assert_eq!(programs, [("palyra-policy", None), ("palyra", Some("e2e"))]);
        assert_eq!(row.tests[1].path, "attacks_places::a_letter");
    }

    #[test]
    fn heads_and_faults_that_stay_are_no_rows() {
        assert_eq!(row("| fault | mend | commit | tests |"), None);
        assert_eq!(row("| disks fill | by design, see `THREAT_MODEL.md` | | |"), None);
        assert_eq!(row("| no test | mended | `0123456789` | |"), None);
    }
}
