//! Nothing grows past its cap: files, functions, parameter lists, crates.
//!
//! Owns the comparison with the caps in `tidy.toml`. Tests do not count, generated code is not in the tree.

use std::collections::BTreeMap;

use crate::tidy::finding::TidyFinding;
use crate::tidy::house::RepositoryView;
use crate::tidy::rules::{Rules, SizeCaps};
use crate::tidy::source::{FilePlace, FunctionFacts, SourceFile};

/// Returns everything that is over its cap.
pub(super) fn check(house: &RepositoryView, rules: &Rules) -> Vec<TidyFinding> {
    let caps = &rules.caps;
    let mut findings = Vec::new();
    for file in house.files.iter().filter(|f| matches!(f.place, FilePlace::Source | FilePlace::OwnTarget)) {
        findings.extend(check_file(file, caps));
        findings.extend(file.functions.iter().flat_map(|function| check_function(file, function, caps)));
    }
    findings.extend(check_crates(house, rules));
    findings
}

fn check_file(file: &SourceFile, caps: &SizeCaps) -> Vec<TidyFinding> {
    let mut findings = Vec::new();
    let (lines, most) = (file.lines_without_tests, caps.file_lines_max);
    if lines > most {
        findings.push(TidyFinding {
            path: file.path.clone(),
            line: most,
            rule: "file-lines",
            item: file.path.clone(),
            what: format!("{lines} lines without tests, cap {most}"),
            mend: "split it where its header needs the word \"and\"",
        });
    }
    let (lines, most) = (file.inline_test_lines, caps.inline_test_lines_max);
    if lines > most {
        findings.push(TidyFinding {
            path: file.path.clone(),
            line: file.lines_without_tests,
            rule: "inline-tests",
            item: file.path.clone(),
            what: format!("{lines} lines of tests inside the file, cap {most}"),
            mend: "move them to a tests.rs in the folder named like the module",
        });
    }
    findings
}

fn check_function(file: &SourceFile, function: &FunctionFacts, caps: &SizeCaps) -> Vec<TidyFinding> {
    let finding = |rule, what, mend| TidyFinding {
        path: file.path.clone(),
        line: function.line,
        rule,
        item: function.name.clone(),
        what,
        mend,
    };
    let mut findings = Vec::new();
    let (name, lines, most) = (&function.name, function.lines, caps.function_lines_max);
    if lines > most {
        let what = format!("`{name}` has {lines} lines, cap {most}");
        findings.push(finding("function-lines", what, "name its steps and make each a function below it"));
    }
    let (parameters, most) = (function.parameters, caps.parameters_max);
    if parameters > most {
        let what = format!("`{name}` takes {parameters} parameters, cap {most}");
        findings.push(finding("parameters", what, "find the missing noun and pass that"));
    }
    findings
}

fn check_crates(house: &RepositoryView, rules: &Rules) -> Vec<TidyFinding> {
    let caps = &rules.caps;
    let mut sizes: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for file in house.files.iter().filter(|f| matches!(f.place, FilePlace::Source | FilePlace::OwnTarget)) {
        let (all, long) = sizes.entry(&file.crate_folder).or_default();
        *all += file.lines_without_tests;
        if file.lines_without_tests > caps.long_file_lines {
            *long += file.lines_without_tests;
        }
    }
    let mut findings = Vec::new();
    for (folder, (all, long)) in sizes {
        let finding = |rule, what, mend| TidyFinding {
            path: format!("crates/{folder}/Cargo.toml"),
            line: 1,
            rule,
            item: folder.to_owned(),
            what,
            mend,
        };
        let own_cap = rules.crates.get(folder).and_then(|rule| rule.lines_max);
        let most = own_cap.unwrap_or(caps.crate_lines_max);
        if all > most {
            let what = format!("crate `{folder}` has {all} lines, cap {most}");
            findings.push(finding("crate-lines", what, "find the second crate inside it"));
        }
        let percent = (long * 100).checked_div(all).unwrap_or_default();
        if all > caps.long_files_from_crate_lines && percent > caps.long_files_percent_max {
            let what = format!(
                "{percent} % of crate `{folder}` is in files over {} lines, cap {} %",
                caps.long_file_lines, caps.long_files_percent_max
            );
            findings.push(finding("long-files", what, "split the longest files first"));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::house::house;
    use crate::tidy::rules::CrateRule;

    fn found(path: &str, text: &str) -> Vec<&'static str> {
        let caps = SizeCaps {
            file_lines_max: 8,
            function_lines_max: 2,
            parameters_max: 2,
            crate_lines_max: 10,
            long_file_lines: 5,
            long_files_percent_max: 50,
            long_files_from_crate_lines: 6,
            inline_test_lines_max: 4,
            ..SizeCaps::default()
        };
        let small = CrateRule { lines_max: Some(4), ..CrateRule::default() };
        let rules = Rules { caps, crates: [("small".to_owned(), small)].into(), ..Rules::default() };
        check(&house(&[(path, text)]), &rules).iter().map(|f| f.rule).collect()
    }

    #[test]
    fn a_file_over_its_cap_is_found() {
        let nine = "const A: u8 = 0;\n".repeat(9);
        assert_eq!(found("crates/a/src/b.rs", &nine), ["file-lines", "long-files"]);
        assert!(found("crates/a/tests/b.rs", &nine).is_empty());
        assert!(found("crates/a/src/b.rs", &"const A: u8 = 0;\n".repeat(5)).is_empty());
    }

    #[test]
    fn a_crate_over_its_cap_is_found() {
        let eleven = "const A: u8 = 0;\n".repeat(11);
        assert!(found("crates/a/src/b.rs", &eleven).contains(&"crate-lines"));
    }

    #[test]
    fn a_crate_may_have_a_cap_of_its_own() {
        let of = |lines: usize| found("crates/small/src/b.rs", &"const A: u8 = 0;\n".repeat(lines));
        assert_eq!((of(4), of(5)), (vec![], vec!["crate-lines"]));
    }

    #[test]
    fn a_function_over_its_caps_is_found() {
        assert_eq!(found("crates/a/src/b.rs", "fn a() {\n x();\n y();\n z();\n}\n"), ["function-lines"]);
        assert_eq!(found("crates/a/src/b.rs", "fn a(a: u8, b: u8, c: u8) {}\n"), ["parameters"]);
        assert!(found("crates/a/src/b.rs", "fn a(a: u8, b: u8) {\n x();\n y();\n}\n").is_empty());
    }

    #[test]
    fn long_inline_tests_are_found() {
        let tests = "#[cfg(test)]\nmod tests {\n//\n//\n}\n";
        assert_eq!(found("crates/a/src/b.rs", tests), ["inline-tests"]);
    }
}
