//! Providers that fail and are not asked.

use palyra_types::incident::{IncidentCause, IncidentEvidence};

use crate::facts::ProviderFact;
use crate::finding::DomainLook;

/// Finds a provider that has been left alone for its window.
pub(super) fn look(look: &mut DomainLook<'_>, provider: &ProviderFact) {
    if provider.is_paused {
        let window = look.times.condition_window;
        look.lasting(IncidentCause::ProviderPaused, provider.subject, window, IncidentEvidence::default());
    }
}
