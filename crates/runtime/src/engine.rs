//! What sessions and the handles of a transport work with.
//!
//! Immutable after the start. What a run may touch of it is [`RunContext`].

use std::sync::Arc;

use palyra_admin::AdminViews;
use palyra_background::Drain;
use palyra_conversation::{CompactionWatch, ConversationsHandle};
use tokio::sync::watch;

use crate::config::GatewayRuntimeConfigSnapshot;
use crate::parts::RuntimePorts;
use crate::run_context::RunContext;
use palyra_admin::pending_approvals::PendingApprovals;
use palyra_tape::TapeHub;

/// Shared by all sessions of one runtime.
pub(crate) struct Engine {
    pub(crate) ports: Arc<RuntimePorts>,
    /// What runs are given.
    pub(crate) runs: Arc<RunContext>,
    pub(crate) views: AdminViews,
    /// The earlier parts of conversations.
    pub(crate) conversations: ConversationsHandle,
    /// The sessions whose runs ended lately.
    pub(crate) compaction_watch: CompactionWatch,
    pub(crate) hub: TapeHub,
    pub(crate) drain: Drain,
    pub(crate) config: watch::Receiver<Arc<GatewayRuntimeConfigSnapshot>>,
    /// Open questions, as counts and wake-ups.
    pub(crate) asking: Arc<PendingApprovals>,
}

impl Engine {
    pub(crate) fn new(ports: Arc<RuntimePorts>, runs: Arc<RunContext>) -> Self {
        Self {
            ports,
            views: runs.views.clone(),
            conversations: runs.ports.conversations.clone(),
            compaction_watch: CompactionWatch::default(),
            hub: runs.hub.clone(),
            drain: runs.drain.clone(),
            config: runs.ports.config.clone(),
            asking: Arc::clone(&runs.asking),
            runs,
        }
    }
}
