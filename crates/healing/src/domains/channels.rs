//! Connectors without a connection.

use palyra_types::incident::{IncidentCause, IncidentEvidence};

use crate::facts::ConnectorFact;
use crate::finding::DomainLook;

/// Finds a connector that has been without a connection for its window.
pub(super) fn look(look: &mut DomainLook<'_>, connector: &ConnectorFact) {
    if !connector.is_connected {
        let window = look.times.condition_window;
        look.lasting(IncidentCause::ConnectorDown, connector.subject, window, IncidentEvidence::default());
    }
}
