//! Test messages of notifications.

use palyra_wire::v1;
use palyra_wire::v1::admin_service_client::AdminServiceClient;
use tonic::Streaming;

use super::call::SHORT;
use crate::client::Client;
use crate::error::ClientError;
use crate::transport::MESSAGE_BYTES_MAX;

/// Test messages on their way.
pub struct NotificationWatch {
    stream: Streaming<v1::TestNotificationsResponse>,
    endpoint: String,
}

impl NotificationWatch {
    /// Returns a message that changed; `None` once the first attempt of each has ended.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn next(&mut self) -> Result<Option<v1::Notification>, ClientError> {
        loop {
            match self.stream.message().await {
                Ok(Some(v1::TestNotificationsResponse { notification: Some(message) })) => {
                    return Ok(Some(message));
                }
                Ok(Some(_)) => {}
                Ok(None) => return Ok(None),
                Err(status) => return Err(ClientError::from_status(&status, &self.endpoint)),
            }
        }
    }
}

impl Client {
    /// Sends test messages.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn test_notifications(
        &self,
        request: v1::TestNotificationsRequest,
    ) -> Result<NotificationWatch, ClientError> {
        let mut admin =
            AdminServiceClient::new(self.connection().transport).max_decoding_message_size(MESSAGE_BYTES_MAX);
        let stream = self.answer(SHORT, admin.test_notifications(request)).await?;
        Ok(NotificationWatch { stream, endpoint: self.endpoint() })
    }
}
