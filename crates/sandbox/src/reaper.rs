//! Process 1 of the program's own process table, and the end of all that it started.
//!
//! Owns nothing but the wait: it reaps whoever is left behind, and exits when the program does, upon which the kernel
//! ends whatever else is in the table. Invariant: it holds no output of the program open.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::fs::Mode;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};

use crate::children::children_of;
use crate::failure::StepFailure;
use crate::fork::MakerProcess;
use crate::kept_watch::{KeptMounts, KeptWatch};
use crate::mapped_mounts::MappedMounts;
use crate::message::{self, KeeperEvent, KeeperOrder, Limits, SandboxTier};
use crate::{capabilities, child, memory_watch, mounts};

/// What the keeper has for the mounts, beside the order.
pub(crate) struct HandedOver<'k> {
    pub(crate) sealed: &'k [OwnedFd],
    pub(crate) mapped: MappedMounts,
}

/// Exit code of a reaper that could not do its work; the failure was told before.
const BROKEN: i32 = 70;

/// Puts the mounts in place, starts the program, waits for its end, and reports it; returns the exit code.
pub(crate) fn run(
    order: &KeeperOrder,
    handed: HandedOver<'_>,
    control: BorrowedFd<'_>,
    report: &OwnedFd,
    maker: &MakerProcess,
) -> i32 {
    match keep(order, handed, control, maker) {
        Ok(told) => {
            let bytes = serde_json::to_vec(&told).unwrap_or_default();
            // The keeper that should read it ends everything when it cannot.
            let _ = rustix::io::write(report, &bytes);
            0
        }
        Err(failure) => {
            let _ = message::send(control, &failure.keeper_event());
            BROKEN
        }
    }
}

/// Reads what process 1 reported before it ended; without a report it was ended.
pub(crate) fn reported(reports: &OwnedFd) -> KeeperEvent {
    const REPORT_BYTES_MAX: usize = 256;
    let mut bytes = [0; REPORT_BYTES_MAX];
    let length = rustix::io::retry_on_intr(|| rustix::io::read(reports, &mut bytes[..])).unwrap_or(0);
    serde_json::from_slice(&bytes[..length]).unwrap_or(KeeperEvent::Stopped)
}

/// Tells how a process ended.
pub(crate) fn exit_event(status: WaitStatus) -> KeeperEvent {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => KeeperEvent::Exited { code },
        (None, Some(signal)) => KeeperEvent::Signalled { signal },
        (None, None) => KeeperEvent::Stopped,
    }
}

fn keep(
    order: &KeeperOrder,
    handed: HandedOver<'_>,
    control: BorrowedFd<'_>,
    maker: &MakerProcess,
) -> Result<KeeperEvent, StepFailure> {
    // The folders above what is mounted are for the program, whatever the daemon's own files are for.
    rustix::process::umask(Mode::WGRP | Mode::WOTH);
    let (program, kept) = match order.tier {
        SandboxTier::Confined => mounts::beside_the_host(order, handed.sealed)?,
        SandboxTier::Isolated => mounts::own_root(order, handed.sealed, handed.mapped)?,
    };
    let kept = if kept.is_empty() { None } else { Some(KeptMounts::look(kept)) };
    let kept = kept.transpose().map_err(StepFailure::at("kept file"))?;
    let pid = child::start(order, program.as_ref(), control)?;
    capabilities::drop_all(order.user).map_err(StepFailure::at("capabilities"))?;
    maker.end_with().map_err(StepFailure::at("keeper"))?;
    let_go_of_output().map_err(StepFailure::at("output"))?;
    let limits = order.limits;
    let told = match kept {
        Some(kept) => KeptWatch::begin(kept).and_then(|kept| reap_and_watch(pid, &limits, &kept)),
        None if limits.memory_is_counted => reap_until(pid),
        None => reap_and_count(pid, &limits),
    };
    told.map_err(StepFailure::at("wait"))
}

/// Lets the readers of the program's output see its end, and not ours.
pub(crate) fn let_go_of_output() -> io::Result<()> {
    let nothing = rustix::fs::open("/dev/null", rustix::fs::OFlags::WRONLY, rustix::fs::Mode::empty())?;
    rustix::stdio::dup2_stdout(&nothing)?;
    rustix::stdio::dup2_stderr(&nothing)?;
    Ok(())
}

fn reap_until(program: Pid) -> io::Result<KeeperEvent> {
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == program => return Ok(exit_event(status)),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Does the same where nothing counts all of it together: looks itself, again and again.
fn reap_and_count(program: Pid, limits: &Limits) -> io::Result<KeeperEvent> {
    memory_watch::begin()?;
    loop {
        if let Some(ended) = reap_all(program)? {
            return Ok(ended);
        }
        if let Some(over) = memory_watch::used_in_this_table()?.over(limits) {
            return Ok(over);
        }
        memory_watch::pause()?;
    }
}

/// Does the same, and looks whether what is kept is still mounted.
fn reap_and_watch(program: Pid, limits: &Limits, kept: &KeptWatch) -> io::Result<KeeperEvent> {
    loop {
        if kept.is_lost() {
            return Ok(KeeperEvent::KeptLost);
        }
        if let Some(ended) = reap_all(program)? {
            return Ok(ended);
        }
        if !limits.memory_is_counted
            && let Some(over) = memory_watch::used_in_this_table()?.over(limits)
        {
            return Ok(over);
        }
        kept.pause()?;
    }
}

/// Reaps all that have ended; returns how the program did.
fn reap_all(program: Pid) -> io::Result<Option<KeeperEvent>> {
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) if pid == program => return Ok(Some(exit_event(status))),
            Ok(None) => return Ok(None),
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Ends every process that this one has adopted, and what they start meanwhile.
pub(crate) fn end_descendants() -> io::Result<()> {
    loop {
        for pid in children_of(rustix::process::getpid())? {
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(Errno::CHILD) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}
