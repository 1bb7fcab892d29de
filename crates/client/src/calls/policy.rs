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

    /// Returns the rules in force.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn get_policy(&self) -> Result<v1::GetPolicyResponse, ClientError> {
        let mut policy = self.policy();
        self.answer(SHORT, policy.get_policy(v1::GetPolicyRequest {})).await
    }

    /// Explains a decision.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn explain_decision(
        &self,
        request: v1::ExplainDecisionRequest,
    ) -> Result<v1::ExplainDecisionResponse, ClientError> {
        let mut policy = self.policy();
        self.answer(SHORT, policy.explain_decision(request)).await
    }

    /// Returns what the rules that are tried out would have decided.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn get_shadow(&self) -> Result<v1::GetShadowResponse, ClientError> {
        let mut policy = self.policy();
        self.answer(SHORT, policy.get_shadow(v1::GetShadowRequest {})).await
    }

    /// Lists the standing settings of tools.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn list_postures(&self) -> Result<v1::ListPosturesResponse, ClientError> {
        let mut policy = self.policy();
        self.answer(SHORT, policy.list_postures(v1::ListPosturesRequest {})).await
    }

    /// Sets how calls of a tool are treated.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn set_posture(
        &self,
        request: v1::SetPostureRequest,
    ) -> Result<v1::SetPostureResponse, ClientError> {
        let mut policy = self.policy();
        self.answer(SHORT, policy.set_posture(request)).await
    }

    /// Takes a standing setting back.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn clear_posture(
        &self,
        request: v1::ClearPostureRequest,
    ) -> Result<v1::ClearPostureResponse, ClientError> {
        let mut policy = self.policy();
        self.answer(SHORT, policy.clear_posture(request)).await
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
