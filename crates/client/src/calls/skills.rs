//! Skills: for the owner, over the daemon's own socket.

use palyra_wire::v1;
use palyra_wire::v1::skills_service_client::SkillsServiceClient;

use super::call::SHORT;
use crate::client::Client;
use crate::error::ClientError;
use crate::transport::{MESSAGE_BYTES_MAX, Transport};

impl Client {
    fn skills(&self) -> SkillsServiceClient<Transport> {
        SkillsServiceClient::new(self.connection().transport).max_decoding_message_size(MESSAGE_BYTES_MAX)
    }

    /// Lists the skills that are installed.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn list_skills(&self) -> Result<v1::ListSkillsResponse, ClientError> {
        let mut skills = self.skills();
        self.answer(SHORT, skills.list_skills(v1::ListSkillsRequest {})).await
    }

    /// Returns a skill with its words.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn get_skill(&self, name: String) -> Result<v1::GetSkillResponse, ClientError> {
        let mut skills = self.skills();
        self.answer(SHORT, skills.get_skill(v1::GetSkillRequest { name })).await
    }

    /// Installs a folder of the daemon's machine.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`]; repeating it is harmless.
    pub async fn install_skill(&self, path: String) -> Result<v1::InstallSkillResponse, ClientError> {
        let mut skills = self.skills();
        self.answer(SHORT, skills.install_skill(v1::InstallSkillRequest { path })).await
    }

    /// Switches a skill on for an agent; an empty name means `main`.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`]; repeating it is harmless.
    pub async fn enable_skill(
        &self,
        name: String,
        agent: String,
    ) -> Result<v1::EnableSkillResponse, ClientError> {
        let mut skills = self.skills();
        self.answer(SHORT, skills.enable_skill(v1::EnableSkillRequest { name, agent })).await
    }

    /// Switches a skill off for an agent; an empty name means `main`.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`]; repeating it is harmless.
    pub async fn disable_skill(
        &self,
        name: String,
        agent: String,
    ) -> Result<v1::DisableSkillResponse, ClientError> {
        let mut skills = self.skills();
        self.answer(SHORT, skills.disable_skill(v1::DisableSkillRequest { name, agent })).await
    }

    /// Removes a skill.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn remove_skill(&self, name: String) -> Result<v1::RemoveSkillResponse, ClientError> {
        let mut skills = self.skills();
        self.answer(SHORT, skills.remove_skill(v1::RemoveSkillRequest { name })).await
    }

    /// Compares every copy with what was pinned.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`]; repeating it is harmless.
    pub async fn verify_skills(&self) -> Result<v1::VerifySkillsResponse, ClientError> {
        let mut skills = self.skills();
        self.answer(SHORT, skills.verify_skills(v1::VerifySkillsRequest {})).await
    }
}
