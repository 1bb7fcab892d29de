//! Names, origins and what every answer carries.

use crate::daemon::{DaemonOptions, TestDaemon};
use crate::talk::{Call, Wire};

#[tokio::test]
async fn a_rebound_name_and_a_page_of_another_origin_reach_nothing() {
    let daemon = TestDaemon::start().await;
    let token = daemon.token("user:alice").await;
    let runs = || Call::get("/api/v1/runs", &token);
    let own = format!("http://localhost:{}", daemon.address.port());
    assert_eq!(runs().send(&daemon).await.status, 200);
    assert_eq!(runs().with("host", "127.0.0.1").send(&daemon).await.status, 200, "a program with a token");
    assert_eq!(
        runs().with("origin", &own).with("sec-fetch-site", "same-origin").send(&daemon).await.status,
        200
    );
    runs().with("host", "evil.example").send(&daemon).await.refused(421, "PLY-1211");
    for (name, value) in [
        ("origin", "https://evil.example"),
        ("origin", "null"),
        ("origin", "http://localhost:1"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
    ] {
        let answer = runs().with(name, value).send(&daemon).await;
        answer.refused(403, "PLY-1212");
        assert_eq!(answer.header("access-control-allow-origin"), None, "no CORS");
        Call::post("/api/v1/runs", &token, "{}")
            .with(name, value)
            .send(&daemon)
            .await
            .refused(403, "PLY-1212");
    }
    let preflight = Call { method: "OPTIONS", ..Call::open("/api/v1/runs") };
    let preflight =
        preflight.with("origin", "https://evil.example").with("access-control-request-method", "POST");
    let answer = preflight.send(&daemon).await;
    assert!(answer.status == 403 && !answer.head.contains("access-control"), "{answer:?}");
    assert!(daemon.provider.requests().is_empty(), "nothing was started");
}

#[tokio::test]
async fn a_page_has_one_address() {
    let daemon = TestDaemon::start().await;
    let port = daemon.address.port();
    let moved = Call::open("/api?x=1").with("host", "127.0.0.1").send(&daemon).await;
    assert_eq!(
        (moved.status, moved.header("location")),
        (308, Some(&*format!("http://localhost:{port}/api?x=1")))
    );
    assert_eq!(Call::open("/api").send(&daemon).await.status, 200);
    let options = DaemonOptions { public_url: Some("https://palyra.example"), ..Default::default() };
    let behind = TestDaemon::start_with(options).await;
    let moved = Call::open("/api").with("host", "localhost").send(&behind).await;
    assert_eq!(moved.header("location"), Some("https://palyra.example/api"));
    assert_eq!(Call::open("/api").with("host", "palyra.example").send(&behind).await.status, 200);
}

#[tokio::test]
async fn every_answer_is_hardened_and_has_its_own_name() {
    let daemon = TestDaemon::start().await;
    let token = daemon.token("user:alice").await;
    let mut names = Vec::new();
    for call in [
        Call::get("/api/v1/runs", &token),
        Call::open("/api/v1/runs"),
        Call::open("/healthz"),
        Call::open("/api"),
        Call::get("/nothing", &token),
        Call::get("/metrics", &token),
        Call::get("/api/v1/runs", &token).with("host", "evil.example"),
    ] {
        let answer = call.send(&daemon).await;
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{answer:?}");
        assert_eq!(answer.header("x-frame-options"), Some("DENY"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(answer.header("cross-origin-resource-policy"), Some("same-origin"));
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        assert!(answer.header("cache-control").is_some());
        names.push(answer.header("x-request-id").unwrap().to_owned());
    }
    names.dedup();
    assert_eq!(names.len(), 7);
}

/// A proxy that reads a length where the server reads chunks leaves bytes that would be taken for a request.
#[tokio::test]
async fn what_follows_a_chunked_body_is_never_taken_for_a_request() {
    let daemon = TestDaemon::start().await;
    let token = daemon.token("user:alice").await;
    let smuggled = Call::get("/api/v1/runs", &token).text(daemon.address);
    let base =
        format!("host: localhost\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\n");
    let both = format!(
        "POST /api/v1/sessions HTTP/1.1\r\n{base}content-length: 7\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n{smuggled}"
    );
    let turned = both.replace(
        "content-length: 7\r\ntransfer-encoding: chunked\r\n",
        "transfer-encoding: chunked\r\ncontent-length: 7\r\n",
    );
    for text in [both, turned] {
        let mut wire = Wire::open(daemon.address).await;
        wire.send(&text).await;
        let answer = wire.answer().await.unwrap();
        assert_eq!(answer.header("connection"), Some("close"), "{answer:?}");
        assert!(wire.answer().await.is_none(), "one answer, and the end");
    }
    for headers in [
        "transfer-encoding: chunked, identity\r\n",
        "transfer-encoding: xchunked\r\n",
        "content-length: 2\r\ncontent-length: 3\r\n",
        "content-length: +2\r\n",
        "content-length : 2\r\n",
    ] {
        let mut wire = Wire::open(daemon.address).await;
        wire.send(&format!("POST /api/v1/sessions HTTP/1.1\r\n{base}{headers}\r\n{{}}")).await;
        let answer = wire.answer().await;
        assert!(answer.as_ref().is_none_or(|answer| answer.status == 400), "{headers}: {answer:?}");
    }
}

#[tokio::test]
async fn the_server_is_no_proxy() {
    let daemon = TestDaemon::start().await;
    let token = daemon.token("user:alice").await;
    for line in [
        "GET http://evil.example/api/v1/runs",
        "CONNECT evil.example:443",
        "GET http://localhost/api/v1/runs",
    ] {
        let mut wire = Wire::open(daemon.address).await;
        let text = format!("{line} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\r\n");
        wire.send(&text).await;
        wire.answer().await.unwrap().refused(400, "PLY-1001");
    }
}
