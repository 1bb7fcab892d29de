//! The daemon that serves the state directory already, and how it was started.

use palyra_client::{Client, ClientError, ConnectOptions};

/// The argument of daemons that a command started.
const AUTO_STARTED: &[u8] = b"--auto-started";

/// How a daemon was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DaemonStarter {
    /// By a command that needed it.
    Command,
    /// By the service.
    Service,
    /// By a person, or a program of theirs.
    Person,
}

/// A daemon that serves.
pub(crate) struct RunningDaemon {
    pub(crate) pid: u32,
    pub(crate) starter: DaemonStarter,
    pub(crate) client: Client,
}

impl RunningDaemon {
    /// Looks for it; starts none. `service_pid` is the process of the service.
    pub(crate) async fn find(
        options: ConnectOptions,
        service_pid: Option<u32>,
    ) -> Result<Option<Self>, ClientError> {
        let client = match Client::connect(options).await {
            Ok(client) => client,
            Err(ClientError::NotRunning { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let pid = client.status().await?.pid;
        let starter = match service_pid {
            Some(of_service) if of_service == pid => DaemonStarter::Service,
            _ if is_auto_started(pid) => DaemonStarter::Command,
            _ => DaemonStarter::Person,
        };
        Ok(Some(Self { pid, starter, client }))
    }
}

fn is_auto_started(pid: u32) -> bool {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split(|byte| *byte == 0).any(|word| word == AUTO_STARTED)
}
