//! Components, their native code and copies of skills below the state directory, compared with their digests and mended.
//!
//! Owns where another copy is looked for: in the newest automatic backups, by the pinned digest alone. Invariants: nothing is
//! put in place whose digest is not the pinned one; damaged bytes of what cannot be made again are moved to `damaged`, where
//! nothing removes them; a file is reached by its digest only, so no text of a model or a page leads anywhere.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_admin::skill_digest;
use palyra_backup::{BackedUpFile, automatic_backups, read_manifest};
use palyra_ports::{
    ArtifactCheck, ArtifactError, ArtifactKind, ArtifactRef, CheckArtifacts, SkillFile, SkillFileMode,
    SkillFolderError,
};
use palyra_wasm::ComponentTools;
use tokio::sync::watch;

use crate::config::Config;
use crate::skills::StateSkillFolders;
use crate::tool_setup::COMPONENTS_FOLDER;

/// The folder of the state directory to which damaged artifacts are moved.
const DAMAGED_FOLDER: &str = "damaged";
/// Damaged artifacts that are kept there, at most: with more of them, a person has to look.
const DAMAGED_MAX: usize = 64;
/// The newest automatic backups in which a copy is looked for.
const BACKUPS_READ_MAX: usize = 3;
/// Where the files of the state directory are in a backup.
const STATE_IN_BACKUP: &str = "state";
/// Bytes of a component in a backup, at most; a larger one is none that was added.
const COMPONENT_BYTES_MAX: u64 = 32 << 20;

/// Checks and mends artifacts of one state directory.
#[derive(Clone)]
pub(crate) struct StateArtifacts {
    state_dir: PathBuf,
    components: Arc<ComponentTools>,
    skills: StateSkillFolders,
    config: watch::Receiver<Arc<Config>>,
}

/// A copy of an artifact that has the pinned digest.
enum IntactCopy {
    Component(Vec<u8>),
    Skill(Vec<SkillFile>),
}

impl StateArtifacts {
    pub(crate) fn new(
        state_dir: PathBuf,
        components: Arc<ComponentTools>,
        config: watch::Receiver<Arc<Config>>,
    ) -> Self {
        let skills = StateSkillFolders::new(state_dir.clone());
        Self { state_dir, components, skills, config }
    }

    fn check_now(&self, artifact: ArtifactRef) -> Result<ArtifactCheck, ArtifactError> {
        if let Some(bytes) = self.intact_bytes(artifact)? {
            return Ok(ArtifactCheck::Whole { bytes });
        }
        let can_be_mended = artifact.kind == ArtifactKind::NativeCode || self.find_copy(artifact).is_some();
        Ok(if can_be_mended { ArtifactCheck::Repairable } else { ArtifactCheck::Lost })
    }

    /// Returns the bytes of an artifact that has its digest; `None` for one that is missing or differs.
    fn intact_bytes(&self, artifact: ArtifactRef) -> Result<Option<u64>, ArtifactError> {
        let digest = &artifact.sha256;
        match artifact.kind {
            ArtifactKind::Component => self.components.check_component(digest).map_err(failure),
            ArtifactKind::NativeCode => self.components.check_native(digest).map_err(failure),
            ArtifactKind::SkillCopy => match self.skills.kept_now(&hex(digest)) {
                Ok(files) => Ok((skill_digest(&files) == *digest).then(|| skill_bytes(&files))),
                Err(SkillFolderError::Missing | SkillFolderError::Refused { .. }) => Ok(None),
                Err(error @ SkillFolderError::System { .. }) => Err(failure(error)),
            },
        }
    }

    /// Returns a copy with the pinned digest from the newest automatic backup that has one.
    fn find_copy(&self, artifact: ArtifactRef) -> Option<IntactCopy> {
        let folder = PathBuf::from(self.config.borrow().backup_folder());
        if folder.as_os_str().is_empty() {
            return None;
        }
        let backups = automatic_backups(&folder).unwrap_or_default();
        backups.iter().rev().take(BACKUPS_READ_MAX).find_map(|backup| copy_in(backup, artifact))
    }

    /// Puts back what was found, after the damaged bytes were moved aside.
    fn put_back(&self, artifact: ArtifactRef) -> Result<(), ArtifactError> {
        if self.intact_bytes(artifact)?.is_some() {
            return Ok(());
        }
        let found = self.find_copy(artifact).ok_or_else(|| {
            failure("no copy in the newest automatic backups has the pinned digest, so nothing was changed")
        })?;
        let name = hex(&artifact.sha256);
        match found {
            IntactCopy::Component(bytes) => {
                self.move_aside(
                    &self.components.component_path(&artifact.sha256),
                    &format!("component-{name}"),
                )?;
                self.components.put_back(&artifact.sha256, &bytes).map_err(failure)?;
            }
            IntactCopy::Skill(files) => {
                self.move_aside(&self.skills.path_of(&name), &format!("skill-{name}"))?;
                self.skills.keep_now(&name, &files).map_err(failure)?;
            }
        }
        match self.intact_bytes(artifact)? {
            Some(_) => Ok(()),
            None => Err(failure("it was put back, and its digest is still another one")),
        }
    }

    /// Moves damaged bytes to a folder where nothing removes them. A missing one needs no move.
    fn move_aside(&self, damaged: &Path, name: &str) -> Result<(), ArtifactError> {
        if fs::symlink_metadata(damaged).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            return Ok(());
        }
        let folder = self.state_dir.join(DAMAGED_FOLDER);
        DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(failure)?;
        if !fs::symlink_metadata(&folder).map_err(failure)?.is_dir() {
            return Err(failure(format_args!("`{DAMAGED_FOLDER}` in the state directory is not a folder")));
        }
        let there = fs::read_dir(&folder).map_err(failure)?.count();
        if there >= DAMAGED_MAX {
            return Err(failure(format_args!(
                "`{DAMAGED_FOLDER}` in the state directory has {there} damaged artifacts; look at them and remove them"
            )));
        }
        // One that is there already is never replaced.
        let free = (0..=there).map(|number| folder.join(format!("{name}-{number}")));
        let free = free.into_iter().find(|path| fs::symlink_metadata(path).is_err());
        let target = free.ok_or_else(|| failure("no name is free for the damaged artifact"))?;
        fs::rename(damaged, &target).map_err(failure)?;
        File::open(&folder).and_then(|folder| folder.sync_all()).map_err(failure)?;
        tracing::warn!(path = %target.display(), "a damaged artifact was moved aside");
        Ok(())
    }

    fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, ArtifactError> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, ArtifactError>> {
        let this = self.clone();
        async move { tokio::task::spawn_blocking(move || work(&this)).await.map_err(failure)? }.boxed()
    }
}

impl CheckArtifacts for StateArtifacts {
    fn check(&self, artifact: ArtifactRef) -> BoxFuture<'static, Result<ArtifactCheck, ArtifactError>> {
        self.blocking(move |this| this.check_now(artifact))
    }

    fn repair(&self, artifact: ArtifactRef) -> BoxFuture<'static, Result<(), ArtifactError>> {
        match artifact.kind {
            ArtifactKind::NativeCode => {
                let components = Arc::clone(&self.components);
                async move { components.remake_native(artifact.sha256).await.map_err(failure) }.boxed()
            }
            ArtifactKind::Component | ArtifactKind::SkillCopy => {
                self.blocking(move |this| this.put_back(artifact))
            }
        }
    }

    fn take_failed_reads(&self) -> Vec<ArtifactRef> {
        let component = |sha256| ArtifactRef { kind: ArtifactKind::Component, sha256 };
        self.components.take_differing().into_iter().map(component).collect()
    }
}

/// Returns the copy of an artifact in a backup, if it has the pinned digest. One that was changed there is none.
fn copy_in(backup: &Path, artifact: ArtifactRef) -> Option<IntactCopy> {
    let state = backup.join(STATE_IN_BACKUP);
    let name = hex(&artifact.sha256);
    match artifact.kind {
        ArtifactKind::NativeCode => None,
        ArtifactKind::Component => {
            let file = state.join(COMPONENTS_FOLDER).join(name).join("component.wasm");
            if !fs::symlink_metadata(&file).ok()?.is_file() {
                return None;
            }
            let mut bytes = Vec::new();
            File::open(file).ok()?.take(COMPONENT_BYTES_MAX + 1).read_to_end(&mut bytes).ok()?;
            (palyra_ledger::sha256(&bytes) == artifact.sha256).then_some(IntactCopy::Component(bytes))
        }
        ArtifactKind::SkillCopy => {
            let mut files = StateSkillFolders::copy_below(&state, &name).ok()?;
            restore_modes(backup, &name, &mut files);
            (skill_digest(&files) == artifact.sha256).then_some(IntactCopy::Skill(files))
        }
    }
}

/// Takes from the manifest of a backup which files of a skill may be started: in the backup none may.
fn restore_modes(backup: &Path, name: &str, files: &mut [SkillFile]) {
    const OWNER_MAY_START: u32 = 0o100;
    let Ok(manifest) = read_manifest(backup) else { return };
    let folder = format!("{STATE_IN_BACKUP}/skills/{name}/");
    for file in files {
        let of_file = |one: &&BackedUpFile| one.name.strip_prefix(&folder) == Some(file.path.as_str());
        if manifest.files.iter().find(of_file).is_some_and(|one| one.mode & OWNER_MAY_START != 0) {
            file.mode = SkillFileMode::Executable;
        }
    }
}

fn skill_bytes(files: &[SkillFile]) -> u64 {
    files.iter().map(|file| file.bytes.len() as u64).sum()
}

fn hex(digest: &[u8; 32]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[allow(clippy::needless_pass_by_value, reason = "given to map_err")]
fn failure(error: impl std::fmt::Display) -> ArtifactError {
    ArtifactError { what: error.to_string() }
}

#[cfg(test)]
mod tests;
