//! Every seed name has a row in ARCHITECTURE.md, and the row leads to an item that exists.
//!
//! Owns reading that table: `| seed name | crate::module::Item | ... |`, or `*later*` in the second
//! column. Methods are written `crate::module::Type::method`.

use std::collections::BTreeMap;

use crate::tidy::finding::TidyFinding;
use crate::tidy::house::RepositoryView;
use crate::tidy::rules::Rules;

const RULE: &str = "seed-names";
const TABLE: &str = "ARCHITECTURE.md";

/// Returns seed names without a row, rows without a seed name, and rows that lead nowhere.
pub(super) fn check(house: &RepositoryView, rules: &Rules) -> Vec<TidyFinding> {
    let seeds = &rules.names.seeds;
    let rows = rows(house.text(TABLE));
    let mut findings = Vec::new();
    for missing in seeds.iter().filter(|name| !rows.contains_key(name.as_str())) {
        let what = format!("seed name `{missing}` has no row");
        findings.push(finding(missing, 1, what, "add a row that says where it lives, or *later*"));
    }
    for (name, (line, target)) in &rows {
        if !seeds.contains(*name) {
            let what = format!("`{name}` is not a seed name");
            findings.push(finding(
                name,
                *line,
                what,
                "delete the row, or list the name in crates/xtask/tidy.toml",
            ));
        } else if *target != "*later*" && !exists(house, target.trim_matches('`')) {
            let what = format!("`{name}` leads to {target}, which does not exist");
            findings.push(finding(
                name,
                *line,
                what,
                "correct the path (crate::module::Item), or say *later*",
            ));
        }
    }
    findings
}

/// Returns seed name to its line and second column, from rows that begin with a name in backticks.
fn rows(table: &str) -> BTreeMap<&str, (usize, &str)> {
    let mut rows = BTreeMap::new();
    let mut inside = false;
    for (index, line) in table.lines().enumerate() {
        if line.starts_with('#') {
            inside = line.to_lowercase().contains("seed name");
        }
        let mut cells = line.split('|').map(str::trim).skip(1);
        if let (true, Some(name), Some(target)) = (inside, cells.next(), cells.next())
            && let Some(name) = name.strip_prefix('`').and_then(|n| n.strip_suffix('`'))
        {
            rows.insert(name, (index + 1, target));
        }
    }
    rows
}

fn exists(house: &RepositoryView, target: &str) -> bool {
    let parts: Vec<&str> = target.split("::").collect();
    let [folder, path @ ..] = &parts[..] else { return false };
    let folder = folder.replace('_', "-");
    house.files.iter().filter(|f| f.crate_folder == folder).any(|file| {
        file.items.iter().any(|item| {
            let module = item.module.iter().map(String::as_str);
            let name = item.name.split("::");
            module.chain(name).eq(path.iter().copied())
        })
    })
}

fn finding(item: &str, line: usize, what: String, mend: &'static str) -> TidyFinding {
    TidyFinding { path: TABLE.to_owned(), line, rule: RULE, item: item.to_owned(), what, mend }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::house::house;
    use crate::tidy::rules::NameRules;

    fn found(table: &str) -> Vec<String> {
        let names =
            NameRules { seeds: ["Machine".to_owned(), "step".to_owned()].into(), ..NameRules::default() };
        let rules = Rules { names, ..Rules::default() };
        let house = house(&[
            ("ARCHITECTURE.md", &format!("# Seed names\n{table}")),
            ("crates/run-core/src/machine.rs", "pub struct Machine;\nimpl Machine { fn step() {} }"),
        ]);
        check(&house, &rules).into_iter().map(|f| f.what).collect()
    }

    #[test]
    fn rows_that_lead_somewhere_are_fine() {
        let table = "| `Machine` | `run_core::machine::Machine` | x |\n| `step` | `run_core::machine::Machine::step` |\n";
        assert!(found(table).is_empty());
        assert!(found("| `Machine` | *later* |\n| `step` | *later* |\n").is_empty());
    }

    #[test]
    fn a_row_that_leads_nowhere_is_found() {
        let table = "| `Machine` | `run_core::motor::Machine` |\n| `step` | `run_core::machine::step` |\n";
        assert_eq!(found(table).len(), 2);
    }

    #[test]
    fn a_missing_row_and_an_unknown_row_are_found() {
        let found = found("| `Machine` | *later* |\n| `Motor` | *later* |\n");
        assert_eq!(found, ["seed name `step` has no row", "`Motor` is not a seed name"]);
    }

    #[test]
    fn rows_of_other_tables_do_not_count() {
        let table = "| `Machine` | *later* |\n| `step` | *later* |\n# Glossary\n| `Motor` | a thing |\n";
        assert!(found(table).is_empty());
    }
}
