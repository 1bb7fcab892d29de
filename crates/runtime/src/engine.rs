//! What every session and run works with: adapters, policy, agents, and the texts shown to models.
//!
//! Immutable after the start, but for the set of texts known to be stored and the count of guesses.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use palyra_policy::{ToolCallPolicySnapshot, ToolPolicyRules};
use palyra_ports::{AppendRedaction, NewEntry, StaticText};
use palyra_types::tool::{ToolCatalog, ToolName};
use tokio::sync::watch;

use crate::agents::AgentRegistry;
use crate::config::GatewayRuntimeConfigSnapshot;
use crate::drain::Drain;
use crate::error::StartError;
use crate::parts::RuntimePorts;
use crate::placeholders::{Guesses, redaction_of};
use crate::tape::TapeHub;

/// Static texts remembered as stored; beyond it they are offered to the journal again, which is harmless.
const STORED_TEXTS_MAX: usize = 1_024;

/// A tool catalogue with its text, which is long and the same for most requests.
pub(crate) struct WrittenCatalog {
    pub(crate) tools: Arc<ToolCatalog>,
    pub(crate) text: Arc<str>,
    pub(crate) sha256: [u8; 32],
}

impl WrittenCatalog {
    fn new(tools: Arc<ToolCatalog>) -> Self {
        let text: Arc<str> = tools.canonical_text().into();
        let sha256 = palyra_ledger::sha256(text.as_bytes());
        Self { tools, text, sha256 }
    }
}

/// Shared by all actors of one runtime.
pub(crate) struct Engine {
    pub(crate) ports: Arc<RuntimePorts>,
    pub(crate) agents: AgentRegistry,
    pub(crate) hub: TapeHub,
    pub(crate) drain: Drain,
    pub(crate) config: watch::Receiver<Arc<GatewayRuntimeConfigSnapshot>>,
    pub(crate) policy: ToolCallPolicySnapshot,
    guesses: Guesses,
    catalog: Arc<WrittenCatalog>,
    stored: Mutex<BTreeSet<[u8; 32]>>,
}

impl Engine {
    pub(crate) fn new(
        ports: Arc<RuntimePorts>,
        agents: AgentRegistry,
        hub: TapeHub,
        rules: ToolPolicyRules,
        config: watch::Receiver<Arc<GatewayRuntimeConfigSnapshot>>,
    ) -> Result<Self, StartError> {
        let catalog = ports.tools.catalog();
        let policy =
            ToolCallPolicySnapshot::compile(catalog, rules, |text| palyra_ledger::sha256(text.as_bytes()))?;
        let catalog = Arc::new(WrittenCatalog::new(Arc::clone(policy.catalog())));
        let (drain, stored, guesses) = (Drain::default(), Mutex::default(), Guesses::default());
        Ok(Self { ports, agents, hub, drain, config, policy, guesses, catalog, stored })
    }

    /// Returns what an agent may use of the tools there are, written out: the tools of its profile that exist, and
    /// none beyond them; all of them when it names none.
    pub(crate) fn catalog_of(&self, agent: Option<&[ToolName]>) -> Arc<WrittenCatalog> {
        let Some(names) = agent else { return Arc::clone(&self.catalog) };
        let tools = names.iter().filter_map(|name| self.policy.catalog().get(name)).cloned();
        Arc::new(WrittenCatalog::new(Arc::new(ToolCatalog::new(tools.collect()))))
    }

    /// Returns those of the texts that this process has not stored yet.
    pub(crate) fn not_yet_stored(&self, texts: Vec<StaticText>) -> Vec<StaticText> {
        let stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        texts.into_iter().filter(|text| !stored.contains(&text.sha256)).collect()
    }

    /// Says what the redactor did to entries that are about to be appended.
    pub(crate) fn redaction_of(&self, entries: &[NewEntry]) -> AppendRedaction {
        redaction_of(&self.ports, &self.guesses, entries)
    }

    /// Remembers texts after the commit that stored them.
    pub(crate) fn remember_stored(&self, digests: &[[u8; 32]]) {
        let mut stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        if stored.len() < STORED_TEXTS_MAX {
            stored.extend(digests.iter().copied());
        }
    }
}
