//! Reads the facts of each domain. A domain that cannot be read says so, and nothing is concluded from that look.

use std::collections::BTreeSet;
use std::mem;
use std::time::Duration;

use palyra_background::queue::TaskQuery;
use palyra_healing::{
    ApprovalFact, ApprovalStanding, ArtifactsFact, DomainFacts, HealingFacts, IncidentSubject, JournalFact,
    ProgressMarker, ProviderFact, RunFact, RunStanding, SandboxFact, SpareFact, TaskFact, TaskStanding,
};
use palyra_journal_core::families::{approvals, runs};
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::maintain_journal::{Integrity, JournalHealth};
use palyra_ports::read_approvals::ApprovalQuery;
use palyra_ports::read_records::RECORD_PAGE_ROWS_MAX;
use palyra_ports::{ProviderHealth, ReadError, SpareSpace};
use palyra_types::approval::ApprovalRecord;
use palyra_types::model::ProviderName;
use palyra_types::queued_task::{OrchestratorBackgroundTaskRecord, TaskKind, TaskStage};
use palyra_types::run::{RunPhase, RunRecord};
use palyra_types::{BootTime, LogId, RunId, Seq, TapeSeq, Timestamp};

use super::artifact_watch::ArtifactWatch;
use super::healing_ports::HealingPorts;
use super::subject_names::SubjectNames;

/// All open runs are read at most so often: beside them those are looked at that actors work on or left.
const SWEEP_SPAN: Duration = Duration::from_secs(600);

/// Pages of pending approvals that are read while no approver is reachable, at most.
const UNREACHABLE_PAGES_MAX: usize = 20;
/// Entries of the journal that are read at a look.
const SLICE_ENTRIES: u64 = 128;

/// Reads facts.
pub(super) struct FactReader {
    ports: HealingPorts,
    /// Runs that no actor worked on at the look before and that are to move.
    undriven: BTreeSet<RunId>,
    /// When all open runs were read.
    swept: Option<BootTime>,
    /// Providers that were left alone and have not answered since.
    failing: BTreeSet<ProviderName>,
    artifacts: ArtifactWatch,
    /// Entries of the journal below this one are read next.
    below: Option<Seq>,
}

/// The facts of one look, and when the next task is due.
pub(super) struct LookResult {
    pub(super) facts: HealingFacts,
    pub(super) next_task_due: Option<Duration>,
    pub(super) is_disk_low: bool,
    pub(super) subjects: SubjectNames,
}

impl FactReader {
    pub(super) fn new(ports: HealingPorts) -> Self {
        Self {
            ports,
            undriven: BTreeSet::new(),
            swept: None,
            failing: BTreeSet::new(),
            artifacts: ArtifactWatch::default(),
            below: None,
        }
    }

    /// Looks at every domain that has a system here.
    pub(super) async fn look(&mut self) -> LookResult {
        let tasks = self.open_tasks().await;
        let next_task_due = tasks.as_ref().and_then(|tasks| self.next_due(tasks));
        let spare = self.spare().await;
        let space = spare.unwrap_or_default();
        let is_disk_low = space.is_disk_low;
        let of_spare = |bytes| SpareFact { bytes, is_disk_low };
        let artifacts = self.artifacts.look(&*self.ports.families, &*self.ports.artifacts).await;
        let artifacts = artifacts.map_err(|error| unread::<()>("artifacts", &error)).ok();
        self.read_entries().await;
        let journal = self.journal(space.bytes());
        let subjects = SubjectNames::of(artifacts.as_ref(), &self.ports.maintain.status().integrity);
        let facts = HealingFacts {
            runs: self.runs().await,
            tasks: match &tasks {
                Some(tasks) => DomainFacts::Read(self.stuck_tasks(tasks)),
                None => DomainFacts::Unread,
            },
            approvals: self.approvals().await,
            artifacts: match (spare, artifacts) {
                (Some(space), Some(look)) => DomainFacts::Read(ArtifactsFact {
                    damaged: look.damaged,
                    spare: of_spare(space.artifacts()),
                }),
                _ => DomainFacts::Unread,
            },
            providers: DomainFacts::Read(self.providers()),
            journal: DomainFacts::Read(journal),
            sandbox: match spare {
                Some(space) => DomainFacts::Read(SandboxFact { scratch: of_spare(space.scratch) }),
                None => DomainFacts::Unread,
            },
            channels: DomainFacts::Absent,
            workers: DomainFacts::Absent,
            browser: DomainFacts::Absent,
        };
        LookResult { facts, next_task_due, is_disk_low, subjects }
    }

    /// Reads the next slice of the journal, the newest entries first. A read that fails its digest is known to the journal
    /// from then on.
    async fn read_entries(&mut self) {
        let status = self.ports.maintain.status();
        let below = self.below.filter(|below| below.0 > 0).unwrap_or(Seq(status.entries));
        let count = below.0.min(SLICE_ENTRIES);
        let from = Seq(below.0 - count);
        self.below = Some(from);
        if count > 0 {
            let limit = usize::try_from(count).unwrap_or(usize::MAX);
            if let Err(error) = self.ports.maintain.entries(from, limit).await {
                tracing::warn!(%error, "self-healing could not read some entries of the journal");
            }
        }
    }

    /// Returns what could be freed; `None` where it could not be measured.
    async fn spare(&self) -> Option<SpareSpace> {
        match self.ports.spare.measure().await {
            Ok(space) => Some(space),
            Err(error) => {
                unread::<()>("sandbox and artifacts", &error);
                None
            }
        }
    }

    async fn runs(&mut self) -> DomainFacts<Vec<RunFact>> {
        match self.moving_runs().await {
            Ok(moving) => {
                let facts: Vec<RunFact> =
                    moving.iter().map(|run| self.run_fact(run.run, run.last_tape_seq)).collect();
                let is_undriven = |fact: &&RunFact| fact.standing == RunStanding::NotDriven;
                let undriven = facts.iter().filter(is_undriven);
                self.undriven = undriven.map(|fact| RunId::from_bytes(fact.subject.0)).collect();
                DomainFacts::Read(facts)
            }
            Err(error) => {
                // What actors left since is known from nowhere else.
                self.swept = None;
                unread("runs", &error)
            }
        }
    }

    /// Returns the runs that are to move. Those that wait are as many as people let wait, so they are not read at each look:
    /// a run that moves has an actor, was left by one, or is found when all are read, page by page.
    async fn moving_runs(&mut self) -> Result<Vec<RunRecord>, ReadError> {
        let board = self.ports.runs.board();
        let left = board.take_left();
        let mut wanted = mem::take(&mut self.undriven);
        wanted.extend(board.moving());
        wanted.extend(left.runs);
        let now = self.ports.clock.boot();
        let is_due = self.swept.is_none_or(|swept| now.since(swept) >= SWEEP_SPAN);
        if is_due || left.are_more {
            wanted.extend(self.sweep().await?);
            self.swept = Some(now);
        }
        let mut moving = Vec::new();
        let wanted: Vec<RunId> = wanted.into_iter().collect();
        for page in wanted.chunks(RECORD_PAGE_ROWS_MAX) {
            let page = page.to_vec();
            let read = self.ports.families.query(move |rows, _| {
                page.iter()
                    .filter_map(|run| runs::record(rows, *run).transpose())
                    .collect::<Result<Vec<_>, _>>()
            });
            moving.extend(read.await?.into_iter().filter(|run| run.phase == RunPhase::Running));
        }
        Ok(moving)
    }

    /// Reads all open runs, and returns those that are to move.
    async fn sweep(&self) -> Result<Vec<RunId>, ReadError> {
        let mut moving = Vec::new();
        let mut after = None;
        loop {
            let page = self.ports.families.query(move |rows, _| runs::open_page(rows, after));
            let page = page.await?;
            let is_moving = |run: &&RunRecord| run.phase == RunPhase::Running;
            moving.extend(page.runs.iter().filter(is_moving).map(|run| run.run));
            after = page.next;
            if after.is_none() {
                return Ok(moving);
            }
        }
    }

    fn run_fact(&self, run: RunId, last: TapeSeq) -> RunFact {
        let activity = self.ports.runs.board().activity(run);
        let standing = if activity.is_some() { RunStanding::Driven } else { RunStanding::NotDriven };
        let activity = activity.unwrap_or_default();
        let marker = ProgressMarker { entries: last.0.into(), received: activity.received, processor_us: 0 };
        let subject = IncidentSubject(run.to_bytes());
        RunFact { subject, standing, marker, effect_deadline: activity.effect_deadline }
    }

    async fn open_tasks(&self) -> Option<Vec<OrchestratorBackgroundTaskRecord>> {
        let mut open = Vec::new();
        for stage in [TaskStage::Leased, TaskStage::Waiting] {
            let query = TaskQuery { stage: Some(stage), limit: RECORD_PAGE_ROWS_MAX, ..TaskQuery::default() };
            match self.ports.queue.list(query).await {
                Ok(tasks) => open.extend(tasks),
                Err(error) => {
                    unread::<()>("tasks", &error);
                    return None;
                }
            }
        }
        Some(open)
    }

    /// Returns the tasks at which a worker is, and those that are due while a worker is free for them.
    fn stuck_tasks(&self, open: &[OrchestratorBackgroundTaskRecord]) -> Vec<TaskFact> {
        let leased: Vec<TaskKind> =
            open.iter().filter(|task| task.stage == TaskStage::Leased).map(|task| task.kind).collect();
        let now = self.ports.clock.wall();
        open.iter().filter_map(|task| self.task_fact(task, &leased, now)).collect()
    }

    fn task_fact(
        &self,
        task: &OrchestratorBackgroundTaskRecord,
        leased: &[TaskKind],
        now: Timestamp,
    ) -> Option<TaskFact> {
        let queue = &self.ports.queue;
        let busy = leased.iter().filter(|kind| **kind == task.kind).count();
        let standing = match task.stage {
            TaskStage::Leased => TaskStanding::Leased,
            TaskStage::Waiting if task.due <= now && queue.has_free_worker(task.kind, leased.len(), busy) => {
                TaskStanding::Due
            }
            TaskStage::Waiting
            | TaskStage::Done
            | TaskStage::DeadLetter
            | TaskStage::OutcomeUnknown
            | TaskStage::Cancelled
            | TaskStage::Dropped => return None,
        };
        let marker =
            ProgressMarker { entries: task.fence.0.into(), received: task.progress, processor_us: 0 };
        let subject = IncidentSubject(task.task.to_bytes());
        Some(TaskFact { subject, standing, marker, deadline: queue.heartbeat_span(task.kind) })
    }

    fn next_due(&self, open: &[OrchestratorBackgroundTaskRecord]) -> Option<Duration> {
        let now = self.ports.clock.wall();
        let waiting = open.iter().filter(|task| task.stage == TaskStage::Waiting);
        let handled = waiting.filter(|task| self.ports.queue.handles(task.kind));
        handled.map(|task| task.due.since(now)).min()
    }

    /// Reads a page of pending approvals; where no approver is reachable, all of them, for their number and the oldest.
    async fn approvals(&self) -> DomainFacts<Vec<ApprovalFact>> {
        let is_reachable = (self.ports.reaches_approver)();
        let pages = if is_reachable { 1 } else { UNREACHABLE_PAGES_MAX };
        let mut facts = Vec::new();
        let mut before = None;
        for _ in 0..pages {
            let query = ApprovalQuery { before, limit: RECORD_PAGE_ROWS_MAX, ..ApprovalQuery::default() };
            let page = self.ports.families.query(move |rows, log| approvals::records(rows, log, &query));
            let page = match page.await {
                Ok(page) => page,
                Err(error) => return unread("approvals", &error),
            };
            facts.extend(page.iter().map(|one| self.approval_fact(one, is_reachable)));
            before = page.last().map(|one| one.seq).filter(|_| page.len() == RECORD_PAGE_ROWS_MAX);
            if before.is_none() {
                break;
            }
        }
        facts.reverse();
        DomainFacts::Read(facts)
    }

    fn approval_fact(&self, approval: &ApprovalRecord, is_reachable: bool) -> ApprovalFact {
        let now = self.ports.clock.wall();
        let is_over = approval.expires.is_some_and(|expires| expires < now);
        let standing = if is_over && self.ports.runs.may_expire(now) {
            ApprovalStanding::Expired
        } else if is_reachable || self.ports.runs.is_followed(approval.run) {
            ApprovalStanding::Pending
        } else {
            ApprovalStanding::Unreachable
        };
        ApprovalFact { subject: IncidentSubject(approval.approval.to_bytes()), standing }
    }

    fn providers(&mut self) -> Vec<ProviderFact> {
        let log = self.ports.maintain.status().log_id;
        let models = self.ports.models.borrow();
        let mut known = BTreeSet::new();
        let mut facts = Vec::new();
        for provider in models.providers() {
            let name = provider.name();
            match provider.health() {
                ProviderHealth::Paused { .. } => {
                    self.failing.insert(name.clone());
                }
                ProviderHealth::Healthy => {
                    self.failing.remove(&name);
                }
                ProviderHealth::Degraded => {}
            }
            let is_paused = self.failing.contains(&name);
            facts.push(ProviderFact { subject: provider_subject(log, &name), is_paused });
            known.insert(name);
        }
        self.failing.retain(|name| known.contains(name));
        facts
    }

    fn journal(&self, spare_bytes: u64) -> JournalFact {
        let status = self.ports.maintain.status();
        JournalFact {
            wal_bytes: status.wal_bytes,
            is_disk_low: status.health == JournalHealth::EndingsOnly,
            spare_bytes,
            projection_differs: matches!(status.integrity, Integrity::TableDiffers { .. }),
            damaged_entry: match status.integrity {
                Integrity::Faulty { seq, .. } => Some(seq.0),
                Integrity::NotChecked | Integrity::Holds { .. } | Integrity::TableDiffers { .. } => None,
            },
        }
    }
}

/// Returns the subject of a provider: a digest, since facts hold no names.
pub(super) fn provider_subject(log: LogId, provider: &ProviderName) -> IncidentSubject {
    let text = format!("palyra/incident/provider/{log}/{}", provider.as_str());
    let digest = palyra_ledger::sha256(text.as_bytes());
    let mut subject = [0; 16];
    subject.copy_from_slice(&digest[..16]);
    IncidentSubject(subject)
}

fn unread<T>(domain: &str, error: &dyn std::fmt::Display) -> DomainFacts<T> {
    tracing::warn!(domain, %error, "self-healing could not read a domain");
    DomainFacts::Unread
}
