//! docs/evidence.md, of which each suite owns the part between its two marks.
//!
//! Owns the marks, and the day and the commit that stand with a result. Leaves everything around a part as it is.

use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::repo;

const DOCUMENT: &str = "docs/evidence.md";

/// A part of the page: who writes it, and with which command.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PagePart {
    /// Its name in the marks.
    pub(crate) name: &'static str,
    /// The command without `cargo xtask` and `--write`.
    pub(crate) command: &'static str,
}

impl PagePart {
    /// The part of a verb that is named like it.
    pub(crate) const fn of(verb: &'static str) -> Self {
        Self { name: verb, command: verb }
    }

    /// Replaces what the part says.
    pub(crate) fn write(self, section: &str) -> Result<()> {
        let path = repo::root().join(DOCUMENT);
        let before = std::fs::read_to_string(&path).with_context(|| format!("could not read {DOCUMENT}"))?;
        let after = self
            .replaced_in(&before, section)
            .with_context(|| format!("{DOCUMENT} has lost the marks of `{}`", self.name))?;
        std::fs::write(&path, after).with_context(|| format!("could not write {DOCUMENT}"))
    }

    fn replaced_in(self, document: &str, section: &str) -> Option<String> {
        let begin = format!("<!-- {}: written by `cargo xtask {} --write` -->", self.name, self.command);
        let end = format!("<!-- {}: end -->", self.name);
        let (head, rest) = document.split_once(&begin)?;
        let (_, tail) = rest.split_once(&end)?;
        Some(format!("{head}{begin}\n{section}{end}{tail}"))
    }
}

/// Returns the day, as `2026-11-21`.
pub(crate) fn day() -> Result<String> {
    stdout_of("date", &["-u", "+%F"])
}

/// Returns what is checked out, and whether it was changed; the page itself does not count, so that several suites
/// may write it one after the other.
pub(crate) fn commit() -> Result<String> {
    let commit = stdout_of("git", &["describe", "--always"])?;
    let but_the_page = format!(":(exclude){DOCUMENT}");
    let changed = stdout_of("git", &["diff", "--name-only", "HEAD", "--", ".", &but_the_page])?;
    Ok(if changed.is_empty() { commit } else { format!("{commit}-dirty") })
}

/// Returns what a program prints, without the line feed.
pub(crate) fn stdout_of(program: &str, arguments: &[&str]) -> Result<String> {
    let output = Command::new(program).args(arguments).current_dir(repo::root()).output();
    let output = output.with_context(|| format!("could not start {program}"))?;
    ensure!(output.status.success(), "{program} failed");
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stands_between_the_marks_is_replaced() {
        let part = PagePart { name: "sim", command: "sim SEED" };
        let with = |section| {
            format!(
                "a\n<!-- sim: written by `cargo xtask sim SEED --write` -->\n{section}<!-- sim: end -->\nb\n"
            )
        };
        assert_eq!(part.replaced_in(&with("old\n"), "new\n"), Some(with("new\n")));
        assert_eq!(part.replaced_in("no marks", "new\n"), None);
    }

    #[test]
    fn the_page_has_the_marks_of_every_suite() {
        let document = std::fs::read_to_string(repo::root().join(DOCUMENT)).expect("it is there");
        let verbs = [
            "real-model",
            "sim",
            "crash",
            "failing-sync",
            "full-disk",
            "powercut",
            "waiting",
            "soak",
            "tamper",
        ];
        let recall = PagePart { name: "redaction-recall", command: "redaction-recall FILE" };
        for part in verbs.map(PagePart::of).into_iter().chain([
            recall,
            crate::failures::GAUNTLET,
            crate::failures::SCHEDULES,
        ]) {
            assert!(part.replaced_in(&document, "").is_some(), "{part:?}");
        }
    }
}
