//! The adapters that conversations need.

use std::sync::Arc;

use palyra_admin::ErasureExclusion;
use palyra_admin::budgets::AuxiliaryBudgets;
use palyra_journal_core::family::ReadFamilies;
use palyra_ports::model_directory::ModelDirectory;
use palyra_ports::{Clock, Entropy, ReadTape, Recorder, Redactor};
use tokio::sync::watch;

/// Returns the time zone of a principal.
pub use palyra_admin::memories::ZoneOf;

/// One adapter per port.
#[derive(Clone)]
pub struct ConversationPorts {
    /// Appends to the journal.
    pub recorder: Recorder,
    /// Reads tapes.
    pub tapes: Arc<dyn ReadTape>,
    /// Reads records.
    pub families: Arc<dyn ReadFamilies>,
    /// Cleans content at the doors.
    pub redactor: Arc<dyn Redactor>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Gives randomness.
    pub entropy: Arc<dyn Entropy>,
    /// The configured models.
    pub models: watch::Receiver<Arc<ModelDirectory>>,
    /// The time zones of people.
    pub zone_of: ZoneOf,
    /// Reserves requests for summaries under the budgets of their sessions.
    pub budgets: AuxiliaryBudgets,
    /// Keeps summaries apart from erasures.
    pub erasures: ErasureExclusion,
}
