//! What can be seen in the state directory: who may read it, who holds its lock, what is there for a person.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use palyra_client::read_lock_record;
use palyra_screen_text::shell_word;
use palyra_wire::v1;
use serde_json::Value;

use crate::{ERROR, OK, WARNING, check};

const LOCK_FILE: &str = "lock";
/// Folders whose files hold keys.
const KEY_FOLDERS: [&str; 2] = ["keys", "vault"];
/// Files of the state directory itself with what runs said and read, and with the keys of sealed payloads.
const DATABASES: [&str; 4] = ["journal.db", "journal.db-wal", "keys.db", "keys.db-wal"];
const LOG_FOLDER: &str = "log";
const LOG_FILE: &str = "palyrad.log";
const ASIDE_FOLDER: &str = "kept-aside";
const COMPONENTS_FOLDER: &str = "components";
/// Files of one folder that are looked at, at most.
const FILES_MAX: usize = 1_000;
/// Names that one check tells, at most.
const NAMES_MAX: usize = 3;

/// Checks that a state directory is a folder of its user alone.
#[must_use]
pub fn state_dir_itself(dir: &Path) -> v1::Check {
    let name = "state_dir";
    let shown = dir.display();
    match std::fs::metadata(dir) {
        Ok(meta) if !meta.is_dir() => {
            check(name, ERROR, format!("{shown} is not a folder"), "choose another with --state-dir")
        }
        Ok(meta) if meta.permissions().mode() & 0o077 != 0 => {
            let found = format!("{shown} can be entered by others");
            check(name, WARNING, found, &format!("`chmod 700 {shown}`"))
        }
        Ok(_) => check(name, OK, shown.to_string(), ""),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            check(name, OK, format!("{shown} is made at the first start"), "")
        }
        Err(error) => check(name, ERROR, format!("{shown}: {error}"), "choose another with --state-dir"),
    }
}

/// Names key files and databases that others may read.
pub(crate) fn private_files(state_dir: &Path) -> v1::Check {
    let keys = KEY_FOLDERS.iter().flat_map(|folder| files_in(&state_dir.join(folder)));
    let databases = DATABASES.iter().map(|name| state_dir.join(name));
    let open: Vec<PathBuf> = keys
        .chain(databases)
        .filter(|file| {
            std::fs::symlink_metadata(file).is_ok_and(|meta| meta.is_file() && meta.mode() & 0o077 != 0)
        })
        .collect();
    if open.is_empty() {
        return check("private_files", OK, "keys are readable by their owner only", "");
    }
    let found = format!("others may read {}", names(&open, state_dir));
    let paths: Vec<_> = open.iter().map(|file| shell_word(&file.display().to_string())).collect();
    check("private_files", ERROR, found, &format!("`chmod 600 {}`", paths.join(" ")))
}

/// Names the log, and says when a daemon could not write it.
pub(crate) fn log(state_dir: &Path) -> v1::Check {
    let name = "log";
    let folder = state_dir.join(LOG_FOLDER);
    let file = folder.join(LOG_FILE);
    for (path, fits) in [(&folder, Path::is_dir as fn(&Path) -> bool), (&file, Path::is_file)] {
        let Ok(meta) = std::fs::symlink_metadata(path) else { continue };
        let shown = path.display();
        if !fits(path) {
            let found = format!("{shown} is in the way: the log cannot be written");
            return check(name, ERROR, found, &format!("`mv {shown} {shown}.moved`"));
        }
        if meta.mode() & 0o200 == 0 {
            return check(name, ERROR, format!("{shown} cannot be written"), &format!("`chmod u+w {shown}`"));
        }
    }
    check(name, OK, file.display().to_string(), "")
}

/// Names a process that holds the lock and is not a daemon of this directory.
#[must_use]
pub fn foreign_lock(state_dir: &Path) -> Option<v1::Check> {
    let lock = std::fs::metadata(state_dir.join(LOCK_FILE)).ok()?;
    let holder = holder_of(&std::fs::read_to_string("/proc/locks").ok()?, lock.ino())?;
    if read_lock_record(state_dir).is_some_and(|record| record.pid == holder) {
        return None;
    }
    let command = std::fs::read_to_string(format!("/proc/{holder}/comm")).unwrap_or_default();
    // One that has just taken the lock says who it is a moment later.
    if command.starts_with("palyra") {
        return None;
    }
    let found = format!(
        "process {holder} ({}) holds the lock of {} and is not a daemon",
        command.trim(),
        state_dir.display()
    );
    Some(check("lock", ERROR, found, &format!("end that process: `kill {holder}`")))
}

/// Says that a daemon ended without clearing its lock file.
pub(crate) fn stale_lock(state_dir: &Path) -> Option<v1::Check> {
    let record = read_lock_record(state_dir).filter(|record| record.pid != 0)?;
    let lock = std::fs::metadata(state_dir.join(LOCK_FILE)).ok()?;
    if holder_of(&std::fs::read_to_string("/proc/locks").ok()?, lock.ino()).is_some() {
        return None;
    }
    let found = format!("left by process {}, which was killed or crashed", record.pid);
    Some(check("lock", WARNING, found, "the next start takes it over: `palyra doctor`"))
}

/// Returns who has a file locked, from a table as in proc_locks(5).
fn holder_of(table: &str, inode: u64) -> Option<u32> {
    let row = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let place = fields.iter().position(|field| *field == "FLOCK")?;
        let found = fields.get(place + 4)?.rsplit(':').next()?;
        // A waiting request is no lock.
        if fields.contains(&"->") || found.parse() != Ok(inode) {
            return None;
        }
        fields.get(place + 3)?.parse().ok()
    };
    table.lines().find_map(row)
}

/// Counts what commands were not allowed to leave in a workspace.
pub(crate) fn kept_aside(state_dir: &Path) -> Option<v1::Check> {
    let folder = state_dir.join(ASIDE_FOLDER);
    let kept = files_in(&folder).len();
    (kept > 0).then(|| {
        let shown = folder.display();
        let found = format!("{kept} in {shown}: files that commands left and something would run later");
        let mend = format!("look at them, move back what you want, then `rm -r {shown}`");
        check("kept_aside", WARNING, found, &mend)
    })
}

/// Names components whose files are gone or cannot be read.
pub(crate) fn components(state_dir: &Path) -> Option<v1::Check> {
    let name = "components";
    let folder = state_dir.join(COMPONENTS_FOLDER);
    let list = folder.join("offered.json");
    let text = match std::fs::read(&list) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        Err(error) => {
            return Some(check(name, ERROR, format!("{}: {error}", list.display()), "`palyra admin stop`"));
        }
    };
    let Ok(Value::Array(offered)) = serde_json::from_slice(&text) else {
        let found =
            format!("{} is damaged: its components are offered again after a restart", list.display());
        return Some(check(name, ERROR, found, "`palyra admin stop`, then `palyra tools list`"));
    };
    let lost = offered.iter().filter_map(|one| {
        let digest = one.get("sha256")?.as_str()?;
        let readable = std::fs::File::open(folder.join(digest).join("component.wasm")).is_ok();
        (!readable).then(|| one.get("name").and_then(Value::as_str).unwrap_or(digest).to_owned())
    });
    let lost: Vec<String> = lost.collect();
    if lost.is_empty() {
        return Some(check(name, OK, offered.len().to_string(), ""));
    }
    let found = format!("the file of {} cannot be read", lost.join(", "));
    Some(check(name, ERROR, found, &format!("`palyra tools remove {}`, then add its file again", lost[0])))
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.take(FILES_MAX).map(|entry| entry.path()).collect()
}

fn names(files: &[PathBuf], below: &Path) -> String {
    let shown = |file: &PathBuf| file.strip_prefix(below).unwrap_or(file).display().to_string();
    let mut names: Vec<String> = files.iter().take(NAMES_MAX).map(shown).collect();
    if files.len() > NAMES_MAX {
        names.push(format!("{} more", files.len() - NAMES_MAX));
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_holder_of_a_lock_is_read_from_the_table() {
        let table = "1: POSIX  ADVISORY  WRITE 11 08:01:77 0 EOF\n2: FLOCK  ADVISORY  WRITE 42 08:01:77 0 EOF\n\
                     2: -> FLOCK  ADVISORY  WRITE 43 08:01:78 0 EOF\nnonsense\n";
        assert_eq!((holder_of(table, 77), holder_of(table, 78), holder_of(table, 1)), (Some(42), None, None));
    }
}
