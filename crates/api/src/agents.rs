//! `AgentsService`: looking at agents.

use palyra_runtime::Caller;
use palyra_wire::v1::{ListAgentsRequest, ListAgentsResponse};

use crate::api_error::ApiError;
use crate::operations::OperationHandlers;
use crate::translate;

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
}
