//! Running programs that must not reach what they were not given.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;

use crate::workspace_root::WorkspaceRoot;

/// Starts programs under a tier, or refuses with the mechanism that is missing.
pub trait ProcessSandbox: Send + Sync {
    /// Returns what this host offers; probed once.
    fn offer(&self) -> &SandboxOffer;

    /// Starts a program. It has not begun when this fails.
    fn start(
        &self,
        command: ConfinedCommand,
    ) -> BoxFuture<'static, Result<Box<dyn ConfinedProcess>, SandboxError>>;
}

/// A started program. Dropping it ends the program and all that it started.
pub trait ConfinedProcess: Send {
    /// Takes the read ends of what it prints: output and errors. Only the first call returns them.
    fn take_output(&mut self) -> Option<(OwnedFd, OwnedFd)>;

    /// Takes the socket on which the program's way out arrives, when it was started with
    /// [`NetworkAccess::Guarded`]. Only the first call returns it.
    fn take_listener(&mut self) -> Option<OwnedFd>;

    /// Waits until it has ended, and nothing that it started is left.
    fn wait(&mut self) -> BoxFuture<'_, ProgramEnd>;

    /// Ends it and all that it started; [`wait`](Self::wait) tells when that is done.
    fn stop(&mut self);
}

/// How strongly a program is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProcessTier {
    /// Tier B: Landlock, system call filter, limits; no network, own process and mount tables where the host has
    /// user namespaces.
    Confined,
    /// Tier C: a root of its own beside all of tier B.
    Isolated,
}

/// What to start, and what it may reach. Nothing is inherited.
#[derive(Debug, Clone)]
pub struct ConfinedCommand {
    /// How strongly to hold it.
    pub tier: ProcessTier,
    /// The program, absolute; not searched for.
    pub program: PathBuf,
    /// Its arguments, its own name first.
    pub arguments: Vec<OsString>,
    /// Its whole environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Where it starts; beneath [`workspace`](Self::workspace).
    pub directory: PathBuf,
    /// The folder in which it works, as it was opened: a program reaches this one, whatever its path leads to meanwhile.
    pub workspace: WorkspaceRoot,
    /// What it may do there.
    pub access: WorkspaceAccess,
    /// Files and folders below the workspace that stay as they are; those that do not exist are passed over.
    pub kept: Vec<PathBuf>,
    /// Further files and folders that it may read and execute.
    pub readable: Vec<PathBuf>,
    /// Files that the program finds at their paths whatever becomes of those meanwhile: at most [`SEALED_MAX`].
    pub sealed: Vec<SealedFile>,
    /// Whom it can speak to.
    pub network: NetworkAccess,
    /// What it may use up.
    pub limits: ProcessLimits,
}

/// Bytes of all texts of one command together, at most, as [`ConfinedCommand::text_bytes`] counts them.
pub const COMMAND_BYTES_MAX: usize = 112 * 1024;

/// Bytes that each text counts beyond its own.
const TEXT_BYTES_BESIDE: usize = 8;

impl ConfinedCommand {
    /// Returns the bytes of its arguments, environment and paths, and eight more for each of them.
    #[must_use]
    pub fn text_bytes(&self) -> usize {
        let paths = [self.program.as_path(), &self.directory, self.workspace.path()].into_iter();
        let named = self.kept.iter().chain(&self.readable).chain(self.sealed.iter().map(|file| &file.path));
        let paths = paths.chain(named.map(PathBuf::as_path));
        let pairs = self.environment.iter().flat_map(|(name, value)| [name, value]);
        let texts = self.arguments.iter().chain(pairs).map(|text| text.len());
        text_bytes(texts.chain(paths.map(|path| path.as_os_str().len())))
    }
}

/// Counts texts of some lengths as [`ConfinedCommand::text_bytes`] does.
pub fn text_bytes(lengths: impl Iterator<Item = usize>) -> usize {
    lengths.fold(0, |sum, length| sum.saturating_add(length).saturating_add(TEXT_BYTES_BESIDE))
}

/// What a program may do in its workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WorkspaceAccess {
    /// Read and execute.
    Read,
    /// Change it too.
    Change,
}

/// A file as it was looked at: a program that was approved is run as it was then.
#[derive(Debug, Clone)]
pub struct SealedFile {
    /// Where the program finds it, absolute; a file lies there.
    pub path: PathBuf,
    /// Its bytes, in a file of memory that nobody can change any more.
    pub bytes: Arc<OwnedFd>,
}

/// Sealed files of one command, at most.
pub const SEALED_MAX: usize = 8;

/// Whom a program can speak to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum NetworkAccess {
    /// Only itself.
    #[default]
    None,
    /// Itself, and whoever listens at [`GUARD_PORT`] of its own loopback: a socket that is handed out.
    Guarded,
}

/// The port at which a program with [`NetworkAccess::Guarded`] finds its way out.
pub const GUARD_PORT: u16 = 3128;

/// What a program may use up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessLimits {
    /// Memory of all its processes together where the host can count that, else of each one.
    pub memory_bytes_max: u64,
    /// Processes and threads at once.
    pub processes_max: u64,
    /// Size of a file that it writes.
    pub file_bytes_max: u64,
    /// Size of its private `/tmp`, where it has one.
    pub scratch_bytes_max: u64,
    /// Open files of each process.
    pub open_files_max: u64,
    /// Processor time of each process.
    pub processor_time_max: Duration,
}

impl Default for ProcessLimits {
    fn default() -> Self {
        const GIB: u64 = 1 << 30;
        Self {
            memory_bytes_max: 2 * GIB,
            processes_max: 256,
            file_bytes_max: GIB,
            scratch_bytes_max: GIB / 2,
            open_files_max: 1024,
            processor_time_max: Duration::from_secs(600),
        }
    }
}

/// How a program ended, once all that it started is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramEnd {
    /// It exited by itself.
    Exited {
        /// Its exit code.
        code: i32,
    },
    /// A signal ended it: its own, or the kernel's.
    Signalled {
        /// The signal's number.
        signal: i32,
    },
    /// It used more memory than all of it may, and was ended.
    OverMemory,
    /// It had more processes and threads than it may, and was ended.
    OverProcesses,
    /// A file that it may not change was replaced from outside, so that it was ended.
    KeptLost,
    /// It was stopped from outside, or its keeper was lost.
    Stopped,
}

/// What a host has to hold programs with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SandboxOffer {
    /// The version of Landlock's interface; 0 where there is none.
    pub landlock_abi: u32,
    /// Whether system calls can be filtered.
    pub syscall_filter: bool,
    /// Whether an ordinary user may make namespaces.
    pub user_namespaces: bool,
    /// What counts the memory and processes of a whole tree.
    pub limits: LimitRung,
    /// Why user namespaces are not there; empty when they are.
    pub namespaces_missing: String,
    /// Whether programs of tier C run as an unprivileged user of their own where the daemon is root.
    pub own_users: bool,
    /// Why they do not; empty where they do, and where the daemon is an ordinary user.
    pub own_users_missing: String,
}

/// What holds a tree of processes to its limits, from strong to weak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum LimitRung {
    /// A control group of version 2 that is ours to divide.
    CgroupV2,
    /// Control groups of version 1, which only root may make.
    CgroupV1,
    /// Limits of each process, and the end of the process table.
    #[default]
    ProcessLimits,
}

/// The first version of Landlock's interface that keeps signals in.
const LANDLOCK_WITH_SIGNALS: u32 = 6;

impl SandboxOffer {
    /// Returns the mechanism that a tier needs and this host lacks.
    #[must_use]
    pub fn missing_for(&self, tier: ProcessTier) -> Option<&'static str> {
        if self.landlock_abi == 0 {
            return Some("Landlock");
        }
        if !self.syscall_filter {
            return Some("seccomp");
        }
        match tier {
            // Without a process table of its own only Landlock keeps a program from ending others.
            ProcessTier::Confined if !self.user_namespaces && self.landlock_abi < LANDLOCK_WITH_SIGNALS => {
                Some("user namespaces or Landlock 6")
            }
            ProcessTier::Confined => None,
            ProcessTier::Isolated => (!self.user_namespaces).then_some("user namespaces"),
        }
    }
}

/// Why a program was not started.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The host cannot hold it as strongly as was asked.
    #[error("this host has no {mechanism}, without which nothing is started")]
    Missing {
        /// What is missing.
        mechanism: &'static str,
    },
    /// The program or its folder cannot be used.
    #[error("`{program}` could not be started: {cause}")]
    NotStarted {
        /// The program.
        program: String,
        /// Why, for a person.
        cause: String,
    },
    /// Its arguments, environment and paths are too long together.
    #[error(
        "arguments and environment take {bytes} bytes, and {COMMAND_BYTES_MAX} are passed on at most; put the rest into a \
         file"
    )]
    TooLong {
        /// What they take, as [`ConfinedCommand::text_bytes`] counts.
        bytes: usize,
    },
    /// A mechanism failed while it was put in place.
    #[error("the sandbox could not be made at `{stage}`")]
    Broken {
        /// The step.
        stage: String,
        /// The system's word.
        #[source]
        cause: std::io::Error,
    },
}
