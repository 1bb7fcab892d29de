//! What a client can send that is not a proper call, and the code that answers it.

use palyra_testkit::Script;
use palyra_types::ErrorCode;
use palyra_wire::v1::gateway_service_client::GatewayServiceClient;
use palyra_wire::v1::run_stream_request::Frame as Say;
use palyra_wire::v1::{Cancel, Input, RunState, RunStreamRequest, SessionSelector, StartRunRequest};
use prost::Message;
use tonic::Code;
use tonic::body::Body;
use tonic::codegen::http;
use tower::{Service, ServiceExt};

use crate::daemon::TestDaemon;
use crate::raw::{assert_refused, call};
use crate::talk::{Talk, attach, bearing, input, start};

#[tokio::test]
async fn the_first_frame_is_start_or_attach() {
    let daemon = TestDaemon::start().await;
    let channel = daemon.local().await;
    for first in [None, Some(None), Some(Some(input("hi"))), Some(Some(Say::Cancel(Cancel {})))] {
        let refused = Talk::open_oddly(channel.clone(), first).await.err().unwrap();
        assert_refused(&refused, Code::InvalidArgument, ErrorCode::InvalidFrame);
    }
}

#[tokio::test]
async fn a_wrong_later_frame_ends_the_stream_and_not_the_run() {
    let daemon = TestDaemon::start().await;
    daemon.provider.push(Script::new().hang());
    let mut talk = Talk::open(daemon.local().await, Say::Start(start("hi"))).await.unwrap();
    let run = talk.opened().await.run_id;
    for wrong in [None, Some(Say::Start(start("again"))), Some(attach(&run, 0))] {
        let mut talk = Talk::open(daemon.local().await, attach(&run, 0)).await.unwrap();
        talk.say_oddly(wrong).await;
        assert_refused(&talk.failure().await, Code::InvalidArgument, ErrorCode::InvalidFrame);
    }
    talk.say(input(&"x".repeat(600 * 1024))).await;
    assert_refused(&talk.failure().await, Code::ResourceExhausted, ErrorCode::MessageTooLarge);
    let mut back = Talk::open(daemon.local().await, attach(&run, 0)).await.unwrap();
    back.say(Say::Cancel(Cancel {})).await;
    assert_eq!(back.rest().await.1.state(), RunState::Cancelled);
}

#[tokio::test]
async fn an_id_that_is_none_is_refused_wherever_one_is_expected() {
    let daemon = TestDaemon::start().await;
    let channel = daemon.local().await;
    let gateway = "/palyra.v1.GatewayService";
    for bad in [
        "",
        "x",
        "01ARZ3NDEKTSV4RRFFQ69G5FAU0",
        "01arz3ndektsv4rrffq69g5fav",
        "8ZZZZZZZZZZZZZZZZZZZZZZZZZ",
        "\u{1b}[31m",
    ] {
        let mut calls = vec![
            // Field 1 of each is the id.
            (format!("{gateway}/GetRun"), field_one(bad)),
            (format!("{gateway}/CancelRun"), field_one(bad)),
            (format!("{gateway}/SendInput"), field_one(bad)),
            (format!("{gateway}/ReadTape"), field_one(bad)),
            (format!("{gateway}/ReadSessionTape"), field_one(bad)),
            ("/palyra.v1.AdminService/RevokeToken".to_owned(), field_one(bad)),
            (
                format!("{gateway}/RunStream"),
                RunStreamRequest { frame: Some(attach(bad, 0)) }.encode_to_vec(),
            ),
        ];
        // There, an empty id means that none is given.
        if !bad.is_empty() {
            let selector = SessionSelector { session_id: bad.to_owned(), ..SessionSelector::default() };
            let message = StartRunRequest { session: Some(selector), ..start("hi") };
            calls.push((format!("{gateway}/StartRun"), message.encode_to_vec()));
            calls.push((format!("{gateway}/ListRuns"), field_one(bad)));
            let selector = field_one(bad);
            calls.push(("/palyra.v1.SessionsService/ResolveSession".to_owned(), nested(&selector)));
        }
        for (path, message) in calls {
            let refused =
                call(&channel, &path, message, &[]).await.err().unwrap_or_else(|| panic!("{path} {bad}"));
            let text = assert_refused(&refused, Code::InvalidArgument, ErrorCode::InvalidId);
            assert!(bad.is_empty() || bad == "x" || !text.contains(bad), "{text}");
        }
    }
}

/// A message whose field 1 is a text.
fn field_one(text: &str) -> Vec<u8> {
    nested(text.as_bytes())
}

/// A message whose field 1 is this message.
fn nested(inner: &[u8]) -> Vec<u8> {
    let length = u8::try_from(inner.len()).unwrap();
    assert!(length < 0x80);
    [&[0x0a, length], inner].concat()
}

#[tokio::test]
async fn a_value_that_is_not_allowed_is_named() {
    let daemon = TestDaemon::start().await;
    let mut client = GatewayServiceClient::new(daemon.local().await);
    let bad = [
        start(""),
        start(" \n\t"),
        StartRunRequest { model: "no-slash".to_owned(), ..start("hi") },
        StartRunRequest { workspace_root: "relative/path".to_owned(), ..start("hi") },
        StartRunRequest { workspace_root: "/nul\0byte".to_owned(), ..start("hi") },
        StartRunRequest { idempotency_key: "k".repeat(201), ..start("hi") },
    ];
    for message in bad {
        let refused = client.start_run(message.clone()).await.err().unwrap_or_else(|| panic!("{message:?}"));
        assert_refused(&refused, Code::InvalidArgument, ErrorCode::InvalidArgument);
    }
    let unknown_model = StartRunRequest { model: "nobody/nothing".to_owned(), ..start("hi") };
    let refused = client.start_run(unknown_model).await.unwrap_err();
    assert_refused(&refused, Code::NotFound, ErrorCode::ModelNotConfigured);
    let unknown_agent = StartRunRequest { agent: "nobody".to_owned(), ..start("hi") };
    assert_refused(
        &client.start_run(unknown_agent).await.unwrap_err(),
        Code::NotFound,
        ErrorCode::AgentNotFound,
    );
    assert_eq!(daemon.provider.counts().begun, 0);
}

#[tokio::test]
async fn a_folder_is_not_chosen_over_tcp() {
    let daemon = TestDaemon::start().await;
    let token = daemon.token("user:alice").await;
    let message = StartRunRequest { workspace_root: "/".to_owned(), ..start("hi") };
    let mut client = GatewayServiceClient::new(daemon.remote().await);
    let refused = client.start_run(bearing(&token, message)).await.unwrap_err();
    assert_refused(&refused, Code::PermissionDenied, ErrorCode::WorkspaceRefused);
}

#[tokio::test]
async fn a_message_over_the_limit_is_refused_and_the_connection_lives() {
    let daemon = TestDaemon::start().await;
    let mut client = GatewayServiceClient::new(daemon.local().await);
    for bytes in [600 * 1024, 5 * 1024 * 1024] {
        let refused = client.start_run(start(&"x".repeat(bytes))).await.unwrap_err();
        assert_refused(&refused, Code::ResourceExhausted, ErrorCode::MessageTooLarge);
    }
    let large = Say::Input(Input {
        text: "x".repeat(5 * 1024 * 1024),
        idempotency_key: String::new(),
        ..Input::default()
    });
    daemon.provider.push(Script::new().hang());
    let mut talk = Talk::open(daemon.local().await, Say::Start(start("hi"))).await.unwrap();
    talk.say(large).await;
    assert_refused(&talk.failure().await, Code::ResourceExhausted, ErrorCode::MessageTooLarge);
    client.start_run(start("hi")).await.unwrap();
}

#[tokio::test]
async fn bytes_that_are_no_message_are_refused() {
    let daemon = TestDaemon::start().await;
    // Five bytes of frame header, all of it text so that a string carries it.
    let frames = [
        ("a length of 2 GB", "\0\x7f\x7f\x7f\x7f", ErrorCode::MessageTooLarge, Code::ResourceExhausted),
        ("no protobuf", "\0\0\0\0\x02\x0a\x7f", ErrorCode::InvalidFrame, Code::InvalidArgument),
        ("a compressed flag", "\x01\0\0\0\x01x", ErrorCode::InvalidFrame, Code::InvalidArgument),
        ("an unknown flag", "\x02\0\0\0\x01x", ErrorCode::InvalidFrame, Code::InvalidArgument),
        ("half a frame", "\0\0\0", ErrorCode::InvalidFrame, Code::InvalidArgument),
    ];
    for path in ["/palyra.v1.GatewayService/GetRun", "/palyra.v1.GatewayService/RunStream"] {
        for (what, bytes, stable, code) in frames {
            let mut channel = daemon.local().await;
            let request = http::Request::builder()
                .method("POST")
                .uri(format!("http://localhost{path}"))
                .header("content-type", "application/grpc")
                .header("te", "trailers")
                .body(Body::new(bytes.to_owned()))
                .unwrap();
            let response = channel.ready().await.unwrap().call(request).await.unwrap();
            let status =
                tonic::Status::from_header_map(response.headers()).unwrap_or_else(|| panic!("{what}"));
            assert_refused(&status, code, stable);
        }
    }
}

#[tokio::test]
async fn an_unknown_call_is_unimplemented() {
    let daemon = TestDaemon::start().await;
    let channel = daemon.local().await;
    for path in ["/palyra.v1.GatewayService/Nothing", "/palyra.v1.Nothing/Nothing", "/"] {
        let refused = call(&channel, path, Vec::new(), &[]).await.unwrap_err();
        assert_eq!(refused.code(), Code::Unimplemented, "{path}");
    }
}
