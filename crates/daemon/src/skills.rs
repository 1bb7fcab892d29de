//! Copies of skills below the state directory: one folder each, named by the digest that pins it.
//!
//! Owns where they lie and that a copy is put in place as a whole. What a folder is worth is the runtime's to say.
//! Invariant: a name leads to a whole copy or to none, wherever a crash may fall. Begin at [`StateSkillFolders::keep`].

mod tree;

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_ports::{SkillFile, SkillFolderError, SkillFolders};
use palyra_types::Content;
use rustix::fs::{Mode, RenameFlags, fsync, mkdirat, renameat, renameat_with};
use rustix::io::Errno;

use tree::{TopContents, open_folder, open_root, read_names, read_tree, remove_tree, system, write_tree};

/// The folder of copies below the state directory.
const FOLDER: &str = "skills";
/// How the name of a copy begins that is not in place yet.
const UNFINISHED: &str = ".new-";
/// Copies listed, at most.
const NAMES_MAX: usize = 10_000;

/// Keeps copies below a state directory.
#[derive(Clone)]
pub(crate) struct StateSkillFolders {
    state_dir: PathBuf,
}

impl StateSkillFolders {
    pub(crate) fn new(state_dir: PathBuf) -> Self {
        Self { state_dir }
    }

    /// Opens the folder of copies; `None` when there is none yet.
    fn folder(&self) -> Result<Option<OwnedFd>, SkillFolderError> {
        match open_folder(open_root(&self.state_dir)?, Path::new(FOLDER)) {
            Ok(folder) => Ok(Some(folder)),
            Err(Errno::NOENT) => Ok(None),
            Err(Errno::LOOP | Errno::NOTDIR) => Err(SkillFolderError::Refused {
                what: format!("`{FOLDER}` in the state directory is a link or not a folder"),
            }),
            Err(errno) => Err(system(errno)),
        }
    }

    fn read_now(source: &Path) -> Result<Vec<SkillFile>, SkillFolderError> {
        let root = match open_root(source) {
            Ok(root) => root,
            Err(_) if !source.is_dir() => return Err(SkillFolderError::Missing),
            Err(error) => return Err(error),
        };
        read_tree(&open_folder(&root, Path::new(".")).map_err(system)?, TopContents::LeavesOutGit)
    }

    pub(crate) fn keep_now(&self, name: &str, files: &[SkillFile]) -> Result<(), SkillFolderError> {
        check_name(name)?;
        let state = open_root(&self.state_dir)?;
        match mkdirat(&state, FOLDER, Mode::RWXU) {
            Ok(()) => fsync(&open_folder(&state, Path::new(".")).map_err(system)?).map_err(system)?,
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(system(errno)),
        }
        let folder = self.folder()?.ok_or_else(|| system(Errno::NOENT))?;
        let unfinished = format!("{UNFINISHED}{name}");
        remove_tree(&folder, &unfinished)?;
        write_tree(&folder, &unfinished, files)?;
        match renameat_with(&folder, &unfinished, &folder, name, RenameFlags::EXCHANGE) {
            Ok(()) => remove_tree(&folder, &unfinished)?,
            Err(Errno::NOENT) => renameat(&folder, &unfinished, &folder, name).map_err(system)?,
            Err(errno) => return Err(system(errno)),
        }
        fsync(&folder).map_err(system)
    }

    pub(crate) fn kept_now(&self, name: &str) -> Result<Vec<SkillFile>, SkillFolderError> {
        check_name(name)?;
        let Some(folder) = self.folder()? else { return Err(SkillFolderError::Missing) };
        match open_folder(&folder, Path::new(name)) {
            Ok(copy) => read_tree(&copy, TopContents::Whole),
            Err(Errno::NOENT) => Err(SkillFolderError::Missing),
            Err(Errno::LOOP | Errno::NOTDIR | Errno::XDEV | Errno::ACCESS) => {
                Err(SkillFolderError::Refused { what: "the copy is a link or not a folder".to_owned() })
            }
            Err(errno) => Err(system(errno)),
        }
    }

    /// Reads a copy of the same name below another state directory, such as one in a backup.
    pub(crate) fn copy_below(state_dir: &Path, name: &str) -> Result<Vec<SkillFile>, SkillFolderError> {
        Self::new(state_dir.to_owned()).kept_now(name)
    }

    /// Returns where a copy is.
    pub(crate) fn path_of(&self, name: &str) -> PathBuf {
        self.state_dir.join(FOLDER).join(name)
    }

    fn names_now(&self) -> Result<Vec<String>, SkillFolderError> {
        let Some(folder) = self.folder()? else { return Ok(Vec::new()) };
        let names = read_names(&folder, NAMES_MAX)?;
        Ok(names.into_iter().filter_map(|name| name.into_string().ok()).collect())
    }

    fn discard_now(&self, name: &str) -> Result<(), SkillFolderError> {
        check_name(name.strip_prefix(UNFINISHED).unwrap_or(name))?;
        let Some(folder) = self.folder()? else { return Ok(()) };
        remove_tree(&folder, name)?;
        fsync(&folder).map_err(system)
    }

    /// Does what blocks where it may.
    fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, SkillFolderError> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, SkillFolderError>> {
        let this = self.clone();
        let ended = |error: tokio::task::JoinError| SkillFolderError::System { what: error.to_string() };
        async move { tokio::task::spawn_blocking(move || work(&this)).await.map_err(ended)? }.boxed()
    }
}

/// A copy has the name that a digest has, and no other.
fn check_name(name: &str) -> Result<(), SkillFolderError> {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if name.len() == 64 && name.bytes().all(is_digit) {
        return Ok(());
    }
    Err(SkillFolderError::Refused { what: "this is not the name of a copy".to_owned() })
}

impl SkillFolders for StateSkillFolders {
    fn read(&self, source: Content<PathBuf>) -> BoxFuture<'static, Result<Vec<SkillFile>, SkillFolderError>> {
        self.blocking(move |_| Self::read_now(source.expose()))
    }

    fn keep(&self, name: String, files: Vec<SkillFile>) -> BoxFuture<'static, Result<(), SkillFolderError>> {
        self.blocking(move |this| this.keep_now(&name, &files))
    }

    fn kept(&self, name: String) -> BoxFuture<'static, Result<Vec<SkillFile>, SkillFolderError>> {
        self.blocking(move |this| this.kept_now(&name))
    }

    fn names(&self) -> BoxFuture<'static, Result<Vec<String>, SkillFolderError>> {
        self.blocking(Self::names_now)
    }

    fn discard(&self, name: String) -> BoxFuture<'static, Result<(), SkillFolderError>> {
        self.blocking(move |this| this.discard_now(&name))
    }
}

#[cfg(test)]
mod tests;
