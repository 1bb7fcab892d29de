//! Making a backup: everything into a folder of its own beside the target, then one rename.
//!
//! Order: the journal first, then the files that its entries speak of. Invariant: the target is there as a whole with its
//! manifest, or not at all, and nothing else is touched.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File};
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{CWD, RenameFlags, renameat_with, statvfs};

use crate::beneath::{LinkPolicy, RootFolder};
use crate::database_copy::{CopyFigures, SourceDatabase, copy_database, journal_facts};
use crate::error::BackupError;
use crate::manifest::{
    BackedUpFile, BackupManifest, JOURNAL_FILE_NAME, MANIFEST_FILE_NAME, STATE_FOLDER, VaultKeyState,
};
use crate::plan::{BackupPlan, CopyPace, KeyFiles};
use crate::source_files::{self, SEAL_KEY, SourceFolder, VAULT_KEY};
use crate::watch::BackupWatch;

const SUBJECT_KEYS_FILE: &str = "keys.db";
/// Space that stays free beside a backup.
const SPARE_BYTES: u64 = 1024 * 1024;

/// A backup that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupReport {
    /// Its folder.
    pub folder: PathBuf,
    /// What it holds.
    pub manifest: BackupManifest,
    /// The longest step of the copy of the journal.
    pub longest_step: Duration,
    /// Steps of that copy.
    pub steps: u64,
}

/// Makes a backup.
///
/// # Errors
/// [`BackupError`]; what was written is removed.
pub fn create(plan: &BackupPlan, watch: &BackupWatch) -> Result<BackupReport, BackupError> {
    let journal = plan.state_dir.join(JOURNAL_FILE_NAME);
    if !fs::metadata(&journal).is_ok_and(|found| found.is_file() && found.len() > 0) {
        return Err(BackupError::NoJournal { dir: plan.state_dir.clone() });
    }
    let target = check_target(plan)?;
    let unfinished = UnfinishedFolder::make(&target)?;
    let written = write_all(plan, &unfinished.path, watch)?;
    unfinished.put_in_place(&target)?;
    Ok(BackupReport {
        folder: target,
        manifest: written.manifest,
        longest_step: written.figures.longest_step,
        steps: written.figures.steps,
    })
}

struct WrittenBackup {
    manifest: BackupManifest,
    figures: CopyFigures,
}

fn write_all(plan: &BackupPlan, folder: &Path, watch: &BackupWatch) -> Result<WrittenBackup, BackupError> {
    let target = RootFolder::open(folder, LinkPolicy::Refused).map_err(BackupError::on("opening", folder))?;
    let state = source_files::of_state(&plan.state_dir, plan.keys)?;
    let config = source_files::of_config(&plan.config)?;
    require_space(plan, folder, [&state].into_iter().chain(&config))?;
    let mut manifest = BackupManifest::new(plan.now_unix_us, &plan.program_version);

    let figures = copy_journal(plan, &target, &mut manifest, watch)?;
    copy_subject_keys(plan, &target, &mut manifest, watch)?;
    let vault = source_files::copy_vault(&state.root, &target, plan.keys, watch)?;
    manifest.vault_key = vault_key(&plan.state_dir, &vault);
    manifest.files.extend(vault);
    for source in [state].into_iter().chain(config) {
        for file in &source.files {
            match source_files::copy_file(&source.root, file, &target, watch) {
                Ok(copied) => manifest.files.push(copied),
                Err(error) if is_gone(&error) => manifest.left_out.push(file.from.clone()),
                Err(error) => return Err(error),
            }
        }
        manifest.left_out.extend(source.left_out);
    }
    write_manifest(&target, &manifest)?;
    Ok(WrittenBackup { manifest, figures })
}

fn copy_journal(
    plan: &BackupPlan,
    target: &RootFolder,
    manifest: &mut BackupManifest,
    watch: &BackupWatch,
) -> Result<CopyFigures, BackupError> {
    let copy = target.path().join(JOURNAL_FILE_NAME);
    let journal = plan.state_dir.join(JOURNAL_FILE_NAME);
    let figures = copy_database(&SourceDatabase::journal(&journal), &copy, plan.pace, watch)?;
    let facts = journal_facts(&copy)?;
    manifest.log = facts.log;
    manifest.entries = facts.entries;
    manifest.checkpoint = facts.checkpoint;
    let has_key = plan.keys == KeyFiles::Included && plan.state_dir.join(SEAL_KEY).is_file();
    manifest.seal_key_left_out = facts.has_sealed_payloads && !has_key;
    manifest.files.push(described(target, JOURNAL_FILE_NAME, watch)?);
    Ok(figures)
}

/// Copies the wrapped keys of sealed payloads, after the journal: a key that is made after it does no harm.
fn copy_subject_keys(
    plan: &BackupPlan,
    target: &RootFolder,
    manifest: &mut BackupManifest,
    watch: &BackupWatch,
) -> Result<(), BackupError> {
    let source = plan.state_dir.join(SUBJECT_KEYS_FILE);
    if !source.is_file() {
        return Ok(());
    }
    let name = format!("{STATE_FOLDER}/{SUBJECT_KEYS_FILE}");
    let copy = target.path().join(&name);
    target.make_folders(STATE_FOLDER).map_err(BackupError::on("making", target.path()))?;
    let quiet = BackupWatch { progress: BackupWatch::default().progress, stop: watch.stop.clone() };
    // Its writer waits during the copy.
    copy_database(&SourceDatabase::locked(&source), &copy, CopyPace::Alone, &quiet)?;
    manifest.files.push(described(target, &name, watch)?);
    Ok(())
}

/// Says of a file of the backup what the manifest says of it.
fn described(target: &RootFolder, name: &str, watch: &BackupWatch) -> Result<BackedUpFile, BackupError> {
    let path = target.path().join(name);
    let file = target.open_file(name).map_err(BackupError::on("reading", &path))?;
    let (sha256, bytes) = source_files::digest_of(file, &path, u64::MAX, watch)?;
    Ok(BackedUpFile { name: name.to_owned(), bytes, mode: 0o600, sha256 })
}

fn vault_key(state_dir: &Path, copied: &[BackedUpFile]) -> VaultKeyState {
    let has = |name: &str| copied.iter().any(|file| file.name == format!("{STATE_FOLDER}/{name}"));
    if has(VAULT_KEY) {
        VaultKeyState::KeyFileIncluded
    } else if has("vault/passphrase.json") {
        VaultKeyState::Passphrase
    } else if state_dir.join(VAULT_KEY).is_file() {
        VaultKeyState::KeyFileLeftOut
    } else {
        VaultKeyState::NoSecrets
    }
}

/// A file that was removed since it was listed belongs to no backup.
fn is_gone(error: &BackupError) -> bool {
    matches!(error, BackupError::File { doing: "reading", cause, .. } if cause.kind() == std::io::ErrorKind::NotFound)
}

fn write_manifest(target: &RootFolder, manifest: &BackupManifest) -> Result<(), BackupError> {
    let path = target.path().join(MANIFEST_FILE_NAME);
    let text = manifest.to_bytes().map_err(|error| BackupError::TooLarge { what: error.to_string() })?;
    let mut file = target.create_file(MANIFEST_FILE_NAME, 0o600).map_err(BackupError::on("making", &path))?;
    let written = file.write_all(&text).and_then(|()| file.sync_all());
    written.map_err(BackupError::on("writing", &path))?;
    let folders: BTreeSet<String> = manifest.files.iter().flat_map(|file| folders_of(&file.name)).collect();
    let folders: Vec<String> = folders.into_iter().collect();
    target.sync_folders(&folders).map_err(BackupError::on("writing", target.path()))
}

/// Returns the folders that lead to a file, the outermost first.
pub(crate) fn folders_of(name: &str) -> Vec<String> {
    name.match_indices('/').map(|(at, _)| name[..at].to_owned()).collect()
}

/// Refuses a backup that does not fit before any of it is written.
fn require_space<'a>(
    plan: &BackupPlan,
    folder: &Path,
    sources: impl Iterator<Item = &'a SourceFolder>,
) -> Result<(), BackupError> {
    let files = sources
        .flat_map(|source| &source.files)
        .fold(SPARE_BYTES, |sum, file| sum.saturating_add(file.bytes));
    let size = |name: &str| fs::metadata(plan.state_dir.join(name)).map_or(0, |found| found.len());
    let wanted = files.saturating_add(size(JOURNAL_FILE_NAME)).saturating_add(size(SUBJECT_KEYS_FILE));
    require_free(folder, wanted)
}

/// Refuses work for which a disk has no space.
pub(crate) fn require_free(folder: &Path, wanted: u64) -> Result<(), BackupError> {
    // A file system that does not say how full it is says so when it is written.
    let Ok(found) = statvfs(folder) else { return Ok(()) };
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    if free < wanted { Err(BackupError::DiskFull { path: folder.to_owned() }) } else { Ok(()) }
}

/// Checks that the target is not there, and that its folder is outside of the state directory; returns its real path.
fn check_target(plan: &BackupPlan) -> Result<PathBuf, BackupError> {
    let absolute = std::path::absolute(&plan.target).map_err(BackupError::on("finding", &plan.target))?;
    let (Some(parent), Some(name)) = (absolute.parent(), absolute.file_name()) else {
        return Err(BackupError::refused(&plan.target, "it has no name of its own"));
    };
    let parent = parent.canonicalize().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => BackupError::refused(
            &plan.target,
            format!("there is no folder {}; make it first", parent.display()),
        ),
        _ => BackupError::on("finding", parent)(error),
    })?;
    let state = plan.state_dir.canonicalize().map_err(BackupError::on("finding", &plan.state_dir))?;
    if parent.starts_with(&state) {
        let why = "it is in the state directory; name a folder elsewhere, best on another disk";
        return Err(BackupError::refused(&plan.target, why));
    }
    let target = parent.join(name);
    if fs::symlink_metadata(&target).is_ok() {
        return Err(BackupError::refused(&target, "it exists already; name one that does not"));
    }
    Ok(target)
}

/// A backup that is being written; it goes with this value unless it was put in place.
#[derive(Debug)]
struct UnfinishedFolder {
    path: PathBuf,
    in_place: bool,
}

impl UnfinishedFolder {
    fn make(target: &Path) -> Result<Self, BackupError> {
        let path = unfinished_path(target);
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => Ok(Self { path, in_place: false }),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                let why = "a backup that was not finished is there; remove it, or wait for the command that writes it";
                Err(BackupError::refused(&path, why))
            }
            Err(error) => Err(BackupError::on("making", &path)(error)),
        }
    }

    fn put_in_place(mut self, target: &Path) -> Result<(), BackupError> {
        let renamed = renameat_with(CWD, &self.path, CWD, target, RenameFlags::NOREPLACE);
        renamed.map_err(std::io::Error::from).map_err(BackupError::on("renaming", &self.path))?;
        self.in_place = true;
        let parent = target.parent().unwrap_or(Path::new("."));
        let synced = File::open(parent).and_then(|folder| folder.sync_all());
        synced.map_err(BackupError::on("writing", parent))
    }
}

impl Drop for UnfinishedFolder {
    fn drop(&mut self) {
        if !self.in_place
            && let Err(error) = fs::remove_dir_all(&self.path)
        {
            tracing::warn!(path = %self.path.display(), %error, "an unfinished backup cannot be removed");
        }
    }
}

/// Returns where a backup is written before it is in place.
pub(crate) fn unfinished_path(target: &Path) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    target.with_file_name(format!(".{name}.unfinished"))
}
