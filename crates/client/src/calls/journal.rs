//! The journal: state, verification, rebuild, raw entries.

use palyra_wire::v1;
use palyra_wire::v1::journal_service_client::JournalServiceClient;
use tonic::Streaming;

use super::call::SHORT;
use crate::client::Client;
use crate::error::ClientError;
use crate::transport::{MESSAGE_BYTES_MAX, Transport};

/// Entries that are listed at once.
const PAGE_ENTRIES: u32 = 1000;
/// The newest entries that are searched for an erasure, in such pages.
const PAGES_MAX: usize = 20;
/// The first ranges of an erasure whose entries are listed.
const RANGES_READ_MAX: usize = 20;

/// A step of long work on the journal.
#[derive(Debug, Clone, PartialEq)]
pub enum JournalStep<T> {
    /// How far it is.
    Progress(v1::JournalProgress),
    /// It is done.
    Done(T),
}

/// Long work on the journal while it goes on.
pub struct JournalWatch<M> {
    pub(super) stream: Streaming<M>,
    pub(super) endpoint: String,
}

impl<M> JournalWatch<M> {
    pub(super) async fn message(&mut self) -> Result<M, ClientError> {
        match self.stream.message().await {
            Ok(Some(message)) => Ok(message),
            Ok(None) => Err(ClientError::Protocol { what: "long work ended without its result" }),
            Err(status) => Err(ClientError::from_status(&status, &self.endpoint)),
        }
    }
}

impl JournalWatch<v1::VerifyJournalResponse> {
    /// Returns the next step; nothing follows the last.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn next(&mut self) -> Result<JournalStep<v1::JournalReport>, ClientError> {
        use v1::verify_journal_response::Step;
        loop {
            match self.message().await?.step {
                Some(Step::Progress(progress)) => return Ok(JournalStep::Progress(progress)),
                Some(Step::Report(report)) => return Ok(JournalStep::Done(report)),
                None => {}
            }
        }
    }
}

impl JournalWatch<v1::RebuildJournalResponse> {
    /// Returns the next step, at the end the number of entries folded; nothing follows the last.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn next(&mut self) -> Result<JournalStep<u64>, ClientError> {
        use v1::rebuild_journal_response::Step;
        loop {
            match self.message().await?.step {
                Some(Step::Progress(progress)) => return Ok(JournalStep::Progress(progress)),
                Some(Step::Folded(folded)) => return Ok(JournalStep::Done(folded)),
                None => {}
            }
        }
    }
}

impl JournalWatch<v1::CreateBackupResponse> {
    /// Returns the next step, at the end the figures of the backup; nothing follows the last.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn next(&mut self) -> Result<JournalStep<v1::BackupFigures>, ClientError> {
        use v1::create_backup_response::Step;
        loop {
            match self.message().await?.step {
                Some(Step::Progress(progress)) => return Ok(JournalStep::Progress(progress)),
                Some(Step::Backup(backup)) => return Ok(JournalStep::Done(backup)),
                None => {}
            }
        }
    }
}

impl Client {
    fn journal(&self) -> JournalServiceClient<Transport> {
        JournalServiceClient::new(self.connection().transport).max_decoding_message_size(MESSAGE_BYTES_MAX)
    }

    /// Returns the journal's state and counters.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn journal_status(&self) -> Result<v1::GetJournalStatusResponse, ClientError> {
        self.call(v1::GetJournalStatusRequest {}).await
    }

    /// Checks every entry.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn verify_journal(&self) -> Result<JournalWatch<v1::VerifyJournalResponse>, ClientError> {
        let mut journal = self.journal();
        let stream = self.answer(SHORT, journal.verify_journal(v1::VerifyJournalRequest {})).await?;
        Ok(JournalWatch { stream, endpoint: self.endpoint() })
    }

    /// Rebuilds every projection from the log.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn rebuild_journal(&self) -> Result<JournalWatch<v1::RebuildJournalResponse>, ClientError> {
        let mut journal = self.journal();
        let stream = self.answer(SHORT, journal.rebuild_journal(v1::RebuildJournalRequest {})).await?;
        Ok(JournalWatch { stream, endpoint: self.endpoint() })
    }

    /// Makes a backup in a new folder of the daemon's machine. It ends when the watch is dropped.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn create_backup(
        &self,
        request: v1::CreateBackupRequest,
    ) -> Result<JournalWatch<v1::CreateBackupResponse>, ClientError> {
        let mut journal = self.journal();
        let stream = self.answer(SHORT, journal.create_backup(request)).await?;
        Ok(JournalWatch { stream, endpoint: self.endpoint() })
    }

    /// Returns entries from a place on, without their content.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn list_entries(
        &self,
        from_seq: u64,
        limit: u32,
    ) -> Result<Vec<v1::JournalEntry>, ClientError> {
        let answer = self.call(v1::ListEntriesRequest { from_seq, limit }).await?;
        Ok(answer.entries)
    }

    /// Searches the journal, newest entries first, for the erasure that covers an entry.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn erasure_of(&self, seq: u64) -> Result<Option<v1::JournalEntry>, ClientError> {
        let mut end = self.journal_status().await?.entries;
        for _ in 0..PAGES_MAX {
            let begin = end.saturating_sub(PAGE_ENTRIES.into()).max(seq);
            if begin >= end {
                return Ok(None);
            }
            let listed = self.list_entries(begin, PAGE_ENTRIES).await?;
            let covers = |entry: &v1::JournalEntry| {
                entry.seq < end
                    && entry.erased_ranges.iter().any(|range| (range.first..=range.last).contains(&seq))
            };
            // The first of several erasures took the content.
            if let Some(found) = listed.into_iter().find(covers) {
                return Ok(Some(found));
            }
            end = begin;
        }
        Ok(None)
    }

    /// Returns the first entries of the ranges that an erasure names; none of another entry.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn entries_inside(
        &self,
        erasure: &v1::JournalEntry,
    ) -> Result<Vec<v1::JournalEntry>, ClientError> {
        let mut inside = Vec::new();
        for range in erasure.erased_ranges.iter().take(RANGES_READ_MAX) {
            let entries = range.last.saturating_sub(range.first).saturating_add(1);
            let entries = u32::try_from(entries).unwrap_or(PAGE_ENTRIES).min(PAGE_ENTRIES);
            inside.extend(self.list_entries(range.first, entries).await?);
        }
        Ok(inside)
    }
}
