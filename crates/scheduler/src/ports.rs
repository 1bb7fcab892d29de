//! The adapters that schedules need.

use std::sync::Arc;

use palyra_admin::OccurrenceTaints;
use palyra_admin::memories::ZoneOf;
use palyra_journal_core::family::ReadFamilies;
use palyra_ports::{Clock, Entropy, Recorder, Redactor};

use crate::occurrence_check::ScheduleFacts;

/// The adapters that schedules need.
#[derive(Clone)]
pub struct SchedulePorts {
    /// Appends to the journal.
    pub recorder: Recorder,
    /// Reads records.
    pub families: Arc<dyn ReadFamilies>,
    /// Cleans texts before they are recorded.
    pub redactor: Arc<dyn Redactor>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Gives randomness.
    pub entropy: Arc<dyn Entropy>,
    /// Knows principals and agents.
    pub facts: Arc<dyn ScheduleFacts>,
    /// The time zones of people.
    pub zone_of: ZoneOf,
    /// Says to the judge of runs what occurrences have read by their prompts.
    pub occurrences: Arc<OccurrenceTaints>,
}
