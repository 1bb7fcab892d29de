//! Kept files, for people: what was taken from workspaces is listed, read and deleted here.
//!
//! Owns the limits of how much is kept and for how long. It touches no workspace. Invariant: a file is named by the
//! daemon's own numbers alone, and no link is followed. Begin at [`KeptStore`].

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_ports::{
    KeptChange, KeptContent, KeptEntry, KeptFile, KeptFileError, KeptFiles, KeptKind, KeptOwner,
};
use palyra_types::effect::KeptFileId;
use palyra_types::{Content, RunId, Timestamp};
use sha2::{Digest, Sha256};

use super::review::EntryChange;
use super::store::{ProgramFolder, is_open, now_secs};
use super::taken_list::{OwnerRecord, TakenItem, TakenList};
use super::tree::{ReadBudget, SavedEntry, WorkspaceTree};

/// What is read of one kept file.
const CONTENT: ReadBudget = ReadBudget { bytes: 8 << 20, entries: 2_000 };
/// Files of one kept folder that can be shown, and put in place.
const ENTRIES_MAX: usize = 32;
/// How many files are kept; the oldest go first.
const FILES_MAX: usize = 1_000;
/// How many bytes are kept.
const BYTES_MAX: u64 = 1 << 30;
/// How long they are kept.
const AGE_MAX_SECS: u64 = 30 * 24 * 60 * 60;

/// The kept files of a daemon.
#[derive(Debug, Clone)]
pub struct KeptStore {
    folder: PathBuf,
}

/// An item of a list that is really there.
struct StoredItem {
    id: KeptFileId,
    folder: PathBuf,
    taken: TakenItem,
}

impl KeptStore {
    /// Returns the store in a folder, which need not exist.
    #[must_use]
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Deletes what is kept beyond the limits, the oldest first. Blocks.
    pub fn prune(&self) {
        let mut items = self.items();
        items.sort_by_key(|item| std::cmp::Reverse(item.taken.kept_secs));
        let oldest = now_secs().saturating_sub(AGE_MAX_SECS);
        let (mut bytes, mut beyond) = (0_u64, Vec::new());
        for (at, item) in items.iter().enumerate() {
            bytes = bytes.saturating_add(size_of(&item.path(), 0));
            if at >= FILES_MAX || bytes > BYTES_MAX || item.taken.kept_secs < oldest {
                beyond.push(item.id.clone());
            }
        }
        // What cannot be deleted now is deleted at the next start.
        let _ = self.remove_now(&beyond);
    }

    fn items(&self) -> Vec<StoredItem> {
        let Ok(folders) = self.folder.canonicalize().and_then(fs::read_dir) else { return Vec::new() };
        let mut found = Vec::new();
        for folder in folders.flatten() {
            let name = folder.file_name().to_string_lossy().into_owned();
            let began: u64 = name.split('-').next().and_then(|secs| secs.parse().ok()).unwrap_or(0);
            for mut taken in TakenList::of(&folder.path()).items() {
                taken.kept_secs = if taken.kept_secs == 0 { began } else { taken.kept_secs };
                let id = KeptFileId(format!("{name}/{}", taken.item));
                let item = StoredItem { id, folder: folder.path(), taken };
                if fs::symlink_metadata(item.path()).is_ok() {
                    found.push(item);
                }
            }
        }
        found.sort_by(|a, b| (a.taken.kept_secs, &a.id).cmp(&(b.taken.kept_secs, &b.id)));
        found
    }

    fn list_now(&self, run: Option<RunId>) -> Vec<KeptFile> {
        let items = self.items().into_iter();
        items
            .filter_map(|item| {
                let owner = item.taken.owner.as_ref().and_then(OwnerRecord::read)?;
                run.is_none_or(|run| run == owner.run).then(|| item.describe(owner).0)
            })
            .collect()
    }

    fn find(&self, id: &KeptFileId) -> Result<(StoredItem, KeptOwner), KeptFileError> {
        let item = self.items().into_iter().find(|item| item.id == *id).ok_or(KeptFileError::NotFound)?;
        let owner = item.taken.owner.as_ref().and_then(OwnerRecord::read);
        owner.map(|owner| (item, owner)).ok_or(KeptFileError::NotFound)
    }

    fn read_now(&self, id: &KeptFileId) -> Result<KeptContent, KeptFileError> {
        let (item, owner) = self.find(id)?;
        let place = item.taken.path.clone();
        let (file, saved) = item.describe(owner);
        let mut entries = Vec::new();
        let refusal = match &saved {
            None => Some("it is too large to be shown, or it cannot be read".to_owned()),
            Some(saved) => collect(saved, &place, &mut entries).err(),
        };
        let is_empty = entries.is_empty() && refusal.is_none();
        let refusal = if is_empty { Some("it is an empty folder".to_owned()) } else { refusal };
        Ok(KeptContent { file, entries, refusal })
    }

    fn keep_now(&self, id: &KeptFileId, displaced: &[KeptEntry]) -> Result<(), KeptFileError> {
        let (item, owner) = self.find(id)?;
        let keep = || -> io::Result<()> {
            let mut folder = ProgramFolder::make_empty(&self.folder, Some((&owner).into()))?;
            let tree = WorkspaceTree::open_own(&folder.path)?;
            for entry in displaced {
                let workspace = &item.taken.workspace;
                let (_, number) = folder.next_item(workspace, &entry.place, EntryChange::Displaced)?;
                let saved = SavedEntry::File { mode: entry.mode, bytes: entry.bytes.expose().clone() };
                tree.restore(Path::new(&number.to_string()), &saved)?;
            }
            fs::File::open(&folder.path)?.sync_all()
        };
        keep().map_err(|error| KeptFileError::Unusable(error.to_string()))
    }

    fn remove_now(&self, ids: &[KeptFileId]) -> Result<(), KeptFileError> {
        let (gone, mut failed) = (self.items(), None);
        for item in gone.into_iter().filter(|item| ids.contains(&item.id)) {
            if let Err(error) = item.remove() {
                failed = Some(KeptFileError::Unusable(error.to_string()));
            }
        }
        failed.map_or(Ok(()), Err)
    }

    fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, KeptFileError> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, KeptFileError>> {
        let store = self.clone();
        let done = tokio::task::spawn_blocking(move || work(&store));
        let lost = |_| Err(KeptFileError::Unusable("the work did not end".to_owned()));
        async move { done.await.unwrap_or_else(lost) }.boxed()
    }
}

impl KeptFiles for KeptStore {
    fn list(&self, run: Option<RunId>) -> BoxFuture<'static, Result<Vec<KeptFile>, KeptFileError>> {
        self.blocking(move |store| Ok(store.list_now(run)))
    }

    fn read(&self, file: KeptFileId) -> BoxFuture<'static, Result<KeptContent, KeptFileError>> {
        self.blocking(move |store| store.read_now(&file))
    }

    fn keep_displaced(
        &self,
        file: KeptFileId,
        displaced: Vec<KeptEntry>,
    ) -> BoxFuture<'static, Result<(), KeptFileError>> {
        self.blocking(move |store| store.keep_now(&file, &displaced))
    }

    fn remove(&self, files: Vec<KeptFileId>) -> BoxFuture<'static, Result<(), KeptFileError>> {
        self.blocking(move |store| store.remove_now(&files))
    }
}

impl StoredItem {
    fn path(&self) -> PathBuf {
        self.folder.join(self.taken.item.to_string())
    }

    /// Returns what a person is told of it, and what it is made of.
    fn describe(&self, owner: KeptOwner) -> (KeptFile, Option<SavedEntry>) {
        let kind = fs::symlink_metadata(self.path()).map_or(KeptKind::Other, |found| {
            match (found.is_file(), found.is_symlink(), found.is_dir()) {
                (true, _, _) => KeptKind::File,
                (_, true, _) => KeptKind::Link,
                (_, _, true) => KeptKind::Folder,
                (false, false, false) => KeptKind::Other,
            }
        });
        let name = self.taken.item.to_string();
        let tree = WorkspaceTree::open_own(&self.folder).ok();
        let saved = tree.and_then(|tree| tree.save(Path::new(&name), &mut CONTENT.clone()));
        let file = KeptFile {
            id: self.id.clone(),
            owner,
            workspace: self.taken.workspace.clone(),
            place: self.taken.path.clone(),
            change: match self.taken.change {
                EntryChange::New => KeptChange::New,
                EntryChange::Replaced => KeptChange::Replaced,
                EntryChange::Displaced => KeptChange::Displaced,
            },
            kind,
            bytes: size_of(&self.path(), 0),
            sha256: saved.as_ref().map(digest_with_modes),
            kept: Timestamp::default().after(Duration::from_secs(self.taken.kept_secs)),
        };
        (file, saved)
    }

    fn remove(&self) -> io::Result<()> {
        let path = self.path();
        let removed = match fs::symlink_metadata(&path) {
            Ok(found) if found.is_dir() => fs::remove_dir_all(&path),
            Ok(_) => fs::remove_file(&path),
            Err(error) => Err(error),
        };
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let is_last = TakenList::of(&self.folder).forget(&[self.taken.item])?;
        fs::File::open(&self.folder)?.sync_all()?;
        if is_last && !is_open(&self.folder) {
            // A folder with anything else in it stays.
            let _ = fs::remove_dir(&self.folder);
        }
        Ok(())
    }
}

/// Collects the regular files of an entry, or says why it cannot be put in place.
fn collect(saved: &SavedEntry, place: &Path, entries: &mut Vec<KeptEntry>) -> Result<(), String> {
    match saved {
        SavedEntry::Link { .. } => Err(format!("`{}` is a link", place.display())),
        SavedEntry::File { mode, bytes } => {
            if place.to_str().is_none() {
                return Err("its name is not valid UTF-8".to_owned());
            }
            if entries.len() == ENTRIES_MAX {
                return Err(format!("it has more than {ENTRIES_MAX} files"));
            }
            let bytes = Content::new(bytes.clone());
            entries.push(KeptEntry { place: place.to_owned(), mode: *mode, bytes });
            Ok(())
        }
        SavedEntry::Folder { entries: inner, .. } => {
            inner.iter().try_for_each(|(name, saved)| collect(saved, &place.join(name), entries))
        }
    }
}

fn digest_with_modes(saved: &SavedEntry) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(b"palyra/kept/v1\n");
    add(&mut hash, saved);
    hash.finalize().into()
}

fn add(hash: &mut Sha256, saved: &SavedEntry) {
    let mut begin = |kind: u8, mode: u32, bytes: &[u8]| {
        hash.update([kind]);
        hash.update(mode.to_le_bytes());
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    match saved {
        SavedEntry::File { mode, bytes } => begin(0, *mode, bytes),
        SavedEntry::Link { target } => begin(1, 0, target.as_encoded_bytes()),
        SavedEntry::Folder { mode, entries } => {
            begin(2, *mode, &(entries.len() as u64).to_le_bytes());
            for (name, inner) in entries {
                hash.update((name.len() as u64).to_le_bytes());
                hash.update(name.as_encoded_bytes());
                add(hash, inner);
            }
        }
    }
}

/// Returns the bytes of a file, or of all files of a folder, as deep as anything is kept.
fn size_of(path: &Path, depth: usize) -> u64 {
    const DEPTH_MAX: usize = 64;
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() && depth < DEPTH_MAX => {
            let inner = fs::read_dir(path).into_iter().flatten().flatten();
            inner.map(|entry| size_of(&entry.path(), depth + 1)).sum()
        }
        Ok(found) => found.size(),
        Err(_) => 0,
    }
}

#[cfg(test)]
mod tests;
