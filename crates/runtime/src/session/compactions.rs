//! Summaries of a caller's sessions.

use palyra_admin::{AdminError, Caller};
use palyra_conversation::NewCompaction;
use palyra_types::compaction::{CompactionCause, OrchestratorCompactionArtifactRecord};
use palyra_types::session::SessionRef;
use palyra_types::{Seq, SessionId};

use crate::session::SessionsHandle;

/// The compactions of a session.
#[derive(Debug, Clone)]
pub struct SessionCompactions {
    /// They, newest first.
    pub all: Vec<OrchestratorCompactionArtifactRecord>,
    /// The entry of the one that runs read which are accepted now.
    pub in_force: Option<Seq>,
}

impl SessionsHandle {
    /// Sums up the older runs of a session of the caller.
    ///
    /// # Errors
    /// Those of [`palyra_conversation::ConversationsHandle::compact`].
    pub async fn compact(
        &self,
        caller: Caller,
        session: SessionId,
    ) -> Result<OrchestratorCompactionArtifactRecord, AdminError> {
        let cause = CompactionCause::Person;
        let session = own(caller, session);
        let actor = Some(caller.actor);
        let wanted = NewCompaction { session, cause, actor, run: None };
        self.engine.conversations.compact(wanted).await
    }

    /// Takes a compaction of a session of the caller back; `None` for the one in force.
    ///
    /// # Errors
    /// Those of [`palyra_conversation::ConversationsHandle::revert`].
    pub async fn revert_compaction(
        &self,
        caller: Caller,
        session: SessionId,
        compaction: Option<Seq>,
    ) -> Result<OrchestratorCompactionArtifactRecord, AdminError> {
        self.engine.conversations.revert(caller.actor, own(caller, session), compaction).await
    }

    /// Lists the compactions of a session of the caller.
    ///
    /// # Errors
    /// [`AdminError::SessionNotFound`]; [`AdminError::Read`].
    pub async fn compactions(
        &self,
        caller: Caller,
        session: SessionId,
    ) -> Result<SessionCompactions, AdminError> {
        let session = own(caller, session);
        let mut all = self.engine.conversations.list(session).await?;
        all.reverse();
        let in_force = self.engine.conversations.in_force(session).await?.map(|record| record.seq);
        Ok(SessionCompactions { all, in_force })
    }
}

fn own(caller: Caller, id: SessionId) -> SessionRef {
    SessionRef { principal: caller.actor.principal, id }
}
