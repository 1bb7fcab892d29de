//! Agent profiles.

use palyra_wire::v1;

use crate::client::Client;
use crate::error::ClientError;

impl Client {
    /// Returns the agents in order of name.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn list_agents(&self) -> Result<Vec<v1::Agent>, ClientError> {
        let answer = self.call(v1::ListAgentsRequest {}).await?;
        Ok(answer.agents)
    }
}
