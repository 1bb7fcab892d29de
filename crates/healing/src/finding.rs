//! What a look finds, and what the domains need to look.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use palyra_types::incident::{IncidentCause, IncidentEvidence, IncidentSeverity, IncidentSubject};

use crate::facts::{ProgressMarker, SpareFact};
use crate::incident_key::IncidentKey;
use crate::remedies::severity_of;
use crate::silence::SilenceBook;
use crate::times::HealingTimes;

/// Something that is wrong at a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IncidentFinding {
    /// How urgent it is.
    pub severity: IncidentSeverity,
    /// What it is about; of several subjects the one that has been so longest.
    pub about: IncidentSubject,
    /// What shows it.
    pub evidence: IncidentEvidence,
    /// How far its subject was.
    pub marker: ProgressMarker,
    /// Who can do something about it.
    pub mender: IncidentMender,
}

/// Who can do something about a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IncidentMender {
    /// The remedies of its cause.
    Remedies,
    /// A person: the remedies of its cause cannot help this subject.
    Person,
}

/// One look of a domain.
pub(crate) struct DomainLook<'a> {
    pub(crate) times: &'a HealingTimes,
    pub(crate) silences: &'a mut SilenceBook,
    pub(crate) found: &'a mut BTreeMap<IncidentKey, IncidentFinding>,
    /// Incidents that are open.
    pub(crate) open: BTreeSet<IncidentKey>,
}

impl DomainLook<'_> {
    /// Finds what has been without progress for its window.
    pub(crate) fn silent(
        &mut self,
        cause: IncidentCause,
        subject: IncidentSubject,
        marker: ProgressMarker,
        window: Duration,
    ) {
        let silent = self.silences.note(cause, subject, marker);
        if silent >= window {
            self.find(cause, subject, IncidentEvidence { silent, window, measured: 0, limit: 0 }, marker);
        }
    }

    /// Finds a condition that has lasted for its window; a measurement that changes does not begin it again, but permits
    /// another remedy.
    pub(crate) fn lasting(
        &mut self,
        cause: IncidentCause,
        subject: IncidentSubject,
        window: Duration,
        evidence: IncidentEvidence,
    ) {
        let silent = self.silences.note(cause, subject, ProgressMarker::default());
        if silent >= window {
            let evidence = IncidentEvidence { silent, window, ..evidence };
            self.find(cause, subject, evidence, measured(&evidence));
        }
    }

    /// Finds something that is wrong as soon as it is seen.
    pub(crate) fn at_once(
        &mut self,
        cause: IncidentCause,
        subject: IncidentSubject,
        evidence: IncidentEvidence,
    ) {
        self.find(cause, subject, evidence, ProgressMarker::default());
    }

    /// Finds something that only a person can mend, as soon as it is seen.
    pub(crate) fn for_person(
        &mut self,
        cause: IncidentCause,
        subject: IncidentSubject,
        evidence: IncidentEvidence,
    ) {
        self.at_once(cause, subject, evidence);
        if let Some(finding) = self.found.get_mut(&IncidentKey::of(cause, subject)) {
            finding.mender = IncidentMender::Person;
        }
    }

    /// Finds a condition that several subjects share, once one of them has been in it for the window, and from then on as long
    /// as one is in it. The evidence is their number and the one that has been in it longest; of equals the first.
    pub(crate) fn shared(&mut self, cause: IncidentCause, subjects: &[IncidentSubject], window: Duration) {
        let mut oldest: Option<(IncidentSubject, Duration)> = None;
        for subject in subjects {
            let silent = self.silences.note(cause, *subject, ProgressMarker::default());
            if oldest.is_none_or(|(_, longest)| silent > longest) {
                oldest = Some((*subject, silent));
            }
        }
        let is_open = self.open.contains(&IncidentKey::of(cause, IncidentSubject::default()));
        if let Some((subject, silent)) = oldest.filter(|(_, silent)| is_open || *silent >= window) {
            let measured = u64::try_from(subjects.len()).unwrap_or(u64::MAX);
            let evidence = IncidentEvidence { silent, window, measured, limit: 0 };
            self.find(cause, subject, evidence, ProgressMarker::default());
        }
    }

    /// Finds files that need not be kept, once the disk has been low for a window.
    pub(crate) fn spare(&mut self, cause: IncidentCause, spare: &SpareFact) {
        if spare.is_disk_low && spare.bytes > 0 {
            let evidence = IncidentEvidence { measured: spare.bytes, ..IncidentEvidence::default() };
            let window = self.times.condition_window;
            self.lasting(cause, IncidentSubject::default(), window, evidence);
        }
    }

    fn find(
        &mut self,
        cause: IncidentCause,
        subject: IncidentSubject,
        evidence: IncidentEvidence,
        marker: ProgressMarker,
    ) {
        let mender = IncidentMender::Remedies;
        let finding =
            IncidentFinding { severity: severity_of(cause), about: subject, evidence, marker, mender };
        self.found.insert(IncidentKey::of(cause, subject), finding);
    }
}

/// Returns a marker that moves with the measurement.
fn measured(evidence: &IncidentEvidence) -> ProgressMarker {
    ProgressMarker { received: evidence.measured, ..ProgressMarker::default() }
}
