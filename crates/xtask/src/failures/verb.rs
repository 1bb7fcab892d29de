//! The verbs: build, carry out, tell.
//!
//! Owns the words of the command line and how they become those of `palyra-failures`. Invariant: a suite that does
//! not say what it found has failed.

use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail};

use super::evidence;
use super::report::FailuresReport;
use crate::evidence_page::PagePart;
use crate::repo;
use crate::suite::find_system_programs;

/// The crash suite's other runs.
pub(crate) const GAUNTLET: PagePart = PagePart { name: "gauntlet", command: "crash --gauntlet" };
pub(crate) const COMMANDS: PagePart = PagePart { name: "commands", command: "crash --commands" };
pub(crate) const SCHEDULES: PagePart = PagePart { name: "schedules", command: "crash --schedules" };

/// What every suite takes.
#[derive(Debug, clap::Args)]
pub(crate) struct SuiteOptions {
    /// Prints one JSON object instead of the table.
    #[arg(long)]
    json: bool,
    /// Writes what was found into docs/evidence.md.
    #[arg(long)]
    write: bool,
    /// A folder with built programs, instead of building them.
    #[arg(long, value_name = "DIR")]
    programs: Option<PathBuf>,
}

/// How to kill.
#[derive(Debug, clap::Args)]
pub(crate) struct CrashOptions {
    /// Only every N-th call.
    #[arg(long, default_value_t = 1, value_name = "N")]
    every: usize,
    /// Beginning with the K-th, from 0.
    #[arg(long, default_value_t = 0, value_name = "K")]
    offset: usize,
    /// In a run of twenty effects, whose own ledgers say in the end how often each happened.
    #[arg(long)]
    gauntlet: bool,
    /// In a run that starts programs and a job; while each is at each of its places as well.
    #[arg(long, conflicts_with = "gauntlet")]
    commands: bool,
    /// On the way from due schedules to their run and their messages, which a program and a webhook get.
    #[arg(long, conflicts_with_all = ["gauntlet", "commands"])]
    schedules: bool,
    #[command(flatten)]
    telling: SuiteOptions,
}

/// Which syncs fail.
#[derive(Debug, clap::Args)]
pub(crate) struct FailingSyncOptions {
    /// The first N syncs of commits.
    #[arg(long, default_value_t = 200, value_name = "N")]
    commits: usize,
    /// The first N syncs of checkpoints.
    #[arg(long, default_value_t = 2, value_name = "N")]
    checkpoints: usize,
    #[command(flatten)]
    telling: SuiteOptions,
}

/// How often the disk fills up.
#[derive(Debug, clap::Args)]
pub(crate) struct FullDiskOptions {
    /// At how many places.
    #[arg(long, default_value_t = 50, value_name = "N")]
    offsets: usize,
    #[command(flatten)]
    telling: SuiteOptions,
}

/// How often to cut.
#[derive(Debug, clap::Args)]
pub(crate) struct PowerCutOptions {
    /// Cuts of the journal; as many as one per hundred, and at least five, of a control that has to lose something.
    #[arg(long, default_value_t = 500, value_name = "N")]
    cuts: usize,
    #[command(flatten)]
    telling: SuiteOptions,
}

/// How many wait.
#[derive(Debug, clap::Args)]
pub(crate) struct WaitingOptions {
    /// Runs that each wait for a yes.
    #[arg(long, default_value_t = 10_000, value_name = "N")]
    runs: usize,
    /// A built `palyrad`, instead of building it as it ships.
    #[arg(long, value_name = "FILE")]
    palyrad: Option<PathBuf>,
    #[command(flatten)]
    telling: SuiteOptions,
}

/// A suite with its options.
#[derive(Debug)]
pub(crate) enum Suite {
    Crash(CrashOptions),
    FailingSync(FailingSyncOptions),
    FullDisk(FullDiskOptions),
    PowerCut(PowerCutOptions),
    Waiting(WaitingOptions),
}

/// Carries out a suite; fails when something that must hold does not.
pub(crate) fn verb(suite: &Suite) -> Result<ExitCode> {
    let telling = suite.telling();
    let programs = match &telling.programs {
        Some(folder) => std::path::absolute(folder).context("could not find the programs")?,
        None => build()?,
    };
    let mut command = Command::new(programs.join("palyra-failures"));
    find_system_programs(&mut command);
    command.args(suite.words());
    if let Suite::Waiting(options) = suite {
        let built = options.palyrad.as_ref().map(std::path::absolute).transpose();
        let shipped = built.context("could not find the daemon")?.map_or_else(shipped_daemon, Ok)?;
        command.arg("--shipped").arg(shipped);
    }
    command.arg("--json").stdin(Stdio::null()).stdout(Stdio::piped());
    let output = command.spawn().and_then(std::process::Child::wait_with_output);
    let output = output.context("could not start palyra-failures")?;
    let Ok(report) = serde_json::from_slice::<FailuresReport>(&output.stdout) else {
        bail!("the suite could not be carried out ({}); see above", output.status);
    };
    if telling.json {
        println!("{}", String::from_utf8_lossy(&output.stdout).trim());
    } else {
        print!("{}", report.table());
    }
    if telling.write {
        evidence::write(suite.part(), &report)?;
    }
    Ok(if output.status.success() && report.good() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Suite {
    /// Returns the part of the page that it writes.
    fn part(&self) -> PagePart {
        match self {
            Self::Crash(options) if options.gauntlet => GAUNTLET,
            Self::Crash(options) if options.commands => COMMANDS,
            Self::Crash(options) if options.schedules => SCHEDULES,
            Self::Crash(_) => PagePart::of("crash"),
            Self::FailingSync(_) => PagePart::of("failing-sync"),
            Self::FullDisk(_) => PagePart::of("full-disk"),
            Self::PowerCut(_) => PagePart::of("powercut"),
            Self::Waiting(_) => PagePart::of("waiting"),
        }
    }

    fn telling(&self) -> &SuiteOptions {
        match self {
            Self::Crash(options) => &options.telling,
            Self::FailingSync(options) => &options.telling,
            Self::FullDisk(options) => &options.telling,
            Self::PowerCut(options) => &options.telling,
            Self::Waiting(options) => &options.telling,
        }
    }

    /// Returns what `palyra-failures` is told.
    fn words(&self) -> Vec<String> {
        let (suite, options) = match self {
            Self::Crash(options) => {
                let suite = match (options.gauntlet, options.commands, options.schedules) {
                    (true, _, _) => "gauntlet",
                    (false, true, _) => "commands",
                    (false, false, true) => "schedules",
                    (false, false, false) => "crash",
                };
                (suite, [Some(("--every", options.every)), Some(("--offset", options.offset))])
            }
            Self::FailingSync(options) => {
                let (commits, checkpoints) = (options.commits, options.checkpoints);
                ("failing-sync", [Some(("--commits", commits)), Some(("--checkpoints", checkpoints))])
            }
            Self::FullDisk(options) => ("full-disk", [Some(("--offsets", options.offsets)), None]),
            Self::PowerCut(options) => {
                let control = (options.cuts / 100).max(5);
                ("power-cut", [Some(("--cuts", options.cuts)), Some(("--control-cuts", control))])
            }
            Self::Waiting(options) => ("waiting", [Some(("--runs", options.runs)), None]),
        };
        let options = options.into_iter().flatten();
        let words = options.flat_map(|(name, value)| [name.to_owned(), value.to_string()]);
        std::iter::once(suite.to_owned()).chain(words).collect()
    }
}

/// Builds the daemon as it ships.
fn shipped_daemon() -> Result<PathBuf> {
    cargo(&["--profile", "dist", "--features", "jemalloc", "--package", "palyra", "--bin", "palyrad"])?;
    Ok(repo::target().join("dist/palyrad"))
}

fn build() -> Result<PathBuf> {
    cargo(&["--package", "palyra-testdaemon", "--bins"])
        .context("--programs DIR takes a folder with built programs")?;
    Ok(repo::target().join("debug"))
}

fn cargo(what: &[&str]) -> Result<()> {
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--quiet", "--locked"]).args(what);
    let status = cargo.current_dir(repo::root()).status().context("could not start cargo")?;
    if !status.success() {
        bail!("cargo could not build {}", what.join(" "));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn telling() -> SuiteOptions {
        SuiteOptions { json: false, write: false, programs: None }
    }

    #[test]
    fn options_are_handed_on() {
        for suite in ["crash", "gauntlet", "commands", "schedules"] {
            let crash = Suite::Crash(CrashOptions {
                every: 20,
                offset: 3,
                gauntlet: suite == "gauntlet",
                commands: suite == "commands",
                schedules: suite == "schedules",
                telling: telling(),
            });
            assert_eq!(crash.words(), [suite, "--every", "20", "--offset", "3"]);
        }
        let waiting = Suite::Waiting(WaitingOptions { runs: 7, palyrad: None, telling: telling() });
        assert_eq!(waiting.words(), ["waiting", "--runs", "7"]);
        let cut = Suite::PowerCut(PowerCutOptions { cuts: 1_000, telling: telling() });
        assert_eq!(cut.words(), ["power-cut", "--cuts", "1000", "--control-cuts", "10"]);
    }
}
