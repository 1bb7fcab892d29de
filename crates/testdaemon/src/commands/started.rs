//! Every process that a daemon has started, with all that those started, and whether it is gone.
//!
//! Knows no program and no sandbox: who belongs to the daemon is asked of the kernel while it lives, and each of them is
//! held by a descriptor, so that no number can come to mean another process.

use std::collections::BTreeMap;
use std::fs;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// What is there after this long stays: on a machine that is busy with other work two seconds were not enough.
pub(super) const GONE_WITHIN: Duration = Duration::from_secs(10);

/// How the process is called that a daemon keeps ready for the next program, and every one that holds a program.
const KEEPER: &str = "sandbox-exec";

/// Processes of a daemon.
#[derive(Debug)]
pub(super) struct StartedProcesses(Vec<Process>);

#[derive(Debug)]
struct Process {
    pid: u32,
    command: String,
    held: OwnedFd,
    children: Vec<u32>,
}

impl StartedProcesses {
    /// Returns all that a process has started, by itself or through others, and that is not over.
    pub(super) fn by(daemon: u32) -> Result<Self> {
        let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for entry in fs::read_dir("/proc").context("could not list the processes")? {
            let name = entry?.file_name();
            let Some(pid) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
            if let Some(parent) = living_child_of(pid) {
                children.entry(parent).or_default().push(pid);
            }
        }
        let (mut found, mut wanted) = (Vec::new(), vec![daemon]);
        while let Some(parent) = wanted.pop() {
            for pid in children.get(&parent).into_iter().flatten().copied() {
                wanted.push(pid);
                let number = i32::try_from(pid).ok().and_then(Pid::from_raw);
                // One that ends just now is none to wait for.
                if let Some(Ok(held)) = number.map(|number| pidfd_open(number, PidfdFlags::empty())) {
                    let children = children.get(&pid).cloned().unwrap_or_default();
                    found.push(Process { pid, command: command_of(pid), held, children });
                }
            }
        }
        Ok(Self(found))
    }

    /// Waits until a daemon has started nothing but the one process that is kept ready and holds no program, with its
    /// helpers: under a daemon of root they stay outside of its namespaces until a program comes.
    ///
    /// One whose program has ended looks the same until it ends, so of several the daemon keeps only one.
    ///
    /// # Errors
    ///
    /// More than that is there when the time is over; the kernel could not be asked.
    pub(super) async fn only_one_waits(daemon: u32, within: Duration) -> Result<()> {
        let begun = Instant::now();
        loop {
            let found = Self::by(daemon)?;
            let (waiting, without_program) = found.without_program();
            if waiting <= 1 && without_program == found.count() {
                return Ok(());
            }
            found.one_gone(within.saturating_sub(begun.elapsed())).await?;
        }
    }

    /// Returns how many processes wait for a program or have just lost theirs, and with their helpers.
    fn without_program(&self) -> (usize, usize) {
        let tops =
            self.0.iter().filter(|process| !self.0.iter().any(|other| other.children.contains(&process.pid)));
        let chains: Vec<_> = tops.filter_map(|process| self.keepers_from(process.pid)).collect();
        (chains.len(), chains.iter().map(Vec::len).sum())
    }

    /// Returns a process and all below it, if each of them is a keeper: below one that holds a program is that program.
    fn keepers_from(&self, pid: u32) -> Option<Vec<u32>> {
        // It ended meanwhile.
        let Some(process) = self.0.iter().find(|process| process.pid == pid) else { return Some(Vec::new()) };
        if !process.command.ends_with(KEEPER) {
            return None;
        }
        let mut found = vec![pid];
        for child in &process.children {
            found.extend(self.keepers_from(*child)?);
        }
        Some(found)
    }

    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// Waits until any of them is over.
    async fn one_gone(self, within: Duration) -> Result<()> {
        let waiting = tokio::task::spawn_blocking(move || -> Result<()> {
            let within = Timespec::try_from(within)?;
            let mut polled: Vec<_> =
                self.0.iter().map(|process| PollFd::new(&process.held, PollFlags::IN)).collect();
            let ended = retry_on_intr(|| poll(&mut polled, Some(&within)))?;
            let left =
                || self.0.iter().map(|process| process.command.as_str()).collect::<Vec<_>>().join("`, `");
            ensure!(ended > 0, "one of `{}` is left behind", left());
            Ok(())
        });
        waiting.await.context("could not wait for processes")?
    }

    /// Waits until none of them is there; returns how long that took.
    pub(super) async fn gone(self, within: Duration) -> Result<Duration> {
        let begun = Instant::now();
        let waiting = tokio::task::spawn_blocking(move || -> Result<Duration> {
            for Process { command, held, .. } in self.0 {
                let left = Timespec::try_from(within.saturating_sub(begun.elapsed()))?;
                // A process that is over can be read from.
                let ended = retry_on_intr(|| poll(&mut [PollFd::new(&held, PollFlags::IN)], Some(&left)))?;
                ensure!(ended > 0, "`{command}` is left behind");
            }
            Ok(begun.elapsed())
        });
        waiting.await.context("could not wait for processes")?
    }
}

/// Returns the parent of a process that is not over.
fn living_child_of(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before it is in brackets and may hold anything.
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut words = rest.split(' ');
    let state = words.next()?;
    let parent = words.next()?.parse().ok()?;
    (!["Z", "X"].contains(&state)).then_some(parent)
}

fn command_of(pid: u32) -> String {
    let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&words).replace('\0', " ").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[tokio::test]
    async fn what_is_left_is_found_and_what_is_gone_is_not_waited_for() {
        let mut shell = Command::new("sh");
        shell.args(["-c", "cat; :"]).stdin(Stdio::piped()).stdout(Stdio::null());
        let mut shell = shell.spawn().unwrap();
        let of_us = || StartedProcesses::by(std::process::id()).unwrap();
        // The shell, and soon what it starts.
        while of_us().count() < 2 {
            tokio::task::yield_now().await;
        }
        let left = of_us().gone(Duration::ZERO).await.unwrap_err();
        assert!(left.to_string().contains("left behind"), "{left}");
        let started = of_us();
        drop(shell.stdin.take());
        started.gone(GONE_WITHIN).await.unwrap();
        shell.wait().unwrap();
        assert_eq!(of_us().count(), 0);
        StartedProcesses::only_one_waits(std::process::id(), Duration::ZERO).await.unwrap();
    }

    #[tokio::test]
    async fn of_two_that_hold_no_program_one_has_to_end() {
        let keeper = || {
            let mut shell = Command::new("sh");
            shell.args(["-c", "read line", KEEPER]).stdin(Stdio::piped()).stdout(Stdio::null());
            shell.spawn().unwrap()
        };
        let (mut first, mut second) = (keeper(), keeper());
        while !StartedProcesses::by(std::process::id())
            .unwrap()
            .0
            .iter()
            .all(|process| process.command.ends_with(KEEPER))
        {
            tokio::task::yield_now().await;
        }
        let left = StartedProcesses::only_one_waits(std::process::id(), Duration::ZERO).await.unwrap_err();
        assert!(left.to_string().contains("left behind"), "{left}");
        drop(first.stdin.take());
        StartedProcesses::only_one_waits(std::process::id(), GONE_WITHIN).await.unwrap();
        drop(second.stdin.take());
        first.wait().unwrap();
        second.wait().unwrap();
    }
}
