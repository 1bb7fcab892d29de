//! The files of the state directory: names, sizes and modes, and nothing of what is in them.
//!
//! Names below a folder may be those of a person's own files, so a folder is a number of files with their size. The folder of
//! the log is the exception.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

const LOG_FOLDER: &str = "log";
/// Entries of one folder that are named, at most.
const NAMED_MAX: usize = 500;
/// Entries below one folder that are counted, at most.
const COUNTED_MAX: usize = 50_000;
const PERMISSION_BITS: u32 = 0o7777;

/// Lists what is in a state directory.
pub(crate) fn list(state_dir: &Path) -> Value {
    let mut rows: Vec<Value> = entries(state_dir).iter().map(|path| row(state_dir, path)).collect();
    let log = state_dir.join(LOG_FOLDER);
    if std::fs::symlink_metadata(&log).is_ok_and(|found| found.is_dir()) {
        rows.extend(entries(&log).iter().map(|path| row(state_dir, path)));
    }
    rows.into()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.take(NAMED_MAX).map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn row(state_dir: &Path, path: &Path) -> Value {
    let name = path.strip_prefix(state_dir).unwrap_or(path).display().to_string();
    let Ok(found) = std::fs::symlink_metadata(path) else { return json!({ "name": name, "is": "gone" }) };
    let mode = format!("{:04o}", found.mode() & PERMISSION_BITS);
    if found.is_dir() {
        let below = sums_below(path);
        return json!({ "name": name, "is": "folder", "mode": mode, "files": below.files, "bytes": below.bytes });
    }
    let is = if found.is_file() { "file" } else { "other" };
    json!({ "name": name, "is": is, "mode": mode, "bytes": found.len(), "modified_unix": found.mtime() })
}

/// How much is below a folder.
#[derive(Debug, Default)]
struct FolderSums {
    files: u64,
    bytes: u64,
}

fn sums_below(folder: &Path) -> FolderSums {
    let mut sums = FolderSums::default();
    let mut open = vec![folder.to_owned()];
    let mut seen = 0;
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            seen += 1;
            if seen > COUNTED_MAX {
                return sums;
            }
            let Ok(found) = entry.metadata() else { continue };
            if found.is_dir() {
                open.push(entry.path());
            } else {
                sums.files += 1;
                sums.bytes += found.len();
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_a_number_of_files_and_the_log_is_named() {
        let state = tempfile::tempdir().unwrap();
        for (name, text) in
            [("journal.db", "12345"), ("log/palyrad.log", "1"), ("kept/secret-plans/notes.txt", "12")]
        {
            let file = state.path().join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        std::os::unix::fs::symlink("/", state.path().join("link")).unwrap();
        let rows = list(state.path());
        let names: Vec<_> =
            rows.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["journal.db", "kept", "link", "log", "log/palyrad.log"]);
        assert_eq!(
            (rows[0]["bytes"].as_u64(), rows[1]["files"].as_u64(), rows[1]["bytes"].as_u64()),
            (Some(5), Some(1), Some(2))
        );
        assert_eq!(rows[2]["is"], "other", "no link is followed");
    }
}
