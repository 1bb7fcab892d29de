//! `AgentsService`: looking at agents.

use palyra_runtime::agents::AgentRegistry;
use palyra_wire::v1::agents_service_server::AgentsService;
use palyra_wire::v1::{ListAgentsRequest, ListAgentsResponse};
use tonic::{Request, Response, Status};

use crate::{auth, translate};

/// Answers `palyra.v1.AgentsService`.
pub(crate) struct AgentsServiceImpl {
    agents: AgentRegistry,
}

impl AgentsServiceImpl {
    pub(crate) fn new(agents: AgentRegistry) -> Self {
        Self { agents }
    }
}

#[tonic::async_trait]
impl AgentsService for AgentsServiceImpl {
    async fn list_agents(
        &self,
        request: Request<ListAgentsRequest>,
    ) -> Result<Response<ListAgentsResponse>, Status> {
        auth::open(request)?;
        let mut agents: Vec<_> = self.agents.snapshot().iter().map(translate::agent).collect();
        agents.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Response::new(ListAgentsResponse { agents }))
    }
}
