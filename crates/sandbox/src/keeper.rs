//! The process between the daemon and a confined program.
//!
//! Owns the order in which things are put in place, and the end: when the daemon says stop, or is gone, or the program
//! has exited, all that was started is ended, and only then is the end told. Knows no policy. Has one thread, because
//! namespaces are made for a process of one thread only.
//!
//! Where there are namespaces: keeper (outside) -> reaper, process 1 of the new table -> program. Where there are
//! none: keeper -> program, and the keeper adopts what the program leaves behind. Begin at [`run`].

use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use std::path::PathBuf;
use std::process::ExitCode;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::RecvFlags;
use rustix::pipe::PipeFlags;
use rustix::process::{Pid, PidfdFlags, Signal};
use serde::de::DeserializeOwned;

use crate::failure::StepFailure;
use crate::fork::{fork, fork_of, wait_for};
use crate::mapped_mounts::MappedMounts;
use crate::message::{
    self, EgressMode, KeeperEvent, KeeperOrder, KeeperPlace, MESSAGE_BYTES_MAX, Namespaces, SandboxTier,
    SystemBytes,
};
use crate::program_ids::ProgramIds;
use crate::reaper::HandedOver;
use crate::user_mapper::UserMapper;
use crate::{child, cpu_priority, memory_watch, mounts, namespaces, reaper};

/// Keeps one program: the whole life of a process that was started with the hidden sub-command. Its standard input is
/// the socket to the daemon; output and errors are the program's.
///
/// To be called before the process has a second thread.
#[must_use]
pub fn run() -> ExitCode {
    let Ok(control) = take_control() else { return ExitCode::FAILURE };
    let told = match keep(control.as_fd()) {
        Ok(told) => told,
        Err(failure) => failure.keeper_event(),
    };
    // A daemon that is gone needs no word.
    let _ = message::send(control.as_fd(), &told);
    ExitCode::SUCCESS
}

/// Moves the socket away from standard input, and closes everything else that came along.
fn take_control() -> io::Result<OwnedFd> {
    let control = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
    let nothing = rustix::fs::open("/dev/null", rustix::fs::OFlags::RDONLY, rustix::fs::Mode::empty())?;
    rustix::stdio::dup2_stdin(&nothing)?;
    drop(nothing);
    let control = if rustix::fd::AsRawFd::as_raw_fd(&control) == 3 {
        control
    } else {
        // SAFETY: descriptor 3 came along, so that nothing in this process owns it; from here on the result does.
        let moved = unsafe {
            if libc::dup3(rustix::fd::AsRawFd::as_raw_fd(&control), 3, libc::O_CLOEXEC) < 0 {
                return Err(io::Error::last_os_error());
            }
            OwnedFd::from_raw_fd(3)
        };
        // Before all that came along is closed: nothing is closed twice.
        drop(control);
        moved
    };
    // SAFETY: closes descriptors that this process does not use: it holds 0 to 3 only.
    let closed = unsafe { libc::syscall(libc::SYS_close_range, 4_u32, u32::MAX, 0_u32) };
    if closed < 0 { Err(io::Error::last_os_error()) } else { Ok(control) }
}

/// Tries what tier C needs, and says on standard error what fails. With folders as arguments it tries to show one of
/// them to a program's own user.
#[must_use]
pub fn probe() -> ExitCode {
    let folders: Vec<PathBuf> = std::env::args_os().skip(2).map(PathBuf::from).collect();
    let tried = if folders.is_empty() { try_namespaces() } else { try_users(&folders) };
    match tried {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(StepFailure { stage, cause }) => {
            // The daemon reads it.
            let _ = writeln!(io::stderr(), "{stage}: {cause}");
            ExitCode::FAILURE
        }
    }
}

fn try_namespaces() -> Result<i32, StepFailure> {
    namespaces::make(None)
        .and_then(|()| namespaces::make_mounts(SandboxTier::Isolated))
        .map_err(StepFailure::at("namespaces"))?;
    tried_in_child(mounts::probe)
}

/// Tries all that a program's own user needs, with the first of the folders that can be shown so.
fn try_users(folders: &[PathBuf]) -> Result<i32, StepFailure> {
    let ids = ProgramIds::of(0);
    let helper = UserMapper::begin(ids)?;
    namespaces::make(Some(&helper))
        .and_then(|()| namespaces::make_mounts(SandboxTier::Isolated))
        .map_err(StepFailure::at("namespaces"))?;
    let mut tree = Err(io::Error::from(io::ErrorKind::NotFound));
    for folder in folders {
        tree = helper.map_readable(folder);
        if tree.is_ok() {
            break;
        }
    }
    helper.end()?;
    let tree = tree.map_err(StepFailure::at("idmapped mount"))?;
    tried_in_child(|| mounts::probe_mapped(tree, ids))
}

/// Does it in a process of its own: a process table is mounted by one that lives in it.
fn tried_in_child(work: impl FnOnce() -> Result<(), StepFailure>) -> Result<i32, StepFailure> {
    let pid = fork(|| match work() {
        Ok(()) => 0,
        Err(StepFailure { stage, cause }) => {
            let _ = writeln!(io::stderr(), "{stage}: {cause}");
            1
        }
    })?;
    let status = wait_for(pid).map_err(StepFailure::at("wait"))?;
    Ok(status.exit_status().unwrap_or(1))
}

fn keep(control: BorrowedFd<'_>) -> Result<KeeperEvent, StepFailure> {
    let Some((place, _)) = hear::<KeeperPlace>(control)? else { return Ok(KeeperEvent::Stopped) };
    let helper = take_place(&place)?;
    // Nothing so far depends on the program, so that a keeper can wait here for one.
    let Some((mut order, mut sealed)) = hear::<KeeperOrder>(control)? else {
        return Ok(KeeperEvent::Stopped);
    };
    if 1 + order.sealed.len() != sealed.len() || order.namespaces != place.namespaces {
        return Err(StepFailure { stage: "order", cause: io::Error::other("it does not fit") });
    }
    // The kernel finds the current folder again when it copies the mounts: from here on the workspace is where this
    // process is, and no path has to lead there.
    let workspace = sealed.remove(0);
    let mapped = MappedMounts::make(&mut order, helper, workspace.as_fd(), control)?;
    rustix::process::fchdir(workspace).map_err(StepFailure::at("folder"))?;
    let (reports, report) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC).map_err(StepFailure::at("pipe"))?;
    let pid = match order.namespaces {
        Namespaces::Own => {
            namespaces::make_mounts(order.tier).map_err(StepFailure::at("namespaces"))?;
            if order.egress == EgressMode::Guarded {
                let listener = namespaces::listen().map_err(StepFailure::at("egress socket"))?;
                message::send_with(control, &KeeperEvent::Listening, &[listener.as_fd()])
                    .map_err(StepFailure::at("egress socket"))?;
            }
            let handed = HandedOver { sealed: &sealed, mapped };
            fork_of(|maker| reaper::run(&order, handed, control, &report, &maker))?
        }
        Namespaces::None => {
            rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
                .map_err(StepFailure::at("subreaper"))?;
            child::start(&order, None, control)?
        }
    };
    drop(report);
    watch(&order, control, pid, &reports)
}

/// Waits for the daemon's next message; `None` when it is gone.
fn hear<M: DeserializeOwned>(control: BorrowedFd<'_>) -> Result<Option<(M, Vec<OwnedFd>)>, StepFailure> {
    let heard = message::receive_with(control, MESSAGE_BYTES_MAX, RecvFlags::empty());
    let (bytes, descriptors) = heard.map_err(StepFailure::at("order"))?;
    if bytes.is_empty() {
        return Ok(None);
    }
    Ok(Some((serde_json::from_slice(&bytes).map_err(StepFailure::at("order"))?, descriptors)))
}

/// Leaves the daemon's session, groups and namespaces, as far as that is the same for every program. Returns the helper
/// that stays where this process was, where the program may be another user.
fn take_place(place: &KeeperPlace) -> Result<Option<UserMapper>, StepFailure> {
    rustix::process::setsid().map_err(StepFailure::at("session"))?;
    for file in &place.group_files {
        std::fs::write(file.path(), "0").map_err(StepFailure::at("control group"))?;
    }
    let joined = |file: &SystemBytes| std::fs::write(file.path(), "0").is_ok();
    if !place.share_files.iter().all(joined) || !place.weighed {
        cpu_priority::lower_weight();
    }
    match place.namespaces {
        Namespaces::Own => {
            let helper = place.user.map(UserMapper::begin).transpose()?;
            namespaces::make(helper.as_ref()).map_err(StepFailure::at("namespaces"))?;
            Ok(helper)
        }
        Namespaces::None => Ok(None),
    }
}

/// Waits for the child's end, or for the daemon's word or end, whichever comes first; nothing is left afterwards.
fn watch(
    order: &KeeperOrder,
    control: BorrowedFd<'_>,
    pid: Pid,
    reports: &OwnedFd,
) -> Result<KeeperEvent, StepFailure> {
    reaper::let_go_of_output().map_err(StepFailure::at("output"))?;
    let child = rustix::process::pidfd_open(pid, PidfdFlags::empty()).map_err(StepFailure::at("pidfd"))?;
    let mut ready = [PollFd::new(&child, PollFlags::IN), PollFd::new(&control, PollFlags::IN)];
    let over = wait(&mut ready, order)?;
    let stopped = over.is_none() && ready[0].revents().is_empty();
    if stopped || over.is_some() {
        let _ = rustix::process::kill_process(pid, Signal::KILL);
    }
    let status = wait_for(pid).map_err(StepFailure::at("wait"))?;
    if order.namespaces == Namespaces::None {
        reaper::end_descendants().map_err(StepFailure::at("descendants"))?;
    }
    if let Some(over) = over {
        return Ok(over);
    }
    Ok(match order.namespaces {
        _ if stopped => KeeperEvent::Stopped,
        Namespaces::Own => reaper::reported(reports),
        Namespaces::None => reaper::exit_event(status),
    })
}

/// Waits until one of them is ready. Where nothing else counts what the program uses up, looks meanwhile, and returns
/// what to tell when it is too much.
fn wait(ready: &mut [PollFd<'_>], order: &KeeperOrder) -> Result<Option<KeeperEvent>, StepFailure> {
    let looks = order.namespaces == Namespaces::None && !order.limits.memory_is_counted;
    let pause = Timespec { tv_sec: 0, tv_nsec: memory_watch::PAUSE.subsec_nanos().into() };
    loop {
        let some = rustix::io::retry_on_intr(|| poll(ready, looks.then_some(&pause)));
        if some.map_err(StepFailure::at("poll"))? > 0 {
            return Ok(None);
        }
        let used = memory_watch::used_below().map_err(StepFailure::at("memory"))?;
        if let Some(over) = used.over(&order.limits) {
            return Ok(Some(over));
        }
    }
}
