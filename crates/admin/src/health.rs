//! How the daemon is, as checks with a mend.

use std::sync::Arc;

use futures::future::BoxFuture;

use palyra_background::queue::BackgroundQueue;
use palyra_background::{BackgroundDriver, BackgroundStatus, TaskStatus};
use palyra_journal_core::families::{effects, runs, skills};
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::maintain_journal::{Integrity, JournalHealth, ReadOnlyCause};
use palyra_ports::model_directory::ModelDirectory;
use palyra_ports::read_approvals::{EffectFilter, EffectQuery};
use palyra_ports::{BackupSchedule, ProveJournal};
use palyra_types::Timestamp;
use palyra_types::run::RunPhase;
use tokio::sync::watch;

use crate::error::AdminError;
use crate::healing::{HealingParts, SelfHealing};
use crate::parts::AdminPorts;

/// Effects that a check counts, at most.
const UNKNOWN_EFFECTS_COUNTED_MAX: usize = 100;

/// How a check went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckLevel {
    /// As it should be.
    Ok,
    /// Works, but look at it.
    Warning,
    /// Does not work.
    Error,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HealthCheck {
    /// Stable name.
    pub name: &'static str,
    /// How it went.
    pub level: CheckLevel,
    /// What was found.
    pub found: String,
    /// What to do about it; empty when nothing.
    pub mend: &'static str,
}

/// Checks of what lies beside the runtime, made anew whenever somebody asks.
#[derive(Clone, Default)]
pub struct LiveChecks(Vec<Arc<dyn Fn() -> HealthCheck + Send + Sync>>);

impl LiveChecks {
    /// Adds one; it may block for a moment.
    #[must_use]
    pub fn with(mut self, check: impl Fn() -> HealthCheck + Send + Sync + 'static) -> Self {
        self.0.push(Arc::new(check));
        self
    }

    /// Makes all of them.
    #[must_use]
    pub fn made(&self) -> Vec<HealthCheck> {
        self.0.iter().map(|check| check()).collect()
    }
}

impl std::fmt::Debug for LiveChecks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("LiveChecks").field(&self.0.len()).finish()
    }
}

/// Returns when backups are made, as the configuration in force says; `None` for never.
pub type ScheduleReader = Arc<dyn Fn() -> Option<BackupSchedule> + Send + Sync>;

/// A check that reads the journal; `None` where there is nothing to look at.
pub type JournalCheck = Arc<dyn Fn() -> BoxFuture<'static, Option<HealthCheck>> + Send + Sync>;

/// Runs the daemon's checks.
#[derive(Clone)]
pub struct HealthHandle {
    ports: Arc<AdminPorts>,
    proofs: Arc<dyn ProveJournal>,
    models: watch::Receiver<Arc<ModelDirectory>>,
    background: BackgroundStatus,
    pub(crate) queue: BackgroundQueue,
    pub(crate) backups: Option<ScheduleReader>,
    deliveries: Option<JournalCheck>,
    pub(crate) healing: SelfHealing,
}

impl HealthHandle {
    /// Makes a handle, and starts self-healing as a task of the driver.
    #[must_use]
    pub fn new(
        ports: &Arc<AdminPorts>,
        proofs: &Arc<dyn ProveJournal>,
        models: &watch::Receiver<Arc<ModelDirectory>>,
        background: &BackgroundDriver,
        healing: HealingParts,
    ) -> Self {
        let queue = healing.queue.clone();
        let healing = SelfHealing::start(background, ports.for_healing(models.clone(), healing));
        Self {
            ports: Arc::clone(ports),
            proofs: Arc::clone(proofs),
            models: models.clone(),
            background: background.status(),
            queue,
            backups: None,
            deliveries: None,
            healing,
        }
    }

    /// Also checks whether notifications arrive.
    #[must_use]
    pub fn with_deliveries(mut self, check: JournalCheck) -> Self {
        self.deliveries = Some(check);
        self
    }

    /// Returns the last status of every background task, by name.
    #[must_use]
    pub fn background_tasks(&self) -> Vec<TaskStatus> {
        self.background.all()
    }

    /// Returns how many runs are not terminal.
    ///
    /// # Errors
    /// [`AdminError::Read`].
    pub async fn open_runs(&self) -> Result<u64, AdminError> {
        Ok(self.ports.families.query(|rows, _| runs::open(rows)).await?.len() as u64)
    }

    /// Returns how many runs are being worked on or queued; a run that waits for a person is not.
    ///
    /// # Errors
    /// [`AdminError::Read`].
    pub async fn working_runs(&self) -> Result<usize, AdminError> {
        let open = self.ports.families.query(|rows, _| runs::open(rows)).await?;
        Ok(open.iter().filter(|run| !matches!(run.phase, RunPhase::Waiting(_))).count())
    }

    /// Returns whether a task of the background queue waits, or is worked at.
    ///
    /// # Errors
    /// [`AdminError::Read`].
    pub async fn has_open_tasks(&self) -> Result<bool, AdminError> {
        Ok(self.queue.has_open_tasks().await?)
    }

    /// Runs every check.
    pub async fn checks(&self) -> Vec<HealthCheck> {
        let mut checks =
            vec![self.journal(), self.integrity(), self.runs().await, self.model(), self.proofs()];
        checks.push(background_check(&self.background.all()));
        checks.extend(self.failed_tasks().await);
        checks.extend(self.automatic_backups().await);
        if let Some(deliveries) = &self.deliveries {
            checks.extend(deliveries().await);
        }
        checks.extend(self.incident_check().await);
        checks.extend(self.skills().await);
        checks.extend(self.unknown_effects().await);
        checks
    }

    /// Returns the time.
    pub(crate) fn now(&self) -> Timestamp {
        self.ports.clock.wall()
    }

    fn journal(&self) -> HealthCheck {
        let status = self.ports.maintain.status();
        let found = format!("{} entries, database {} bytes", status.entries, status.database_bytes);
        let (level, mend) = match status.health {
            JournalHealth::Writable => (CheckLevel::Ok, ""),
            JournalHealth::EndingsOnly => {
                (CheckLevel::Warning, "free disk space: new work is refused until there is room")
            }
            JournalHealth::Quarantined => (CheckLevel::Error, mend_of(status.cause)),
        };
        HealthCheck { name: "journal_writable", level, found, mend }
    }

    /// Tells what the last check of every entry found; a fault stays until a later check finds none.
    fn integrity(&self) -> HealthCheck {
        let name = "journal_verified";
        match self.ports.maintain.status().integrity {
            Integrity::NotChecked => {
                let found = "not yet since the daemon started".to_owned();
                HealthCheck { name, level: CheckLevel::Ok, found, mend: "" }
            }
            Integrity::Holds { entries } => HealthCheck {
                name,
                level: CheckLevel::Ok,
                found: format!("{entries} entries hold"),
                mend: "",
            },
            Integrity::TableDiffers { table } => HealthCheck {
                name,
                level: CheckLevel::Error,
                found: format!("every entry holds, but the derived table `{table}` is not what they say"),
                mend: "run `palyra journal rebuild`, which rebuilds the derived tables from the log",
            },
            Integrity::Faulty { seq, what, run: _ } => HealthCheck {
                name,
                level: CheckLevel::Error,
                found: format!("entry {seq} does not verify: {what}"),
                mend: "keep a copy of the state directory, then put a backup in its place; \
                       `palyra journal verify` checks again",
            },
        }
    }

    async fn runs(&self) -> HealthCheck {
        let name = "projections_readable";
        match self.open_runs().await {
            Ok(open) => {
                HealthCheck { name, level: CheckLevel::Ok, found: format!("{open} open runs"), mend: "" }
            }
            Err(error) => {
                let mend = "run `palyra journal verify`, then `palyra journal rebuild`";
                HealthCheck { name, level: CheckLevel::Error, found: error.to_string(), mend }
            }
        }
    }

    fn proofs(&self) -> HealthCheck {
        let name = "journal_proofs";
        match self.proofs.newest_checkpoint() {
            Some(signed) => {
                let (size, all) = (signed.head.size, self.ports.maintain.status().entries);
                let which = if size >= all { "all" } else { "the first" };
                let entries = if size == 1 { "entry" } else { "entries" };
                let found = format!("{which} {size} {entries} signed");
                HealthCheck { name, level: CheckLevel::Ok, found, mend: "" }
            }
            None => HealthCheck {
                name,
                level: CheckLevel::Warning,
                found: "no entry is signed".to_owned(),
                mend: "`palyra journal status` says why the journal is not written",
            },
        }
    }

    /// Names skills that were switched on and take no part: runs of their agents have fewer tools, or none.
    async fn skills(&self) -> Option<HealthCheck> {
        let skills = self.ports.families.query(skills::records).await.ok()?;
        let quarantined = skills.iter().filter(|skill| {
            skill.removed.is_none() && skill.quarantine.is_some() && !skill.agents.is_empty()
        });
        let names: Vec<String> = quarantined.map(|skill| skill.installed.name.expose().clone()).collect();
        (!names.is_empty()).then(|| HealthCheck {
            name: "skills",
            level: CheckLevel::Warning,
            found: format!("quarantined, and runs of their agents may lack tools: {}", names.join(", ")),
            mend: "`palyra tools skills list` says why; look at the copy, then enable the skill again or remove it",
        })
    }

    /// Names how many effects wait for a person, because nobody knows what became of them.
    async fn unknown_effects(&self) -> Option<HealthCheck> {
        let (principal, run, before) = (None, None, None);
        let query = EffectQuery {
            principal,
            run,
            only: EffectFilter::Unknown,
            before,
            limit: UNKNOWN_EFFECTS_COUNTED_MAX,
        };
        let unknown =
            self.ports.families.query(move |rows, _| effects::records(rows, &query)).await.ok()?.len();
        let more = if unknown == UNKNOWN_EFFECTS_COUNTED_MAX { " or more" } else { "" };
        (unknown > 0).then(|| HealthCheck {
            name: "unknown_effects",
            level: CheckLevel::Warning,
            found: format!("{unknown}{more} effects whose outcome is not known"),
            mend: "`palyra runs effects --unknown` lists them; look, then settle each",
        })
    }

    fn model(&self) -> HealthCheck {
        let directory = self.models.borrow();
        let model = directory.default_model();
        let told: String = directory.suggestions().iter().map(|told| format!("; {told}")).collect();
        let found = format!("default model {model}{told}");
        let name = "default_model";
        if directory.provider(model).is_none() {
            let mend = "configure its provider, or choose another default: `palyra model list`";
            return HealthCheck { name, level: CheckLevel::Error, found, mend };
        }
        let demo = model.provider.as_str() == "demo";
        let mend = if demo {
            "this is the built-in demo model; `palyra model add` configures a real one"
        } else {
            ""
        };
        HealthCheck { name, level: CheckLevel::Ok, found, mend }
    }
}

/// Names the background tasks whose last tick failed.
fn background_check(tasks: &[TaskStatus]) -> HealthCheck {
    let name = "background_tasks";
    let failed: Vec<String> = tasks.iter().filter_map(failure_of).collect();
    if failed.is_empty() {
        let found = format!("{} tasks, none failed", tasks.len());
        return HealthCheck { name, level: CheckLevel::Ok, found, mend: "" };
    }
    let mend = "`palyra logs` shows more; a task of the start runs again at the next start, the others are tried \
                again by themselves";
    HealthCheck { name, level: CheckLevel::Warning, found: failed.join("; "), mend }
}

fn failure_of(task: &TaskStatus) -> Option<String> {
    let failure = task.last.as_ref()?.failure.as_ref()?;
    let again = if task.failures_in_a_row > 1 {
        format!(" ({} times in a row)", task.failures_in_a_row)
    } else {
        String::new()
    };
    Some(format!("{}{again}: {failure}", task.name))
}

/// Says what to do about a journal that is read-only.
fn mend_of(cause: Option<ReadOnlyCause>) -> &'static str {
    match cause {
        Some(ReadOnlyCause::IoError) | None => {
            "look at the disk, then restart the daemon: an I/O error made the journal read-only"
        }
        Some(ReadOnlyCause::NewerEntries) => {
            "use the newer version that wrote it: it holds entries that this one does not know"
        }
        Some(ReadOnlyCause::TailDisagrees) => {
            "bring back the newest copy of the state directory: its end, its tree and its newest signed head \
             contradict each other"
        }
        Some(ReadOnlyCause::BehindAnchor { .. }) => {
            "it is shorter than a head it has signed: bring back the newest copy of the state directory, or go on \
             without what is lost with `palyra journal accept-rollback`"
        }
        Some(ReadOnlyCause::KeyLost) => {
            "the key that should sign it is gone from keys/: bring it back, or go on under a new log with `palyra \
             journal accept-rollback`"
        }
        Some(ReadOnlyCause::FilesGone) => {
            "a file of the journal was removed, replaced or cut: put it back, then restart the daemon; its log says \
             what was saved"
        }
    }
}

#[cfg(test)]
mod tests;
