//! Commits that documents name exist.
//!
//! Owns what a name of a commit is: a code span of twelve hexadecimal digits in Markdown below docs/. Which of them are
//! missing is read from git beforehand, because a check sees texts only.

use crate::tidy::finding::TidyFinding;
use crate::tidy::house::RepositoryView;

const DIGITS: usize = 12;

/// Returns the names of commits that documents use.
pub(in crate::tidy) fn named(house: &RepositoryView) -> Vec<&str> {
    mentions(house).map(|(_, _, commit)| commit).collect()
}

/// Returns each place where a document names a commit that is missing.
pub(super) fn check(house: &RepositoryView) -> Vec<TidyFinding> {
    let missing = mentions(house).filter(|(_, _, commit)| house.missing_commits.contains(*commit));
    let finding = |(path, line, commit): (&str, usize, &str)| TidyFinding {
        path: path.to_owned(),
        line,
        rule: "commits",
        item: commit.to_owned(),
        what: format!("{commit} is no commit of this repository"),
        mend: "name the commit that has this change now: `git log -S`",
    };
    missing.map(finding).collect()
}

fn mentions(house: &RepositoryView) -> impl Iterator<Item = (&str, usize, &str)> {
    let documents = house.texts.iter().filter(|(path, _)| path.starts_with("docs/") && path.ends_with(".md"));
    documents.flat_map(|(path, text)| {
        (1..).zip(text.lines()).flat_map(move |(number, line)| {
            let spans = line.split('`').skip(1).step_by(2).filter(|span| is_commit(span));
            spans.map(move |commit| (path.as_str(), number, commit))
        })
    })
}

fn is_commit(span: &str) -> bool {
    span.len() == DIGITS && span.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::house::house;

    #[test]
    fn a_document_that_names_a_missing_commit_is_found_with_its_line() {
        let page =
            "Commits:\n`0123456789ab` adds it, `ba9876543210` shows it; `0123456789AB` and `abc` are none.\n";
        let texts = [("docs/how-to/a.md", page), ("README.md", "`0123456789ab`"), ("docs/a.txt", page)];
        let mut house = house(&texts);
        assert_eq!(named(&house), ["0123456789ab", "ba9876543210"]);
        assert_eq!(check(&house), []);
        house.missing_commits.insert("ba9876543210".to_owned());
        let found = check(&house);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].path.as_str(), found[0].line), ("docs/how-to/a.md", 2));
        assert_eq!(found[0].item, "ba9876543210");
    }
}
