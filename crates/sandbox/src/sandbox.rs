//! The daemon's side: refuses what the host cannot hold, and starts a keeper for the rest.

use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use futures::future::BoxFuture;
use palyra_ports::{
    COMMAND_BYTES_MAX, ConfinedCommand, ConfinedProcess, LimitRung, NetworkAccess, ProcessSandbox,
    ProcessTier, SandboxError, SandboxOffer, WorkspaceAccess, WorkspaceRoot,
};
use rustix::fs::AtFlags;

use crate::control_groups::ControlGroups;
use crate::keepers::{KeeperPool, KeeperProcess, ProgramUsers, broken};
use crate::message::{self, KeeperOrder, Namespaces, SystemBytes};
use crate::offer::probe;
use crate::process::Process;
use crate::scratch::{self, ScratchFolder};

/// Holds programs with what this host offers. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Sandbox {
    parts: Arc<SandboxParts>,
}

#[derive(Debug)]
struct SandboxParts {
    offer: SandboxOffer,
    groups: Option<ControlGroups>,
    executable: PathBuf,
    /// Where each program that cannot have a `/tmp` of its own gets a folder.
    scratch: PathBuf,
    keepers: Arc<KeeperPool>,
    /// The last workspace whose programs ran as root although others do not, and the system's word for why.
    runs_as_root: Mutex<Option<(PathBuf, i32)>>,
}

impl Sandbox {
    /// Looks what the host offers. `keeper` is an executable that answers to [`KEEP`](crate::KEEP) and
    /// [`PROBE`](crate::PROBE) with
    /// [`keeper::run`](crate::keeper::run) and [`keeper::probe`](crate::keeper::probe): mostly `/proc/self/exe`, which
    /// stays the same when the file is replaced. `folder` is for scratch space: what an earlier daemon left there of it goes.
    #[must_use]
    pub fn probe(keeper: PathBuf, folder: PathBuf) -> Self {
        let groups = ControlGroups::find();
        let offer = probe(&keeper, &folder, groups.as_ref());
        scratch::clear(&folder);
        Self::of(offer, groups, keeper, folder)
    }

    /// The same with less than the host offers, to see that what is missing is refused.
    #[must_use]
    pub fn without(&self, lacking: impl FnOnce(&mut SandboxOffer)) -> Self {
        let mut offer = self.parts.offer.clone();
        lacking(&mut offer);
        let groups = self.parts.groups.clone().filter(|_| offer.limits != LimitRung::ProcessLimits);
        let SandboxParts { executable, scratch, .. } = &*self.parts;
        Self::of(offer, groups, executable.clone(), scratch.clone())
    }

    fn of(offer: SandboxOffer, groups: Option<ControlGroups>, executable: PathBuf, scratch: PathBuf) -> Self {
        let namespaces = if offer.user_namespaces { Namespaces::Own } else { Namespaces::None };
        let users = match offer.user_namespaces && offer.own_users {
            true => ProgramUsers::Own,
            false => ProgramUsers::Daemons,
        };
        let keepers = Arc::new(KeeperPool::new(executable.clone(), namespaces, users, groups.clone()));
        let runs_as_root = Mutex::default();
        Self { parts: Arc::new(SandboxParts { offer, groups, executable, scratch, keepers, runs_as_root }) }
    }

    /// Returns the last workspace whose programs ran as root although this host has users for them, and why: its file
    /// system cannot show files as another user's.
    #[must_use]
    pub fn runs_as_root(&self) -> Option<(PathBuf, io::Error)> {
        let noted = self.parts.runs_as_root.lock().unwrap_or_else(PoisonError::into_inner);
        noted.as_ref().map(|(path, errno)| (path.clone(), io::Error::from_raw_os_error(*errno)))
    }
}

impl ProcessSandbox for Sandbox {
    fn offer(&self) -> &SandboxOffer {
        &self.parts.offer
    }

    fn start(
        &self,
        command: ConfinedCommand,
    ) -> BoxFuture<'static, Result<Box<dyn ConfinedProcess>, SandboxError>> {
        let parts = Arc::clone(&self.parts);
        Box::pin(async move {
            if let Some(mechanism) = parts.missing(&command) {
                return Err(SandboxError::Missing { mechanism });
            }
            let bytes = command.text_bytes();
            if bytes > COMMAND_BYTES_MAX {
                return Err(SandboxError::TooLong { bytes });
            }
            let program = command.program.display().to_string();
            let keepers = Arc::clone(&parts.keepers);
            let keeper = match keepers.take_waiting() {
                Some(keeper) => keeper,
                None => {
                    let keepers = Arc::clone(&keepers);
                    let made = tokio::task::spawn_blocking(move || keepers.take()).await;
                    made.map_err(|lost| broken("keeper")(io::Error::other(lost)))??
                }
            };
            let scratch = parts.tell(&keeper, &command)?;
            let process = Process::begin(keeper, scratch, program).await?;
            if let Some(errno) = process.runs_as_root() {
                let mut noted = parts.runs_as_root.lock().unwrap_or_else(PoisonError::into_inner);
                *noted = Some((command.workspace.path().to_owned(), errno));
            }
            tokio::task::spawn_blocking(move || keepers.make_ahead());
            Ok(Box::new(process) as Box<dyn ConfinedProcess>)
        })
    }
}

/// Says whether something lies at a path below a workspace, whatever the workspace's own path leads to by now.
fn is_there(workspace: &WorkspaceRoot, path: &Path) -> bool {
    let inner = path.strip_prefix(workspace.path()).unwrap_or(path);
    rustix::fs::statat(workspace, inner, AtFlags::SYMLINK_NOFOLLOW).is_ok()
}

impl SandboxParts {
    /// Returns the mechanism that a command needs and this host lacks.
    fn missing(&self, command: &ConfinedCommand) -> Option<&'static str> {
        let may_change = command.access == WorkspaceAccess::Change;
        let keeps = may_change && command.kept.iter().any(|kept| is_there(&command.workspace, kept));
        match self.offer.missing_for(command.tier) {
            None if self.offer.user_namespaces => None,
            None if command.network == NetworkAccess::Guarded => Some("network namespaces"),
            // Landlock gives a folder with all that is in it.
            None if keeps || !command.sealed.is_empty() => Some("mount namespaces"),
            missing => missing,
        }
    }

    /// Tells a keeper what to keep, and returns the program's scratch folder where it needs one.
    fn tell(
        &self,
        keeper: &KeeperProcess,
        command: &ConfinedCommand,
    ) -> Result<Option<ScratchFolder>, SandboxError> {
        let mut order = KeeperOrder::new(command, self.keepers.namespaces());
        if let Some(group) = &keeper.group {
            group.limit(&command.limits).map_err(broken("control group"))?;
            order.limits.memory_is_counted = true;
        }
        // A root of its own is what hides that folders above the workspace are closed to that user.
        order.user = keeper.user.filter(|_| command.tier == ProcessTier::Isolated);
        let mut scratch = None;
        if order.namespaces == Namespaces::None {
            let made = ScratchFolder::make(&self.scratch, &keeper.name).map_err(broken("scratch folder"))?;
            let folder = SystemBytes::from(made.path());
            for name in ["TMPDIR", "HOME"] {
                let named = |known: &(SystemBytes, SystemBytes)| known.0.as_slice() == name.as_bytes();
                order.environment.retain(|known| !named(known));
                order.environment.push((name.into(), folder.clone()));
            }
            order.scratch = Some(folder);
            scratch = Some(made);
        }
        let sealed = command.sealed.iter().map(|file| file.bytes.as_fd());
        let along: Vec<_> = [command.workspace.as_fd()].into_iter().chain(sealed).collect();
        match message::send_with(keeper.control.as_fd(), &order, &along) {
            // One that failed before has told why, and that is heard next.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
            sent => sent.map_err(broken("order"))?,
        }
        Ok(scratch)
    }
}
