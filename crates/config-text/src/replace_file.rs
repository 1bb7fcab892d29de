//! Replacing a file as a whole: a reader sees the old one or the new one.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// A text that is on the disk beside a file, and not yet in its place. Dropped, it is removed.
#[derive(Debug)]
pub struct StagedFile {
    new: NamedTempFile,
    file: PathBuf,
}

impl StagedFile {
    /// Writes a text beside a file; its folder is made where it is missing.
    ///
    /// # Errors
    /// The system's: the folder cannot be written, or the disk is full.
    pub fn write(file: &Path, text: &str) -> io::Result<Self> {
        let folder = folder_of(file);
        std::fs::create_dir_all(folder)?;
        let mut new = NamedTempFile::new_in(folder)?;
        new.write_all(text.as_bytes())?;
        new.as_file().sync_all()?;
        Ok(Self { new, file: file.to_owned() })
    }

    /// Puts it in the file's place, in one step that a power cut afterwards does not take back.
    ///
    /// # Errors
    /// The system's; the file is as it was.
    pub fn persist(self) -> io::Result<()> {
        self.new.persist(&self.file)?;
        // The file is replaced in any case: some file systems cannot sync a folder.
        drop(File::open(folder_of(&self.file)).and_then(|folder| folder.sync_all()));
        Ok(())
    }
}

fn folder_of(file: &Path) -> &Path {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Writes the whole file at once.
///
/// # Errors
/// The system's; the file is as it was.
pub fn write_whole(file: &Path, text: &str) -> io::Result<()> {
    StagedFile::write(file, text)?.persist()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_not_put_in_place_leaves_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("sub/palyra.toml");
        drop(StagedFile::write(&file, "new").expect("written"));
        assert_eq!(std::fs::read_dir(folder.path().join("sub")).expect("a folder").count(), 0);
        write_whole(&file, "old").expect("written");
        let staged = StagedFile::write(&file, "new").expect("written");
        assert_eq!(std::fs::read_to_string(&file).expect("read"), "old");
        staged.persist().expect("replaced");
        assert_eq!(std::fs::read_to_string(&file).expect("read"), "new");
    }
}
