//! Incidents of self-healing, as recorded facts and as records.
//!
//! Owns the values; which incidents there are, and which remedy follows, is decided by the crate `healing`. Invariant: no
//! event has content: evidence is numbers, and a subject is the bytes of an id or of a digest. Begin at [`IncidentEvent`].

use std::time::Duration;

use crate::{IncidentId, Seq, Timestamp};

/// A part of the daemon that is watched, with a mode of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HealingDomain {
    /// Runs that do not move.
    Runs,
    /// Tasks of the background queue.
    Tasks,
    /// Approvals that cannot be decided, or were and had no effect.
    Approvals,
    /// Files that the journal pins by a digest.
    Artifacts,
    /// Connectors of channels.
    Channels,
    /// Model providers.
    Providers,
    /// The journal: its write-ahead log, its space, its derived tables.
    Journal,
    /// What programs of tools left behind.
    Sandbox,
    /// Workers on other machines.
    Workers,
    /// Browsers that tools drive.
    Browser,
}

impl HealingDomain {
    /// Every domain with its word.
    pub const ALL: [(Self, &'static str); 10] = [
        (Self::Runs, "runs"),
        (Self::Tasks, "tasks"),
        (Self::Approvals, "approvals"),
        (Self::Artifacts, "artifacts"),
        (Self::Channels, "channels"),
        (Self::Providers, "providers"),
        (Self::Journal, "journal"),
        (Self::Sandbox, "sandbox"),
        (Self::Workers, "workers"),
        (Self::Browser, "browser"),
    ];
}

crate::words::words_of_table!(HealingDomain);

/// What self-healing does in a domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum SelfHealingMode {
    /// It does not look.
    Disabled,
    /// It opens incidents and shows the remedies that it would perform.
    #[default]
    ObserveOnly,
    /// It performs them.
    Auto,
}

impl SelfHealingMode {
    /// Every mode with its word.
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::Disabled, "disabled"), (Self::ObserveOnly, "observe_only"), (Self::Auto, "auto")];
}

crate::words::words_of_table!(SelfHealingMode);

/// How urgent an incident is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IncidentSeverity {
    /// Nothing fails because of it.
    Notice,
    /// Some work does not go on.
    Warning,
    /// Work is refused, or records may be damaged.
    Critical,
}

impl IncidentSeverity {
    /// Every severity with its word.
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::Notice, "notice"), (Self::Warning, "warning"), (Self::Critical, "critical")];
}

crate::words::words_of_table!(IncidentSeverity);

/// What is wrong. Together with the subject it is the key under which one incident is open at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IncidentCause {
    /// A run is worked on and shows no progress.
    RunNoProgress,
    /// A run is to be worked on, and no actor does so.
    RunNotDriven,
    /// The worker of a task shows no progress.
    TaskNoProgress,
    /// A task is due, and no worker takes it.
    TaskNotTaken,
    /// An approval is pending, and no person who may decide it is reachable.
    ApproverUnreachable,
    /// An approval is pending after its expiry.
    ApprovalExpiryMissed,
    /// An approval was decided, and its run did not continue.
    ApprovalNotContinued,
    /// A file that the journal pins by a digest is missing or differs.
    ArtifactDamaged,
    /// A connector has no connection.
    ConnectorDown,
    /// A provider fails, and is not asked.
    ProviderPaused,
    /// The write-ahead log is not moved into the database.
    WalTooLarge,
    /// The disk has room for endings only.
    DiskLow,
    /// A derived table differs from the log.
    ProjectionDiffers,
    /// An entry does not verify.
    EntryDamaged,
    /// Scratch space of programs that ended is left while the disk is low.
    ScratchLeft,
    /// A worker shows no sign of life.
    WorkerSilent,
    /// A browser does not answer.
    BrowserSilent,
    /// Files that can be made again, or old automatic backups, are kept while the disk is low.
    SpareFiles,
}

impl IncidentCause {
    /// Every cause with its word.
    pub const ALL: [(Self, &'static str); 18] = [
        (Self::RunNoProgress, "run_no_progress"),
        (Self::RunNotDriven, "run_not_driven"),
        (Self::TaskNoProgress, "task_no_progress"),
        (Self::TaskNotTaken, "task_not_taken"),
        (Self::ApproverUnreachable, "approver_unreachable"),
        (Self::ApprovalExpiryMissed, "approval_expiry_missed"),
        (Self::ApprovalNotContinued, "approval_not_continued"),
        (Self::ArtifactDamaged, "artifact_damaged"),
        (Self::ConnectorDown, "connector_down"),
        (Self::ProviderPaused, "provider_paused"),
        (Self::WalTooLarge, "wal_too_large"),
        (Self::DiskLow, "disk_low"),
        (Self::ProjectionDiffers, "projection_differs"),
        (Self::EntryDamaged, "entry_damaged"),
        (Self::ScratchLeft, "scratch_left"),
        (Self::WorkerSilent, "worker_silent"),
        (Self::BrowserSilent, "browser_silent"),
        (Self::SpareFiles, "spare_files"),
    ];

    /// Returns the domain that it belongs to.
    #[must_use]
    pub fn domain(self) -> HealingDomain {
        match self {
            Self::RunNoProgress | Self::RunNotDriven => HealingDomain::Runs,
            Self::TaskNoProgress | Self::TaskNotTaken => HealingDomain::Tasks,
            Self::ApproverUnreachable | Self::ApprovalExpiryMissed | Self::ApprovalNotContinued => {
                HealingDomain::Approvals
            }
            Self::ArtifactDamaged | Self::SpareFiles => HealingDomain::Artifacts,
            Self::ConnectorDown => HealingDomain::Channels,
            Self::ProviderPaused => HealingDomain::Providers,
            Self::WalTooLarge | Self::DiskLow | Self::ProjectionDiffers | Self::EntryDamaged => {
                HealingDomain::Journal
            }
            Self::ScratchLeft => HealingDomain::Sandbox,
            Self::WorkerSilent => HealingDomain::Workers,
            Self::BrowserSilent => HealingDomain::Browser,
        }
    }
}

crate::words::words_of_table!(IncidentCause);

/// What is done about an incident. None decides an approval, and none removes content of the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RemedyKind {
    /// Makes the session of a run work on it again.
    ResumeRun,
    /// Cancels a run.
    CancelRun,
    /// Takes back the lease of a task, so that another attempt follows its rules.
    RequeueTask,
    /// Makes the queue look for due tasks.
    WakeQueue,
    /// Makes the task that ends expired approvals look again.
    ExpireApprovals,
    /// Makes an artifact again, or puts back a copy with its digest.
    RepairArtifact,
    /// Starts a connector again.
    RestartConnector,
    /// Lets the next request to a provider through.
    ReopenProvider,
    /// Moves the write-ahead log into the database and empties its file.
    TruncateWal,
    /// Frees scratch space, caches and old automatic backups.
    FreeSpace,
    /// Folds the derived tables from the log again.
    RebuildProjections,
    /// Takes back the leases of a worker.
    RevokeWorker,
    /// Starts a browser again.
    RestartBrowser,
}

impl RemedyKind {
    /// Every remedy with its word.
    pub const ALL: [(Self, &'static str); 13] = [
        (Self::ResumeRun, "resume_run"),
        (Self::CancelRun, "cancel_run"),
        (Self::RequeueTask, "requeue_task"),
        (Self::WakeQueue, "wake_queue"),
        (Self::ExpireApprovals, "expire_approvals"),
        (Self::RepairArtifact, "repair_artifact"),
        (Self::RestartConnector, "restart_connector"),
        (Self::ReopenProvider, "reopen_provider"),
        (Self::TruncateWal, "truncate_wal"),
        (Self::FreeSpace, "free_space"),
        (Self::RebuildProjections, "rebuild_projections"),
        (Self::RevokeWorker, "revoke_worker"),
        (Self::RestartBrowser, "restart_browser"),
    ];
}

crate::words::words_of_table!(RemedyKind);

/// How a remedy ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RemedyOutcome {
    /// Its postcondition is met.
    Helped,
    /// It was performed, and its postcondition is not met.
    DidNotHelp,
    /// It could not be performed.
    Failed,
    /// The daemon ended before its postcondition was checked.
    Interrupted,
}

impl RemedyOutcome {
    /// Every outcome with its word.
    pub const ALL: [(Self, &'static str); 4] = [
        (Self::Helped, "helped"),
        (Self::DidNotHelp, "did_not_help"),
        (Self::Failed, "failed"),
        (Self::Interrupted, "interrupted"),
    ];
}

crate::words::words_of_table!(RemedyOutcome);

/// Why an incident is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IncidentResolution {
    /// What was wrong is not so any more, and no remedy was performed.
    ByItself,
    /// It is not so any more after a remedy.
    Remedied,
    /// Its domain is not watched any more.
    NotWatched,
}

impl IncidentResolution {
    /// Every resolution with its word.
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::ByItself, "by_itself"), (Self::Remedied, "remedied"), (Self::NotWatched, "not_watched")];
}

crate::words::words_of_table!(IncidentResolution);

/// Where an incident is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IncidentStage {
    /// It is open.
    Open,
    /// A remedy is at work, or its postcondition is not checked yet.
    Remediating,
    /// It is over.
    Resolved,
}

impl IncidentStage {
    /// Every stage with its word.
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::Open, "open"), (Self::Remediating, "remediating"), (Self::Resolved, "resolved")];
}

crate::words::words_of_table!(IncidentStage);

/// What an incident is about: the bytes of an id, or of the digest of a name; zeros for the daemon as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct IncidentSubject(pub [u8; 16]);

/// Numbers that show what is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IncidentEvidence {
    /// How long there was no progress.
    pub silent: Duration,
    /// How long there may be none.
    pub window: Duration,
    /// What was measured: bytes, files, or the number of an entry; zero where the silence is the evidence.
    pub measured: u64,
    /// What it may be at most.
    pub limit: u64,
}

/// Something happened to an incident, or to the mode of a domain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IncidentEvent {
    /// It was found.
    Opened(IncidentOpened),
    /// A remedy begins.
    RemedyStarted {
        /// The incident.
        incident: IncidentId,
        /// The remedy.
        remedy: RemedyKind,
    },
    /// A remedy ended.
    RemedyEnded {
        /// The incident.
        incident: IncidentId,
        /// The remedy.
        remedy: RemedyKind,
        /// How it ended.
        outcome: RemedyOutcome,
    },
    /// It is over.
    Resolved {
        /// The incident.
        incident: IncidentId,
        /// Why.
        resolution: IncidentResolution,
    },
    /// A person chose the mode of a domain.
    ModeSet {
        /// The domain.
        domain: HealingDomain,
        /// The mode; `None` for the one of the configuration.
        mode: Option<SelfHealingMode>,
    },
}

impl IncidentEvent {
    /// Returns the incident; `None` for the mode of a domain.
    #[must_use]
    pub fn incident(&self) -> Option<IncidentId> {
        match self {
            Self::Opened(opened) => Some(opened.incident),
            Self::RemedyStarted { incident, .. }
            | Self::RemedyEnded { incident, .. }
            | Self::Resolved { incident, .. } => Some(*incident),
            Self::ModeSet { .. } => None,
        }
    }
}

/// An incident as it was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IncidentOpened {
    /// Its id.
    pub incident: IncidentId,
    /// What is wrong.
    pub cause: IncidentCause,
    /// How urgent it is.
    pub severity: IncidentSeverity,
    /// What it is about.
    pub subject: IncidentSubject,
    /// What shows it.
    pub evidence: IncidentEvidence,
    /// The first remedy of its plan; `None` where a person has to act.
    pub planned: Option<RemedyKind>,
}

/// An incident, as lists show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncidentRecord {
    /// As it was found.
    pub opened: IncidentOpened,
    /// The entry that opened it.
    pub seq: Seq,
    /// When it was found.
    pub created: Timestamp,
    /// When it changed last.
    pub changed: Timestamp,
    /// Where it is.
    pub stage: IncidentStage,
    /// Remedies that began.
    pub remedies: u32,
    /// The latest one.
    pub last_remedy: Option<RemedyKind>,
    /// How it ended.
    pub last_outcome: Option<RemedyOutcome>,
    /// Why it is over.
    pub resolution: Option<IncidentResolution>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cause_and_remedy_has_a_word_of_its_own() {
        for (cause, word) in IncidentCause::ALL {
            assert_eq!((cause.as_str(), IncidentCause::of(word)), (word, Some(cause)));
        }
        for (remedy, word) in RemedyKind::ALL {
            assert_eq!((remedy.as_str(), RemedyKind::of(word)), (word, Some(remedy)));
        }
    }
}
