//! Erasing content: for the owner, over the daemon's own socket.

use palyra_wire::v1;
use palyra_wire::v1::erasure_service_client::ErasureServiceClient;

use super::call::SHORT;
use super::journal::{JournalStep, JournalWatch};
use crate::client::Client;
use crate::error::ClientError;
use crate::transport::{MESSAGE_BYTES_MAX, Transport};

impl JournalWatch<v1::EraseContentResponse> {
    /// Returns the next step; nothing follows the last.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn next(&mut self) -> Result<JournalStep<v1::Erasure>, ClientError> {
        use v1::erase_content_response::Step;
        loop {
            match self.message().await?.step {
                Some(Step::Progress(progress)) => return Ok(JournalStep::Progress(progress)),
                Some(Step::Erasure(erasure)) => return Ok(JournalStep::Done(erasure)),
                None => {}
            }
        }
    }
}

impl JournalWatch<v1::ScrubJournalResponse> {
    /// Returns the next step; nothing follows the last.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn next(&mut self) -> Result<JournalStep<v1::Erasure>, ClientError> {
        use v1::scrub_journal_response::Step;
        loop {
            match self.message().await?.step {
                Some(Step::Progress(progress)) => return Ok(JournalStep::Progress(progress)),
                Some(Step::Erasure(erasure)) => return Ok(JournalStep::Done(erasure)),
                None => {}
            }
        }
    }
}

impl Client {
    fn erasures(&self) -> ErasureServiceClient<Transport> {
        ErasureServiceClient::new(self.connection().transport).max_decoding_message_size(MESSAGE_BYTES_MAX)
    }

    /// Erases the content of a subject, or only says what that would touch.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn erase_content(
        &self,
        request: v1::EraseContentRequest,
    ) -> Result<JournalWatch<v1::EraseContentResponse>, ClientError> {
        let mut erasures = self.erasures();
        let stream = self.answer(SHORT, erasures.erase_content(request)).await?;
        Ok(JournalWatch { stream, endpoint: self.endpoint() })
    }

    /// Erases every entry that holds a secret, or only says which ones do.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn scrub_journal(
        &self,
        request: v1::ScrubJournalRequest,
    ) -> Result<JournalWatch<v1::ScrubJournalResponse>, ClientError> {
        let mut erasures = self.erasures();
        let stream = self.answer(SHORT, erasures.scrub_journal(request)).await?;
        Ok(JournalWatch { stream, endpoint: self.endpoint() })
    }
}
