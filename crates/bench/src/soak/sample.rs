//! What a daemon takes at a moment in which it does nothing.
//!
//! Invariant: a look is taken when no run has been open for [`KEPT_WARM`] and what the kernel counts has come to rest,
//! or when [`REST_WITHIN_MAX`] is over after that; then what is there is told as it is.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context;
use serde::Serialize;

use crate::process::daemon::DaemonProcess;
use crate::process::kernel_facts::{descriptors, resident};

/// So long nothing is asked before a look: longer than whatever the daemon keeps warm for a while. That is a session
/// nobody speaks to (a minute), a thread that waits for blocking work (10 s), and free memory (1 s).
pub(super) const KEPT_WARM: Duration = Duration::from_secs(62);
/// A daemon that has not come to rest so long after that is looked at as it is.
const REST_WITHIN_MAX: Duration = Duration::from_secs(30);
/// Runs that nobody follows any more end by themselves within this, or something is wrong.
const RUNS_END_WITHIN_MAX: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// So many looks one after the other that see the same are rest.
const LOOKS_ALIKE: usize = 20;
/// Memory that comes and goes by this much is at rest.
const REST_MIB_MAX: f64 = 0.125;

/// What was seen at an idle moment.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct SoakSample {
    /// Runs that were started until then.
    pub(super) runs: u64,
    /// Since the daemon's start.
    pub(super) seconds: f64,
    /// Memory that is no file's.
    pub(super) anonymous_mib: f64,
    /// All resident memory.
    pub(super) resident_mib: f64,
    /// Open descriptors.
    pub(super) descriptors: u32,
    /// Threads.
    pub(super) threads: u32,
    /// The write-ahead log, at its largest since the look before.
    pub(super) wal_mib: f64,
    /// The database without its log.
    pub(super) database_mib: f64,
    /// The median time of a plain run since the look before.
    pub(super) p50_ms: f64,
}

/// What the kernel counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct KernelCounts {
    pub(super) anonymous_mib: f64,
    pub(super) resident_mib: f64,
    pub(super) descriptors: u32,
    pub(super) threads: u32,
}

impl KernelCounts {
    pub(super) fn of(pid: u32) -> anyhow::Result<Self> {
        let found = resident(pid)?;
        Ok(Self {
            anonymous_mib: found.own_mib,
            resident_mib: found.all_mib,
            descriptors: u32::try_from(descriptors(pid)?)?,
            threads: u32::try_from(found.threads)?,
        })
    }

    fn is_like(&self, other: &Self) -> bool {
        (self.descriptors, self.threads) == (other.descriptors, other.threads)
            && (self.anonymous_mib - other.anonymous_mib).abs() <= REST_MIB_MAX
    }
}

/// Waits until the daemon does nothing and keeps nothing warm; returns what is there.
pub(super) async fn at_rest(daemon: &DaemonProcess) -> anyhow::Result<KernelCounts> {
    until_no_run_is_open(daemon).await?;
    tokio::time::sleep(KEPT_WARM).await;
    let give_up = Instant::now() + REST_WITHIN_MAX;
    let mut settled = KernelCounts::of(daemon.process.pid())?;
    let mut alike = 0;
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let now = KernelCounts::of(daemon.process.pid())?;
        alike = if now.is_like(&settled) { alike + 1 } else { 0 };
        if alike == 0 {
            settled = now;
        }
        if alike >= LOOKS_ALIKE || Instant::now() > give_up {
            return Ok(now);
        }
    }
}

async fn until_no_run_is_open(daemon: &DaemonProcess) -> anyhow::Result<()> {
    let give_up = Instant::now() + RUNS_END_WITHIN_MAX;
    loop {
        let open = daemon.client.status().await.context("the daemon's status")?.open_runs;
        if open == 0 {
            return Ok(());
        }
        anyhow::ensure!(Instant::now() < give_up, "{open} runs did not end by themselves");
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Returns the size of a file in MiB; what is not there is 0.
pub(super) fn file_mib(path: &Path) -> f64 {
    let bytes = std::fs::metadata(path).map_or(0, |found| found.len());
    crate::rows::as_f64(bytes) / (1_024.0 * 1_024.0)
}
