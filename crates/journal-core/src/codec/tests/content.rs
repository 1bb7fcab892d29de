//! Content fields of every kind: in the payload, never in the facts, and gone without the payload.

use std::collections::BTreeMap;

use palyra_testkit::journal_suite::components;
use palyra_testkit::journal_suite::random_appends::RandomAppends;
use palyra_types::agent::AgentProfile;
use palyra_types::approval::{ArgumentRule, ArgumentShape, StoredGrant};
use palyra_types::component::{ComponentCapability, ComponentEvent};
use palyra_types::event::content::{ContentClass, ContentLeaf};
use palyra_types::event::{AgentEvent, ApprovalEvent, JournalEvent, TapeEvent};

use super::super::{decode, encode};
use super::{
    agent_profile, asking_kinds, grown_kinds, one_of_each_kind, outside_after_runs, place, schedules,
    stored_grant,
};

/// Examples that reach each content field.
fn examples() -> Vec<JournalEvent> {
    let examples = [one_of_each_kind(), grown_kinds(), asking_kinds()].concat();
    let mut events: Vec<_> = examples.into_iter().map(|(_, _, event)| event).collect();
    events.extend(outside_after_runs());
    let mut added = components::added(1, "word_count");
    added.capabilities = vec![
        ComponentCapability::Http("a.example".to_owned()),
        ComponentCapability::Secret("forge".to_owned()),
    ];
    events.push(JournalEvent::Component(ComponentEvent::Added(added)));
    let shape = ArgumentShape::Origin("https://a.example".into());
    let matcher = vec![ArgumentRule { argument: "url".into(), shape }];
    let stored = StoredGrant { matcher, ..stored_grant() };
    events.push(JournalEvent::Tape(TapeEvent::Approval(ApprovalEvent::GrantStored(stored))));
    let root = palyra_types::Redacted::cleaned("/home/me/desk".into());
    let profile = AgentProfile { workspace_roots: vec![root], ..agent_profile() };
    let agent = palyra_types::AgentId::from_bytes([6; 16]);
    events.push(JournalEvent::Agent(AgentEvent::Saved { agent, profile }));
    events.extend(schedules::every_form_of_times());
    events
}

fn holds(bytes: &[u8], canary: &str) -> bool {
    bytes.windows(canary.len()).any(|window| window == canary.as_bytes())
}

#[test]
fn each_content_field_is_in_the_payload_and_nowhere_else() {
    for event in examples() {
        let mut planted = event;
        let mut canaries = Vec::new();
        planted.replace_content(&mut |field, _| {
            let canary = format!("canary-{:04}", canaries.len());
            canaries.push((field, canary.clone()));
            Some(canary)
        });
        let coded = encode(&planted).unwrap();
        for (field, canary) in &canaries {
            assert!(!holds(&coded.facts, canary), "{field} is in the facts");
            assert!(holds(&coded.payload, canary), "{field} is not in the payload");
        }
        assert_eq!(
            coded.payload.is_empty(),
            canaries.is_empty(),
            "{planted:?} has a payload without content"
        );
        let read = decode(coded.kind, place(&planted), &coded.facts, &coded.payload);
        assert_eq!(read.as_ref(), Ok(&planted));
        let without = decode(coded.kind, place(&planted), &coded.facts, &[]).unwrap();
        without.for_each_content(&mut |field, leaf| {
            assert_eq!(leaf.byte_count(), 0, "{field} is there without a payload");
        });
        planted.erase_content();
        assert_eq!(planted, without, "an erased event is another one than its facts alone");
    }
}

#[test]
fn an_erased_event_is_what_its_facts_alone_say() {
    let mut random = RandomAppends::new(5);
    for _ in 0..1_000 {
        for mut entry in random.next_append().entries {
            let coded = encode(&entry.event).unwrap();
            let facts_alone = decode(coded.kind, place(&entry.event), &coded.facts, &[]).unwrap();
            entry.event.erase_content();
            assert_eq!(entry.event, facts_alone);
        }
    }
}

/// What `content.toml` has to say, made from the list of content fields.
fn fields_document() -> String {
    let mut rows = BTreeMap::new();
    for event in examples() {
        event.for_each_content(&mut |field, leaf| {
            let class = match field.class {
                ContentClass::Prose => "prose",
                ContentClass::Identity => "identity",
                ContentClass::Bytes => "bytes",
                ContentClass::Fixed => "fixed",
            };
            let form = match leaf {
                ContentLeaf::Text(_) => "text",
                ContentLeaf::Json(_) => "json",
                ContentLeaf::Path(_) => "path",
                ContentLeaf::Bytes(_) => "bytes",
                ContentLeaf::Model(_) => "model",
                ContentLeaf::Opaque(_) => "opaque",
            };
            let before = rows.insert(field.to_string(), (class, form));
            assert!(before.is_none_or(|before| before == (class, form)), "{field} has two rows");
        });
    }
    let head = "# The content fields of each kind: what lies in the erasable payload, and how it is treated where a secret\n\
                # is found in it. Written by a test of this crate:\n\
                # `PALYRA_WRITE_CONTENT=1 cargo test -p palyra-journal-core content`.\n#\n\
                # prose: redacted; identity: the request is refused; bytes: checked, never rewritten; fixed: cannot hold one.\n\n\
                field = [\n";
    let row = |(name, (class, form)): (&String, &(&str, &str))| {
        format!("    {{ name = \"{name}\", class = \"{class}\", form = \"{form}\" }},\n")
    };
    format!("{head}{}]\n", rows.iter().map(row).collect::<String>())
}

#[test]
fn the_list_of_content_fields_and_its_document_agree() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/content.toml");
    if std::env::var_os("PALYRA_WRITE_CONTENT").is_some() {
        std::fs::write(file, fields_document()).unwrap();
    }
    assert_eq!(std::fs::read_to_string(file).unwrap(), fields_document());
}
