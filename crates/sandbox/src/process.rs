//! A confined program as the daemon sees it.
//!
//! Owns the task that hears its keeper, and takes away what was made for it. Invariant: the end is told when nothing
//! of the program is left, and that happens whether or not anybody waits for it.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_ports::{ConfinedProcess, ProgramEnd, SandboxError};
use rustix::net::{RecvFlags, SendFlags};
use rustix::process::{Signal, pidfd_send_signal};
use tokio::io::unix::AsyncFd;
use tokio::sync::{oneshot, watch};

use crate::control_groups::ControlGroup;
use crate::keepers::{KeeperProcess, broken};
use crate::message::{KeeperEvent, STOP, receive_with};
use crate::scheduler_tick::TickGuard;
use crate::scratch::ScratchFolder;
use crate::workspace;

/// Bytes of a keeper's word, at most.
const TOLD_BYTES_MAX: usize = 4096;

/// A program that runs.
pub(crate) struct Process {
    control: Arc<AsyncFd<OwnedFd>>,
    /// The process that supervises it.
    keeper: Option<OwnedFd>,
    output: Option<(OwnedFd, OwnedFd)>,
    listener: Option<OwnedFd>,
    runs_as_root: Option<i32>,
    ended: watch::Receiver<Option<ProgramEnd>>,
}

impl Process {
    /// Waits until the program runs, or has failed to. It is ended when nobody waits any more.
    pub(crate) async fn begin(
        mut keeper: KeeperProcess,
        scratch: Option<ScratchFolder>,
        program: String,
    ) -> Result<Self, SandboxError> {
        let output = take_output(&mut keeper).map_err(broken("output"))?;
        let control = keeper.control.try_clone().and_then(into_async).map_err(broken("socket"))?;
        let control = Arc::new(control);
        let (begun, begins) = oneshot::channel();
        let (end, ended) = watch::channel(None);
        let mut process = Self {
            control: Arc::clone(&control),
            keeper: keeper.descriptor(),
            output: Some(output),
            listener: None,
            runs_as_root: None,
            ended,
        };
        tokio::spawn(follow(keeper, scratch, control, begun, end));
        match begins.await {
            Ok(StartedKeeper { told: KeeperEvent::Failed { stage, errno }, .. }) => {
                Err(refusal(program, stage, errno))
            }
            Ok(StartedKeeper { listener, runs_as_root, .. }) => {
                process.listener = listener;
                process.runs_as_root = runs_as_root;
                Ok(process)
            }
            Err(_lost) => Err(broken("keeper")(io::Error::other("it ended before the program began"))),
        }
    }
}

impl Process {
    /// Returns the system's word for why the program is root's although it need not be.
    pub(crate) fn runs_as_root(&self) -> Option<i32> {
        self.runs_as_root
    }
}

/// A keeper's first word, and what came before it.
struct StartedKeeper {
    told: KeeperEvent,
    listener: Option<OwnedFd>,
    runs_as_root: Option<i32>,
}

impl ConfinedProcess for Process {
    fn take_output(&mut self) -> Option<(OwnedFd, OwnedFd)> {
        self.output.take()
    }

    fn take_listener(&mut self) -> Option<OwnedFd> {
        self.listener.take()
    }

    fn wait(&mut self) -> BoxFuture<'_, ProgramEnd> {
        async move {
            match self.ended.wait_for(Option::is_some).await {
                Ok(ended) => ended.unwrap_or(ProgramEnd::Stopped),
                Err(_lost) => ProgramEnd::Stopped,
            }
        }
        .boxed()
    }

    fn stop(&mut self) {
        // A keeper that is gone has nothing left to stop.
        let _ = rustix::net::send(self.control.get_ref(), STOP, SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
        if let Some(keeper) = &self.keeper {
            // One that was stopped with SIGSTOP would not read it.
            let _ = pidfd_send_signal(keeper, Signal::CONT);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Hears the keeper until it is gone, tells how the program ended, and takes away what was made for it.
async fn follow(
    keeper: KeeperProcess,
    scratch: Option<ScratchFolder>,
    control: Arc<AsyncFd<OwnedFd>>,
    begun: oneshot::Sender<StartedKeeper>,
    end: watch::Sender<Option<ProgramEnd>>,
) {
    let mut begun = Some(begun);
    let mut ended = None;
    let mut listener = None;
    let mut runs_as_root = None;
    let mut playing = None;
    while let Some((told, descriptor)) = hear(&control).await {
        match &told {
            KeeperEvent::Listening => {
                listener = descriptor;
                continue;
            }
            KeeperEvent::RunsAsRoot { errno } => {
                runs_as_root = Some(*errno);
                continue;
            }
            KeeperEvent::Started => playing = Some(TickGuard::begin()),
            KeeperEvent::Failed { .. } => {}
            KeeperEvent::OverMemory => ended = Some(ProgramEnd::OverMemory),
            KeeperEvent::OverProcesses => ended = Some(ProgramEnd::OverProcesses),
            KeeperEvent::KeptLost => ended = Some(ProgramEnd::KeptLost),
            KeeperEvent::Exited { code } => ended = Some(ProgramEnd::Exited { code: *code }),
            KeeperEvent::Signalled { signal } => ended = Some(ProgramEnd::Signalled { signal: *signal }),
            KeeperEvent::Stopped => ended = Some(ProgramEnd::Stopped),
        }
        // The first word decides whether it has begun.
        if let Some(begun) = begun.take() {
            let _ = begun.send(StartedKeeper { told, listener: listener.take(), runs_as_root });
        }
        if ended.is_some() {
            break;
        }
    }
    drop(playing);
    if let Some(scratch) = scratch {
        let _ = tokio::task::spawn_blocking(move || scratch.remove()).await;
    }
    let out_of_memory = || keeper.group.as_ref().is_some_and(ControlGroup::ran_out_of_memory);
    match ended {
        // A word of the keeper means that the program and all that it started are gone: the keeper itself may take its
        // time, for the kernel waits until nobody looks at its mounts any more.
        Some(ProgramEnd::Signalled { signal: libc::SIGKILL }) if out_of_memory() => {
            end.send_replace(Some(ProgramEnd::OverMemory));
            keeper.end().await;
        }
        Some(ended) => {
            end.send_replace(Some(ended));
            keeper.end().await;
        }
        None => {
            let ended = if out_of_memory() { ProgramEnd::OverMemory } else { ProgramEnd::Stopped };
            keeper.end().await;
            end.send_replace(Some(ended));
        }
    }
}

/// Waits for the keeper's next word; `None` when it is gone, or makes no sense.
async fn hear(control: &AsyncFd<OwnedFd>) -> Option<(KeeperEvent, Option<OwnedFd>)> {
    loop {
        let mut ready = control.readable().await.ok()?;
        match ready.try_io(|socket| receive_with(socket.as_fd(), TOLD_BYTES_MAX, RecvFlags::DONTWAIT)) {
            Ok(Ok((bytes, _))) if bytes.is_empty() => return None,
            Ok(Ok((bytes, descriptors))) => {
                return Some((serde_json::from_slice(&bytes).ok()?, descriptors.into_iter().next()));
            }
            // Who leaves without having heard us all is reported so before its last words.
            Ok(Err(error))
                if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::ConnectionReset) => {}
            Ok(Err(_)) => return None,
            Err(_would_block) => {}
        }
    }
}

fn into_async(socket: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    rustix::io::ioctl_fionbio(&socket, true)?;
    // SAFETY: the descriptor is owned by the registration, and closed by nobody else before it.
    Ok(unsafe { AsyncFd::register(socket) }?)
}

fn take_output(keeper: &mut KeeperProcess) -> io::Result<(OwnedFd, OwnedFd)> {
    let missing = || io::Error::other("the supervisor has no output");
    let output = keeper.process.stdout.take().ok_or_else(missing)?.into_owned_fd()?;
    let errors = keeper.process.stderr.take().ok_or_else(missing)?.into_owned_fd()?;
    Ok((output, errors))
}

fn refusal(program: String, stage: String, errno: i32) -> SandboxError {
    let cause = io::Error::from_raw_os_error(errno);
    match stage.as_str() {
        "program" => SandboxError::NotStarted { program, cause: cause.to_string() },
        workspace::REPLACED => SandboxError::NotStarted {
            program,
            cause: "its workspace is not at its path any more; tell the user".to_owned(),
        },
        "folder" => {
            SandboxError::NotStarted { program, cause: format!("its folder cannot be used: {cause}") }
        }
        _ => SandboxError::Broken { stage, cause },
    }
}

#[cfg(test)]
mod tests {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

    use super::*;
    use crate::message;

    #[tokio::test]
    async fn the_last_words_of_a_keeper_that_did_not_listen_are_heard() {
        let (ours, keepers) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
                .expect("a pair");
        let ours = into_async(ours).expect("a socket");
        message::send(ours.get_ref().as_fd(), &KeeperEvent::Started).expect("a word that nobody reads");
        let failed = KeeperEvent::Failed { stage: "namespaces".to_owned(), errno: libc::EPERM };
        message::send(keepers.as_fd(), &failed).expect("its last words");
        drop(keepers);
        let heard = hear(&ours).await;
        assert!(matches!(heard, Some((KeeperEvent::Failed { errno: libc::EPERM, .. }, None))), "{heard:?}");
        assert!(hear(&ours).await.is_none());
    }
}
