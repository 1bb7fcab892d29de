//! The part of docs/evidence.md that `--write` writes.
//!
//! Owns what stands between its two marks; leaves everything around them as it is.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::table::{self, Row};
use crate::repo;

const DOCUMENT: &str = "docs/evidence.md";
const BEGIN: &str = "<!-- tamper: written by `cargo xtask tamper --write` -->";
const END: &str = "<!-- tamper: end -->";

/// Writes what was found into the document.
pub(super) fn write(rows: &[Row], mutations: u64, seconds: u64, tamper: &Path) -> Result<()> {
    let path = repo::root().join(DOCUMENT);
    let before = std::fs::read_to_string(&path).with_context(|| format!("could not read {DOCUMENT}"))?;
    let verifier = tamper.with_file_name("../palyra-verify").metadata();
    let section = format!(
        "\nOn {}, at `{}`, {mutations} of each, in {seconds} s; the `palyra-verify` built with it has {} bytes:\n\n{}",
        say("date", &["-u", "+%F"])?,
        say("git", &["describe", "--always", "--dirty"])?,
        verifier.map(|data| data.len()).unwrap_or_default(),
        table::markdown(rows),
    );
    let after = between_marks(&before, &section)
        .with_context(|| format!("{DOCUMENT} has lost the marks `{BEGIN}` and `{END}`"))?;
    std::fs::write(&path, after).with_context(|| format!("could not write {DOCUMENT}"))
}

fn between_marks(document: &str, section: &str) -> Option<String> {
    let (head, rest) = document.split_once(BEGIN)?;
    let (_, tail) = rest.split_once(END)?;
    Some(format!("{head}{BEGIN}\n{section}{END}{tail}"))
}

fn say(program: &str, arguments: &[&str]) -> Result<String> {
    let output = Command::new(program).args(arguments).current_dir(repo::root()).output();
    let output = output.with_context(|| format!("could not start {program}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_has_its_marks() {
        let document = std::fs::read_to_string(repo::root().join(DOCUMENT)).expect("it is there");
        let written = between_marks(&document, "new\n").expect("its marks are there");
        assert!(written.contains(&format!("{BEGIN}\nnew\n{END}")));
    }
}
