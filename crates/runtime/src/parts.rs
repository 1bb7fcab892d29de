//! The adapters that the daemon hands in.

use std::sync::Arc;

use palyra_ports::{
    AppendTape, Clock, ComponentShelf, Entropy, EraseJournal, KeptFiles, MaintainJournal, ProveJournal,
    ReadApprovals, ReadRecords, ReadTape, Redactor, RestoreFiles, SecretStore, SkillFolders, ToolRuntime,
    Workspaces,
};
use tokio::sync::watch;

use crate::model_directory::ModelDirectory;

/// One adapter per port.
pub struct RuntimePorts {
    /// Appends to the journal.
    pub append: Arc<dyn AppendTape>,
    /// Reads tapes.
    pub tapes: Arc<dyn ReadTape>,
    /// Reads projections.
    pub records: Arc<dyn ReadRecords>,
    /// Reads approvals, stored grants and effects.
    pub approvals: Arc<dyn ReadApprovals>,
    /// Looks after the journal.
    pub maintain: Arc<dyn MaintainJournal>,
    /// Proves what the journal holds.
    pub proofs: Arc<dyn ProveJournal>,
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
    pub components: Arc<dyn ComponentShelf>,
    /// Chooses workspaces.
    pub workspaces: Arc<dyn Workspaces>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Gives randomness.
    pub entropy: Arc<dyn Entropy>,
    /// The configured models; replaced as a whole when the configuration changes.
    pub models: watch::Receiver<Arc<ModelDirectory>>,
}
