//! A program while it runs: its output is gathered, and it is ended when nobody wants it any more.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use palyra_ports::{
    COMMAND_BYTES_MAX, ConfinedCommand, ConfinedProcess, CredentialUser, EgressGrant, GuardEgress, KeptOwner,
    NetworkAccess, OutputSink, ProcessSandbox, ProgramEnd, WorkspaceAccess,
};
use palyra_types::SessionId;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;

use crate::failure::CommandFailure;
use crate::plan::{CommandPlan, PlannedCommand};
use crate::protection::{ProgramReview, ProtectionScope};
use crate::reach::{self, EgressDoor, NetworkReach};
use crate::settings::CommandSettings;

/// Bytes that are read at once.
const PIECE_BYTES: usize = 16 * 1024;
/// Bytes of a program's output that are read as fast as it prints. Who prints more waits for its reader: a flood would
/// else cost the daemon as much as the program, and nobody sees the most of it.
const UNHURRIED_FROM_BYTES: usize = 4 << 20;
/// What is read between two pauses from then on: what a pipe holds. With the pause, 16 MiB a second.
const PACED_BYTES: usize = 64 * 1024;
/// What each read counts for at least: many small ones cost as much as few large ones.
const READ_BYTES_MIN: usize = 4096;
const PAUSE: Duration = Duration::from_millis(4);

/// What becomes of the output of a program.
pub(crate) struct OutputHandling {
    /// Bytes of it that are kept.
    pub(crate) bytes_max: usize,
    /// Who watches it meanwhile.
    pub(crate) watched: OutputSink,
}

/// What keeps output.
pub(crate) trait OutputStore: Send + 'static {
    /// Makes an empty one that keeps so many bytes.
    fn new(bytes_max: usize) -> Self;

    /// Adds what was printed.
    fn push(&mut self, bytes: &[u8]);
}

/// Output that is still being gathered.
#[derive(Debug)]
pub(crate) struct GatheredOutput<K>(Arc<Mutex<K>>);

impl<K> GatheredOutput<K> {
    pub(crate) fn get(&self) -> MutexGuard<'_, K> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K> Clone for GatheredOutput<K> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

/// A program that runs, and its output.
pub(crate) struct RunningProgram<K> {
    pub(crate) process: Box<dyn ConfinedProcess>,
    pub(crate) output: GatheredOutput<K>,
    /// The way out, when it has one; closed once the program has ended.
    pub(crate) door: Option<Arc<EgressDoor>>,
    /// What it may not leave behind; looked at for the last time once it has ended.
    pub(crate) protection: Option<Arc<ProgramReview>>,
    readers: Vec<tokio::task::JoinHandle<()>>,
}

/// What a program is started with.
#[derive(Clone, Copy)]
pub(crate) struct LaunchContext<'p> {
    pub(crate) sandbox: &'p dyn ProcessSandbox,
    pub(crate) settings: &'p CommandSettings,
    pub(crate) guard: Option<&'p dyn GuardEgress>,
    /// On whose behalf its credentials are used.
    pub(crate) used_by: CredentialUser,
    /// The session of its run.
    pub(crate) session: SessionId,
}

impl LaunchContext<'_> {
    /// Returns whose the things are that it leaves in protected places.
    fn kept_owner(&self) -> KeptOwner {
        let CredentialUser { principal, run, effect } = self.used_by;
        KeptOwner { principal, session: self.session, run, effect }
    }
}

/// Starts what was planned.
pub(crate) async fn start<K: OutputStore>(
    context: LaunchContext<'_>,
    planned: PlannedCommand,
    hearing: OutputHandling,
) -> Result<RunningProgram<K>, CommandFailure> {
    let CommandPlan { hosts, credentials, .. } = &planned.plan;
    let reach = NetworkReach::read(hosts, credentials)?;
    let reach = (!hosts.is_empty()).then(|| reach.grant(context.used_by));
    let read_only = planned.plan.read_only.clone();
    let mut command = command(context.settings, planned);
    let bytes_left = COMMAND_BYTES_MAX.saturating_sub(command.text_bytes());
    let (workspace, owner) = (command.workspace.clone(), context.kept_owner());
    let scope = ProtectionScope { workspace, owner, read_only, bytes_left };
    let protection = ProgramReview::begin(context.settings, scope).await?;
    command.kept = protection.mounted().to_vec();
    if protection.is_read_only() {
        command.access = WorkspaceAccess::Read;
    }
    let started = begin(context, command, reach, hearing).await;
    match started {
        Ok(running) => Ok(RunningProgram { protection: Some(Arc::new(protection)), ..running }),
        Err(failure) => {
            protection.finish().await;
            Err(failure)
        }
    }
}

async fn begin<K: OutputStore>(
    context: LaunchContext<'_>,
    command: ConfinedCommand,
    reach: Option<EgressGrant>,
    hearing: OutputHandling,
) -> Result<RunningProgram<K>, CommandFailure> {
    let mut process = context.sandbox.start(command).await?;
    let door = match reach {
        Some(grant) => Some(Arc::new(open(context.guard, &mut *process, grant)?)),
        None => None,
    };
    Ok(RunningProgram { door, ..gather(process, hearing)? })
}

/// Opens a program's door; without one it is not left running.
fn open(
    guard: Option<&dyn GuardEgress>,
    process: &mut dyn ConfinedProcess,
    grant: EgressGrant,
) -> Result<EgressDoor, CommandFailure> {
    let missing = || {
        CommandFailure::SandboxFailed(
            "the command's connection to the egress proxy could not be opened".to_owned(),
        )
    };
    let guard = guard.ok_or_else(missing)?;
    let listener = process.take_listener().ok_or_else(missing)?;
    guard.serve(listener, grant).map(EgressDoor::new).map_err(|_| missing())
}

/// Gathers what a program prints, output and errors in the order in which they come.
pub(crate) fn gather<K: OutputStore>(
    mut process: Box<dyn ConfinedProcess>,
    hearing: OutputHandling,
) -> Result<RunningProgram<K>, CommandFailure> {
    let OutputHandling { bytes_max, watched } = hearing;
    let output = GatheredOutput(Arc::new(Mutex::new(K::new(bytes_max))));
    let broken =
        |error: std::io::Error| CommandFailure::SandboxFailed(format!("its output cannot be read: {error}"));
    let mut readers = Vec::new();
    for end in process.take_output().map(|(output, errors)| [output, errors]).into_iter().flatten() {
        let end = reader_of(end).map_err(broken)?;
        readers.push(tokio::spawn(read_all(end, output.clone(), watched.clone())));
    }
    Ok(RunningProgram { process, output, door: None, protection: None, readers })
}

impl<K> RunningProgram<K> {
    /// Says what it may not leave behind, when there is something.
    pub(crate) fn describe_protection(&self) -> Option<String> {
        self.protection.as_ref()?.describe()
    }

    /// Waits for the program's end; `None` when it is to be ended, because it makes again what was taken from it.
    pub(crate) async fn end_of_program(&mut self) -> Option<ProgramEnd> {
        let Some(protection) = self.protection.clone() else { return Some(self.process.wait().await) };
        tokio::select! {
            biased;
            ended = self.process.wait() => Some(ended),
            () = protection.is_evaded() => None,
        }
    }
}

impl<K: OutputStore> RunningProgram<K> {
    /// Waits until it has ended and all that it printed was read.
    pub(crate) async fn wait(&mut self) -> ProgramEnd {
        let ended = self.process.wait().await;
        for reader in &mut self.readers {
            // One that is lost leaves what it had read.
            let _ = reader.await;
        }
        self.readers.clear();
        if let Some(door) = &self.door {
            door.close().await;
        }
        if let Some(protection) = &self.protection {
            protection.finish().await;
        }
        ended
    }
}

fn reader_of(end: OwnedFd) -> std::io::Result<pipe::Receiver> {
    rustix::io::ioctl_fionbio(&end, true)?;
    pipe::Receiver::from_owned_fd(end)
}

async fn read_all<K: OutputStore>(mut end: pipe::Receiver, output: GatheredOutput<K>, watched: OutputSink) {
    let mut piece = vec![0; PIECE_BYTES];
    let (mut read, mut until_pause) = (0, UNHURRIED_FROM_BYTES);
    while let Ok(length) = end.read(&mut piece).await {
        if length == 0 {
            return;
        }
        output.get().push(&piece[..length]);
        watched.print(&piece[..length]);
        read += length.max(READ_BYTES_MIN);
        if read >= until_pause {
            tokio::time::sleep(PAUSE).await;
            (read, until_pause) = (read - until_pause, PACED_BYTES);
        }
    }
}

fn command(settings: &CommandSettings, planned: PlannedCommand) -> ConfinedCommand {
    let PlannedCommand { plan, workspace, sealed, programs: _ } = planned;
    let mut environment = settings.environment.clone();
    let network = if plan.hosts.is_empty() { NetworkAccess::None } else { NetworkAccess::Guarded };
    if network == NetworkAccess::Guarded {
        let door = reach::environment(&plan.hosts);
        environment.retain(|(name, _)| door.iter().all(|(own, _)| own != name));
        environment.extend(door);
    }
    ConfinedCommand {
        tier: plan.tier.of_process(),
        program: plan.program.path,
        arguments: plan.argv.into_iter().map(Into::into).collect(),
        environment: environment.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
        directory: plan.folder,
        access: WorkspaceAccess::Change,
        kept: Vec::new(),
        readable: settings.readable.clone(),
        sealed,
        network,
        limits: settings.limits,
        workspace,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// What was read, and what it counted for.
    #[derive(Debug, Default)]
    struct Counted {
        bytes: usize,
        counts: usize,
    }

    impl OutputStore for Counted {
        fn new(_bytes_max: usize) -> Self {
            Self::default()
        }

        fn push(&mut self, bytes: &[u8]) {
            self.bytes += bytes.len();
            self.counts += bytes.len().max(READ_BYTES_MIN);
        }
    }

    /// Prints so many bytes, so many at once, as fast as they are read; returns what was read, and how long the pauses
    /// took together.
    async fn read(bytes: usize, at_once: usize) -> (Counted, Duration) {
        let (end, mut printing) = std::io::pipe().expect("a pipe");
        let printed = std::thread::spawn(move || {
            vec![b'y'; bytes].chunks(at_once).try_for_each(|piece| printing.write_all(piece))
        });
        let output = GatheredOutput(Arc::new(Mutex::new(Counted::default())));
        let begun = tokio::time::Instant::now();
        let end = reader_of(end.into()).expect("a pipe");
        read_all(end, output.clone(), OutputSink::default()).await;
        printed.join().expect("it printed").expect("and was heard");
        let read = std::mem::take(&mut *output.get());
        (read, begun.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn a_flood_is_read_whole_and_slowly() {
        let pieces = [PACED_BYTES, 12 * 1024, READ_BYTES_MIN];
        for at_once in pieces {
            let (read, took) = read(UNHURRIED_FROM_BYTES / 2, at_once).await;
            assert_eq!(read.bytes, UNHURRIED_FROM_BYTES / 2);
            assert!(took.is_zero() || read.counts >= UNHURRIED_FROM_BYTES, "{read:?} {took:?}");
        }
        for (bytes, at_once) in
            pieces.map(|piece| (UNHURRIED_FROM_BYTES + (2 << 20), piece)).into_iter().chain([(8192, 1)])
        {
            let (read, took) = read(bytes, at_once).await;
            assert_eq!(read.bytes, bytes);
            let pauses =
                read.counts.checked_sub(UNHURRIED_FROM_BYTES).map_or(0, |more| 1 + more / PACED_BYTES);
            let pauses = u32::try_from(pauses).expect("few");
            assert!(took >= pauses * PAUSE && took <= pauses * PAUSE * 2, "{pauses} {read:?} {took:?}");
        }
    }
}
