//! The registry of agents: changed by events, read as a snapshot.

use std::sync::Arc;

use palyra_ports::{AppendClass, JournalAppendRequest, NewEntry};
use palyra_types::agent::{AgentProfile, AgentRecord, DEFAULT_AGENT_NAME};
use palyra_types::event::{AgentEvent, JournalEvent};
use palyra_types::{AgentId, PrincipalId};
use tokio::sync::watch;

use crate::error::{RequestError, StartError};
use crate::parts::RuntimePorts;

/// Knows every agent. The agent `main` always exists.
#[derive(Clone)]
pub struct AgentRegistry {
    ports: Arc<RuntimePorts>,
    agents: Arc<watch::Sender<Arc<Vec<AgentRecord>>>>,
}

impl AgentRegistry {
    pub(crate) async fn open(ports: Arc<RuntimePorts>, local: PrincipalId) -> Result<Self, StartError> {
        let agents = Arc::new(watch::Sender::new(Arc::new(read(&ports, local).await?)));
        Ok(Self { ports, agents })
    }

    /// Reads all agents again after an erasure; `main` gets its profile back as it ships.
    pub(crate) async fn reload(&self, local: PrincipalId) -> Result<(), StartError> {
        self.agents.send_replace(Arc::new(read(&self.ports, local).await?));
        Ok(())
    }

    /// Returns all agents, archived ones too.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Vec<AgentRecord>> {
        Arc::clone(&self.agents.borrow())
    }

    /// Returns the agent of this name; `None` means `main`.
    ///
    /// # Errors
    /// [`RequestError::AgentNotFound`] when there is none, or it is archived.
    pub fn by_name(&self, name: Option<&str>) -> Result<AgentRecord, RequestError> {
        let name = name.unwrap_or(DEFAULT_AGENT_NAME);
        let agents = self.agents.borrow();
        agents.iter().find(|agent| is_live_named(agent, name)).cloned().ok_or(RequestError::AgentNotFound)
    }

    /// Returns the agent of this id, archived or not.
    #[must_use]
    pub fn by_id(&self, id: AgentId) -> Option<AgentRecord> {
        self.agents.borrow().iter().find(|agent| agent.id == id).cloned()
    }
}

fn is_live_named(agent: &AgentRecord, name: &str) -> bool {
    agent.archived.is_none() && agent.profile.name.expose() == name
}

/// Reads all agents; saves `main` where there is none. The one whose profile was erased keeps its id: sessions name it.
async fn read(ports: &RuntimePorts, local: PrincipalId) -> Result<Vec<AgentRecord>, StartError> {
    let mut agents = ports.records.agents().await?;
    if !agents.iter().any(|agent| is_live_named(agent, DEFAULT_AGENT_NAME)) {
        let erased = agents.iter().filter(|agent| agent.archived.is_none() && is_erased(agent));
        let id = erased.map(|agent| agent.id).min();
        agents.retain(|agent| Some(agent.id) != id);
        agents.push(save_default(ports, local, id).await?);
    }
    for agent in agents.iter_mut().filter(|agent| is_erased(agent)) {
        // Nobody knows any more what it was allowed.
        agent.profile.tools = Some(Vec::new());
    }
    Ok(agents)
}

fn is_erased(agent: &AgentRecord) -> bool {
    agent.profile.name.expose().is_empty()
}

async fn save_default(
    ports: &RuntimePorts,
    local: PrincipalId,
    id: Option<AgentId>,
) -> Result<AgentRecord, StartError> {
    let now = ports.clock.wall();
    let agent = id.unwrap_or_else(|| {
        let (ms, random) = ports.entropy.id_parts(now);
        AgentId::from_parts(ms, random)
    });
    let profile =
        AgentProfile { name: DEFAULT_AGENT_NAME.into(), instructions: "".into(), model: None, tools: None };
    let event = JournalEvent::Agent(AgentEvent::Saved { agent, profile: profile.clone() });
    let entry = NewEntry { time: now, principal: local, session: None, run: None, event };
    let request = JournalAppendRequest {
        entries: vec![entry],
        class: AppendClass::Normal,
        ..JournalAppendRequest::default()
    };
    ports.append.append(request).await?;
    Ok(AgentRecord { id: agent, profile, archived: None })
}
