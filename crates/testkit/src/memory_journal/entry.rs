//! One entry, as a value.

use palyra_ports::NewEntry;
use palyra_types::access::ActorIdentity;
use palyra_types::attachment::Blob;
use palyra_types::event::JournalEvent;
use palyra_types::tape::{ContentState, OrchestratorTapeRecord};
use palyra_types::{Epoch, Seq};

use super::content;

/// One entry.
pub(super) struct MemoryEntry {
    pub(super) seq: Seq,
    pub(super) epoch: Epoch,
    pub(super) content: ContentState,
    pub(super) new: NewEntry,
    pub(super) actor: Option<ActorIdentity>,
    pub(super) blobs: Vec<Blob>,
}

impl MemoryEntry {
    /// Returns the entry as its tape's record of it.
    pub(super) fn tape_record(&self) -> Option<OrchestratorTapeRecord> {
        let (JournalEvent::Tape(event), Some((run, tape_seq)), Some(session)) =
            (&self.new.event, self.new.run, self.new.session)
        else {
            return None;
        };
        Some(OrchestratorTapeRecord {
            seq: self.seq,
            run,
            session,
            principal: self.new.principal,
            tape_seq,
            time: self.new.time,
            content: self.content,
            actor: self.actor,
            event: event.clone(),
        })
    }

    pub(super) fn content_bytes(&self) -> usize {
        content::content_bytes(&self.new.event)
    }
}
