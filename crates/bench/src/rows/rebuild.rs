//! Entries per second of a rebuild of everything that is derived from the log, beside copying a plain SQLite table.

use std::path::Path;
use std::time::Instant;

use anyhow::Context;
use palyra_client::{Client, JournalStep};
use rusqlite::{Connection, params};

use super::append::as_f64;
use super::filled::fill_records;
use crate::lab::Lab;
use crate::measure::figure::{BenchFigure, Unit};
use crate::measure::samples::{BetterDirection, SampleSet};

pub(super) const NAME: &str = "rebuild";

const RUNS_MANY: u64 = 10_000;
const RUNS_QUICK: u64 = 1_000;
const RUNS_SMALLEST: u64 = 20;
/// Bytes of a row of the plain table: about those of an entry with its payload.
const PLAIN_ROW_BYTES: usize = 300;

pub(super) async fn measure(lab: &Lab) -> anyhow::Result<Vec<BenchFigure>> {
    let folder = lab.fresh()?;
    let home = lab.home(folder.path())?;
    fill_records(&home.state(), lab.effort.of(RUNS_SMALLEST, RUNS_QUICK, RUNS_MANY)).await?;
    let daemon = home.start(&lab.daemon_program).await?;
    let rate = || SampleSet::new(BetterDirection::Higher);
    let (mut ours, mut least, mut ratios) = (rate(), rate(), rate());
    let mut entries = 0;
    for _ in 0..lab.effort.of(1, 4, 12) {
        let begun = Instant::now();
        entries = rebuild(&daemon.client).await?;
        let mine = as_f64(entries) / begun.elapsed().as_secs_f64();
        let copied = as_f64(entries) / copy_plain(&folder.path().join("plain.db"), entries)?;
        ours.push(mine);
        least.push(copied);
        ratios.push(mine / copied);
    }
    daemon.stop().await?;
    let what = format!("entries folded per second in a rebuild of {entries} entries");
    let figure = BenchFigure::new(NAME, what, Unit::PerSecond, ours.summary())
        .beside("plain SQLite", least.summary())
        .ratio(ratios.median())
        .note(
            "plain SQLite copies as many rows from one table to another, one statement each, in one commit",
        );
    Ok(vec![figure])
}

async fn rebuild(client: &Client) -> anyhow::Result<u64> {
    let mut watch = client.rebuild_journal().await.context("the rebuild")?;
    loop {
        if let JournalStep::Done(folded) = watch.next().await? {
            return Ok(folded);
        }
    }
}

/// Reads rows of one table and writes each into another; returns the seconds it took.
fn copy_plain(database: &Path, rows: u64) -> anyhow::Result<f64> {
    drop(std::fs::remove_file(database));
    let connection = Connection::open(database)?;
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    connection.execute_batch(
        "CREATE TABLE entry(seq INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;
         CREATE TABLE derived(seq INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT; BEGIN",
    )?;
    let body = vec![7_u8; PLAIN_ROW_BYTES];
    let mut insert = connection.prepare("INSERT INTO entry(body) VALUES (?1)")?;
    for _ in 0..rows {
        insert.execute(params![body])?;
    }
    connection.execute_batch("COMMIT; BEGIN")?;
    let begun = Instant::now();
    let mut select = connection.prepare("SELECT seq, body FROM entry ORDER BY seq")?;
    let mut copy = connection.prepare("INSERT INTO derived(seq, body) VALUES (?1, ?2)")?;
    let mut found = select.query([])?;
    while let Some(row) = found.next()? {
        let (seq, body): (i64, Vec<u8>) = (row.get(0)?, row.get(1)?);
        copy.execute(params![seq, body])?;
    }
    connection.execute_batch("COMMIT")?;
    Ok(begun.elapsed().as_secs_f64())
}
