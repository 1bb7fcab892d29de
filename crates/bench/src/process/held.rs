//! Programs under the process tiers, held by the daemon's own program, and the same program beside them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context;
use palyra_ports::{
    ConfinedCommand, ConfinedProcess, NetworkAccess, ProcessLimits, ProcessSandbox, ProcessTier,
    WorkspaceAccess, WorkspaceRoot,
};
use palyra_sandbox::Sandbox;

/// How bubblewrap comes to a host.
pub const BUBBLEWRAP_INSTALL: &str = "apt-get install bubblewrap";

/// A sandbox, and a folder for its programs.
pub struct ProgramSandbox {
    sandbox: Sandbox,
    folder: PathBuf,
}

impl ProgramSandbox {
    /// Looks what the host offers. `keeper` is the daemon's program, `folder` a folder of ours.
    #[must_use]
    pub fn new(keeper: &Path, folder: &Path) -> Self {
        Self { sandbox: Sandbox::probe(keeper.to_owned(), folder.to_owned()), folder: folder.to_owned() }
    }

    /// The same, as it is when nothing was started for a while.
    #[must_use]
    pub fn anew(&self) -> Self {
        Self { sandbox: self.sandbox.without(|_| {}), folder: self.folder.clone() }
    }

    /// Says whether a tier can be had here.
    #[must_use]
    pub fn offers(&self, tier: ProcessTier) -> bool {
        self.sandbox.offer().missing_for(tier).is_none()
    }

    /// Starts a program with these arguments, its own name first.
    ///
    /// # Errors
    /// The sandbox's refusal.
    pub async fn start(
        &self,
        tier: ProcessTier,
        program: &str,
        arguments: &[&str],
    ) -> anyhow::Result<Box<dyn ConfinedProcess>> {
        const MIB: u64 = 1 << 20;
        let command = ConfinedCommand {
            tier,
            program: program.into(),
            arguments: arguments.iter().map(OsString::from).collect(),
            environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
            directory: self.folder.clone(),
            workspace: WorkspaceRoot::open(&self.folder)?,
            access: WorkspaceAccess::Change,
            kept: Vec::new(),
            readable: Vec::new(),
            sealed: Vec::new(),
            network: NetworkAccess::None,
            limits: ProcessLimits { memory_bytes_max: 256 * MIB, ..ProcessLimits::default() },
        };
        self.sandbox.start(command).await.context("a program could not be held")
    }
}

/// Runs a program to its end as any process is run.
///
/// # Errors
/// When it cannot be started, or fails.
pub fn plain(mut command: Command) -> anyhow::Result<()> {
    command.env_clear().env("PATH", "/usr/bin:/bin");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    anyhow::ensure!(command.status()?.success(), "{command:?} failed");
    Ok(())
}

/// Returns how bubblewrap is asked for what tier C is, but for Landlock, the filter and the counted memory; `None` where
/// it is not installed or may not.
#[must_use]
pub fn bubblewrap(program: &str, folder: &Path) -> Option<impl Fn() -> Command + use<>> {
    let (program, folder) = (program.to_owned(), folder.to_owned());
    let command = move || {
        let mut command = Command::new("bwrap");
        command.args(["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]);
        command.args(["--ro-bind", "/usr", "/usr", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]);
        for link in ["bin", "sbin", "lib", "lib64"] {
            command.args(["--symlink", &format!("usr/{link}"), &format!("/{link}")]);
        }
        command.arg("--bind").args([&folder, &folder]).arg("--chdir").arg(&folder).arg(&program);
        command
    };
    plain(command()).is_ok().then_some(command)
}
