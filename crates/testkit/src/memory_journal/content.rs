//! How much of an event is content.

use palyra_types::event::JournalEvent;

/// Returns the bytes of content.
pub(super) fn content_bytes(event: &JournalEvent) -> usize {
    let mut bytes = 0;
    event.for_each_content(&mut |_, leaf| bytes += leaf.byte_count());
    bytes
}
