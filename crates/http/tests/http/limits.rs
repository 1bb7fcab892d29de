//! Slow, idle and greedy clients: each has an end, and honest ones go on.

use std::time::Duration;

use palyra_http::HttpLimits;
use palyra_testkit::Script;
use serde_json::json;

use crate::daemon::{DaemonOptions, PATIENCE, TestDaemon};
use crate::talk::{Call, EventReader, Wire};

const SOON: Duration = Duration::from_millis(200);

fn limited(limits: HttpLimits) -> DaemonOptions {
    DaemonOptions { limits, ..Default::default() }
}

#[tokio::test]
async fn a_head_that_comes_too_slowly_ends_the_connection() {
    let daemon = TestDaemon::start_with(limited(HttpLimits { head_span: SOON, ..Default::default() })).await;
    let mut slow = Wire::open(daemon.address).await;
    slow.send("GET /healthz HTTP/1.1\r\nhost: local").await;
    let mut silent = Wire::open(daemon.address).await;
    assert!(silent.ends().await && slow.ends().await);
    assert_eq!(Call::open("/healthz").send(&daemon).await.status, 200);
}

#[tokio::test]
async fn a_body_that_comes_too_slowly_is_refused() {
    let daemon = TestDaemon::start_with(limited(HttpLimits { body_span: SOON, ..Default::default() })).await;
    let token = daemon.token("user:alice").await;
    let mut slow = Wire::open(daemon.address).await;
    slow.send(&format!(
        "POST /api/v1/runs HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\n\
         content-length: 100\r\n\r\n{{"
    ))
    .await;
    slow.answer().await.unwrap().refused(408, "PLY-1006");
}

#[tokio::test]
async fn connections_without_a_token_keep_no_one_with_a_token_out() {
    let limits = HttpLimits { connections_max: 8, ..Default::default() };
    let mut daemon = TestDaemon::start_with(limited(limits)).await;
    let token = daemon.token("user:alice").await;
    let mut idle = Vec::new();
    for _ in 0..50 {
        idle.push(Wire::open(daemon.address).await);
    }
    for _ in 0..20 {
        assert_eq!(Call::get("/api/v1/runs", &token).send(&daemon).await.status, 200);
    }
    drop(idle);
    let closed = daemon.open.wait_for(|open| *open == 0);
    tokio::time::timeout(PATIENCE, closed).await.expect("every permit comes back").unwrap();
}

#[tokio::test]
async fn a_connection_that_shows_no_token_ends_and_one_with_a_token_stays() {
    let limits = HttpLimits { newcomer_span: SOON, first_call_span: SOON, ..Default::default() };
    let daemon = TestDaemon::start_with(limited(limits)).await;
    let token = daemon.token("user:alice").await;
    let mut holder = Wire::open(daemon.address).await;
    holder.send(&Call::get("/api/v1/runs", &token).text(daemon.address)).await;
    assert_eq!(holder.answer().await.unwrap().status, 200);
    let mut probe = Wire::open(daemon.address).await;
    probe.send(&Call::open("/healthz").text(daemon.address)).await;
    assert_eq!(probe.answer().await.unwrap().status, 200);
    assert!(probe.ends().await);
    holder.send(&Call::get("/api/v1/runs", &token).text(daemon.address)).await;
    assert_eq!(holder.answer().await.unwrap().status, 200);
}

#[tokio::test]
async fn one_principal_has_so_many_streams_and_others_have_theirs() {
    let daemon =
        TestDaemon::start_with(limited(HttpLimits { streams_of_one_max: 2, ..Default::default() })).await;
    let (alice, bob) = (daemon.token("user:alice").await, daemon.token("user:bob").await);
    let watch = |token| Call::get("/api/v1/approvals-watch", token).with("accept", "text/event-stream");
    let first = EventReader::open(&daemon, watch(&alice)).await;
    let _second = EventReader::open(&daemon, watch(&alice)).await;
    let refused = Call::get("/api/v1/approvals-watch", &alice).send(&daemon).await;
    refused.refused(429, "PLY-1010");
    let _of_bob = EventReader::open(&daemon, watch(&bob)).await;
    drop(first);
    let again = async {
        loop {
            let mut wire = Wire::open(daemon.address).await;
            wire.send(&watch(&alice).text(daemon.address)).await;
            if wire.head().await.unwrap().0 == 200 {
                return;
            }
        }
    };
    tokio::time::timeout(PATIENCE, again).await.expect("a closed stream makes room");
}

#[tokio::test]
async fn bodies_of_one_principal_have_an_end_and_come_back() {
    let limits = HttpLimits { bodies_of_one_kib_max: 64, ..Default::default() };
    let daemon = TestDaemon::start_with(limited(limits)).await;
    let token = daemon.token("user:alice").await;
    let input = |kib: usize| json!({ "input": "x".repeat(kib * 1024) });
    Call::post("/api/v1/runs", &token, input(65)).send(&daemon).await.refused(503, "PLY-1106");
    for _ in 0..3 {
        daemon.provider.push(Script::new().text("read"));
        assert_eq!(Call::post("/api/v1/runs", &token, input(60)).send(&daemon).await.status, 200);
    }
}

/// A client that asks and does not read: the connection ends, and with it the stream.
#[tokio::test]
async fn a_client_that_does_not_read_ends() {
    let limits = HttpLimits { write_span: SOON, ..Default::default() };
    let mut daemon = TestDaemon::start_with(limited(limits)).await;
    let token = daemon.token("user:alice").await;
    daemon.provider.push(Script::new().text(&"long ".repeat(40_000)));
    let started =
        Call::post("/api/v1/runs", &token, json!({ "input": "say much" })).send(&daemon).await.json();
    let path = format!("/api/v1/runs/{}/events", started["opened"]["run_id"].as_str().unwrap());
    EventReader::open(&daemon, Call::get(&path, &token)).await.rest().await;
    // Many answers on one connection, so that the kernel's buffers are full.
    let mut deaf = Wire::open(daemon.address).await;
    let text =
        Call::get(&format!("/api/v1/runs/{}/tape", started["opened"]["run_id"].as_str().unwrap()), &token)
            .text(daemon.address);
    let closed = async {
        tokio::join!(deaf.send_until_closed(&text), daemon.open.wait_for(|open| *open == 0)).1.map(drop)
    };
    tokio::time::timeout(PATIENCE, closed).await.expect("the connection ends").unwrap();
}
