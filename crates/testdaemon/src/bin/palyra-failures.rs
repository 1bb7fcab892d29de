//! Carries out one failure suite and tells what it found.
#![expect(clippy::print_stdout, reason = "a command-line tool speaks on standard output")]

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use clap::{Parser, Subcommand};
use palyra_testdaemon::report::SuiteReport;
use palyra_testdaemon::{commands, crash, failing_sync, full_disk, gauntlet, power_cut, schedules, waiting};

/// Set in the process whose mounts are its own.
const ISOLATED: &str = "PALYRA_FAILURES_ISOLATED";
const DAEMON: &str = "palyra-testdaemon";

#[derive(Debug, Parser)]
#[command(name = "palyra-failures", about = "Failure suites against the real daemon")]
struct CliArguments {
    /// Prints one JSON object instead of the table.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    suite: Suite,
}

#[derive(Debug, Subcommand)]
enum Suite {
    /// Kills the daemon at every call that changes files.
    Crash {
        /// Only every N-th call.
        #[arg(long, default_value_t = 1, value_name = "N")]
        every: usize,
        /// Beginning with the K-th, from 0.
        #[arg(long, default_value_t = 0, value_name = "K")]
        offset: usize,
    },
    /// Kills the daemon at every call that changes files, in a run of twenty effects.
    Gauntlet {
        /// Only every N-th call.
        #[arg(long, default_value_t = 1, value_name = "N")]
        every: usize,
        /// Beginning with the K-th, from 0.
        #[arg(long, default_value_t = 0, value_name = "K")]
        offset: usize,
    },
    /// Kills the daemon while programs run that it started.
    Commands {
        /// Only every N-th write of the journal; programs at each of their places.
        #[arg(long, default_value_t = 1, value_name = "N")]
        every: usize,
        /// Beginning with the K-th, from 0.
        #[arg(long, default_value_t = 0, value_name = "K")]
        offset: usize,
    },
    /// Kills the daemon on the way from due schedules to their run and their messages.
    Schedules {
        /// Only every N-th write of the journal; places outside of the daemon always.
        #[arg(long, default_value_t = 1, value_name = "N")]
        every: usize,
        /// Beginning with the K-th, from 0.
        #[arg(long, default_value_t = 0, value_name = "K")]
        offset: usize,
    },
    /// Lets a sync fail, in starts, commits and checkpoints.
    FailingSync {
        /// The first N syncs of commits.
        #[arg(long, default_value_t = 200, value_name = "N")]
        commits: usize,
        /// The first N syncs of checkpoints.
        #[arg(long, default_value_t = 2, value_name = "N")]
        checkpoints: usize,
        /// Only every N-th of a start and of commits.
        #[arg(long, default_value_t = 1, value_name = "N")]
        every: usize,
    },
    /// Fills the disk at many places; needs root or user namespaces.
    FullDisk {
        /// At how many places.
        #[arg(long, default_value_t = 50, value_name = "N")]
        offsets: usize,
    },
    /// Makes a disk low that has files on it which need not be kept, in each mode of self-healing; needs root or user
    /// namespaces.
    HealingDisk {
        /// The domain of self-healing: journal, sandbox or artifacts.
        #[arg(value_name = "DOMAIN")]
        domain: String,
    },
    /// Lets runs wait for a person, and kills the daemon.
    Waiting {
        /// How many.
        #[arg(long, default_value_t = 10_000, value_name = "N")]
        runs: usize,
        /// A daemon as it ships, whose times and memory are judged, instead of the test daemon.
        #[arg(long, value_name = "FILE")]
        shipped: Option<PathBuf>,
    },
    /// Cuts the power under 64 producers; needs root.
    PowerCut {
        /// How often.
        #[arg(long, default_value_t = 500, value_name = "N")]
        cuts: usize,
        /// How often for the control, which has to lose something.
        #[arg(long, default_value_t = 5, value_name = "N")]
        control_cuts: usize,
    },
    /// The load of a power cut: appends until it is killed.
    #[command(hide = true)]
    Load {
        #[arg(long)]
        kind: power_cut::LoadKind,
        #[arg(long)]
        folder: PathBuf,
        #[arg(long)]
        acks: PathBuf,
        #[arg(long)]
        anchor: PathBuf,
        #[arg(long)]
        round: u64,
    },
}

fn main() -> Result<ExitCode> {
    let arguments = CliArguments::parse();
    if arguments.suite.mounts() && std::env::var_os(ISOLATED).is_none() {
        if matches!(arguments.suite, Suite::PowerCut { .. }) {
            power_cut::demand_root()?;
        }
        return isolated();
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let report = runtime.context("could not start tokio")?.block_on(carry_out(&arguments.suite))?;
    if arguments.json {
        println!("{}", serde_json::to_string(&report)?);
    } else {
        print!("{}", report.table());
    }
    Ok(if report.good() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn carry_out(suite: &Suite) -> Result<SuiteReport> {
    let began = Instant::now();
    let progress = |what: &str| eprintln!("[{:>4} s] {what}", began.elapsed().as_secs());
    match suite {
        Suite::Crash { every, offset } => {
            ensure!(*every > 0, "--every takes a number from 1");
            let options = crash::CrashOptions { every: *every, offset: *offset };
            crash::suite(&daemon()?, options, &progress).await
        }
        Suite::Gauntlet { every, offset } => {
            ensure!(*every > 0, "--every takes a number from 1");
            let options = crash::CrashOptions { every: *every, offset: *offset };
            gauntlet::suite(&daemon()?, options, &progress).await
        }
        Suite::Commands { every, offset } => {
            ensure!(*every > 0, "--every takes a number from 1");
            let options = crash::CrashOptions { every: *every, offset: *offset };
            commands::suite(&daemon()?, options, &progress).await
        }
        Suite::Schedules { every, offset } => {
            ensure!(*every > 0, "--every takes a number from 1");
            let options = crash::CrashOptions { every: *every, offset: *offset };
            schedules::suite(&daemon()?, options, &progress).await
        }
        Suite::FailingSync { commits, checkpoints, every } => {
            ensure!(*every > 0, "--every takes a number from 1");
            let options =
                failing_sync::SyncOptions { commits: *commits, checkpoints: *checkpoints, every: *every };
            failing_sync::suite(&daemon()?, options, &progress).await
        }
        Suite::FullDisk { offsets } => {
            full_disk::suite(&daemon()?, full_disk::DiskOptions { offsets: *offsets }, &progress).await
        }
        Suite::HealingDisk { domain } => {
            let known = full_disk::SpareDomain::ALL.into_iter().find(|(_, word)| word == domain);
            let (domain, _) = known.with_context(|| format!("no domain is called {domain}"))?;
            full_disk::healing_suite(&daemon()?, domain).await
        }
        Suite::Waiting { runs, shipped } => {
            let options = waiting::WaitingOptions { runs: *runs, shipped: shipped.clone() };
            waiting::suite(&daemon()?, &options, &progress).await
        }
        Suite::PowerCut { cuts, control_cuts } => {
            let options = power_cut::CutOptions { cuts: *cuts, control_cuts: *control_cuts };
            power_cut::suite(&own_program()?, options, &progress).await
        }
        Suite::Load { kind, folder, acks, anchor, round } => {
            let (folder, acks, anchor) = (folder.clone(), acks.clone(), anchor.clone());
            let load = power_cut::AppendLoad { kind: *kind, folder, acks, anchor, round: *round };
            power_cut::load(&load).await?;
            bail!("a load ends with its disk")
        }
    }
}

impl Suite {
    /// Returns whether it mounts file systems.
    fn mounts(&self) -> bool {
        match self {
            Self::FullDisk { .. } | Self::HealingDisk { .. } | Self::PowerCut { .. } => true,
            Self::Crash { .. }
            | Self::Gauntlet { .. }
            | Self::Commands { .. }
            | Self::Schedules { .. }
            | Self::FailingSync { .. }
            | Self::Waiting { .. }
            | Self::Load { .. } => false,
        }
    }
}

/// Starts this program again where its mounts are its own and end with it.
fn isolated() -> Result<ExitCode> {
    let mut command = Command::new("unshare");
    command.arg("--mount");
    if !rustix::process::geteuid().is_root() {
        command.args(["--user", "--map-root-user"]);
    }
    command.arg(own_program()?).args(std::env::args_os().skip(1)).env(ISOLATED, "1");
    let status = command.status().context("could not start unshare (util-linux)")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns the test daemon, which is built beside this program.
fn daemon() -> Result<PathBuf> {
    let daemon = own_program()?.with_file_name(DAEMON);
    ensure!(daemon.is_file(), "{} is not built", daemon.display());
    Ok(daemon)
}

fn own_program() -> Result<PathBuf> {
    std::env::current_exe().context("this program does not know where it is")
}
