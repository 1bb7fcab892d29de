//! Where rows are measured: a folder on a real disk, the programs, the mock model, and how much effort is wanted.

use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::model::server::MockModel;
use crate::process::daemon::{DaemonHome, DaemonProcess, DaemonProgram};
use crate::process::floor::{FloorProcess, FloorProtocol};

/// How many samples to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SampleEffort {
    /// So few that nothing but the harness is proven.
    Smallest,
    /// All rows in about a minute.
    Quick,
    /// Enough to be written down.
    Full,
}

impl SampleEffort {
    /// Returns the number for this effort.
    #[must_use]
    pub fn of<T>(self, smallest: T, quick: T, full: T) -> T {
        match self {
            Self::Smallest => smallest,
            Self::Quick => quick,
            Self::Full => full,
        }
    }
}

/// Everything a row needs.
pub struct Lab {
    folder: tempfile::TempDir,
    /// The daemon.
    pub daemon_program: DaemonProgram,
    /// This program, which is also the floor.
    pub own_program: PathBuf,
    /// The model that everybody asks.
    pub model: MockModel,
    /// How many samples to take.
    pub effort: SampleEffort,
}

impl Lab {
    /// Makes a lab whose databases lie below `parent`.
    ///
    /// # Errors
    /// When the folder or the mock model cannot be made.
    pub fn new(
        parent: &Path,
        own_program: PathBuf,
        daemon_program: DaemonProgram,
        effort: SampleEffort,
    ) -> anyhow::Result<Self> {
        std::fs::create_dir_all(parent)?;
        let folder =
            tempfile::Builder::new().prefix("b").tempdir_in(parent).context("no folder to measure in")?;
        Ok(Self { folder, daemon_program, own_program, model: MockModel::start()?, effort })
    }

    /// Returns the folder that holds everything.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Makes a new folder.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn fresh(&self) -> anyhow::Result<tempfile::TempDir> {
        Ok(tempfile::Builder::new().prefix("r").tempdir_in(self.folder())?)
    }

    /// Makes the home of a daemon in a folder.
    ///
    /// # Errors
    /// When its files cannot be written.
    pub fn home(&self, folder: &Path) -> anyhow::Result<DaemonHome> {
        DaemonHome::new(folder, &self.model.base_url())
    }

    /// Starts a daemon with a new home in a folder.
    ///
    /// # Errors
    /// When it does not become ready.
    pub async fn daemon(&self, folder: &Path) -> anyhow::Result<DaemonProcess> {
        self.home(folder)?.start(&self.daemon_program).await
    }

    /// Starts the floor in a folder.
    ///
    /// # Errors
    /// When it does not become ready.
    pub fn floor(&self, folder: &Path) -> anyhow::Result<FloorProcess> {
        FloorProcess::start(&self.own_program, folder, &self.model, FloorProtocol::Frames)
    }

    /// Starts the floor over gRPC in a folder of its own.
    ///
    /// # Errors
    /// When it does not become ready.
    pub fn grpc_floor(&self, folder: &Path) -> anyhow::Result<FloorProcess> {
        FloorProcess::start(&self.own_program, folder, &self.model, FloorProtocol::Grpc)
    }
}
