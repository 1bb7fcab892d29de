//! The document of the API and the page made of it.

use serde_json::Value;

use crate::daemon::TestDaemon;
use crate::talk::Call;

#[tokio::test]
async fn the_reference_needs_no_token_and_no_script() {
    let daemon = TestDaemon::start().await;
    let document = Call::open("/api/v1/openapi.json").send(&daemon).await;
    assert_eq!((document.status, document.header("content-type")), (200, Some("application/json")));
    let document: Value = document.json();
    assert_eq!(document["openapi"], "3.1.0");
    let page = Call::open("/api").send(&daemon).await;
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'none'") && !policy.contains("script-src"), "{policy}");
    assert!(page.body.contains("/api/v1/runs/{run_id}/events") && !page.body.contains("<script"));
    let style = Call::open("/api/reference.css").send(&daemon).await;
    assert_eq!((style.status, style.header("content-type")), (200, Some("text/css; charset=utf-8")));
    let root = Call::open("/").send(&daemon).await;
    assert_eq!((root.status, root.header("location")), (307, Some("/api")));
}

/// What the document says is always there is there.
#[tokio::test]
async fn an_answer_has_the_members_that_the_document_requires() {
    let daemon = TestDaemon::start().await;
    let token = daemon.token("user:alice").await;
    let run = crate::calls::start(&daemon, &token, "good day").await;
    let document = Call::open("/api/v1/openapi.json").send(&daemon).await.json();
    let schema = |name: &str| document["components"]["schemas"][name].clone();
    let shown = Call::get(&format!("/api/v1/runs/{run}"), &token).send(&daemon).await.json();
    for (value, name) in [(&shown, "GetRunResponse"), (&shown["run"], "Run")] {
        let schema = schema(name);
        let members = value.as_object().unwrap();
        for required in schema["required"].as_array().into_iter().flatten() {
            assert!(members.contains_key(required.as_str().unwrap()), "{name}: {required}");
        }
        for member in members.keys() {
            assert!(schema["properties"].get(member).is_some(), "{name}: {member}");
        }
    }
}
