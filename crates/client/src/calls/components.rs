//! Tools and components: for the owner, over the daemon's own socket.

use palyra_wire::v1;
use palyra_wire::v1::components_service_client::ComponentsServiceClient;

use super::call::{LONG, SHORT};
use crate::client::Client;
use crate::error::ClientError;
use crate::transport::{MESSAGE_BYTES_MAX, Transport};

impl Client {
    fn components(&self) -> ComponentsServiceClient<Transport> {
        ComponentsServiceClient::new(self.connection().transport).max_decoding_message_size(MESSAGE_BYTES_MAX)
    }

    /// Lists the tools there are.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn list_tools(&self) -> Result<v1::ListToolsResponse, ClientError> {
        let mut components = self.components();
        self.answer(SHORT, components.list_tools(v1::ListToolsRequest {})).await
    }

    /// Has a file of the daemon's machine looked at; a large one takes a while to compile.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn examine_component(&self, path: String) -> Result<v1::ExamineComponentResponse, ClientError> {
        let mut components = self.components();
        self.answer(LONG, components.examine_component(v1::ExamineComponentRequest { path })).await
    }

    /// Adds a file whose bytes have the digest that was shown.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn add_component(
        &self,
        path: String,
        sha256: String,
    ) -> Result<v1::AddComponentResponse, ClientError> {
        let mut components = self.components();
        self.answer(LONG, components.add_component(v1::AddComponentRequest { path, sha256 })).await
    }

    /// Removes a component.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn remove_component(&self, name: String) -> Result<v1::RemoveComponentResponse, ClientError> {
        let mut components = self.components();
        self.answer(SHORT, components.remove_component(v1::RemoveComponentRequest { name })).await
    }
}
