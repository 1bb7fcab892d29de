//! One granted call, what it is carried out with, and what came of it.

use std::path::PathBuf;
use std::sync::Arc;

use palyra_ports::{Clock, CredentialUser, GuardEgress, ProcessSandbox, ProcessTier};
use palyra_types::SessionId;
use palyra_types::tool::{ToolCatalog, ToolName};

use crate::job_book::JobOwner;
use crate::job_table::Jobs;
use crate::running::Ground;
use crate::settings::CommandSettings;
use crate::tapes::Tapes;

/// What all these tools share.
pub(crate) struct Parts {
    pub(crate) catalog: Arc<ToolCatalog>,
    pub(crate) settings: CommandSettings,
    pub(crate) sandbox: Arc<dyn ProcessSandbox>,
    pub(crate) clock: Arc<dyn Clock>,
    /// Opens doors; without it no command reaches another host.
    pub(crate) guard: Option<Arc<dyn GuardEgress>>,
    pub(crate) jobs: Jobs,
    /// Where outputs are read back.
    pub(crate) tapes: Tapes,
}

impl Parts {
    /// Returns what a program of a granted call is started with.
    pub(crate) fn ground<'p>(&'p self, granted: &Granted) -> Ground<'p> {
        Ground {
            sandbox: &*self.sandbox,
            settings: &self.settings,
            guard: self.guard.as_deref(),
            used_by: granted.used_by,
            session: granted.session,
        }
    }
}

/// One granted call, as these tools see it.
#[derive(Debug, Clone)]
pub(crate) struct Granted {
    pub(crate) tool: ToolName,
    pub(crate) arguments: String,
    pub(crate) workspace_root: PathBuf,
    pub(crate) plan: String,
    pub(crate) session: SessionId,
    pub(crate) used_by: CredentialUser,
    pub(crate) output_bytes_max: usize,
}

impl Granted {
    /// Returns whose the jobs are that it starts, and may know of.
    pub(crate) fn owner(&self) -> JobOwner {
        JobOwner { session: self.session, used_by: self.used_by }
    }

    /// Returns how much of what a program prints is kept for the result, beside what is said of its end.
    pub(crate) fn printed_bytes_max(&self) -> usize {
        /// Room for how it ended, whom it reached, what was kept aside, and how to read on.
        const TOLD_BYTES_MAX: usize = 2048;
        self.output_bytes_max.saturating_sub(TOLD_BYTES_MAX)
    }
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Made {
    pub(crate) text: String,
    pub(crate) bytes_total: u64,
    /// Whether the program said that it failed.
    pub(crate) failed: Option<palyra_types::ErrorCode>,
    pub(crate) tier: Option<ProcessTier>,
}
