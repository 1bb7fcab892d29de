//! Approvals and stored grants.

use palyra_types::{ApprovalId, RunId, StoredGrantId};
use palyra_wire::v1;
use palyra_wire::v1::approvals_service_client::ApprovalsServiceClient;
use tonic::Streaming;

use super::call::{SHORT, required};
use crate::client::Client;
use crate::error::ClientError;
use crate::transport::{MESSAGE_BYTES_MAX, Transport};

/// Approvals as they are asked and decided.
pub struct ApprovalWatch {
    stream: Streaming<v1::WatchApprovalsResponse>,
    endpoint: String,
}

/// What a watch tells.
#[derive(Debug, Clone, PartialEq)]
pub enum WatchedApproval {
    /// An approval as it is now.
    Approval(Box<v1::Approval>),
    /// All that wait were told, so many; what follows are changes.
    CaughtUp(u32),
}

impl ApprovalWatch {
    /// Returns what comes next.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`] when the stream ends.
    pub async fn next(&mut self) -> Result<WatchedApproval, ClientError> {
        use v1::watch_approvals_response::Step;
        loop {
            let message = self.stream.message().await;
            let message = message.map_err(|status| ClientError::from_status(&status, &self.endpoint))?;
            let ended = || ClientError::Lost {
                endpoint: self.endpoint.clone(),
                cause: "the stream ended".to_owned(),
            };
            match message.ok_or_else(ended)?.step {
                Some(Step::Approval(approval)) => return Ok(WatchedApproval::Approval(Box::new(approval))),
                Some(Step::CaughtUp(caught_up)) => return Ok(WatchedApproval::CaughtUp(caught_up.pending)),
                Some(Step::Heartbeat(_)) | None => {}
            }
        }
    }
}

/// Approvals of a span of time, newest first.
pub struct ExportedApprovals {
    stream: Streaming<v1::ExportApprovalsResponse>,
    endpoint: String,
}

impl ExportedApprovals {
    /// Returns the next one; `None` after the last.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn next(&mut self) -> Result<Option<v1::Approval>, ClientError> {
        let message = self.stream.message().await;
        let message = message.map_err(|status| ClientError::from_status(&status, &self.endpoint))?;
        message
            .map(|message| required(message.approval, "an exported approval was not described"))
            .transpose()
    }
}

impl Client {
    fn approvals(&self) -> ApprovalsServiceClient<Transport> {
        ApprovalsServiceClient::new(self.connection().transport).max_decoding_message_size(MESSAGE_BYTES_MAX)
    }

    /// Returns an approval.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn get_approval(&self, approval: ApprovalId) -> Result<v1::Approval, ClientError> {
        let request = v1::GetApprovalRequest { approval_id: approval.to_string() };
        let answer = self.call(request).await?;
        required(answer.approval, "an approval was not described")
    }

    /// Watches approvals: those that wait, then each change.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn watch_approvals(&self, run: Option<RunId>) -> Result<ApprovalWatch, ClientError> {
        let mut approvals = self.approvals();
        let request =
            v1::WatchApprovalsRequest { run_id: run.map(|run| run.to_string()).unwrap_or_default() };
        let stream = self.answer(SHORT, approvals.watch_approvals(request)).await?;
        Ok(ApprovalWatch { stream, endpoint: self.endpoint() })
    }

    /// Returns every approval of a span of time.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn export_approvals(
        &self,
        request: v1::ExportApprovalsRequest,
    ) -> Result<ExportedApprovals, ClientError> {
        let mut approvals = self.approvals();
        let stream = self.answer(SHORT, approvals.export_approvals(request)).await?;
        Ok(ExportedApprovals { stream, endpoint: self.endpoint() })
    }

    /// Returns stored grants, in order of id.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn list_grants(
        &self,
        request: v1::ListGrantsRequest,
    ) -> Result<Vec<v1::StoredGrant>, ClientError> {
        Ok(self.call(request).await?.grants)
    }

    /// Revokes a stored grant; repeating it is harmless.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn revoke_grant(&self, grant: StoredGrantId) -> Result<v1::StoredGrant, ClientError> {
        let request = v1::RevokeGrantRequest { grant_id: grant.to_string() };
        let answer = self.call(request).await?;
        required(answer.grant, "a revoked grant was not described")
    }
}
