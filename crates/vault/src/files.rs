//! Files of the vault: private, whole or not there, and never through a link.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

/// Bytes of a file of the vault, at most.
const FILE_BYTES_MAX: u64 = 256 * 1024;

/// Makes a folder that only its owner may enter, and puts its name on the disk; also where it is already, for whoever made
/// it may have been cut off between the two.
pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    sync_parent(path)
}

/// Reads a file; `None` when it is not there.
pub(crate) fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let nofollow = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    let file = match OpenOptions::new().read(true).custom_flags(nofollow).open(path) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(io::Error::from(io::ErrorKind::FileTooLarge));
    }
    Ok(Some(bytes))
}

/// What is left to be feared for a change of a file that was made.
#[derive(Debug)]
#[must_use]
pub(crate) enum WriteDurability {
    /// Nothing: it is on the disk.
    Durable,
    /// It is in force, and a power cut may take it back; with the system's word.
    InForce(io::Error),
}

impl WriteDurability {
    fn known(synced: io::Result<()>) -> Self {
        synced.map_or_else(Self::InForce, |()| Self::Durable)
    }

    /// Demands that it is on the disk.
    pub(crate) fn durable(self) -> io::Result<()> {
        match self {
            Self::Durable => Ok(()),
            Self::InForce(error) => Err(error),
        }
    }
}

/// Puts a whole file in the place of what was there. An error says that nothing was changed.
pub(crate) fn write(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<WriteDurability> {
    let draft = folder.join(format!("{name}.draft"));
    // One that a power cut left behind.
    let _ = fs::remove_file(&draft);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&draft, folder.join(name))?;
    Ok(WriteDurability::known(sync_folder(folder)))
}

/// Removes a file, also one that is gone already. An error says that it is there.
pub(crate) fn remove(folder: &Path, name: &str) -> io::Result<WriteDurability> {
    match fs::remove_file(folder.join(name)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(WriteDurability::known(sync_folder(folder))),
    }
}

/// Removes a folder with all it holds, also one that is gone already. It may have been exchanged for another: that is put
/// on the disk first, or a power cut could bring back what was removed, and empty, in the place of the other.
pub(crate) fn remove_folder(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        there => there.map(drop)?,
    }
    sync_parent(path)?;
    fs::remove_dir_all(path)
}

/// Puts the names of a folder's files on the disk.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    fs::File::open(folder)?.sync_all()
}

/// Lets two folders change places in one step.
pub(crate) fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    let here = rustix::fs::CWD;
    Ok(rustix::fs::renameat_with(here, one, here, other, rustix::fs::RenameFlags::EXCHANGE)?)
}

/// Puts the name of a folder on the disk.
pub(crate) fn sync_parent(folder: &Path) -> io::Result<()> {
    folder.parent().map_or(Ok(()), sync_folder)
}
