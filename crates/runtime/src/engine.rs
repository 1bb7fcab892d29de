//! What every session and run works with: adapters, policy, agents, and the texts shown to models.
//!
//! Immutable after the start, but for the set of texts known to be stored.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use palyra_policy::ToolCallPolicySnapshot;
use palyra_ports::StaticText;
use tokio::sync::watch;

use crate::agents::AgentRegistry;
use crate::config::GatewayRuntimeConfigSnapshot;
use crate::drain::Drain;
use crate::error::StartError;
use crate::parts::RuntimePorts;
use crate::tape::TapeHub;

/// Static texts remembered as stored; beyond it they are offered to the journal again, which is harmless.
const STORED_TEXTS_MAX: usize = 1_024;

/// Shared by all actors of one runtime.
pub(crate) struct Engine {
    pub(crate) ports: Arc<RuntimePorts>,
    pub(crate) agents: AgentRegistry,
    pub(crate) hub: TapeHub,
    pub(crate) drain: Drain,
    pub(crate) config: watch::Receiver<Arc<GatewayRuntimeConfigSnapshot>>,
    pub(crate) policy: ToolCallPolicySnapshot,
    stored: Mutex<BTreeSet<[u8; 32]>>,
}

impl Engine {
    pub(crate) fn new(
        ports: Arc<RuntimePorts>,
        agents: AgentRegistry,
        hub: TapeHub,
        config: watch::Receiver<Arc<GatewayRuntimeConfigSnapshot>>,
    ) -> Result<Self, StartError> {
        let rules = palyra_policy::ToolPolicyRules::shipped();
        let catalog = ports.tools.catalog();
        let policy =
            ToolCallPolicySnapshot::compile(catalog, rules, |text| palyra_ledger::sha256(text.as_bytes()))?;
        Ok(Self { ports, agents, hub, drain: Drain::default(), config, policy, stored: Mutex::default() })
    }

    /// Returns those of the texts that this process has not stored yet.
    pub(crate) fn not_yet_stored(&self, texts: Vec<StaticText>) -> Vec<StaticText> {
        let stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        texts.into_iter().filter(|text| !stored.contains(&text.sha256)).collect()
    }

    /// Remembers texts after the commit that stored them.
    pub(crate) fn remember_stored(&self, digests: &[[u8; 32]]) {
        let mut stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        if stored.len() < STORED_TEXTS_MAX {
            stored.extend(digests.iter().copied());
        }
    }
}
