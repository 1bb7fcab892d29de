//! The stored form of events alone, for tests that make bytes up; no part of what the crate promises.

use palyra_types::event::JournalEvent;
use palyra_types::event::kind::KindPlace;

use crate::codec::{decode, encode};

/// Kind, facts and payload of an event.
pub type StoredParts = (u16, Vec<u8>, Vec<u8>);

/// Reads an entry of a tape as it is stored; `None` when it is malformed.
#[must_use]
pub fn read_tape_entry(kind: u16, facts: &[u8], payload: &[u8]) -> Option<JournalEvent> {
    decode(kind, KindPlace::Tape, facts, payload).ok()
}

/// Reads an entry of the log as it is stored; `None` when it is malformed.
#[must_use]
pub fn read_log_entry(kind: u16, facts: &[u8], payload: &[u8]) -> Option<JournalEvent> {
    decode(kind, KindPlace::Log, facts, payload).ok()
}

/// Returns how an event is stored; `None` for one of an unknown kind.
#[must_use]
pub fn stored(event: &JournalEvent) -> Option<StoredParts> {
    let coded = encode(event).ok()?;
    Some((coded.kind, coded.facts, coded.payload))
}
