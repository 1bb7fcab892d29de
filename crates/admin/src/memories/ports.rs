//! The adapters that memory needs.

use std::sync::Arc;

use palyra_journal_core::family::ReadFamilies;
use palyra_ports::{Clock, Entropy, ReadTape, Recorder, Redactor, SearchMemories};

/// The ports of memory.
pub struct MemoryPorts {
    /// Appends to the journal.
    pub recorder: Recorder,
    /// Reads tapes.
    pub tapes: Arc<dyn ReadTape>,
    /// Reads records.
    pub families: Arc<dyn ReadFamilies>,
    /// Cleans texts before they are recorded.
    pub redactor: Arc<dyn Redactor>,
    /// Ranks items.
    pub memories: Arc<dyn SearchMemories>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Gives randomness.
    pub entropy: Arc<dyn Entropy>,
}
