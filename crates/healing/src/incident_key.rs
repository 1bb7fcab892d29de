//! The names of incidents and silences.

use palyra_types::incident::{IncidentCause, IncidentSubject};

/// The key under which at most one incident is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IncidentKey {
    /// What is wrong.
    pub cause: IncidentCause,
    /// What it is about.
    pub subject: IncidentSubject,
}
