//! The unary calls of principals: runs, tapes, sessions, agents, models.

use palyra_testkit::{Gate, Script};
use palyra_types::ErrorCode;
use palyra_types::model::ModelFailureClass;
use palyra_wire::v1::agents_service_client::AgentsServiceClient;
use palyra_wire::v1::gateway_service_client::GatewayServiceClient;
use palyra_wire::v1::models_service_client::ModelsServiceClient;
use palyra_wire::v1::run_stream_request::Frame as Say;
use palyra_wire::v1::sessions_service_client::SessionsServiceClient;
use palyra_wire::v1::{
    CancelRunRequest, GetRunRequest, Input, ListAgentsRequest, ListModelsRequest, ListRunsRequest,
    ListSessionsRequest, ReadSessionTapeRequest, ReadTapeRequest, ResolveSessionRequest, RunFilter, RunState,
    SendInputRequest, SessionSelector, StartRunRequest, TestModelRequest,
};
use tonic::Code;

use crate::daemon::TestDaemon;
use crate::raw::assert_refused;
use crate::talk::{Talk, attach, start};

fn keyed(key: &str) -> Option<SessionSelector> {
    Some(SessionSelector { session_key: key.to_owned(), ..SessionSelector::default() })
}

#[tokio::test]
async fn a_run_is_started_looked_at_and_cancelled_without_a_stream() {
    let daemon = TestDaemon::start().await;
    let gate = Gate::closed();
    daemon.provider.push(Script::new().hold(&gate).hang());
    let mut client = GatewayServiceClient::new(daemon.local().await);
    let opened = client.start_run(start("hi there")).await.unwrap().into_inner().opened.unwrap();
    gate.reached().await;
    let run_id = opened.run_id.clone();
    let run =
        client.get_run(GetRunRequest { run_id: run_id.clone() }).await.unwrap().into_inner().run.unwrap();
    assert_eq!((run.state(), run.phase_name().as_ref()), (RunState::InProgress, "running"));
    assert_eq!(
        (run.input_preview.as_str(), run.session_id.as_str()),
        ("hi there", opened.session_id.as_str())
    );

    let input = Some(Input { text: "more".to_owned(), idempotency_key: "k".to_owned(), ..Input::default() });
    let message = SendInputRequest { run_id: run_id.clone(), input, ..Default::default() };
    let accepted = client.send_input(message.clone()).await.unwrap().into_inner().accepted.unwrap();
    assert!(accepted.queued);
    let again = client.send_input(message).await.unwrap().into_inner().accepted.unwrap();
    assert_eq!(again.run_id, accepted.run_id);

    let cancel = CancelRunRequest { run_id: run_id.clone() };
    assert!(!client.cancel_run(cancel.clone()).await.unwrap().into_inner().already_finished);
    let mut talk = Talk::open(daemon.local().await, attach(&run_id, 0)).await.unwrap();
    assert_eq!(talk.rest().await.1.state(), RunState::Cancelled);
    let receipt = client.cancel_run(cancel).await.unwrap().into_inner();
    assert_eq!((receipt.state(), receipt.already_finished), (RunState::Cancelled, true));
    let run = client.get_run(GetRunRequest { run_id }).await.unwrap().into_inner().run.unwrap();
    assert_eq!((run.phase_name().as_ref(), run.reason_name().as_ref()), ("finished", "cancelled"));
}

#[tokio::test]
async fn a_tape_is_read_by_the_page_as_it_is_streamed() {
    let daemon = TestDaemon::start().await;
    daemon.provider.push(Script::new().call("look", "{}"));
    daemon.provider.push(Script::new().text("a wall"));
    let mut talk = Talk::open(daemon.local().await, Say::Start(start("look"))).await.unwrap();
    let opened = talk.opened().await;
    let told = talk.rest().await.0.entries;
    let mut client = GatewayServiceClient::new(daemon.local().await);
    let mut read = Vec::new();
    loop {
        let after_tape_seq = read.len() as u32;
        let message = ReadTapeRequest { run_id: opened.run_id.clone(), after_tape_seq, limit: 3 };
        let page = client.read_tape(message).await.unwrap().into_inner();
        assert!(page.entries.len() <= 3);
        read.extend(page.entries);
        if !page.more {
            break;
        }
    }
    assert_eq!(read, told);
    let message =
        ReadSessionTapeRequest { session_id: opened.session_id, after_seq: Some(told[0].seq), limit: 0 };
    let page = client.read_session_tape(message).await.unwrap().into_inner();
    assert_eq!((page.entries, page.more), (told[1..].to_vec(), false));
}

#[tokio::test]
async fn runs_are_listed_newest_first_by_the_page() {
    let daemon = TestDaemon::start().await;
    let mut client = GatewayServiceClient::new(daemon.local().await);
    let mut begun = Vec::new();
    for number in 0..5 {
        let mut talk =
            Talk::open(daemon.local().await, Say::Start(start(&format!("run {number}")))).await.unwrap();
        begun.insert(0, talk.opened().await.run_id);
        talk.rest().await;
    }
    let mut listed = Vec::new();
    let mut message =
        ListRunsRequest { page_size: 2, only: RunFilter::Finished.into(), ..ListRunsRequest::default() };
    loop {
        let page = client.list_runs(message.clone()).await.unwrap().into_inner();
        listed.extend(page.runs.into_iter().map(|run| run.run_id));
        if page.next_page_token.is_empty() {
            break;
        }
        message.page_token = page.next_page_token;
    }
    assert_eq!(listed, begun);
    let open = ListRunsRequest { only: RunFilter::Open.into(), ..ListRunsRequest::default() };
    assert!(client.list_runs(open).await.unwrap().into_inner().runs.is_empty());
    let bad = [
        ListRunsRequest { only: 77, ..ListRunsRequest::default() },
        ListRunsRequest { page_token: "second".to_owned(), ..ListRunsRequest::default() },
    ];
    // A delivery of a newer client: not taken as another one.
    let newer = StartRunRequest { delivery: 77, ..start("hi") };
    let refused = client.start_run(newer).await.unwrap_err();
    assert_refused(&refused, Code::InvalidArgument, ErrorCode::InvalidArgument);
    assert!(refused.message().contains("`delivery` must be"), "{refused:?}");
    for message in bad {
        let refused = client.list_runs(message).await.unwrap_err();
        assert_refused(&refused, Code::InvalidArgument, ErrorCode::InvalidArgument);
    }
}

#[tokio::test]
async fn sessions_are_found_opened_reset_and_listed() {
    let daemon = TestDaemon::start().await;
    let mut client = SessionsServiceClient::new(daemon.local().await);
    let message = ResolveSessionRequest { session: keyed("work"), agent: String::new(), branch_from: None };
    let made = client.resolve_session(message.clone()).await.unwrap().into_inner();
    assert!(made.created && !made.reset_applied);
    let found = client.resolve_session(message).await.unwrap().into_inner();
    assert!(!found.created);
    assert_eq!(found.session, made.session);
    let session = found.session.unwrap();
    assert_eq!((session.session_key.as_str(), session.runs), ("work", 0));

    let reset = SessionSelector { session_id: session.session_id.clone(), reset: true, ..Default::default() };
    let message = ResolveSessionRequest { session: Some(reset), agent: String::new(), branch_from: None };
    assert!(client.resolve_session(message).await.unwrap().into_inner().reset_applied);

    let missing = SessionSelector { require_existing: true, ..keyed("play").unwrap() };
    let message = ResolveSessionRequest { session: Some(missing), agent: String::new(), branch_from: None };
    let refused = client.resolve_session(message).await.unwrap_err();
    assert_refused(&refused, Code::NotFound, ErrorCode::SessionNotFound);

    for key in ["a", "b", "c"] {
        let message = ResolveSessionRequest { session: keyed(key), agent: String::new(), branch_from: None };
        client.resolve_session(message).await.unwrap();
    }
    let mut keys = Vec::new();
    let mut message = ListSessionsRequest { page_size: 3, page_token: String::new(), ..Default::default() };
    loop {
        let page = client.list_sessions(message.clone()).await.unwrap().into_inner();
        keys.extend(page.sessions.into_iter().map(|session| session.session_key));
        if page.next_page_token.is_empty() {
            break;
        }
        message.page_token = page.next_page_token;
    }
    keys.sort();
    assert_eq!(keys, ["a", "b", "c", "work"]);
    let bad = ListSessionsRequest { page_size: 1, page_token: "x".to_owned(), ..Default::default() };
    let refused = client.list_sessions(bad).await.unwrap_err();
    assert_refused(&refused, Code::InvalidArgument, ErrorCode::InvalidArgument);
}

#[tokio::test]
async fn an_id_and_a_key_of_different_sessions_do_not_mix() {
    let daemon = TestDaemon::start().await;
    let mut client = SessionsServiceClient::new(daemon.local().await);
    let message = ResolveSessionRequest { session: keyed("one"), agent: String::new(), branch_from: None };
    client.resolve_session(message).await.unwrap();
    let message = ResolveSessionRequest { session: keyed("two"), agent: String::new(), branch_from: None };
    let two = client.resolve_session(message).await.unwrap().into_inner().session.unwrap();
    let mixed = SessionSelector { session_id: two.session_id, ..keyed("one").unwrap() };
    let mut gateway = GatewayServiceClient::new(daemon.local().await);
    let message = StartRunRequest { session: Some(mixed), ..start("hi") };
    let refused = gateway.start_run(message).await.unwrap_err();
    assert_refused(&refused, Code::FailedPrecondition, ErrorCode::SessionMismatch);
}

#[tokio::test]
async fn agents_are_listed() {
    let daemon = TestDaemon::start().await;
    let mut client = AgentsServiceClient::new(daemon.local().await);
    let agents = client.list_agents(ListAgentsRequest {}).await.unwrap().into_inner().agents;
    let [main] = &agents[..] else { panic!("there is one agent") };
    assert_eq!((main.name.as_str(), main.archived, main.agent_id.len()), ("main", false, 26));
}

#[tokio::test]
async fn models_are_listed_and_tested() {
    let daemon = TestDaemon::start().await;
    let mut client = ModelsServiceClient::new(daemon.local().await);
    for ask_providers in [false, true] {
        let list = client.list_models(ListModelsRequest { ask_providers }).await.unwrap().into_inner();
        assert_eq!((list.default_model.as_str(), list.suggestions.len()), ("scripted/scripted", 1));
        let [model] = &list.models[..] else { panic!("there is one model") };
        assert_eq!((model.model.as_str(), model.error.as_str()), ("scripted/scripted", ""));
        assert!(model.context_tokens > 0);
    }
    daemon.provider.push(Script::new().text("Hello."));
    let test = client.test_model(TestModelRequest::default()).await.unwrap().into_inner();
    assert_eq!((test.ok, test.text.as_str(), test.model.as_str()), (true, "Hello.", "scripted/scripted"));
    daemon.provider.push(Script::new().fail(ModelFailureClass::Auth));
    let test = client.test_model(TestModelRequest::default()).await.unwrap().into_inner();
    assert_eq!((test.ok, test.error_code.as_str(), test.text.as_str()), (false, "PLY-3001", "scripted"));
    let refused = client
        .test_model(TestModelRequest { model: "nobody/nothing".to_owned(), ..Default::default() })
        .await
        .unwrap_err();
    assert_refused(&refused, Code::NotFound, ErrorCode::ModelNotConfigured);
}
