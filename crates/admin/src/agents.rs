//! The registry of agents: changed by events, read as a snapshot.

mod changes;

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_journal_core::families::agents;
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::{AppendClass, AppendError, NewEntry};
use palyra_types::agent::{AgentProfile, AgentRecord, DEFAULT_AGENT_NAME, TOOLLESS_AGENT_NAME};
use palyra_types::event::{AgentEvent, JournalEvent};
use palyra_types::recall::RecallSwitch;
use palyra_types::{AgentId, PrincipalId};
use tokio::sync::{Mutex, watch};

use crate::erasure_subscriber::ErasureSubscriber;
use crate::error::{AdminError, OpenError};
use crate::parts::AdminPorts;

pub use changes::{
    AGENT_NAME_CHARS_MAX, AGENTS_MAX, AgentChange, INSTRUCTIONS_BYTES_MAX, WORKSPACE_ROOTS_MAX,
};

/// Knows every agent. The agent `main` always exists.
#[derive(Clone)]
pub struct AgentRegistry {
    ports: Arc<AdminPorts>,
    local: PrincipalId,
    agents: Arc<watch::Sender<Arc<Vec<AgentRecord>>>>,
    /// Locked while an agent is looked for and saved.
    saving: Arc<Mutex<()>>,
}

impl AgentRegistry {
    /// Reads all agents; saves `main` where there is none.
    ///
    /// # Errors
    /// [`OpenError`].
    pub async fn open(ports: Arc<AdminPorts>, local: PrincipalId) -> Result<Self, OpenError> {
        let agents = Arc::new(watch::Sender::new(Arc::default()));
        let registry = Self { ports, local, agents, saving: Arc::default() };
        registry.reload().await?;
        Ok(registry)
    }

    /// Reads all agents again after an erasure; `main` gets its profile back as it ships.
    async fn reload(&self) -> Result<(), OpenError> {
        // An agent that is saved meanwhile would be missing from what was read before.
        let _saving = self.saving.lock().await;
        self.agents.send_replace(Arc::new(self.read().await?));
        Ok(())
    }

    /// Reads all agents; saves `main` where there is none. The one whose profile was erased keeps its id: sessions name it.
    async fn read(&self) -> Result<Vec<AgentRecord>, OpenError> {
        let mut agents = self.ports.families.query(|rows, _| agents::all(rows)).await?;
        if !agents.iter().any(|agent| is_live_named(agent, DEFAULT_AGENT_NAME)) {
            let erased = agents.iter().filter(|agent| agent.archived.is_none() && is_erased(agent));
            let id = erased.map(|agent| agent.id).min();
            agents.retain(|agent| Some(agent.id) != id);
            agents.push(save_default(&self.ports, self.local, id).await?);
        }
        for agent in agents.iter_mut().filter(|agent| is_erased(agent)) {
            // Nobody knows any more what it was allowed.
            agent.profile.tools = Some(Vec::new());
            agent.profile.recall = Some(RecallSwitch::Off);
        }
        Ok(agents)
    }

    /// Returns all agents, archived ones too.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Vec<AgentRecord>> {
        Arc::clone(&self.agents.borrow())
    }

    /// Returns the agent of this name; `None` means `main`.
    ///
    /// # Errors
    /// [`AdminError::AgentNotFound`] when there is none, or it is archived.
    pub fn by_name(&self, name: Option<&str>) -> Result<AgentRecord, AdminError> {
        let name = name.unwrap_or(DEFAULT_AGENT_NAME);
        let agents = self.agents.borrow();
        agents.iter().find(|agent| is_live_named(agent, name)).cloned().ok_or(AdminError::AgentNotFound)
    }

    /// Returns the agents that take new sessions and were made for people: without the one that has no tools.
    #[must_use]
    pub fn offered(&self) -> Vec<AgentRecord> {
        let agents = self.agents.borrow();
        let offered = |agent: &&AgentRecord| {
            let name = agent.profile.name.expose();
            agent.archived.is_none() && !name.is_empty() && name != TOOLLESS_AGENT_NAME
        };
        agents.iter().filter(offered).cloned().collect()
    }

    /// Returns the name of the agent that has no tools; saves it where there is none.
    ///
    /// # Errors
    /// [`AdminError::Append`]; [`AdminError::InvalidArgument`] where an agent of this name has tools.
    pub async fn without_tools(&self) -> Result<String, AdminError> {
        let _saving = self.saving.lock().await;
        match self.by_name(Some(TOOLLESS_AGENT_NAME)) {
            Ok(agent) if agent.profile.tools.as_ref().is_some_and(Vec::is_empty) => {}
            Ok(_) => {
                let what =
                    format!("the agent `{TOOLLESS_AGENT_NAME}` has tools; rename it or take them away");
                return Err(AdminError::InvalidArgument { what });
            }
            Err(_) => {
                let profile =
                    AgentProfile { tools: Some(Vec::new()), ..shipped_profile(TOOLLESS_AGENT_NAME) };
                let saved = save(&self.ports, self.local, None, profile).await?;
                self.agents.send_modify(|agents| Arc::make_mut(agents).push(saved));
            }
        }
        Ok(TOOLLESS_AGENT_NAME.to_owned())
    }

    /// Returns the agent of this id, archived or not.
    #[must_use]
    pub fn by_id(&self, id: AgentId) -> Option<AgentRecord> {
        self.agents.borrow().iter().find(|agent| agent.id == id).cloned()
    }
}

impl ErasureSubscriber for AgentRegistry {
    fn forget_erased(&self) -> BoxFuture<'_, ()> {
        async {
            // The next start does the same; the erasure is done.
            if let Err(error) = self.reload().await {
                tracing::error!(%error, "agents could not be read again after an erasure");
            }
        }
        .boxed()
    }
}

fn is_live_named(agent: &AgentRecord, name: &str) -> bool {
    agent.archived.is_none() && agent.profile.name.expose() == name
}

fn is_erased(agent: &AgentRecord) -> bool {
    agent.profile.name.expose().is_empty()
}

async fn save_default(
    ports: &AdminPorts,
    local: PrincipalId,
    id: Option<AgentId>,
) -> Result<AgentRecord, OpenError> {
    Ok(save(ports, local, id, shipped_profile(DEFAULT_AGENT_NAME)).await?)
}

/// Returns a profile without settings: all tools, the configured model.
fn shipped_profile(name: &'static str) -> AgentProfile {
    AgentProfile { name: name.into(), instructions: "".into(), ..AgentProfile::default() }
}

async fn save(
    ports: &AdminPorts,
    local: PrincipalId,
    id: Option<AgentId>,
    profile: AgentProfile,
) -> Result<AgentRecord, AppendError> {
    let now = ports.clock.wall();
    let agent = id.unwrap_or_else(|| ports.entropy.new_id(now));
    let event = JournalEvent::Agent(AgentEvent::Saved { agent, profile: profile.clone() });
    let entry = NewEntry { time: now, principal: local, session: None, run: None, event };
    ports.recorder.record(vec![entry], AppendClass::Normal, Vec::new()).await?;
    Ok(AgentRecord { id: agent, profile, archived: None })
}
