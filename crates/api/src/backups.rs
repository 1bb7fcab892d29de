//! `CreateBackup`: a backup of the state directory, for the owner of the socket.

use std::path::PathBuf;

use palyra_ports::{BackupKeys, BackupOrder, BackupSummary};
use palyra_runtime::Caller;
use palyra_wire::v1::{BackupFigures, CreateBackupRequest, CreateBackupResponse, create_backup_response};

use crate::api_error::ApiError;
use crate::journal::{STEPS_QUEUED_MAX, progress_sink};
use crate::operations::{OperationHandlers, ResponseStream, respond_until, send_last};

impl OperationHandlers {
    /// Answers `CreateBackup`. A client that leaves ends the backup, and what was written is removed.
    pub async fn create_backup(
        &self,
        _caller: Caller,
        message: CreateBackupRequest,
    ) -> Result<ResponseStream<CreateBackupResponse>, ApiError> {
        use create_backup_response::Step;
        let wrap = |step| CreateBackupResponse { step: Some(step) };
        let target = PathBuf::from(message.folder);
        if !target.is_absolute() {
            return Err(ApiError::invalid_argument("`folder` is not an absolute path"));
        }
        let keys = if message.with_key { BackupKeys::Included } else { BackupKeys::LeftOut };
        let journal = self.state.journal.clone();
        Ok(respond_until(self.stop.clone(), STEPS_QUEUED_MAX, move |response_tx| async move {
            let progress = progress_sink(&response_tx, move |progress| wrap(Step::Progress(progress)));
            let made = journal.back_up(BackupOrder { target, keys }, progress).await;
            let made = made.map_err(|error| ApiError::new(error.code, error.what));
            send_last(&response_tx, made.map(|made| wrap(Step::Backup(figures(&made))))).await
        }))
    }
}

fn figures(made: &BackupSummary) -> BackupFigures {
    BackupFigures { folder: made.folder.display().to_string(), bytes: made.bytes, entries: made.entries }
}
