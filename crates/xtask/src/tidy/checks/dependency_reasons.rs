//! Every third-party crate has a reason in docs/dependencies.md, and a user.
//!
//! Owns matching `[workspace.dependencies]` with the rows of that table and with the manifests.

use std::collections::BTreeSet;

use crate::tidy::finding::TidyFinding;
use crate::tidy::house::RepositoryView;

const RULE: &str = "dependencies";
const TABLE: &str = "docs/dependencies.md";
const ROOT: &str = "Cargo.toml";

/// Returns dependencies without a reason, reasons without a dependency, and dependencies nobody uses.
pub(super) fn check(house: &RepositoryView) -> Vec<TidyFinding> {
    let Ok(root) = house.text(ROOT).parse::<toml::Table>() else { return Vec::new() };
    let listed = root.get("workspace").and_then(|w| w.get("dependencies")).and_then(toml::Value::as_table);
    let third_party: BTreeSet<&str> = listed
        .into_iter()
        .flat_map(toml::Table::iter)
        .filter(|(_, value)| value.get("path").is_none())
        .map(|(name, _)| name.as_str())
        .collect();
    let reasons = reasons(house.text(TABLE));
    let used: BTreeSet<&str> =
        house.crates.iter().flat_map(|c| &c.dependencies).map(|d| d.package.as_str()).collect();

    let mut findings = Vec::new();
    for name in &third_party {
        if !reasons.iter().any(|(_, reason)| reason == name) {
            let what = format!("`{name}` has no line in {TABLE}");
            findings.push(finding(
                ROOT,
                line_of(house.text(ROOT), name),
                name,
                what,
                "say there why it is worth having",
            ));
        }
        if !used.contains(name) {
            let what = format!("no crate uses `{name}`");
            findings.push(finding(
                ROOT,
                line_of(house.text(ROOT), name),
                name,
                what,
                "delete it from the workspace",
            ));
        }
    }
    for (line, name) in reasons.iter().filter(|(_, name)| !third_party.contains(name)) {
        let what = format!("`{name}` is not a dependency of the workspace");
        findings.push(finding(TABLE, *line, name, what, "delete the line"));
    }
    findings
}

/// Returns line and name of each row `| `name` | reason |`.
fn reasons(table: &str) -> Vec<(usize, &str)> {
    let rows = table.lines().enumerate().filter_map(|(index, line)| {
        let mut cells = line.strip_prefix("| `")?.split('|');
        let name = cells.next()?.trim().trim_end_matches('`');
        (cells.next()?.trim().len() > 10).then_some((index + 1, name))
    });
    rows.collect()
}

fn line_of(manifest: &str, name: &str) -> usize {
    let at =
        manifest.lines().position(|l| l.strip_prefix(name).is_some_and(|r| r.trim_start().starts_with('=')));
    at.map_or(1, |index| index + 1)
}

fn finding(path: &str, line: usize, item: &str, what: String, mend: &'static str) -> TidyFinding {
    TidyFinding { path: path.to_owned(), line, rule: RULE, item: item.to_owned(), what, mend }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::house::house;

    fn found(table: &str, manifest: &str) -> Vec<String> {
        let root = "[workspace.dependencies]\npalyra-a = { path = \"a\" }\nserde = \"1\"\n";
        let house = house(&[("Cargo.toml", root), (TABLE, table), ("crates/a/Cargo.toml", manifest)]);
        check(&house).into_iter().map(|f| format!("{}: {}", f.line, f.what)).collect()
    }

    const USER: &str = "[dependencies]\nserde.workspace = true\n";

    #[test]
    fn a_dependency_with_a_reason_and_a_user_is_fine() {
        assert!(found("| `serde` | derives the config's shape |\n", USER).is_empty());
    }

    #[test]
    fn a_dependency_without_a_reason_is_found() {
        assert_eq!(found("| `serde` | |\n", USER), ["3: `serde` has no line in docs/dependencies.md"]);
    }

    #[test]
    fn a_dependency_without_a_user_is_found() {
        assert_eq!(found("| `serde` | derives the config's shape |\n", ""), ["3: no crate uses `serde`"]);
    }

    #[test]
    fn a_reason_for_nothing_is_found() {
        let table = "| `serde` | derives the config's shape |\n| `gone` | was useful once, long ago |\n";
        assert_eq!(found(table, USER), ["2: `gone` is not a dependency of the workspace"]);
    }
}
