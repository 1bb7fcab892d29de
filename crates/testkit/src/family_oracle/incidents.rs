//! Incidents of self-healing by a naive fold: a list of records, each changed by what its entries say.

use std::collections::BTreeMap;

use palyra_types::incident::{HealingDomain, IncidentEvent, IncidentRecord, IncidentStage, SelfHealingMode};
use palyra_types::tape::JournalEventRecord;

/// Incidents in the order in which they were opened, and modes.
#[derive(Debug, Default)]
pub struct IncidentOracle {
    incidents: Vec<IncidentRecord>,
    /// The modes that people chose and that are in force.
    pub modes: BTreeMap<HealingDomain, SelfHealingMode>,
}

impl IncidentOracle {
    pub(super) fn fold(&mut self, entry: &JournalEventRecord, event: &IncidentEvent) {
        if let IncidentEvent::ModeSet { domain, mode } = event {
            self.modes.remove(domain);
            self.modes.extend(mode.map(|mode| (*domain, mode)));
            return;
        }
        let known = self.incidents.iter_mut().find(|known| Some(known.opened.incident) == event.incident());
        match (known, event) {
            (None, IncidentEvent::Opened(opened)) => self.incidents.push(IncidentRecord {
                opened: *opened,
                seq: entry.seq,
                created: entry.time,
                changed: entry.time,
                stage: IncidentStage::Open,
                remedies: 0,
                last_remedy: None,
                last_outcome: None,
                resolution: None,
            }),
            (Some(known), event) => {
                let before = known.changed;
                known.changed = if has_changed(known, event) { entry.time } else { before };
            }
            _ => {}
        }
    }

    /// Returns the incidents, those with the highest ids first.
    #[must_use]
    pub fn records(&self) -> Vec<IncidentRecord> {
        let mut records = self.incidents.clone();
        records.sort_by_key(|record| std::cmp::Reverse(record.opened.incident));
        records
    }
}

fn has_changed(known: &mut IncidentRecord, event: &IncidentEvent) -> bool {
    match (known.stage, event) {
        (IncidentStage::Open, IncidentEvent::RemedyStarted { remedy, .. }) => {
            known.remedies += 1;
            known.last_remedy = Some(*remedy);
            known.last_outcome = None;
            known.stage = IncidentStage::Remediating;
        }
        (IncidentStage::Remediating, IncidentEvent::RemedyEnded { remedy, outcome, .. })
            if known.last_remedy == Some(*remedy) =>
        {
            known.last_outcome = Some(*outcome);
            known.stage = IncidentStage::Open;
        }
        (IncidentStage::Open | IncidentStage::Remediating, IncidentEvent::Resolved { resolution, .. }) => {
            known.resolution = Some(*resolution);
            known.stage = IncidentStage::Resolved;
        }
        _ => return false,
    }
    true
}
