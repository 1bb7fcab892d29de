//! Backups of the state directory that this daemon serves.
//!
//! Owns that the newest head is signed before its journal is copied, and that work whose caller is gone stops. Form and
//! content of a backup are those of `palyra-backup`.

use std::path::PathBuf;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_backup::{
    BackupError, BackupManifest, BackupPlan, BackupWatch, ConfigPlaces, CopyPace, KeyFiles, StopSignal,
    automatic_name, check_backup, create, read_manifest, remove_older, remove_unfinished,
};
use palyra_ports::maintain_journal::ProgressCallback;
use palyra_ports::{
    AutomaticBackup, BackupKeys, BackupOrder, BackupSummary, Clock, KeyChoice, MakeBackupError, MakeBackups,
    ProveJournal,
};
use palyra_types::ErrorCode;

use crate::system::SystemClock;

/// Makes backups of one state directory.
pub(crate) struct StateBackups {
    state_dir: PathBuf,
    config: ConfigPlaces,
    proofs: Arc<dyn ProveJournal>,
}

impl StateBackups {
    pub(crate) fn new(state_dir: PathBuf, config: ConfigPlaces, proofs: Arc<dyn ProveJournal>) -> Self {
        Self { state_dir, config, proofs }
    }

    fn plan(&self, target: PathBuf, keys: BackupKeys) -> BackupPlan {
        BackupPlan {
            state_dir: self.state_dir.clone(),
            config: self.config.clone(),
            target,
            keys: match keys {
                BackupKeys::LeftOut => KeyFiles::LeftOut,
                BackupKeys::Included => KeyFiles::Included,
            },
            pace: CopyPace::BesideWriter,
            program_version: env!("CARGO_PKG_VERSION").to_owned(),
            now_unix_us: SystemClock.wall().0,
        }
    }

    /// Signs the newest head, so that the copy has one, then does the work on a thread of its own.
    fn after_signing(
        &self,
        progress: ProgressCallback,
        work: impl FnOnce(&BackupWatch) -> Result<BackupSummary, BackupError> + Send + 'static,
    ) -> BoxFuture<'static, Result<BackupSummary, MakeBackupError>> {
        let signing = self.proofs.sign_checkpoint(KeyChoice::Current);
        async move {
            if let Err(error) = signing.await {
                // A journal that is read-only has its newest head already.
                tracing::warn!(%error, "the head of the journal is not signed before a backup");
            }
            let stop = StopOnDrop(StopSignal::default());
            let watch = BackupWatch { progress, stop: stop.0.clone() };
            let made = tokio::task::spawn_blocking(move || work(&watch)).await;
            drop(stop);
            let made =
                made.map_err(|_| failure(ErrorCode::Internal, "the backup ended by a panic".to_owned()))?;
            made.map_err(|error| failure(error.code(), error.to_string()))
        }
        .boxed()
    }
}

fn summary(folder: PathBuf, manifest: &BackupManifest) -> BackupSummary {
    BackupSummary { folder, bytes: manifest.total_bytes(), entries: manifest.entries }
}

fn failure(code: ErrorCode, what: String) -> MakeBackupError {
    MakeBackupError { code, what }
}

/// Stops the work when the future that waits for it is dropped.
struct StopOnDrop(StopSignal);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop();
    }
}

impl MakeBackups for StateBackups {
    fn create(
        &self,
        order: BackupOrder,
        progress: ProgressCallback,
    ) -> BoxFuture<'static, Result<BackupSummary, MakeBackupError>> {
        let plan = self.plan(order.target, order.keys);
        self.after_signing(progress, move |watch| {
            let made = create(&plan, watch)?;
            Ok(summary(made.folder, &made.manifest))
        })
    }

    fn create_automatic(
        &self,
        order: AutomaticBackup,
        progress: ProgressCallback,
    ) -> BoxFuture<'static, Result<BackupSummary, MakeBackupError>> {
        let AutomaticBackup { folder, keep, task, created } = order;
        let target = folder.join(automatic_name(created.0, &task.to_string()));
        let plan = self.plan(target, BackupKeys::LeftOut);
        self.after_signing(progress, move |watch| {
            std::fs::create_dir_all(&folder).map_err(|cause| BackupError::File {
                doing: "making",
                path: folder.clone(),
                cause,
            })?;
            remove_unfinished(&folder)?;
            if read_manifest(&plan.target).is_err() {
                create(&plan, watch)?;
            }
            let quiet = BackupWatch { progress: BackupWatch::default().progress, stop: watch.stop.clone() };
            let checked = check_backup(&plan.target, &quiet)?;
            if !checked.holds() {
                return Err(BackupError::Damaged { path: plan.target, findings: checked.findings });
            }
            for removed in remove_older(&folder, keep)? {
                tracing::info!(path = %removed.display(), "an older automatic backup is removed");
            }
            Ok(summary(plan.target, &checked.manifest))
        })
    }
}
