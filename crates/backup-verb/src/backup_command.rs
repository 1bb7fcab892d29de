//! Carrying out the verb.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use palyra_backup::{
    BackupError, BackupPlan, BackupWatch, ConfigPlaces, CopyPace, KeyFiles, RestorePlan, StateLock,
    StopSignal, check_backup, check_json, check_lines, create, created_json, created_lines, read_manifest,
    restore, restored_json, restored_lines,
};
use palyra_client::{Client, ClientError, ConnectOptions, JournalStep};
use palyra_screen_text::bytes;
use palyra_terminal::{InterruptListener, NoteKind, Output, OutputError, ReportForm};
use palyra_types::ErrorCode;
use palyra_wire::v1::CreateBackupRequest;
use tokio::sync::watch;

use crate::backup_verb::BackupVerb;

/// What the verb needs of the process.
pub struct BackupCommand<'c> {
    /// Where to print.
    pub output: &'c Output,
    /// Says when Ctrl-C is pressed.
    pub interrupts: &'c InterruptListener,
    /// The state directory.
    pub state_dir: PathBuf,
    /// The file of the configuration, which need not be there.
    pub config_file: Option<PathBuf>,
    /// How to reach a daemon that runs.
    pub daemon: ConnectOptions,
}

/// How the verb ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackupOutcome {
    /// It did what it says.
    Done,
    /// The backup that was checked does not hold.
    Faulty,
}

/// Why the verb did not end.
#[derive(Debug, thiserror::Error)]
pub enum BackupCommandError {
    /// The daemon refused, or was lost.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// This process could not do it.
    #[error(transparent)]
    Backup(#[from] BackupError),
    /// The thread of the work ended by a panic.
    #[error("the work ended by a panic")]
    Panicked,
    /// Standard output takes nothing more.
    #[error(transparent)]
    Output(#[from] OutputError),
}

impl BackupCommandError {
    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Client(error) => error.code(),
            Self::Backup(error) => error.code(),
            Self::Panicked | Self::Output(_) => ErrorCode::Internal,
        }
    }
}

impl BackupCommand<'_> {
    /// Does what was typed.
    ///
    /// # Errors
    /// [`BackupCommandError`].
    pub async fn run(self, verb: BackupVerb) -> Result<BackupOutcome, BackupCommandError> {
        match verb {
            BackupVerb::Create { folder, with_key, json } => {
                let keys = if with_key { KeyFiles::Included } else { KeyFiles::LeftOut };
                self.make(&folder, keys, json.into()).await
            }
            BackupVerb::Verify { folder, json } => self.verify(folder, json.into()).await,
            BackupVerb::Restore { folder, to, json } => self.put_back(folder, to, json.into()).await,
        }
    }

    async fn make(
        &self,
        folder: &Path,
        keys: KeyFiles,
        form: ReportForm,
    ) -> Result<BackupOutcome, BackupCommandError> {
        let target = absolute(folder);
        let folder = match Client::connect(self.daemon.clone()).await {
            Ok(client) => self.make_by_daemon(&client, &target, keys).await?,
            Err(ClientError::NotRunning { .. }) => self.make_here(target, keys).await?,
            Err(error) => return Err(error.into()),
        };
        let manifest = read_manifest(&folder)?;
        if form == ReportForm::Json {
            self.output.json(&created_json(&folder, &manifest))?;
            return Ok(BackupOutcome::Done);
        }
        self.output.note(NoteKind::Good, &format!("the backup is in {}", folder.display()));
        self.print(&created_lines(&manifest))?;
        Ok(BackupOutcome::Done)
    }

    /// Lets the daemon make it. Leaving early ends it.
    async fn make_by_daemon(
        &self,
        client: &Client,
        target: &Path,
        keys: KeyFiles,
    ) -> Result<PathBuf, BackupCommandError> {
        let Some(folder) = target.to_str().map(str::to_owned) else {
            let why = "its name is not text".to_owned();
            return Err(BackupError::TargetRefused { path: target.to_owned(), why }.into());
        };
        let request = CreateBackupRequest { folder, with_key: keys == KeyFiles::Included };
        let mut steps = client.create_backup(request).await?;
        loop {
            match steps.next().await? {
                JournalStep::Progress(step) => {
                    self.show_progress("copying the journal", step.done, step.total);
                }
                JournalStep::Done(made) => {
                    self.output.end_progress();
                    return Ok(made.folder.into());
                }
            }
        }
    }

    async fn make_here(&self, target: PathBuf, keys: KeyFiles) -> Result<PathBuf, BackupCommandError> {
        let folder = self.config_file.as_ref().and_then(|file| file.parent());
        let plan = BackupPlan {
            state_dir: self.state_dir.clone(),
            config: ConfigPlaces {
                file: self.config_file.clone(),
                policies: folder.map(|folder| folder.join("policies")),
            },
            target,
            keys,
            pace: CopyPace::Alone,
            program_version: env!("CARGO_PKG_VERSION").to_owned(),
            now_unix_us: now_unix_us(),
        };
        if !plan.state_dir.is_dir() {
            return Err(BackupError::NoJournal { dir: plan.state_dir }.into());
        }
        let made = self.watched("copying the journal", move |watch| {
            let _lock = StateLock::take(&plan.state_dir)?;
            create(&plan, watch)
        });
        Ok(made.await?.folder)
    }

    async fn verify(&self, folder: PathBuf, form: ReportForm) -> Result<BackupOutcome, BackupCommandError> {
        let checked = self.watched("checking files", move |watch| check_backup(&folder, watch)).await?;
        let outcome = if checked.holds() { BackupOutcome::Done } else { BackupOutcome::Faulty };
        if form == ReportForm::Json {
            self.output.json(&check_json(&checked, now_unix_us()))?;
            return Ok(outcome);
        }
        self.print(&check_lines(&checked, now_unix_us()))?;
        match checked.damage() {
            Some(damage) => self.output.error(damage.code(), &damage.to_string()),
            None => self.output.note(NoteKind::Good, "every file is as it was backed up"),
        }
        Ok(outcome)
    }

    async fn put_back(
        &self,
        backup: PathBuf,
        state_dir: PathBuf,
        form: ReportForm,
    ) -> Result<BackupOutcome, BackupCommandError> {
        let plan = RestorePlan { backup, state_dir: absolute(&state_dir) };
        let restored = self.watched("checking files", move |watch| restore(&plan, watch)).await?;
        if form == ReportForm::Json {
            self.output.json(&restored_json(&restored))?;
            return Ok(BackupOutcome::Done);
        }
        self.output.note(NoteKind::Good, &format!("restored to {}", restored.state_dir.display()));
        self.print(&restored_lines(&restored))?;
        Ok(BackupOutcome::Done)
    }

    /// Does work on a thread of its own and shows how far it is. Ctrl-C stops it, and its files are removed.
    async fn watched<T: Send + 'static>(
        &self,
        what: &str,
        work: impl FnOnce(&BackupWatch) -> Result<T, BackupError> + Send + 'static,
    ) -> Result<T, BackupCommandError> {
        let (progress_tx, mut steps) = watch::channel((0, 0));
        let stop = StopSignal::default();
        let progress = move |done, total| {
            let _ = progress_tx.send_replace((done, total));
        };
        let watch = BackupWatch { progress: Arc::new(progress), stop: stop.clone() };
        self.interrupts.begin("");
        let mut working = tokio::task::spawn_blocking(move || work(&watch));
        let done = loop {
            tokio::select! {
                done = &mut working => break done,
                () = self.interrupts.pressed(), if !stop.is_requested() => stop.stop(),
                Ok(()) = steps.changed() => {
                    let step = *steps.borrow_and_update();
                    self.show_progress(what, step.0, step.1);
                }
            }
        };
        self.output.end_progress();
        Ok(done.map_err(|_| BackupCommandError::Panicked)??)
    }

    fn print(&self, lines: &[String]) -> Result<(), OutputError> {
        lines.iter().try_for_each(|line| self.output.line(line))
    }

    fn show_progress(&self, what: &str, done: u64, total: u64) {
        let percent = (done.min(total) * 100).checked_div(total).unwrap_or(0);
        self.output.progress(&format!("{what} {percent}% ({} of {})", bytes(done), bytes(total)));
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn now_unix_us() -> i64 {
    jiff::Timestamp::now().as_microsecond()
}
