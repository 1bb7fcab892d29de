//! The simulator, built as tests are: with every assertion, and with nothing that tests did not build already.
//!
//! Owns only how it is built and started; what it does is the sim crate's own.

use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};
use clap::Args;

use super::evidence;
use crate::repo;

/// What the verb takes.
#[derive(Debug, Args)]
pub(crate) struct SimOptions {
    /// Tells the story of this seed only, twice, and says what happened.
    seed: Option<u64>,
    /// How many stories to tell instead; the default is enough to reach every cell of the matrix.
    #[arg(long, conflicts_with = "seed")]
    seeds: Option<u64>,
    /// The first seed.
    #[arg(long, conflicts_with = "seed")]
    from: Option<u64>,
    /// Lives through so many weeks of usual work instead, for each of 20 seeds or as many as are named: no incident of
    /// self-healing may be opened.
    #[arg(long, value_name = "N", conflicts_with_all = ["seed", "write"])]
    weeks: Option<u64>,
    /// Prints one JSON document.
    #[arg(long)]
    json: bool,
    /// Prints everything that happened, from the first step on.
    #[arg(long, requires = "seed")]
    all: bool,
    /// Writes what was found into docs/evidence.md.
    #[arg(long, conflicts_with = "seed")]
    write: bool,
}

/// Builds the simulator, runs it, and returns its exit code.
pub(crate) fn verb(options: &SimOptions) -> Result<ExitCode> {
    let root = repo::root();
    let mut build = Command::new("cargo");
    build.args(["build", "--quiet", "--locked", "--package", "palyra-sim", "--bin", "palyra-sim"]);
    let status = build.current_dir(&root).status().context("could not start cargo")?;
    ensure!(status.success(), "cargo could not build palyra-sim");
    let mut simulator = Command::new(repo::target().join("debug/palyra-sim"));
    simulator.args(arguments(options)).current_dir(&root);
    if options.write {
        let output = simulator.arg("--json").output().context("could not start the simulator")?;
        eprint!("{}", String::from_utf8_lossy(&output.stderr));
        evidence::write(&String::from_utf8_lossy(&output.stdout))?;
        return Ok(code(output.status.code()));
    }
    let status = simulator.status().context("could not start the simulator")?;
    Ok(code(status.code()))
}

fn arguments(options: &SimOptions) -> Vec<String> {
    let mut arguments: Vec<String> = options.seed.iter().map(u64::to_string).collect();
    for (name, value) in [("--seeds", options.seeds), ("--from", options.from), ("--weeks", options.weeks)] {
        if let Some(value) = value {
            arguments.extend([name.to_owned(), value.to_string()]);
        }
    }
    for (name, given) in [("--json", options.json && !options.write), ("--all", options.all)] {
        if given {
            arguments.push(name.to_owned());
        }
    }
    arguments
}

fn code(code: Option<i32>) -> ExitCode {
    ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}
