//! `EffectsService`: what runs did, what nobody knows about it, and taking it back.

use palyra_ports::read_approvals::EffectQuery;
use palyra_runtime::Caller;
use palyra_runtime::runs::RunsHandle;
use palyra_types::{EffectId, Redacted};
use palyra_wire::v1;
use palyra_wire::v1::effects_service_server::EffectsService;
use tonic::{Request, Response, Status};

use crate::auth;
use crate::status::Refusal;
use crate::translate;

/// Answers `palyra.v1.EffectsService`.
pub(crate) struct EffectsServiceImpl {
    runs: RunsHandle,
}

impl EffectsServiceImpl {
    pub(crate) fn new(runs: RunsHandle) -> Self {
        Self { runs }
    }

    async fn list(
        &self,
        caller: Caller,
        message: v1::ListEffectsRequest,
    ) -> Result<v1::ListEffectsResponse, Refusal> {
        let limit = translate::page_rows(message.page_size);
        let run = match message.run_id.as_str() {
            "" => None,
            text => Some(translate::id("run_id", text)?),
        };
        let query = EffectQuery {
            principal: Some(caller.principal),
            run,
            only: translate::effect_filter(&message.only)?,
            before: translate::run_cursor(&message.page_token)?,
            limit,
        };
        let records = self.runs.effects().list(caller, query).await?;
        let last = records.last().filter(|_| records.len() >= limit);
        let next_page_token = last.map(|record| record.started_at.1.to_string()).unwrap_or_default();
        let mut effects = Vec::new();
        for record in &records {
            let summary = self.runs.effects().summary(record).await?.into_exposed();
            effects.push(v1::EffectInfo { summary, ..translate::effect(record) });
        }
        Ok(v1::ListEffectsResponse { effects, next_page_token })
    }

    async fn resolve(
        &self,
        caller: Caller,
        message: v1::ResolveEffectRequest,
    ) -> Result<v1::ResolveEffectResponse, Refusal> {
        let run = translate::id("run_id", &message.run_id)?;
        let resolution = translate::effect_resolution(&message.resolution)?;
        let (effect, note) = (EffectId(message.effect_id), Redacted::new(message.note));
        let record = self.runs.effects().resolve(caller, (run, effect), resolution, note).await?;
        Ok(v1::ResolveEffectResponse { effect: Some(translate::effect(&record)) })
    }

    async fn undo(
        &self,
        caller: Caller,
        message: v1::UndoRunRequest,
    ) -> Result<v1::UndoRunResponse, Refusal> {
        let files = self.runs.undo(caller, translate::id("run_id", &message.run_id)?).await?;
        Ok(v1::UndoRunResponse { files: files.iter().map(translate::undone_file).collect() })
    }
}

#[tonic::async_trait]
impl EffectsService for EffectsServiceImpl {
    async fn list_effects(
        &self,
        request: Request<v1::ListEffectsRequest>,
    ) -> Result<Response<v1::ListEffectsResponse>, Status> {
        let (caller, message) = auth::open(request)?;
        Ok(Response::new(self.list(caller, message).await?))
    }

    async fn resolve_effect(
        &self,
        request: Request<v1::ResolveEffectRequest>,
    ) -> Result<Response<v1::ResolveEffectResponse>, Status> {
        let (caller, message) = auth::open(request)?;
        Ok(Response::new(self.resolve(caller, message).await?))
    }

    async fn undo_run(
        &self,
        request: Request<v1::UndoRunRequest>,
    ) -> Result<Response<v1::UndoRunResponse>, Status> {
        let (caller, message) = auth::open(request)?;
        Ok(Response::new(self.undo(caller, message).await?))
    }
}
