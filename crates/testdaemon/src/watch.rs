//! Clients that follow runs through every restart.
//!
//! Owns what they saw. Where a run waits because nobody knows an outcome, the first client looks that it does,
//! and cancels it: a person would have to decide.

use anyhow::{Context, Result, ensure};
use palyra_client::{Client, FollowEvent, RunFollower};
use palyra_types::RunId;
use palyra_wire::v1::tape_entry::Event;
use palyra_wire::v1::{StartRunRequest, StreamEnd, TapeEntry};
use tokio::sync::watch;

use crate::test_home::TestHome;

/// Clients of one run.
const OTHERS: usize = 2;

/// What clients saw of one run, each from its first entry to its end.
#[derive(Debug, Clone, PartialEq)]
pub struct WatchedRun {
    /// The run.
    pub run: RunId,
    /// By client.
    pub seen: Vec<Vec<TapeEntry>>,
    /// By client.
    pub ends: Vec<StreamEnd>,
}

/// Tells that a daemon serves, by counting those that did.
pub type ServingReceiver = watch::Receiver<u32>;

/// Starts a run and follows it to its end with three clients.
///
/// # Errors
/// When a client sees something that it must not.
pub async fn start_and_watch(
    house: &TestHome,
    serving: ServingReceiver,
    input: &str,
    key: &str,
) -> Result<WatchedRun> {
    let client = connect(house, serving).await?;
    let start = StartRunRequest {
        input: input.to_owned(),
        idempotency_key: key.to_owned(),
        workspace_root: house.work().display().to_string(),
        ..StartRunRequest::default()
    };
    let first = RunFollower::start(&client, start);
    watch_with(&client, first).await
}

/// Follows a run that there is already to its end with three clients.
///
/// # Errors
/// When a client sees something that it must not.
pub async fn attach_and_watch(house: &TestHome, serving: ServingReceiver, run: RunId) -> Result<WatchedRun> {
    let client = connect(house, serving).await?;
    let first = RunFollower::attach(&client, run, 0);
    watch_with(&client, first).await
}

/// Connects as soon as a daemon serves.
pub(crate) async fn connect(house: &TestHome, mut serving: ServingReceiver) -> Result<Client> {
    loop {
        serving.borrow_and_update();
        match house.client().await {
            Ok(client) => return Ok(client),
            Err(error) if error.is_unreachable() => {
                serving.changed().await.context("no daemon will serve any more")?;
            }
            Err(error) => return Err(error).context("could not connect"),
        }
    }
}

async fn watch_with(client: &Client, mut first: RunFollower) -> Result<WatchedRun> {
    let (mut entries, mut others) = (Vec::new(), Vec::new());
    loop {
        let event = first.next().await.context("the first client's tape")?;
        if others.is_empty()
            && let Some(run) = first.run()
        {
            let follow = |_| tokio::spawn(to_the_end(RunFollower::attach(client, run, 0)));
            others = (0..OTHERS).map(follow).collect();
        }
        match event.context("a tape ended without its end")? {
            FollowEvent::Entry(entry) => {
                if matches!(entry.event, Some(Event::ToolOutcomeUnknown(_))) {
                    demand_waiting(client, first.run()).await?;
                    first.request_cancel();
                }
                entries.push(*entry);
            }
            FollowEvent::Ended(end) => {
                let run = first.run().context("a run without a name ended")?;
                let (mut seen, mut ends) = (vec![entries], vec![end]);
                for other in others {
                    let (entries, end) = other.await.context("another client")??;
                    seen.push(entries);
                    ends.push(end);
                }
                return Ok(WatchedRun { run, seen, ends });
            }
            _ => {}
        }
    }
}

/// A run whose tool may or may not have acted waits for a person.
async fn demand_waiting(client: &Client, run: Option<RunId>) -> Result<()> {
    let run = run.context("a run without a name waits")?;
    match client.get_run(run).await {
        Ok(run) => {
            let is = (run.phase_name(), run.waiting_for_name());
            ensure!(
                (is.0 == "waiting") && (is.1 == "outcome_unknown"),
                "after an unknown outcome the run is {is:?}"
            );
            Ok(())
        }
        // The fault may come just now; the tape says the same.
        Err(error) if error.is_unreachable() => Ok(()),
        Err(error) => Err(error).context("could not look at a run that waits"),
    }
}

async fn to_the_end(mut follower: RunFollower) -> Result<(Vec<TapeEntry>, StreamEnd)> {
    let mut entries = Vec::new();
    loop {
        match follower
            .next()
            .await
            .context("another client's tape")?
            .context("a tape ended without its end")?
        {
            FollowEvent::Entry(entry) => entries.push(*entry),
            FollowEvent::Ended(end) => return Ok((entries, end)),
            _ => {}
        }
    }
}
