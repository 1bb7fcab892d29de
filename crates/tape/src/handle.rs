//! Reading and following on behalf of callers.

use std::sync::Arc;

use palyra_admin::Caller;
use palyra_journal_core::families::{runs, sessions};
use palyra_journal_core::family::{QueryFamilies, ReadFamilies};
use palyra_ports::read_tape::MAX_TAPE_ENTRIES_PER_RESPONSE;
use palyra_ports::{ReadTape, TapePage};
use palyra_types::attachment::{Attachment, AttachmentBody, Blob, BlobRef};
use palyra_types::event::{RunEvent, TapeEvent};
use palyra_types::run::RunRecord;
use palyra_types::session::SessionRef;
use palyra_types::{PrincipalId, RunId, Seq, TapeSeq};
use tokio::sync::watch;

use crate::error::TapeError;
use crate::follower::TapeFollower;
use crate::hub::TapeHub;

/// Reads and follows tapes on behalf of callers.
#[derive(Clone)]
pub struct TapeHandle {
    reader: Arc<dyn ReadTape>,
    families: Arc<dyn ReadFamilies>,
    hub: TapeHub,
}

impl TapeHandle {
    /// Reads from these; live entries are those that `hub` publishes.
    #[must_use]
    pub fn new(reader: Arc<dyn ReadTape>, families: Arc<dyn ReadFamilies>, hub: TapeHub) -> Self {
        Self { reader, families, hub }
    }

    /// Returns a run of a principal; another's is reported like one that does not exist.
    async fn run_of(&self, principal: PrincipalId, run: RunId) -> Result<RunRecord, TapeError> {
        let record = self.families.query(move |rows, _| runs::record(rows, run)).await?;
        record.filter(|record| record.principal == principal).ok_or(TapeError::RunNotFound)
    }

    /// Changes whenever something else may wait for a person, of any principal.
    #[must_use]
    pub fn attention_changes(&self) -> watch::Receiver<u64> {
        self.hub.attention.subscribe()
    }

    /// Follows a run from the entry after `after` to its last.
    ///
    /// # Errors
    /// [`TapeError::RunNotFound`], also for another principal's run; [`TapeError::AttachOutOfRange`] when
    /// the tape has not reached `after`.
    pub async fn follow(
        &self,
        caller: Caller,
        run: RunId,
        after: TapeSeq,
    ) -> Result<TapeFollower, TapeError> {
        // Subscribed before the look at the journal, so that nothing falls between the two.
        let follower = TapeFollower::new(Arc::clone(&self.reader), self.hub.clone(), run);
        let record = self.run_of(caller.actor.principal, run).await?;
        if after > record.last_tape_seq {
            return Err(TapeError::AttachOutOfRange { last: record.last_tape_seq.0 });
        }
        let ended_as = Some(record.state).filter(|state| state.is_terminal());
        Ok(follower.catching_up(after, record.last_tape_seq, ended_as))
    }

    /// Returns a page of a run's tape.
    ///
    /// # Errors
    /// [`TapeError::RunNotFound`], also for another principal's run.
    pub async fn page(
        &self,
        caller: Caller,
        run: RunId,
        after: TapeSeq,
        limit: usize,
    ) -> Result<TapePage, TapeError> {
        self.run_of(caller.actor.principal, run).await?;
        Ok(self.reader.tape(run, after, limit.min(MAX_TAPE_ENTRIES_PER_RESPONSE)).await?)
    }

    /// Returns a file that came with an input, and its bytes.
    ///
    /// # Errors
    /// [`TapeError::RunNotFound`], also for another principal's run; [`TapeError::InvalidArgument`] when no
    /// such file came with that entry, or its content was erased.
    pub async fn attachment(
        &self,
        caller: Caller,
        run: RunId,
        tape_seq: TapeSeq,
        index: u32,
    ) -> Result<(Attachment, Blob), TapeError> {
        let before = TapeSeq(tape_seq.0.saturating_sub(1));
        let page = self.page(caller, run, before, 1).await?;
        let entry = page.entries.into_iter().find(|entry| entry.tape_seq == tape_seq);
        let input = entry.and_then(|entry| {
            if let TapeEvent::Run(RunEvent::Started(started)) = entry.event {
                Some(started.input)
            } else if let TapeEvent::Run(RunEvent::InputReceived { input, .. }) = entry.event {
                Some(input)
            } else {
                None
            }
        });
        let files = input.map(|input| input.attachments).unwrap_or_default();
        let place = usize::try_from(index).unwrap_or(usize::MAX);
        let Some(attachment) = files.into_iter().nth(place) else {
            let what = "no such file came with that entry, or its content was erased".to_owned();
            return Err(TapeError::InvalidArgument { what });
        };
        let content = match &attachment.body {
            AttachmentBody::Text(text) => text.clone().map(|text| Arc::from(text.into_bytes())),
            AttachmentBody::Blob { index } => {
                let read = self.reader.blob(BlobRef { run, tape_seq, index: *index }).await?;
                let what = "the content of that file was erased".to_owned();
                read.ok_or(TapeError::InvalidArgument { what })?
            }
        };
        Ok((attachment, content))
    }

    /// Returns a page of a session's entries in the journal's order.
    ///
    /// # Errors
    /// [`TapeError::SessionNotFound`], also for another principal's session.
    pub async fn session_page(
        &self,
        caller: Caller,
        session: palyra_types::SessionId,
        after: Option<Seq>,
        limit: usize,
    ) -> Result<TapePage, TapeError> {
        let session = SessionRef { principal: caller.actor.principal, id: session };
        let found = self.families.query(move |rows, _| sessions::record(rows, session)).await?;
        found.ok_or(TapeError::SessionNotFound)?;
        Ok(self.reader.session_tape(session, after, limit.min(MAX_TAPE_ENTRIES_PER_RESPONSE)).await?)
    }
}
