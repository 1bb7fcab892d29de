//! One event of each kind about incidents of self-healing.

use std::time::Duration;

use palyra_types::IncidentId;
use palyra_types::event::JournalEvent;
use palyra_types::incident::{
    HealingDomain, IncidentCause, IncidentEvent, IncidentEvidence, IncidentOpened, IncidentResolution,
    IncidentSeverity, IncidentSubject, RemedyKind, RemedyOutcome, SelfHealingMode,
};

pub(super) fn incident_events() -> Vec<JournalEvent> {
    let incident = IncidentId::from_parts(17, 1);
    let remedy = RemedyKind::CancelRun;
    let opened = IncidentOpened {
        incident,
        cause: IncidentCause::RunNoProgress,
        severity: IncidentSeverity::Warning,
        subject: IncidentSubject([3; 16]),
        evidence: IncidentEvidence {
            silent: Duration::from_secs(130),
            window: Duration::from_secs(120),
            measured: 5,
            limit: 4,
        },
        planned: Some(remedy),
    };
    let events = [
        IncidentEvent::Opened(opened),
        IncidentEvent::RemedyStarted { incident, remedy },
        IncidentEvent::RemedyEnded { incident, remedy, outcome: RemedyOutcome::Helped },
        IncidentEvent::Resolved { incident, resolution: IncidentResolution::Remedied },
        IncidentEvent::ModeSet { domain: HealingDomain::Runs, mode: Some(SelfHealingMode::Auto) },
    ];
    events.map(JournalEvent::from).into()
}
