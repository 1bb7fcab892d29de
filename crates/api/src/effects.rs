//! `EffectsService`: effects of runs, unknown outcomes, and undo.

use palyra_ports::read_approvals::EffectQuery;
use palyra_runtime::{Caller, UndoPreview, UndoReport};
use palyra_types::effect::{KeptFileId, UndoneFile};
use palyra_types::{Content, EffectId};
use palyra_wire::v1;

use crate::api_error::ApiError;
use crate::operations::OperationHandlers;
use crate::translate;

impl OperationHandlers {
    /// Answers `ListEffects`.
    pub async fn list_effects(
        &self,
        caller: Caller,
        message: v1::ListEffectsRequest,
    ) -> Result<v1::ListEffectsResponse, ApiError> {
        let limit = translate::page_rows(message.page_size);
        let run = match message.run_id.as_str() {
            "" => None,
            text => Some(translate::id("run_id", text)?),
        };
        let query = EffectQuery {
            principal: Some(caller.actor.principal),
            run,
            only: translate::effect_filter(message.only)?,
            before: translate::run_cursor(&message.page_token)?,
            limit,
        };
        let records = self.state.runs.effects(caller, query).await?;
        let last = records.last().filter(|_| records.len() >= limit);
        let next_page_token = last.map(|record| record.started_at.1.to_string()).unwrap_or_default();
        let mut effects = Vec::new();
        for record in &records {
            let summary = self.state.runs.effect_summary(record).await?.into_exposed();
            effects.push(v1::EffectInfo { summary, ..translate::effect(record) });
        }
        Ok(v1::ListEffectsResponse { effects, next_page_token })
    }

    /// Answers `ResolveEffect`.
    pub async fn resolve_effect(
        &self,
        caller: Caller,
        message: v1::ResolveEffectRequest,
    ) -> Result<v1::ResolveEffectResponse, ApiError> {
        let run = translate::id("run_id", &message.run_id)?;
        let resolution = translate::effect_resolution(message.resolution)?;
        let (effect, note) = (EffectId(message.effect_id), Content::new(message.note));
        let record = self.state.runs.resolve_effect(caller, run, effect, resolution, note).await?;
        Ok(v1::ResolveEffectResponse { effect: Some(translate::effect(&record)) })
    }

    /// Answers `ListKeptFiles`.
    pub async fn list_kept_files(
        &self,
        caller: Caller,
        message: v1::ListKeptFilesRequest,
    ) -> Result<v1::ListKeptFilesResponse, ApiError> {
        let run = translate::id("run_id", &message.run_id)?;
        let files = self.state.runs.kept_files(caller, run).await?;
        Ok(v1::ListKeptFilesResponse { files: files.iter().map(translate::kept_file).collect() })
    }

    /// Answers `ShowKeptFile`.
    pub async fn show_kept_file(
        &self,
        caller: Caller,
        message: v1::ShowKeptFileRequest,
    ) -> Result<v1::ShowKeptFileResponse, ApiError> {
        let run = translate::id("run_id", &message.run_id)?;
        let shown = self.state.runs.show_kept_file(caller, run, KeptFileId(message.kept_id)).await?;
        Ok(v1::ShowKeptFileResponse {
            file: Some(translate::kept_file(&shown.file)),
            difference: shown.difference.into_exposed(),
            shown_sha256: translate::hex(&shown.shown_sha256),
            refusal: shown.refusal.unwrap_or_default(),
        })
    }

    /// Answers `PlaceKeptFile`.
    pub async fn place_kept_file(
        &self,
        caller: Caller,
        message: v1::PlaceKeptFileRequest,
    ) -> Result<v1::PlaceKeptFileResponse, ApiError> {
        let shown = translate::digest(&message.shown_sha256).ok_or_else(|| {
            ApiError::invalid_argument("shown_sha256 is the digest of what was shown, in 64 hex digits")
        })?;
        let run = translate::id("run_id", &message.run_id)?;
        let file = KeptFileId(message.kept_id);
        let files = self.state.runs.place_kept_file(caller, run, file, shown).await?;
        Ok(v1::PlaceKeptFileResponse { files: files.iter().map(translate::undone_file).collect() })
    }

    /// Answers `DiscardKeptFile`.
    pub async fn discard_kept_file(
        &self,
        caller: Caller,
        message: v1::DiscardKeptFileRequest,
    ) -> Result<v1::DiscardKeptFileResponse, ApiError> {
        let run = translate::id("run_id", &message.run_id)?;
        let sha256 = translate::digest(&message.sha256);
        if sha256.is_none() && !message.sha256.is_empty() {
            return Err(ApiError::invalid_argument("sha256 is a digest in 64 hex digits, or empty"));
        }
        self.state.runs.discard_kept_file(caller, run, KeptFileId(message.kept_id), sha256).await?;
        Ok(v1::DiscardKeptFileResponse {})
    }

    /// Answers `UndoRun`.
    pub async fn undo_run(
        &self,
        caller: Caller,
        message: v1::UndoRunRequest,
    ) -> Result<v1::UndoRunResponse, ApiError> {
        let run = translate::id("run_id", &message.run_id)?;
        let UndoReport { files, made } = self.state.runs.undo(caller, run).await?;
        let described = |file: &UndoneFile| {
            let removed = made.contains(file.path.expose());
            v1::UndoneFile { removed, ..translate::undone_file(file) }
        };
        Ok(v1::UndoRunResponse { files: files.iter().map(described).collect() })
    }

    /// Answers `PreviewUndo`.
    pub async fn preview_undo(
        &self,
        caller: Caller,
        message: v1::PreviewUndoRequest,
    ) -> Result<v1::PreviewUndoResponse, ApiError> {
        let run = translate::id("run_id", &message.run_id)?;
        let previews = self.state.runs.preview_undo(caller, run).await?;
        let shown = |preview: &UndoPreview| {
            let file = v1::UndoneFile { removed: preview.is_made, ..translate::undone_file(&preview.file) };
            let detail =
                if file.detail.is_empty() { preview.difference.expose().clone() } else { file.detail };
            v1::UndoneFile { detail, ..file }
        };
        Ok(v1::PreviewUndoResponse { files: previews.iter().map(shown).collect() })
    }
}

impl OperationHandlers {}
