//! What runs leave in the real database file: pages, entries, rows, commits.
//!
//! Pages are counted in the database as a reader sees it, indexes and room inside pages included.

use std::path::Path;
use std::time::Duration;

use futures::future::try_join_all;
use palyra_wire::v1::GetJournalStatusResponse;
use rusqlite::{Connection, OpenFlags};

use super::append::as_f64;
use crate::lab::Lab;
use crate::measure::figure::{BenchFigure, FigureGoal, Unit};
use crate::measure::samples::{SampleSet, SampleSummary};
use crate::model::directive::AnswerDirective;
use crate::process::daemon::{DaemonProcess, SessionClient};

pub(super) const NAME: &str = "database";
pub(super) const THOUSAND_NAME: &str = "thousand-tokens";

const RUNS_PER_SESSION: usize = 10;

/// What a number of runs left behind, and when their first text came.
struct DatabaseUsage {
    runs: f64,
    pages_bytes: f64,
    before: GetJournalStatusResponse,
    after: GetJournalStatusResponse,
    first: SampleSet,
}

pub(super) async fn measure(lab: &Lab) -> anyhow::Result<Vec<BenchFigure>> {
    let folder = lab.fresh()?;
    let daemon = lab.daemon(folder.path()).await?;
    // Both pieces of this answer go into commits of their own, as those of a real model do.
    let text = AnswerDirective::paced(Duration::ZERO, 2, Duration::from_millis(5));
    let text = left(&daemon, &text, lab.effort.of(2, 10, 50), lab.effort.of(1, 10, 20)).await?;
    let paced = AnswerDirective::paced(
        Duration::from_millis(20),
        lab.effort.of(4, 64, 64),
        Duration::from_millis(10),
    );
    let streamed = left(&daemon, &paced, lab.effort.of(2, 20, 50), lab.effort.of(1, 1, 4)).await?;
    let per_run = |left: &DatabaseUsage, field: fn(&GetJournalStatusResponse) -> u64| {
        SampleSummary::single(as_f64(field(&left.after) - field(&left.before)) / left.runs)
    };
    let bytes = |left: &DatabaseUsage, what, most| {
        let said = per_run(left, |status| status.bytes).p50;
        BenchFigure::new(NAME, what, Unit::Bytes, SampleSummary::single(left.pages_bytes / left.runs))
            .goal(FigureGoal::AtMost(most))
            .note(format!("{said:.0} B of them envelopes, payloads and chunks; {} runs", left.runs))
    };
    let count = |what, field, most| {
        BenchFigure::new(NAME, what, Unit::Count, per_run(&text, field)).goal(FigureGoal::AtMost(most))
    };
    Ok(vec![
        bytes(&text, "database bytes of a text run", 4_096.0),
        count("entries of a text run", |status| status.entries, 6.0),
        count("row writes of a text run", |status| status.rows, 22.0),
        count("commits of a text run", |status| status.commits, 3.0)
            .note("runs were at work side by side, so that some shared a commit"),
        bytes(&streamed, "database bytes of a run with 64 streamed tokens", 10_240.0),
    ])
}

pub(super) async fn measure_thousand(lab: &Lab) -> anyhow::Result<Vec<BenchFigure>> {
    let folder = lab.fresh()?;
    let daemon = lab.daemon(folder.path()).await?;
    let tokens = lab.effort.of(20, 500, 1_000);
    let directive = AnswerDirective::paced(Duration::from_millis(20), tokens, Duration::from_millis(20));
    let left = left(&daemon, &directive, lab.effort.of(1, 4, 4), 1).await?;
    let entries = as_f64(left.after.entries - left.before.entries) / left.runs;
    let what = format!("database bytes of an answer of {tokens} tokens at 50/s");
    let figure = BenchFigure::new(
        THOUSAND_NAME,
        what,
        Unit::Bytes,
        SampleSummary::single(left.pages_bytes / left.runs),
    )
    .goal(FigureGoal::AtMost(65_536.0))
    .note(format!("{entries:.0} entries per run"));
    let first = BenchFigure::new(
        THOUSAND_NAME,
        "its first text, of a model that takes 20 ms",
        Unit::Ms,
        left.first.summary(),
    );
    Ok(vec![figure, first.goal(FigureGoal::AtMost(30.0))])
}

/// Lets `width` sessions ask a question `times` times each.
async fn left(
    daemon: &DaemonProcess,
    directive: &AnswerDirective,
    width: usize,
    times: usize,
) -> anyhow::Result<DatabaseUsage> {
    let sessions_each = times.div_ceil(RUNS_PER_SESSION);
    let mut seats: Vec<Vec<SessionClient>> = Vec::new();
    for _ in 0..width {
        let mut own = Vec::new();
        for _ in 0..sessions_each {
            own.push(daemon.seat().await?);
        }
        seats.push(own);
    }
    // The texts that are stored once are stored.
    daemon.seat().await?.ask(&AnswerDirective::AT_ONCE).await?;
    let before = daemon.client.journal_status().await?;
    let pages_before = pages_bytes(&daemon.home.database())?;
    let slots = seats.iter().map(|own| async move {
        let mut firsts = Vec::new();
        for at in 0..times {
            firsts.push(own[at / RUNS_PER_SESSION].ask(directive).await?.first);
        }
        anyhow::Ok(firsts)
    });
    let mut first = SampleSet::times();
    for span in try_join_all(slots).await?.into_iter().flatten() {
        first.push_time(span);
    }
    let after = daemon.client.journal_status().await?;
    let pages_bytes = pages_bytes(&daemon.home.database())? - pages_before;
    let runs = as_f64((width * times) as u64);
    Ok(DatabaseUsage { runs, pages_bytes, before, after, first })
}

/// Returns the bytes of all pages in use, as a reader sees them now.
fn pages_bytes(database: &Path) -> anyhow::Result<f64> {
    let connection = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, u32>(0));
    let used = pragma("page_count")?.saturating_sub(pragma("freelist_count")?);
    Ok(f64::from(used) * f64::from(pragma("page_size")?))
}
