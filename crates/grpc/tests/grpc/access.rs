//! Credentials, roles and scopes over real sockets, and the record of what was refused.

use std::time::Duration;

use palyra_admin::access::{REFUSALS_RECORDED_MAX, TokenRequest};
use palyra_testkit::Script;
use palyra_types::ErrorCode;
use palyra_types::access::{AccessScope, CredentialKind, Role, ScopeSet};
use palyra_wire::v1;
use palyra_wire::v1::admin_service_client::AdminServiceClient;
use palyra_wire::v1::approvals_service_client::ApprovalsServiceClient;
use palyra_wire::v1::gateway_service_client::GatewayServiceClient;
use palyra_wire::v1::journal_service_client::JournalServiceClient;
use palyra_wire::v1::people_service_client::PeopleServiceClient;
use palyra_wire::v1::run_stream_request::Frame as Say;
use palyra_wire::v1::run_stream_response::Frame;
use palyra_wire::v1::tape_entry::Event;
use palyra_wire::v1::{ApprovalDecision, ApprovalState, ResolveApprovalRequest, RunState};
use tonic::Code;

use crate::daemon::{DaemonSetup, PATIENCE, TestDaemon};
use crate::raw::assert_refused;
use crate::talk::{Talk, attach, bearing, input, start};

fn program(name: &str, scopes: Option<ScopeSet>) -> TokenRequest {
    TokenRequest { scopes, ..TokenRequest::program(name, "test", Duration::from_secs(3_600)) }
}

fn yes(approval: &str) -> ResolveApprovalRequest {
    ResolveApprovalRequest {
        approval_id: approval.to_owned(),
        decision: ApprovalDecision::Approve.into(),
        ..ResolveApprovalRequest::default()
    }
}

/// Starts a run over TCP that asks whether `change` may run; returns its stream, its id and the approval's.
async fn asking(daemon: &TestDaemon, token: &str) -> (Talk, String, String) {
    daemon.provider.push(Script::new().call("change", r#"{"path":"notes.txt"}"#));
    daemon.provider.push(Script::new().text("so be it"));
    let channel = daemon.remote().await;
    let mut talk = Talk::open_bearing(channel, token, Say::Start(start("change it"))).await.unwrap();
    let run = talk.opened().await.run_id;
    let heard = talk.until_event(|event| matches!(event, Event::ApprovalRequested(_))).await;
    let asked = heard.events().find_map(|event| match event {
        Event::ApprovalRequested(asked) => Some(asked.approval_id.clone()),
        _ => None,
    });
    (talk, run, asked.unwrap())
}

/// Returns the operations, codes and principals of all refusals that the journal records.
async fn refusals(daemon: &TestDaemon) -> Vec<(String, String, String)> {
    let mut journal = JournalServiceClient::new(daemon.local().await);
    let request = v1::ListEntriesRequest { from_seq: 0, limit: 1_000 };
    let entries = journal.list_entries(request).await.unwrap().into_inner().entries;
    let refused = entries.into_iter().filter(|entry| entry.kind == "act_refused").map(|entry| {
        let by = entry.acted_by.unwrap();
        assert!(!by.token_id.is_empty() && by.surface() == v1::Surface::Tcp);
        (by.principal, entry.refused_operation, entry.refused_code)
    });
    refused.collect()
}

/// Case: a token decides the approval of the run that it started; by the call, and on its own stream.
#[tokio::test]
async fn a_token_does_not_decide_its_own_run_s_approval_and_each_try_is_recorded() {
    let daemon = TestDaemon::start().await;
    let every = ScopeSet::ALL.without(AccessScope::Approve);
    let token = daemon.token_of(program("user:local", Some(every))).await;
    let (mut talk, _, approval) = asking(&daemon, &token).await;
    let mut client = ApprovalsServiceClient::new(daemon.remote().await);
    let refused = client.resolve_approval(bearing(&token, yes(&approval))).await.unwrap_err();
    assert_refused(&refused, Code::PermissionDenied, ErrorCode::ScopeMissing);
    talk.say(Say::AnswerApproval(yes(&approval))).await;
    let heard = talk.until(|frame| matches!(frame, Frame::ApprovalRefused(_))).await;
    let Some(Frame::ApprovalRefused(refused)) = heard.others.last() else { panic!("until() stops there") };
    assert_eq!(refused.error_code, ErrorCode::ScopeMissing.to_string());
    let expected =
        ("user:local".to_owned(), "ResolveApproval".to_owned(), ErrorCode::ScopeMissing.to_string());
    assert_eq!(refusals(&daemon).await, [expected.clone(), expected]);
    // The control: the person at the socket decides the same approval.
    let mut owner = ApprovalsServiceClient::new(daemon.local().await);
    let decided = owner.resolve_approval(yes(&approval)).await.unwrap().into_inner();
    assert!(decided.counted && decided.approval.unwrap().state() == ApprovalState::Approved);
    assert_eq!(talk.rest().await.1.state(), RunState::Done);
}

/// Case: a session of a person that was stolen and is used where programs call.
#[tokio::test]
async fn a_person_s_session_decides_nothing_over_tcp() {
    let daemon = TestDaemon::start().await;
    let request = TokenRequest { kind: CredentialKind::PersonSession, ..program("user:local", None) };
    let session = daemon.token_of(request).await;
    let (_talk, _, approval) = asking(&daemon, &session).await;
    let mut client = ApprovalsServiceClient::new(daemon.remote().await);
    let refused = client.resolve_approval(bearing(&session, yes(&approval))).await.unwrap_err();
    assert_refused(&refused, Code::PermissionDenied, ErrorCode::ScopeMissing);
    assert_eq!(refusals(&daemon).await.len(), 1);
}

/// Case: a viewer starts, steers, cancels or decides. The control is what a viewer may do.
#[tokio::test]
async fn a_viewer_reads_and_changes_nothing() {
    let daemon = TestDaemon::start().await;
    let member = daemon.token_of(program("user:vera", None)).await;
    daemon.provider.push(Script::new().hang());
    let mut talk = Talk::open_bearing(daemon.remote().await, &member, Say::Start(start("hi"))).await.unwrap();
    let run = talk.opened().await.run_id;
    let viewer = daemon.token_of(program("user:vera", Some(ScopeSet::of(&[AccessScope::RunsRead])))).await;

    let channel = daemon.remote().await;
    let mut client = GatewayServiceClient::new(channel.clone());
    let get = v1::GetRunRequest { run_id: run.clone() };
    assert_eq!(client.get_run(bearing(&viewer, get)).await.unwrap().into_inner().run.unwrap().run_id, run);
    let mut watching = Talk::open_bearing(channel.clone(), &viewer, attach(&run, 0)).await.unwrap();
    assert!(watching.opened().await.attached);

    let cancel = v1::CancelRunRequest { run_id: run.clone() };
    let refused = client.cancel_run(bearing(&viewer, cancel)).await.unwrap_err();
    assert_refused(&refused, Code::PermissionDenied, ErrorCode::ScopeMissing);
    let refused = Talk::open_bearing(channel, &viewer, Say::Start(start("hi"))).await.err().unwrap();
    assert_refused(&refused, Code::PermissionDenied, ErrorCode::ScopeMissing);
    watching.say(input("stop")).await;
    assert_refused(&watching.failure().await, Code::PermissionDenied, ErrorCode::ScopeMissing);
    let operations: Vec<String> =
        refusals(&daemon).await.into_iter().map(|(_, operation, _)| operation).collect();
    assert_eq!(operations, ["CancelRun", "StartRun", "SendInput"]);
    assert_eq!(daemon.provider.counts().begun, 1, "only the first run asked the model");
}

/// Case: a person is disabled while a stream of theirs is open.
#[tokio::test]
async fn a_disabled_person_s_tokens_stop_at_once_and_work_again_when_enabled() {
    let mut setup = DaemonSetup::default();
    setup.config.heartbeat = Duration::from_millis(20);
    let daemon = TestDaemon::start_with(setup).await;
    let token = daemon.token_of(program("user:alice", None)).await;
    daemon.provider.push(Script::new().hang());
    let mut talk = Talk::open_bearing(daemon.remote().await, &token, Say::Start(start("hi"))).await.unwrap();
    talk.opened().await;
    let mut people = PeopleServiceClient::new(daemon.local().await);
    let listed = people.list_people(v1::ListPeopleRequest {}).await.unwrap().into_inner().people;
    let [alice, local] = &listed[..] else { panic!("two are known: {listed:?}") };
    assert_eq!((alice.name.as_str(), alice.role_name().as_ref()), ("user:alice", "member"));
    assert_eq!((local.name.as_str(), local.role_name().as_ref()), ("user:local", "owner"));

    let principal_id = alice.principal_id.clone();
    let disable = v1::DisablePersonRequest { principal_id: principal_id.clone() };
    let disabled = people.disable_person(disable).await.unwrap().into_inner().person.unwrap();
    assert!(disabled.disabled.is_some());
    assert_refused(&talk.failure().await, Code::Unauthenticated, ErrorCode::Unauthenticated);
    let mut client = GatewayServiceClient::new(daemon.remote().await);
    let run = v1::StartRunRequest { input: "hi".to_owned(), ..v1::StartRunRequest::default() };
    let refused = client.start_run(bearing(&token, run)).await.unwrap_err();
    assert_refused(&refused, Code::Unauthenticated, ErrorCode::Unauthenticated);
    let expected = ("user:alice".to_owned(), "StartRun".to_owned(), ErrorCode::Unauthenticated.to_string());
    assert_eq!(refusals(&daemon).await, [expected]);

    people.enable_person(v1::EnablePersonRequest { principal_id }).await.unwrap();
    client.list_runs(bearing(&token, v1::ListRunsRequest::default())).await.unwrap();
}

/// A role that shrinks takes from credentials at once what it does not allow.
#[tokio::test]
async fn a_credential_never_has_more_than_its_person_s_role() {
    let daemon = TestDaemon::start().await;
    let token = daemon.token_of(program("user:alice", None)).await;
    let mut people = PeopleServiceClient::new(daemon.local().await);
    let listed = people.list_people(v1::ListPeopleRequest {}).await.unwrap().into_inner().people;
    let principal_id = listed[0].principal_id.clone();
    let set = |role: v1::PrincipalRole| v1::SetRoleRequest {
        principal_id: principal_id.clone(),
        role: role.into(),
    };
    people.set_role(set(v1::PrincipalRole::Viewer)).await.unwrap();
    let mut client = GatewayServiceClient::new(daemon.remote().await);
    client.list_runs(bearing(&token, v1::ListRunsRequest::default())).await.unwrap();
    let run = v1::StartRunRequest { input: "hi".to_owned(), ..v1::StartRunRequest::default() };
    let refused = client.start_run(bearing(&token, run)).await.unwrap_err();
    assert_refused(&refused, Code::PermissionDenied, ErrorCode::ScopeMissing);
    let local = listed[1].principal_id.clone();
    let refused =
        people.set_role(v1::SetRoleRequest { principal_id: local, ..set(v1::PrincipalRole::Viewer) });
    assert_refused(&refused.await.unwrap_err(), Code::InvalidArgument, ErrorCode::InvalidArgument);
    let unknown = v1::DisablePersonRequest { principal_id: "01BX5ZZKBKACTAV9WEVGEMMVRZ".to_owned() };
    let refused = people.disable_person(unknown).await.unwrap_err();
    assert_refused(&refused, Code::NotFound, ErrorCode::PrincipalNotFound);
    let owner = daemon.state.admin.access.create_person(daemon.owner(), "user:alice", Role::Owner).await;
    assert!(owner.is_err(), "a name is given once");
}

/// A program that asks again and again does not fill the journal.
#[tokio::test]
async fn refusals_of_one_credential_are_recorded_up_to_a_limit() {
    let daemon = TestDaemon::start().await;
    let token = daemon.token_of(program("user:alice", Some(ScopeSet::of(&[AccessScope::RunsRead])))).await;
    let mut client = GatewayServiceClient::new(daemon.remote().await);
    let run = || v1::StartRunRequest { input: "hi".to_owned(), ..v1::StartRunRequest::default() };
    for _ in 0..REFUSALS_RECORDED_MAX + 5 {
        client.start_run(bearing(&token, run())).await.unwrap_err();
    }
    assert_eq!(refusals(&daemon).await.len(), REFUSALS_RECORDED_MAX as usize);
    // A refused read changes nothing and is not recorded.
    let mut approvals = JournalServiceClient::new(daemon.remote().await);
    let list = v1::ListEntriesRequest { from_seq: 0, limit: 1 };
    approvals.list_entries(bearing(&token, list)).await.unwrap_err();
    assert_eq!(refusals(&daemon).await.len(), REFUSALS_RECORDED_MAX as usize);
}

/// Case: an owner's token that was stolen changes what the daemon allows. The control is the same call with a code.
#[tokio::test]
async fn an_owner_s_change_over_the_network_needs_a_code_that_holds_once() {
    let daemon = TestDaemon::start().await;
    let token = daemon.token_of(program("user:local", Some(ScopeSet::of(&[AccessScope::Admin])))).await;
    let (channel, mut socket) = (daemon.remote().await, AdminServiceClient::new(daemon.local().await));
    let mut people = PeopleServiceClient::new(channel.clone());
    let add = |name: &str, code: Option<&str>| {
        let (name, role) = (name.to_owned(), v1::PrincipalRole::Viewer.into());
        let mut request = bearing(&token, v1::CreatePersonRequest { name, role });
        if let Some(code) = code {
            request.metadata_mut().insert("palyra-confirmation", code.parse().unwrap());
        }
        request
    };
    let code = |made: tonic::Response<v1::CreateConfirmationResponse>| made.into_inner().code;
    let good = code(socket.create_confirmation(v1::CreateConfirmationRequest {}).await.unwrap());
    for wrong in [None, Some("AAAAA-AAAAA"), Some("")] {
        let refused = people.create_person(add("user:mallory", wrong)).await.unwrap_err();
        assert_refused(&refused, Code::PermissionDenied, ErrorCode::ConfirmationNeeded);
    }
    people.create_person(add("user:alice", Some(&good))).await.unwrap();
    let refused = people.create_person(add("user:mallory", Some(&good))).await.unwrap_err();
    assert_refused(&refused, Code::PermissionDenied, ErrorCode::ConfirmationNeeded);
    let late = code(socket.create_confirmation(v1::CreateConfirmationRequest {}).await.unwrap());
    daemon.pass(Duration::from_secs(60));
    people.create_person(add("user:mallory", Some(&late))).await.unwrap_err();
    let named: Vec<String> = {
        let list = bearing(&token, v1::ListPeopleRequest {});
        let people = people.list_people(list).await.unwrap().into_inner().people;
        people.into_iter().map(|person| person.name).collect()
    };
    assert_eq!(named, ["user:alice", "user:local"]);
    assert_eq!(refusals(&daemon).await.len(), 5, "each refusal is recorded");

    // Neither is a code made over the network, nor does one open what stays at the socket.
    let mut admin = AdminServiceClient::new(channel);
    let refused =
        admin.create_confirmation(bearing(&token, v1::CreateConfirmationRequest {})).await.unwrap_err();
    assert_refused(&refused, Code::PermissionDenied, ErrorCode::PermissionDenied);
    let mut stop = bearing(&token, v1::ShutdownRequest::default());
    let fresh = code(socket.create_confirmation(v1::CreateConfirmationRequest {}).await.unwrap());
    stop.metadata_mut().insert("palyra-confirmation", fresh.parse().unwrap());
    let refused = admin.shutdown(stop).await.unwrap_err();
    assert_refused(&refused, Code::PermissionDenied, ErrorCode::PermissionDenied);
    assert!(!daemon.stop_request.is_cancelled());
}

/// Returns what the status says of the surfaces that reach a person who may approve.
async fn reach(daemon: &TestDaemon) -> String {
    let mut admin = AdminServiceClient::new(daemon.local().await);
    let status = admin.get_status(v1::GetStatusRequest {}).await.unwrap().into_inner();
    status.checks.into_iter().find(|check| check.name == "approver_reach").unwrap().found
}

/// Waits until the status says this: a stream that was dropped is noticed a moment later.
async fn until_reach(daemon: &TestDaemon, wanted: &str) {
    let said = async { while reach(daemon).await != wanted {} };
    tokio::time::timeout(PATIENCE, said).await.expect("the status changes");
}

#[tokio::test]
async fn the_status_names_surfaces_with_an_open_stream_of_a_person_who_may_approve() {
    let daemon = TestDaemon::start().await;
    let none = "no program is open that shows new questions to a person who may approve them (`palyra approve watch` does, a chat at its prompt does not)";
    assert_eq!(reach(&daemon).await, none);
    let token = daemon.token("user:alice").await;
    daemon.provider.push(Script::new().hang());
    let say = Say::Start(start("hello"));
    let mut program = Talk::open_bearing(daemon.remote().await, &token, say).await.unwrap();
    program.opened().await;
    assert_eq!(reach(&daemon).await, none, "a program decides nothing");

    let mut owner = ApprovalsServiceClient::new(daemon.local().await);
    let watch = owner.watch_approvals(v1::WatchApprovalsRequest::default()).await.unwrap();
    assert_eq!(reach(&daemon).await, "local_socket (1 person, 1 stream)");
    daemon.provider.push(Script::new().hang());
    let mut talk = Talk::open(daemon.local().await, Say::Start(start("hello"))).await.unwrap();
    talk.opened().await;
    assert_eq!(reach(&daemon).await, "local_socket (1 person, 2 streams)");
    drop(watch);
    until_reach(&daemon, "local_socket (1 person, 1 stream)").await;
    drop(talk);
    until_reach(&daemon, none).await;
    drop(program);
}
