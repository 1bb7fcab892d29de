//! The daily check: fmt, clippy, tests, tidy and deny with the tools at hand.
//!
//! Owns the commands of these phases, which the whole suite uses too. Installs nothing.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use super::chance::SeededRandom;
use super::phases::PhaseRunner;
use super::{command, tools};
use crate::{repo, tidy};

/// What ships, and is therefore checked and tested, beyond the default features.
pub(super) const SHIPPED_FEATURES: &str = "palyra/jemalloc";
const TIME: Duration = Duration::from_secs(80 * 60);

/// Runs the daily check.
pub(crate) fn check() -> Result<ExitCode> {
    let mut phases = PhaseRunner::start(TIME, &[]);
    phases.run("fmt", fmt);
    phases.run("tidy", |_| tidy());
    phases.run("clippy", clippy);
    phases.run("deny", |deadline| deny(&at_hand("cargo-deny")?, deadline));
    phases.run("tests", tests);
    Ok(if phases.finish().is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn tests(deadline: Instant) -> Result<()> {
    let mut nextest = nextest(&at_hand("cargo-nextest")?);
    SeededRandom::of_checkout().tell(&mut nextest);
    command::run(nextest, deadline)
}

/// Returns a tool that `cargo xtask test` installed, or one on the PATH.
fn at_hand(name: &str) -> Result<PathBuf> {
    let installed = std::fs::read_dir(repo::root().join("target/tools")).into_iter().flatten().flatten();
    let installed = installed
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(&format!("{name}-")))
        .map(|entry| entry.path().join("bin").join(name))
        .find(|program| program.is_file());
    match tools::on_path(name).or(installed) {
        Some(program) => Ok(program),
        None => {
            bail!("{name} is not installed; run `cargo xtask test` once, which puts it below target/tools")
        }
    }
}

/// Checks the formatting.
pub(super) fn fmt(deadline: Instant) -> Result<()> {
    command::run(cargo(&["fmt", "--all", "--check"]), deadline)
}

/// Runs clippy over every target; a warning is an error.
pub(super) fn clippy(deadline: Instant) -> Result<()> {
    let mut clippy = cargo(&["clippy", "--workspace", "--all-targets", "--locked", "--quiet"]);
    clippy.args(["--features", SHIPPED_FEATURES, "--", "-D", "warnings"]);
    command::run(clippy, deadline)
}

/// Checks the house rules.
pub(super) fn tidy() -> Result<()> {
    if tidy::verb(tidy::FileAction::Compare)? != ExitCode::SUCCESS {
        bail!("the house is not tidy");
    }
    Ok(())
}

/// Checks licences, sources and the fences around foreign crates.
///
/// Advisories are left out: their database is fetched from a host that a closed network
/// does not reach, and a check that fails there would be switched off.
pub(super) fn deny(program: &Path, deadline: Instant) -> Result<()> {
    let mut deny = Command::new(program);
    deny.args(["--locked", "check", "--hide-inclusion-graph"]);
    // Fences and licences may stand ready for what is not here yet.
    deny.args(["--allow", "unused-wrapper", "--allow", "license-not-encountered"]);
    deny.args(["licenses", "bans", "sources"]);
    deny.current_dir(repo::root());
    command::run(deny, deadline)
}

/// Returns the command that runs every test.
pub(super) fn nextest(program: &Path) -> Command {
    let mut nextest = Command::new(program);
    nextest.args(["nextest", "run", "--workspace", "--locked", "--features", SHIPPED_FEATURES]);
    // Many tests wait for programs that they started, or for time to pass: half as many again keep the processors at work.
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    nextest.args(["--test-threads", &processors.div_ceil(2).saturating_add(processors).to_string()]);
    nextest.current_dir(repo::root());
    // Where the whole suite puts it; tests that need it say so themselves when it is not there.
    nextest.env("PALYRA_TEST_PYTHON", repo::root().join("target/tools/venv/bin/python"));
    nextest.env("PALYRA_TEST_NODE_MODULES", repo::root().join("target/tools/node/node_modules"));
    nextest
}

/// Returns a cargo command in the root folder.
pub(super) fn cargo(arguments: &[&str]) -> Command {
    let mut cargo = Command::new("cargo");
    cargo.args(arguments).current_dir(repo::root());
    cargo
}
