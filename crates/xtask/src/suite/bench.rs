//! The bench crate, built in release mode.
//!
//! Owns only how it is started; what it measures is its own.

use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::repo;

/// Runs the bench crate with `arguments` and returns its exit code.
pub(crate) fn bench(arguments: &[String]) -> Result<ExitCode> {
    let status = Command::new("cargo")
        .args(["run", "--quiet", "--release", "--locked", "--package", "palyra-bench", "--"])
        .args(arguments)
        .current_dir(repo::root())
        .status()
        .context("could not start cargo")?;
    let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
    Ok(ExitCode::from(code))
}
