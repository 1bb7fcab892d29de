//! One sync fails; then everything that must hold until and after the next start.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use palyra_client::{Client, ClientError};
use palyra_types::ErrorCode;

use crate::acknowledged::{AcknowledgedRuns, RunProgress, start};
use crate::crash::Lab;
use crate::strace::{CallRecording, DATABASE_SYNC, FILE_SYNC, InjectedFault, Selector, StraceTracer};
use crate::test_home::{StartOutcome, TestHome};
use crate::verdict;

const PATIENCE: Duration = Duration::from_secs(90);
/// Runs that a fault is waited for.
const RUNS_MAX: usize = 80;
/// What is refused afterwards.
const REFUSALS: usize = 3;

/// Where the sync fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SyncPlace {
    /// As the daemon starts for the first time: of the database.
    Start,
    /// At that time: of keys, locks, folders.
    StartBeside,
    /// As a group of entries is committed.
    Commit,
    /// As the write-ahead log is copied into the database.
    Checkpoint,
}

/// What a failing sync led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SyncOutcome {
    pub(super) effect: Effect,
    /// Entries that had been shown.
    pub(super) entries: usize,
    /// How long the next start took, with its repair.
    pub(super) repaired_after: Duration,
}

/// What a failing sync led to at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// The journal is quarantined.
    Quarantined,
    /// The daemon does not start.
    Refused,
    /// The daemon serves all the same: it repaired the journal as it started, or nothing hung on that sync.
    Serving,
    /// Nothing: there were fewer syncs.
    None,
}

/// Lets the `when`-th sync at a place fail.
pub(super) async fn carry_out(lab: &Lab, place: SyncPlace, when: usize) -> Result<SyncOutcome> {
    let carried = match place {
        SyncPlace::Start => tokio::time::timeout(PATIENCE, at_start(lab, DATABASE_SYNC, when)).await,
        SyncPlace::StartBeside => tokio::time::timeout(PATIENCE, at_start(lab, FILE_SYNC, when)).await,
        SyncPlace::Commit | SyncPlace::Checkpoint => {
            tokio::time::timeout(PATIENCE, while_serving(lab, place, when)).await
        }
    };
    carried.context("something that must happen does not")?
}

async fn while_serving(lab: &Lab, place: SyncPlace, when: usize) -> Result<SyncOutcome> {
    let house = lab.empty_house()?;
    let (daemon, client, _) = house.serve(&lab.programs).await?;
    if place == SyncPlace::Checkpoint {
        lab.near_checkpoint(&house).await?;
    }
    let file = if place == SyncPlace::Checkpoint { "journal.db" } else { "journal.db-wal" };
    let path = Some(house.state().join(file).display().to_string());
    let selector = Selector { kind: DATABASE_SYNC.to_owned(), path, when };
    let log = lab.path("fault.log");
    let attached =
        StraceTracer::injecting(&log, selector, InjectedFault::InputOutputError).attach(daemon.pid).await?;
    let mut acknowledged = AcknowledgedRuns::default();
    let mut runs = 0..RUNS_MAX;
    loop {
        let Some(number) = runs.next() else { bail!("{RUNS_MAX} runs made no {when}-th sync") };
        if acknowledged.run(&house, &client, &format!("key-{number}")).await? == RunProgress::Stopped {
            break;
        }
        if client.journal_status().await?.health_name() != "writable" {
            break;
        }
    }
    let health = client.journal_status().await.context("the daemon says no more how it is")?.health_name();
    ensure!(health == "quarantined", "after the failing sync the journal is {health}");
    demand_refusals(&house, &client).await?;
    daemon.stop().await?;
    attached.ended().await?;
    ensure!(CallRecording::read(&log)?.injected, "the journal is quarantined and no sync has failed");
    let repaired_after = next_start(lab, &house, &acknowledged).await?;
    Ok(SyncOutcome { effect: Effect::Quarantined, entries: acknowledged.entries(), repaired_after })
}

/// Nothing is acknowledged any more, and nothing is added.
async fn demand_refusals(house: &TestHome, client: &Client) -> Result<()> {
    let before = client.journal_status().await?.entries;
    for number in 0..REFUSALS {
        match client.start_run(start(house, &format!("refused-{number}"))).await {
            Err(ClientError::Refused { code: ErrorCode::JournalQuarantined, .. }) => {}
            other => bail!("a run on a quarantined journal: {other:?}"),
        }
    }
    let after = client.journal_status().await?.entries;
    ensure!(before == after, "the quarantined journal went from {before} to {after} entries");
    Ok(())
}

async fn at_start(lab: &Lab, kind: &str, when: usize) -> Result<SyncOutcome> {
    let house = lab.empty_house()?;
    let log = lab.path("fault.log");
    let selector = Selector { kind: kind.to_owned(), path: None, when };
    let tracer = StraceTracer::injecting(&log, selector, InjectedFault::InputOutputError);
    let started = house.start(&lab.programs, &tracer.words()).await?;
    let effect = match started {
        StartOutcome::Killed => bail!("the daemon died without a word"),
        StartOutcome::Refused(line) => {
            let said: serde_json::Value = serde_json::from_str(&line).context("the refusal is no JSON")?;
            ensure!(
                said["code"].as_str().is_some_and(|code| code.starts_with("PLY-")),
                "a refusal without code: {line}"
            );
            ensure!(
                CallRecording::read(&log)?.injected,
                "the daemon does not start, and no sync has failed: {line}"
            );
            Effect::Refused
        }
        StartOutcome::Serving(daemon) => {
            // Looked at before anything else is done: strace would let the same sync of other threads fail, too.
            let injected = CallRecording::read(&log)?.injected;
            daemon.kill().await?;
            if injected { Effect::Serving } else { Effect::None }
        }
    };
    let repaired_after = next_start(lab, &house, &AcknowledgedRuns::default()).await?;
    Ok(SyncOutcome { effect, entries: 0, repaired_after })
}

/// The next daemon serves, knows everything, and goes on.
async fn next_start(lab: &Lab, house: &TestHome, acknowledged: &AcknowledgedRuns) -> Result<Duration> {
    let begun = Instant::now();
    let (daemon, client, _) = house.serve(&lab.programs).await.context("the next start")?;
    let took = begun.elapsed();
    acknowledged.demand_all(&client).await?;
    let mut again = AcknowledgedRuns::default();
    ensure!(
        again.run(house, &client, "afterwards").await? == RunProgress::Ended,
        "a run after the repair does not end"
    );
    for (run, _) in &acknowledged.0 {
        lab.to_its_end(house, *run).await.with_context(|| format!("run {run}, after the repair"))?;
    }
    verdict::check_house(house, &client, &[]).await?;
    daemon.kill().await?;
    Ok(took)
}
