//! `palyra backup`: backups of the state directory, with and without a daemon.
//!
//! A daemon that runs makes the backup itself, because it writes the journal; else this process does, under the lock of the
//! state directory. Checking one and putting one back need no daemon.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Subcommand;
use palyra_backup::{
    BackupError, BackupPlan, BackupWatch, ConfigPlaces, CopyPace, KeyFiles, RestorePlan, StateLock,
    StopSignal, check_backup, check_json, check_lines, create, created_json, created_lines, read_manifest,
    restore, restored_json, restored_lines,
};
use palyra_client::{Client, ClientError, JournalStep};
use palyra_screen_text::bytes;
use palyra_terminal::NoteKind;
use palyra_types::ErrorCode;
use palyra_wire::v1::CreateBackupRequest;
use tokio::sync::watch;

use crate::context::Context;
use crate::drive::OutputFormat;
use crate::exit::Exit;
use crate::failure::Failure;

/// Make, check and restore backups.
#[derive(Debug, Subcommand)]
pub(crate) enum BackupVerb {
    /// Make a backup in a new folder, also while the daemon works
    #[command(
        after_help = "Example:\n  palyra backup create /mnt/disk/palyra-monday\n`palyra explain docs/backup.md` says what it holds."
    )]
    Create {
        /// The folder that is to be the backup; it must not exist yet
        folder: PathBuf,
        /// Include the key files of the vault and of sealed payloads
        #[arg(long)]
        with_key: bool,
        /// What was made as JSON
        #[arg(long)]
        json: bool,
    },
    /// Check every file of a backup and its journal; exits with 1 when one does not hold
    #[command(after_help = "Example:\n  palyra backup verify /mnt/disk/palyra-monday")]
    Verify {
        /// The folder of the backup
        folder: PathBuf,
        /// What was found as JSON
        #[arg(long)]
        json: bool,
    },
    /// Check a backup and put it into an empty state directory
    #[command(
        after_help = "Example:\n  palyra backup restore /mnt/disk/palyra-monday --to ~/.local/state/palyra\nThe next start begins a new log over what was restored."
    )]
    Restore {
        /// The folder of the backup
        folder: PathBuf,
        /// The state directory: an empty folder, or one that does not exist yet
        #[arg(long, value_name = "STATE_DIR")]
        to: PathBuf,
        /// What was restored as JSON
        #[arg(long)]
        json: bool,
    },
}

/// Runs the verb.
pub(crate) async fn run(context: &Context, verb: BackupVerb) -> Result<Exit, Failure> {
    context.require_local("palyra backup")?;
    match verb {
        BackupVerb::Create { folder, with_key, json } => {
            let keys = if with_key { KeyFiles::Included } else { KeyFiles::LeftOut };
            make(context, folder, keys, json.into()).await
        }
        BackupVerb::Verify { folder, json } => verify(context, folder, json.into()).await,
        BackupVerb::Restore { folder, to, json } => put_back(context, folder, to, json.into()).await,
    }
}

async fn make(
    context: &Context,
    folder: PathBuf,
    keys: KeyFiles,
    format: OutputFormat,
) -> Result<Exit, Failure> {
    let folder = std::path::absolute(&folder).unwrap_or(folder);
    let folder = match context.connect_running().await {
        Ok(client) => make_by_daemon(context, &client, folder, keys).await?,
        Err(Failure::Client(ClientError::NotRunning { .. })) => make_here(context, folder, keys).await?,
        Err(failure) => return Err(failure),
    };
    let manifest = read_manifest(&folder).map_err(failed)?;
    if format == OutputFormat::Json {
        context.output.json(&created_json(&folder, &manifest))?;
        return Ok(Exit::Done);
    }
    context.output.note(NoteKind::Good, &format!("the backup is in {}", folder.display()));
    for line in created_lines(&manifest) {
        context.output.line(&line)?;
    }
    Ok(Exit::Done)
}

/// Lets the daemon make it. Leaving early ends it.
async fn make_by_daemon(
    context: &Context,
    client: &Client,
    folder: PathBuf,
    keys: KeyFiles,
) -> Result<PathBuf, Failure> {
    let Some(folder) = folder.to_str().map(str::to_owned) else {
        return Err(Failure::Usage("the name of the folder is not text".to_owned()));
    };
    let request = CreateBackupRequest { folder, with_key: keys == KeyFiles::Included };
    let mut steps = client.create_backup(request).await?;
    loop {
        match steps.next().await? {
            JournalStep::Progress(step) => {
                show_progress(context, "copying the journal", step.done, step.total)
            }
            JournalStep::Done(made) => {
                context.output.end_progress();
                return Ok(made.folder.into());
            }
        }
    }
}

async fn make_here(context: &Context, target: PathBuf, keys: KeyFiles) -> Result<PathBuf, Failure> {
    let state_dir = context.state_dir()?;
    let file = context.config_file().ok();
    let policies = file.as_ref().and_then(|file| file.parent()).map(|folder| folder.join("policies"));
    let plan = BackupPlan {
        state_dir,
        config: ConfigPlaces { file, policies },
        target,
        keys,
        pace: CopyPace::Alone,
        program_version: env!("CARGO_PKG_VERSION").to_owned(),
        now_unix_us: now_unix_us(),
    };
    if !plan.state_dir.is_dir() {
        return Err(failed(BackupError::NoJournal { dir: plan.state_dir }));
    }
    let made = watched(context, "copying the journal", move |watch| {
        let _lock = StateLock::take(&plan.state_dir)?;
        create(&plan, watch)
    });
    Ok(made.await?.folder)
}

async fn verify(context: &Context, folder: PathBuf, format: OutputFormat) -> Result<Exit, Failure> {
    let checked = watched(context, "checking files", move |watch| check_backup(&folder, watch)).await?;
    let exit = if checked.holds() { Exit::Done } else { Exit::Failed };
    if format == OutputFormat::Json {
        context.output.json(&check_json(&checked, now_unix_us()))?;
        return Ok(exit);
    }
    for line in check_lines(&checked, now_unix_us()) {
        context.output.line(&line)?;
    }
    if let Some(damage) = checked.damage() {
        context.output.error(damage.code(), &damage.to_string());
    } else {
        context.output.note(NoteKind::Good, "every file is as it was backed up");
    }
    Ok(exit)
}

async fn put_back(
    context: &Context,
    backup: PathBuf,
    state_dir: PathBuf,
    format: OutputFormat,
) -> Result<Exit, Failure> {
    let state_dir = std::path::absolute(&state_dir).unwrap_or(state_dir);
    let plan = RestorePlan { backup, state_dir };
    let restored = watched(context, "checking files", move |watch| restore(&plan, watch)).await?;
    if format == OutputFormat::Json {
        context.output.json(&restored_json(&restored))?;
        return Ok(Exit::Done);
    }
    context.output.note(NoteKind::Good, &format!("restored to {}", restored.state_dir.display()));
    for line in restored_lines(&restored) {
        context.output.line(&line)?;
    }
    Ok(Exit::Done)
}

/// Does work on a thread of its own and shows how far it is. Ctrl-C stops it, and what it has written is removed.
async fn watched<T: Send + 'static>(
    context: &Context,
    what: &str,
    work: impl FnOnce(&BackupWatch) -> Result<T, BackupError> + Send + 'static,
) -> Result<T, Failure> {
    let (progress_tx, mut steps) = watch::channel((0, 0));
    let stop = StopSignal::default();
    let watch = BackupWatch {
        progress: Arc::new(move |done, total| {
            let _ = progress_tx.send_replace((done, total));
        }),
        stop: stop.clone(),
    };
    context.interrupts.begin("");
    let mut working = tokio::task::spawn_blocking(move || work(&watch));
    let done = loop {
        tokio::select! {
            done = &mut working => break done,
            () = context.interrupts.pressed(), if !stop.is_requested() => stop.stop(),
            Ok(()) = steps.changed() => {
                let (done, total) = *steps.borrow_and_update();
                show_progress(context, what, done, total);
            }
        }
    };
    context.output.end_progress();
    match done {
        Ok(result) => result.map_err(failed),
        Err(error) => Err(Failure::local(ErrorCode::Internal, error.to_string())),
    }
}

fn show_progress(context: &Context, what: &str, done: u64, total: u64) {
    let percent = (done.min(total) * 100).checked_div(total).unwrap_or(0);
    context.output.progress(&format!("{what} {percent}% ({} of {})", bytes(done), bytes(total)));
}

fn failed(error: BackupError) -> Failure {
    Failure::local(error.code(), error.to_string())
}

fn now_unix_us() -> i64 {
    jiff::Timestamp::now().as_microsecond()
}
