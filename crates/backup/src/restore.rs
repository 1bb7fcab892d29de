//! Putting a backup back: everything into a folder below the new state directory, then renames, the journal last.
//!
//! Invariant: a state directory that has anything in it is refused, a daemon cannot start there before the end, and the next
//! start begins a new log over the entries of the backup.

use std::fs::{self, DirBuilder};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use palyra_types::daemon_lock::LOCK_FILE_NAME;
use palyra_types::state_dir::{ACCEPT_ROLLBACK_FILE_NAME, ORDER_RESTORED};
use rustix::fs::{fstat, fsync, renameat};

use crate::beneath::{LinkPolicy, RootFolder};
use crate::check::{check_backup, open_backup};
use crate::copied_bytes::{CopyPaths, copy_bytes};
use crate::create::{folders_of, require_free};
use crate::error::BackupError;
use crate::manifest::{BackedUpFile, BackupManifest, CONFIG_FOLDER, JOURNAL_FILE_NAME, STATE_FOLDER};
use crate::state_lock::StateLock;
use crate::watch::BackupWatch;

/// Where files are before they are in place.
const UNFINISHED_FOLDER: &str = ".restoring";
/// Where the configuration of a backup is put: the one in force stays as it is.
const CONFIG_TARGET: &str = "restored-config";

/// What is put back, and where.
#[derive(Debug, Clone)]
pub struct RestorePlan {
    /// The folder of the backup.
    pub backup: PathBuf,
    /// The state directory: an empty folder, or none.
    pub state_dir: PathBuf,
}

/// A backup that was put back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoreReport {
    /// The state directory.
    pub state_dir: PathBuf,
    /// The folder with the configuration of the backup, where it has one.
    pub config: Option<PathBuf>,
    /// What was put back.
    pub manifest: BackupManifest,
}

/// Checks a backup and puts it back.
///
/// # Errors
/// [`BackupError`]; what was written is removed.
pub fn restore(plan: &RestorePlan, watch: &BackupWatch) -> Result<RestoreReport, BackupError> {
    let checked = check_backup(&plan.backup, watch)?;
    if let Some(damage) = checked.damage() {
        return Err(damage);
    }
    let made = make_target(&plan.state_dir)?;
    let restored = restore_into(plan, watch);
    if restored.is_err() && made == TargetFolder::Made {
        let _ = fs::remove_file(plan.state_dir.join(LOCK_FILE_NAME));
        let _ = fs::remove_dir(&plan.state_dir);
    }
    restored
}

fn restore_into(plan: &RestorePlan, watch: &BackupWatch) -> Result<RestoreReport, BackupError> {
    let opened = RootFolder::open(&plan.state_dir, LinkPolicy::Refused);
    let target = opened.map_err(|_| BackupError::refused(&plan.state_dir, "it is a link or not a folder"))?;
    let _lock = StateLock::take_beneath(&target).map_err(not_as_target)?;
    require_empty(&target)?;
    let (source, manifest) = open_backup(&plan.backup)?;
    require_free(target.path(), manifest.total_bytes())?;
    let mut unfinished = UnfinishedRestore { target: &target, placed: Vec::new() };
    for file in &manifest.files {
        copy_checked(&source, file, &target, watch)?;
    }
    sync_all(&target, &manifest)?;
    unfinished.placed.push(ACCEPT_ROLLBACK_FILE_NAME.to_owned());
    leave_order(&target)?;
    for name in top_names(&manifest) {
        put_in_place(&target, &name)?;
        unfinished.placed.push(name);
    }
    unfinished.placed.clear();
    drop(unfinished);
    fsync(target.fd()).map_err(std::io::Error::from).map_err(BackupError::on("writing", target.path()))?;
    require_same(&target)?;
    let has_config = manifest.files.iter().any(|file| file.name.starts_with(CONFIG_FOLDER));
    let config = has_config.then(|| plan.state_dir.join(CONFIG_TARGET));
    Ok(RestoreReport { state_dir: plan.state_dir.clone(), config, manifest })
}

/// Refuses a directory in use as the target: ending its daemon alone does not make it empty.
fn not_as_target(error: BackupError) -> BackupError {
    match error {
        BackupError::StateInUse { dir, .. } => {
            BackupError::refused(&dir, "a daemon uses it; name an empty or a new folder")
        }
        error => error,
    }
}

/// Whether the folder was there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TargetFolder {
    Found,
    Made,
}

fn make_target(state_dir: &Path) -> Result<TargetFolder, BackupError> {
    match fs::symlink_metadata(state_dir) {
        Ok(found) if found.is_symlink() => {
            Err(BackupError::refused(state_dir, "it is a link; name the folder that it leads to"))
        }
        Ok(found) if !found.is_dir() => Err(BackupError::refused(state_dir, "it is not a folder")),
        Ok(found) if found.uid() != rustix::process::geteuid().as_raw() => {
            Err(BackupError::refused(state_dir, "it belongs to another user"))
        }
        Ok(found) if found.mode() & 0o022 != 0 => {
            Err(BackupError::refused(state_dir, "other users may write in it; `chmod 700` it first"))
        }
        Ok(_) => Ok(TargetFolder::Found),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let made = DirBuilder::new().recursive(true).mode(0o700).create(state_dir);
            made.map_err(BackupError::on("making", state_dir))?;
            Ok(TargetFolder::Made)
        }
        Err(error) => Err(BackupError::on("finding", state_dir)(error)),
    }
}

fn require_empty(target: &RootFolder) -> Result<(), BackupError> {
    let entries = rustix::fs::Dir::read_from(target.fd());
    let entries = entries.map_err(std::io::Error::from).map_err(BackupError::on("listing", target.path()))?;
    for entry in entries {
        let entry = entry.map_err(std::io::Error::from).map_err(BackupError::on("listing", target.path()))?;
        let name = entry.file_name().to_string_lossy();
        if ![".", "..", LOCK_FILE_NAME].contains(&name.as_ref()) {
            let why = format!("it is not empty (`{name}` is in it); name an empty or a new folder");
            return Err(BackupError::refused(target.path(), why));
        }
    }
    Ok(())
}

/// The folder of files that are not in place yet, and the names that are; both go with this value.
struct UnfinishedRestore<'a> {
    target: &'a RootFolder,
    placed: Vec<String>,
}

impl Drop for UnfinishedRestore<'_> {
    fn drop(&mut self) {
        // The path leads to the folder that was opened, or to one of another: there it is not.
        if require_same(self.target).is_err() {
            return;
        }
        for name in self.placed.iter().map(String::as_str).chain([UNFINISHED_FOLDER]) {
            let path = self.target.path().join(name);
            let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            if let Err(error) = removed
                && error.kind() != std::io::ErrorKind::NotFound
            {
                tracing::warn!(path = %path.display(), %error, "a restore that failed left a file");
            }
        }
    }
}

/// Returns where a file of a backup is put, below the state directory.
fn place_of(name: &str) -> String {
    match name.split_once('/') {
        Some((STATE_FOLDER, rest)) => rest.to_owned(),
        Some((CONFIG_FOLDER, rest)) => format!("{CONFIG_TARGET}/{rest}"),
        _ => name.to_owned(),
    }
}

/// Copies a file and checks on the way that it is the one in the manifest.
fn copy_checked(
    source: &RootFolder,
    file: &BackedUpFile,
    target: &RootFolder,
    watch: &BackupWatch,
) -> Result<(), BackupError> {
    let name = format!("{UNFINISHED_FOLDER}/{}", place_of(&file.name));
    let from = source.path().join(&file.name);
    let to = target.path().join(&name);
    let reading = source.open_file(&file.name).map_err(BackupError::on("reading", &from))?;
    let reading = reading.take(file.bytes.saturating_add(1));
    let mut writing = target.create_file(&name, file.mode).map_err(BackupError::on("making", &to))?;
    let copied = copy_bytes(reading, &mut writing, &CopyPaths { from: &from, to: &to }, watch)?;
    if copied.count != file.bytes || copied.sha256 != file.sha256 {
        let findings = vec![format!("{} was changed while it was read", file.name)];
        return Err(BackupError::Damaged { path: source.path().to_owned(), findings });
    }
    writing.sync_all().map_err(BackupError::on("writing", &to))
}

fn sync_all(target: &RootFolder, manifest: &BackupManifest) -> Result<(), BackupError> {
    let names = manifest.files.iter().map(|file| format!("{UNFINISHED_FOLDER}/{}", place_of(&file.name)));
    let folders: std::collections::BTreeSet<String> = names.flat_map(|name| folders_of(&name)).collect();
    let folders: Vec<String> = folders.into_iter().collect();
    target.sync_folders(&folders).map_err(BackupError::on("writing", target.path()))
}

/// Lets the next start begin a new log over the entries of the backup.
fn leave_order(target: &RootFolder) -> Result<(), BackupError> {
    let path = target.path().join(ACCEPT_ROLLBACK_FILE_NAME);
    let mut file =
        target.create_file(ACCEPT_ROLLBACK_FILE_NAME, 0o600).map_err(BackupError::on("making", &path))?;
    let written = file.write_all(format!("{ORDER_RESTORED}\n").as_bytes()).and_then(|()| file.sync_all());
    written.map_err(BackupError::on("writing", &path))
}

/// Returns the names at the top of the state directory, the journal last.
fn top_names(manifest: &BackupManifest) -> Vec<String> {
    let tops = manifest.files.iter().map(|file| {
        let place = place_of(&file.name);
        place.split_once('/').map_or(place.clone(), |(top, _)| top.to_owned())
    });
    let mut names: Vec<String> = tops.filter(|top| top != JOURNAL_FILE_NAME).collect();
    names.sort();
    names.dedup();
    names.push(JOURNAL_FILE_NAME.to_owned());
    names
}

fn put_in_place(target: &RootFolder, name: &str) -> Result<(), BackupError> {
    let path = target.path().join(name);
    let unfinished = target.open_folder(UNFINISHED_FOLDER).map_err(BackupError::on("opening", &path))?;
    let renamed = renameat(&unfinished, name, target.fd(), name).map_err(std::io::Error::from);
    renamed.map_err(BackupError::on("renaming", &path))
}

/// Notices a state directory that was replaced while it was written.
fn require_same(target: &RootFolder) -> Result<(), BackupError> {
    let opened = fstat(target.fd()).map_err(std::io::Error::from);
    let opened = opened.map_err(BackupError::on("finding", target.path()))?;
    let found = fs::symlink_metadata(target.path()).map_err(BackupError::on("finding", target.path()))?;
    if found.is_dir() && (found.dev(), found.ino()) == (opened.st_dev, opened.st_ino) {
        return Ok(());
    }
    Err(BackupError::refused(target.path(), "it was replaced while the backup was put back"))
}
