//! Tape entries, one and by the page.

use palyra_ports::TapePage;
use palyra_ports::read_tape::MoreEntries;
use palyra_types::tape::{ContentState, OrchestratorTapeRecord};
use palyra_wire::v1;

use super::event;
use super::plain::{acted_by, timestamp};

/// Returns an entry as clients see it.
pub fn tape_entry(record: &OrchestratorTapeRecord) -> v1::TapeEntry {
    v1::TapeEntry {
        run_id: record.run.to_string(),
        session_id: record.session.to_string(),
        tape_seq: record.tape_seq.0,
        seq: record.seq.0,
        time: timestamp(record.time),
        erased: record.content == ContentState::Erased,
        acted_by: record.actor.map(acted_by),
        event: Some(event::tape_event(&record.event)),
    }
}

/// Returns the entries of a page and whether more exist.
pub(crate) fn page_to_wire(page: &TapePage) -> (Vec<v1::TapeEntry>, bool) {
    (page.entries.iter().map(tape_entry).collect(), page.more == MoreEntries::Some)
}
