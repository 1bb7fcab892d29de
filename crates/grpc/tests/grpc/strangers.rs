//! What belongs to somebody else is answered like what does not exist: same code, same words, same metadata.

use palyra_testkit::Script;
use palyra_types::ErrorCode;
use palyra_wire::v1::gateway_service_client::GatewayServiceClient;
use palyra_wire::v1::sessions_service_client::SessionsServiceClient;
use palyra_wire::v1::{
    ArchiveSessionRequest, Attachment, BranchPoint, CancelRunRequest, CleanupSessionRequest, GetRunRequest,
    Input, ListRunsRequest, NamedKind, ReadAttachmentRequest, ReadSessionTapeRequest, ReadTapeRequest,
    RenameSessionRequest, ResolveIdRequest, ResolveSessionRequest, RestoreSessionRequest, RunStreamRequest,
    SendInputRequest, SessionSelector, StartRunRequest,
};
use prost::Message;

use crate::daemon::TestDaemon;
use crate::raw::{Answer, call};
use crate::talk::{attach, bearing, start};

const UNKNOWN: &str = "01BX5ZZKBKACTAV9WEVGEMMVRZ";

/// Every call that takes the id of a run or a session, with that id.
fn calls(run: &str, session: &str) -> Vec<(&'static str, Vec<u8>)> {
    let (run_id, session_id) = (run.to_owned(), session.to_owned());
    let selector = SessionSelector {
        session_id: session_id.clone(),
        require_existing: true,
        ..SessionSelector::default()
    };
    let input = Some(Input { text: "hi".to_owned(), idempotency_key: String::new(), ..Input::default() });
    let stream = RunStreamRequest { frame: Some(attach(run, 0)) };
    let resolve =
        ResolveSessionRequest { session: Some(selector.clone()), agent: String::new(), branch_from: None };
    let begin = StartRunRequest { session: Some(selector), ..start("hi") };
    let tape = ReadTapeRequest { run_id: run_id.clone(), ..ReadTapeRequest::default() };
    let session_tape = ReadSessionTapeRequest { session_id, ..ReadSessionTapeRequest::default() };
    let point = BranchPoint { run_id: run.to_owned(), tape_seq: 1, ..BranchPoint::default() };
    let branch = ResolveSessionRequest { branch_from: Some(point), ..ResolveSessionRequest::default() };
    let rename = RenameSessionRequest { session_id: session.to_owned(), label: "mine".to_owned() };
    let file = ReadAttachmentRequest { run_id: run.to_owned(), tape_seq: 1, index: 0 };
    vec![
        ("/palyra.v1.GatewayService/RunStream", stream.encode_to_vec()),
        ("/palyra.v1.GatewayService/StartRun", begin.encode_to_vec()),
        (
            "/palyra.v1.GatewayService/SendInput",
            SendInputRequest { run_id: run_id.clone(), input, ..Default::default() }.encode_to_vec(),
        ),
        ("/palyra.v1.GatewayService/CancelRun", CancelRunRequest { run_id: run_id.clone() }.encode_to_vec()),
        ("/palyra.v1.GatewayService/GetRun", GetRunRequest { run_id }.encode_to_vec()),
        ("/palyra.v1.GatewayService/ReadTape", tape.encode_to_vec()),
        ("/palyra.v1.GatewayService/ReadSessionTape", session_tape.encode_to_vec()),
        ("/palyra.v1.SessionsService/ResolveSession", resolve.encode_to_vec()),
        ("/palyra.v1.SessionsService/ResolveSession", branch.encode_to_vec()),
        ("/palyra.v1.SessionsService/RenameSession", rename.encode_to_vec()),
        (
            "/palyra.v1.SessionsService/RestoreSession",
            RestoreSessionRequest { session_id: session.to_owned() }.encode_to_vec(),
        ),
        ("/palyra.v1.GatewayService/ReadAttachment", file.encode_to_vec()),
        (
            "/palyra.v1.SessionsService/CleanupSession",
            CleanupSessionRequest { session_id: session.to_owned() }.encode_to_vec(),
        ),
        (
            "/palyra.v1.SessionsService/ArchiveSession",
            ArchiveSessionRequest { session_id: session.to_owned() }.encode_to_vec(),
        ),
    ]
}

fn with_a_file() -> StartRunRequest {
    let file = Attachment { name: "a.txt".to_owned(), content: b"secret".to_vec(), ..Attachment::default() };
    StartRunRequest { attachments: vec![file], ..start("my secret") }
}

#[tokio::test]
async fn a_strangers_ids_are_answered_like_unknown_ones() {
    let daemon = TestDaemon::start().await;
    daemon.provider.otherwise(Script::new().text("secret").hang());
    let channel = daemon.remote().await;
    let (alice, bob) = (daemon.token("user:alice").await, daemon.token("user:bob").await);
    let mut client = GatewayServiceClient::new(channel.clone());
    let begun = client.start_run(bearing(&alice, with_a_file())).await.unwrap().into_inner().opened.unwrap();
    let owners = GatewayServiceClient::new(daemon.local().await).start_run(with_a_file()).await.unwrap();
    let owners = owners.into_inner().opened.unwrap();

    let bearer = format!("Bearer {bob}");
    for theirs in [&begun, &owners] {
        let known = calls(&theirs.run_id, &theirs.session_id);
        for ((path, theirs), (_, unknown)) in known.into_iter().zip(calls(UNKNOWN, UNKNOWN)) {
            let theirs =
                call(&channel, path, theirs, &[&bearer]).await.err().unwrap_or_else(|| panic!("{path}"));
            let unknown =
                call(&channel, path, unknown, &[&bearer]).await.err().unwrap_or_else(|| panic!("{path}"));
            let (theirs, unknown) = (Answer::from(theirs), Answer::from(unknown));
            assert_eq!(theirs, unknown, "{path}");
            let code = &theirs.metadata["palyra-error-code"];
            let expected = [ErrorCode::RunNotFound, ErrorCode::SessionNotFound];
            assert!(expected.iter().any(|expected| code.contains(&expected.to_string())), "{path} {code}");
        }
    }
    // The same calls are answered to whom they belong.
    let bearer = format!("Bearer {alice}");
    for (path, message) in calls(&begun.run_id, &begun.session_id) {
        call(&channel, path, message, &[&bearer]).await.unwrap_or_else(|status| panic!("{path}: {status}"));
    }
}

#[tokio::test]
async fn a_part_of_a_strangers_id_is_not_found_and_makes_no_name_ambiguous() {
    let daemon = TestDaemon::start().await;
    let channel = daemon.remote().await;
    let (alice, bob) = (daemon.token("user:alice").await, daemon.token("user:bob").await);
    let mut client = GatewayServiceClient::new(channel.clone());
    let hers = client.start_run(bearing(&alice, start("hi"))).await.unwrap().into_inner().opened.unwrap();
    let named = |kind: &str, name: &str| ResolveIdRequest {
        kind: NamedKind::from_short_name(kind).unwrap().into(),
        name: name.to_owned(),
        ..ResolveIdRequest::default()
    };
    let names = [("run", &hers.run_id), ("session", &hers.session_id)];
    for (kind, id) in names {
        for part in [&id[..8], &id[22..], id.as_str()] {
            let found = client.resolve_id(bearing(&alice, named(kind, part))).await.unwrap().into_inner();
            assert_eq!(found.matches.iter().map(|found| &found.id).collect::<Vec<_>>(), [id]);
            let refused = client.resolve_id(bearing(&bob, named(kind, part))).await.unwrap_err();
            let unknown = client.resolve_id(bearing(&bob, named(kind, "0000"))).await.unwrap_err();
            assert_eq!((refused.code(), refused.message()), (unknown.code(), unknown.message()), "{part}");
        }
    }
    // What both have in common, their beginning, fits only his own.
    let his = client.start_run(bearing(&bob, start("hi"))).await.unwrap().into_inner().opened.unwrap();
    assert_eq!(his.run_id[..4], hers.run_id[..4]);
    let found = client.resolve_id(bearing(&bob, named("run", &his.run_id[..4]))).await.unwrap().into_inner();
    assert_eq!(found.matches.iter().map(|found| &found.id).collect::<Vec<_>>(), [&his.run_id]);
    for (kind, name) in [("token", "01BX"), ("grant", "01BX"), ("approval", "last"), ("run", "last~1")] {
        client.resolve_id(bearing(&bob, named(kind, name))).await.unwrap_err();
    }
}

#[tokio::test]
async fn lists_are_the_callers_own() {
    let daemon = TestDaemon::start().await;
    let channel = daemon.remote().await;
    let (alice, bob) = (daemon.token("user:alice").await, daemon.token("user:bob").await);
    let mut client = GatewayServiceClient::new(channel.clone());
    let begun = client.start_run(bearing(&alice, start("hi"))).await.unwrap().into_inner().opened.unwrap();
    let everything = ListRunsRequest::default();
    let of_session = ListRunsRequest { session_id: begun.session_id.clone(), ..ListRunsRequest::default() };
    for message in [everything, of_session] {
        let mine = client.list_runs(bearing(&alice, message.clone())).await.unwrap().into_inner();
        let his = client.list_runs(bearing(&bob, message)).await.unwrap().into_inner();
        assert_eq!((mine.runs.len(), his.runs.len()), (1, 0));
    }
    let mut sessions = SessionsServiceClient::new(channel);
    let mine = sessions.list_sessions(bearing(&alice, Default::default())).await.unwrap().into_inner();
    let his = sessions.list_sessions(bearing(&bob, Default::default())).await.unwrap().into_inner();
    assert_eq!((mine.sessions.len(), his.sessions.len()), (1, 0));
}

#[tokio::test]
async fn a_strangers_session_id_opens_a_session_of_ones_own() {
    let daemon = TestDaemon::start().await;
    let channel = daemon.remote().await;
    let (alice, bob) = (daemon.token("user:alice").await, daemon.token("user:bob").await);
    let mut client = GatewayServiceClient::new(channel.clone());
    let hers = client.start_run(bearing(&alice, start("hi"))).await.unwrap().into_inner().opened.unwrap();
    let selector = SessionSelector { session_id: hers.session_id.clone(), ..SessionSelector::default() };
    let message = StartRunRequest { session: Some(selector), ..start("hello") };
    let his = client.start_run(bearing(&bob, message)).await.unwrap().into_inner().opened.unwrap();
    assert!(his.session_created);
    let tape = ReadSessionTapeRequest { session_id: hers.session_id, ..ReadSessionTapeRequest::default() };
    let read = client.read_session_tape(bearing(&bob, tape)).await.unwrap().into_inner();
    assert!(read.entries.iter().all(|entry| entry.run_id == his.run_id) && !read.entries.is_empty());
}
