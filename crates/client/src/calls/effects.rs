//! Effects of runs, and taking them back.

use palyra_types::RunId;
use palyra_wire::v1;

use super::call::required;
use crate::client::Client;
use crate::error::ClientError;

impl Client {
    /// Says what became of an effect whose outcome nobody knew.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn resolve_effect(
        &self,
        request: v1::ResolveEffectRequest,
    ) -> Result<v1::EffectInfo, ClientError> {
        let answer = self.call(request).await?;
        required(answer.effect, "a resolved effect was not described")
    }

    /// Takes back what a finished run changed in files; repeating it is harmless.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn undo_run(&self, run: RunId) -> Result<Vec<v1::UndoneFile>, ClientError> {
        let request = v1::UndoRunRequest { run_id: run.to_string() };
        Ok(self.call_slowly(request).await?.files)
    }

    /// Says what [`undo_run`](Self::undo_run) would do to each file; changes and records nothing.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn preview_undo(&self, run: RunId) -> Result<Vec<v1::UndoneFile>, ClientError> {
        let request = v1::PreviewUndoRequest { run_id: run.to_string() };
        Ok(self.call_slowly(request).await?.files)
    }

    /// Lists what commands of a run left in protected places.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn list_kept_files(&self, run: RunId) -> Result<Vec<v1::KeptFile>, ClientError> {
        let request = v1::ListKeptFilesRequest { run_id: run.to_string() };
        Ok(self.call(request).await?.files)
    }

    /// Shows a kept file beside what is at its place.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn show_kept_file(
        &self,
        request: v1::ShowKeptFileRequest,
    ) -> Result<v1::ShowKeptFileResponse, ClientError> {
        self.call(request).await
    }

    /// Puts a kept file in place, as it was shown.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn place_kept_file(
        &self,
        request: v1::PlaceKeptFileRequest,
    ) -> Result<Vec<v1::UndoneFile>, ClientError> {
        Ok(self.call_slowly(request).await?.files)
    }

    /// Deletes a kept file.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn discard_kept_file(&self, request: v1::DiscardKeptFileRequest) -> Result<(), ClientError> {
        self.call(request).await.map(drop)
    }
}
