//! The floor's one writer thread: chains and commits whatever has gathered.
//!
//! Invariant: nobody is answered before the commit returned.

use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use anyhow::Context;
use palyra_ledger::sha256;
use rusqlite::{Connection, params};
use tokio::sync::oneshot;

const ROWS_WAITING_MAX: usize = 4_096;
const GROUP_ROWS_MAX: usize = 256;
/// Size that the write-ahead log is written to beforehand, so that a commit does not make a file longer.
const WAL_RESERVE_BYTES: u32 = 8 * 1024 * 1024;
const CHECKPOINT_PAGES: u32 = 4_096;

struct PendingRows {
    rows: Vec<Vec<u8>>,
    durable: oneshot::Sender<()>,
}

/// A handle of the writer; its thread ends with the last one.
#[derive(Clone)]
pub(super) struct Writer(SyncSender<PendingRows>);

impl Writer {
    /// Starts a writer with a new database.
    pub(super) fn start(database: &Path) -> anyhow::Result<Self> {
        let connection = open(database).context("the floor's database")?;
        let (sender, waiting) = sync_channel(ROWS_WAITING_MAX);
        std::thread::Builder::new().name("floor-writer".to_owned()).spawn(move || {
            // A failed commit ends the thread, and with it everybody who waits.
            if let Err(error) = write(&connection, &waiting) {
                eprintln!("floor: {error}");
            }
        })?;
        Ok(Self(sender))
    }

    /// Begins to write rows, next to each other; resolves once they are durable.
    pub(super) fn append(&self, rows: Vec<Vec<u8>>) -> anyhow::Result<oneshot::Receiver<()>> {
        let (durable, done) = oneshot::channel();
        self.0.try_send(PendingRows { rows, durable }).context("the floor's writer is behind or gone")?;
        Ok(done)
    }
}

fn open(database: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(database)?;
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update_and_check(None, "wal_autocheckpoint", CHECKPOINT_PAGES, |_| Ok(()))?;
    connection.execute_batch(
        "CREATE TABLE entry(seq INTEGER PRIMARY KEY, hash BLOB NOT NULL, body BLOB NOT NULL) STRICT;
         CREATE TABLE reserve(filling BLOB) STRICT;",
    )?;
    connection.execute("INSERT INTO reserve(filling) VALUES (zeroblob(?1))", [WAL_RESERVE_BYTES])?;
    connection.execute_batch("DROP TABLE reserve")?;
    connection.query_row("PRAGMA wal_checkpoint(RESTART)", [], |_| Ok(()))?;
    Ok(connection)
}

fn write(connection: &Connection, waiting: &Receiver<PendingRows>) -> rusqlite::Result<()> {
    let mut begin = connection.prepare("BEGIN IMMEDIATE")?;
    let mut insert = connection.prepare("INSERT INTO entry(seq, hash, body) VALUES (?1, ?2, ?3)")?;
    let mut commit = connection.prepare("COMMIT")?;
    let (mut head, mut seq) = ([0_u8; 32], 0_i64);
    let mut group: Vec<PendingRows> = Vec::new();
    while let Ok(first) = waiting.recv() {
        group.push(first);
        let mut rows = 0;
        begin.execute([])?;
        let mut at = 0;
        loop {
            while let Some(append) = group.get(at) {
                for row in &append.rows {
                    head = sha256(&[&head[..], row].concat());
                    insert.execute(params![seq, head, row])?;
                    seq += 1;
                    rows += 1;
                }
                at += 1;
            }
            match waiting.try_recv() {
                Ok(next) if rows < GROUP_ROWS_MAX => group.push(next),
                Ok(next) => {
                    commit.execute([])?;
                    answer(&mut group);
                    begin.execute([])?;
                    group.push(next);
                    (at, rows) = (0, 0);
                }
                Err(_) => break,
            }
        }
        commit.execute([])?;
        answer(&mut group);
    }
    Ok(())
}

fn answer(group: &mut Vec<PendingRows>) {
    for append in group.drain(..) {
        // One who left does not want to know.
        let _ = append.durable.send(());
    }
}
