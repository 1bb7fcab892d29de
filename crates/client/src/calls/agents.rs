//! Agent profiles.

use palyra_wire::v1;
use palyra_wire::v1::agents_service_client::AgentsServiceClient;

use super::call::SHORT;
use crate::client::Client;
use crate::error::ClientError;

impl Client {
    /// Returns the agents in order of name.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn list_agents(&self) -> Result<Vec<v1::Agent>, ClientError> {
        let mut agents = AgentsServiceClient::new(self.connection().transport);
        let answer = self.answer(SHORT, agents.list_agents(v1::ListAgentsRequest {})).await?;
        Ok(answer.agents)
    }
}
