//! The adapters that the daemon hands in.

use std::sync::Arc;

use palyra_admin::AdminPorts;
use palyra_journal_core::families::{runs, sessions};
use palyra_journal_core::family::{QueryFamilies, ReadFamilies};
use palyra_ports::{
    CheckArtifacts, Clock, ComponentStore, DeliverMessages, Entropy, EraseJournal, KeptFiles,
    MaintainJournal, MakeBackups, ProjectFiles, ProveJournal, ReadError, ReadTape, Recorder, Redactor,
    RestoreFiles, SearchMemories, SecretStore, SkillFolders, SpareFiles, ToolRuntime, Workspaces,
};
use palyra_types::run::RunRecord;
use palyra_types::session::{OrchestratorSessionRecord, SessionRef};
use palyra_types::{PrincipalId, RunId};
use tokio::sync::watch;

use crate::error::RequestError;
use crate::model_directory::ModelDirectory;

/// One adapter per port.
pub struct RuntimePorts {
    /// Appends to the journal.
    pub recorder: Recorder,
    /// Reads tapes.
    pub tapes: Arc<dyn ReadTape>,
    /// Reads records.
    pub families: Arc<dyn ReadFamilies>,
    /// Looks after the journal.
    pub maintain: Arc<dyn MaintainJournal>,
    /// Proves what the journal holds.
    pub proofs: Arc<dyn ProveJournal>,
    /// Makes backups.
    pub backups: Arc<dyn MakeBackups>,
    /// Frees files that need not be kept on a full disk.
    pub spare: Arc<dyn SpareFiles>,
    /// Compares and mends files that the journal pins by a digest.
    pub artifacts: Arc<dyn CheckArtifacts>,
    /// Sends messages to the operator's targets.
    pub notify: Arc<dyn DeliverMessages>,
    /// Erases content.
    pub erasures: Arc<dyn EraseJournal>,
    /// Runs tools.
    pub tools: Arc<dyn ToolRuntime>,
    /// Puts files back.
    pub restore: Arc<dyn RestoreFiles>,
    /// Keeps what commands left in protected places.
    pub kept: Arc<dyn KeptFiles>,
    /// Cleans content at the doors.
    pub redactor: Arc<dyn Redactor>,
    /// Keeps secrets.
    pub secrets: Arc<dyn SecretStore>,
    /// Keeps copies of skills' folders.
    pub skills: Arc<dyn SkillFolders>,
    /// Looks at components, and offers them.
    pub components: Arc<dyn ComponentStore>,
    /// Chooses workspaces.
    pub workspaces: Arc<dyn Workspaces>,
    /// Reads what projects say about work on them.
    pub project_files: Arc<dyn ProjectFiles>,
    /// Ranks items of memory.
    pub memories: Arc<dyn SearchMemories>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Gives randomness.
    pub entropy: Arc<dyn Entropy>,
    /// The configured models; replaced as a whole when the configuration changes.
    pub models: watch::Receiver<Arc<ModelDirectory>>,
}

impl RuntimePorts {
    pub(crate) async fn run(&self, run: RunId) -> Result<Option<RunRecord>, ReadError> {
        self.families.query(move |rows, _| runs::record(rows, run)).await
    }

    /// Returns a run of a principal; another's is reported like one that does not exist.
    pub(crate) async fn run_of(&self, principal: PrincipalId, run: RunId) -> Result<RunRecord, RequestError> {
        let record = self.run(run).await?;
        record.filter(|record| record.principal == principal).ok_or(RequestError::RunNotFound)
    }

    pub(crate) async fn session(
        &self,
        session: SessionRef,
    ) -> Result<Option<OrchestratorSessionRecord>, ReadError> {
        self.families.query(move |rows, _| sessions::record(rows, session)).await
    }

    /// Returns what decisions of people need of it.
    pub(crate) fn for_admin(&self) -> AdminPorts {
        AdminPorts {
            recorder: self.recorder.clone(),
            tapes: Arc::clone(&self.tapes),
            families: Arc::clone(&self.families),
            maintain: Arc::clone(&self.maintain),
            spare: Arc::clone(&self.spare),
            artifacts: Arc::clone(&self.artifacts),
            erasures: Arc::clone(&self.erasures),
            tools: Arc::clone(&self.tools),
            kept: Arc::clone(&self.kept),
            redactor: Arc::clone(&self.redactor),
            secrets: Arc::clone(&self.secrets),
            skills: Arc::clone(&self.skills),
            components: Arc::clone(&self.components),
            workspaces: Arc::clone(&self.workspaces),
            project_files: Arc::clone(&self.project_files),
            memories: Arc::clone(&self.memories),
            clock: Arc::clone(&self.clock),
            entropy: Arc::clone(&self.entropy),
        }
    }
}
