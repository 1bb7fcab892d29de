//! The whole suite, from a fresh clone to one closing line.
//!
//! Owns the phases and their order: what is quick to fail comes first. Invariant: nothing is left out
//! unless it was named, and what was named is said again at the end.

use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::attack;

use super::chance::SeededRandom;
use super::phases::PhaseRunner;
use super::summary::TestCounts;
use super::tools::{self, Tools};
use super::{bench, check, command, disk, setup, vectors};

/// After this the suite stops itself and says where it was.
const TIME: Duration = Duration::from_secs(80 * 60);
const PHASES: [&str; 12] = [
    "setup", "tools", "fmt", "tidy", "clippy", "deny", "build", "tests", "packages", "attack", "soak",
    "vectors",
];

/// Runs everything but what `skip` names: a phase, or tests whose names contain it. `check_packages` packs what was built.
pub(crate) fn test(skip: &[String], check_packages: fn() -> Result<()>) -> Result<ExitCode> {
    let (skipped_phases, skipped_tests): (Vec<&str>, Vec<&str>) =
        skip.iter().map(String::as_str).partition(|name| PHASES.contains(name));
    disk::demand_room()?;
    let mut phases = PhaseRunner::start(TIME, &skipped_phases);
    phases.run("setup", |_| setup::ensure());
    let tools = phases.run("tools", tools::install);
    phases.run("fmt", check::fmt);
    phases.run("tidy", |_| check::tidy());
    phases.run("clippy", check::clippy);
    phases.run("deny", |deadline| check::deny(&installed(tools.as_ref())?.deny, deadline));
    phases.run("build", build);
    let mut counts = TestCounts::default();
    phases.run("tests", |deadline| run_tests(tools.as_ref(), &skipped_tests, deadline, &mut counts));
    phases.run("packages", |_| check_packages());
    // Alone: what a daemon takes when it is idle is looked at, and a busy machine makes it wait.
    phases.run("attack", |deadline| command::run(attack_suite(), deadline));
    phases.run("soak", |deadline| command::run(bench::built_soak()?, deadline));
    match vectors::folder() {
        Some(folder) => {
            let seed = SeededRandom::of_checkout().seed();
            phases.run("vectors", |deadline| vectors::run(&folder, seed, deadline));
        }
        None => phases.leave_out("vectors", &format!("{} is not set", vectors::VARIABLE)),
    }

    let outcome = phases.finish();
    if !skip.is_empty() {
        println!("left out by --skip: {}", skip.join(", "));
    }
    if let Err(failed) = &outcome {
        println!("failed: {}", failed.join(", "));
    }
    // Last, alone on its line: what counts test runs looks for it there.
    println!("{}", counts.line());
    Ok(if outcome.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns the attack suite with each pair as one of its two users, or the half of it that an ordinary user can carry out.
///
/// Another commit divides the pairs in another way; `cargo xtask attack` carries out each as both.
fn attack_suite() -> Command {
    let mut suite = attack::built();
    suite.arg("--each-once").arg(SeededRandom::of_checkout().seed().to_string());
    if !setup::is_root() {
        suite.arg("--as-user-only");
    }
    suite
}

/// Builds what the tests start, with the features the tests are built with.
fn build(deadline: Instant) -> Result<()> {
    let mut build = check::cargo(&["build", "--workspace", "--all-targets", "--locked", "--quiet"]);
    build.args(["--features", check::SHIPPED_FEATURES]);
    command::run(build, deadline)
}

fn run_tests(
    tools: Option<&Tools>,
    skipped: &[&str],
    deadline: Instant,
    counts: &mut TestCounts,
) -> Result<()> {
    let tools = installed(tools)?;
    for name in skipped {
        demand_matches(tools, name)?;
    }
    let mut nextest = with_tools(check::nextest(&tools.nextest), tools)?;
    nextest.arg("--no-fail-fast");
    SeededRandom::of_checkout().tell(&mut nextest);
    if !skipped.is_empty() {
        let names: Vec<String> = skipped.iter().map(|name| format!("test({name})")).collect();
        nextest.args(["-E", &format!("not ({})", names.join(" or "))]);
    }
    let (status, said) = command::run_and_read_stderr(nextest, deadline)?;
    *counts = TestCounts::parse(&said).context("the tests did not run; see above")?;
    if counts.skipped > 0 {
        println!("{} tests were left out", counts.skipped);
    }
    if counts.failed > 0 {
        bail!("{} tests failed", counts.failed);
    }
    if !status.success() {
        bail!("the test runner failed ({status})");
    }
    Ok(())
}

/// Refuses a name that leaves out nothing: it is misspelt, or the test is gone.
fn demand_matches(tools: &Tools, name: &str) -> Result<()> {
    let mut list = with_tools(Command::new(&tools.nextest), tools)?;
    list.args(["nextest", "list", "--workspace", "--locked", "--features", check::SHIPPED_FEATURES]);
    list.args(["--message-format", "oneline", "-E"]);
    list.arg(format!("test({name})")).current_dir(crate::repo::root());
    if command::read(list)?.trim().is_empty() {
        bail!("--skip {name} is neither a phase ({}) nor part of a test's name", PHASES.join(", "));
    }
    Ok(())
}

fn with_tools(mut command: Command, tools: &Tools) -> Result<Command> {
    command.env("PATH", tools::path_with(tools)?).env("PALYRA_TEST_PYTHON", &tools.python);
    command.env("PALYRA_TEST_NODE_MODULES", &tools.node_modules);
    Ok(command)
}

fn installed(tools: Option<&Tools>) -> Result<&Tools> {
    tools.context("the tools are not installed; see the phase `tools` above")
}
