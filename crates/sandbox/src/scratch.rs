//! Folders that stand for `/tmp` where a program cannot have one of its own.
//!
//! Owns their names and their end. Invariant: each is made for one program and removed after it; what a daemon that was
//! killed left behind goes when the next one begins.

use std::fs;
use std::io;
use std::path::Path;

use crate::held_folder::HeldFolder;
use crate::off_the_thread::off_the_thread;

/// How their names begin.
const BEGINNING: &str = "program-";

/// One program's folder.
#[derive(Debug)]
pub(crate) struct Scratch {
    folder: Option<HeldFolder>,
}

impl Scratch {
    /// Makes one in `place`; `name` is used once.
    pub(crate) fn make(place: &Path, name: &str) -> io::Result<Self> {
        fs::create_dir_all(place)?;
        HeldFolder::make(place, &format!("{BEGINNING}{name}")).map(|folder| Self { folder: Some(folder) })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.as_ref().map_or(Path::new(""), |folder| &folder.path)
    }

    /// Removes it; blocks.
    pub(crate) fn remove(mut self) {
        self.folder.take().as_ref().map(remove);
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Some(folder) = self.folder.take() {
            off_the_thread(move || remove(&folder));
        }
    }
}

/// Removes what earlier daemons left in `place`.
pub(crate) fn clear(place: &Path) {
    for left in HeldFolder::abandoned(place, BEGINNING).unwrap_or_default() {
        remove(&left);
    }
}

fn remove(folder: &HeldFolder) {
    let _ = fs::remove_dir_all(&folder.path);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_is_removed_and_what_is_used_is_not() {
        let place = tempfile::tempdir().expect("a folder");
        let used = Scratch::make(place.path(), "1-1").expect("a folder");
        let left = place.path().join("program-1-2");
        fs::create_dir_all(left.join("deep")).expect("one that was left");
        fs::write(place.path().join("file"), "").expect("something else");
        clear(place.path());
        assert!(used.path().is_dir() && !left.exists() && place.path().join("file").exists());
        let path = used.path().to_owned();
        used.remove();
        assert!(!path.exists());
    }
}
