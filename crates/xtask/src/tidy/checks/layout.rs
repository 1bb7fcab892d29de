//! Every file says what it is; `lib.rs` and `mod.rs` are tables of contents; folders stay shallow.
//!
//! Owns the rules a reader meets before the first function.

use crate::tidy::finding::TidyFinding;
use crate::tidy::house::RepositoryView;
use crate::tidy::rules::{Rules, SizeCaps};
use crate::tidy::source::{FilePlace, SourceFile};

/// Returns files without header, tables of contents with logic, and folders too deep.
pub(super) fn check(house: &RepositoryView, rules: &Rules) -> Vec<TidyFinding> {
    let mut findings: Vec<TidyFinding> = house.files.iter().filter_map(header).collect();
    for file in house.files.iter().filter(|f| f.place == FilePlace::Source) {
        findings.extend(logic(file));
        findings.extend(depth(file, &rules.caps));
    }
    findings.extend(architecture(house, &rules.caps));
    findings
}

fn header(file: &SourceFile) -> Option<TidyFinding> {
    (!file.has_header).then(|| TidyFinding {
        path: file.path.clone(),
        line: 1,
        rule: "header",
        item: file.path.clone(),
        what: "the file does not begin with a `//!` header".to_owned(),
        mend: "say what it owns, what it refuses to know, its invariant and where to begin",
    })
}

fn logic(file: &SourceFile) -> Vec<TidyFinding> {
    let name = file.path.rsplit('/').next().unwrap_or_default();
    if !matches!(name, "lib.rs" | "mod.rs") {
        return Vec::new();
    }
    let findings = file.logic.iter().map(|(line, kind)| TidyFinding {
        path: file.path.clone(),
        line: *line,
        rule: "contents-only",
        item: file.path.clone(),
        what: format!("{name} holds {kind}"),
        mend: "move it to a file of its own; here belong only `mod` lines in reading order and re-exports",
    });
    findings.collect()
}

fn depth(file: &SourceFile, caps: &SizeCaps) -> Option<TidyFinding> {
    let below = file.path.split("/src/").nth(1).unwrap_or_default();
    let folders = below.matches('/').count();
    (folders > caps.folders_below_src_max).then(|| TidyFinding {
        path: file.path.clone(),
        line: 1,
        rule: "depth",
        item: file.path.clone(),
        what: format!("{folders} folders below src, cap {}", caps.folders_below_src_max),
        mend: "lift the folder one level, or make it a crate",
    })
}

fn architecture(house: &RepositoryView, caps: &SizeCaps) -> Option<TidyFinding> {
    let path = "ARCHITECTURE.md";
    let lines = house.text(path).lines().count();
    (lines > caps.architecture_lines_max).then(|| TidyFinding {
        path: path.to_owned(),
        line: caps.architecture_lines_max,
        rule: "file-lines",
        item: path.to_owned(),
        what: format!("{lines} lines, cap {}", caps.architecture_lines_max),
        mend: "keep what a newcomer needs; the rest belongs in file headers or docs/decisions",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::house::house;

    fn found(path: &str, text: &str) -> Vec<(usize, &'static str)> {
        let caps = SizeCaps { folders_below_src_max: 3, architecture_lines_max: 2, ..SizeCaps::default() };
        let rules = Rules { caps, ..Rules::default() };
        check(&house(&[(path, text)]), &rules).iter().map(|f| (f.line, f.rule)).collect()
    }

    #[test]
    fn a_file_without_header_is_found_wherever_it_is() {
        assert_eq!(found("crates/a/src/b.rs", "fn a() {}"), [(1, "header")]);
        assert_eq!(found("crates/a/tests/b.rs", "fn a() {}"), [(1, "header")]);
        assert!(found("crates/a/src/b.rs", "//! Owns the thing.\nfn a() {}").is_empty());
    }

    #[test]
    fn logic_in_a_table_of_contents_is_found() {
        let text = "//! Owns the thing.\nmod a;\npub use a::B;\nfn c() {}\n";
        assert_eq!(found("crates/a/src/lib.rs", text), [(4, "contents-only")]);
        assert_eq!(found("crates/a/src/b/mod.rs", text), [(4, "contents-only")]);
        assert!(found("crates/a/src/b.rs", text).is_empty());
    }

    #[test]
    fn generated_code_may_be_included_there() {
        let text = "//! Owns the schemas.\npub mod v1 { tonic::include_proto!(\"x\"); }\n\
                    pub const SET: &[u8] = include_bytes!(\"y\");\n";
        assert!(found("crates/a/src/lib.rs", text).is_empty());
    }

    #[test]
    fn a_folder_too_deep_is_found() {
        assert_eq!(found("crates/a/src/1/2/3/4/b.rs", "//! Owns the thing."), [(1, "depth")]);
        assert!(found("crates/a/src/1/2/3/b.rs", "//! Owns the thing.").is_empty());
    }

    #[test]
    fn a_long_architecture_is_found() {
        assert_eq!(found("ARCHITECTURE.md", "a\nb\nc\n"), [(2, "file-lines")]);
    }
}
