//! What a daemon has acknowledged, and whether a later one still knows it.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use palyra_client::{Client, ClientError, FollowEvent, RunFollower};
use palyra_types::RunId;
use palyra_wire::v1::{StartRunRequest, TapeEntry};

use crate::script::INPUT;
use crate::test_home::TestHome;
use crate::verdict;

/// Between two looks at a state that nobody announces.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Runs with what was shown of them.
#[derive(Debug, Default)]
pub(crate) struct AcknowledgedRuns(pub(crate) Vec<(RunId, Vec<TapeEntry>)>);

/// How a run went on.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RunProgress {
    /// To its end.
    Ended,
    /// The journal takes nothing more.
    Stopped,
}

impl AcknowledgedRuns {
    /// Starts a run and follows it until it has ended or the journal takes nothing more.
    pub(crate) async fn run(&mut self, house: &TestHome, client: &Client, key: &str) -> Result<RunProgress> {
        let mut follower = RunFollower::start(client, start(house, key));
        let (mut seen, mut opened) = (Vec::new(), None);
        let went = loop {
            tokio::select! {
                event = follower.next() => match event {
                    Ok(Some(FollowEvent::Entry(entry))) => seen.push(*entry),
                    Ok(Some(FollowEvent::Opened(_))) => opened = follower.run(),
                    Ok(Some(FollowEvent::Ended(_))) => break RunProgress::Ended,
                    Ok(Some(_)) => {}
                    Ok(None) | Err(_) => break RunProgress::Stopped,
                },
                health = not_writable(client) => {
                    health?;
                    break RunProgress::Stopped;
                }
            }
        };
        if let Some(run) = opened {
            self.0.push((run, seen));
        }
        Ok(went)
    }

    /// Demands that everything is still there, entry by entry.
    pub(crate) async fn demand_all(&self, client: &Client) -> Result<()> {
        for (run, seen) in &self.0 {
            let stored = verdict::tape(client, *run).await.context("an acknowledged run is lost")?;
            ensure!(!stored.is_empty(), "the acknowledged run {run} has no entry");
            ensure!(
                stored.starts_with(seen),
                "of run {run} {} entries were shown, {} are stored",
                seen.len(),
                stored.len()
            );
        }
        Ok(())
    }

    /// Returns how many entries were acknowledged: those shown, and of a run that was only taken its first.
    pub(crate) fn entries(&self) -> usize {
        self.0.iter().map(|(_, seen)| seen.len().max(1)).sum()
    }
}

/// Returns what starts a scripted run.
pub(crate) fn start(house: &TestHome, key: &str) -> StartRunRequest {
    StartRunRequest {
        input: INPUT.to_owned(),
        idempotency_key: key.to_owned(),
        workspace_root: house.work().display().to_string(),
        ..StartRunRequest::default()
    }
}

/// Resolves once the journal does not say any more that it can be written.
async fn not_writable(client: &Client) -> Result<(), ClientError> {
    loop {
        if client.journal_status().await?.health_name() != "writable" {
            return Ok(());
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}
