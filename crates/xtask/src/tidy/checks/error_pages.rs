//! Every error code has a page, every page a code, and the index names them all.
//!
//! Owns reading the table in `crates/types/src/error_code.rs`, whose rows look like
//! `Name = 1234, "slug", "one line"`. Silent while that file does not exist.

use std::collections::BTreeMap;

use crate::tidy::finding::TidyFinding;
use crate::tidy::house::RepositoryView;
use crate::tidy::source::ErrorCodeRow;

const RULE: &str = "error-pages";
const CODES: &str = "crates/types/src/error_code.rs";
const PAGES: &str = "docs/errors/";
const INDEX: &str = "docs/errors/README.md";

/// Returns codes without page, pages without code, and codes missing from the index.
pub(super) fn check(house: &RepositoryView) -> Vec<TidyFinding> {
    let Some(source) = house.files.iter().find(|f| f.path == CODES) else { return Vec::new() };
    let codes: BTreeMap<String, &ErrorCodeRow> =
        source.error_codes.iter().map(|row| (format!("PLY-{}", row.number), row)).collect();
    let mut findings = Vec::new();
    if codes.is_empty() {
        let what = "no row `Name = 1234, \"slug\", ...` was found".to_owned();
        findings.push(finding(CODES, 1, "", what, "keep the shape of the table"));
    }
    for (code, row) in &codes {
        let page = house.text(&format!("{PAGES}{code}.md"));
        let title = format!("# {code} {}", row.slug);
        if page.lines().next() != Some(title.as_str()) {
            let mend = "write docs/errors/<code>.md: that title, the cause, what to do";
            findings.push(finding(CODES, row.line, code, format!("no page begins with `{title}`"), mend));
        }
        if !house.text(INDEX).contains(code.as_str()) {
            findings.push(finding(INDEX, 1, code, format!("{code} is not in the index"), "add a row"));
        }
    }
    for path in house.texts.keys() {
        let code = path.strip_prefix(PAGES).and_then(|p| p.strip_suffix(".md")).filter(|c| *c != "README");
        if let Some(code) = code.filter(|code| !codes.contains_key(*code)) {
            findings.push(finding(path, 1, code, format!("{code} is no error code"), "delete the page"));
        }
    }
    findings
}

fn finding(path: &str, line: usize, item: &str, what: String, mend: &'static str) -> TidyFinding {
    TidyFinding { path: path.to_owned(), line, rule: RULE, item: item.to_owned(), what, mend }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::house::house;

    const TABLE: &str = "codes! {\n    NotFound = 1201, \"not_found\", \"There is no such thing.\";\n}\n";

    fn found(documents: &[(&str, &str)]) -> Vec<String> {
        let mut texts = vec![(CODES, TABLE)];
        texts.extend(documents);
        check(&house(&texts)).into_iter().map(|f| f.what).collect()
    }

    #[test]
    fn a_code_with_page_and_index_is_fine() {
        let documents = [("docs/errors/PLY-1201.md", "# PLY-1201 not_found\n"), (INDEX, "PLY-1201")];
        assert!(found(&documents).is_empty());
    }

    #[test]
    fn a_code_without_page_is_found() {
        assert_eq!(found(&[(INDEX, "PLY-1201")]), ["no page begins with `# PLY-1201 not_found`"]);
        assert_eq!(
            found(&[]),
            ["no page begins with `# PLY-1201 not_found`", "PLY-1201 is not in the index"]
        );
    }

    #[test]
    fn a_page_without_code_is_found() {
        let documents = [
            ("docs/errors/PLY-1201.md", "# PLY-1201 not_found"),
            ("docs/errors/PLY-9.md", ""),
            (INDEX, "PLY-1201"),
        ];
        assert_eq!(found(&documents), ["PLY-9 is no error code"]);
    }

    #[test]
    fn an_unreadable_table_is_found() {
        let house = house(&[(CODES, "pub enum ErrorCode {}\n")]);
        assert_eq!(check(&house).len(), 1);
    }
}
