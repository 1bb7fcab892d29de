//! Programs of calls that do not end: one ignores every signal that asks it to stop, one is stopped together with the process
//! that supervises it.

use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result, ensure};
use palyra_model_server::{Behaviour, Reply};
use palyra_wire::v1::HealingDomain;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::provider::{STUCK_RUN, is_running};
use super::stuck_daemon::{StuckDaemon, StuckOptions};
use super::three_modes::{ExpectedIncident, OutsideFault, in_each_mode, until};

/// Programs that were started, each with a number of its own.
static STARTED: AtomicU32 = AtomicU32::new(0);

/// A run whose only call starts a program that goes on.
struct RunWithProgram {
    daemon: StuckDaemon,
    run: String,
    /// A word of its command line, by which it is found among all processes.
    marker: String,
}

impl RunWithProgram {
    /// Starts one, and returns once its program is there.
    async fn start(script: &str) -> Result<Self> {
        let marker =
            format!("palyra-healing-{}-{}", std::process::id(), STARTED.fetch_add(1, Ordering::Relaxed));
        let arguments = json!({ "argv": ["sh", "-c", script, marker] }).to_string();
        let model = Behaviour::always(Reply::empty().call("run_command", &arguments));
        let daemon = StuckDaemon::start(model, StuckOptions::default(), HealingDomain::Runs).await?;
        let run = daemon.start_run("program", "Start it.").await?;
        let this = Self { daemon, run, marker };
        until(async || Ok(!this.programs()?.is_empty())).await.context("the program does not start")?;
        Ok(this)
    }

    /// Returns the processes of the program.
    fn programs(&self) -> Result<Vec<u32>> {
        let mut found = Vec::new();
        for pid in processes()? {
            let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            // A supervisor may have the command line of its program among its own words.
            if String::from_utf8_lossy(&words).ends_with(&format!("\0{}\0", self.marker)) {
                found.push(pid);
            }
        }
        Ok(found)
    }

    /// Returns the program and all processes between it and the daemon.
    fn program_with_supervisors(&self) -> Result<Vec<u32>> {
        let programs = self.programs()?;
        let parents: BTreeMap<u32, u32> =
            processes()?.into_iter().filter_map(|pid| Some((pid, parent_of(pid)?))).collect();
        let mut found = Vec::new();
        for program in programs {
            let mut chain = Vec::new();
            let mut pid = program;
            while pid != self.daemon.pid() {
                chain.push(pid);
                // One of them may have ended between the two looks.
                let Some(parent) = parents.get(&pid) else {
                    chain.clear();
                    break;
                };
                pid = *parent;
            }
            found.extend(chain);
        }
        anyhow::ensure!(!found.is_empty(), "no program is one of the daemon");
        Ok(found)
    }

    async fn is_broken(&self) -> Result<bool> {
        let is_running = is_running(&self.daemon, &self.run).await?;
        Ok(is_running || !self.programs()?.is_empty())
    }
}

fn processes() -> Result<Vec<u32>> {
    let all = fs::read_dir("/proc").context("could not list the processes")?;
    Ok(all.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
}

fn parent_of(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before it is in brackets and may have any character.
    stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}

/// A program that takes no notice of being asked to stop.
struct WedgedCommand(RunWithProgram);

impl OutsideFault for WedgedCommand {
    const EXPECTED: ExpectedIncident = STUCK_RUN;

    async fn make() -> Result<Self> {
        let script = "trap '' TERM INT HUP QUIT; while :; do sleep 0.2; done";
        Ok(Self(RunWithProgram::start(script).await?))
    }

    fn daemon(&self) -> &StuckDaemon {
        &self.0.daemon
    }

    async fn is_broken(&self) -> Result<bool> {
        self.0.is_broken().await
    }

    async fn stop(self) -> Result<()> {
        self.0.daemon.stop().await
    }
}

/// A program that was stopped with SIGSTOP, as were the processes that supervise it.
struct StoppedWorker(RunWithProgram);

impl OutsideFault for StoppedWorker {
    const EXPECTED: ExpectedIncident = STUCK_RUN;

    async fn make() -> Result<Self> {
        let started = RunWithProgram::start("while :; do sleep 0.2; done").await?;
        let stopped = started.program_with_supervisors()?;
        ensure!(stopped.len() > 1, "no process supervises the program");
        for pid in stopped {
            let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).context("a process id")?;
            kill_process(pid, Signal::STOP).context("could not stop a worker")?;
        }
        Ok(Self(started))
    }

    fn daemon(&self) -> &StuckDaemon {
        &self.0.daemon
    }

    async fn is_broken(&self) -> Result<bool> {
        self.0.is_broken().await
    }

    async fn stop(self) -> Result<()> {
        self.0.daemon.stop().await
    }
}

#[tokio::test]
async fn a_command_that_ignores_its_stop_costs_its_run_in_auto_only() -> Result<()> {
    in_each_mode::<WedgedCommand>().await
}

#[tokio::test]
async fn a_stopped_worker_costs_its_run_in_auto_only() -> Result<()> {
    in_each_mode::<StoppedWorker>().await
}
