//! What lies beside the file: a write-ahead log, shared memory, or nothing; and nothing new afterwards.
//!
//! Owns running the program itself: within one process SQLite would share the writer's memory.

use std::path::Path;

use rusqlite::{Connection, params};
use serde_json::Value;

use crate::writer::{Log, Shape, sha256, shape};

/// Returns exit code and number of entries, as the program says them.
fn verified(path: &Path) -> (i32, u64) {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_palyra-verify"))
        .args(["--json", "--db"])
        .arg(path)
        .output()
        .expect("the program runs");
    let said: Value = serde_json::from_slice(&output.stdout).expect("one object");
    assert_eq!(said["code"].as_i64(), output.status.code().map(i64::from));
    (output.status.code().expect("it ended by itself"), said["entries"].as_u64().expect("a number"))
}

/// Returns what lies in the folder, with digests.
fn files(folder: &Path) -> Vec<(String, [u8; 32])> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry"))
        .map(|entry| {
            let bytes = std::fs::read(entry.path()).expect("a file");
            (entry.file_name().to_string_lossy().into_owned(), sha256(&[&bytes]))
        })
        .collect();
    files.sort();
    files
}

/// A writer that has its last entry in the write-ahead log only.
fn live(log: &Log, path: &Path) -> Connection {
    let mut shorter = log.clone();
    let last = shorter.entries.pop().expect("an entry");
    shorter.save(path);
    let mut writer = Connection::open(path).expect("a database");
    writer.execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0").expect("pragmas");
    let leaves: Vec<[u8; 32]> =
        log.entries.iter().map(|entry| crate::writer::leaf(&entry.envelope)).collect();
    let seq = leaves.len() as i64 - 1;
    let run = &last.envelope[72..88];
    let tape_seq = u32::from_be_bytes(last.envelope[88..92].try_into().expect("four"));
    let kind = log.kind(seq as u64);
    let transaction = writer.transaction().expect("begins");
    transaction
        .execute(
            "INSERT INTO entry VALUES (?1, ?2, ?3, ?4, ?5)",
            params![seq, last.envelope, run, tape_seq, kind],
        )
        .expect("a row");
    transaction
        .execute(
            "UPDATE frontier SET size = ?1, hashes = ?2",
            params![seq + 1, crate::writer::frontier(&leaves)],
        )
        .expect("a row");
    transaction.commit().expect("commits");
    writer
}

/// A log that ends with an entry of a run that has no payload.
fn log() -> Log {
    let mut log = shape(Shape::Epochs, 41);
    let mut chance = log.chance.clone();
    log.run(&mut chance);
    log
}

#[test]
fn a_live_write_ahead_log_is_read_and_nothing_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("journal.db");
    let log = log();
    let writer = live(&log, &path);
    let before = files(folder.path());
    assert_eq!(verified(&path), (0, log.entries.len() as u64));
    assert_eq!(files(folder.path()), before);
    drop(writer);
}

#[test]
fn a_write_ahead_log_left_by_a_killed_daemon_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("journal.db");
    let log = log();
    let writer = live(&log, &path);
    let left = tempfile::tempdir().expect("a folder");
    for (name, _) in files(folder.path()) {
        std::fs::copy(folder.path().join(&name), left.path().join(&name)).expect("a copy");
    }
    drop(writer);
    for with_shared_memory in [true, false] {
        if !with_shared_memory {
            std::fs::remove_file(left.path().join("journal.db-shm")).expect("there");
        }
        let before = files(left.path());
        let said = verified(&left.path().join("journal.db"));
        assert_eq!(said, (0, log.entries.len() as u64), "{with_shared_memory}");
        assert_eq!(files(left.path()), before);
    }
    // Without its write-ahead log the file is an older state of itself.
    std::fs::remove_file(left.path().join("journal.db-wal")).expect("there");
    assert_eq!(verified(&left.path().join("journal.db")), (0, log.entries.len() as u64 - 1));
}

#[test]
fn a_file_in_a_folder_that_cannot_be_written_is_read() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a name with % and ?.db");
    let log = log();
    log.save(&path);
    Connection::open(&path).and_then(|db| db.execute_batch("PRAGMA journal_mode = WAL")).expect("pragmas");
    let read_only = |mode| std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(mode));
    read_only(0o500).expect("mine");
    let said = verified(&path);
    read_only(0o700).expect("mine");
    assert_eq!(said, (0, log.entries.len() as u64));
}
