//! Limits of the transport, over real sockets.

use std::time::Duration;

use palyra_grpc::ServeLimits;
use palyra_testkit::Script;
use palyra_wire::v1::ListRunsRequest;
use palyra_wire::v1::gateway_service_client::GatewayServiceClient;
use palyra_wire::v1::run_stream_request::Frame as Say;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tonic::metadata::MetadataValue;

use crate::daemon::{DaemonSetup, PATIENCE, TestDaemon};
use crate::talk::{Talk, bearing, start};

fn with(limits: ServeLimits) -> DaemonSetup {
    DaemonSetup { limits, ..DaemonSetup::default() }
}

/// Waits until the server closes this connection.
async fn closed(mut stream: TcpStream) {
    let mut rest = Vec::new();
    let read = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut rest)).await.expect("it is closed");
    // A reset is as good as an end.
    drop(read);
}

/// Connects, greets as HTTP/2 does, and says nothing more.
async fn idle(daemon: &TestDaemon) -> TcpStream {
    let mut idle = TcpStream::connect(daemon.tcp).await.unwrap();
    // The preface and an empty SETTINGS frame.
    drop(idle.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await);
    idle
}

#[tokio::test]
async fn connections_without_a_token_keep_nobody_out() {
    let limits = ServeLimits { connections_max: 32, ..ServeLimits::default() };
    let daemon = TestDaemon::start_with(with(limits)).await;
    let token = daemon.token("user:alice").await;
    let list = || bearing(&token, ListRunsRequest::default());
    let mut early = GatewayServiceClient::new(daemon.remote().await);
    early.list_runs(list()).await.unwrap();
    let mut held = Vec::new();
    for _ in 0..200 {
        held.push(idle(&daemon).await);
    }
    for _ in 0..3 {
        let mut late = GatewayServiceClient::new(daemon.remote().await);
        late.list_runs(list()).await.expect("who has a token is served");
        late.list_runs(list()).await.expect("again, on the same connection");
    }
    early.list_runs(list()).await.expect("and who was there before goes on");
    let mut owner = GatewayServiceClient::new(daemon.local().await);
    owner.list_runs(ListRunsRequest::default()).await.unwrap();
    // The control: what was held is closed, the oldest first.
    closed(held.swap_remove(0)).await;
}

#[tokio::test]
async fn a_silent_connection_is_closed() {
    let limits = ServeLimits { greeting_span: Duration::from_millis(50), ..ServeLimits::default() };
    let daemon = TestDaemon::start_with(with(limits)).await;
    closed(TcpStream::connect(daemon.tcp).await.unwrap()).await;
    let mut slow = TcpStream::connect(daemon.tcp).await.unwrap();
    slow.write_all(b"PRI * HTTP/2.0").await.unwrap();
    closed(slow).await;
}

#[tokio::test]
async fn a_connection_that_answers_no_ping_is_closed() {
    let limits = ServeLimits { keep_alive_span: Duration::from_millis(50), ..ServeLimits::default() };
    let daemon = TestDaemon::start_with(with(limits)).await;
    let mut dead = TcpStream::connect(daemon.tcp).await.unwrap();
    // The preface and an empty SETTINGS frame, then nothing more.
    dead.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await.unwrap();
    closed(dead).await;
}

#[tokio::test]
async fn a_call_with_too_much_metadata_fails_alone() {
    let daemon = TestDaemon::start().await;
    let token = daemon.token("user:alice").await;
    let channel = daemon.remote().await;
    let mut client = GatewayServiceClient::new(channel);
    let mut request = bearing(&token, ListRunsRequest::default());
    for number in 0..2_000_u32 {
        let key: tonic::metadata::AsciiMetadataKey = format!("x-{number}").parse().unwrap();
        request.metadata_mut().insert(key, MetadataValue::from_static("0123456789"));
    }
    client.list_runs(request).await.unwrap_err();
    client.list_runs(bearing(&token, ListRunsRequest::default())).await.unwrap();
}

#[tokio::test]
async fn calls_beyond_the_number_for_a_connection_wait_for_their_turn() {
    let limits = ServeLimits { streams_per_connection_max: 2, ..ServeLimits::default() };
    let daemon = TestDaemon::start_with(with(limits)).await;
    daemon.provider.otherwise(Script::new().hang());
    let channel = daemon.local().await;
    let mut first = Talk::open(channel.clone(), Say::Start(start("hi"))).await.unwrap();
    let mut second = Talk::open(channel.clone(), Say::Start(start("hi"))).await.unwrap();
    first.opened().await;
    second.opened().await;
    let mut client = GatewayServiceClient::new(channel);
    let third = tokio::spawn(async move { client.list_runs(ListRunsRequest::default()).await });
    // Another connection has its own number; once it is answered, the third call had its chance.
    GatewayServiceClient::new(daemon.local().await).list_runs(ListRunsRequest::default()).await.unwrap();
    assert!(!third.is_finished());
    drop(first);
    tokio::time::timeout(PATIENCE, third).await.expect("its turn comes").unwrap().unwrap();
}

#[tokio::test]
async fn a_call_whose_message_never_comes_is_given_up() {
    let limits = ServeLimits { call_span: Duration::from_millis(100), ..ServeLimits::default() };
    let daemon = TestDaemon::start_with(with(limits)).await;
    let mut client = tonic::client::Grpc::new(daemon.local().await);
    client.ready().await.unwrap();
    let never = tokio_stream::pending::<GetRun>();
    let path = "/palyra.v1.GatewayService/GetRun".parse().unwrap();
    let codec = tonic_prost::ProstCodec::<GetRun, palyra_wire::v1::GetRunResponse>::default();
    let answer = client.streaming(tonic::Request::new(never), path, codec);
    let refused = tokio::time::timeout(PATIENCE, answer).await.expect("it is given up").err();
    assert!(refused.is_some());
}

type GetRun = palyra_wire::v1::GetRunRequest;
