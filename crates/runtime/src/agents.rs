//! The registry of agents: changed by events, read as a snapshot.

use std::sync::Arc;

use palyra_ports::{AppendClass, JournalAppendRequest, NewEntry};
use palyra_types::agent::{AgentProfile, AgentRecord, DEFAULT_AGENT_NAME};
use palyra_types::event::JournalEvent;
use palyra_types::{AgentId, PrincipalId};
use tokio::sync::watch;

use crate::error::{RequestError, StartError};
use crate::parts::RuntimePorts;

/// Knows every agent. The agent `main` always exists.
#[derive(Clone)]
pub struct AgentRegistry {
    agents: watch::Receiver<Arc<Vec<AgentRecord>>>,
}

impl AgentRegistry {
    pub(crate) async fn open(ports: Arc<RuntimePorts>, local: PrincipalId) -> Result<Self, StartError> {
        let mut agents = ports.records.agents().await?;
        if !agents.iter().any(|agent| is_live_named(agent, DEFAULT_AGENT_NAME)) {
            agents.push(save_default(&ports, local).await?);
        }
        let (_, receiver) = watch::channel(Arc::new(agents));
        Ok(Self { agents: receiver })
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

async fn save_default(ports: &RuntimePorts, local: PrincipalId) -> Result<AgentRecord, StartError> {
    let now = ports.clock.wall();
    let (ms, random) = ports.entropy.id_parts(now);
    let agent = AgentId::from_parts(ms, random);
    let profile =
        AgentProfile { name: DEFAULT_AGENT_NAME.into(), instructions: "".into(), model: None, tools: None };
    let event = JournalEvent::AgentSaved { agent, profile: profile.clone() };
    let entry = NewEntry { time: now, principal: local, session: None, run: None, event };
    let request = JournalAppendRequest {
        entries: vec![entry],
        class: AppendClass::Normal,
        ..JournalAppendRequest::default()
    };
    ports.append.append(request).await?;
    Ok(AgentRecord { id: agent, profile, archived: None })
}
