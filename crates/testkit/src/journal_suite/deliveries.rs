//! Messages of the outbox.

use palyra_journal_core::families::deliveries::{self, DeliveryQuery};
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::{AppendTape, NewEntry};
use palyra_types::Timestamp;
use palyra_types::delivery::{
    DeliveryAttemptEnded, DeliveryEnd, DeliveryEvent, DeliveryKey, DeliveryPlanned, DeliveryRecord,
    DeliveryStage, DeliveryTargetKind,
};

use super::JournalFactory;
use super::samples::{self, append};

fn key(number: u8) -> DeliveryKey {
    DeliveryKey([number; 16])
}

fn planned(number: u8, target: &'static str) -> DeliveryEvent {
    DeliveryEvent::Planned(DeliveryPlanned {
        key: key(number),
        target_kind: DeliveryTargetKind::Command,
        target: target.into(),
        body_bytes: 2,
        body: "{}".into(),
    })
}

fn ended(number: u8, end: DeliveryEnd) -> DeliveryEvent {
    let explanation = "the program exited with 3".into();
    DeliveryEvent::AttemptEnded(DeliveryAttemptEnded { key: key(number), attempt: 1, end, explanation })
}

async fn record<F: JournalFactory>(journal: &F::Journal, time: i64, event: DeliveryEvent) {
    let entry = NewEntry {
        time: Timestamp(time),
        principal: samples::principal(0),
        session: None,
        run: None,
        event: event.into(),
    };
    journal.append(append(vec![entry])).await.unwrap();
}

async fn listed<F: JournalFactory>(journal: &F::Journal, query: DeliveryQuery) -> Vec<DeliveryRecord> {
    journal.query(move |rows, log| deliveries::records(rows, log, &query)).await.unwrap()
}

/// A message is what its entries say; a second plan with its id changes nothing, and a sent one stays sent.
pub async fn a_message_is_folded_from_its_entries<F: JournalFactory>(factory: &F) {
    let journal = factory.make();
    record::<F>(&journal, 5, planned(1, "command")).await;
    record::<F>(&journal, 6, planned(1, "other")).await;
    record::<F>(&journal, 7, DeliveryEvent::AttemptBegun { key: key(1), attempt: 1 }).await;
    record::<F>(&journal, 8, ended(1, DeliveryEnd::Failed)).await;
    record::<F>(&journal, 9, DeliveryEvent::AttemptBegun { key: key(1), attempt: 2 }).await;
    let one = listed::<F>(&journal, DeliveryQuery { limit: 9, ..DeliveryQuery::default() }).await;
    assert_eq!(one.len(), 1);
    assert_eq!((one[0].stage, one[0].attempts, one[0].changed), (DeliveryStage::Sending, 2, Timestamp(9)));
    assert_eq!(
        (one[0].target.expose().as_str(), one[0].explanation.expose().as_str()),
        ("command", "the program exited with 3")
    );
    record::<F>(&journal, 10, ended(1, DeliveryEnd::Sent)).await;
    record::<F>(&journal, 11, DeliveryEvent::AttemptBegun { key: key(1), attempt: 3 }).await;
    record::<F>(&journal, 12, ended(1, DeliveryEnd::Failed)).await;
    record::<F>(&journal, 13, ended(2, DeliveryEnd::Sent)).await;
    let one = listed::<F>(&journal, DeliveryQuery { limit: 9, ..DeliveryQuery::default() }).await;
    assert_eq!(one.len(), 1);
    assert_eq!((one[0].stage, one[0].changed), (DeliveryStage::Sent, Timestamp(10)));
    let found = journal.query(|rows, _| deliveries::delivery(rows, key(2))).await.unwrap();
    assert_eq!(found, None);
}

/// Messages are found by their stage, their kind of target and from a time on, the latest planned one first.
pub async fn messages_are_found_by_stage_and_time<F: JournalFactory>(factory: &F) {
    let journal = factory.make();
    for number in 1..=4_u8 {
        record::<F>(&journal, i64::from(number), planned(number, "command")).await;
    }
    record::<F>(&journal, 20, ended(2, DeliveryEnd::GivenUp)).await;
    let numbers = |found: Vec<DeliveryRecord>| found.iter().map(|one| one.key.0[0]).collect::<Vec<_>>();
    let all = DeliveryQuery { limit: 9, ..DeliveryQuery::default() };
    assert_eq!(numbers(listed::<F>(&journal, all).await), [4, 3, 2, 1]);
    let since = DeliveryQuery { since: Some(Timestamp(3)), ..all };
    assert_eq!(numbers(listed::<F>(&journal, since).await), [4, 3]);
    let given_up = DeliveryQuery { stage: Some(DeliveryStage::GivenUp), ..all };
    assert_eq!(numbers(listed::<F>(&journal, given_up).await), [2]);
    let waiting = DeliveryQuery { stage: Some(DeliveryStage::Planned), limit: 2, ..all };
    assert_eq!(numbers(listed::<F>(&journal, waiting).await), [4, 3]);
    let DeliveryEvent::Planned(command) = planned(5, "webhook") else { return };
    let webhook = DeliveryPlanned { target_kind: DeliveryTargetKind::Webhook, ..command };
    record::<F>(&journal, 5, DeliveryEvent::Planned(webhook)).await;
    let to_webhooks = DeliveryQuery { target_kind: Some(DeliveryTargetKind::Webhook), ..all };
    assert_eq!(numbers(listed::<F>(&journal, to_webhooks).await), [5]);
    let to_commands = DeliveryQuery { target_kind: Some(DeliveryTargetKind::Command), limit: 2, ..all };
    assert_eq!(
        numbers(listed::<F>(&journal, to_commands).await),
        [4, 3],
        "a page is filled beyond other targets"
    );
    let found = journal.query(|rows, log| deliveries::record_of_key(rows, log, key(2))).await.unwrap();
    assert_eq!(found.map(|one| one.stage), Some(DeliveryStage::GivenUp));
}
