//! Sessions over the wire: steered, interrupted, branched, named, put away, searched.

use palyra_testkit::{Gate, Script};
use palyra_types::ErrorCode;
use palyra_wire::v1::gateway_service_client::GatewayServiceClient;
use palyra_wire::v1::run_stream_request::Frame as Say;
use palyra_wire::v1::sessions_service_client::SessionsServiceClient;
use palyra_wire::v1::{
    ArchiveSessionRequest, BranchPoint, CleanupSessionRequest, GetRunRequest, Input, InputDelivery,
    ListSessionsRequest, RenameSessionRequest, ResolveSessionRequest, RestoreSessionRequest, RunState,
    SendInputRequest, SessionFilter, SessionSelector, StartRunRequest,
};
use tonic::Code;

use crate::daemon::TestDaemon;
use crate::raw::assert_refused;
use crate::talk::{Talk, attach, start};

fn within(session_id: &str, input: &str, delivery: InputDelivery) -> StartRunRequest {
    let selector = SessionSelector { session_id: session_id.to_owned(), ..SessionSelector::default() };
    StartRunRequest { session: Some(selector), delivery: delivery.into(), ..start(input) }
}

#[tokio::test]
async fn an_input_steers_interrupts_and_says_how_it_was_taken() {
    let daemon = TestDaemon::start().await;
    let gate = Gate::closed();
    daemon.provider.push(Script::new().hold(&gate).hang());
    let mut client = GatewayServiceClient::new(daemon.local().await);
    let first = client.start_run(start("first")).await.unwrap().into_inner().opened.unwrap();
    gate.reached().await;
    let steer = within(&first.session_id, "to the left", InputDelivery::Steer);
    let joined = client.start_run(steer).await.unwrap().into_inner().opened.unwrap();
    assert!(joined.attached && joined.run_id == first.run_id && joined.notes.is_empty());
    let urgent = within(&first.session_id, "urgent", InputDelivery::Interrupt);
    let urgent = client.start_run(urgent).await.unwrap().into_inner().opened.unwrap();
    assert!(!urgent.attached);
    let mut talk = Talk::open(daemon.local().await, attach(&urgent.run_id, 0)).await.unwrap();
    assert_eq!(talk.rest().await.1.state(), RunState::Done);
    let run = client
        .get_run(GetRunRequest { run_id: first.run_id.clone() })
        .await
        .unwrap()
        .into_inner()
        .run
        .unwrap();
    assert_eq!((run.reason_name().as_ref(), run.state()), ("interrupted", RunState::Cancelled));
    let input = Input { text: "late".to_owned(), delivery: InputDelivery::Steer.into(), ..Input::default() };
    let message = SendInputRequest { run_id: first.run_id, input: Some(input), ..Default::default() };
    let accepted = client.send_input(message).await.unwrap().into_inner().accepted.unwrap();
    assert!(accepted.queued && accepted.delivered_as() == InputDelivery::Queue);
    assert!(accepted.note.contains("was over"), "{}", accepted.note);
}

#[tokio::test]
async fn a_session_branches_is_named_put_away_found_and_taken_up() {
    let daemon = TestDaemon::start().await;
    let mut sessions = SessionsServiceClient::new(daemon.local().await);
    let mut talk = Talk::open(daemon.local().await, Say::Start(start("the needle"))).await.unwrap();
    let opened = talk.opened().await;
    talk.rest().await;
    let point =
        |tape_seq| Some(BranchPoint { run_id: opened.run_id.clone(), tape_seq, ..BranchPoint::default() });
    let branch_at =
        |tape_seq| ResolveSessionRequest { branch_from: point(tape_seq), ..ResolveSessionRequest::default() };
    let branch = sessions.resolve_session(branch_at(0)).await.unwrap().into_inner();
    let branch_id = branch.session.as_ref().unwrap().session_id.clone();
    let from = branch.session.unwrap().branched_from.unwrap();
    assert!(branch.created && from.session_id == opened.session_id && from.run_id == opened.run_id);
    let refused = sessions.resolve_session(branch_at(99)).await.unwrap_err();
    assert_refused(&refused, Code::FailedPrecondition, ErrorCode::BranchOutOfRange);

    let rename =
        |label: &str| RenameSessionRequest { session_id: branch_id.clone(), label: label.to_owned() };
    let named = sessions.rename_session(rename("a Title")).await.unwrap().into_inner().session.unwrap();
    assert_eq!(named.label, "a Title");
    let archive = ArchiveSessionRequest { session_id: branch_id.clone() };
    assert!(
        sessions.archive_session(archive).await.unwrap().into_inner().session.unwrap().archived.is_some()
    );
    let mut client = GatewayServiceClient::new(daemon.local().await);
    let refused = client.start_run(within(&branch_id, "no", InputDelivery::Queue)).await.unwrap_err();
    assert_refused(&refused, Code::FailedPrecondition, ErrorCode::SessionArchived);

    for (search, only, expected) in [
        ("", "", vec![&opened.session_id]),
        ("", "archived", vec![&branch_id]),
        ("NEEDLE", "all", vec![&opened.session_id]),
        ("title", "all", vec![&branch_id]),
        ("title", "", vec![]),
    ] {
        let message = ListSessionsRequest {
            search: search.to_owned(),
            only: SessionFilter::from_short_name(only).unwrap().into(),
            ..ListSessionsRequest::default()
        };
        let listed = sessions.list_sessions(message).await.unwrap().into_inner().sessions;
        let ids: Vec<_> = listed.iter().map(|session| &session.session_id).collect();
        assert_eq!(ids, expected, "{search} {only}");
    }
    let wrong = [("x".repeat(201), 0), (String::new(), 77)];
    for (search, only) in wrong {
        let message = ListSessionsRequest { search, only, ..ListSessionsRequest::default() };
        let refused = sessions.list_sessions(message).await.unwrap_err();
        assert_refused(&refused, Code::InvalidArgument, ErrorCode::InvalidArgument);
    }
    let restore = RestoreSessionRequest { session_id: branch_id.clone() };
    let restored = sessions.restore_session(restore).await.unwrap().into_inner().session.unwrap();
    assert!(restored.archived.is_none() && restored.label == "a Title");
    let begun = client.start_run(within(&branch_id, "on we go", InputDelivery::Queue)).await.unwrap();
    let begun = begun.into_inner().opened.unwrap();
    Talk::open(daemon.local().await, attach(&begun.run_id, 0)).await.unwrap().rest().await;
    let cleaned = sessions.cleanup_session(CleanupSessionRequest { session_id: branch_id }).await.unwrap();
    assert_eq!(cleaned.into_inner().cancelled_runs, 0);
}

#[tokio::test]
async fn pages_of_sessions_follow_each_other_without_gap_or_repetition() {
    let daemon = TestDaemon::start().await;
    let mut sessions = SessionsServiceClient::new(daemon.local().await);
    for _ in 0..7 {
        sessions.resolve_session(ResolveSessionRequest::default()).await.unwrap();
    }
    let mut seen = Vec::new();
    let mut page_token = String::new();
    loop {
        let message = ListSessionsRequest { page_size: 3, page_token, ..ListSessionsRequest::default() };
        let page = sessions.list_sessions(message).await.unwrap().into_inner();
        seen.extend(page.sessions.into_iter().map(|session| session.session_id));
        page_token = page.next_page_token;
        if page_token.is_empty() {
            break;
        }
    }
    let all = seen.len();
    seen.sort();
    seen.dedup();
    assert_eq!((all, seen.len()), (7, 7));
}

#[tokio::test]
async fn a_schema_for_the_answer_is_an_object_and_not_too_large() {
    let daemon = TestDaemon::start().await;
    let mut client = GatewayServiceClient::new(daemon.local().await);
    let with = |response_schema: String| StartRunRequest { response_schema, ..start("hi") };
    for bad in ["[]".to_owned(), "nonsense".to_owned(), format!("{{\"a\":\"{}\"}}", "x".repeat(64 * 1024))] {
        let refused = client.start_run(with(bad)).await.unwrap_err();
        assert_refused(&refused, Code::InvalidArgument, ErrorCode::InvalidArgument);
    }
    let schema = r#"{"type":"object"}"#;
    daemon.provider.push(Script::new().text("{}"));
    let opened = client.start_run(with(schema.to_owned())).await.unwrap().into_inner().opened.unwrap();
    Talk::open(daemon.local().await, attach(&opened.run_id, 0)).await.unwrap().rest().await;
    let request = daemon.provider.requests()[0].clone();
    assert_eq!(request.response_format.as_ref().map(|format| format.schema.expose().as_ref()), Some(schema));
}
