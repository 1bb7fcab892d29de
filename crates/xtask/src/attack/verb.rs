//! The attack suite, built as tests are, and run as whoever runs this.
//!
//! Owns only how it is built and started; what it does is the attack crate's own.

use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::repo;

/// What the verb takes.
#[derive(Debug, Args)]
pub(crate) struct AttackOptions {
    /// Prints a line of JSON for each pair, and one with the counts.
    #[arg(long)]
    json: bool,
    /// Carries out only the pairs whose text holds this, such as `36/`, or one part such as `fetch`.
    #[arg(long, value_name = "PATTERN")]
    only: Option<String>,
    /// Does not fail because the half as root was not carried out.
    #[arg(long)]
    as_user_only: bool,
    /// Carries out each pair as one of the two users, where both could; another number divides them in another way.
    #[arg(long, value_name = "SEED")]
    each_once: Option<u64>,
}

/// Builds the suite, carries it out, and returns its exit code.
pub(crate) fn verb(options: &AttackOptions) -> Result<ExitCode> {
    let mut build = Command::new("cargo");
    build.args(["build", "--quiet", "--locked", "--package", "palyra-attack", "--bin", "palyra-attack"]);
    // The program that ships is attacked as well.
    build.args(["--package", "palyra", "--bin", "palyra"]);
    let status = build.current_dir(repo::root()).status().context("could not start cargo")?;
    ensure!(status.success(), "cargo could not build palyra-attack");
    let mut suite = built();
    for (name, given) in [("--json", options.json), ("--as-user-only", options.as_user_only)] {
        if given {
            suite.arg(name);
        }
    }
    if let Some(only) = &options.only {
        suite.args(["--only", only]);
    }
    if let Some(seed) = options.each_once {
        suite.arg("--each-once").arg(seed.to_string());
    }
    let status = suite.status().context("could not start the attack suite")?;
    Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
}

/// Returns the suite as it was built.
pub(crate) fn built() -> Command {
    let mut suite = Command::new(repo::target().join("debug/palyra-attack"));
    suite.current_dir(repo::root());
    suite
}
