//! The load: producers that append as fast as they are acknowledged, until they are killed.
//!
//! Owns what they append, so that it can be recognised afterwards.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use futures::FutureExt;
use futures::future::{BoxFuture, try_join_all};
use palyra_journal::{JournalStore, OpenOptions};
use palyra_ports::{AppendTape, Clock};
use palyra_testkit::FixedEntropy;
use palyra_testkit::journal_suite::samples::{self, SampleRun};
use palyra_types::{BootTime, Timestamp};
use rusqlite::{Connection, params};

use super::acks::AckLog;

/// Producers at once.
pub(super) const PRODUCERS: u64 = 64;
/// Entries that begin a run.
pub(super) const ENTRIES_BEFORE_TEXT: u64 = 2;
const TEXT_BYTES: usize = 200;

/// What is appended to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum LoadKind {
    /// The journal.
    Journal,
    /// Plain SQLite that does not wait for the disk (`synchronous=NORMAL`): the control that has to lose something.
    Relaxed,
}

/// A load.
#[derive(Debug, Clone)]
pub struct AppendLoad {
    /// What is appended to.
    pub kind: LoadKind,
    /// The folder on the file system that is cut.
    pub folder: PathBuf,
    /// The file of acknowledgements, elsewhere.
    pub acks: PathBuf,
    /// The folder of the journal's anchor, elsewhere too.
    pub anchor: PathBuf,
    /// Which load on this file system it is, from 0.
    pub round: u64,
}

/// Appends until it is killed, or the disk is gone.
///
/// # Errors
/// When something fails before the cut, or because of it: the caller knows which.
pub async fn load(load: &AppendLoad) -> Result<()> {
    let acks = AckLog::create(&load.acks).context("could not make the file of acknowledgements")?;
    match load.kind {
        LoadKind::Journal => journal(load, &acks).await,
        LoadKind::Relaxed => relaxed(load, &acks),
    }
}

/// Opens the journal of a folder, whose anchor is kept where no cut reaches it.
pub(super) fn open(folder: &Path, anchor: &Path) -> Result<JournalStore> {
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let entropy = FixedEntropy::new(u64::try_from(seed & u128::from(u64::MAX)).unwrap_or(0));
    let clock = Arc::new(RealClock(Instant::now()));
    let mut options = OpenOptions::new(folder.to_owned(), clock, Arc::new(entropy));
    options.anchor_dir = Some(anchor.to_owned());
    JournalStore::open(&options).context("could not open the journal")
}

/// Returns the run of a producer.
pub(super) fn run_of(round: u64, producer: u64) -> SampleRun {
    let session = samples::session(samples::principal(0), u128::from(round));
    SampleRun::new(session, round * PRODUCERS + producer)
}

/// Returns the text of a producer's entry.
pub(super) fn text_of(producer: u64, number: u64) -> String {
    format!("{producer}-{number} ").chars().cycle().take(TEXT_BYTES).collect()
}

async fn journal(load: &AppendLoad, acks: &AckLog) -> Result<()> {
    let journal = open(&load.folder, &load.anchor)?;
    ready();
    let producers = (0..PRODUCERS).map(|producer| produce(&journal, acks, load.round, producer));
    try_join_all(producers).await.map(|_| ())
}

async fn produce(journal: &JournalStore, acks: &AckLog, round: u64, producer: u64) -> Result<()> {
    let mut run = run_of(round, producer);
    journal.append(samples::append(vec![run.started("Begin."), run.requested(1)])).await?;
    acks.note(producer, ENTRIES_BEFORE_TEXT)?;
    for number in ENTRIES_BEFORE_TEXT + 1.. {
        journal.append(samples::append(vec![run.text(1, &text_of(producer, number))])).await?;
        acks.note(producer, number)?;
    }
    Ok(())
}

fn relaxed(load: &AppendLoad, acks: &AckLog) -> Result<()> {
    let connection = Connection::open(load.folder.join("plain.db"))?;
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    // A checkpoint would sync, and then the cut finds less that is not.
    connection.pragma_update_and_check(None, "wal_autocheckpoint", 0, |_| Ok(()))?;
    connection.execute_batch(
        "CREATE TABLE IF NOT EXISTS entry(seq INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT",
    )?;
    let mut insert = connection.prepare("INSERT INTO entry(body) VALUES (?1)")?;
    ready();
    loop {
        insert.execute(params![text_of(0, 0)])?;
        acks.note(0, u64::try_from(connection.last_insert_rowid())?)?;
    }
}

/// Counts what the control still holds; the table itself may be gone.
pub(super) fn relaxed_rows(folder: &Path) -> Result<u64> {
    let connection = Connection::open(folder.join("plain.db"))?;
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    if number("SELECT count(*) FROM sqlite_schema WHERE name = 'entry'")? == 0 {
        return Ok(0);
    }
    Ok(u64::try_from(number("SELECT coalesce(max(seq), 0) FROM entry")?)?)
}

/// Tells whoever started this that the load begins.
fn ready() {
    use std::io::Write;
    let mut out = std::io::stdout();
    // Nobody may be listening, which changes nothing.
    let _ = out.write_all(b"ready\n").and_then(|()| out.flush());
}

/// The time as it is.
struct RealClock(Instant);

impl Clock for RealClock {
    fn wall(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }

    fn boot(&self) -> BootTime {
        BootTime::default().after(self.0.elapsed())
    }

    fn sleep_until(&self, deadline: BootTime) -> BoxFuture<'static, ()> {
        let span: Duration = deadline.since(self.boot());
        tokio::time::sleep(span).boxed()
    }
}
