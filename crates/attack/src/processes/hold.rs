//! The ways in which a program is held, and what it is started with.

use std::ffi::OsString;
use std::path::Path;

use palyra_ports::{
    ConfinedCommand, NetworkAccess, OpenRootError, ProcessLimits, ProcessTier, WorkspaceAccess, WorkspaceRoot,
};
use palyra_sandbox::Sandbox;

use super::canaries::Canaries;
use super::written::ProgramAttack;
use crate::trial::TrialContext;

const MIB: u64 = 1 << 20;

/// How a program can be held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConfinementKind {
    /// Tier B.
    Confined,
    /// Tier B on a host that gives nobody namespaces.
    WithoutNamespaces,
    /// Tier C.
    Isolated,
}

pub(crate) const HOLDS: [ConfinementKind; 3] =
    [ConfinementKind::Confined, ConfinementKind::WithoutNamespaces, ConfinementKind::Isolated];

impl ConfinementKind {
    /// Returns its name as a mechanism.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Confined => "tier B",
            Self::WithoutNamespaces => "tier B without namespaces",
            Self::Isolated => "tier C",
        }
    }

    /// Whether it promises anything against an attack.
    pub(crate) fn promises(self, attack: &ProgramAttack) -> bool {
        let needs_mounts = ["scratch", "counted", "mounts"].iter().any(|option| attack.has(option));
        match self {
            Self::Confined => !attack.has("own_root"),
            Self::WithoutNamespaces => !attack.has("own_root") && !needs_mounts,
            Self::Isolated => true,
        }
    }

    /// Returns the sandbox of a host of this kind.
    pub(crate) fn sandbox(self, place: &TrialContext) -> &Sandbox {
        match self {
            Self::Confined | Self::Isolated => &place.sandbox,
            Self::WithoutNamespaces => &place.without_namespaces,
        }
    }

    pub(crate) fn tier(self) -> ProcessTier {
        match self {
            Self::Confined | Self::WithoutNamespaces => ProcessTier::Confined,
            Self::Isolated => ProcessTier::Isolated,
        }
    }
}

/// The environment of every attack, before its own.
pub(crate) const ENVIRONMENT: [(&str, &str); 3] =
    [("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"), ("HOME", "/tmp"), ("LANG", "C.UTF-8")];

/// Returns what is started.
pub(crate) fn command(
    attack: &ProgramAttack,
    hold: ConfinementKind,
    canaries: &Canaries,
) -> Result<ConfinedCommand, OpenRootError> {
    let (program, arguments) = attack.program();
    let name = Path::new(program).file_name().unwrap_or_default().to_owned();
    let shared = ENVIRONMENT.map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let own = canaries.environment().into_iter().map(|(name, value)| (name.into(), value.into()));
    let scratch = [("SCRATCH".into(), "/tmp".into())];
    let work = canaries.trial_folder.work();
    Ok(ConfinedCommand {
        tier: hold.tier(),
        program: program.into(),
        arguments: std::iter::once(name).chain(arguments.into_iter().map(OsString::from)).collect(),
        environment: shared.into_iter().chain(own).chain(scratch).collect(),
        directory: work.clone(),
        workspace: WorkspaceRoot::open(&work)?,
        access: WorkspaceAccess::Change,
        kept: canaries.kept(),
        readable: Vec::new(),
        sealed: Vec::new(),
        network: NetworkAccess::None,
        limits: limits(attack),
    })
}

fn limits(attack: &ProgramAttack) -> ProcessLimits {
    let mut limits = ProcessLimits::default();
    let mib = |option| attack.number(option).map(|number| number * MIB);
    if let Some(processes) = attack.number("processes") {
        limits.processes_max = processes;
    }
    if let Some(bytes) = mib("memory_mib") {
        limits.memory_bytes_max = bytes;
    }
    if let Some(bytes) = mib("file_mib") {
        limits.file_bytes_max = bytes;
    }
    if let Some(bytes) = mib("scratch_mib") {
        limits.scratch_bytes_max = bytes;
    }
    if let Some(files) = attack.number("descriptors_max") {
        limits.open_files_max = files;
    }
    if let Some(seconds) = attack.number("seconds") {
        limits.processor_time_max = std::time::Duration::from_secs(seconds);
    }
    limits
}
