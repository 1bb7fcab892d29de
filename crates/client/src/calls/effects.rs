//! Effects of runs, and taking them back.

use palyra_types::RunId;
use palyra_wire::v1;
use palyra_wire::v1::effects_service_client::EffectsServiceClient;

use super::call::{LONG, SHORT, required};
use crate::client::Client;
use crate::error::ClientError;
use crate::transport::{MESSAGE_BYTES_MAX, Transport};

impl Client {
    fn effects(&self) -> EffectsServiceClient<Transport> {
        EffectsServiceClient::new(self.connection().transport).max_decoding_message_size(MESSAGE_BYTES_MAX)
    }

    /// Returns a page of effects, newest first.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn list_effects(
        &self,
        request: v1::ListEffectsRequest,
    ) -> Result<v1::ListEffectsResponse, ClientError> {
        let mut effects = self.effects();
        self.answer(SHORT, effects.list_effects(request)).await
    }

    /// Says what became of an effect whose outcome nobody knew.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn resolve_effect(
        &self,
        request: v1::ResolveEffectRequest,
    ) -> Result<v1::EffectInfo, ClientError> {
        let mut effects = self.effects();
        let answer = self.answer(SHORT, effects.resolve_effect(request)).await?;
        required(answer.effect, "a resolved effect was not described")
    }

    /// Takes back what a finished run changed in files; repeating it is harmless.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn undo_run(&self, run: RunId) -> Result<Vec<v1::UndoneFile>, ClientError> {
        let mut effects = self.effects();
        let request = v1::UndoRunRequest { run_id: run.to_string() };
        Ok(self.answer(LONG, effects.undo_run(request)).await?.files)
    }

    /// Says what [`undo_run`](Self::undo_run) would do to each file; changes and records nothing.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn preview_undo(&self, run: RunId) -> Result<Vec<v1::UndoneFile>, ClientError> {
        let mut effects = self.effects();
        let request = v1::PreviewUndoRequest { run_id: run.to_string() };
        Ok(self.answer(LONG, effects.preview_undo(request)).await?.files)
    }

    /// Lists what commands of a run left in protected places.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn list_kept_files(&self, run: RunId) -> Result<Vec<v1::KeptFile>, ClientError> {
        let mut effects = self.effects();
        let request = v1::ListKeptFilesRequest { run_id: run.to_string() };
        Ok(self.answer(SHORT, effects.list_kept_files(request)).await?.files)
    }

    /// Shows a kept file beside what is at its place.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn show_kept_file(
        &self,
        request: v1::ShowKeptFileRequest,
    ) -> Result<v1::ShowKeptFileResponse, ClientError> {
        let mut effects = self.effects();
        self.answer(SHORT, effects.show_kept_file(request)).await
    }

    /// Puts a kept file in place, as it was shown.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn place_kept_file(
        &self,
        request: v1::PlaceKeptFileRequest,
    ) -> Result<Vec<v1::UndoneFile>, ClientError> {
        let mut effects = self.effects();
        Ok(self.answer(LONG, effects.place_kept_file(request)).await?.files)
    }

    /// Deletes a kept file.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn discard_kept_file(&self, request: v1::DiscardKeptFileRequest) -> Result<(), ClientError> {
        let mut effects = self.effects();
        self.answer(SHORT, effects.discard_kept_file(request)).await.map(drop)
    }
}
