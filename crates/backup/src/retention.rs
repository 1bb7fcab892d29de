//! Automatic backups in a folder: their names, and which are removed.
//!
//! Invariant: only folders with such a name and a manifest are removed, and never the newest ones.

use std::fs;
use std::path::{Path, PathBuf};

use crate::create::unfinished_path;
use crate::error::BackupError;
use crate::manifest::MANIFEST_FILE_NAME;

const PREFIX: &str = "palyra-";
const UNFINISHED_ENDING: &str = ".unfinished";

/// Returns the name of an automatic backup: its time, and what tells two of the same second apart.
#[must_use]
pub fn automatic_name(unix_us: i64, id: &str) -> String {
    let time = jiff::Timestamp::from_microsecond(unix_us).unwrap_or_default();
    let time = time.strftime("%Y%m%d-%H%M%S");
    let id: String = id.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    format!("{PREFIX}{time}-{id}")
}

/// Returns whether a name is one of [`automatic_name`].
fn is_automatic(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(PREFIX) else { return false };
    let parts: Vec<&str> = rest.split('-').collect();
    matches!(parts.as_slice(), [day, time, id] if has_digits(day, 8) && has_digits(time, 6) && is_id(id))
}

fn has_digits(part: &str, count: usize) -> bool {
    part.len() == count && part.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_id(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Returns the automatic backups in a folder, oldest first.
///
/// # Errors
/// [`BackupError::File`].
pub fn automatic_backups(folder: &Path) -> Result<Vec<PathBuf>, BackupError> {
    let mut names: Vec<String> = names_in(folder)?
        .into_iter()
        .filter(|name| is_automatic(name) && folder.join(name).join(MANIFEST_FILE_NAME).is_file())
        .collect();
    names.sort();
    Ok(names.into_iter().map(|name| folder.join(name)).collect())
}

/// Removes the oldest automatic backups beyond `keep`; returns their paths. The caller has checked the newest one.
///
/// # Errors
/// [`BackupError::File`].
pub fn remove_older(folder: &Path, keep: usize) -> Result<Vec<PathBuf>, BackupError> {
    let mut older = automatic_backups(folder)?;
    older.truncate(older.len().saturating_sub(keep.max(1)));
    let mut removed = Vec::new();
    for path in older {
        // One that is removed in part has no name of a backup any more.
        let going = unfinished_path(&path);
        fs::rename(&path, &going).map_err(BackupError::on("removing", &path))?;
        fs::remove_dir_all(&going).map_err(BackupError::on("removing", &going))?;
        removed.push(path);
    }
    Ok(removed)
}

/// Removes what automatic backups left that were cut off. The caller is the only one that makes them.
///
/// # Errors
/// [`BackupError::File`].
pub fn remove_unfinished(folder: &Path) -> Result<(), BackupError> {
    for name in names_in(folder)? {
        let of = name.strip_prefix('.').and_then(|name| name.strip_suffix(UNFINISHED_ENDING));
        if of.is_some_and(is_automatic) {
            let path = folder.join(&name);
            fs::remove_dir_all(&path).map_err(BackupError::on("removing", &path))?;
        }
    }
    Ok(())
}

/// Returns the names of folders in a folder; links are none.
fn names_in(folder: &Path) -> Result<Vec<String>, BackupError> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(BackupError::on("listing", folder))? {
        let entry = entry.map_err(BackupError::on("listing", folder))?;
        if entry.file_type().is_ok_and(|kind| kind.is_dir())
            && let Ok(name) = entry.file_name().into_string()
        {
            names.push(name);
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backup(folder: &Path, name: &str) {
        fs::create_dir(folder.join(name)).unwrap();
        fs::write(folder.join(name).join(MANIFEST_FILE_NAME), "{}").unwrap();
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names = names_in(folder).unwrap();
        names.sort();
        names
    }

    #[test]
    fn names_sort_by_time() {
        let names: Vec<_> = [0, 1_700_000_000_000_000, 1_800_000_000_000_000]
            .map(|time| automatic_name(time, "01ARZ3NDEKTSV4RRFFQ69G5FAV"))
            .into();
        assert!(names.is_sorted() && names.iter().all(|name| is_automatic(name)), "{names:?}");
        assert_eq!(names[1], "palyra-20231114-221320-01arz3ndektsv4rrffq69g5fav");
    }

    #[test]
    fn only_the_oldest_automatic_backups_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        for day in 1..=5 {
            backup(folder, &format!("palyra-2026010{day}-000000-a"));
        }
        backup(folder, "palyra-mine");
        backup(folder, "before-the-move");
        fs::create_dir(folder.join("palyra-20250101-000000-a")).unwrap();
        std::os::unix::fs::symlink(folder.join("palyra-mine"), folder.join("palyra-20240101-000000-a"))
            .unwrap();
        let removed = remove_older(folder, 2).unwrap();
        assert_eq!(removed.len(), 3);
        let left = [
            "before-the-move",
            "palyra-20250101-000000-a",
            "palyra-20260104-000000-a",
            "palyra-20260105-000000-a",
            "palyra-mine",
        ];
        assert_eq!(names(folder), left);
        remove_older(folder, 0).unwrap();
        assert!(folder.join("palyra-20260105-000000-a").exists(), "the newest one stays");
    }

    #[test]
    fn what_a_cut_off_backup_left_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let unfinished = unfinished_path(&folder.join("palyra-20260101-000000-a"));
        fs::create_dir(&unfinished).unwrap();
        fs::write(unfinished.join("journal.db"), "half").unwrap();
        fs::create_dir(folder.join(".mine.unfinished")).unwrap();
        remove_unfinished(folder).unwrap();
        assert_eq!(names(folder), [".mine.unfinished"]);
    }
}
