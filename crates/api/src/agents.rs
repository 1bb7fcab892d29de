//! `AgentsService`: looking at agents, and changing them.

use std::path::PathBuf;

use palyra_admin::AdminError;
use palyra_admin::agents::AgentChange;
use palyra_runtime::Caller;
use palyra_types::AgentId;
use palyra_types::tool::ToolName;
use palyra_wire::v1::{
    self, ArchiveAgentRequest, ArchiveAgentResponse, CreateAgentRequest, CreateAgentResponse,
    GetAgentRequest, GetAgentResponse, ListAgentsRequest, ListAgentsResponse, UpdateAgentRequest,
    UpdateAgentResponse,
};

use crate::api_error::ApiError;
use crate::operations::OperationHandlers;
use crate::translate;
use crate::translate::InvalidValue;

impl OperationHandlers {
    /// Answers `ListAgents`.
    pub async fn list_agents(
        &self,
        _caller: Caller,
        _message: ListAgentsRequest,
    ) -> Result<ListAgentsResponse, ApiError> {
        let mut agents: Vec<_> = self.state.agents.snapshot().iter().map(translate::agent).collect();
        agents.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(ListAgentsResponse { agents })
    }

    /// Answers `GetAgent`.
    pub async fn get_agent(
        &self,
        _caller: Caller,
        message: GetAgentRequest,
    ) -> Result<GetAgentResponse, ApiError> {
        let agent = self.state.agents.by_id(agent_id(&message.agent_id)?).ok_or(AdminError::AgentNotFound)?;
        Ok(GetAgentResponse { agent: Some(translate::agent(&agent)) })
    }

    /// Answers `CreateAgent`.
    pub async fn create_agent(
        &self,
        caller: Caller,
        message: CreateAgentRequest,
    ) -> Result<CreateAgentResponse, ApiError> {
        let change = self.agent_change(message.profile.unwrap_or_default())?;
        let agent = self.state.agents.create(caller, change).await?;
        Ok(CreateAgentResponse { agent: Some(translate::agent(&agent)) })
    }

    /// Answers `UpdateAgent`.
    pub async fn update_agent(
        &self,
        caller: Caller,
        message: UpdateAgentRequest,
    ) -> Result<UpdateAgentResponse, ApiError> {
        let id = agent_id(&message.agent_id)?;
        let change = self.agent_change(message.change.unwrap_or_default())?;
        let agent = self.state.agents.update(caller, id, change).await?;
        Ok(UpdateAgentResponse { agent: Some(translate::agent(&agent)) })
    }

    /// Answers `ArchiveAgent`.
    pub async fn archive_agent(
        &self,
        caller: Caller,
        message: ArchiveAgentRequest,
    ) -> Result<ArchiveAgentResponse, ApiError> {
        let agent = self.state.agents.archive(caller, agent_id(&message.agent_id)?).await?;
        Ok(ArchiveAgentResponse { agent: Some(translate::agent(&agent)) })
    }

    /// Reads a change; its model has to be one of a configured provider.
    fn agent_change(&self, message: v1::AgentChange) -> Result<AgentChange, ApiError> {
        let model = message.model.map(|text| translate::model(&text)).transpose()?;
        if let Some(Some(model)) = &model
            && self.state.models.directory().provider(model).is_none()
        {
            return Err(AdminError::ModelNotConfigured { model: model.to_string() }.into());
        }
        let tools = message.tools.as_ref().map(tools_from).transpose()?;
        let folders = message.workspace_roots;
        Ok(AgentChange {
            name: message.name,
            instructions: message.instructions.map(Into::into),
            model,
            tools,
            recall: translate::recall_change(message.recall)?,
            workspace_roots: folders.map(|folders| folders.paths.into_iter().map(PathBuf::from).collect()),
        })
    }
}

fn agent_id(text: &str) -> Result<AgentId, ApiError> {
    Ok(translate::id("agent_id", text)?)
}

fn tools_from(tools: &v1::AgentTools) -> Result<Option<Vec<ToolName>>, InvalidValue> {
    match (tools.all, tools.names.as_slice()) {
        (true, []) => Ok(None),
        (true, _) => Err(InvalidValue::new("tools", "either all tools or names of some")),
        (false, names) => Ok(Some(names.iter().map(|name| ToolName::new(name)).collect())),
    }
}
