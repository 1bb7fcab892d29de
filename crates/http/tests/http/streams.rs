//! Server streams of operations: lines, or events where the client asks for them.

use std::time::Duration;

use palyra_testkit::Script;
use serde_json::{Value, json};

use crate::daemon::TestDaemon;
use crate::talk::{Call, EventReader, Wire};

/// Starts a run that waits for a person.
async fn ask(daemon: &TestDaemon, token: &str) -> String {
    daemon.provider.push(Script::new().call("change", r#"{"path":"a"}"#));
    let started =
        Call::post("/api/v1/runs", token, json!({ "input": "change it" })).send(daemon).await.json();
    started["opened"]["run_id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_watch_is_events_for_a_browser_and_lines_for_a_script() {
    let daemon = TestDaemon::start().await;
    let token = daemon.token("user:alice").await;
    let call = Call::get("/api/v1/approvals-watch", &token).with("accept", "text/event-stream");
    let mut events = EventReader::open(&daemon, call).await;
    let mut lines = Wire::open(daemon.address).await;
    lines.send(&Call::get("/api/v1/approvals-watch", &token).text(daemon.address)).await;
    let (status, head) = lines.head().await.unwrap();
    assert!(status == 200 && head.contains("content-type: application/x-ndjson"), "{head}");
    let run = ask(&daemon, &token).await;
    let named = |event: &Value| event.to_string().contains(&run);
    loop {
        let event = events.next().await.unwrap();
        if named(&event.json()) {
            break;
        }
    }
    loop {
        let line = lines.chunk().await.unwrap();
        if named(&serde_json::from_slice(&line).unwrap()) {
            break;
        }
    }
}

#[tokio::test]
async fn a_watch_ends_with_a_last_line_that_is_the_refusal() {
    let daemon = TestDaemon::start().await;
    let token = daemon.token("user:alice").await;
    let mut lines = Wire::open(daemon.address).await;
    lines.send(&Call::get("/api/v1/approvals-watch", &token).text(daemon.address)).await;
    assert_eq!(lines.head().await.unwrap().0, 200);
    daemon.revoke().await;
    daemon.clock.advance(Duration::from_secs(10));
    let mut last = Value::Null;
    while let Some(line) = lines.chunk().await {
        last = serde_json::from_slice(&line).unwrap();
    }
    assert_eq!(last["error"]["code"], "PLY-1201");
}
