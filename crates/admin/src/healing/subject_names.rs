//! Names of subjects that are neither runs, tasks, approvals nor providers, and what a person can do about them.

use std::collections::BTreeMap;

use palyra_healing::{IncidentCause, IncidentKey, IncidentSubject};
use palyra_ports::Integrity;

use super::artifact_watch::ArtifactLook;

/// The names as the latest look knows them. An incident records numbers only.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct SubjectNames {
    artifacts: BTreeMap<IncidentSubject, String>,
    damaged_entry: Option<String>,
}

impl SubjectNames {
    /// Takes the names from what a look read.
    pub(super) fn of(artifacts: Option<&ArtifactLook>, integrity: &Integrity) -> Self {
        let known = artifacts.into_iter().flat_map(|look| &look.known);
        let damaged_entry = match integrity {
            Integrity::Faulty { seq, what, run: Some(run) } => {
                Some(format!("entry {seq} of run {run}: {what}"))
            }
            Integrity::Faulty { seq, what, run: None } => Some(format!("entry {seq}, of no run: {what}")),
            Integrity::NotChecked | Integrity::Holds { .. } | Integrity::TableDiffers { .. } => None,
        };
        Self { artifacts: known.map(|one| (one.subject(), one.label())).collect(), damaged_entry }
    }

    /// Returns the name of the subject of a key.
    pub(super) fn of_key(&self, key: &IncidentKey) -> Option<String> {
        if key.cause == IncidentCause::EntryDamaged {
            return self.damaged_entry.clone();
        }
        self.artifacts.get(&key.subject).cloned()
    }
}

/// Returns what a person can do about a cause for which no remedy is left.
pub(super) fn mend_of(cause: IncidentCause, subject: &str) -> &'static str {
    match cause {
        IncidentCause::ArtifactDamaged if subject.starts_with("skill ") => {
            "no copy has the pinned digest in the newest automatic backups; install its folder again with \
             `palyra tools skills install FOLDER`, or take it from an older backup with \
             `palyra backup restore BACKUP --to NEW_FOLDER`"
        }
        IncidentCause::ArtifactDamaged => {
            "no copy has the pinned digest in the newest automatic backups; add the same file again with \
             `palyra tools add FILE`, or take it from an older backup with \
             `palyra backup restore BACKUP --to NEW_FOLDER`"
        }
        IncidentCause::EntryDamaged => {
            "this journal is left as it is; `palyra backup verify BACKUP` finds a backup that is whole, and \
             `palyra backup restore BACKUP --to NEW_STATE_DIR` puts it in a new state directory"
        }
        IncidentCause::ApproverUnreachable => {
            "answer with `palyra approve`, or configure a target of notifications \
             (`palyra explain notifications`)"
        }
        IncidentCause::RunNoProgress
        | IncidentCause::RunNotDriven
        | IncidentCause::TaskNoProgress
        | IncidentCause::TaskNotTaken
        | IncidentCause::ApprovalExpiryMissed
        | IncidentCause::ApprovalNotContinued
        | IncidentCause::ConnectorDown
        | IncidentCause::ProviderPaused
        | IncidentCause::WalTooLarge
        | IncidentCause::DiskLow
        | IncidentCause::ProjectionDiffers
        | IncidentCause::ScratchLeft
        | IncidentCause::WorkerSilent
        | IncidentCause::BrowserSilent
        | IncidentCause::SpareFiles => "",
    }
}
