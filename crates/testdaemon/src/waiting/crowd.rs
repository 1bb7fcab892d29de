//! Runs that wait, and how they are found again.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};
use futures::stream::{self, StreamExt, TryStreamExt};
use palyra_client::{Client, FollowEvent, RunFollower};
use palyra_model_server::{Behaviour, ModelServer, Reply};
use palyra_wire::v1::tape_entry::Event;
use palyra_wire::v1::{
    Approval, ApprovalDecision, ApprovalState, ListApprovalsRequest, ResolveApprovalRequest, StartRunRequest,
};
use serde_json::{Value, json};

use crate::test_home::TestHome;

/// Clients at once.
const CLIENTS: usize = 32;
/// Runs that one client follows and leaves, one after the other.
const RUNS_OF_A_CLIENT: usize = 500;
/// The most that a page of approvals holds.
const PAGE_SIZE: u32 = 500;

/// Starts the model's server: it writes the file that the input names, and then it is done.
///
/// # Errors
/// When no port can be had.
pub(super) async fn model_server() -> std::io::Result<ModelServer> {
    ModelServer::start(Behaviour::by(reply)).await
}

fn reply(body: &Value) -> Reply {
    let last = body["messages"].as_array().and_then(|messages| messages.last()).unwrap_or(&Value::Null);
    match (last["role"].as_str(), last["content"].as_str()) {
        (Some("user"), Some(name)) => {
            Reply::empty().call("write_file", &json!({ "path": name, "content": name }).to_string())
        }
        _ => Reply::text("That is that."),
    }
}

/// Starts runs until so many wait, each in a session of its own; returns their approvals with the file of each.
///
/// # Errors
/// When a run does something else.
pub(super) async fn gather(house: &TestHome, runs: usize) -> Result<BTreeMap<String, String>> {
    let root = house.work().display().to_string();
    let groups = (0..runs).step_by(RUNS_OF_A_CLIENT).map(|first| {
        let root = &root;
        async move {
            let client = house.client().await.context("a client")?;
            let mut asked = Vec::new();
            for number in first..runs.min(first + RUNS_OF_A_CLIENT) {
                asked.push(submit_until_parked(&client, root, format!("answer-{number}.txt")).await?);
            }
            anyhow::Ok(asked)
        }
    });
    let asked: Vec<Vec<_>> = stream::iter(groups).buffer_unordered(CLIENTS).try_collect().await?;
    let all: BTreeMap<_, _> = asked.into_iter().flatten().collect();
    ensure!(all.len() == runs, "{} approvals of {runs} runs", all.len());
    Ok(all)
}

/// Starts a run and follows it until it asks; returns the approval, and the file that would be written.
async fn submit_until_parked(client: &Client, root: &str, name: String) -> Result<(String, String)> {
    let start = StartRunRequest {
        input: name.clone(),
        workspace_root: root.to_owned(),
        ..StartRunRequest::default()
    };
    let mut follower = RunFollower::start(client, start);
    loop {
        match follower.next().await.context("a tape")? {
            Some(FollowEvent::Entry(entry)) => {
                if let Some(Event::ApprovalRequested(asked)) = entry.event {
                    return Ok((asked.approval_id, name));
                }
            }
            Some(FollowEvent::Ended(end)) => bail!("a run ends without asking: {end:?}"),
            Some(_) => {}
            None => bail!("a tape ended without its end"),
        }
    }
}

/// Returns a page of approvals that wait, as `palyra approve list` asks for it.
///
/// # Errors
/// When the daemon does not say.
pub(super) async fn page(client: &Client, token: String) -> Result<(Vec<Approval>, String)> {
    let request = ListApprovalsRequest { page_size: PAGE_SIZE, page_token: token, ..Default::default() };
    let page = client.call(request).await.context("could not list approvals")?;
    Ok((page.approvals, page.next_page_token))
}

/// Demands that exactly these approvals wait.
///
/// # Errors
/// When one is missing, or there is another.
pub(super) async fn demand_all(client: &Client, due: &BTreeMap<String, String>) -> Result<()> {
    let (mut found, mut token) = (0, String::new());
    loop {
        let (approvals, next) = page(client, token).await?;
        for approval in &approvals {
            let waits = approval.state() == ApprovalState::Pending && due.contains_key(&approval.approval_id);
            ensure!(waits, "{} is not one that waits: {:?}", approval.approval_id, approval.state());
        }
        found += approvals.len();
        if next.is_empty() {
            ensure!(found == due.len(), "{found} wait of {}", due.len());
            return Ok(());
        }
        token = next;
    }
}

/// An approval that waits, and the name of the file that its call writes.
pub(super) struct WaitingWrite<'a> {
    pub(super) approval: &'a str,
    pub(super) name: &'a str,
}

/// Says yes to an approval and waits for the file that its call writes; follows the run to its end.
///
/// # Errors
/// When it does not run once, or ends otherwise.
pub(super) async fn approve(
    house: &TestHome,
    client: &Client,
    WaitingWrite { approval, name }: WaitingWrite<'_>,
) -> Result<()> {
    let request = ResolveApprovalRequest {
        approval_id: approval.to_owned(),
        decision: ApprovalDecision::Approve.into(),
        ..ResolveApprovalRequest::default()
    };
    let answer = client.call(request).await.context("could not say yes")?;
    let run = answer.approval.context("no approval came back")?.run_id;
    let run = run.parse().ok().context("a run's id is none")?;
    let mut follower = RunFollower::attach(client, run, 0);
    let mut starts = 0;
    while let Some(event) = follower.next().await.context("a tape")? {
        if let FollowEvent::Entry(entry) = event {
            starts += usize::from(matches!(entry.event, Some(Event::ToolStarted(_))));
        }
    }
    ensure!(starts == 1, "the call was started {starts} times");
    let written = std::fs::read_to_string(house.work().join(name)).context("no file after a yes")?;
    ensure!(written == name, "the file holds something else");
    Ok(())
}
