//! Components: what was added and removed, as the log says it.

use palyra_journal_core::families::components;
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::{AppendTape, NewEntry};
use palyra_types::component::{AddedComponent, ComponentCapability, ComponentEvent, ComponentRecord};
use palyra_types::event::JournalEvent;
use palyra_types::tool::EffectContract;
use palyra_types::{ComponentId, Redacted, Seq, Timestamp};

use super::JournalFactory;
use super::samples::{self, append};

/// Returns an example of a component that was added.
#[must_use]
pub fn added(number: u128, name: &str) -> AddedComponent {
    AddedComponent {
        component: ComponentId::from_parts(11, number),
        sha256: [u8::try_from(number).unwrap_or(0); 32],
        bytes: 4_000,
        tool_version: 2,
        contract: EffectContract::Keyed,
        name: Redacted::cleaned(name.to_owned()),
        text: "Counts words.".into(),
        schema: r#"{"type":"object"}"#.into(),
        capabilities: vec![
            ComponentCapability::ReadFiles,
            ComponentCapability::Http("a.example".to_owned()),
            ComponentCapability::KeyValue,
        ],
        source: "/home/somebody/word_count.wasm".into(),
    }
}

fn entry(event: ComponentEvent, at: i64) -> NewEntry {
    let (principal, event) = (samples::principal(0), JournalEvent::Component(event));
    NewEntry { time: Timestamp(at), principal, session: None, run: None, event }
}

/// What was added is there until it is removed, and stays removed; what names no component changes nothing.
pub async fn components_are_shown_as_the_log_says(factory: &impl JournalFactory) {
    let journal = factory.make();
    let both = [added(1, "word_count"), added(2, "forecast")];
    let first = both.clone().map(|one| entry(ComponentEvent::Added(one), 5)).to_vec();
    let seq = journal.append(append(first)).await.unwrap().first_seq;
    let record = |number: usize, removed| ComponentRecord {
        added: both[number].clone(),
        by: samples::principal(0),
        created: Timestamp(5),
        removed,
        seq: Seq(seq.0 + number as u64),
    };
    assert_eq!(journal.query(components::records).await.unwrap(), [record(0, None), record(1, None)]);
    for (component, at) in
        [(both[0].component, 6), (both[0].component, 7), (ComponentId::from_parts(11, 77), 8)]
    {
        journal.append(append(vec![entry(ComponentEvent::Removed { component }, at)])).await.unwrap();
    }
    let expected = [record(0, Some(Timestamp(6))), record(1, None)];
    assert_eq!(journal.query(components::records).await.unwrap(), expected);
    factory.erase(&journal, Seq(seq.0 + 1));
    let left = journal.query(components::records).await.unwrap().pop().unwrap().added;
    assert!(left.is_erased() && left.capabilities.is_empty());
    assert_eq!((left.sha256, left.contract), (both[1].sha256, both[1].contract), "facts stay");
}
