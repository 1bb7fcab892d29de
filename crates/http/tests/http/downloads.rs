//! Files that came with inputs, as downloads that a browser does not open.

use palyra_testkit::Script;
use serde_json::json;

use crate::daemon::TestDaemon;
use crate::talk::{Answer, Call};

/// The signature of a PNG, in base64.
const PNG: &str = "iVBORw0KGgo=";
/// `<script>alert(1)</script>`.
const PAGE: &str = "PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==";

async fn attached(daemon: &TestDaemon, token: &str) -> String {
    daemon.provider.push(Script::new().text("seen"));
    let files = json!([
        { "name": "a.png", "content": PNG },
        { "name": "a.html", "content": PAGE, "media_type": "text/html" },
        { "name": "\u{202e}gnp.exe", "content": "aGVsbG8=" },
    ]);
    let body = json!({ "input": "look", "attachments": files });
    let started = Call::post("/api/v1/runs", token, body).send(daemon).await;
    assert_eq!(started.status, 200, "{started:?}");
    started.json()["opened"]["run_id"].as_str().unwrap().to_owned()
}

fn header<'a>(answer: &'a Answer, name: &str) -> &'a str {
    answer.header(name).unwrap_or_default()
}

#[tokio::test]
async fn a_file_is_saved_and_only_an_image_is_shown() {
    let daemon = TestDaemon::start().await;
    let token = daemon.token("user:alice").await;
    let run = attached(&daemon, &token).await;
    for (index, inline, media_type, shown) in [
        (1, "", "application/octet-stream", "attachment"),
        (1, "?inline=true", "application/octet-stream", "attachment"),
        (2, "?inline=true", "application/octet-stream", "attachment"),
    ] {
        let path = format!("/api/v1/runs/{run}/attachments/1/{index}/content{inline}");
        let answer = Call::get(&path, &token).send(&daemon).await;
        assert_eq!((answer.status, header(&answer, "content-type")), (200, media_type), "{answer:?}");
        assert!(header(&answer, "content-disposition").starts_with(shown), "{answer:?}");
        assert!(header(&answer, "content-security-policy").starts_with("sandbox;"), "{answer:?}");
        assert_eq!(header(&answer, "x-content-type-options"), "nosniff");
    }
    let path = format!("/api/v1/runs/{run}/attachments/1/0/content?inline=true");
    let mut wire = crate::talk::Wire::open(daemon.address).await;
    wire.send(&Call::get(&path, &token).text(daemon.address)).await;
    let (_, head) = wire.head().await.unwrap();
    assert!(
        head.contains("content-type: image/png") && head.contains("content-disposition: inline"),
        "{head}"
    );
    assert_eq!(wire.body(&head).await, b"\x89PNG\r\n\x1a\n");
    let none = format!("/api/v1/runs/{run}/attachments/1/7/content");
    Call::get(&none, &token).send(&daemon).await.refused(400, "PLY-1004");
}
