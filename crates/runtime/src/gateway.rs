//! The bunch of keys that a transport is given, and how the runtime is started.
//!
//! Owns nothing: each handle belongs to the module that made it. A handler takes the one handle it needs.
//! Begin at [`start`].

use std::sync::Arc;

use palyra_policy::ToolPolicyRules;
use tokio::sync::watch;

use crate::access::AccessHandle;
use crate::agents::AgentRegistry;
use crate::config::GatewayRuntimeConfigSnapshot;
use crate::engine::Engine;
use crate::erasure::ErasureHandle;
use crate::error::StartError;
use crate::health::HealthHandle;
use crate::journal::JournalHandle;
use crate::models::ModelsHandle;
use crate::parts::RuntimePorts;
use crate::runs::RunsHandle;
use crate::session::SessionsHandle;
use crate::tape::{TapeHandle, TapeHub};

/// Everything that transports may touch, and nothing more.
#[derive(Clone)]
pub struct GatewayRuntimeState {
    /// Conversations, and the way in for new input.
    pub sessions: SessionsHandle,
    /// Runs: looking, answering, cancelling.
    pub runs: RunsHandle,
    /// Tapes: pages and live following.
    pub tapes: TapeHandle,
    /// Agent profiles.
    pub agents: AgentRegistry,
    /// Models that can be asked.
    pub models: ModelsHandle,
    /// Principals and tokens.
    pub access: AccessHandle,
    /// The journal as a whole.
    pub journal: JournalHandle,
    /// Erasing content.
    pub erasures: ErasureHandle,
    /// How the daemon is.
    pub health: HealthHandle,
    /// The configuration in force.
    pub config: watch::Receiver<Arc<GatewayRuntimeConfigSnapshot>>,
}

/// Starts the runtime: registers what must exist, then takes up every run that is not terminal.
///
/// # Errors
/// [`StartError`] when the journal cannot be read or written.
pub async fn start(
    ports: RuntimePorts,
    config: watch::Receiver<Arc<GatewayRuntimeConfigSnapshot>>,
) -> Result<GatewayRuntimeState, StartError> {
    start_with_rules(ports, ToolPolicyRules::shipped(), config).await
}

/// Starts the runtime with other rules than the shipped ones, for tools that those do not permit.
///
/// # Errors
/// As [`start`].
pub async fn start_with_rules(
    ports: RuntimePorts,
    rules: ToolPolicyRules,
    config: watch::Receiver<Arc<GatewayRuntimeConfigSnapshot>>,
) -> Result<GatewayRuntimeState, StartError> {
    let ports = Arc::new(ports);
    let access = AccessHandle::open(Arc::clone(&ports)).await?;
    let agents = AgentRegistry::open(Arc::clone(&ports), access.local_principal()).await?;
    let models = ModelsHandle::new(Arc::clone(&ports));
    let hub = TapeHub::default();
    let engine = Engine::new(Arc::clone(&ports), agents.clone(), hub.clone(), rules, config.clone())?;
    let sessions = SessionsHandle::new(Arc::new(engine));
    let recovered = crate::recovery::take_up_open_runs(&ports, &sessions).await?;
    tracing::info!(runs = recovered, "open runs taken up");
    let tapes = TapeHandle::new(Arc::clone(&ports), hub);
    let speaking = (sessions.clone(), tapes.clone());
    Ok(GatewayRuntimeState {
        runs: RunsHandle::new(Arc::clone(&ports), sessions.clone()),
        erasures: ErasureHandle::new(Arc::clone(&ports), speaking, (agents.clone(), access.clone())),
        tapes,
        journal: JournalHandle::new(Arc::clone(&ports)),
        health: HealthHandle::new(Arc::clone(&ports)),
        sessions,
        agents,
        models,
        access,
        config,
    })
}
