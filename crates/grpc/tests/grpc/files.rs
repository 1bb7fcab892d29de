//! Files with inputs: inside the message, in parts on a stream, out again, and every way to send them wrongly.

use palyra_testkit::{Gate, Script};
use palyra_types::ErrorCode;
use palyra_types::attachment::AttachmentBody;
use palyra_types::model::ChatMessage;
use palyra_wire::v1::gateway_service_client::GatewayServiceClient;
use palyra_wire::v1::run_stream_request::Frame as Say;
use palyra_wire::v1::run_stream_response::Frame;
use palyra_wire::v1::tape_entry::Event;
use palyra_wire::v1::{
    Attachment, AttachmentPart, Input, InputDelivery, ReadAttachmentRequest, RunState, SendInputRequest,
    StartRunRequest,
};
use tonic::transport::Channel;
use tonic::{Code, Status};

use crate::daemon::TestDaemon;
use crate::raw::assert_refused;
use crate::talk::{Talk, bearing, start};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\npixels";

fn inside(name: &str, content: &[u8]) -> Attachment {
    Attachment { name: name.to_owned(), content: content.to_vec(), ..Attachment::default() }
}

fn announced(name: &str, bytes: usize) -> Attachment {
    Attachment { name: name.to_owned(), bytes: bytes as u64, ..Attachment::default() }
}

fn with(attachments: Vec<Attachment>) -> StartRunRequest {
    StartRunRequest { attachments, ..start("look at this") }
}

fn part(index: u32, data: &[u8]) -> Say {
    Say::AttachmentPart(AttachmentPart { index, data: data.to_vec() })
}

async fn read(
    channel: Channel,
    run_id: &str,
    tape_seq: u32,
    index: u32,
) -> Result<(String, Vec<u8>), Status> {
    let message = ReadAttachmentRequest { run_id: run_id.to_owned(), tape_seq, index };
    let mut parts = GatewayServiceClient::new(channel).read_attachment(message).await?.into_inner();
    let (mut media_type, mut bytes) = (String::new(), Vec::new());
    while let Some(part) = parts.message().await? {
        assert_eq!(part.info.is_some(), media_type.is_empty(), "what is known comes with the first part");
        if let Some(info) = part.info {
            media_type = info.media_type;
        }
        assert!(part.data.len() <= 1024 * 1024);
        bytes.extend(part.data);
    }
    Ok((media_type, bytes))
}

#[tokio::test]
async fn files_inside_a_message_are_recorded_shown_and_given_back() {
    let daemon = TestDaemon::start().await;
    let mut client = GatewayServiceClient::new(daemon.local().await);
    let message = with(vec![inside("a.png", PNG), inside("b.md", b"# words"), inside("empty.txt", b"")]);
    let opened = client.start_run(message).await.unwrap().into_inner().opened.unwrap();
    let mut talk = Talk::open(daemon.local().await, crate::talk::attach(&opened.run_id, 0)).await.unwrap();
    let (heard, end) = talk.rest().await;
    assert_eq!(end.state(), RunState::Done);
    let Some(Event::RunStarted(started)) = heard.events().next() else { panic!("first comes RunStarted") };
    let known: Vec<_> =
        started.attachments.iter().map(|info| (info.index, info.media_type.as_str(), info.bytes)).collect();
    assert_eq!(known, [(0, "image/png", PNG.len() as u64), (1, "text/markdown", 7), (2, "text/plain", 0)]);
    assert_eq!(
        read(daemon.local().await, &opened.run_id, 1, 0).await.unwrap(),
        ("image/png".into(), PNG.to_vec())
    );
    assert_eq!(read(daemon.local().await, &opened.run_id, 1, 1).await.unwrap().1, b"# words");
    assert_eq!(read(daemon.local().await, &opened.run_id, 1, 2).await.unwrap().1, b"");
    let request = daemon.provider.requests()[0].clone();
    let ChatMessage::User { attachments, .. } = &request.messages[0] else { panic!("somebody asked") };
    assert_eq!(attachments.len(), 3);
    assert!(
        matches!(&attachments[1].attachment.body, AttachmentBody::Text(text) if text.expose() == "# words")
    );
}

#[tokio::test]
async fn large_files_come_in_parts_and_go_in_parts() {
    let daemon = TestDaemon::start().await;
    let large: Vec<u8> = [PNG, &vec![7; 3 * 1024 * 1024]].concat();
    let message =
        with(vec![announced("a.png", large.len()), inside("b.txt", b"words"), announced("c.txt", 5)]);
    let (talk, tail) = (Talk::open_saying(daemon.local().await, Say::Start(message)).await, large.len());
    for from in (0..tail).step_by(1024 * 1024) {
        talk.say(part(0, &large[from..tail.min(from + 1024 * 1024)])).await;
    }
    talk.say(part(2, b"la")).await;
    talk.say(part(2, b"ter")).await;
    let mut talk = talk.heard().await.unwrap();
    let run = talk.opened().await.run_id;
    assert_eq!(talk.rest().await.1.state(), RunState::Done);
    let (media_type, back) = read(daemon.local().await, &run, 1, 0).await.unwrap();
    assert!(media_type == "image/png" && back == large);
    assert_eq!(read(daemon.local().await, &run, 1, 2).await.unwrap().1, b"later");
}

#[tokio::test]
async fn wrong_parts_are_refused_and_nothing_is_recorded() {
    let daemon = TestDaemon::start().await;
    let wrong: Vec<(Say, ErrorCode)> = vec![
        (part(1, b"x"), ErrorCode::InvalidFrame),
        (part(0, b""), ErrorCode::InvalidFrame),
        (part(0, b"four"), ErrorCode::InvalidFrame),
        (Say::Cancel(palyra_wire::v1::Cancel {}), ErrorCode::InvalidFrame),
        (Say::Start(start("again")), ErrorCode::InvalidFrame),
    ];
    for (frame, code) in wrong {
        let message = with(vec![announced("a.txt", 3)]);
        let talk = Talk::open_saying(daemon.local().await, Say::Start(message)).await;
        talk.say(frame).await;
        assert_refused(&talk.heard().await.err().unwrap(), Code::InvalidArgument, code);
    }
    let lying = Attachment { media_type: "image/png".to_owned(), ..inside("a.png", b"%PDF-1.7") };
    let refused =
        GatewayServiceClient::new(daemon.local().await).start_run(with(vec![lying])).await.unwrap_err();
    assert_refused(&refused, Code::InvalidArgument, ErrorCode::AttachmentRefused);
    assert!(refused.message().contains("image/png") && refused.message().contains("application/pdf"));
    let many: Vec<_> = (0..33).map(|_| inside("a.txt", b"x")).collect();
    let other_size = Attachment { bytes: 9, ..inside("a.txt", b"x") };
    for (attachments, code) in [
        (many, ErrorCode::AttachmentRefused),
        (vec![announced("a.txt", 17 << 20)], ErrorCode::AttachmentRefused),
        (vec![inside("../a.txt", b"x")], ErrorCode::AttachmentRefused),
        (vec![announced("a.txt", 3)], ErrorCode::InvalidFrame),
        (vec![other_size], ErrorCode::InvalidFrame),
    ] {
        let refused = GatewayServiceClient::new(daemon.local().await).start_run(with(attachments)).await;
        assert_refused(&refused.unwrap_err(), Code::InvalidArgument, code);
    }
    let mut client = GatewayServiceClient::new(daemon.local().await);
    let runs = client.list_runs(palyra_wire::v1::ListRunsRequest::default()).await;
    assert!(runs.unwrap().into_inner().runs.is_empty());
}

#[tokio::test]
async fn steering_brings_its_files_along() {
    let daemon = TestDaemon::start().await;
    let gate = Gate::closed();
    daemon.provider.push(Script::new().hold(&gate).call("look", "{}"));
    let mut talk = Talk::open(daemon.local().await, Say::Start(start("go"))).await.unwrap();
    let run = talk.opened().await.run_id;
    gate.reached().await;
    let steering = Input {
        text: "like this".to_owned(),
        delivery: InputDelivery::Steer.into(),
        attachments: vec![announced("a.png", PNG.len())],
        ..Input::default()
    };
    talk.say(Say::Input(steering)).await;
    talk.say(part(0, PNG)).await;
    let heard = talk.until(|frame| matches!(frame, Frame::InputAccepted(_))).await;
    let Some(Frame::InputAccepted(accepted)) = heard.others.last() else { panic!("until() stops there") };
    assert_eq!((accepted.run_id.as_str(), accepted.queued), (run.as_str(), false));
    assert_eq!(accepted.delivered_as(), InputDelivery::Steer);
    gate.open();
    let (rest, end) = talk.rest().await;
    assert_eq!(end.state(), RunState::Done);
    let mut entries = heard.entries.iter().chain(&rest.entries);
    let said = entries.find(|entry| matches!(entry.event, Some(Event::InputReceived(_)))).unwrap();
    let back = read(daemon.local().await, &run, said.tape_seq, 0).await.unwrap();
    assert_eq!(back, ("image/png".into(), PNG.to_vec()));
}

#[tokio::test]
async fn a_file_that_is_not_there_and_somebody_elses_are_told_apart_from_nothing() {
    let daemon = TestDaemon::start().await;
    let mut client = GatewayServiceClient::new(daemon.local().await);
    let message = with(vec![inside("a.txt", b"secret")]);
    let opened = client.start_run(message).await.unwrap().into_inner().opened.unwrap();
    for (tape_seq, index) in [(1, 1), (0, 0), (2, 0), (99, 0), (u32::MAX, u32::MAX)] {
        let refused = read(daemon.local().await, &opened.run_id, tape_seq, index).await.unwrap_err();
        assert_refused(&refused, Code::InvalidArgument, ErrorCode::InvalidArgument);
    }
    let bob = daemon.token("user:bob").await;
    let message = ReadAttachmentRequest { run_id: opened.run_id, tape_seq: 1, index: 0 };
    let mut his = GatewayServiceClient::new(daemon.remote().await);
    let refused = his.read_attachment(bearing(&bob, message)).await.unwrap_err();
    assert_refused(&refused, Code::NotFound, ErrorCode::RunNotFound);
}

#[tokio::test]
async fn the_same_input_with_another_file_is_another_input() {
    let daemon = TestDaemon::start().await;
    let mut client = GatewayServiceClient::new(daemon.local().await);
    let keyed = |content: &[u8]| StartRunRequest {
        idempotency_key: "once".to_owned(),
        ..with(vec![inside("a.png", &[PNG, content].concat())])
    };
    let first = client.start_run(keyed(b"1")).await.unwrap().into_inner().opened.unwrap();
    let again = client.start_run(keyed(b"1")).await.unwrap().into_inner().opened.unwrap();
    assert!(again.attached && again.run_id == first.run_id);
    let refused = client.start_run(keyed(b"2")).await.unwrap_err();
    assert_refused(&refused, Code::AlreadyExists, ErrorCode::IdempotencyConflict);
    let input = Input { attachments: vec![announced("a.txt", 1)], ..Input::default() };
    let message = SendInputRequest { run_id: first.run_id, input: Some(input), ..Default::default() };
    let refused = client.send_input(message).await.unwrap_err();
    assert_refused(&refused, Code::InvalidArgument, ErrorCode::InvalidFrame);
}
