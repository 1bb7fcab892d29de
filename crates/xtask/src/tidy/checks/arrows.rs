//! Dependencies between the crates of the workspace point only where the table allows.
//!
//! Owns the comparison of manifests with the table; code needs no look, since cargo lets it name
//! only what its manifest names.

use crate::tidy::finding::TidyFinding;
use crate::tidy::house::{CrateFolder, Dependency, RepositoryView, Table};
use crate::tidy::rules::{CrateRule, Rules};

const RULE: &str = "arrows";
const MEND: &str =
    "hand the value in from above, or change the table in crates/xtask/tidy.toml in a commit of its own";

/// Returns every dependency that the table does not name.
pub(super) fn check(house: &RepositoryView, rules: &Rules) -> Vec<TidyFinding> {
    let mut findings = Vec::new();
    for folder in &house.crates {
        let Some(rule) = rules.crates.get(&folder.folder) else {
            findings.push(finding(folder, 1, format!("crate `{}` has no place in the table", folder.folder)));
            continue;
        };
        for dependency in &folder.dependencies {
            if let Some(target) = target(house, &dependency.package)
                && !allowed(rule, &folder.folder, target, dependency)
            {
                let kind = if dependency.table == Table::Tests { "tests of " } else { "" };
                let what = format!("{kind}`{}` ({}) must not import `{target}`", folder.folder, rule.floor);
                findings.push(finding(folder, dependency.line, what));
            }
        }
    }
    findings
}

fn allowed(rule: &CrateRule, own: &str, target: &str, dependency: &Dependency) -> bool {
    rule.uses.contains(target)
        || (dependency.table == Table::Tests && (own == target || rule.tests_use.contains(target)))
}

fn target<'a>(house: &'a RepositoryView, package: &str) -> Option<&'a str> {
    let folder = package.strip_prefix("palyra-").unwrap_or(package);
    house.crates.iter().map(|c| c.folder.as_str()).find(|f| *f == folder)
}

fn finding(folder: &CrateFolder, line: usize, what: String) -> TidyFinding {
    TidyFinding {
        path: folder.manifest.clone(),
        line,
        rule: RULE,
        item: folder.folder.clone(),
        what,
        mend: MEND,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::house::house;

    fn rules() -> Rules {
        let table = |uses: &[&str], tests: &[&str]| CrateRule {
            floor: "F1".to_owned(),
            uses: uses.iter().map(|s| (*s).to_owned()).collect(),
            tests_use: tests.iter().map(|s| (*s).to_owned()).collect(),
            ..CrateRule::default()
        };
        let crates = [
            ("types", table(&[], &[])),
            ("policy", table(&["types"], &["testkit"])),
            ("testkit", table(&["types"], &[])),
        ];
        Rules { crates: crates.map(|(n, t)| (n.to_owned(), t)).into(), ..Rules::default() }
    }

    fn found(policy_manifest: &str) -> Vec<String> {
        let house = house(&[
            ("crates/types/Cargo.toml", ""),
            ("crates/testkit/Cargo.toml", ""),
            ("crates/policy/Cargo.toml", policy_manifest),
        ]);
        check(&house, &rules()).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_the_table_names_is_allowed() {
        let manifest = "[dependencies]\npalyra-types.workspace = true\nserde = \"1\"\n\
                        [dev-dependencies]\npalyra-testkit.workspace = true\n";
        assert_eq!(found(manifest), [""; 0]);
    }

    #[test]
    fn an_arrow_that_is_not_in_the_table_is_found_with_its_line() {
        let found = found("[dependencies]\npalyra-types.workspace = true\npalyra-testkit.workspace = true\n");
        assert_eq!(found.len(), 1);
        assert!(
            found[0]
                .starts_with("crates/policy/Cargo.toml:3: [arrows] `policy` (F1) must not import `testkit`")
        );
    }

    #[test]
    fn build_scripts_are_held_to_the_same_table() {
        assert_eq!(found("[build-dependencies]\npalyra-testkit.workspace = true\n").len(), 1);
    }

    #[test]
    fn a_crate_outside_the_table_is_found() {
        let house = house(&[("crates/surprise/Cargo.toml", "")]);
        assert_eq!(check(&house, &rules()).len(), 1);
    }
}
