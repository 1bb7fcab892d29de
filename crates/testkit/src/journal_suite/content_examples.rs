//! An event for each content field there is, to plant texts in.
//!
//! Owns the way from the document of content fields to events that have them, so that a field without an example is
//! found. Begin at [`examples`].

use std::collections::{BTreeMap, BTreeSet};

use palyra_types::effect::{KeptFileId, KeptPlacement};
use palyra_types::event::content::ContentField;
use palyra_types::event::{ApprovalEvent, EffectEvent, JournalEvent, TapeEvent};

use super::random_appends::RandomAppends;

/// The document of content fields, which a test of `journal-core` keeps equal to the list in `types`.
const DOCUMENT: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../journal-core/content.toml"));
/// Appends that are searched for examples.
const APPENDS_MAX: usize = 5_000;

/// A content field and an event that has it.
#[derive(Debug, Clone)]
pub struct ContentExample {
    /// The field.
    pub field: ContentField,
    /// The event.
    pub event: JournalEvent,
}

impl ContentExample {
    /// Returns the event with the text in this field, in every element of a list.
    #[must_use]
    pub fn planted(&self, text: &str) -> JournalEvent {
        let mut event = self.event.clone();
        event.replace_content(&mut |field, _| (field == self.field).then(|| text.to_owned()));
        event
    }
}

/// Returns one example for each documented content field.
///
/// # Panics
/// For a documented field without an example, and an example of a field that is not documented.
#[must_use]
pub fn examples() -> Vec<ContentExample> {
    let documented = documented();
    let mut found: BTreeMap<String, ContentExample> = BTreeMap::new();
    let mut random = RandomAppends::new(29);
    // Some of these are rare among all sorts of entries.
    let schedules = std::iter::once(RandomAppends::new(37).schedule_entries(120));
    let others = std::iter::repeat_with(|| random.next_append().entries).take(APPENDS_MAX);
    for entries in schedules.chain(others) {
        if found.len() == documented.len() {
            break;
        }
        for entry in entries {
            let event = grown(entry.event);
            event.for_each_content(&mut |field, _| {
                let example = || ContentExample { field, event: event.clone() };
                found.entry(field.to_string()).or_insert_with(example);
            });
        }
    }
    let have: BTreeSet<_> = found.keys().map(String::as_str).collect();
    assert_eq!(have, documented, "examples and documented fields");
    found.into_values().collect()
}

/// Fills fields that random appends leave empty.
#[must_use]
pub fn grown(mut event: JournalEvent) -> JournalEvent {
    if let JournalEvent::Tape(TapeEvent::Approval(ApprovalEvent::GrantStored(stored))) = &mut event {
        stored.bounds.programs = Some([5; 32]);
    }
    if let JournalEvent::Effect(EffectEvent::UndoRequested(requested)) = &mut event {
        let file = KeptFileId("0123456789abcdef".to_owned());
        requested.kept = Some(KeptPlacement { file, sha256: [6; 32], before: vec![Some([7; 32]), None] });
    }
    event
}

/// Returns the names of all documented content fields.
#[must_use]
pub fn documented() -> BTreeSet<&'static str> {
    let name = |line: &'static str| line.split_once("name = \"")?.1.split_once('"').map(|(name, _)| name);
    DOCUMENT.lines().filter_map(name).collect()
}
