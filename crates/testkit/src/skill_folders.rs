//! Folders of skills in memory, for runtimes without a disk.
//!
//! Invariant: what is kept changes only by the port, or by a test that says it tampers.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use palyra_ports::{SkillFile, SkillFileMode, SkillFolderError, SkillFolders};
use palyra_types::Content;

/// Folders that can be installed, and copies that are kept.
#[derive(Debug, Clone, Default)]
pub struct MemorySkillFolders(Arc<Mutex<MemoryFolders>>);

#[derive(Debug, Default)]
struct MemoryFolders {
    sources: BTreeMap<PathBuf, Vec<SkillFile>>,
    kept: BTreeMap<String, Vec<SkillFile>>,
    broken: Option<String>,
}

/// Returns a plain file.
#[must_use]
pub fn skill_file(path: &str, text: &str) -> SkillFile {
    SkillFile { path: path.to_owned(), mode: SkillFileMode::Plain, bytes: text.as_bytes().to_vec() }
}

impl MemorySkillFolders {
    /// Puts a folder where it can be installed from.
    pub fn lay(&self, source: &str, files: Vec<SkillFile>) {
        self.lock().sources.insert(source.into(), files);
    }

    /// Changes the files of every copy behind the runtime's back.
    pub fn tamper(&self, change: impl Fn(&mut Vec<SkillFile>)) {
        self.lock().kept.values_mut().for_each(change);
    }

    /// Loses every copy.
    pub fn lose(&self) {
        self.lock().kept.clear();
    }

    /// Makes every look at a copy fail from now on, or succeed again.
    pub fn fail(&self, what: Option<&str>) {
        self.lock().broken = what.map(str::to_owned);
    }

    /// Returns the names of the copies.
    #[must_use]
    pub fn copies(&self) -> Vec<String> {
        self.lock().kept.keys().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, MemoryFolders> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

type FolderAnswer<T> = BoxFuture<'static, Result<T, SkillFolderError>>;

fn done<T: Send + 'static>(answer: Result<T, SkillFolderError>) -> FolderAnswer<T> {
    ready(answer).boxed()
}

impl SkillFolders for MemorySkillFolders {
    fn read(&self, source: Content<PathBuf>) -> FolderAnswer<Vec<SkillFile>> {
        done(self.lock().sources.get(source.expose()).cloned().ok_or(SkillFolderError::Missing))
    }

    fn keep(&self, name: String, files: Vec<SkillFile>) -> FolderAnswer<()> {
        self.lock().kept.insert(name, files);
        done(Ok(()))
    }

    fn kept(&self, name: String) -> FolderAnswer<Vec<SkillFile>> {
        let folders = self.lock();
        match &folders.broken {
            Some(what) => done(Err(SkillFolderError::System { what: what.clone() })),
            None => done(folders.kept.get(&name).cloned().ok_or(SkillFolderError::Missing)),
        }
    }

    fn names(&self) -> FolderAnswer<Vec<String>> {
        done(Ok(self.copies()))
    }

    fn discard(&self, name: String) -> FolderAnswer<()> {
        self.lock().kept.remove(&name);
        done(Ok(()))
    }
}
