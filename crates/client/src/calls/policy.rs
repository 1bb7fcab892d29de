//! The rules: for the owner, over the daemon's own socket.

use palyra_wire::v1;
use palyra_wire::v1::policy_service_client::PolicyServiceClient;

use super::call::SHORT;
use super::journal::JournalWatch;
use crate::client::Client;
use crate::error::ClientError;
use crate::transport::{MESSAGE_BYTES_MAX, Transport};

/// What judging recorded decisions again tells.
#[derive(Debug, Clone, PartialEq)]
pub enum PolicyDiffStep {
    /// Decisions judged so far.
    Judged(u64),
    /// One that would have been another.
    Difference(Box<v1::DecisionDifference>),
    /// The end.
    Done(v1::PolicyDiffReport),
}

impl JournalWatch<v1::DiffPolicyResponse> {
    /// Returns the next step; nothing follows the last.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn next(&mut self) -> Result<PolicyDiffStep, ClientError> {
        use v1::diff_policy_response::Step;
        loop {
            match self.message().await?.step {
                Some(Step::Judged(judged)) => return Ok(PolicyDiffStep::Judged(judged)),
                Some(Step::Difference(difference)) => {
                    return Ok(PolicyDiffStep::Difference(Box::new(difference)));
                }
                Some(Step::Report(report)) => return Ok(PolicyDiffStep::Done(report)),
                None => {}
            }
        }
    }
}

impl Client {
    fn policy(&self) -> PolicyServiceClient<Transport> {
        PolicyServiceClient::new(self.connection().transport).max_decoding_message_size(MESSAGE_BYTES_MAX)
    }

    /// Judges recorded decisions again by other rules.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn diff_policy(
        &self,
        request: v1::DiffPolicyRequest,
    ) -> Result<JournalWatch<v1::DiffPolicyResponse>, ClientError> {
        let mut policy = self.policy();
        let stream = self.answer(SHORT, policy.diff_policy(request)).await?;
        Ok(JournalWatch { stream, endpoint: self.endpoint() })
    }
}
