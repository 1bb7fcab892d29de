//! The calls of the owner: the journal and the daemon.

use palyra_api::{ReloadError, ReloadReport};
use palyra_types::ErrorCode;
use palyra_wire::v1::admin_service_client::AdminServiceClient;
use palyra_wire::v1::gateway_service_client::GatewayServiceClient;
use palyra_wire::v1::journal_service_client::JournalServiceClient;
use palyra_wire::v1::run_stream_request::Frame as Say;
use palyra_wire::v1::{
    CreateTokenRequest, GetConfigRequest, GetJournalStatusRequest, GetStatusRequest, ListEntriesRequest,
    ListRunsRequest, ListTokensRequest, RebuildJournalRequest, ReloadConfigRequest, RevokeTokenRequest,
    ShutdownRequest, TokenScope, VerifyJournalRequest, rebuild_journal_response, verify_journal_response,
};
use tonic::Code;

use crate::daemon::{DaemonSetup, PATIENCE, TestDaemon};
use crate::raw::assert_refused;
use crate::talk::{Talk, bearing, start};

async fn run_once(daemon: &TestDaemon) {
    let mut talk = Talk::open(daemon.local().await, Say::Start(start("hi"))).await.unwrap();
    talk.rest().await;
}

#[tokio::test]
async fn the_journal_tells_its_state_and_its_entries() {
    let daemon = TestDaemon::start().await;
    run_once(&daemon).await;
    let mut client = JournalServiceClient::new(daemon.local().await);
    let status = client.get_journal_status(GetJournalStatusRequest {}).await.unwrap().into_inner();
    assert_eq!((status.health_name().as_ref(), status.epoch, status.log_id.len()), ("writable", 1, 32));
    let all =
        client.list_entries(ListEntriesRequest { from_seq: 0, limit: 1_000 }).await.unwrap().into_inner();
    assert_eq!(all.entries.len() as u64, status.entries);
    let kinds: Vec<&str> = all.entries.iter().map(|entry| entry.kind.as_str()).collect();
    assert_eq!(kinds[..4], ["log_opened", "epoch_started", "principal_registered", "agent_saved"]);
    assert!(kinds.ends_with(&["run_finished"]), "{kinds:?}");
    assert!(all.entries[0].principal_id.is_empty() && all.entries[4].principal_id.len() == 26);
    let two = client.list_entries(ListEntriesRequest { from_seq: 3, limit: 2 }).await.unwrap().into_inner();
    assert_eq!(two.entries, all.entries[3..5]);
}

#[tokio::test]
async fn verifying_and_rebuilding_tell_how_far_they_are_and_how_they_ended() {
    let daemon = TestDaemon::start().await;
    run_once(&daemon).await;
    let mut client = JournalServiceClient::new(daemon.local().await);
    let mut steps = client.verify_journal(VerifyJournalRequest {}).await.unwrap().into_inner();
    let mut told = Vec::new();
    while let Some(message) = steps.message().await.unwrap() {
        told.push(message.step.unwrap());
    }
    let [verify_journal_response::Step::Progress(progress), verify_journal_response::Step::Report(report)] =
        &told[..]
    else {
        panic!("progress, then the report: {told:?}")
    };
    assert!(report.ok && report.entries == progress.total && report.fault.is_empty());

    let mut steps = client.rebuild_journal(RebuildJournalRequest {}).await.unwrap().into_inner();
    let mut last = None;
    while let Some(message) = steps.message().await.unwrap() {
        last = message.step;
    }
    assert_eq!(last, Some(rebuild_journal_response::Step::Folded(report.entries)));
}

#[tokio::test]
async fn the_daemon_tells_what_it_is_and_what_is_configured() {
    let daemon = TestDaemon::start().await;
    let mut client = AdminServiceClient::new(daemon.local().await);
    let status = client.get_status(GetStatusRequest {}).await.unwrap().into_inner();
    assert_eq!((status.version.as_str(), status.build_id.as_str(), status.pid), ("1.2.3", "build-7", 4_242));
    assert_eq!((status.started.unwrap().seconds, status.listening.len()), (1, 1));
    assert_eq!((status.default_model.as_str(), status.open_runs), ("scripted/scripted", 0));
    assert!(status.checks.iter().any(|check| check.name == "journal_writable" && check.level_name() == "ok"));
    let config = client.get_config(GetConfigRequest {}).await.unwrap().into_inner();
    assert_eq!(config.digest.len(), 64);
    assert_eq!(config.values[0].key, "limits.turns_max");
}

#[tokio::test]
async fn a_token_works_from_its_making_to_its_revoking() {
    let daemon = TestDaemon::start().await;
    let mut client = AdminServiceClient::new(daemon.local().await);
    let (principal, label) = ("user:alice".to_owned(), "laptop".to_owned());
    let message = CreateTokenRequest { principal, label, days: 0, scopes: Vec::new() };
    let made = client.create_token(message.clone()).await.unwrap().into_inner();
    assert!(made.token.starts_with("palyra_") && made.expires.is_some());

    let mut remote = GatewayServiceClient::new(daemon.remote().await);
    remote.list_runs(bearing(&made.token, ListRunsRequest::default())).await.unwrap();
    let revoke = RevokeTokenRequest { token_id: made.token_id.clone() };
    client.revoke_token(revoke.clone()).await.unwrap();
    client.revoke_token(revoke).await.unwrap();
    let refused = remote.list_runs(bearing(&made.token, ListRunsRequest::default())).await.unwrap_err();
    assert_refused(&refused, Code::Unauthenticated, ErrorCode::Unauthenticated);

    let listed = client.list_tokens(ListTokensRequest {}).await.unwrap().into_inner().tokens;
    let [token] = &listed[..] else { panic!("one token was made") };
    assert_eq!((token.token_id.as_str(), token.principal.as_str()), (made.token_id.as_str(), "user:alice"));
    assert!(token.label == "laptop" && token.revoked.is_some());
    assert_eq!(token.expires, made.expires);

    let bad = [
        CreateTokenRequest { days: 366, ..message.clone() },
        CreateTokenRequest { days: u32::MAX, ..message.clone() },
        CreateTokenRequest { principal: String::new(), ..message.clone() },
        CreateTokenRequest { principal: "user alice".to_owned(), ..message.clone() },
        CreateTokenRequest { scopes: vec![TokenScope::Approve.into()], ..message.clone() },
        CreateTokenRequest { scopes: vec![TokenScope::Admin.into()], ..message.clone() },
        CreateTokenRequest { scopes: vec![99], ..message },
    ];
    for message in bad {
        let refused = client.create_token(message).await.unwrap_err();
        assert_refused(&refused, Code::InvalidArgument, ErrorCode::InvalidArgument);
    }
    let unknown = RevokeTokenRequest { token_id: "01BX5ZZKBKACTAV9WEVGEMMVRZ".to_owned() };
    assert!(client.revoke_token(unknown).await.is_err());
}

/// The control is the same call by a caller that stays.
#[tokio::test]
async fn a_revocation_is_in_force_also_when_its_caller_has_left() {
    for leaves in [true, false] {
        let daemon = TestDaemon::start().await;
        let token = daemon.token("user:alice").await;
        let mut client = AdminServiceClient::new(daemon.local().await);
        let tokens = client.list_tokens(ListTokensRequest {}).await.unwrap().into_inner().tokens;
        daemon.journal.hold();
        let mut caller = client.clone();
        let revoke = RevokeTokenRequest { token_id: tokens[0].token_id.clone() };
        let call = tokio::spawn(async move { caller.revoke_token(revoke).await.is_ok() });
        let recorded = async {
            while daemon.journal.held() == 0 {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(PATIENCE, recorded).await.unwrap();
        if leaves {
            call.abort();
            assert!(call.await.is_err());
            // Of one connection, so the daemon has read that the other call was given up.
            client.list_tokens(ListTokensRequest {}).await.unwrap();
            daemon.journal.release();
        } else {
            daemon.journal.release();
            assert!(call.await.unwrap());
        }
        let mut remote = GatewayServiceClient::new(daemon.remote().await);
        let refused = async {
            loop {
                match remote.list_runs(bearing(&token, ListRunsRequest::default())).await {
                    Ok(_) => tokio::task::yield_now().await,
                    Err(refused) => break refused,
                }
            }
        };
        let refused = tokio::time::timeout(PATIENCE, refused).await.unwrap();
        assert_refused(&refused, Code::Unauthenticated, ErrorCode::Unauthenticated);
    }
}

#[tokio::test]
async fn a_reload_tells_what_changed_or_every_mistake() {
    let report = ReloadReport {
        digest: [7; 32],
        changed: vec!["a.b".to_owned(), "c.d".to_owned()],
        needs_restart: vec!["c.d".to_owned()],
    };
    let mistakes = vec!["FILE:1:1: no".to_owned(), "FILE:2:1: no".to_owned()];
    let reloads = vec![Ok(report), Err(ReloadError::Invalid { mistakes: mistakes.clone() })];
    let daemon = TestDaemon::start_with(DaemonSetup { reloads, ..DaemonSetup::default() }).await;
    let mut client = AdminServiceClient::new(daemon.local().await);
    let mut answers = Vec::new();
    for _ in 0..2 {
        answers.push(client.reload_config(ReloadConfigRequest {}).await.unwrap().into_inner());
    }
    assert_eq!((answers[0].digest.as_str(), &answers[0].mistakes), ("07".repeat(32).as_str(), &Vec::new()));
    assert_eq!((answers[0].changed.len(), &answers[0].needs_restart), (2, &vec!["c.d".to_owned()]));
    let in_force = client.get_config(GetConfigRequest {}).await.unwrap().into_inner().digest;
    assert_eq!((&answers[1].digest, &answers[1].mistakes), (&in_force, &mistakes));
    let refused = client.reload_config(ReloadConfigRequest {}).await.unwrap_err();
    assert_refused(&refused, Code::Unavailable, ErrorCode::ShuttingDown);
}

#[tokio::test]
async fn the_owner_can_stop_the_daemon() {
    let mut daemon = TestDaemon::start().await;
    let mut client = AdminServiceClient::new(daemon.local().await);
    client.shutdown(ShutdownRequest::default()).await.unwrap();
    assert!(daemon.stop_request.is_cancelled());
    client.get_status(GetStatusRequest {}).await.expect("it answers until it has come to rest");
    daemon.stop.cancel();
    drop(client);
    let served = tokio::time::timeout(PATIENCE, &mut daemon.served).await.expect("serving ends");
    served.unwrap().unwrap();
}
