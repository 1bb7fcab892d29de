//! Who announces files and means harm: room for others, an end to waiting, and no run behind a revoked token.

use palyra_testkit::Script;
use palyra_types::ErrorCode;
use palyra_wire::v1::gateway_service_client::GatewayServiceClient;
use palyra_wire::v1::run_stream_request::Frame as Say;
use palyra_wire::v1::{Attachment, AttachmentPart, ListRunsRequest, RunStreamRequest, StartRunRequest};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Channel;
use tonic::{Code, Status};

use crate::daemon::{PATIENCE, TestDaemon};
use crate::raw::assert_refused;
use crate::talk::{bearing, start};

fn announcing(bytes: &[u64]) -> Say {
    let file = |bytes: &u64| Attachment { name: "a.txt".to_owned(), bytes: *bytes, ..Attachment::default() };
    Say::Start(StartRunRequest { attachments: bytes.iter().map(file).collect(), ..start("CANARY") })
}

fn part(index: u32, data: &[u8]) -> Say {
    Say::AttachmentPart(AttachmentPart { index, data: data.to_vec() })
}

type Opening = tokio::task::JoinHandle<Result<(), Status>>;

/// Begins a stream and says nothing more by itself.
async fn begin(channel: &Channel, token: &str, first: Say) -> (mpsc::Sender<RunStreamRequest>, Opening) {
    let (say, frames) = mpsc::channel(16);
    say.send(RunStreamRequest { frame: Some(first) }).await.unwrap();
    let request = bearing(token, ReceiverStream::new(frames));
    let mut client = GatewayServiceClient::new(channel.clone());
    let opening = tokio::spawn(async move { client.run_stream(request).await.map(drop) });
    (say, opening)
}

async fn outcome(opening: Opening) -> Result<(), Status> {
    tokio::time::timeout(PATIENCE, opening).await.expect("an answer comes").unwrap()
}

#[tokio::test]
async fn a_token_revoked_while_its_files_come_starts_nothing() {
    let daemon = TestDaemon::start().await;
    daemon.provider.otherwise(Script::new().text("never"));
    let (token, channel) = (daemon.token("user:mallory").await, daemon.remote().await);
    let (say, opening) = begin(&channel, &token, announcing(&[2])).await;
    say.send(RunStreamRequest { frame: Some(part(0, b"x")) }).await.unwrap();
    let made = daemon.state.admin.access.known().tokens[0].id;
    daemon.state.admin.access.revoke_token(daemon.owner(), made).await.unwrap();
    say.send(RunStreamRequest { frame: Some(part(0, b"y")) }).await.unwrap();
    let refused = outcome(opening).await.unwrap_err();
    assert_refused(&refused, Code::Unauthenticated, ErrorCode::Unauthenticated);
    assert!(daemon.provider.requests().is_empty(), "the canary reached a model");
}

#[tokio::test]
async fn who_lets_streams_idle_leaves_room_to_others() {
    let daemon = TestDaemon::start().await;
    daemon.provider.otherwise(Script::new().text("done"));
    let (mallory, alice) = (daemon.token("user:mallory").await, daemon.token("user:alice").await);
    let (mut held, (tell, mut told)) = (Vec::new(), mpsc::channel(200));
    for _ in 0..8 {
        let channel = daemon.remote().await;
        for _ in 0..25 {
            let (say, opening) = begin(&channel, &mallory, announcing(&[4 << 20, 16 << 20])).await;
            held.push(say);
            let tell = tell.clone();
            tokio::spawn(async move { tell.send(opening.await.unwrap()).await });
        }
    }
    // Two find room and wait for their bytes; everybody else is told at once.
    for _ in 0..198 {
        let answer = tokio::time::timeout(PATIENCE, told.recv()).await.expect("an answer comes");
        assert_eq!(answer.unwrap().unwrap_err().code(), Code::ResourceExhausted);
    }
    assert!(told.try_recv().is_err(), "two still wait");
    let (say, opening) = begin(&daemon.remote().await, &alice, announcing(&[3])).await;
    say.send(RunStreamRequest { frame: Some(part(0, b"abc")) }).await.unwrap();
    outcome(opening).await.unwrap();
    drop(held);
}

#[tokio::test]
async fn sizes_that_lie_and_parts_for_nothing_record_nothing() {
    let daemon = TestDaemon::start().await;
    let (token, channel) = (daemon.token("user:mallory").await, daemon.remote().await);
    let lies: [(&[u64], Option<Say>); 8] = [
        (&[u64::MAX], None),
        (&[u64::MAX, u64::MAX], None),
        (&[1; 33], None),
        (&[16 << 20, 16 << 20], None),
        (&[1, 1], Some(part(1, b"x"))),
        (&[1], Some(part(u32::MAX, b"x"))),
        (&[1], Some(part(0, b""))),
        (&[1], Some(announcing(&[]))),
    ];
    for (bytes, more) in lies {
        let (say, opening) = begin(&channel, &token, announcing(bytes)).await;
        if let Some(frame) = more {
            say.send(RunStreamRequest { frame: Some(frame) }).await.unwrap();
        }
        let refused = outcome(opening).await.unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument, "{bytes:?}: {refused}");
    }
    for first in [part(0, b"CANARY"), Say::Input(Default::default())] {
        let (_say, opening) = begin(&channel, &token, first).await;
        assert_eq!(outcome(opening).await.unwrap_err().code(), Code::InvalidArgument);
    }
    assert!(daemon.provider.requests().is_empty());
    let mut client = GatewayServiceClient::new(channel);
    let runs = client.list_runs(bearing(&token, ListRunsRequest::default())).await.unwrap();
    assert!(runs.into_inner().runs.is_empty());
}
