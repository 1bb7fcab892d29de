//! A daemon in which something gets stuck.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use palyra_client::Client;
use palyra_model_server::{Behaviour, ModelServer};
use palyra_testdaemon::test_home::{DaemonChild, Programs, TestHome};
use palyra_testdaemon::tool_setup::TestSettings;
use palyra_wire::v1::{
    HealingDomain, HealingMode, Incident, ListIncidentsRequest, SessionSelector, SetHealingModeRequest,
    StartRunRequest,
};

use super::three_modes::WINDOW;

/// Where the daemon of a home looks for its configuration.
pub(super) const CONFIGURATION: &str = "home/.config/palyra/palyra.toml";

/// A daemon with a short window, its model and its folder.
pub(super) struct StuckDaemon {
    pub(super) client: Client,
    pub(super) home: TestHome,
    daemon: DaemonChild,
    programs: Programs,
    _folder: tempfile::TempDir,
    _model: ModelServer,
}

/// With what a daemon is started.
#[derive(Default)]
pub(super) struct StuckOptions {
    /// Its configuration file.
    pub(super) configuration: String,
    /// Its tools and rules; the window is set.
    pub(super) setting: TestSettings,
}

impl StuckDaemon {
    /// Starts one in which a domain is disabled.
    pub(super) async fn start(
        model: Behaviour,
        options: StuckOptions,
        domain: HealingDomain,
    ) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("palyra-h").tempdir()?;
        let model = ModelServer::start(model).await?;
        let setting = TestSettings { healing_window: Some(WINDOW), ..options.setting };
        let programs = Programs {
            daemon: PathBuf::from(env!("CARGO_BIN_EXE_palyra-testdaemon")),
            before: Vec::new(),
            model_url: model.base_url(),
            setting,
        };
        let home = TestHome::make(&folder.path().join("house"))?;
        let file = home.path(CONFIGURATION);
        fs::create_dir_all(file.parent().context("a folder")?)?;
        fs::write(file, &options.configuration)?;
        let (daemon, client, _) = home.serve(&programs).await?;
        let this = Self { client, home, daemon, programs, _folder: folder, _model: model };
        this.set_mode(domain, HealingMode::Disabled).await?;
        Ok(this)
    }

    /// Returns the process id.
    pub(super) fn pid(&self) -> u32 {
        self.daemon.pid
    }

    pub(super) async fn set_mode(&self, domain: HealingDomain, mode: HealingMode) -> Result<()> {
        let request = SetHealingModeRequest { domain: domain.into(), mode: mode.into() };
        self.client.call(request).await?;
        Ok(())
    }

    /// Kills the daemon, changes what it left, and starts another one.
    pub(super) async fn restarted(self, change: impl FnOnce(&TestHome) -> Result<()>) -> Result<Self> {
        let Self { client, home, daemon, programs, _folder, _model } = self;
        drop(client);
        daemon.kill().await?;
        change(&home)?;
        let (daemon, client, _) = home.serve(&programs).await?;
        Ok(Self { client, home, daemon, programs, _folder, _model })
    }

    /// Starts a run in the workspace of the home, and returns its id.
    pub(super) async fn start_run(&self, key: &str, input: &str) -> Result<String> {
        let session = SessionSelector { session_key: key.to_owned(), ..SessionSelector::default() };
        let request = StartRunRequest {
            session: Some(session),
            input: input.to_owned(),
            workspace_root: self.home.work().display().to_string(),
            ..StartRunRequest::default()
        };
        Ok(self.client.start_run(request).await?.run_id)
    }

    /// Returns all incidents of a domain.
    pub(super) async fn incidents(&self, domain: HealingDomain) -> Result<Vec<Incident>> {
        let request =
            ListIncidentsRequest { all: true, domain: domain.into(), ..ListIncidentsRequest::default() };
        Ok(self.client.call(request).await?.incidents)
    }

    pub(super) async fn stop(self) -> Result<()> {
        self.daemon.kill().await
    }
}
