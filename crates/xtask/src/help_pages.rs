//! Writes the file of all help pages.
//!
//! Owns only the command: the test that compares the pages with `docs/reference/help.txt` also writes them.

use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::repo;

/// Runs the test of the help pages with the variable that makes it write the file.
pub(crate) fn verb() -> Result<ExitCode> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["test", "--package", "palyra", "--test", "cli", "help_pages::"]);
    let status = command
        .env("PALYRA_WRITE_HELP_PAGES", "1")
        .current_dir(repo::root())
        .status()
        .context("could not start cargo")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
