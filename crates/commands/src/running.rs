//! A program while it runs: its output is gathered, and it is ended when nobody wants it any more.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use palyra_ports::{ConfinedCommand, ConfinedProcess, Ended, ProcessSandbox};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;

use crate::failure::CommandFailure;
use crate::plan::Planned;
use crate::settings::CommandSettings;
use crate::transcript::Transcript;

/// Bytes that are read at once.
const PIECE_BYTES: usize = 16 * 1024;

/// Output that is still being gathered.
#[derive(Debug, Clone)]
pub(crate) struct Gathered(Arc<Mutex<Transcript>>);

impl Gathered {
    pub(crate) fn get(&self) -> MutexGuard<'_, Transcript> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A program that runs, and its output.
pub(crate) struct Running {
    pub(crate) process: Box<dyn ConfinedProcess>,
    pub(crate) output: Gathered,
    readers: Vec<tokio::task::JoinHandle<()>>,
}

/// Starts what was planned.
pub(crate) async fn start(
    sandbox: &dyn ProcessSandbox,
    settings: &CommandSettings,
    planned: Planned,
    output_bytes_max: usize,
) -> Result<Running, CommandFailure> {
    let process = sandbox.start(command(settings, planned)).await?;
    gather(process, output_bytes_max)
}

/// Gathers what a program prints, output and errors in the order in which they come.
pub(crate) fn gather(
    mut process: Box<dyn ConfinedProcess>,
    output_bytes_max: usize,
) -> Result<Running, CommandFailure> {
    let output = Gathered(Arc::new(Mutex::new(Transcript::new(output_bytes_max))));
    let broken =
        |error: std::io::Error| CommandFailure::SandboxFailed(format!("its output cannot be read: {error}"));
    let mut readers = Vec::new();
    for end in process.take_output().map(|(output, errors)| [output, errors]).into_iter().flatten() {
        let end = reader_of(end).map_err(broken)?;
        readers.push(tokio::spawn(read_all(end, output.clone())));
    }
    Ok(Running { process, output, readers })
}

impl Running {
    /// Waits until it has ended and all that it printed was read.
    pub(crate) async fn wait(&mut self) -> Ended {
        let ended = self.process.wait().await;
        for reader in &mut self.readers {
            // One that is lost leaves what it had read.
            let _ = reader.await;
        }
        self.readers.clear();
        ended
    }
}

fn reader_of(end: OwnedFd) -> std::io::Result<pipe::Receiver> {
    rustix::io::ioctl_fionbio(&end, true)?;
    pipe::Receiver::from_owned_fd(end)
}

async fn read_all(mut end: pipe::Receiver, output: Gathered) {
    let mut piece = vec![0; PIECE_BYTES];
    while let Ok(length) = end.read(&mut piece).await {
        if length == 0 {
            return;
        }
        output.get().push(&piece[..length]);
    }
}

fn command(settings: &CommandSettings, planned: Planned) -> ConfinedCommand {
    let Planned { plan, workspace, sealed } = planned;
    ConfinedCommand {
        tier: plan.tier.of_process(),
        program: plan.program.path,
        arguments: plan.argv.into_iter().map(Into::into).collect(),
        environment: settings.environment.iter().map(|(name, value)| (name.into(), value.into())).collect(),
        directory: plan.folder,
        access: palyra_ports::WorkspaceAccess::Change,
        kept: settings.kept.iter().map(|inner| workspace.join(inner)).collect(),
        readable: settings.readable.clone(),
        sealed,
        network: palyra_ports::Network::None,
        limits: settings.limits,
        workspace,
    }
}
