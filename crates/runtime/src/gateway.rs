//! The bunch of keys that a transport is given, and how the runtime is started.
//!
//! Owns nothing: each handle belongs to the module that made it. A handler takes the one handle it needs.
//! Begin at [`start`].

use std::sync::Arc;

use palyra_policy::{ToolCallPolicySnapshot, ToolPolicyRules};
use tokio::sync::watch;

use crate::access::AccessHandle;
use crate::agents::AgentRegistry;
use crate::approvals::{ApprovalsHandle, expiry};
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
use crate::undo::Undoing;

/// Everything that transports may touch, and nothing more.
#[derive(Clone)]
pub struct GatewayRuntimeState {
    /// Conversations, and the way in for new input.
    pub sessions: SessionsHandle,
    /// Runs: looking, answering, cancelling; their effects, and taking them back.
    pub runs: RunsHandle,
    /// What people decide: what waits for them, grants that outlive an answer, rules, skills, components.
    pub approvals: ApprovalsHandle,
    /// Tapes: pages and live following.
    pub tapes: TapeHandle,
    /// Agent profiles.
    pub agents: AgentRegistry,
    /// Models that can be asked.
    pub models: ModelsHandle,
    /// Principals and tokens.
    pub access: AccessHandle,
    /// The journal as a whole, and erasing content.
    pub journal: JournalHandle,
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
    let digest = |text: &str| palyra_ledger::sha256(text.as_bytes());
    let policy = ToolCallPolicySnapshot::compile(ports.tools.catalog(), rules, digest)?;
    start_with_policy(ports, watch::channel(Arc::new(policy)).1, config).await
}

/// Starts the runtime under a policy that its maker may replace; the next call is judged by the new one.
///
/// # Errors
/// As [`start`].
pub async fn start_with_policy(
    ports: RuntimePorts,
    policy: watch::Receiver<Arc<ToolCallPolicySnapshot>>,
    config: watch::Receiver<Arc<GatewayRuntimeConfigSnapshot>>,
) -> Result<GatewayRuntimeState, StartError> {
    let ports = Arc::new(ports);
    let access = AccessHandle::open(Arc::clone(&ports)).await?;
    let owner = access.local_principal();
    if let Err(error) = access.vault().settle().await {
        tracing::error!("a change of the vault is recorded and not carried out: {error}");
    }
    let agents = AgentRegistry::open(Arc::clone(&ports), owner).await?;
    let models = ModelsHandle::new(Arc::clone(&ports));
    let hub = TapeHub::default();
    let engine = Engine::new(Arc::clone(&ports), agents.clone(), hub.clone(), policy, config.clone()).await?;
    let engine = Arc::new(engine);
    engine.skills.check_all(&ports).await;
    crate::components::offer_all(&engine).await;
    let sessions = SessionsHandle::new(Arc::clone(&engine));
    let undoing = Undoing::new(Arc::clone(&engine));
    undoing.finish_open().await;
    crate::jobs::doubt_lost(&ports).await;
    let recovered = crate::recovery::take_up_open_runs(&ports, &sessions).await?;
    tracing::info!(runs = recovered, "open runs taken up");
    tokio::spawn(expiry::run(Arc::clone(&engine), sessions.clone()));
    let tapes = TapeHandle::new(Arc::clone(&ports), hub);
    let speaking = (sessions.clone(), tapes.clone());
    let erasures = ErasureHandle::new(Arc::clone(&ports), speaking, (agents.clone(), access.clone()));
    Ok(GatewayRuntimeState {
        runs: RunsHandle::new(Arc::clone(&engine), sessions.clone(), undoing, owner),
        approvals: ApprovalsHandle::new(engine, sessions.clone(), owner),
        tapes,
        journal: JournalHandle::new(Arc::clone(&ports), erasures),
        health: HealthHandle::new(Arc::clone(&ports)),
        sessions,
        agents,
        models,
        access,
        config,
    })
}
