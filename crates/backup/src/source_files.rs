//! Which files beside the databases belong to a backup, and copying one.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::beneath::{LinkPolicy, RootFolder, WalkedTree};
use crate::copied_bytes::{CopyPaths, copy_bytes};
use crate::error::BackupError;
use crate::manifest::{BackedUpFile, CONFIG_FOLDER, STATE_FOLDER};
use crate::plan::{ConfigPlaces, KeyFiles};
use crate::watch::BackupWatch;

/// The root keys: of the vault, and of sealed payloads.
pub(crate) const VAULT_KEY: &str = "vault/root.key";
pub(crate) const SEAL_KEY: &str = "keys/root.key";

/// Folders of the state directory that are copied whole. The keys of epochs are never among them.
const FOLDERS: [&str; 4] = ["components", "kept-aside", "skills", "workspaces"];
const HISTORY_FILE: &str = "chat_history";
const VAULT_FOLDER: &str = "vault";
const POLICY_ENDING: &str = ".cedar";
/// How often a vault that changes during the copy is copied again.
const VAULT_TRIES_MAX: usize = 5;

/// A file to be copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourceFile {
    /// Below the folder that it is read from.
    pub(crate) from: String,
    /// Below the folder of the backup.
    pub(crate) name: String,
    pub(crate) bytes: u64,
    pub(crate) mode: u32,
}

/// The files that are read from one folder.
#[derive(Debug)]
pub(crate) struct SourceFolder {
    pub(crate) root: RootFolder,
    pub(crate) files: Vec<SourceFile>,
    /// Names that are not those of files.
    pub(crate) left_out: Vec<String>,
}

/// Lists what is copied from a state directory, but for the vault.
pub(crate) fn of_state(state_dir: &Path, keys: KeyFiles) -> Result<SourceFolder, BackupError> {
    let root = opened(state_dir)?;
    let mut folder = SourceFolder { root, files: Vec::new(), left_out: Vec::new() };
    for name in FOLDERS {
        let tree = walked(&folder.root, name)?;
        folder.left_out.extend(tree.others.iter().cloned());
        folder.files.extend(files_of(&tree));
    }
    let top = walked_top(&folder.root, &[HISTORY_FILE])?;
    folder.files.extend(top);
    if keys == KeyFiles::Included {
        let keys = walked(&folder.root, "keys")?;
        folder.files.extend(files_of(&keys).filter(|file| file.from == SEAL_KEY));
    }
    Ok(folder)
}

/// Lists the files of the vault.
pub(crate) fn of_vault(
    root: &RootFolder,
    keys: KeyFiles,
) -> Result<(Vec<SourceFile>, WalkedTree), BackupError> {
    let tree = walked(root, VAULT_FOLDER)?;
    let files = files_of(&tree).filter(|file| keys == KeyFiles::Included || file.from != VAULT_KEY).collect();
    Ok((files, tree))
}

/// Lists the file of the configuration and the policies beside it.
pub(crate) fn of_config(places: &ConfigPlaces) -> Result<Vec<SourceFolder>, BackupError> {
    let mut folders = Vec::new();
    if let Some(file) = places.file.as_deref().filter(|file| file.is_file())
        && let (Some(parent), Some(name)) = (file.parent(), file.file_name().and_then(|name| name.to_str()))
    {
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        let mut folder = SourceFolder { root: opened(parent)?, files: Vec::new(), left_out: Vec::new() };
        for mut found in walked_top(&folder.root, &[name])? {
            found.name = format!("{CONFIG_FOLDER}/palyra.toml");
            folder.files.push(found);
        }
        folders.push(folder);
    }
    if let Some(policies) = places.policies.as_deref().filter(|folder| folder.is_dir()) {
        let mut folder = SourceFolder { root: opened(policies)?, files: Vec::new(), left_out: Vec::new() };
        let tree = walked(&folder.root, ".")?;
        folder.files = files_of(&tree)
            .filter(|file| file.from.ends_with(POLICY_ENDING) && !file.from.contains('/'))
            .map(|file| SourceFile { name: format!("{CONFIG_FOLDER}/policies/{}", file.from), ..file })
            .collect();
        folders.push(folder);
    }
    Ok(folders)
}

/// Copies the vault: one that changes during the copy is copied again, so that its files belong together.
pub(crate) fn copy_vault(
    state: &RootFolder,
    target: &RootFolder,
    keys: KeyFiles,
    watch: &BackupWatch,
) -> Result<Vec<BackedUpFile>, BackupError> {
    for _ in 0..VAULT_TRIES_MAX {
        let (files, before) = of_vault(state, keys)?;
        let mut copied = Vec::new();
        for file in &files {
            copied.push(copy_file(state, file, target, watch)?);
        }
        if of_vault(state, keys)?.1 == before {
            return Ok(copied);
        }
        let place = target.path().join(STATE_FOLDER).join(VAULT_FOLDER);
        if place.exists() {
            std::fs::remove_dir_all(&place).map_err(BackupError::on("removing", &place))?;
        }
    }
    Err(BackupError::TooLarge { what: "the vault is changed all the time".to_owned() })
}

/// Copies one file and returns what is to be said of the copy.
pub(crate) fn copy_file(
    from: &RootFolder,
    file: &SourceFile,
    target: &RootFolder,
    watch: &BackupWatch,
) -> Result<BackedUpFile, BackupError> {
    let source = from.path().join(&file.from);
    let copy = target.path().join(&file.name);
    let reading = from.open_file(&file.from).map_err(BackupError::on("reading", &source))?;
    let mut writing = target.create_file(&file.name, 0o600).map_err(BackupError::on("making", &copy))?;
    let copied = copy_bytes(reading, &mut writing, &CopyPaths { from: &source, to: &copy }, watch)?;
    writing.sync_all().map_err(BackupError::on("writing", &copy))?;
    Ok(BackedUpFile {
        name: file.name.clone(),
        bytes: copied.count,
        mode: file.mode & 0o777,
        sha256: copied.sha256,
    })
}

/// Returns the digest of a file of at most `bytes_max` bytes, and its size.
pub(crate) fn digest_of(
    file: File,
    path: &Path,
    bytes_max: u64,
    watch: &BackupWatch,
) -> Result<(String, u64), BackupError> {
    let reading = file.take(bytes_max.saturating_add(1));
    let read = copy_bytes(reading, &mut std::io::sink(), &CopyPaths { from: path, to: path }, watch)?;
    Ok((read.sha256, read.count))
}

fn opened(path: &Path) -> Result<RootFolder, BackupError> {
    RootFolder::open(path, LinkPolicy::Followed).map_err(BackupError::on("opening", path))
}

fn walked(root: &RootFolder, below: &str) -> Result<WalkedTree, BackupError> {
    let path: PathBuf = root.path().join(below);
    root.walk(below).map_err(|cause| match cause.kind() {
        std::io::ErrorKind::Other => BackupError::TooLarge { what: format!("{}: {cause}", path.display()) },
        _ => BackupError::on("listing", &path)(cause),
    })
}

/// Lists regular files at the top of a folder by name; those that are not there are passed over.
fn walked_top(root: &RootFolder, names: &[&str]) -> Result<Vec<SourceFile>, BackupError> {
    let mut files = Vec::new();
    for name in names {
        let file = match root.open_file(name) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(BackupError::on("reading", &root.path().join(name))(error)),
        };
        let found = file.metadata().map_err(BackupError::on("reading", &root.path().join(name)))?;
        let mode = std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o777;
        files.push(SourceFile {
            from: (*name).to_owned(),
            name: format!("{STATE_FOLDER}/{name}"),
            bytes: found.len(),
            mode,
        });
    }
    Ok(files)
}

fn files_of(tree: &WalkedTree) -> impl Iterator<Item = SourceFile> {
    tree.files.iter().map(|file| SourceFile {
        from: file.name.clone(),
        name: format!("{STATE_FOLDER}/{}", file.name),
        bytes: file.bytes,
        mode: file.mode,
    })
}
