//! The verb: load, write what is generated, check, print.
//!
//! Owns the order of those steps and the exit code. Knows no single rule.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result};

use super::checks;
use super::finding::TidyFinding;
use super::git_commits;
use super::house::RepositoryView;
use super::rules::Rules;
use crate::repo;

/// What happens to generated files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileAction {
    /// They are written anew, then checked like everything else.
    Write,
    /// They are only compared with what would be written.
    Compare,
}

/// Checks the repository this program was built in and prints what is wrong.
pub(crate) fn verb(files: FileAction) -> Result<ExitCode> {
    let started = Instant::now();
    if files == FileAction::Write {
        let (house, rules) = load()?;
        for (path, text) in checks::generated(&house, &rules) {
            let place = repo::root().join(&path);
            if std::fs::read_to_string(&place).is_ok_and(|old| old == text) {
                continue;
            }
            std::fs::write(&place, text).with_context(|| format!("could not write {path}"))?;
            println!("wrote {path}");
        }
    }
    let (house, rules) = load()?;
    let findings = examine(&house, &rules);
    for finding in &findings {
        println!("{finding}");
    }
    let (count, files, millis) = (findings.len(), house.files.len(), started.elapsed().as_millis());
    println!("tidy: {count} findings in {files} source files ({millis} ms)");
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn load() -> Result<(RepositoryView, Rules)> {
    let mut house = RepositoryView::load(&repo::root())?;
    house.missing_commits = git_commits::missing(&repo::root(), &checks::named_commits(&house));
    let rules = Rules::parse(house.text("crates/xtask/tidy.toml"))?;
    Ok((house, rules))
}

fn examine(house: &RepositoryView, rules: &Rules) -> Vec<TidyFinding> {
    let mut findings = rules.excuse(&checks::all(house, rules));
    findings.sort();
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_house_is_tidy() {
        let (house, rules) = load().expect("the repository can be read");
        let findings = examine(&house, &rules);
        let report: Vec<String> = findings.iter().map(ToString::to_string).collect();
        assert!(report.is_empty(), "run `cargo xtask tidy`:\n{}", report.join("\n"));
        assert!(house.files.len() > 50, "the walk missed most of the repository");
    }
}
