//! `CompactionService`: summaries of the caller's conversations.
//!
//! Invariant: no request names a principal; the sessions are the caller's.

use palyra_runtime::Caller;
use palyra_types::Seq;
use palyra_types::compaction::{CompactionCause, OrchestratorCompactionArtifactRecord, SummaryAuthor};
use palyra_wire::v1;

use crate::api_error::ApiError;
use crate::operations::OperationHandlers;
use crate::translate;

impl OperationHandlers {
    /// Answers `CompactSession`.
    pub async fn compact_session(
        &self,
        caller: Caller,
        message: v1::CompactSessionRequest,
    ) -> Result<v1::CompactSessionResponse, ApiError> {
        let session = translate::id("session_id", &message.session_id)?;
        let record = self.state.sessions.compact(caller, session).await?;
        let in_force = Some(record.seq);
        Ok(v1::CompactSessionResponse { compaction: Some(compaction(record, in_force)) })
    }

    /// Answers `RevertCompaction`.
    pub async fn revert_compaction(
        &self,
        caller: Caller,
        message: v1::RevertCompactionRequest,
    ) -> Result<v1::RevertCompactionResponse, ApiError> {
        let session = translate::id("session_id", &message.session_id)?;
        let seq = (message.compaction > 0).then_some(Seq(message.compaction));
        let record = self.state.sessions.revert_compaction(caller, session, seq).await?;
        Ok(v1::RevertCompactionResponse { compaction: Some(compaction(record, None)) })
    }

    /// Answers `ListCompactions`.
    pub async fn list_compactions(
        &self,
        caller: Caller,
        message: v1::ListCompactionsRequest,
    ) -> Result<v1::ListCompactionsResponse, ApiError> {
        let session = translate::id("session_id", &message.session_id)?;
        let found = self.state.sessions.compactions(caller, session).await?;
        let shown = found.all.into_iter().map(|record| compaction(record, found.in_force));
        Ok(v1::ListCompactionsResponse { compactions: shown.collect() })
    }
}

fn compaction(record: OrchestratorCompactionArtifactRecord, in_force: Option<Seq>) -> v1::Compaction {
    let made = record.made;
    let author = match made.author {
        SummaryAuthor::Model => v1::SummaryAuthor::Model,
        SummaryAuthor::Fallback => v1::SummaryAuthor::Fallback,
    };
    let cause = match made.cause {
        CompactionCause::Person => v1::CompactionCause::Person,
        CompactionCause::Window => v1::CompactionCause::Window,
        CompactionCause::Refused => v1::CompactionCause::Refused,
        CompactionCause::Idle => v1::CompactionCause::Idle,
    };
    v1::Compaction {
        compaction: record.seq.0,
        session_id: made.session.to_string(),
        first_run_id: made.first_run.to_string(),
        last_run_id: made.last_run.to_string(),
        runs: made.runs,
        replaces: made.replaces.map_or(0, |older| older.0),
        author: author.into(),
        model: made.model.expose().as_ref().map(ToString::to_string).unwrap_or_default(),
        refused: made.refused.map(|refused| refused.in_words().to_owned()).unwrap_or_default(),
        cause: cause.into(),
        taints: made.taints.names().map(str::to_owned).collect(),
        source_bytes: made.source_bytes,
        summary_bytes: made.summary_bytes,
        summary: made.summary.into_exposed(),
        created: translate::timestamp(record.created),
        reverted: record.reverted.and_then(translate::timestamp),
        in_force: in_force == Some(record.seq),
    }
}
