//! `AdminService`: status, configuration and the end of the daemon.

use palyra_admin::health::HealthCheck;
use palyra_runtime::Caller;
use palyra_runtime::model_directory::ModelOrigin;
use palyra_wire::v1::{
    self, ConfigValue, GetConfigRequest, GetConfigResponse, GetStatusRequest, GetStatusResponse,
    ReloadConfigRequest, ReloadConfigResponse, ShutdownRequest, ShutdownResponse,
};

use crate::api_error::ApiError;
use crate::daemon_facts::{ConfigFact, KeptDaemon, ReplacementKind};
use crate::operations::OperationHandlers;
use crate::reload::{ReloadError, ReloadReport};
use crate::translate;

impl OperationHandlers {
    /// Answers `GetStatus`.
    pub async fn get_status(
        &self,
        _caller: Caller,
        _message: GetStatusRequest,
    ) -> Result<GetStatusResponse, ApiError> {
        let daemon = &self.daemon;
        let mut of_daemon = daemon.checks.borrow().as_ref().clone();
        let live = daemon.live_checks.clone();
        // One that is lost in a bug is missing, and the others are listed.
        of_daemon.extend(tokio::task::spawn_blocking(move || live.made()).await.unwrap_or_default());
        of_daemon.push(self.state.admin.access.reach_check());
        Ok(GetStatusResponse {
            version: daemon.version.clone(),
            build_id: daemon.build.clone(),
            pid: daemon.pid,
            started: translate::timestamp(daemon.started),
            state_dir: daemon.state_dir.to_string_lossy().into_owned(),
            listening: daemon.listening.clone(),
            default_model: self.state.models.directory().default_model().to_string(),
            open_runs: self.state.health.open_runs().await?,
            checks: of_daemon.into_iter().chain(self.state.health.checks().await).map(check).collect(),
        })
    }

    /// Answers `ReloadConfig`.
    pub async fn reload_config(
        &self,
        _caller: Caller,
        _message: ReloadConfigRequest,
    ) -> Result<ReloadConfigResponse, ApiError> {
        let ReloadReport { digest, changed, needs_restart } = match self.daemon.reload.reload().await {
            Ok(report) => report,
            Err(ReloadError::Invalid { mistakes }) => {
                return Ok(ReloadConfigResponse { digest: self.digest(), mistakes, ..Default::default() });
            }
            Err(ReloadError::ShuttingDown) => return Err(ApiError::shutting_down()),
        };
        let digest = translate::hex(&digest);
        Ok(ReloadConfigResponse { digest, changed, needs_restart, mistakes: Vec::new() })
    }

    /// Returns the digest of the snapshot in force.
    fn digest(&self) -> String {
        translate::hex(&self.state.sessions.config().digest)
    }

    fn config(&self) -> GetConfigResponse {
        let digest = self.digest();
        let values = self.daemon.config.borrow().iter().map(config_value).collect();
        let directory = self.state.models.directory();
        let ModelOrigin { source, place, salt, fingerprint } = directory.origin().clone();
        let source = translate::model_source(source);
        let model_origin = Some(v1::ModelOrigin { source, place, salt, fingerprint });
        let file = self.daemon.config_file.as_ref();
        let config_file = file.map(|file| file.to_string_lossy().into_owned()).unwrap_or_default();
        GetConfigResponse { digest, values, model_origin, config_file }
    }

    /// Makes room for a daemon with another model, where nothing speaks against it; else returns what does.
    async fn make_room(&self, replacement: ReplacementKind) -> Result<Option<KeptDaemon>, ApiError> {
        let _one_by_one = self.making_room.lock().await;
        // It makes room for another client's daemon already, or stops anyway.
        if self.daemon.stop_requested.is_cancelled() {
            return Ok(None);
        }
        if let Some(kept) = self.daemon.replacement.kept_because(replacement) {
            let open = self.state.health.open_runs().await?;
            return Ok(Some(kept.with_runs(open)));
        }
        match self.state.sessions.close_if_idle().await? {
            0 => {
                self.daemon.replacement.replaced();
                self.daemon.stop_requested.cancel();
                Ok(None)
            }
            open => Ok(Some(KeptDaemon::by_runs(open as u64))),
        }
    }
}

fn check(check: HealthCheck) -> v1::Check {
    v1::Check {
        name: check.name.to_owned(),
        level: translate::check_level(check.level),
        found: check.found,
        mend: check.mend.to_owned(),
    }
}

fn config_value(fact: &ConfigFact) -> ConfigValue {
    ConfigValue { key: fact.key.clone(), value: fact.value.clone(), origin: fact.origin.clone() }
}

impl OperationHandlers {
    /// Answers `GetConfig`.
    pub async fn get_config(
        &self,
        _caller: Caller,
        _message: GetConfigRequest,
    ) -> Result<GetConfigResponse, ApiError> {
        Ok(self.config())
    }

    /// Answers `Shutdown`.
    pub async fn shutdown(
        &self,
        _caller: Caller,
        message: ShutdownRequest,
    ) -> Result<ShutdownResponse, ApiError> {
        let replacement = match message.only_key_is_missing {
            true => ReplacementKind::KeyIsThere,
            false => ReplacementKind::OtherModel,
        };
        if message.only_if_replaceable
            && let Some(kept) = self.make_room(replacement).await?
        {
            let KeptDaemon { why: kept_because, wait_seconds, open_runs } = kept;
            return Ok(ShutdownResponse { kept_because, wait_seconds, open_runs });
        }
        tracing::info!("the owner asked the daemon to stop");
        self.daemon.stop_requested.cancel();
        Ok(ShutdownResponse::default())
    }
}
