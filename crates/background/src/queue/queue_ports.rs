//! The adapters that the queue needs.

use std::sync::Arc;

use palyra_journal_core::family::ReadFamilies;
use palyra_ports::{Clock, Entropy, Recorder, Redactor};

/// The adapters that the queue needs.
#[derive(Clone)]
pub struct QueuePorts {
    /// Appends to the journal.
    pub recorder: Recorder,
    /// Reads records.
    pub families: Arc<dyn ReadFamilies>,
    /// Cleans explanations of failed attempts.
    pub redactor: Arc<dyn Redactor>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Gives randomness.
    pub entropy: Arc<dyn Entropy>,
}
