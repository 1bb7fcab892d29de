//! Writes the OpenAPI document of the HTTP API.
//!
//! Owns only the command: the test that compares the document with `docs/reference/openapi.json` also writes it.

use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::repo;

/// Runs the test of the document with the variable that makes it write the file.
pub(crate) fn verb() -> Result<ExitCode> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["test", "--package", "palyra-http", "--test", "openapi"]);
    let status = command
        .env("PALYRA_WRITE_OPENAPI", "1")
        .current_dir(repo::root())
        .status()
        .context("could not start cargo")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
