//! Files of the state directory, and of automatic backups, that need not be kept on a full disk.
//!
//! Owns when the disk counts as nearly full, and that only files on the file system of the state directory are freed. Never
//! touched: the journal, keys, heads, what was kept aside, backups that a person made, and the newest automatic one.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_backup::{BackupWatch, automatic_backups, check_backup, remove_older};
use palyra_ports::{SpareFiles, SpareFilesError, SpareKind, SpareSpace};
use palyra_sandbox::LeftScratch;
use palyra_wasm::ComponentTools;
use tokio::sync::watch;

use crate::config::Config;

/// Below so many free bytes the disk is nearly full.
pub(crate) const DISK_LOW_BYTES: u64 = 64 * 1024 * 1024;
/// Files that one measurement counts, at most; what it does not count is freed all the same.
const MEASURED_FILES_MAX: usize = 100_000;

/// Finds and frees such files.
#[derive(Clone)]
pub(crate) struct StateSpareFiles {
    pub(crate) state_dir: PathBuf,
    pub(crate) scratch: PathBuf,
    pub(crate) components: Arc<ComponentTools>,
    pub(crate) config: watch::Receiver<Arc<Config>>,
    /// The disk is nearly full below so many free bytes.
    pub(crate) low_bytes: u64,
}

impl StateSpareFiles {
    fn is_disk_low(&self) -> Result<bool, SpareFilesError> {
        let found = rustix::fs::statvfs(&self.state_dir);
        let found = found.map_err(|error| failure(&self.state_dir, &error))?;
        Ok(found.f_bavail.saturating_mul(found.f_frsize) < self.low_bytes)
    }

    fn bytes_of(&self, kind: SpareKind) -> u64 {
        match kind {
            SpareKind::Scratch => {
                LeftScratch::all_in(&self.scratch).iter().map(|left| disk_bytes(left.path())).sum()
            }
            SpareKind::CompiledComponents => self.components.compiled_bytes(),
            SpareKind::OlderBackups => self.older_backups().iter().map(|path| disk_bytes(path)).sum(),
        }
    }

    /// Removes all files of a kind; returns their bytes.
    fn free_kind(&self, kind: SpareKind) -> Result<u64, SpareFilesError> {
        match kind {
            SpareKind::Scratch => {
                let before = self.bytes_of(kind);
                LeftScratch::all_in(&self.scratch).into_iter().for_each(LeftScratch::remove);
                Ok(before.saturating_sub(self.bytes_of(kind)))
            }
            SpareKind::CompiledComponents => Ok(self.components.free_compiled()),
            SpareKind::OlderBackups => self.free_older_backups(),
        }
    }

    /// Returns the folder of automatic backups, where it is on the file system of the state directory.
    fn backup_folder(&self) -> Option<PathBuf> {
        let named = PathBuf::from(self.config.borrow().backup_folder());
        let device = |path: &Path| fs::metadata(path).ok().map(|found| found.dev());
        let is_here = !named.as_os_str().is_empty() && device(&named)? == device(&self.state_dir)?;
        is_here.then_some(named)
    }

    /// Returns the automatic backups but for the newest one.
    fn older_backups(&self) -> Vec<PathBuf> {
        let found = self.backup_folder().map(|folder| automatic_backups(&folder).unwrap_or_default());
        let mut found = found.unwrap_or_default();
        found.pop();
        found
    }

    /// Removes the automatic backups but for the newest one, after a check of that.
    fn free_older_backups(&self) -> Result<u64, SpareFilesError> {
        let Some(folder) = self.backup_folder() else { return Ok(0) };
        let found = automatic_backups(&folder).map_err(|error| failure(&folder, &error))?;
        let Some((newest, older)) = found.split_last().filter(|(_, older)| !older.is_empty()) else {
            return Ok(0);
        };
        let bytes = older.iter().map(|path| disk_bytes(path)).sum();
        let checked =
            check_backup(newest, &BackupWatch::default()).map_err(|error| failure(newest, &error))?;
        if !checked.holds() {
            return Err(failure(newest, &"it does not verify, so that older backups are kept"));
        }
        for removed in remove_older(&folder, 1).map_err(|error| failure(&folder, &error))? {
            tracing::info!(path = %removed.display(), "an older automatic backup is removed, because the disk is low");
        }
        Ok(bytes)
    }

    fn free_until_enough(&self, kinds: &[SpareKind]) -> Result<u64, SpareFilesError> {
        let mut freed = 0_u64;
        let mut failed = None;
        for kind in kinds {
            if !self.is_disk_low()? {
                break;
            }
            match self.free_kind(*kind) {
                Ok(bytes) => freed = freed.saturating_add(bytes),
                Err(error) => failed = Some(error),
            }
        }
        match failed {
            Some(error) if freed == 0 => Err(error),
            Some(_) | None => Ok(freed),
        }
    }
}

impl SpareFiles for StateSpareFiles {
    fn measure(&self) -> BoxFuture<'static, Result<SpareSpace, SpareFilesError>> {
        let this = self.clone();
        async move {
            if !this.is_disk_low()? {
                return Ok(SpareSpace::default());
            }
            let measured = tokio::task::spawn_blocking(move || SpareSpace {
                is_disk_low: true,
                scratch: this.bytes_of(SpareKind::Scratch),
                compiled_components: this.bytes_of(SpareKind::CompiledComponents),
                older_backups: this.bytes_of(SpareKind::OlderBackups),
            });
            measured.await.map_err(|error| SpareFilesError { what: error.to_string() })
        }
        .boxed()
    }

    fn free(&self, kinds: &'static [SpareKind]) -> BoxFuture<'static, Result<u64, SpareFilesError>> {
        let this = self.clone();
        async move {
            let freed = tokio::task::spawn_blocking(move || this.free_until_enough(kinds));
            freed.await.map_err(|error| SpareFilesError { what: error.to_string() })?
        }
        .boxed()
    }
}

fn failure(path: &Path, error: &dyn std::fmt::Display) -> SpareFilesError {
    SpareFilesError { what: format!("{}: {error}", path.display()) }
}

/// Returns the bytes that a folder takes on its file system. No link is followed.
fn disk_bytes(folder: &Path) -> u64 {
    const BLOCK_BYTES: u64 = 512;
    let Ok(device) = fs::symlink_metadata(folder).map(|found| found.dev()) else { return 0 };
    let mut folders = vec![folder.to_owned()];
    let mut bytes = 0_u64;
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            // Of a link its own size.
            let Ok(found) = entry.metadata() else { continue };
            files += 1;
            if files > MEASURED_FILES_MAX {
                return bytes;
            }
            if found.is_dir() && found.dev() == device {
                folders.push(entry.path());
            } else if found.nlink() == 1 {
                bytes = bytes.saturating_add(found.blocks().saturating_mul(BLOCK_BYTES));
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests;
