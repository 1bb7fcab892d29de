//! The daemon's side: refuses what the host cannot hold, and starts a keeper for the rest.

use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures::future::BoxFuture;
use palyra_ports::{
    ConfinedCommand, ConfinedProcess, LimitRung, Network, ProcessSandbox, SandboxError, SandboxOffer,
};

use crate::control_groups::ControlGroups;
use crate::kept::{self, Kept, broken};
use crate::message::{self, Bytes, Namespaces, Order};
use crate::offer::probe;
use crate::process::Process;

/// Holds programs with what this host offers. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Sandbox {
    parts: Arc<Parts>,
}

#[derive(Debug)]
struct Parts {
    offer: SandboxOffer,
    groups: Option<ControlGroups>,
    keeper: PathBuf,
    /// Where each program that cannot have a `/tmp` of its own gets a folder.
    scratch: PathBuf,
    started: AtomicU64,
}

impl Sandbox {
    /// Looks what the host offers. `keeper` is an executable that answers to [`KEEP`](crate::KEEP) and
    /// [`PROBE`](crate::PROBE) with
    /// [`keeper::run`](crate::keeper::run) and [`keeper::probe`](crate::keeper::probe): mostly `/proc/self/exe`, which
    /// stays the same when the file is replaced. `scratch` is a folder of ours.
    #[must_use]
    pub fn probe(keeper: PathBuf, scratch: PathBuf) -> Self {
        let groups = ControlGroups::find();
        let offer = probe(&keeper, groups.as_ref());
        Self { parts: Arc::new(Parts { offer, groups, keeper, scratch, started: AtomicU64::new(0) }) }
    }

    /// The same with less than the host offers, to see that what is missing is refused.
    #[must_use]
    pub fn without(&self, lacking: impl FnOnce(&mut SandboxOffer)) -> Self {
        let mut offer = self.parts.offer.clone();
        lacking(&mut offer);
        let groups = self.parts.groups.clone().filter(|_| offer.limits != LimitRung::ProcessLimits);
        let Parts { keeper, scratch, .. } = &*self.parts;
        let (keeper, scratch, started) = (keeper.clone(), scratch.clone(), AtomicU64::new(1 << 32));
        Self { parts: Arc::new(Parts { offer, groups, keeper, scratch, started }) }
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
            if let Some(mechanism) = parts.offer.missing_for(command.tier) {
                return Err(SandboxError::Missing { mechanism });
            }
            if command.network == Network::Guarded && !parts.offer.user_namespaces {
                return Err(SandboxError::Missing { mechanism: "network namespaces" });
            }
            if !command.sealed.is_empty() && !parts.offer.user_namespaces {
                return Err(SandboxError::Missing { mechanism: "mount namespaces" });
            }
            let program = command.program.display().to_string();
            let kept = tokio::task::spawn_blocking(move || parts.start(&command)).await;
            let kept = kept.map_err(|lost| broken("keeper")(io::Error::other(lost)))??;
            let process = Process::begin(kept, program).await?;
            Ok(Box::new(process) as Box<dyn ConfinedProcess>)
        })
    }
}

impl Parts {
    /// Starts a keeper and tells it what to keep. Blocks for as long as a process takes to begin.
    fn start(&self, command: &ConfinedCommand) -> Result<Kept, SandboxError> {
        let namespaces = if self.offer.user_namespaces { Namespaces::Own } else { Namespaces::None };
        let mut order = Order::new(command, namespaces, self.offer.landlock_abi);
        let name = format!("{}-{}", std::process::id(), self.started.fetch_add(1, Ordering::Relaxed));
        let group = self.groups.as_ref().map(|groups| groups.make(&name, &command.limits));
        let group = group.transpose().map_err(broken("control group"))?;
        if let Some(group) = &group {
            order.group_files = group.files().iter().map(Bytes::from).collect();
            order.limits.memory_is_counted = true;
        }
        let mut scratch = None;
        if namespaces == Namespaces::None {
            let folder = self.scratch.join(&name);
            std::fs::create_dir_all(&folder).map_err(broken("scratch folder"))?;
            for name in ["TMPDIR", "HOME"] {
                let named = |known: &(Bytes, Bytes)| known.0.as_slice() == name.as_bytes();
                order.environment.retain(|known| !named(known));
                order.environment.push((name.into(), (&folder).into()));
            }
            order.scratch = Some((&folder).into());
            scratch = Some(folder);
        }
        let (keeper, control) = kept::begin(&self.keeper)?;
        let sealed: Vec<_> = command.sealed.iter().map(|file| file.bytes.as_fd()).collect();
        message::send_with(control.as_fd(), &order, &sealed).map_err(broken("order"))?;
        Ok(Kept { keeper, control, group, scratch })
    }
}
