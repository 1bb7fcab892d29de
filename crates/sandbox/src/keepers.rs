//! Keepers: how they are made, and the one that waits.
//!
//! Owns how a keeper's process is made: this executable again, with a socket for its standard input. To make one, and
//! above all to move it into its control group, takes longer than all the rest of a start, and nothing of it depends on
//! the program. So one is made ahead while a program runs, and goes when no other comes for a while. Invariant: a keeper
//! keeps one program and is never used again.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use palyra_ports::SandboxError;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair, sockopt};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use tokio::process::{Child, Command};
use tokio::task::AbortHandle;

use crate::control_groups::{ControlGroup, ControlGroups};
use crate::hidden_commands::{self, KEEP};
use crate::message::{self, KeeperPlace, MESSAGE_BYTES_MAX, Namespaces, SystemBytes};
use crate::program_ids::ProgramIds;

/// Keepers that this process has made: none has the name of another, whichever sandbox it is of.
static MADE: AtomicU64 = AtomicU64::new(0);

/// How long a keeper waits for a program before it is let go.
const WAIT_SECS_MAX: u64 = 300;

/// Makes keepers, and holds the one that waits.
#[derive(Debug)]
pub(crate) struct KeeperPool {
    executable: PathBuf,
    namespaces: Namespaces,
    users: ProgramUsers,
    groups: Option<ControlGroups>,
    waiting: Mutex<Option<WaitingKeeper>>,
}

/// Whether programs have a user of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProgramUsers {
    Own,
    Daemons,
}

/// A keeper that was started, has taken its place and knows no program yet.
#[derive(Debug)]
pub(crate) struct KeeperProcess {
    pub(crate) process: Child,
    pub(crate) control: OwnedFd,
    pub(crate) group: Option<ControlGroup>,
    /// As whom its program may run.
    pub(crate) user: Option<ProgramIds>,
    /// Used once.
    pub(crate) name: String,
}

#[derive(Debug)]
struct WaitingKeeper {
    keeper: KeeperProcess,
    end: AbortHandle,
}

impl KeeperPool {
    pub(crate) fn new(
        executable: PathBuf,
        namespaces: Namespaces,
        users: ProgramUsers,
        groups: Option<ControlGroups>,
    ) -> Self {
        Self { executable, namespaces, users, groups, waiting: Mutex::new(None) }
    }

    pub(crate) fn namespaces(&self) -> Namespaces {
        self.namespaces
    }

    /// Returns the keeper that waits, if there is one; never blocks.
    pub(crate) fn take_waiting(&self) -> Option<KeeperProcess> {
        Self::ready(self.waiting.try_lock().ok()?.take())
    }

    /// Returns the keeper that waits or is being made, else a new one. Blocks for as long as a process takes to begin.
    pub(crate) fn take(&self) -> Result<KeeperProcess, SandboxError> {
        let waiting = self.waiting().take();
        Self::ready(waiting).map_or_else(|| self.make(), Ok)
    }

    fn ready(waiting: Option<WaitingKeeper>) -> Option<KeeperProcess> {
        let WaitingKeeper { mut keeper, end } = waiting?;
        end.abort();
        keeper.still_waits().then_some(keeper)
    }

    /// Makes a keeper ahead, if none waits; blocks likewise. Whoever takes one meanwhile gets this one.
    pub(crate) fn make_ahead(self: &Arc<Self>) {
        let mut waiting = self.waiting();
        // Without one the next start makes its own, and tells why it cannot.
        if waiting.is_none()
            && let Ok(keeper) = self.make()
        {
            let end = tokio::spawn(Self::let_go(Arc::downgrade(self))).abort_handle();
            *waiting = Some(WaitingKeeper { keeper, end });
        }
    }

    async fn let_go(this: Weak<Self>) {
        tokio::time::sleep(Duration::from_secs(WAIT_SECS_MAX)).await;
        // Whoever makes one holds what is asked for here all the while.
        let taken =
            tokio::task::spawn_blocking(move || this.upgrade().and_then(|this| this.waiting().take()));
        if let Ok(Some(waiting)) = taken.await {
            waiting.keeper.end().await;
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Option<WaitingKeeper>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn make(&self) -> Result<KeeperProcess, SandboxError> {
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}-{number}", std::process::id());
        let user = match self.users {
            ProgramUsers::Own => Some(ProgramIds::of(number)),
            ProgramUsers::Daemons => None,
        };
        let group = self.groups.as_ref().map(|groups| groups.make(&name));
        let group = group.transpose().map_err(broken("control group"))?;
        let files = |of: fn(&ControlGroup) -> Vec<PathBuf>| {
            group.as_ref().map(of).unwrap_or_default().iter().map(SystemBytes::from).collect()
        };
        let place = KeeperPlace {
            namespaces: self.namespaces,
            user,
            group_files: files(ControlGroup::files),
            share_files: files(ControlGroup::share_files),
            weighed: self.groups.as_ref().is_some_and(ControlGroups::weighed),
        };
        let (control, keepers) = sockets().map_err(broken("socket"))?;
        let mut process = Command::from(hidden_commands::again(&self.executable, KEEP));
        process.stdin(Stdio::from(keepers)).stdout(Stdio::piped()).stderr(Stdio::piped());
        let process = process.spawn().map_err(broken("keeper"))?;
        message::send(control.as_fd(), &place).map_err(broken("order"))?;
        Ok(KeeperProcess { process, control, group, user, name })
    }
}

impl Drop for KeeperPool {
    fn drop(&mut self) {
        if let Some(WaitingKeeper { end, .. }) = self.waiting().take() {
            end.abort();
        }
    }
}

impl KeeperProcess {
    /// Returns whether it runs and has sent nothing: one that waits sends something only when it failed.
    fn still_waits(&mut self) -> bool {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let silent =
            poll(&mut [PollFd::new(&self.control, PollFlags::IN)], Some(&now)).is_ok_and(|ready| ready == 0);
        // A process that it began keeps its socket open for a moment after it was killed.
        silent && matches!(self.process.try_wait(), Ok(None))
    }

    /// Returns a descriptor of its process; `None` where that is gone.
    pub(crate) fn descriptor(&self) -> Option<OwnedFd> {
        let pid = self.process.id().and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw)?;
        pidfd_open(pid, PidfdFlags::empty()).ok()
    }

    /// Lets it end, waits for that, and takes away its group.
    pub(crate) async fn end(self) {
        let Self { mut process, control, group, .. } = self;
        drop(control);
        let _ = process.wait().await;
        // Removing a group may wait for processes that are left in it.
        let _ = tokio::task::spawn_blocking(move || group.map(ControlGroup::remove)).await;
    }
}

fn sockets() -> io::Result<(OwnedFd, OwnedFd)> {
    let (ours, keepers) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    sockopt::set_socket_send_buffer_size(&ours, MESSAGE_BYTES_MAX * 2)?;
    Ok((ours, keepers))
}

/// Says at which step a mechanism failed.
pub(crate) fn broken(stage: &str) -> impl FnOnce(io::Error) -> SandboxError {
    let stage = stage.to_owned();
    move |cause| SandboxError::Broken { stage, cause }
}
