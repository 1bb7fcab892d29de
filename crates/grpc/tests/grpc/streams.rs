//! `RunStream` as it is meant to be used.

use std::time::Duration;

use palyra_testkit::{Gate, Script};
use palyra_types::ErrorCode;
use palyra_wire::v1::gateway_service_client::GatewayServiceClient;
use palyra_wire::v1::run_stream_request::Frame as Say;
use palyra_wire::v1::run_stream_response::Frame;
use palyra_wire::v1::tape_entry::Event;
use palyra_wire::v1::{Cancel, GetRunRequest, RunState, StartRunRequest};
use tonic::Code;

use crate::daemon::{DaemonSetup, PATIENCE, TestDaemon};
use crate::raw::assert_refused;
use crate::talk::{Talk, attach, input, start};

fn dense(numbers: &[u32]) -> bool {
    numbers.iter().copied().eq(1..=u32::try_from(numbers.len()).unwrap())
}

#[tokio::test]
async fn a_run_is_opened_told_and_ended() {
    let daemon = TestDaemon::start().await;
    daemon.provider.push(Script::new().texts(&["Hello", ", ", "world"]));
    let mut talk = Talk::open(daemon.local().await, Say::Start(start("hi"))).await.unwrap();
    let opened = talk.opened().await;
    assert!(!opened.attached && opened.session_created);
    assert_eq!(opened.model, "scripted/scripted");
    let (heard, end) = talk.rest().await;
    assert!(dense(&heard.numbers()), "{:?}", heard.numbers());
    assert_eq!(heard.text(), "Hello, world");
    assert!(matches!(heard.events().next(), Some(Event::RunStarted(started)) if started.input == "hi"));
    assert!(matches!(heard.events().last(), Some(Event::RunFinished(_))));
    assert_eq!(end.state(), RunState::Done);
    assert_eq!(Some(&end.tape_seq), heard.numbers().last());
    assert_eq!(heard.others.iter().filter(|frame| matches!(frame, Frame::CaughtUp(_))).count(), 1);
    assert!(heard.entries.iter().all(|entry| entry.run_id == opened.run_id && entry.time.is_some()));
}

#[tokio::test]
async fn a_known_idempotency_key_attaches_to_its_run() {
    let daemon = TestDaemon::start().await;
    let message = StartRunRequest { idempotency_key: "once".to_owned(), ..start("hi") };
    let mut first = Talk::open(daemon.local().await, Say::Start(message.clone())).await.unwrap();
    let opened = first.opened().await;
    let (told, _) = first.rest().await;
    let mut second = Talk::open(daemon.local().await, Say::Start(message)).await.unwrap();
    let again = second.opened().await;
    assert_eq!((again.run_id, again.attached), (opened.run_id, true));
    assert_eq!((again.model, again.session_created), (opened.model, false));
    assert_eq!(second.rest().await.0.entries, told.entries);
}

#[tokio::test]
async fn a_half_close_does_not_end_the_stream() {
    let daemon = TestDaemon::start().await;
    let gate = Gate::closed();
    daemon.provider.push(Script::new().text("before").hold(&gate).text(" after"));
    let mut talk = Talk::open(daemon.local().await, Say::Start(start("hi"))).await.unwrap();
    gate.reached().await;
    talk.half_close();
    talk.until_event(|event| matches!(event, Event::ModelText(_))).await;
    gate.open();
    let (heard, end) = talk.rest().await;
    assert_eq!((heard.text().as_str(), end.state()), (" after", RunState::Done));
}

#[tokio::test]
async fn silence_is_filled_with_heartbeats() {
    let mut setup = DaemonSetup::default();
    setup.config.heartbeat = Duration::from_millis(20);
    let daemon = TestDaemon::start_with(setup).await;
    daemon.provider.push(Script::new().hang());
    let mut talk = Talk::open(daemon.local().await, Say::Start(start("hi"))).await.unwrap();
    let first = talk.until(|frame| matches!(frame, Frame::Heartbeat(_))).await;
    let second = talk.until(|frame| matches!(frame, Frame::Heartbeat(_))).await;
    let Some(Frame::Heartbeat(beat)) = second.others.last() else { panic!("until() stops there") };
    let last = first.numbers().into_iter().chain(second.numbers()).max();
    assert_eq!(Some(beat.tape_seq), last);
}

#[tokio::test]
async fn attaching_goes_on_after_a_number() {
    let daemon = TestDaemon::start().await;
    let gate = Gate::closed();
    daemon.provider.push(Script::new().text("one").hold(&gate).text("two"));
    let mut whole = Talk::open(daemon.local().await, Say::Start(start("hi"))).await.unwrap();
    let run = whole.opened().await.run_id;
    gate.reached().await;
    let mut late = Talk::open(daemon.local().await, attach(&run, 1)).await.unwrap();
    assert!(late.opened().await.attached);
    gate.open();
    let (told, end) = whole.rest().await;
    let (later, later_end) = late.rest().await;
    assert_eq!(later.entries, told.entries[1..]);
    assert_eq!(later_end, end);

    let mut after_all = Talk::open(daemon.local().await, attach(&run, end.tape_seq)).await.unwrap();
    assert_eq!(after_all.opened().await.model, "scripted/scripted");
    let (nothing, same_end) = after_all.rest().await;
    assert_eq!((nothing.entries.len(), same_end), (0, end.clone()));

    let beyond = Talk::open(daemon.local().await, attach(&run, end.tape_seq + 1)).await;
    assert_refused(&beyond.err().unwrap(), Code::OutOfRange, ErrorCode::AttachOutOfRange);
}

#[tokio::test]
async fn a_cancel_frame_ends_the_run() {
    let daemon = TestDaemon::start().await;
    daemon.provider.push(Script::new().text("never done").hang());
    let mut talk = Talk::open(daemon.local().await, Say::Start(start("hi"))).await.unwrap();
    talk.until_event(|event| matches!(event, Event::ModelText(_))).await;
    talk.say(Say::Cancel(Cancel {})).await;
    let (heard, end) = talk.rest().await;
    assert!(
        heard
            .events()
            .any(|event| matches!(event, Event::CancelRequested(wish) if wish.reason_name() == "user"))
    );
    assert_eq!(end.state(), RunState::Cancelled);
}

#[tokio::test]
async fn an_input_for_an_active_run_is_queued_as_a_new_one() {
    let daemon = TestDaemon::start().await;
    let gate = Gate::closed();
    daemon.provider.push(Script::new().hold(&gate).text("first"));
    let mut talk = Talk::open(daemon.local().await, Say::Start(start("hi"))).await.unwrap();
    let run = talk.opened().await.run_id;
    gate.reached().await;
    talk.say(input("and another thing")).await;
    let heard = talk.until(|frame| matches!(frame, Frame::InputAccepted(_))).await;
    let Some(Frame::InputAccepted(accepted)) = heard.others.last() else { panic!("until() stops there") };
    assert!(accepted.queued);
    assert_ne!(accepted.run_id, run);
    gate.open();
    assert_eq!(talk.rest().await.1.state(), RunState::Done);
    let mut next = Talk::open(daemon.local().await, attach(&accepted.run_id, 0)).await.unwrap();
    let (heard, end) = next.rest().await;
    assert!(
        matches!(heard.events().next(), Some(Event::RunStarted(started)) if started.input == "and another thing")
    );
    assert_eq!(end.state(), RunState::Done);
}

#[tokio::test]
async fn an_input_for_a_waiting_run_is_its_answer() {
    let daemon = TestDaemon::start().await;
    for _ in 0..3 {
        daemon.provider.push(Script::new().call("look", "{}"));
    }
    let mut talk = Talk::open(daemon.local().await, Say::Start(start("look around"))).await.unwrap();
    let run = talk.opened().await.run_id;
    let heard = talk.until_event(|event| matches!(event, Event::LoopDetected(_))).await;
    assert!(
        matches!(heard.events().last(), Some(Event::LoopDetected(found)) if found.guard_name() == "same_result")
    );
    let mut client = GatewayServiceClient::new(daemon.local().await);
    let found =
        client.get_run(GetRunRequest { run_id: run.clone() }).await.unwrap().into_inner().run.unwrap();
    assert_eq!((found.phase_name().as_ref(), found.waiting_for_name().as_ref()), ("waiting", "loop_check"));
    talk.say(input("go on")).await;
    let heard = talk.until(|frame| matches!(frame, Frame::InputAccepted(_))).await;
    let Some(Frame::InputAccepted(accepted)) = heard.others.last() else { panic!("until() stops there") };
    assert_eq!((accepted.run_id.as_str(), accepted.queued), (run.as_str(), false));
    assert_eq!(talk.rest().await.1.state(), RunState::Done);
}

#[tokio::test]
async fn a_client_that_leaves_does_not_take_the_run_along() {
    let daemon = TestDaemon::start().await;
    let gate = Gate::closed();
    daemon.provider.push(Script::new().hold(&gate).text("said to nobody"));
    let mut talk = Talk::open(daemon.local().await, Say::Start(start("hi"))).await.unwrap();
    let run = talk.opened().await.run_id;
    gate.reached().await;
    drop(talk);
    gate.open();
    let mut back = Talk::open(daemon.local().await, attach(&run, 0)).await.unwrap();
    let (heard, end) = back.rest().await;
    assert_eq!((heard.text().as_str(), end.state()), ("said to nobody", RunState::Done));
    assert_eq!(daemon.provider.counts().dropped, 0);
}

#[tokio::test]
async fn a_client_that_does_not_read_holds_nobody_back() {
    let mut setup = DaemonSetup::default();
    setup.config.limits.output_tokens_max = u64::MAX;
    let daemon = TestDaemon::start_with(setup).await;
    // Larger than the windows of a connection together with the queue.
    let piece = "x".repeat(16 * 1024);
    let pieces: Vec<&str> = std::iter::repeat_n(piece.as_str(), 800).collect();
    daemon.provider.push(Script::new().texts(&pieces));
    let mut idle = Talk::open(daemon.local().await, Say::Start(start("hi"))).await.unwrap();
    let run = idle.opened().await.run_id;
    let mut eager = Talk::open(daemon.local().await, attach(&run, 0)).await.unwrap();
    let (seen, end) = eager.rest().await;
    assert_eq!((seen.text().len(), end.state()), (800 * piece.len(), RunState::Done));
    let (late, _) = idle.rest().await;
    assert_eq!(late.entries, seen.entries);
}

#[tokio::test]
async fn a_revoked_token_ends_its_streams() {
    let mut setup = DaemonSetup::default();
    setup.config.heartbeat = Duration::from_millis(20);
    let daemon = TestDaemon::start_with(setup).await;
    let token = daemon.token("user:alice").await;
    daemon.provider.push(Script::new().hang());
    let mut talk = Talk::open_bearing(daemon.remote().await, &token, Say::Start(start("hi"))).await.unwrap();
    talk.opened().await;
    let made = daemon.state.admin.access.known().tokens[0].id;
    daemon.state.admin.access.revoke_token(daemon.owner(), made).await.unwrap();
    assert_refused(&talk.failure().await, Code::Unauthenticated, ErrorCode::Unauthenticated);
}

#[tokio::test]
async fn a_stop_ends_every_stream_and_then_serving() {
    let daemon = TestDaemon::start().await;
    daemon.provider.push(Script::new().hang());
    let mut talk = Talk::open(daemon.local().await, Say::Start(start("hi"))).await.unwrap();
    talk.opened().await;
    daemon.stop.cancel();
    assert_refused(&talk.failure().await, Code::Unavailable, ErrorCode::ShuttingDown);
    drop(talk);
    let mut daemon = daemon;
    let served = tokio::time::timeout(PATIENCE, &mut daemon.served).await.expect("serving ends");
    served.unwrap().unwrap();
}
