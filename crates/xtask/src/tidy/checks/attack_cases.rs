//! Every attack and every mended fault has its test, and every test of an attack is on the page.
//!
//! Owns reading `docs/attack-cases.md` and `docs/known-faults.md`: code spans `PACKAGE MODULE::test` or `PACKAGE::BINARY MODULE::test`, as the test
//! runner names them. Silent while the first page does not exist.

use std::collections::BTreeSet;

use crate::tidy::finding::TidyFinding;
use crate::tidy::house::RepositoryView;
use crate::tidy::source::SourceFile;

const RULE: &str = "attack-cases";
const PAGE: &str = "docs/attack-cases.md";
/// What was mended, each with the tests that show it.
const FAULTS: &str = "docs/known-faults.md";

/// Returns tests that the page names and nobody has, and tests of attacks that it does not name.
pub(super) fn check(house: &RepositoryView) -> Vec<TidyFinding> {
    if !house.has(PAGE) {
        return Vec::new();
    }
    let all: BTreeSet<String> = house
        .files
        .iter()
        .flat_map(|file| file.tests.iter().map(|(name, _)| runner_name(file, name)))
        .collect();
    let mut findings = Vec::new();
    let named: BTreeSet<&str> = spans(house.text(PAGE)).map(|(_, name)| name).collect();
    for page in [PAGE, FAULTS].into_iter().filter(|page| house.has(page)) {
        for (line, name) in spans(house.text(page)).filter(|(_, name)| !all.contains(*name)) {
            let what = format!("there is no test `{name}`");
            findings.push(finding(page, line, name, what, "name the test as `cargo nextest list` does"));
        }
    }
    for file in house.files.iter().filter(|file| is_of_attacks(&file.path)) {
        for (test, line) in &file.tests {
            let name = runner_name(file, test);
            if !named.contains(name.as_str()) {
                let what = format!("`{name}` is not on the page of attacks");
                findings.push(finding(&file.path, *line, test, what, "add it to docs/attack-cases.md"));
            }
        }
    }
    findings
}

/// Returns the tests that a page names, each with its line.
fn spans(page: &str) -> impl Iterator<Item = (usize, &str)> {
    page.lines().enumerate().flat_map(|(index, line)| {
        let spans = line.split('`').skip(1).step_by(2).filter(|span| is_runner_name(span));
        spans.map(move |name| (index + 1, name))
    })
}

fn is_runner_name(span: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || "_-:".contains(c);
    span.starts_with("palyra")
        && span.contains(' ')
        && span.contains("::")
        && span.replacen(' ', "", 1).chars().all(is_word)
}

/// Whether the path names attacks: a file or a folder below `src` or `tests`.
fn is_of_attacks(path: &str) -> bool {
    let names = path.trim_end_matches(".rs").split('/').skip(2);
    names.into_iter().any(|name| name.split('_').any(|word| word == "attacks"))
}

/// Returns a test's name as the runner says it.
fn runner_name(file: &SourceFile, test: &str) -> String {
    let package = if file.crate_folder == "palyra" {
        "palyra".to_owned()
    } else {
        format!("palyra-{}", file.crate_folder)
    };
    let below = file.path.splitn(3, '/').nth(2).unwrap_or_default().trim_end_matches(".rs");
    let mut parts: Vec<&str> = below.split('/').collect();
    let binary = match parts.first() {
        Some(&"tests") if parts.len() > 1 => {
            let binary = parts.remove(1);
            format!("{package}::{binary}")
        }
        _ => package,
    };
    parts.remove(0);
    if parts.last().is_some_and(|last| matches!(*last, "mod" | "main" | "lib")) {
        parts.pop();
    }
    parts.push(test);
    format!("{binary} {}", parts.join("::"))
}

fn finding(path: &str, line: usize, item: &str, what: String, mend: &'static str) -> TidyFinding {
    TidyFinding { path: path.to_owned(), line, rule: RULE, item: item.to_owned(), what, mend }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::house::house;

    const TEST: &str = "#[test]\nfn it_holds() {}\n";

    fn found(page: &str) -> Vec<String> {
        let house = house(&[
            (PAGE, page),
            ("crates/tools/src/attacks/links.rs", TEST),
            ("crates/palyra/tests/e2e/attacks_words.rs", TEST),
            ("crates/run-core/src/machine/tests.rs", TEST),
        ]);
        check(&house).into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn a_mended_fault_names_tests_that_there_are() {
        let house = house(&[
            (PAGE, ""),
            (FAULTS, "| `palyra-tools links::it_holds` `palyra-tools links::gone` |"),
            ("crates/tools/src/links.rs", TEST),
        ]);
        let found: Vec<_> = check(&house).into_iter().map(|finding| finding.what).collect();
        assert_eq!(found, ["there is no test `palyra-tools links::gone`"]);
    }

    const BOTH: &str = "`palyra-tools attacks::links::it_holds` `palyra::e2e attacks_words::it_holds`";

    #[test]
    fn a_page_that_names_what_there_is_is_fine() {
        assert!(found(BOTH).is_empty());
        assert!(
            found(&format!("{BOTH} `palyra-run-core machine::tests::it_holds` `palyra run` `tests::x`"))
                .is_empty()
        );
        assert!(check(&house(&[("crates/a/src/attacks.rs", TEST)])).is_empty(), "without a page");
    }

    #[test]
    fn a_test_that_is_gone_and_one_that_is_not_named_are_found() {
        let page = BOTH.replace("links::it_holds", "links::it_held");
        assert_eq!(
            found(&page),
            [
                "there is no test `palyra-tools attacks::links::it_held`",
                "`palyra-tools attacks::links::it_holds` is not on the page of attacks"
            ]
        );
    }
}
