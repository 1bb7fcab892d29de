//! `AdminService`: status, configuration, tokens and the end of the daemon, for the owner of the socket.

use palyra_runtime::GatewayRuntimeState;
use palyra_runtime::access::AccessHandle;
use palyra_runtime::health::Check;
use palyra_runtime::model_directory::ModelOrigin;
use palyra_types::access::TokenRecord;
use palyra_wire::v1::admin_service_server::AdminService;
use palyra_wire::v1::{
    self, ConfigValue, CreateTokenRequest, CreateTokenResponse, GetConfigRequest, GetConfigResponse,
    GetStatusRequest, GetStatusResponse, ListTokensRequest, ListTokensResponse, ReloadConfigRequest,
    ReloadConfigResponse, RevokeTokenRequest, RevokeTokenResponse, ShutdownRequest, ShutdownResponse, Token,
};
use tokio::sync::Mutex;
use tonic::{Request, Response, Status};

use crate::auth;
use crate::daemon_facts::{ConfigFact, DaemonFacts};
use crate::reload::{ReloadError, ReloadReport};
use crate::status::Refusal;
use crate::translate;

/// Answers `palyra.v1.AdminService`.
pub(crate) struct AdminServiceImpl {
    state: GatewayRuntimeState,
    daemon: DaemonFacts,
    /// One after the other is answered whether the daemon makes room.
    making_room: Mutex<()>,
}

impl AdminServiceImpl {
    pub(crate) fn new(state: GatewayRuntimeState, daemon: DaemonFacts) -> Self {
        Self { state, daemon, making_room: Mutex::default() }
    }

    async fn status(&self) -> Result<GetStatusResponse, Refusal> {
        let daemon = &self.daemon;
        let mut of_daemon = daemon.checks.borrow().as_ref().clone();
        let live = daemon.live_checks.clone();
        // One that is lost in a bug is missing, and the others are told.
        of_daemon.extend(tokio::task::spawn_blocking(move || live.made()).await.unwrap_or_default());
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

    async fn reload(&self) -> Result<ReloadConfigResponse, Refusal> {
        let ReloadReport { digest, changed, needs_restart } = match self.daemon.reload.reload().await {
            Ok(report) => report,
            Err(ReloadError::Invalid { mistakes }) => {
                return Ok(ReloadConfigResponse { digest: self.digest(), mistakes, ..Default::default() });
            }
            Err(ReloadError::ShuttingDown) => return Err(Refusal::shutting_down()),
        };
        let digest = translate::hex(&digest);
        Ok(ReloadConfigResponse { digest, changed, needs_restart, mistakes: Vec::new() })
    }

    /// Returns the digest of the snapshot in force.
    fn digest(&self) -> String {
        translate::hex(&self.state.config.borrow().digest)
    }

    fn config(&self) -> GetConfigResponse {
        let digest = self.digest();
        let values = self.daemon.config.borrow().iter().map(config_value).collect();
        let directory = self.state.models.directory();
        let ModelOrigin { source, place, salt, fingerprint } = directory.origin().clone();
        let source = translate::model_source(source).to_owned();
        let model_origin = Some(v1::ModelOrigin { source, place, salt, fingerprint });
        GetConfigResponse { digest, values, model_origin }
    }

    /// Makes room for a daemon with another model, where nothing speaks against it; else returns what does.
    async fn make_room(&self) -> Result<Option<String>, Refusal> {
        let _one_by_one = self.making_room.lock().await;
        // It makes room for another client's daemon already, or stops anyway.
        if self.daemon.wish_to_stop.is_cancelled() {
            return Ok(None);
        }
        let kept = self.daemon.replacement.kept_because();
        if kept.is_some() {
            return Ok(kept);
        }
        match self.state.sessions.close_if_idle().await? {
            0 => {
                self.daemon.replacement.replaced();
                self.daemon.wish_to_stop.cancel();
                Ok(None)
            }
            1 => Ok(Some("it has 1 open run".to_owned())),
            open => Ok(Some(format!("it has {open} open runs"))),
        }
    }
}

async fn create_token(
    access: &AccessHandle,
    message: CreateTokenRequest,
) -> Result<CreateTokenResponse, Refusal> {
    let life = translate::token_days(message.days);
    let (record, text) = access.create_token(&message.principal, &message.label, life).await?;
    Ok(CreateTokenResponse {
        token_id: record.id.to_string(),
        token: text.into_exposed(),
        expires: record.expires.and_then(translate::timestamp),
    })
}

fn list_tokens(access: &AccessHandle) -> ListTokensResponse {
    let known = access.known();
    let name = |token: &TokenRecord| known.name_of(token.principal).unwrap_or_default().to_owned();
    ListTokensResponse { tokens: known.tokens.iter().map(|record| token(record, name(record))).collect() }
}

fn token(record: &TokenRecord, principal: String) -> Token {
    Token {
        token_id: record.id.to_string(),
        principal,
        label: record.label.expose().clone(),
        created: translate::timestamp(record.created),
        expires: record.expires.and_then(translate::timestamp),
        revoked: record.revoked.and_then(translate::timestamp),
    }
}

async fn revoke_token(
    access: &AccessHandle,
    message: RevokeTokenRequest,
) -> Result<RevokeTokenResponse, Refusal> {
    access.revoke_token(translate::id("token_id", &message.token_id)?).await?;
    Ok(RevokeTokenResponse {})
}

fn check(check: Check) -> v1::Check {
    v1::Check {
        name: check.name.to_owned(),
        level: translate::check_level(check.level).to_owned(),
        found: check.found,
        mend: check.mend.to_owned(),
    }
}

fn config_value(fact: &ConfigFact) -> ConfigValue {
    ConfigValue { key: fact.key.clone(), value: fact.value.clone(), origin: fact.origin.clone() }
}

#[tonic::async_trait]
impl AdminService for AdminServiceImpl {
    async fn get_status(
        &self,
        request: Request<GetStatusRequest>,
    ) -> Result<Response<GetStatusResponse>, Status> {
        auth::open(request)?;
        Ok(Response::new(self.status().await?))
    }

    async fn get_config(
        &self,
        request: Request<GetConfigRequest>,
    ) -> Result<Response<GetConfigResponse>, Status> {
        auth::open(request)?;
        Ok(Response::new(self.config()))
    }

    async fn reload_config(
        &self,
        request: Request<ReloadConfigRequest>,
    ) -> Result<Response<ReloadConfigResponse>, Status> {
        auth::open(request)?;
        Ok(Response::new(self.reload().await?))
    }

    async fn create_token(
        &self,
        request: Request<CreateTokenRequest>,
    ) -> Result<Response<CreateTokenResponse>, Status> {
        let (_, message) = auth::open(request)?;
        Ok(Response::new(create_token(&self.state.access, message).await?))
    }

    async fn list_tokens(
        &self,
        request: Request<ListTokensRequest>,
    ) -> Result<Response<ListTokensResponse>, Status> {
        auth::open(request)?;
        Ok(Response::new(list_tokens(&self.state.access)))
    }

    async fn revoke_token(
        &self,
        request: Request<RevokeTokenRequest>,
    ) -> Result<Response<RevokeTokenResponse>, Status> {
        let (_, message) = auth::open(request)?;
        Ok(Response::new(revoke_token(&self.state.access, message).await?))
    }

    async fn shutdown(
        &self,
        request: Request<ShutdownRequest>,
    ) -> Result<Response<ShutdownResponse>, Status> {
        let (_, message) = auth::open(request)?;
        if message.only_if_replaceable
            && let Some(kept_because) = self.make_room().await?
        {
            return Ok(Response::new(ShutdownResponse { kept_because }));
        }
        tracing::info!("the owner asked the daemon to stop");
        self.daemon.wish_to_stop.cancel();
        Ok(Response::new(ShutdownResponse::default()))
    }
}
