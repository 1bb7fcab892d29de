//! Copies of the journal that we made ourselves, beside it: overwritten and removed, for they hold what was erased.
//!
//! Invariant: a file that is also reachable under another name is only unlinked; what is not ours is named and left.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::connection::{DATABASE_FILE_NAME, shm_path, wal_path};
use crate::quarantine::sync_folder;

/// What the copies that we make are called behind the database's name.
const OWN_ENDINGS: &[&str] = &[".before-repair", ".fresh", ".format-1"];

/// What the command line remembers of typed lines: its own, and named because it holds what was said.
const TYPED_LINES: &str = "chat_history";

static ZEROS: [u8; 64 * 1024] = [0; 64 * 1024];

/// Removes our copies; returns the names of files that look like copies and stay.
pub(super) fn remove(database: &Path) -> io::Result<Vec<String>> {
    let folder = database.parent().unwrap_or(Path::new("."));
    let own: Vec<_> = [database.to_owned(), wal_path(database), shm_path(database)].to_vec();
    let mut staying = Vec::new();
    if fs::metadata(folder.join(TYPED_LINES)).is_ok_and(|found| found.len() > 0) {
        staying.push(TYPED_LINES.to_owned());
    }
    let mut removed = false;
    for found in fs::read_dir(folder)? {
        let path = found?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some(ending) = name.strip_prefix(DATABASE_FILE_NAME) else { continue };
        if own.contains(&path) {
            continue;
        }
        if !OWN_ENDINGS.iter().any(|own| ending.starts_with(own)) {
            staying.push(name);
            continue;
        }
        match overwrite(&path).and_then(|names| fs::remove_file(&path).map(|()| names)) {
            Ok(FileNames::One) => removed = true,
            Ok(FileNames::Further) => {
                removed = true;
                staying.push(format!("{name}, under another name"));
            }
            Err(error) => {
                tracing::warn!(%error, name, "a copy of the journal could not be removed");
                staying.push(name);
            }
        }
    }
    if removed {
        sync_folder(database)?;
    }
    staying.sort();
    Ok(staying)
}

/// Under how many names a file can be reached.
enum FileNames {
    One,
    Further,
}

/// Writes zeros over a file, unless it has another name as well.
fn overwrite(path: &Path) -> io::Result<FileNames> {
    let found = fs::symlink_metadata(path)?;
    if !found.is_file() || found.nlink() != 1 {
        return Ok(FileNames::Further);
    }
    let file = OpenOptions::new().write(true).open(path)?;
    write_zeros(&file, found.len())?;
    file.sync_all()?;
    Ok(FileNames::One)
}

/// Writes so many zeros from where the file stands.
pub(super) fn write_zeros(mut file: &File, bytes: u64) -> io::Result<()> {
    let mut left = bytes;
    while left > 0 {
        let now = usize::try_from(left).map_or(ZEROS.len(), |left| left.min(ZEROS.len()));
        file.write_all(&ZEROS[..now])?;
        left -= now as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_copies_go_and_others_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join(DATABASE_FILE_NAME);
        let ours = [
            "journal.db.before-repair",
            "journal.db.before-repair-wal",
            "journal.db.fresh",
            "journal.db.format-1",
        ];
        for name in
            ours.into_iter().chain(["journal.db", "journal.db-wal", "journal.db.bak", "journal.erasing"])
        {
            fs::write(folder.path().join(name), "content").unwrap();
        }
        fs::hard_link(folder.path().join("journal.db.format-1"), folder.path().join("kept")).unwrap();
        let staying = remove(&database).unwrap();
        assert_eq!(staying, ["journal.db.bak", "journal.db.format-1, under another name"]);
        fs::write(folder.path().join("chat_history"), "words").unwrap();
        assert_eq!(remove(&database).unwrap(), ["chat_history", "journal.db.bak"]);
        fs::remove_file(folder.path().join("chat_history")).unwrap();
        let mut left: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|found| found.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["journal.db", "journal.db-wal", "journal.db.bak", "journal.erasing", "kept"]);
        assert_eq!(fs::read_to_string(folder.path().join("kept")).unwrap(), "content");
    }
}
