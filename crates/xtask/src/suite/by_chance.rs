//! Which tests throw dice: read from the sources, as text.
//!
//! Owns how such a test is recognised. Knows nothing of how it is run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// What a file says whose tests throw dice without taking what was thrown as parameters: schedules of threads, seeds
/// of the suite, recordings split anywhere.
const WORDS: [&str; 3] = ["shuttle::check_", "suite_seed()", "Recordings"];

/// Returns the names of these tests, without their modules, by the folder of their package.
pub(super) fn tests_below(root: &Path) -> Result<BTreeMap<PathBuf, Vec<String>>> {
    let mut found = BTreeMap::new();
    for package in std::fs::read_dir(root.join("crates")).context("could not list the crates")? {
        let package = package.context("could not list the crates")?.path();
        let mut names = Vec::new();
        for folder in ["src", "tests"] {
            walk(&package.join(folder), &mut names)?;
        }
        // Its stories take minutes, and `cargo xtask sim` tells more of them.
        if !names.is_empty() && !package.ends_with("sim") && !package.ends_with("testdaemon") {
            names.sort();
            names.dedup();
            found.insert(package, names);
        }
    }
    Ok(found)
}

fn walk(folder: &Path, names: &mut Vec<String>) -> Result<()> {
    // A package need not have it.
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(()) };
    for entry in entries {
        let path = entry.with_context(|| format!("could not list {}", folder.display()))?.path();
        if path.is_dir() {
            walk(&path, names)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let source = std::fs::read_to_string(&path);
            names.extend(tests_in(&source.with_context(|| format!("could not read {}", path.display()))?));
        }
    }
    Ok(())
}

/// Returns the tests of a file that throw dice: only what a property is given makes a test with parameters.
fn tests_in(source: &str) -> Vec<String> {
    let every = WORDS.iter().any(|word| source.contains(word));
    let tests = source.split("#[test]").skip(1).filter_map(|after| {
        let (_, after) = after.split_once("fn ")?;
        let (name, after) = after.split_once('(')?;
        (every || !after.trim_start().starts_with(')')).then(|| name.to_owned())
    });
    tests.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_with_parameters_is_one_and_so_is_every_one_that_walks_schedules() {
        let source = "#[test]\nfn plain() {}\nproptest! {\n #[test]\n fn any(number: u8) {}\n
            #[test]\n fn of_lines(\n  number in 0..3,\n ) {}\n}";
        assert_eq!(tests_in(source), ["any", "of_lines"]);
        assert_eq!(tests_in("#[test]\nfn story() { shuttle::check_random(a, 3) }"), ["story"]);
    }

    #[test]
    fn the_properties_of_this_repository_are_found() {
        let found = tests_below(&crate::repo::root()).expect("the sources can be read");
        let of = |name: &str| {
            let of = found.iter().find(|(package, _)| package.ends_with(name));
            of.map(|(_, names)| names.len()).unwrap_or_default()
        };
        let least = [("run-core", 10), ("journal", 2), ("ledger", 5), ("policy", 3), ("untrusted", 7)];
        assert!(least.iter().all(|(name, least)| of(name) >= *least), "{found:#?}");
    }
}
