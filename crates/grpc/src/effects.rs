//! `EffectsService`: what runs did, what nobody knows about it, and taking it back.

use palyra_ports::read_approvals::EffectQuery;
use palyra_runtime::kept::KeptHandle;
use palyra_runtime::runs::RunsHandle;
use palyra_runtime::{Caller, UndoPreview, UndoReport};
use palyra_types::effect::{KeptFileId, UndoneFile};
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

    async fn kept(&self, caller: Caller, run: &str) -> Result<KeptHandle, Refusal> {
        Ok(self.runs.kept(caller, translate::id("run_id", run)?).await?)
    }

    async fn list_kept(
        &self,
        caller: Caller,
        message: v1::ListKeptFilesRequest,
    ) -> Result<v1::ListKeptFilesResponse, Refusal> {
        let files = self.kept(caller, &message.run_id).await?.list().await?;
        Ok(v1::ListKeptFilesResponse { files: files.iter().map(translate::kept_file).collect() })
    }

    async fn show_kept(
        &self,
        caller: Caller,
        message: v1::ShowKeptFileRequest,
    ) -> Result<v1::ShowKeptFileResponse, Refusal> {
        let kept = self.kept(caller, &message.run_id).await?;
        let shown = kept.show(KeptFileId(message.kept_id)).await?;
        Ok(v1::ShowKeptFileResponse {
            file: Some(translate::kept_file(&shown.file)),
            difference: shown.difference.into_exposed(),
            shown_sha256: translate::hex(&shown.shown_sha256),
            refusal: shown.refusal.unwrap_or_default(),
        })
    }

    async fn place_kept(
        &self,
        caller: Caller,
        message: v1::PlaceKeptFileRequest,
    ) -> Result<v1::PlaceKeptFileResponse, Refusal> {
        let shown = translate::digest(&message.shown_sha256).ok_or_else(|| {
            Refusal::invalid_argument("shown_sha256 is the digest of what was shown, in 64 hex digits")
        })?;
        let kept = self.kept(caller, &message.run_id).await?;
        let files = kept.place(KeptFileId(message.kept_id), shown).await?;
        Ok(v1::PlaceKeptFileResponse { files: files.iter().map(translate::undone_file).collect() })
    }

    async fn discard_kept(
        &self,
        caller: Caller,
        message: v1::DiscardKeptFileRequest,
    ) -> Result<v1::DiscardKeptFileResponse, Refusal> {
        let kept = self.kept(caller, &message.run_id).await?;
        let sha256 = translate::digest(&message.sha256);
        if sha256.is_none() && !message.sha256.is_empty() {
            return Err(Refusal::invalid_argument("sha256 is a digest in 64 hex digits, or empty"));
        }
        kept.discard(KeptFileId(message.kept_id), sha256).await?;
        Ok(v1::DiscardKeptFileResponse {})
    }

    async fn undo(
        &self,
        caller: Caller,
        message: v1::UndoRunRequest,
    ) -> Result<v1::UndoRunResponse, Refusal> {
        let run = translate::id("run_id", &message.run_id)?;
        let UndoReport { files, made } = self.runs.undo(caller, run).await?;
        let described = |file: &UndoneFile| {
            let removed = made.contains(file.path.expose());
            v1::UndoneFile { removed, ..translate::undone_file(file) }
        };
        Ok(v1::UndoRunResponse { files: files.iter().map(described).collect() })
    }

    async fn preview(
        &self,
        caller: Caller,
        message: v1::PreviewUndoRequest,
    ) -> Result<v1::PreviewUndoResponse, Refusal> {
        let run = translate::id("run_id", &message.run_id)?;
        let previews = self.runs.preview_undo(caller, run).await?;
        let shown = |preview: &UndoPreview| {
            let file = v1::UndoneFile { removed: preview.is_made, ..translate::undone_file(&preview.file) };
            let detail =
                if file.detail.is_empty() { preview.difference.expose().clone() } else { file.detail };
            v1::UndoneFile { detail, ..file }
        };
        Ok(v1::PreviewUndoResponse { files: previews.iter().map(shown).collect() })
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

    async fn preview_undo(
        &self,
        request: Request<v1::PreviewUndoRequest>,
    ) -> Result<Response<v1::PreviewUndoResponse>, Status> {
        let (caller, message) = auth::open(request)?;
        Ok(Response::new(self.preview(caller, message).await?))
    }

    async fn list_kept_files(
        &self,
        request: Request<v1::ListKeptFilesRequest>,
    ) -> Result<Response<v1::ListKeptFilesResponse>, Status> {
        let (caller, message) = auth::open(request)?;
        Ok(Response::new(self.list_kept(caller, message).await?))
    }

    async fn show_kept_file(
        &self,
        request: Request<v1::ShowKeptFileRequest>,
    ) -> Result<Response<v1::ShowKeptFileResponse>, Status> {
        let (caller, message) = auth::open(request)?;
        Ok(Response::new(self.show_kept(caller, message).await?))
    }

    async fn place_kept_file(
        &self,
        request: Request<v1::PlaceKeptFileRequest>,
    ) -> Result<Response<v1::PlaceKeptFileResponse>, Status> {
        let (caller, message) = auth::open(request)?;
        Ok(Response::new(self.place_kept(caller, message).await?))
    }

    async fn discard_kept_file(
        &self,
        request: Request<v1::DiscardKeptFileRequest>,
    ) -> Result<Response<v1::DiscardKeptFileResponse>, Status> {
        let (caller, message) = auth::open(request)?;
        Ok(Response::new(self.discard_kept(caller, message).await?))
    }
}
