//! The outbox over the memory journal: sent once, repeated, killed in between, quiet.

mod other_waits;
mod rig;
mod test_messages;

use palyra_background::queue::PersonAct;
use palyra_ports::{DeliverError, DeliverySettings, MaintainJournal};
use palyra_testkit::journal_suite::approval_entries::resolved;
use palyra_types::Seq;
use palyra_types::access::ActorIdentity;
use palyra_types::approval::ApprovalState;
use palyra_types::delivery::DeliveryKey;
use palyra_types::delivery::DeliveryStage::{Failed, GivenUp, Planned, Sending, Sent, Unknown};
use palyra_types::delivery::DeliveryTargetKind::{Command, Desktop, Webhook};
use palyra_types::event::JournalEvent;
use palyra_types::event::content::ContentLeaf;
use palyra_types::queued_task::TaskStage;
use palyra_types::surface::Surface;

use self::rig::{Answer, Rig, quiet, to};
use crate::delivery_check;
use crate::outbox::{NewMessage, record_planned};
use crate::parts::target_name;

fn not_sent() -> Answer {
    Answer::Fails(DeliverError::NotSent { why: "the server answered 503".to_owned() })
}

#[tokio::test]
async fn what_waits_is_sent_once_to_each_target() {
    let rig = Rig::start(to(&[Command, Webhook]));
    rig.ask(1, "go").await;
    assert_eq!(rig.stages().await, [(Command, Sent), (Webhook, Sent)]);
    rig.look_again().await;
    rig.ask(2, "go").await;
    rig.advance(3_600).await;
    assert_eq!(rig.stages().await.len(), 4);
    let mut ids = rig.sent_ids();
    assert_eq!(ids.len(), 4);
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 4);
    let again = rig.killed_and_restarted();
    again.settle().await;
    assert_eq!(again.sent_ids().len(), 4, "a restart sends nothing again");
}

#[tokio::test]
async fn no_word_of_a_conversation_is_in_a_message_or_its_facts() {
    let rig = Rig::start(to(&[Webhook, Desktop]));
    rig.ask(1, "canary-9f31 /home/me/canary-9f31.txt").await;
    let mut words = Vec::new();
    for entry in rig.journal.entries(Seq(0), 1_000).await.unwrap() {
        if matches!(entry.event, JournalEvent::Delivery(_) | JournalEvent::Task(_)) {
            continue;
        }
        entry.event.for_each_content(&mut |field, leaf| {
            if let ContentLeaf::Text(text) = leaf {
                words.push((field.to_string(), text.to_owned()));
            }
        });
    }
    let has_canary = words.iter().any(|(_, word)| word.contains("canary-9f31"));
    let has_summary = words.iter().any(|(field, _)| field == "approval_requested.prompt.summary");
    assert!(has_canary && has_summary, "the control");
    let bodies = rig.sent_bodies();
    assert_eq!(bodies.len(), 2);
    for body in bodies {
        for word in ["canary-9f31", "write_file", "write file", "/home/me"] {
            assert!(!body.contains(word), "{body}");
        }
        let allowed = ["type", "timestamp", "data", "kind", "agent", "risk", "id", "link"];
        let names: Vec<&str> = body.split('"').skip(1).step_by(2).collect();
        for name in names.iter().filter(|name| body.contains(&format!("\"{name}\":"))) {
            assert!(allowed.contains(name), "{name} in {body}");
        }
    }
}

#[tokio::test]
async fn a_message_that_was_recorded_and_not_sent_is_sent_by_the_next_process() {
    let rig = Rig::start(DeliverySettings::default());
    rig.ask(1, "go").await;
    let settings = to(&[Webhook]);
    let target = target_name(&settings.targets[0]);
    let key = DeliveryKey([7; 16]);
    // As a process that ends right after the append.
    let message = NewMessage { key, target, body: "{}".to_owned() };
    record_planned(&rig.parts, vec![message]).await.unwrap();
    rig.settings.send_replace(settings.into());
    let again = rig.killed_and_restarted();
    again.settle().await;
    assert!(again.sent_ids().contains(&key.message_id()));
    assert!(again.stages().await.iter().all(|(_, stage)| *stage == Sent));
}

#[tokio::test]
async fn a_webhook_that_was_being_sent_is_sent_again_with_the_same_id() {
    let rig = Rig::start(to(&[Webhook]));
    rig.world.lock().answers.push_back(Answer::Never);
    rig.ask(1, "go").await;
    assert_eq!(rig.stages().await, [(Webhook, Sending)]);
    let again = rig.killed_and_restarted();
    again.settle().await;
    again.advance(60).await;
    assert_eq!(again.stages().await, [(Webhook, Sent)]);
    let ids = again.sent_ids();
    assert_eq!((ids.len(), ids[0] == ids[1]), (2, true));
    let bodies = again.sent_bodies();
    assert_eq!(bodies[0], bodies[1], "a signature is over the same bytes");
}

#[tokio::test]
async fn a_command_that_was_running_is_unknown_and_not_run_again() {
    let rig = Rig::start(to(&[Command]));
    rig.world.lock().answers.push_back(Answer::Never);
    rig.ask(1, "go").await;
    assert_eq!(rig.stages().await, [(Command, Sending)]);
    let mut again = rig.killed_and_restarted();
    again.settle().await;
    again.advance(60).await;
    // A process that ends in this moment as well changes nothing.
    again = again.killed_and_restarted();
    again.settle().await;
    again.advance(3_600).await;
    assert_eq!(again.stages().await, [(Command, Unknown)]);
    assert_eq!(again.sent_ids().len(), 1);
    let task = again.tasks().await.remove(0);
    assert_eq!(task.stage, TaskStage::Done);
    let check = delivery_check(&again.parts).await.unwrap();
    assert_eq!((check.sent, check.failing), (0, 1));
    assert!(check.latest.is_some_and(|latest| latest.starts_with("command: unknown: ")));
}

#[tokio::test]
async fn a_command_whose_outcome_is_not_known_is_not_run_again() {
    let rig = Rig::start(to(&[Command]));
    let why = "the program did not end within 10 s".to_owned();
    rig.world.lock().answers.push_back(Answer::Fails(DeliverError::InDoubt { why }));
    rig.ask(1, "go").await;
    rig.advance(3_600).await;
    assert_eq!((rig.stages().await, rig.sent_ids().len()), (vec![(Command, Unknown)], 1));
}

#[tokio::test]
async fn a_target_that_fails_is_tried_again_with_pauses_and_given_up_in_the_end() {
    let rig = Rig::start(to(&[Webhook]));
    rig.world.lock().answers.extend([not_sent(), not_sent()]);
    rig.ask(1, "go").await;
    assert_eq!((rig.stages().await, rig.sent_ids().len()), (vec![(Webhook, Failed)], 1));
    rig.advance(60).await;
    rig.advance(60).await;
    assert_eq!((rig.stages().await, rig.sent_ids().len()), (vec![(Webhook, Sent)], 3));
    rig.world.lock().answers.extend(std::iter::repeat_with(not_sent).take(100));
    rig.ask(2, "go").await;
    for _ in 0..20 {
        rig.advance(3_600).await;
    }
    assert_eq!(rig.stages().await, [(Webhook, Sent), (Webhook, GivenUp)]);
    assert_eq!(rig.sent_ids().len(), 3 + 8);
    let check = delivery_check(&rig.parts).await.unwrap();
    assert_eq!(check.latest.as_deref(), Some("webhook: given_up: the server answered 503"));
    let failed: Vec<_> = rig.tasks().await.into_iter().filter(|task| task.stage.needs_person()).collect();
    assert_eq!(failed.len(), 1, "a failed notification makes no other one");
    rig.world.lock().answers.clear();
    let actor = ActorIdentity { principal: rig.parts.owner, credential: None, surface: Surface::LocalSocket };
    rig.queue.act(actor, PersonAct::Retry, failed[0].task).await.unwrap();
    rig.settle().await;
    assert_eq!(rig.stages().await, [(Webhook, Sent), (Webhook, Sent)], "a person asked for another attempt");
}

#[tokio::test]
async fn quiet_hours_end_with_one_count() {
    // The clock of tests begins at midnight.
    let rig = Rig::start(quiet("00:00", "06:00", to(&[Webhook])));
    rig.ask(1, "go").await;
    let mut answered = rig.ask(2, "go").await;
    rig.ask(3, "go").await;
    rig.append(vec![resolved(&mut answered, 2, 1, ApprovalState::Denied)]).await;
    rig.advance(3_600).await;
    assert_eq!(rig.sent_ids().len(), 0);
    let again = rig.killed_and_restarted();
    for _ in 0..30 {
        again.advance(900).await;
    }
    let bodies = again.sent_bodies();
    assert_eq!(bodies.len(), 1, "{bodies:?}");
    assert!(
        bodies[0].contains(r#""type":"attention.count""#) && bodies[0].contains(r#""count":2"#),
        "{bodies:?}"
    );
}

#[tokio::test]
async fn a_target_that_was_removed_is_given_up() {
    let rig = Rig::start(to(&[Webhook]));
    rig.world.lock().answers.push_back(not_sent());
    rig.ask(1, "go").await;
    rig.settings.send_replace(to(&[Command]).into());
    rig.advance(3_600).await;
    assert_eq!(rig.stages().await, [(Command, Sent), (Webhook, GivenUp)]);
    assert!(rig.stages().await.iter().all(|(_, stage)| *stage != Planned));
}
