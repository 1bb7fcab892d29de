//! The adapters that decisions of people need.

use std::sync::Arc;

use palyra_journal_core::family::ReadFamilies;
use palyra_ports::model_directory::ModelDirectory;
use palyra_ports::{
    CheckArtifacts, Clock, ComponentStore, Entropy, EraseJournal, KeptFiles, MaintainJournal, ProjectFiles,
    ReadTape, Recorder, Redactor, SearchMemories, SecretStore, SkillFolders, SpareFiles, ToolRuntime,
    Workspaces,
};
use tokio::sync::watch;

use crate::healing::{HealingParts, HealingPorts};

/// One adapter per port.
pub struct AdminPorts {
    /// Appends to the journal.
    pub recorder: Recorder,
    /// Reads tapes.
    pub tapes: Arc<dyn ReadTape>,
    /// Reads records.
    pub families: Arc<dyn ReadFamilies>,
    /// Looks after the journal.
    pub maintain: Arc<dyn MaintainJournal>,
    /// Frees files that need not be kept on a full disk.
    pub spare: Arc<dyn SpareFiles>,
    /// Compares and mends files that the journal pins by a digest.
    pub artifacts: Arc<dyn CheckArtifacts>,
    /// Erases content.
    pub erasures: Arc<dyn EraseJournal>,
    /// Lists tools and how they are isolated.
    pub tools: Arc<dyn ToolRuntime>,
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
    /// Knows which folders may be workspaces.
    pub workspaces: Arc<dyn Workspaces>,
    /// Reads what projects say about work on them.
    pub project_files: Arc<dyn ProjectFiles>,
    /// Ranks items of memory.
    pub memories: Arc<dyn SearchMemories>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Gives randomness.
    pub entropy: Arc<dyn Entropy>,
}

impl AdminPorts {
    /// Returns what memory needs of it.
    #[must_use]
    pub fn for_memory(&self) -> MemoryPorts {
        MemoryPorts {
            recorder: self.recorder.clone(),
            tapes: Arc::clone(&self.tapes),
            families: Arc::clone(&self.families),
            redactor: Arc::clone(&self.redactor),
            memories: Arc::clone(&self.memories),
            clock: Arc::clone(&self.clock),
            entropy: Arc::clone(&self.entropy),
        }
    }
}

impl AdminPorts {
    /// Returns what self-healing needs of it, with what its caller knows.
    pub(crate) fn for_healing(
        &self,
        models: watch::Receiver<Arc<ModelDirectory>>,
        parts: HealingParts,
    ) -> HealingPorts {
        HealingPorts {
            recorder: self.recorder.clone(),
            families: Arc::clone(&self.families),
            maintain: Arc::clone(&self.maintain),
            spare: Arc::clone(&self.spare),
            artifacts: Arc::clone(&self.artifacts),
            runs: parts.runs,
            queue: parts.queue,
            models,
            reaches_approver: parts.reaches_approver,
            configured: parts.configured,
            times: parts.times,
            clock: Arc::clone(&self.clock),
            entropy: Arc::clone(&self.entropy),
        }
    }
}

/// The ports of memory.
pub struct MemoryPorts {
    /// Appends to the journal.
    pub recorder: Recorder,
    /// Reads tapes.
    pub tapes: Arc<dyn ReadTape>,
    /// Reads records.
    pub families: Arc<dyn ReadFamilies>,
    /// Cleans texts before they are recorded.
    pub redactor: Arc<dyn Redactor>,
    /// Ranks items.
    pub memories: Arc<dyn SearchMemories>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Gives randomness.
    pub entropy: Arc<dyn Entropy>,
}
