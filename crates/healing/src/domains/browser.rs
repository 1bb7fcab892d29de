//! Browsers that do not answer.

use palyra_types::incident::{IncidentCause, IncidentEvidence};

use crate::facts::BrowserFact;
use crate::finding::DomainLook;

/// Finds a browser that has not answered for its window.
pub(super) fn look(look: &mut DomainLook<'_>, browser: &BrowserFact) {
    if !browser.answers {
        let window = look.times.condition_window;
        look.lasting(IncidentCause::BrowserSilent, browser.subject, window, IncidentEvidence::default());
    }
}
