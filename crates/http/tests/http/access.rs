//! Scopes, confirmations and the record of what was refused.

use std::time::Duration;

use palyra_admin::access::TokenRequest;
use palyra_testkit::Script;
use palyra_types::access::{AccessScope, CredentialKind, ScopeSet};
use palyra_types::event::{AccessEvent, JournalEvent};
use palyra_types::{ErrorCode, Seq};
use serde_json::json;

use crate::daemon::TestDaemon;
use crate::talk::Call;

fn program(principal: &str, scopes: &[AccessScope]) -> TokenRequest {
    let request = TokenRequest::program(principal, "test", Duration::from_secs(3_600));
    TokenRequest { scopes: Some(ScopeSet::of(scopes)), ..request }
}

/// Returns the operations that the journal records as refused.
async fn refusals(daemon: &TestDaemon) -> Vec<String> {
    let entries = daemon.state.journal.entries(Seq(0), 1_000).await.unwrap();
    let operation = |event: &JournalEvent| match event {
        JournalEvent::Access(AccessEvent::ActRefused(refused)) => Some(refused.operation.expose().clone()),
        _ => None,
    };
    entries.iter().filter_map(|entry| operation(&entry.event)).collect()
}

/// Starts a run that asks whether `change` may run; returns its approval.
async fn asking(daemon: &TestDaemon, token: &str) -> String {
    daemon.provider.push(Script::new().call("change", r#"{"path":"notes.txt"}"#));
    let started =
        Call::post("/api/v1/runs", token, json!({ "input": "change it" })).send(daemon).await.json();
    let path = format!("/api/v1/runs/{}/events", started["opened"]["run_id"].as_str().unwrap());
    let mut events = crate::talk::EventReader::open(daemon, Call::get(&path, token)).await;
    loop {
        let event = events.next().await.unwrap().json();
        if let Some(asked) = event.get("approval_requested") {
            return asked["approval_id"].as_str().unwrap().to_owned();
        }
    }
}

/// Case: a token decides the approval of the run that it started, whoever it belongs to and whatever it was made for.
#[tokio::test]
async fn no_token_decides_an_approval_over_http_and_each_try_is_recorded() {
    let daemon = TestDaemon::start().await;
    let every = ScopeSet::ALL.without(AccessScope::Approve);
    let request = TokenRequest { scopes: Some(every), ..program("user:local", &[]) };
    let token = daemon.token_of(request).await;
    let approval = asking(&daemon, &token).await;
    let path = format!("/api/v1/approvals/{approval}/resolve");
    let yes = json!({ "decision": "approve" });
    Call::post(&path, &token, &yes).send(&daemon).await.refused(403, "PLY-1203");
    assert_eq!(refusals(&daemon).await.len(), 1);
    daemon.revoke().await;
    Call::post(&path, &token, &yes).send(&daemon).await.refused(401, "PLY-1201");
    let recorded = refusals(&daemon).await;
    assert!(
        recorded.len() == 2 && recorded.iter().all(|event| event.contains("ResolveApproval")),
        "{recorded:?}"
    );
    Call::get("/api/v1/nothing", &token).send(&daemon).await.refused(401, "PLY-1201");
}

#[tokio::test]
async fn a_viewer_reads_and_starts_nothing() {
    let daemon = TestDaemon::start().await;
    let member = daemon.token("user:vera").await;
    let run = crate::calls::start(&daemon, &member, "good day").await;
    let viewer = daemon.token_of(program("user:vera", &[AccessScope::RunsRead])).await;
    assert_eq!(Call::get(&format!("/api/v1/runs/{run}"), &viewer).send(&daemon).await.status, 200);
    let events = format!("/api/v1/runs/{run}/events");
    assert_eq!(Call::get(&events, &viewer).send(&daemon).await.status, 200);
    for (path, body) in
        [("/api/v1/runs", json!({ "input": "hi" })), (&*format!("/api/v1/runs/{run}/cancel"), json!({}))]
    {
        Call::post(path, &viewer, body)
            .send(&daemon)
            .await
            .refused(403, ErrorCode::ScopeMissing.to_string().as_str());
    }
    let nothing = daemon.token_of(program("user:vera", &[AccessScope::Openai])).await;
    Call::get(&events, &nothing).send(&daemon).await.refused(403, "PLY-1203");
}

/// A change of the owner over the network needs a one-time code, and each code is for one call.
#[tokio::test]
async fn an_owner_s_change_needs_a_fresh_confirmation() {
    let daemon = TestDaemon::start().await;
    let request =
        TokenRequest { kind: CredentialKind::Program, ..program("user:local", &[AccessScope::Admin]) };
    let token = daemon.token_of(request).await;
    let body = json!({ "principal": "user:new", "label": "l", "days": 1 });
    let call = || Call::post("/api/v1/tokens", &token, &body);
    call().send(&daemon).await.refused(403, "PLY-1204");
    call().with("palyra-confirmation", "wrong").send(&daemon).await.refused(403, "PLY-1204");
    let code = daemon.state.admin.access.create_confirmation().into_exposed();
    let made = call().with("palyra-confirmation", &code).send(&daemon).await;
    assert_eq!(made.status, 200, "{made:?}");
    call().with("palyra-confirmation", &code).send(&daemon).await.refused(403, "PLY-1204");
    Call::post("/api/v1/shutdown", &token, "{}").send(&daemon).await.refused(403, "PLY-1202");
}
