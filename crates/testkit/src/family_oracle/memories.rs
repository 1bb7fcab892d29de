//! Items of memory by a naive fold: a list that is searched from its beginning.

use palyra_types::MemoryId;
use palyra_types::memory::{MemoryEvent, MemoryRecord};
use palyra_types::tape::JournalEventRecord;

pub(super) fn fold(items: &mut Vec<MemoryRecord>, entry: &JournalEventRecord, event: &MemoryEvent) {
    let own =
        |item: &MemoryRecord, id: MemoryId| item.principal == entry.principal && item.saved.memory == id;
    match event {
        MemoryEvent::Saved(saved) => {
            if items.iter().any(|item| own(item, saved.memory)) {
                return;
            }
            for item in items.iter_mut() {
                if saved.supersedes.is_some_and(|older| own(item, older)) && item.superseded_by.is_none() {
                    item.superseded_by = Some(saved.memory);
                }
            }
            items.push(MemoryRecord {
                saved: saved.clone(),
                principal: entry.principal,
                seq: entry.seq,
                created: entry.time,
                superseded_by: None,
                forgotten: None,
            });
        }
        MemoryEvent::Forgotten { memory, .. } => {
            for item in items.iter_mut().filter(|item| own(item, *memory)) {
                item.forgotten = item.forgotten.or(Some(entry.time));
            }
        }
    }
}
