//! The floor as it is measured: a process of its own, on the disk of the daemon.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::spawned::SpawnedChild;
use crate::floor::client::FloorClient;
use crate::floor::grpc_client::GrpcFloorClient;
use crate::model::server::MockModel;

/// What a floor speaks to its clients and to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FloorProtocol {
    /// As little as can be.
    Frames,
    /// gRPC to its clients, and to the model whatever an HTTP library speaks.
    Grpc,
}

/// A running floor; dropping it ends it.
pub struct FloorProcess {
    /// The process.
    pub process: SpawnedChild,
    socket: PathBuf,
}

impl FloorProcess {
    /// Starts a floor in a folder that exists; `program` is the bench program itself.
    ///
    /// # Errors
    /// When it does not become ready.
    pub fn start(
        program: &Path,
        folder: &Path,
        model: &MockModel,
        tongue: FloorProtocol,
    ) -> anyhow::Result<Self> {
        let (socket, database) = (folder.join("floor.sock"), folder.join("floor.db"));
        for old in [&socket, &database, &folder.join("floor.db-wal"), &folder.join("floor.db-shm")] {
            // What is not there need not go.
            let _ = std::fs::remove_file(old);
        }
        let mut command = Command::new(program);
        let part = match tongue {
            FloorProtocol::Frames => "floor",
            FloorProtocol::Grpc => "grpc-floor",
        };
        command.arg(part).arg("--socket").arg(&socket).arg("--database").arg(&database);
        command.arg("--model").arg(model.address().to_string()).current_dir(folder);
        Ok(Self { process: SpawnedChild::start(&mut command)?, socket })
    }

    /// Connects to it.
    ///
    /// # Errors
    /// When it is gone.
    pub async fn connect(&self) -> anyhow::Result<FloorClient> {
        FloorClient::connect(&self.socket).await
    }

    /// Connects to one that speaks gRPC.
    ///
    /// # Errors
    /// When it is gone.
    pub async fn connect_grpc(&self) -> anyhow::Result<GrpcFloorClient> {
        GrpcFloorClient::connect(&self.socket).await
    }
}
