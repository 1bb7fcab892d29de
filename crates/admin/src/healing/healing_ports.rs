//! What self-healing needs of others.

use std::sync::Arc;

use futures::future::BoxFuture;
use palyra_background::TickFailure;
use palyra_background::queue::BackgroundQueue;
use palyra_healing::{HealingModes, HealingTimes};
use palyra_journal_core::family::ReadFamilies;
use palyra_ports::model_directory::ModelDirectory;
use palyra_ports::{CheckArtifacts, Clock, Entropy, MaintainJournal, Recorder, SpareFiles};
use palyra_types::session::SessionRef;
use palyra_types::{RunId, Timestamp};
use tokio::sync::watch;

use super::run_board::RunBoard;

/// Watches runs, and moves those that are stuck.
pub trait HealRuns: Send + Sync {
    /// Returns where runs show how far they are.
    fn board(&self) -> &RunBoard;

    /// Makes a session work on its run again.
    fn resume(&self, session: SessionRef) -> BoxFuture<'_, Result<(), TickFailure>>;

    /// Cancels a run.
    fn cancel(&self, session: SessionRef, run: RunId) -> BoxFuture<'_, Result<(), TickFailure>>;

    /// Makes the task that ends expired approvals look again.
    fn expire_approvals(&self);

    /// Returns whether a wall clock that shows this time ends what is over by it: one before the newest entry ends nothing.
    fn may_expire(&self, now: Timestamp) -> bool;

    /// Returns whether a client follows the tape of a run, so that a person may see its questions.
    fn is_followed(&self, run: RunId) -> bool;

    /// Says that the list of what waits for a person may be another one.
    fn attention_changed(&self);
}

/// The modes of the configuration in force.
pub type ConfiguredModes = Arc<dyn Fn() -> HealingModes + Send + Sync>;

/// Says whether a person who may approve is reachable now.
pub type ReachesApprover = Arc<dyn Fn() -> bool + Send + Sync>;

/// What self-healing needs.
#[derive(Clone)]
pub struct HealingPorts {
    /// Appends to the journal.
    pub recorder: Recorder,
    /// Reads records.
    pub families: Arc<dyn ReadFamilies>,
    /// Looks after the journal.
    pub maintain: Arc<dyn MaintainJournal>,
    /// Frees files that need not be kept on a full disk.
    pub spare: Arc<dyn SpareFiles>,
    /// Compares and mends files that the journal pins by a digest.
    pub artifacts: Arc<dyn CheckArtifacts>,
    /// Runs.
    pub runs: Arc<dyn HealRuns>,
    /// The background queue.
    pub queue: BackgroundQueue,
    /// The configured models.
    pub models: watch::Receiver<Arc<ModelDirectory>>,
    /// Whether a person who may approve is reachable now.
    pub reaches_approver: ReachesApprover,
    /// The modes of the configuration.
    pub configured: ConfiguredModes,
    /// The spans by which it decides.
    pub times: HealingTimes,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Gives randomness.
    pub entropy: Arc<dyn Entropy>,
}

/// What self-healing is given beside adapters.
pub struct HealingParts {
    /// Runs.
    pub runs: Arc<dyn HealRuns>,
    /// The background queue.
    pub queue: BackgroundQueue,
    /// Whether a person who may approve is reachable now.
    pub reaches_approver: ReachesApprover,
    /// The modes of the configuration in force.
    pub configured: ConfiguredModes,
    /// The spans by which it decides, as they were at the start.
    pub times: HealingTimes,
}
