//! All texts of errors in one file, so that each change of words shows in a review.
//!
//! Owns the text of `docs/reference/messages.txt`: the table of error codes and every `#[error("...")]`.
//! `cargo xtask tidy --write` writes it. The help pages beside it are written by `cargo xtask help-pages`.

use std::fmt::Write as _;

use crate::tidy::finding::TidyFinding;
use crate::tidy::house::RepositoryView;
use crate::tidy::source::FilePlace;

const PATH: &str = "docs/reference/messages.txt";
const CODES: &str = "crates/types/src/error_code.rs";

/// Returns path and text of the file, or nothing where no message exists.
pub(super) fn expected(house: &RepositoryView) -> Vec<(String, String)> {
    let codes = house.files.iter().filter(|f| f.path == CODES).flat_map(|f| &f.error_codes);
    let mut text = String::new();
    for code in codes {
        let _ = writeln!(text, "PLY-{} {}\n  {}\n  fix: {}", code.number, code.slug, code.summary, code.mend);
    }
    for file in house.files.iter().filter(|f| f.place == FilePlace::Source && !f.error_texts.is_empty()) {
        let _ = writeln!(text, "\n{}", file.path);
        for message in &file.error_texts {
            let _ = writeln!(text, "  {message}");
        }
    }
    if text.is_empty() {
        return Vec::new();
    }
    let header =
        "Error codes, then the texts of errors by source file. Written by `cargo xtask tidy --write`.\n\n";
    vec![(PATH.to_owned(), format!("{header}{text}"))]
}

/// Returns the file where it is missing or differs from what would be written.
pub(super) fn check(house: &RepositoryView) -> Vec<TidyFinding> {
    let stale = expected(house).into_iter().filter(|(path, text)| house.text(path) != text);
    let findings = stale.map(|(path, _)| TidyFinding {
        item: path.clone(),
        path,
        line: 1,
        rule: "messages",
        what: "a message changed, and this file does not show it".to_owned(),
        mend: "run `cargo xtask tidy --write` and read the difference",
    });
    findings.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::house::house;

    const TABLE: &str =
        "codes! {\n    Lost = 1201, \"lost\", \"It is lost.\",\n        \"look for it\";\n}\n";
    const ENUM: &str = "enum E {\n    #[error(\"no {0} here\")]\n    A(u8),\n}\n";

    #[test]
    fn codes_and_texts_of_errors_are_listed() {
        let bare = house(&[(CODES, TABLE), ("crates/a/src/b.rs", ENUM)]);
        let (path, text) = expected(&bare).remove(0);
        assert!(text.ends_with(
            "PLY-1201 lost\n  It is lost.\n  fix: look for it\n\ncrates/a/src/b.rs\n  no {0} here\n"
        ));
        assert_eq!(check(&bare).len(), 1, "the file is missing");
        let listed = |words: &str| {
            let source = ENUM.replace("no {0} here", words);
            check(&house(&[(CODES, TABLE), ("crates/a/src/b.rs", &source), (&path, &text)])).len()
        };
        assert_eq!(listed("no {0} here"), 0);
        assert_eq!(listed("no {0} there"), 1, "another message, which the file does not have");
    }
}
