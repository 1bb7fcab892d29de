//! The events of a run: dense, once each, from where the client was.

use std::time::Duration;

use palyra_testkit::Script;
use serde_json::json;

use crate::calls::start;
use crate::daemon::{PATIENCE, TestDaemon};
use crate::talk::{Call, EventReader, ReadEvent};

/// The longest silence of a stream.
const HEARTBEAT: Duration = Duration::from_secs(10);

fn numbers(events: &[ReadEvent]) -> Vec<u64> {
    events.iter().filter_map(|event| event.id).collect()
}

#[tokio::test]
async fn every_entry_is_an_event_with_its_number_and_the_last_is_followed_by_the_end() {
    let daemon = TestDaemon::start().await;
    let token = daemon.token("user:alice").await;
    let run = start(&daemon, &token, "good day").await;
    let path = format!("/api/v1/runs/{run}/events");
    let events = EventReader::open(&daemon, Call::get(&path, &token)).await.rest().await;
    let tape = Call::get(&format!("/api/v1/runs/{run}/tape"), &token).send(&daemon).await.json();
    let entries = tape["entries"].as_array().unwrap();
    let shown: Vec<_> = events.iter().filter(|event| event.id.is_some()).map(ReadEvent::json).collect();
    assert_eq!(&shown, entries, "the same as by the page");
    assert_eq!(numbers(&events), (1..=entries.len() as u64).collect::<Vec<_>>());
    let last = events.last().unwrap();
    assert_eq!((last.name.as_str(), last.json()["state"].as_str()), ("end", Some("RUN_STATE_DONE")));
    assert!(events.iter().any(|event| event.name == "caught_up"));
}

#[tokio::test]
async fn a_client_that_comes_back_goes_on_after_its_last_event() {
    let daemon = TestDaemon::start().await;
    let token = daemon.token("user:alice").await;
    let run = start(&daemon, &token, "good day").await;
    let path = format!("/api/v1/runs/{run}/events");
    let all = numbers(&EventReader::open(&daemon, Call::get(&path, &token)).await.rest().await);
    for cut in 1..all.len() {
        let call = Call::get(&path, &token).with("last-event-id", &all[cut - 1].to_string());
        let rest = EventReader::open(&daemon, call).await.rest().await;
        assert_eq!(numbers(&rest), all[cut..], "after {cut}");
        let after = format!("{path}?after_tape_seq={}", all[cut - 1]);
        let rest = EventReader::open(&daemon, Call::get(&after, &token)).await.rest().await;
        assert_eq!(numbers(&rest), all[cut..], "after {cut}, by the parameter");
    }
    let last = all.last().unwrap().to_string();
    let over = Call::get(&path, &token).with("last-event-id", &last).send(&daemon).await;
    assert_eq!((over.status, over.body.as_str()), (204, ""), "a browser does not come back again");
    let asked = format!("{path}?after_tape_seq={last}");
    let end = EventReader::open(&daemon, Call::get(&asked, &token)).await.rest().await;
    assert_eq!(end.iter().map(|event| event.name.as_str()).collect::<Vec<_>>(), ["caught_up", "end"]);
    let beyond = Call::get(&path, &token).with("last-event-id", "999").send(&daemon).await;
    beyond.refused(400, "PLY-1109");
}

#[tokio::test]
async fn a_silent_stream_says_that_it_lives_and_ends_with_its_token() {
    let daemon = TestDaemon::start().await;
    let token = daemon.token("user:alice").await;
    daemon.provider.push(Script::new().hang());
    let started = Call::post("/api/v1/runs", &token, json!({ "input": "wait" })).send(&daemon).await.json();
    let path = format!("/api/v1/runs/{}/events", started["opened"]["run_id"].as_str().unwrap());
    let mut reader = EventReader::open(&daemon, Call::get(&path, &token)).await;
    let mut last = 0;
    for _ in 0..3 {
        daemon.clock.advance(HEARTBEAT);
        let heartbeat = loop {
            let event = reader.next().await.unwrap();
            last = event.id.unwrap_or(last);
            if event.name == "heartbeat" {
                break event;
            }
        };
        assert_eq!(heartbeat.json()["tape_seq"], last);
    }
    daemon.revoke().await;
    daemon.clock.advance(HEARTBEAT);
    let ended = reader.rest().await;
    let error = ended.last().unwrap();
    assert_eq!((error.name.as_str(), &error.json()["error"]["code"]), ("error", &json!("PLY-1201")));
}

#[tokio::test]
async fn the_stop_ends_a_stream_with_a_reason_and_the_run_stays() {
    let mut daemon = TestDaemon::start().await;
    let token = daemon.token("user:alice").await;
    daemon.provider.push(Script::new().hang());
    let started = Call::post("/api/v1/runs", &token, json!({ "input": "wait" })).send(&daemon).await.json();
    let path = format!("/api/v1/runs/{}/events", started["opened"]["run_id"].as_str().unwrap());
    let mut reader = EventReader::open(&daemon, Call::get(&path, &token)).await;
    while reader.next().await.unwrap().name != "caught_up" {}
    daemon.stop.cancel();
    let error = reader.rest().await.pop().unwrap();
    assert_eq!((error.name.as_str(), &error.json()["error"]["code"]), ("error", &json!("PLY-1407")));
    drop(reader);
    let served = tokio::time::timeout(PATIENCE, &mut daemon.served).await.expect("an end in time");
    served.unwrap().unwrap();
}
