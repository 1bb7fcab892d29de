//! Files of the vault: private, whole or not there, and never through a link.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

/// Bytes of a file of the vault, at most.
const FILE_BYTES_MAX: u64 = 256 * 1024;

/// Makes a folder that only its owner may enter.
pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Reads a file; `None` when it is not there.
pub(crate) fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let nofollow = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    let file = match OpenOptions::new().read(true).custom_flags(nofollow).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(io::Error::from(io::ErrorKind::FileTooLarge));
    }
    Ok(Some(bytes))
}

/// Puts a whole file in the place of what was there.
pub(crate) fn write(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let draft = folder.join(format!("{name}.draft"));
    // One that a power cut left behind.
    let _ = fs::remove_file(&draft);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&draft, folder.join(name))?;
    sync_folder(folder)
}

pub(crate) fn remove(folder: &Path, name: &str) -> io::Result<()> {
    fs::remove_file(folder.join(name))?;
    sync_folder(folder)
}

fn sync_folder(folder: &Path) -> io::Result<()> {
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
