//! Events about incidents of self-healing, in all their forms; ids are few, so that remedies meet their ends.

use std::time::Duration;

use palyra_journal_core::families::healing_modes;
use palyra_journal_core::families::incidents::{self, IncidentQuery};
use palyra_journal_core::family::{QueryFamilies, ReadFamilies};
use palyra_ports::NewEntry;
use palyra_types::IncidentId;
use palyra_types::incident::{
    HealingDomain, IncidentCause, IncidentEvent, IncidentEvidence, IncidentOpened, IncidentResolution,
    IncidentSeverity, IncidentSubject, RemedyKind, RemedyOutcome, SelfHealingMode,
};

use super::{RandomAppends, exposed};

/// Incidents that random events name.
const INCIDENTS: u64 = 12;
/// Remedies that they have, so that ends meet their remedies.
const REMEDIES: usize = 2;

impl RandomAppends {
    /// Returns entries about incidents alone.
    pub fn incident_entries(&mut self, count: usize) -> Vec<NewEntry> {
        let entry = |me: &mut Self| NewEntry {
            time: me.time(),
            principal: me.principal(),
            session: None,
            run: None,
            event: me.incident_event().into(),
        };
        (0..count).map(|_| entry(self)).collect()
    }

    pub(super) fn incident_event(&mut self) -> IncidentEvent {
        let incident = IncidentId::from_parts(17, self.below(INCIDENTS).into());
        let remedy = self.one_of(&RemedyKind::ALL[..REMEDIES]).0;
        match self.below(12) {
            0 => IncidentEvent::Resolved { incident, resolution: self.one_of(&IncidentResolution::ALL).0 },
            1..=3 => {
                let domain = self.one_of(&HealingDomain::ALL).0;
                IncidentEvent::ModeSet { domain, mode: self.maybe(|me| me.one_of(&SelfHealingMode::ALL).0) }
            }
            4 | 5 => IncidentEvent::RemedyStarted { incident, remedy },
            6 | 7 => {
                IncidentEvent::RemedyEnded { incident, remedy, outcome: self.one_of(&RemedyOutcome::ALL).0 }
            }
            _ => IncidentEvent::Opened(IncidentOpened {
                incident,
                cause: self.one_of(&IncidentCause::ALL).0,
                severity: self.one_of(&IncidentSeverity::ALL).0,
                subject: IncidentSubject([u8::try_from(self.below(3)).unwrap_or(0); 16]),
                evidence: IncidentEvidence {
                    silent: Duration::from_micros(self.below(1 << 40)),
                    window: Duration::from_secs(120),
                    measured: self.below(9),
                    limit: self.below(9),
                },
                planned: self.maybe(|me| me.one_of(&RemedyKind::ALL).0),
            }),
        }
    }
}

/// Adds the incidents and the modes.
pub(super) async fn records(journal: &impl ReadFamilies, all: &mut Vec<String>) {
    let query = IncidentQuery { limit: 500, ..IncidentQuery::default() };
    let found = journal.query(move |rows, log| incidents::records(rows, log, &query)).await.unwrap();
    let modes = journal.query(|rows, _| healing_modes::in_force(rows)).await.unwrap();
    // Texts of states that were written before there were incidents stay the same.
    if !found.is_empty() || !modes.is_empty() {
        all.push(exposed(&found, |_| String::new()));
        all.push(format!("{modes:?}"));
    }
}
