//! Starts programs as a tool does, and gathers what they print.

use std::ffi::OsString;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use palyra_ports::{
    ConfinedCommand, ConfinedProcess, LimitRung, NetworkAccess, ProcessLimits, ProcessSandbox, ProcessTier,
    ProgramEnd, SandboxError, WorkspaceAccess, WorkspaceRoot,
};
use palyra_sandbox::Sandbox;
use tempfile::TempDir;

/// A sandbox and a folder to work in.
pub(crate) struct Host {
    pub(crate) sandbox: Sandbox,
    pub(crate) folder: TempDir,
}

/// What became of a program.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) ended: ProgramEnd,
    pub(crate) output: String,
    pub(crate) errors: String,
}

impl Done {
    /// Returns what it printed, and fails when it did not succeed.
    #[track_caller]
    pub(crate) fn printed(&self) -> &str {
        assert_eq!(self.ended, ProgramEnd::Exited { code: 0 }, "{} {}", self.output, self.errors);
        self.output.trim_end()
    }
}

pub(crate) const BOTH: [ProcessTier; 2] = [ProcessTier::Confined, ProcessTier::Isolated];

/// How a program can be held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hold {
    Tier(ProcessTier),
    /// Tier B on a host that gives nobody namespaces.
    WithoutNamespaces,
}

impl Hold {
    pub(crate) fn tier(self) -> ProcessTier {
        match self {
            Self::Tier(tier) => tier,
            Self::WithoutNamespaces => ProcessTier::Confined,
        }
    }
}

pub(crate) const HOLDS: [Hold; 3] =
    [Hold::Tier(ProcessTier::Confined), Hold::Tier(ProcessTier::Isolated), Hold::WithoutNamespaces];

impl Host {
    /// A workspace where the host's own files are: private scratch space does not hide what lies beside it.
    pub(crate) fn new() -> Self {
        Self::below("/var/tmp")
    }

    pub(crate) fn below(folder: &str) -> Self {
        let folder = tempfile::tempdir_in(folder).expect("a folder");
        for part in ["work", "scratch"] {
            std::fs::create_dir(folder.path().join(part)).expect("a folder");
        }
        let keeper = PathBuf::from(env!("CARGO_BIN_EXE_palyra-sandbox-exec"));
        Self { sandbox: Sandbox::probe(keeper, folder.path().join("scratch")), folder }
    }

    /// The same host, as it would be for a way to hold programs.
    pub(crate) fn held_as(mut self, hold: Hold) -> (Self, ProcessTier) {
        if hold == Hold::WithoutNamespaces {
            self.sandbox = self.sandbox.without(|offer| offer.user_namespaces = false);
        }
        (self, hold.tier())
    }

    /// The same host, where nothing counts the memory and the processes of all together.
    pub(crate) fn without_groups(mut self) -> Self {
        self.sandbox = self.sandbox.without(|offer| offer.limits = LimitRung::ProcessLimits);
        self
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    pub(crate) fn command(&self, tier: ProcessTier, program: &str, arguments: &[&str]) -> ConfinedCommand {
        let named = [Path::new(program).file_name().expect("a name").to_owned()];
        ConfinedCommand {
            tier,
            program: program.into(),
            arguments: named.into_iter().chain(arguments.iter().map(OsString::from)).collect(),
            environment: [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("HOME", "/tmp"), ("LANG", "C.UTF-8")]
                .map(|(name, value)| (name.into(), value.into()))
                .to_vec(),
            directory: self.work(),
            workspace: WorkspaceRoot::open(&self.work()).expect("the folder"),
            access: WorkspaceAccess::Change,
            kept: Vec::new(),
            readable: Vec::new(),
            sealed: Vec::new(),
            network: NetworkAccess::None,
            limits: ProcessLimits::default(),
        }
    }

    pub(crate) async fn start(
        &self,
        command: ConfinedCommand,
    ) -> Result<Box<dyn ConfinedProcess>, SandboxError> {
        self.sandbox.start(command).await
    }

    pub(crate) async fn run(&self, command: ConfinedCommand) -> Done {
        let process = self.start(command).await.expect("it starts");
        self.gather(process).await
    }

    pub(crate) async fn gather(&self, mut process: Box<dyn ConfinedProcess>) -> Done {
        let (output, errors) = process.take_output().expect("its output");
        let gather = |from: OwnedFd| {
            tokio::task::spawn_blocking(move || {
                let mut text = Vec::new();
                std::fs::File::from(from).read_to_end(&mut text).expect("it is read");
                String::from_utf8_lossy(&text).into_owned()
            })
        };
        let (output, errors) = (gather(output), gather(errors));
        let ended = process.wait().await;
        Done { ended, output: output.await.expect("output"), errors: errors.await.expect("errors") }
    }

    pub(crate) async fn shell(&self, tier: ProcessTier, script: &str) -> Done {
        self.run(self.command(tier, "/bin/sh", &["-c", script])).await
    }
}
