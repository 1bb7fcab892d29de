//! One filling of the disk, and everything that must hold while it is full and afterwards.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use palyra_client::{Client, ClientError, FollowEvent, RunFollower};
use palyra_types::{ErrorCode, RunId};
use palyra_wire::v1::{RunState, StartRunRequest};

use super::ballast::SmallDisk;
use crate::acknowledged::{AcknowledgedRuns, start};
use crate::crash::Lab;
use crate::script::{ENDLESS_INPUT, INPUT};
use crate::test_home::{DaemonChild, TestHome};
use crate::verdict;

const PATIENCE: Duration = Duration::from_secs(90);
/// Large inputs after which the disk must be full: its size and the log's, and as much again.
const INPUTS_MAX: usize = 100;
const INPUT_BYTES: usize = 400_000;
/// Full service is back within this once there is space again: a promise of the product.
const SERVICE_WITHIN: Duration = Duration::from_secs(1);
/// Between two looks at a state that nobody announces.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Whether the daemon is killed while the disk is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DaemonFate {
    Nothing,
    Killed,
}

/// What was seen.
#[derive(Debug, Clone, Copy)]
pub(super) struct DiskOutcome {
    pub(super) entries: usize,
    /// From the space's return to the first run that is taken.
    pub(super) service_after: Duration,
}

/// Fills the disk but for `free_bytes`, then writes until nothing new is taken.
pub(super) async fn carry_out(lab: &Lab, free_bytes: u64, meanwhile: DaemonFate) -> Result<DiskOutcome> {
    let house = lab.empty_house()?;
    let disk = SmallDisk::mount(&house.state()).await?;
    let lived = tokio::time::timeout(PATIENCE, live(lab, &house, &disk, free_bytes, meanwhile)).await;
    let lived = lived.context("something that must happen does not").flatten();
    let unmounted = disk.unmount().await;
    let seen = lived?;
    unmounted.map(|()| seen)
}

async fn live(
    lab: &Lab,
    house: &TestHome,
    disk: &SmallDisk,
    free_bytes: u64,
    meanwhile: DaemonFate,
) -> Result<DiskOutcome> {
    let (mut daemon, mut client, _) = house.serve(&lab.programs).await?;
    let mut acknowledged = AcknowledgedRuns::default();
    acknowledged.run(house, &client, "before").await?;
    let endless = begin_endless(house, &client).await?;
    disk.fill_but(free_bytes)?;
    let taken = fill_up(house, &client, &mut acknowledged).await?;
    if meanwhile == DaemonFate::Killed {
        daemon.kill().await?;
        (daemon, client) = start_on_full_disk(lab, house, disk).await?;
        acknowledged.demand_all(&client).await.context("on the full disk")?;
    }
    demand_ending(&client, endless).await.context("an ending on the full disk")?;
    disk.empty()?;
    let service_after = until_service(house, &client).await?;
    ensure!(service_after <= SERVICE_WITHIN, "full service after {} ms", service_after.as_millis());
    for run in &taken {
        lab.to_its_end(house, *run).await.with_context(|| format!("run {run}, once there was space"))?;
    }
    acknowledged.demand_all(&client).await?;
    verdict::check_house(house, &client, &[]).await?;
    daemon.kill().await?;
    Ok(DiskOutcome { entries: acknowledged.entries(), service_after })
}

/// Starts a run whose model never answers, and returns it once the model was asked.
pub(super) async fn begin_endless(house: &TestHome, client: &Client) -> Result<RunId> {
    let request = StartRunRequest { input: ENDLESS_INPUT.to_owned(), ..start(house, "endless") };
    let mut follower = RunFollower::start(client, request);
    loop {
        match follower.next().await?.context("the endless run ended")? {
            FollowEvent::Entry(entry) if entry.tape_seq >= 2 => {
                return follower.run().context("a run without a name");
            }
            _ => {}
        }
    }
}

/// Starts runs with large inputs until one is refused; returns those that were taken.
async fn fill_up(
    house: &TestHome,
    client: &Client,
    acknowledged: &mut AcknowledgedRuns,
) -> Result<Vec<RunId>> {
    let mut taken = Vec::new();
    for number in 0..INPUTS_MAX {
        let input = format!("{INPUT} {}", "x".repeat(INPUT_BYTES));
        let request = StartRunRequest { input, ..start(house, &format!("large-{number}")) };
        match client.start_run(request).await {
            Ok(opened) => {
                let run = opened.run_id.parse().ok().context("a run's id is none")?;
                acknowledged.0.push((run, Vec::new()));
                taken.push(run);
            }
            Err(ClientError::Refused { code: ErrorCode::DiskFull, .. }) => {
                let health = client.journal_status().await?.health_name();
                ensure!(
                    health == "endings_only" || health == "writable",
                    "on a full disk the journal is {health}"
                );
                return Ok(taken);
            }
            Err(error) => return Err(error).context("a run on a disk that fills up"),
        }
    }
    bail!("{INPUTS_MAX} large inputs were taken, and the disk is not full")
}

/// A daemon that starts on a full disk serves, and takes nothing new.
async fn start_on_full_disk(lab: &Lab, house: &TestHome, disk: &SmallDisk) -> Result<(DaemonChild, Client)> {
    let free = disk.free_bytes()?;
    let started = house.serve(&lab.programs).await;
    let (daemon, client, _) = started.with_context(|| format!("a start with {free} bytes free"))?;
    match client.start_run(start(house, "on-a-full-disk")).await {
        // What fits is taken: the start may have moved the log into the database.
        Ok(_) | Err(ClientError::Refused { code: ErrorCode::DiskFull, .. }) => Ok((daemon, client)),
        Err(error) => Err(error).context("a run after a start on a full disk"),
    }
}

/// Cancelling is admitted, and its end is recorded.
async fn demand_ending(client: &Client, run: RunId) -> Result<()> {
    client.cancel_run(run).await.context("could not cancel")?;
    let mut follower = RunFollower::attach(client, run, 0);
    loop {
        match follower.next().await?.context("a tape without its end")? {
            FollowEvent::Ended(end) if end.state() == RunState::Cancelled => return Ok(()),
            FollowEvent::Ended(end) => bail!("the cancelled run ended {:?}", end.state()),
            _ => {}
        }
    }
}

/// Returns how long it takes until a new run is taken.
pub(super) async fn until_service(house: &TestHome, client: &Client) -> Result<Duration> {
    let since = Instant::now();
    loop {
        match client.start_run(start(house, "afterwards")).await {
            Ok(_) => return Ok(since.elapsed()),
            Err(ClientError::Refused { code: ErrorCode::DiskFull, .. }) => {
                tokio::time::sleep(LOOK_EVERY).await;
            }
            Err(error) => return Err(error).context("a run once there is space again"),
        }
    }
}
