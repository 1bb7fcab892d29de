//! `JournalService`: the journal as a whole, for the owner of the socket.
//!
//! Long work tells how far it is. Invariant: progress may be left out when the client is slow, the end never is.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use palyra_ports::maintain_journal::{Integrity, ProgressCallback, VerifyReport};
use palyra_runtime::Caller;
use palyra_types::Seq;
use palyra_types::tape::JournalEventRecord;
use palyra_wire::v1::{
    GetJournalStatusRequest, GetJournalStatusResponse, JournalIntegrity, JournalProgress, JournalReport,
    ListEntriesRequest, ListEntriesResponse, RebuildJournalRequest, RebuildJournalResponse,
    VerifyJournalRequest, VerifyJournalResponse, rebuild_journal_response, verify_journal_response,
};

use crate::api_error::ApiError;
use crate::operations::{OperationHandlers, ResponseSender, ResponseStream, respond, send_last};
use crate::proof::checkpoint_to_wire;
use crate::translate;

/// Messages waiting for one client.
pub(crate) const STEPS_QUEUED_MAX: usize = 16;
/// Progress messages of one piece of work, about.
const STEPS_TOLD: u64 = 100;
/// Entries of a list: when the request names no number, and at most.
const ENTRIES_DEFAULT: usize = 100;
const ENTRIES_MAX: usize = 1_000;

impl OperationHandlers {
    /// Answers `GetJournalStatus`.
    pub async fn get_journal_status(
        &self,
        _caller: Caller,
        _message: GetJournalStatusRequest,
    ) -> Result<GetJournalStatusResponse, ApiError> {
        let status = self.state.journal.status();
        let (integrity, first_bad_seq, fault) = match status.integrity {
            Integrity::NotChecked => (JournalIntegrity::NotChecked, 0, String::new()),
            Integrity::Holds { .. } => (JournalIntegrity::Holds, 0, String::new()),
            Integrity::Faulty { seq, what, run: _ } => (JournalIntegrity::Faulty, seq.0, what),
            Integrity::TableDiffers { table } => (JournalIntegrity::TableDiffers, 0, table),
        };
        Ok(GetJournalStatusResponse {
            log_id: status.log_id.to_string(),
            epoch: status.epoch.0,
            health: translate::journal_health(status.health),
            cause: status.cause.map(translate::read_only_cause).unwrap_or_default(),
            integrity: integrity.into(),
            first_bad_seq,
            fault,
            checkpoint: self.state.journal.newest_checkpoint().as_ref().map(checkpoint_to_wire),
            entries: status.entries,
            commits: status.commits,
            rows: status.rows,
            bytes: status.bytes,
            database_bytes: status.database_bytes,
            wal_bytes: status.wal_bytes,
        })
    }

    /// Answers `ListEntries`.
    pub async fn list_entries(
        &self,
        caller: Caller,
        message: ListEntriesRequest,
    ) -> Result<ListEntriesResponse, ApiError> {
        let wanted = usize::try_from(message.limit).unwrap_or(ENTRIES_MAX);
        let limit = if wanted == 0 { ENTRIES_DEFAULT } else { wanted.min(ENTRIES_MAX) };
        let entries = self.state.journal.entries(Seq(message.from_seq), limit).await?;
        let known = self.state.admin.access.known();
        let shown = |entry: &JournalEventRecord| {
            let mut shown = translate::journal_entry(entry, caller.actor.principal);
            if let (Some(by), Some(actor)) = (&mut shown.acted_by, entry.actor) {
                by.principal = known.name_of(actor.principal).unwrap_or_default().to_owned();
            }
            shown
        };
        Ok(ListEntriesResponse { entries: entries.iter().map(shown).collect() })
    }

    /// Answers `VerifyJournal`: verifies while the client listens.
    pub async fn verify_journal(
        &self,
        _caller: Caller,
        _message: VerifyJournalRequest,
    ) -> Result<ResponseStream<VerifyJournalResponse>, ApiError> {
        use verify_journal_response::Step;
        let wrap = |step| VerifyJournalResponse { step: Some(step) };
        let journal = self.state.journal.clone();
        let health = self.state.health.clone();
        Ok(respond(STEPS_QUEUED_MAX, |response_tx| async move {
            let progress = progress_sink(&response_tx, move |progress| wrap(Step::Progress(progress)));
            let verified = tokio::select! {
                verified = journal.verify(progress) => verified,
                () = response_tx.closed() => return Ok(()),
            };
            health.heal_now();
            send_last(&response_tx, verified.map(|report| wrap(Step::Report(report_to_wire(report))))).await
        }))
    }

    /// Answers `RebuildJournal`: rebuilds to the end, also when the client left: half a rebuild is of no use.
    pub async fn rebuild_journal(
        &self,
        _caller: Caller,
        _message: RebuildJournalRequest,
    ) -> Result<ResponseStream<RebuildJournalResponse>, ApiError> {
        use rebuild_journal_response::Step;
        let wrap = |step| RebuildJournalResponse { step: Some(step) };
        let journal = self.state.journal.clone();
        Ok(respond(STEPS_QUEUED_MAX, |response_tx| async move {
            let progress = progress_sink(&response_tx, move |progress| wrap(Step::Progress(progress)));
            send_last(&response_tx, journal.rebuild(progress).await.map(|folded| wrap(Step::Folded(folded))))
                .await
        }))
    }
}

/// Returns a callback that passes on every hundredth or so, and only where there is room.
///
/// It holds no claim on the stream, so that the stream ends even if the callback is kept.
pub(crate) fn progress_sink<T: Send + 'static>(
    response_tx: &ResponseSender<T>,
    wrap: impl Fn(JournalProgress) -> T + Send + Sync + 'static,
) -> ProgressCallback {
    let response_tx = response_tx.downgrade();
    let marks = AtomicU64::new(0);
    Arc::new(move |done, total| {
        let mark = done / (total / STEPS_TOLD).max(1);
        if marks.fetch_max(mark, Ordering::Relaxed) < mark
            && let Some(response_tx) = response_tx.upgrade()
        {
            // A full queue or a client that left: then this step is not sent.
            let _ = response_tx.try_send(Ok(wrap(JournalProgress { done, total })));
        }
    })
}

fn report_to_wire(report: VerifyReport) -> JournalReport {
    let ok = report.fault.is_none();
    let (first_bad_seq, fault) = report.fault.map(|(seq, fault)| (seq.0, fault)).unwrap_or_default();
    JournalReport {
        ok,
        entries: report.entries,
        head: translate::hex(&report.head),
        first_bad_seq,
        fault,
        signed_heads: report.signed_heads,
        signed_entries: report.signed_entries,
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::*;

    #[test]
    fn progress_is_thinned_out_and_never_waits() {
        let (response_tx, mut steps) = mpsc::channel(STEPS_QUEUED_MAX);
        let progress = progress_sink(&response_tx, |progress| progress.done);
        (1..=10_000).for_each(|done| progress(done, 10_000));
        let seen: Vec<u64> = std::iter::from_fn(|| steps.try_recv().ok()).filter_map(Result::ok).collect();
        assert_eq!(seen, (1..=16).map(|step| step * 100).collect::<Vec<_>>());
        drop(response_tx);
        progress(10_000, 10_000);
        assert!(steps.try_recv().is_err());
    }

    #[test]
    fn a_short_log_tells_every_entry() {
        let (response_tx, mut steps) = mpsc::channel(STEPS_QUEUED_MAX);
        let progress = progress_sink(&response_tx, |progress| (progress.done, progress.total));
        (0..=3).for_each(|done| progress(done, 3));
        let seen: Vec<_> = std::iter::from_fn(|| steps.try_recv().ok()).filter_map(Result::ok).collect();
        assert_eq!(seen, [(1, 3), (2, 3), (3, 3)]);
    }
}
