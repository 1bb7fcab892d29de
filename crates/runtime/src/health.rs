//! How the daemon is, as checks with a mend.

use std::sync::Arc;

use palyra_ports::maintain_journal::JournalHealth;
use palyra_types::run::RunPhase;

use crate::error::RequestError;
use crate::parts::RuntimePorts;

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
pub struct Check {
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
pub struct LiveChecks(Vec<Arc<dyn Fn() -> Check + Send + Sync>>);

impl LiveChecks {
    /// Adds one; it may block for a moment.
    #[must_use]
    pub fn with(mut self, check: impl Fn() -> Check + Send + Sync + 'static) -> Self {
        self.0.push(Arc::new(check));
        self
    }

    /// Makes all of them.
    #[must_use]
    pub fn made(&self) -> Vec<Check> {
        self.0.iter().map(|check| check()).collect()
    }
}

impl std::fmt::Debug for LiveChecks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("LiveChecks").field(&self.0.len()).finish()
    }
}

/// Runs the daemon's checks.
#[derive(Clone)]
pub struct HealthHandle {
    ports: Arc<RuntimePorts>,
}

impl HealthHandle {
    pub(crate) fn new(ports: Arc<RuntimePorts>) -> Self {
        Self { ports }
    }

    /// Returns how many runs are not terminal.
    ///
    /// # Errors
    /// [`RequestError::Read`].
    pub async fn open_runs(&self) -> Result<u64, RequestError> {
        Ok(self.ports.records.open_runs().await?.len() as u64)
    }

    /// Returns how many runs are being worked on or queued; a run that waits for a person is not.
    ///
    /// # Errors
    /// [`RequestError::Read`].
    pub async fn working_runs(&self) -> Result<usize, RequestError> {
        let open = self.ports.records.open_runs().await?;
        Ok(open.iter().filter(|run| !matches!(run.phase, RunPhase::Waiting(_))).count())
    }

    /// Runs every check.
    pub async fn checks(&self) -> Vec<Check> {
        vec![self.journal(), self.runs().await, self.model(), proofs()]
    }

    fn journal(&self) -> Check {
        let status = self.ports.maintain.status();
        let found = format!("{} entries, database {} bytes", status.entries, status.database_bytes);
        let (level, mend) = match status.health {
            JournalHealth::Writable => (CheckLevel::Ok, ""),
            JournalHealth::EndingsOnly => {
                (CheckLevel::Warning, "free disk space: new work is refused until there is room")
            }
            JournalHealth::Quarantined => (
                CheckLevel::Error,
                "restart the daemon; look at the disk: an I/O error made the journal read-only",
            ),
        };
        Check { name: "journal_writable", level, found, mend }
    }

    async fn runs(&self) -> Check {
        let name = "projections_readable";
        match self.open_runs().await {
            Ok(open) => Check { name, level: CheckLevel::Ok, found: format!("{open} open runs"), mend: "" },
            Err(error) => {
                let mend = "run `palyra journal verify`, then `palyra journal rebuild`";
                Check { name, level: CheckLevel::Error, found: error.to_string(), mend }
            }
        }
    }

    fn model(&self) -> Check {
        let directory = self.ports.models.borrow();
        let model = directory.default_model();
        let told: String = directory.suggestions().iter().map(|told| format!("; {told}")).collect();
        let found = format!("default model {model}{told}");
        let name = "default_model";
        if directory.provider(model).is_none() {
            let mend = "configure its provider, or choose another default: `palyra model list`";
            return Check { name, level: CheckLevel::Error, found, mend };
        }
        let demo = model.provider.as_str() == "demo";
        let mend = if demo {
            "this is the built-in demo model; `palyra model add` configures a real one"
        } else {
            ""
        };
        Check { name, level: CheckLevel::Ok, found, mend }
    }
}

fn proofs() -> Check {
    Check {
        name: "journal_proofs",
        level: CheckLevel::Warning,
        found:
            "entries are hash-chained; checkpoints are not signed yet, so a rewrite of the whole file by its \
                owner goes unnoticed"
                .to_owned(),
        mend: "keep backups of the state directory out of reach of this machine",
    }
}
