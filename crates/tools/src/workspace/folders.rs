//! Folders that a new file needs and that are not there yet.
//!
//! Invariant: each is made in an open folder, by its own name, and opened beneath it; a link is not followed.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path};
use std::sync::Arc;

use rustix::fs::{AtFlags, Mode, fsync, mkdirat, unlinkat};
use rustix::io::Errno;

use super::file_slot::FileSlot;
use super::open::open_folder;
use super::path::WorkspacePath;
use super::refusal::OpenRefusal;
use crate::failure::ToolFailure;

/// Folders one path may need, at most.
const FOLDERS_MADE_MAX: usize = 64;

/// The folders that were made, outermost first.
#[derive(Debug, Default)]
pub(crate) struct MadeFolders(Vec<(Arc<OwnedFd>, OsString)>);

impl MadeFolders {
    /// Returns the slot of `path`, making the folders that it lacks.
    pub(super) fn slot(&mut self, root: &OwnedFd, path: &WorkspacePath) -> Result<FileSlot, ToolFailure> {
        let explain = |refusal: OpenRefusal| refusal.explain(&path.show());
        let name = path.name().ok_or_else(|| OpenRefusal::Malformed.explain(&path.show()))?;
        let mut folder = Arc::new(open_folder(root, Path::new(".")).map_err(explain)?);
        let parents = path.as_path().parent().into_iter().flat_map(Path::components);
        let mut made = 0;
        for component in parents {
            let Component::Normal(name) = component else { return Err(explain(OpenRefusal::Malformed)) };
            let next = match open_folder(&folder, Path::new(name)) {
                Err(OpenRefusal::NotFound) if made < FOLDERS_MADE_MAX => {
                    match mkdirat(&folder, name, Mode::RWXU | Mode::RWXG | Mode::RWXO) {
                        Ok(()) => self.0.push((Arc::clone(&folder), name.to_owned())),
                        Err(Errno::EXIST) => {}
                        Err(errno) => return Err(explain(errno.into())),
                    }
                    made += 1;
                    open_folder(&folder, Path::new(name))
                }
                opened => opened,
            };
            folder = Arc::new(next.map_err(explain)?);
        }
        Ok(FileSlot::new(folder, name))
    }

    /// Puts the names of the folders on the disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.0.iter().try_for_each(|(parent, _)| Ok(fsync(parent)?))
    }

    /// Removes those that are still empty, innermost first.
    pub(crate) fn take_back(&mut self) {
        while let Some((parent, name)) = self.0.pop() {
            // One that holds something by now belongs to somebody else, and so do those around it.
            if unlinkat(&parent, &name, AtFlags::REMOVEDIR).is_err() {
                break;
            }
        }
    }
}
