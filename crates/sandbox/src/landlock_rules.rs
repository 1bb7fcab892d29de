//! Which files a program may touch, wherever it is.
//!
//! Owns the access rights of a tier; nothing is taken from the order but paths. All that the kernel's version knows is
//! handled: files, TCP, abstract sockets and signals. Source: landlock(7).

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, PathBeneath, PathFd, RestrictionStatus, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};

use crate::failure::StepFailure;
use crate::message::{InWorkspace, KeeperOrder, Namespaces};
use crate::mounts::{DEVICES, SYSTEM_FILES, SYSTEM_FOLDERS};

const STAGE: &str = "Landlock";

/// The newest interface whose rights were looked at one by one.
const KNOWN: ABI = ABI::V9;

/// Restricts this process and all that it starts.
pub(crate) fn restrict(order: &KeeperOrder, program: Option<&OwnedFd>) -> Result<(), StepFailure> {
    let status = ruleset(order)
        .and_then(|rules| allow_opened(rules, program))
        .and_then(RulesetCreated::restrict_self)
        .map_err(|error| StepFailure { stage: STAGE, cause: io::Error::other(error.to_string()) })?;
    let RestrictionStatus { ruleset, no_new_privs, .. } = status;
    if ruleset == RulesetStatus::NotEnforced || !no_new_privs {
        return Err(StepFailure { stage: STAGE, cause: io::Error::from_raw_os_error(libc::EOPNOTSUPP) });
    }
    Ok(())
}

fn ruleset(order: &KeeperOrder) -> Result<RulesetCreated, RulesetError> {
    let mut created =
        Ruleset::default().handle_access(AccessFs::from_all(KNOWN))?.scope(Scope::from_all(KNOWN))?;
    if order.namespaces == Namespaces::None {
        // Without a network of its own it gets none.
        created = created.handle_access(AccessNet::from_all(KNOWN))?;
    }
    let mut created = created.create()?;
    let read = AccessFs::from_read(KNOWN);
    let look = AccessFs::ReadFile | AccessFs::ReadDir;
    // No devices, and no sockets: with those it would speak to whoever listens.
    let change = AccessFs::from_all(KNOWN)
        & !(AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::MakeSock | AccessFs::IoctlDev);
    for path in SYSTEM_FOLDERS {
        created = allow(created, Path::new(path), read)?;
    }
    for path in SYSTEM_FILES.into_iter().chain(["/sys/devices/system/cpu"]) {
        created = allow(created, Path::new(path), look)?;
    }
    for path in DEVICES {
        created = allow(created, Path::new(path), AccessFs::ReadFile | AccessFs::WriteFile)?;
    }
    for path in &order.readable {
        created = allow(created, &path.path(), read)?;
    }
    match order.namespaces {
        Namespaces::Own => {
            created = allow(created, Path::new("/proc"), look)?;
            created = allow(created, Path::new("/tmp"), change)?;
        }
        // The host's process table tells of everybody.
        Namespaces::None => {
            if let Some(scratch) = &order.scratch {
                created = allow(created, &scratch.path(), change)?;
            }
        }
    }
    if order.tier == crate::message::SandboxTier::Isolated {
        created = allow(created, Path::new("/dev/shm"), change)?;
    }
    let in_workspace = match order.access {
        InWorkspace::Read => read,
        InWorkspace::Change => change,
    };
    // By the current folder, which is the workspace whatever its path leads to.
    allow(created, Path::new("."), in_workspace)
}

/// Allows a program that is started by its descriptor: its mount may be taken off its path meanwhile.
fn allow_opened(ruleset: RulesetCreated, program: Option<&OwnedFd>) -> Result<RulesetCreated, RulesetError> {
    let Some(program) = program else { return Ok(ruleset) };
    ruleset.add_rule(PathBeneath::new(program, AccessFs::Execute | AccessFs::ReadFile))
}

/// Allows something of a path that is there; what is not there stays out of reach.
fn allow(
    ruleset: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    let Ok(opened) = PathFd::new(path) else { return Ok(ruleset) };
    let folder = path.is_dir();
    let for_files = AccessFs::from_file(KNOWN);
    ruleset.add_rule(PathBeneath::new(opened, if folder { access } else { access & for_files }))
}
