//! What watchers read: the only input beside the time.

use std::time::Duration;

use palyra_types::incident::{HealingDomain, IncidentSubject};

/// How far something is. Any change is progress, also a smaller number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProgressMarker {
    /// Entries of a tape, or the heartbeat of a worker.
    pub entries: u64,
    /// Pieces that a model sent, or bytes that a connector received.
    pub received: u64,
    /// Processor time of programs, in microseconds.
    pub processor_us: u64,
}

/// What is known of a domain.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum DomainFacts<T> {
    /// This version has no such system.
    #[default]
    Absent,
    /// The system is there, and is not watched yet.
    NotWatched,
    /// It could not be read: nothing is concluded from this look.
    Unread,
    /// It was read.
    Read(T),
}

impl<T> DomainFacts<T> {
    /// Returns the facts, where the domain was read.
    pub(crate) fn read(&self) -> Option<&T> {
        match self {
            Self::Read(facts) => Some(facts),
            Self::Absent | Self::NotWatched | Self::Unread => None,
        }
    }
}

/// One look at everything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HealingFacts {
    /// Open runs.
    pub runs: DomainFacts<Vec<RunFact>>,
    /// Open tasks.
    pub tasks: DomainFacts<Vec<TaskFact>>,
    /// Pending approvals, and decided ones whose run is open.
    pub approvals: DomainFacts<Vec<ApprovalFact>>,
    /// Damaged artifacts, and files that need not be kept.
    pub artifacts: DomainFacts<ArtifactsFact>,
    /// Connectors.
    pub channels: DomainFacts<Vec<ConnectorFact>>,
    /// Providers.
    pub providers: DomainFacts<Vec<ProviderFact>>,
    /// The journal.
    pub journal: DomainFacts<JournalFact>,
    /// What programs left.
    pub sandbox: DomainFacts<SandboxFact>,
    /// Workers.
    pub workers: DomainFacts<Vec<WorkerFact>>,
    /// Browsers.
    pub browser: DomainFacts<Vec<BrowserFact>>,
}

impl HealingFacts {
    /// Returns whether a domain was read, so that what it does not show is not there.
    pub(crate) fn was_read(&self, domain: HealingDomain) -> bool {
        match domain {
            HealingDomain::Runs => self.runs.read().is_some(),
            HealingDomain::Tasks => self.tasks.read().is_some(),
            HealingDomain::Approvals => self.approvals.read().is_some(),
            HealingDomain::Artifacts => self.artifacts.read().is_some(),
            HealingDomain::Channels => self.channels.read().is_some(),
            HealingDomain::Providers => self.providers.read().is_some(),
            HealingDomain::Journal => self.journal.read().is_some(),
            HealingDomain::Sandbox => self.sandbox.read().is_some(),
            HealingDomain::Workers => self.workers.read().is_some(),
            HealingDomain::Browser => self.browser.read().is_some(),
        }
    }
}

/// What a run is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunStanding {
    /// It waits for a person, a client or a budget: it is never stuck.
    Waits,
    /// It waits behind another run of its session.
    Queued,
    /// An actor works on it.
    Driven,
    /// It is to be worked on, and no actor does so.
    NotDriven,
}

/// An open run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunFact {
    /// The bytes of its id.
    pub subject: IncidentSubject,
    /// What it is at.
    pub standing: RunStanding,
    /// How far it is.
    pub marker: ProgressMarker,
    /// The deadline of its current effect, as a span from its start; `None` where it has no effect with one.
    pub effect_deadline: Option<Duration>,
}

/// What a task is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskStanding {
    /// It is due, its kind has a handler, and a worker is free for it.
    Due,
    /// A worker has its lease.
    Leased,
}

/// An open task that could be stuck; one that waits for its time is not among the facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskFact {
    /// The bytes of its id.
    pub subject: IncidentSubject,
    /// What it is at.
    pub standing: TaskStanding,
    /// How far it is: leases, heartbeats, progress.
    pub marker: ProgressMarker,
    /// The time without a heartbeat after which its rules end an attempt.
    pub deadline: Duration,
}

/// What an approval is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalStanding {
    /// It is pending, and a person who may decide it is reachable.
    Pending,
    /// It is pending, and no such person is reachable.
    Unreachable,
    /// It is pending after its expiry.
    Expired,
    /// It was decided, and its run is open and did not continue.
    Decided,
}

/// An approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ApprovalFact {
    /// The bytes of its id.
    pub subject: IncidentSubject,
    /// What it is at.
    pub standing: ApprovalStanding,
}

/// What is wrong with an artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArtifactStanding {
    /// It can be made again, or a copy of it is there.
    Repairable,
    /// There is no copy of it.
    Lost,
}

/// A damaged artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArtifactFact {
    /// The bytes of its id.
    pub subject: IncidentSubject,
    /// What is wrong with it.
    pub standing: ArtifactStanding,
}

/// Files that can be removed, and whether that is called for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SpareFact {
    /// Bytes that their removal frees.
    pub bytes: u64,
    /// Whether their file system is nearly full.
    pub is_disk_low: bool,
}

/// Artifacts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ArtifactsFact {
    /// Those that are damaged.
    pub damaged: Vec<ArtifactFact>,
    /// What can be made again, and automatic backups that a newer one has superseded.
    pub spare: SpareFact,
}

/// A connector of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectorFact {
    /// The bytes of its id.
    pub subject: IncidentSubject,
    /// Whether it is connected.
    pub is_connected: bool,
}

/// A model provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProviderFact {
    /// The bytes of a digest of its name.
    pub subject: IncidentSubject,
    /// Whether it fails, and is not asked because of that.
    pub is_paused: bool,
}

/// The journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct JournalFact {
    /// Bytes of the write-ahead log.
    pub wal_bytes: u64,
    /// Whether there is room for endings only.
    pub is_disk_low: bool,
    /// Bytes that could be freed beside the journal; zero where the disk is not low.
    pub spare_bytes: u64,
    /// Whether a derived table differs from the log.
    pub projection_differs: bool,
    /// The first entry that does not verify.
    pub damaged_entry: Option<u64>,
}

/// What programs of tools left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SandboxFact {
    /// Scratch space of programs that ended.
    pub scratch: SpareFact,
}

/// A worker on another machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkerFact {
    /// The bytes of its id.
    pub subject: IncidentSubject,
    /// Its signs of life.
    pub marker: ProgressMarker,
    /// The time without one after which its leases end.
    pub lease: Duration,
}

/// A browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BrowserFact {
    /// The bytes of its id.
    pub subject: IncidentSubject,
    /// Whether it answers.
    pub answers: bool,
}
