//! Many clients speak into one session while its daemon is killed: each input is taken once, runs come one at a time.

use std::collections::BTreeMap;
use std::sync::Arc;

use palyra_client::{Client, FollowEvent, RunFollower};
use palyra_types::{ErrorCode, SessionId};
use palyra_wire::v1;
use palyra_wire::v1::tape_entry::Event;
use rustix::process::{Signal, kill_process};
use tokio::sync::watch;

use crate::home::{Home, until_ended};

const CLIENTS: usize = 8;
const INPUTS_PER_CLIENT: usize = 6;
/// The daemon is killed when so many inputs have their receipt.
const KILLED_AT: [usize; 2] = [10, 30];

/// Says one client's inputs, each again and again under one key until it has its receipt: text and run.
async fn speak(
    home: Arc<Home>,
    number: usize,
    session: SessionId,
    receipts: Arc<watch::Sender<usize>>,
) -> Vec<(String, String)> {
    let mut client = home.client().await;
    let mut said = Vec::new();
    for at in 0..INPUTS_PER_CLIENT {
        let input = format!("[pace=1] hello from {number}, for the time {at}");
        let delivery = match (number + at) % 4 {
            0 => v1::InputDelivery::Steer,
            1 if at % 2 == 0 => v1::InputDelivery::Interrupt,
            _ => v1::InputDelivery::Queue,
        };
        let start = v1::StartRunRequest {
            session: Some(v1::SessionSelector {
                session_id: session.to_string(),
                ..v1::SessionSelector::default()
            }),
            input: input.clone(),
            idempotency_key: format!("{number}-{at}"),
            delivery: delivery.into(),
            ..v1::StartRunRequest::default()
        };
        let run = loop {
            match client.start_run(start.clone()).await {
                Ok(opened) => break opened.run_id,
                Err(error) if error.is_unreachable() => client = home.client().await,
                Err(error) => assert!(
                    matches!(
                        error.code(),
                        ErrorCode::QueueFull | ErrorCode::WriteUnknown | ErrorCode::Fenced
                    ),
                    "{error}"
                ),
            }
        };
        said.push((input, run));
        receipts.send_modify(|receipts| *receipts += 1);
    }
    said
}

/// Follows whatever is open until nothing is.
async fn until_at_rest(client: &Client) {
    loop {
        let open = v1::ListRunsRequest { only: v1::RunFilter::Open.into(), ..v1::ListRunsRequest::default() };
        let runs = client.call(open).await.unwrap().runs;
        let Some(run) = runs.first() else { return };
        let mut follower = RunFollower::attach(client, run.run_id.parse().unwrap(), 0);
        while let Some(event) = follower.next().await.unwrap() {
            if matches!(event, FollowEvent::Ended(_)) {
                break;
            }
        }
    }
}

async fn story(client: &Client, session: SessionId) -> Vec<v1::TapeEntry> {
    let mut entries: Vec<v1::TapeEntry> = Vec::new();
    loop {
        let after = entries.last().map(|entry| entry.seq);
        let page = client.read_session_tape(session, after, 0).await.unwrap();
        entries.extend(page.entries);
        if !page.more {
            return entries;
        }
    }
}

fn check(story: &[v1::TapeEntry], receipts: &[(String, String)]) {
    let mut said: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut last: BTreeMap<&str, u32> = BTreeMap::new();
    let mut active: Option<&str> = None;
    for entry in story {
        let number = last.entry(&entry.run_id).or_default();
        *number += 1;
        assert_eq!(entry.tape_seq, *number, "the numbers of a tape are dense");
        match entry.event.as_ref().unwrap() {
            Event::RunStarted(started) => said.entry(&started.input).or_default().push(&entry.run_id),
            Event::InputReceived(received) => said.entry(&received.input).or_default().push(&entry.run_id),
            Event::ModelRequested(_) => {
                assert!(active.is_none_or(|active| active == entry.run_id), "two runs at once");
                active = Some(&entry.run_id);
            }
            Event::RunFinished(finished) => {
                assert!(
                    matches!(finished.reason_name().as_ref(), "final_answer" | "interrupted"),
                    "{finished:?}"
                );
                active = active.filter(|active| *active != entry.run_id);
            }
            _ => {}
        }
    }
    assert_eq!(said.len(), receipts.len());
    for (text, run) in receipts {
        assert_eq!(said[text.as_str()], [run.as_str()], "{text}");
    }
}

#[test]
fn inputs_of_many_clients_outlive_kills_of_the_daemon_each_once() {
    let home = Arc::new(Home::new());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let opened = home.client().await.call(v1::ResolveSessionRequest::default()).await.unwrap();
        let session: SessionId = opened.session.unwrap().session_id.parse().unwrap();
        let receipts = Arc::new(watch::Sender::new(0));
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| tokio::spawn(speak(Arc::clone(&home), number, session, Arc::clone(&receipts))))
            .collect();
        for wanted in KILLED_AT {
            receipts.subscribe().wait_for(|receipts| *receipts >= wanted).await.unwrap();
            // One that is still starting is not killed: the client that starts it would learn that, and no other.
            drop(home.client().await);
            let daemon = home.daemon_pid();
            kill_process(daemon, Signal::KILL).unwrap();
            tokio::task::spawn_blocking(move || until_ended(daemon)).await.unwrap();
        }
        let mut said = Vec::new();
        for client in clients {
            said.extend(client.await.unwrap());
        }
        assert_eq!(said.len(), CLIENTS * INPUTS_PER_CLIENT);
        let client = home.client().await;
        until_at_rest(&client).await;
        check(&story(&client, session).await, &said);
    });
}
