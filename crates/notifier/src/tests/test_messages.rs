//! Test messages take the way of every message, and the list of targets says what became of them.

use palyra_notify::HOURLY_MESSAGES_MAX;
use palyra_ports::{DeliverError, DeliverySettings};
use palyra_types::ErrorCode;
use palyra_types::delivery::DeliveryStage::{Failed, Sending, Sent, Unknown};
use palyra_types::delivery::DeliveryTargetKind::{Command, Desktop, Webhook};
use palyra_types::delivery::{DeliveryStage, DeliveryTargetKind};

use super::rig::{Answer, Rig, quiet, to};

impl Rig {
    async fn test(&self, only: Option<DeliveryTargetKind>) -> Vec<(DeliveryTargetKind, DeliveryStage)> {
        let keys = self.handle.test(only).await.unwrap();
        self.settle().await;
        let found = self.handle.messages(keys).await.unwrap();
        found.iter().map(|one| (one.target_kind, one.stage)).collect()
    }
}

#[tokio::test]
async fn a_test_message_is_recorded_and_sent_to_the_wanted_targets_also_in_quiet_hours() {
    let rig = Rig::start(quiet("00:00", "06:00", to(&[Command, Webhook])));
    let mut changes = rig.handle.watch_changes();
    changes.mark_unchanged();
    assert_eq!(rig.test(None).await, [(Command, Sent), (Webhook, Sent)]);
    assert!(changes.has_changed().unwrap());
    rig.advance(1).await;
    assert_eq!(rig.test(Some(Webhook)).await, [(Webhook, Sent)]);
    let bodies = rig.sent_bodies();
    assert_eq!((bodies.len(), bodies[0].contains(r#"{"type":"notification.test""#)), (3, true), "{bodies:?}");
    let targets = rig.handle.targets().await.unwrap();
    let shown: Vec<_> =
        targets.iter().map(|one| (one.target.kind, one.delivered.is_some(), one.open)).collect();
    assert_eq!(shown, [(Command, true, 0), (Webhook, true, 0)]);
}

#[tokio::test]
async fn a_test_without_its_target_is_refused_and_records_nothing() {
    let rig = Rig::start(DeliverySettings::default());
    let refused = rig.handle.test(None).await.unwrap_err();
    assert_eq!(
        (refused.code(), refused.to_string().as_str()),
        (ErrorCode::NoNotificationTarget, "no target of notifications is configured")
    );
    rig.settings.send_replace(to(&[Command, Webhook]).into());
    let refused = rig.handle.test(Some(Desktop)).await.unwrap_err();
    let expected = "the target `desktop` is not configured; those that are: command, webhook";
    assert_eq!(refused.to_string(), expected);
    assert_eq!(rig.messages().await, []);
}

#[tokio::test]
async fn a_test_that_fails_is_listed_with_its_reason_and_tried_again() {
    let rig = Rig::start(to(&[Command, Webhook]));
    let in_doubt = DeliverError::InDoubt { why: "the program did not end within 10 s".to_owned() };
    let not_sent = DeliverError::NotSent { why: "the server answered 503".to_owned() };
    rig.world.lock().answers.push_back(Answer::Fails(in_doubt));
    assert_eq!(rig.test(Some(Command)).await, [(Command, Unknown)]);
    rig.world.lock().answers.push_back(Answer::Fails(not_sent));
    assert_eq!(rig.test(Some(Webhook)).await, [(Webhook, Failed)]);
    let targets = rig.handle.targets().await.unwrap();
    let why = |at: usize| targets[at].latest.as_ref().unwrap().explanation.expose().clone();
    assert_eq!(
        (why(0).as_str(), why(1).as_str()),
        ("the program did not end within 10 s", "the server answered 503")
    );
    assert_eq!((targets[0].unknown, targets[1].open, targets[1].delivered), (1, 1, None));
    rig.advance(60).await;
    let targets = rig.handle.targets().await.unwrap();
    assert_eq!((targets[1].open, targets[1].delivered.is_some()), (0, true));
    assert_eq!((targets[0].unknown, targets[0].delivered), (1, None), "a command is not run again");
}

#[tokio::test]
async fn a_test_that_was_being_sent_is_sent_again_by_the_next_process_where_its_receiver_can_drop_it() {
    let rig = Rig::start(to(&[Command, Webhook]));
    rig.world.lock().answers.extend([Answer::Never, Answer::Never]);
    assert_eq!(rig.test(None).await, [(Command, Sending), (Webhook, Sending)]);
    let again = rig.killed_and_restarted();
    again.settle().await;
    again.advance(60).await;
    assert_eq!(again.stages().await, [(Command, Unknown), (Webhook, Sent)]);
    assert_eq!(again.sent_ids().len(), 3);
}

#[tokio::test]
async fn tests_count_in_the_hourly_limit() {
    let rig = Rig::start(to(&[Webhook]));
    for _ in 0..HOURLY_MESSAGES_MAX {
        rig.advance(1).await;
        assert_eq!(rig.test(None).await, [(Webhook, Sent)]);
    }
    rig.advance(1).await;
    let refused = rig.handle.test(None).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::QueueFull, "{refused}");
    rig.advance(3_600).await;
    assert_eq!(rig.test(None).await, [(Webhook, Sent)]);
}
