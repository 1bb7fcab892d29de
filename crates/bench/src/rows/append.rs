//! Durable appends through the journal's port, beside plain SQLite in groups of the same size.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use futures::future::try_join_all;
use palyra_journal::{JournalStore, OpenOptions};
use palyra_ports::AppendTape;
use palyra_ports::maintain_journal::MaintainJournal;
use palyra_testkit::journal_suite::samples::{self, SampleRun};
use palyra_testkit::{FakeClock, FixedEntropy};
use rusqlite::{Connection, params};

use crate::lab::Lab;
use crate::measure::figure::{BenchFigure, FigureGoal, Unit};
use crate::measure::samples::{BetterDirection, SampleSet};

pub(super) const NAME: &str = "append";

const PRODUCERS: usize = 64;
const ENTRY_BYTES: usize = 600;
/// Pages of the write-ahead log after which plain SQLite checkpoints: as late as the journal does when busy.
const CHECKPOINT_PAGES: u32 = 4_096;

/// Returns the options of a journal in a folder, whose clock and chance are made up.
pub(super) fn options(state_dir: &Path) -> OpenOptions {
    OpenOptions::new(state_dir.to_owned(), Arc::new(FakeClock::new()), Arc::new(FixedEntropy::new(1)))
}

pub(super) async fn measure(lab: &Lab) -> anyhow::Result<Vec<BenchFigure>> {
    let folder = lab.fresh()?;
    let journal = JournalStore::open(&options(&folder.path().join("state")))?;
    let plain = open_plain(&folder.path().join("plain.db"))?;
    let mut runs = Vec::new();
    for at in 0..PRODUCERS {
        let mut run = SampleRun::new(samples::session(samples::principal(0), 0), at as u64);
        journal.append(samples::append(vec![run.started("Begin."), run.requested(1)])).await?;
        runs.push(run);
    }
    let text = text_of_an_entry(&journal, &mut runs[0]).await?;
    let each = lab.effort.of(4, 40, 250);
    let rate = || SampleSet::new(BetterDirection::Higher);
    let (mut ours, mut least, mut ratios, mut groups) = (rate(), rate(), rate(), rate());
    for _ in 0..lab.effort.of(1, 4, 10) {
        let before = journal.status();
        let begun = Instant::now();
        try_join_all(runs.iter_mut().map(|run| producer(&journal, run, &text, each))).await?;
        let took = begun.elapsed().as_secs_f64();
        let after = journal.status();
        let entries = after.entries - before.entries;
        let group = (entries / (after.commits - before.commits).max(1)).max(1);
        let plain_took = write_plain(&plain, entries, group)?;
        let (mine, other) = (as_f64(entries) / took, as_f64(entries) / plain_took);
        ours.push(mine);
        least.push(other);
        ratios.push(mine / other);
        groups.push(as_f64(group));
    }
    let what = format!("durable chained append, {PRODUCERS} producers, {ENTRY_BYTES}-byte entries");
    let figure = BenchFigure::new(NAME, what, Unit::PerSecond, ours.summary())
        .beside("plain SQLite", least.summary())
        .ratio(ratios.median())
        .goal(FigureGoal::RatioAtLeast(0.7))
        .note(format!(
            "groups of {:.0}, chain and projections on, no tree and no signatures yet",
            groups.median()
        ));
    journal.close().await;
    Ok(vec![figure])
}

async fn producer(
    journal: &JournalStore,
    run: &mut SampleRun,
    text: &str,
    each: usize,
) -> anyhow::Result<()> {
    for _ in 0..each {
        journal.append(samples::append(vec![run.text(1, text)])).await?;
    }
    Ok(())
}

/// Returns a text whose entry has the wanted size in the database: envelope, salt and payload.
async fn text_of_an_entry(journal: &JournalStore, run: &mut SampleRun) -> anyhow::Result<String> {
    let before = journal.status().bytes;
    journal.append(samples::append(vec![run.text(1, "")])).await?;
    let around = usize::try_from(journal.status().bytes - before)?;
    Ok("The gateway writes each entry down before showing it. "
        .chars()
        .cycle()
        .take(ENTRY_BYTES - around)
        .collect())
}

fn open_plain(database: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(database)?;
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update_and_check(None, "wal_autocheckpoint", CHECKPOINT_PAGES, |_| Ok(()))?;
    connection.execute_batch("CREATE TABLE entry(seq INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT")?;
    Ok(connection)
}

/// Writes rows in groups and returns the seconds it took.
fn write_plain(connection: &Connection, rows: u64, group: u64) -> rusqlite::Result<f64> {
    let body = vec![7_u8; ENTRY_BYTES];
    let mut insert = connection.prepare("INSERT INTO entry(body) VALUES (?1)")?;
    let mut begin = connection.prepare("BEGIN IMMEDIATE")?;
    let mut commit = connection.prepare("COMMIT")?;
    let begun = Instant::now();
    let mut left = rows;
    while left > 0 {
        begin.execute([])?;
        for _ in 0..group.min(left) {
            insert.execute(params![body])?;
        }
        commit.execute([])?;
        left -= group.min(left);
    }
    Ok(begun.elapsed().as_secs_f64())
}

#[expect(clippy::cast_precision_loss, reason = "counts of a measurement stay far below 2^52")]
pub(crate) fn as_f64(count: u64) -> f64 {
    count as f64
}
