//! Self-healing: what watches, records and performs.
//!
//! Owns nothing that is decided: that is in the crate `healing`. The task that looks and performs is in `healing_task.rs`; what
//! callers ask is in `incidents.rs`. Begin at [`SelfHealing`].

mod artifact_watch;
mod executor;
mod healing_board;
mod healing_ports;
mod healing_task;
mod run_board;
mod subject_names;
mod watchers;

use std::sync::Arc;

use palyra_background::BackgroundDriver;
use palyra_healing::{IncidentKey, PlannedRemedy};
use palyra_types::incident::{
    HealingDomain, IncidentEvidence, IncidentRecord, IncidentStage, SelfHealingMode,
};
use palyra_types::{ApprovalId, QueuedTaskId, RunId};

pub use healing_board::DomainWatch;
pub use healing_ports::{ConfiguredModes, HealRuns, HealingParts, HealingPorts, ReachesApprover};
pub use palyra_healing::{HealingModes, HealingTimes, RemedyDue};
pub use palyra_journal_core::families::incidents::IncidentQuery;
pub use run_board::{RunActivity, RunBoard, RunMarker};

use healing_board::HealingBoard;
use healing_task::HealingTask;
use subject_names::mend_of;
use watchers::provider_subject;

/// An incident with what is known of it beside the journal.
#[derive(Debug, Clone)]
pub struct IncidentView {
    /// The incident.
    pub record: IncidentRecord,
    /// The id or the name of its subject; empty for the daemon as a whole.
    pub subject: String,
    /// What shows it: as it was found; of a cause that several subjects share, as the latest look saw it.
    pub evidence: IncidentEvidence,
    /// Its next remedy, as the latest look planned it.
    pub next: Option<PlannedRemedy>,
    /// The mend for a person; empty where no person has to, or where it follows from the subject.
    pub mend: &'static str,
}

/// A domain with its mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DomainView {
    /// The domain.
    pub domain: HealingDomain,
    /// The mode in force.
    pub mode: SelfHealingMode,
    /// The mode that a person chose; `None` where the one of the configuration is in force.
    pub chosen: Option<SelfHealingMode>,
    /// How it is watched.
    pub watch: DomainWatch,
}

/// Reads incidents and sets modes. Clones share the latest look.
#[derive(Clone)]
pub struct SelfHealing {
    pub(crate) ports: HealingPorts,
    board: Arc<HealingBoard>,
}

impl SelfHealing {
    /// Starts self-healing as a task of the driver.
    pub(crate) fn start(driver: &BackgroundDriver, ports: HealingPorts) -> Self {
        let board = Arc::new(HealingBoard::default());
        driver.spawn(HealingTask::new(ports.clone(), Arc::clone(&board)));
        Self { ports, board }
    }

    /// Asks for a look at once.
    pub(crate) fn ask(&self) {
        self.board.ask();
    }

    /// Returns the modes that the latest look went by.
    pub(crate) fn modes(&self) -> HealingModes {
        self.board.modes()
    }

    /// Returns how a domain is watched.
    pub(crate) fn watch_of(&self, domain: HealingDomain) -> DomainWatch {
        self.board.watch_of(domain)
    }

    /// Adds what is known of an incident beside the journal.
    pub(crate) fn view(&self, record: IncidentRecord) -> IncidentView {
        let opened = &record.opened;
        let key = IncidentKey::of(opened.cause, opened.subject);
        let is_over = record.stage == IncidentStage::Resolved;
        let next = if is_over { None } else { self.board.planned(&key) };
        let is_shared = key.subject != opened.subject;
        let latest = self.board.finding(&key).filter(|_| is_shared && !is_over);
        let evidence = latest.map_or(opened.evidence, |finding| finding.evidence);
        let subject = latest.map_or(opened.subject, |finding| finding.about);
        let subject = self.subject_of(&IncidentKey { cause: opened.cause, subject });
        let waits = record.stage == IncidentStage::Open && next.is_none();
        let mend = if waits { mend_of(opened.cause, &subject) } else { "" };
        IncidentView { subject, evidence, next, mend, record }
    }

    fn subject_of(&self, key: &IncidentKey) -> String {
        let bytes = key.subject.0;
        match key.cause.domain() {
            HealingDomain::Runs => RunId::from_bytes(bytes).to_string(),
            HealingDomain::Tasks => QueuedTaskId::from_bytes(bytes).to_string(),
            HealingDomain::Approvals => ApprovalId::from_bytes(bytes).to_string(),
            HealingDomain::Providers => {
                let log = self.ports.maintain.status().log_id;
                let models = self.ports.models.borrow();
                let mut names = models.providers().map(|provider| provider.name());
                let named = names.find(|name| provider_subject(log, name) == key.subject);
                named.map(|name| name.as_str().to_owned()).unwrap_or_default()
            }
            HealingDomain::Artifacts | HealingDomain::Journal => {
                self.board.subject_name(key).unwrap_or_default()
            }
            HealingDomain::Channels
            | HealingDomain::Sandbox
            | HealingDomain::Workers
            | HealingDomain::Browser => String::new(),
        }
    }
}
