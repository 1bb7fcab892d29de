//! The bench crate and the daemon that it measures, built as they ship but for the short soak.
//!
//! Owns only how they are built and started; what is measured is the bench crate's own.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};

use crate::{evidence_page, repo};

/// What prints without measuring anything.
const WITHOUT_DAEMON: [&str; 4] = ["--list", "--help", "-h", "counts"];

/// Runs the bench crate with `arguments` and returns its exit code.
pub(crate) fn bench(arguments: &[String]) -> Result<ExitCode> {
    let root = repo::root();
    let measures = !matches!(arguments, [only] if WITHOUT_DAEMON.contains(&only.as_str()));
    let mut command = if measures {
        shipped_bench()?
    } else {
        build(&root, &["--package", "palyra-bench"])?;
        program(&root)
    };
    let status = command.args(arguments).status().context("could not start the bench program")?;
    let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
    Ok(ExitCode::from(code))
}

/// Builds the bench program and the daemon, and returns the command that measures the one with the other.
pub(crate) fn shipped_bench() -> Result<Command> {
    let root = repo::root();
    // Apart, so that the daemon is built with its own features and no others.
    build(&root, &["--package", "palyra", "--bin", "palyrad", "--features", "jemalloc"])?;
    build(&root, &["--package", "palyra-bench"])?;
    let mut command = program(&root);
    names_daemon(&mut command, &programs().join("palyrad"))?;
    Ok(command)
}

/// Runs of the short soak, after half as many that warm the daemon up.
const SHORT_SOAK_RUNS: &str = "16000";

/// Returns the command of a short soak with the programs that the suite has built, which are debug builds.
pub(super) fn built_soak() -> Result<Command> {
    let root = repo::root();
    let programs = repo::target().join("debug");
    let mut command = Command::new(programs.join("palyra-bench"));
    command.args(["soak", "--runs", SHORT_SOAK_RUNS]).current_dir(&root);
    names_daemon(&mut command, &programs.join("palyrad"))?;
    Ok(command)
}

/// Names the daemon to measure, and the commit that it was built from where one is checked out.
fn names_daemon(command: &mut Command, palyrad: &Path) -> Result<()> {
    command.env("PALYRA_BENCH_DAEMON", std::path::absolute(palyrad).context("where the daemon is")?);
    if let Ok(commit) = evidence_page::commit() {
        command.env("PALYRA_BENCH_COMMIT", commit);
    }
    Ok(())
}

fn program(root: &Path) -> Command {
    let mut command = Command::new(programs().join("palyra-bench"));
    command.current_dir(root);
    command
}

fn programs() -> PathBuf {
    repo::target().join("dist")
}

fn build(root: &Path, what: &[&str]) -> Result<()> {
    let mut command = Command::new("cargo");
    command.args(["build", "--quiet", "--profile", "dist", "--locked"]).args(what).current_dir(root);
    let status = command.status().context("could not start cargo")?;
    ensure!(status.success(), "cargo could not build {}", what.join(" "));
    Ok(())
}
