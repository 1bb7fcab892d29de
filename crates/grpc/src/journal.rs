//! `JournalService`: the journal as a whole, for the owner of the socket.
//!
//! Long work tells how far it is. Invariant: progress may be left out when the client is slow, the end never is.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use palyra_ports::maintain_journal::{Integrity, Progress, VerifyReport};
use palyra_runtime::journal::JournalHandle;
use palyra_types::{PrincipalId, Seq};
use palyra_wire::v1::journal_service_server::JournalService;
use palyra_wire::v1::{
    GetJournalStatusRequest, GetJournalStatusResponse, JournalProgress, JournalReport, ListEntriesRequest,
    ListEntriesResponse, RebuildJournalRequest, RebuildJournalResponse, VerifyJournalRequest,
    VerifyJournalResponse, rebuild_journal_response, verify_journal_response,
};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status};
use tracing::Instrument;

use crate::auth;
use crate::proof::checkpoint_to_wire;
use crate::status::Refusal;
use crate::translate;

/// Messages waiting for one client.
pub(crate) const STEPS_QUEUED_MAX: usize = 16;
/// Progress messages of one piece of work, about.
const STEPS_TOLD: u64 = 100;
/// Entries of a list: when the request names no number, and at most.
const ENTRIES_DEFAULT: usize = 100;
const ENTRIES_MAX: usize = 1_000;

/// Steps of long work, told while it goes on.
pub(crate) type Steps<T> = ReceiverStream<Result<T, Status>>;

/// Answers `palyra.v1.JournalService`.
pub(crate) struct JournalServiceImpl {
    journal: JournalHandle,
}

impl JournalServiceImpl {
    pub(crate) fn new(journal: JournalHandle) -> Self {
        Self { journal }
    }

    fn status(&self) -> GetJournalStatusResponse {
        let status = self.journal.status();
        let (integrity, first_bad_seq, fault) = match status.integrity {
            Integrity::NotChecked => ("not_checked", 0, String::new()),
            Integrity::Holds { .. } => ("holds", 0, String::new()),
            Integrity::Faulty { seq, what } => ("faulty", seq.0, what),
            Integrity::TableDiffers { table } => ("table_differs", 0, table),
        };
        GetJournalStatusResponse {
            log_id: status.log_id.to_string(),
            epoch: status.epoch.0,
            health: translate::journal_health(status.health).to_owned(),
            cause: status.cause.map(translate::read_only_cause).unwrap_or_default().to_owned(),
            integrity: integrity.to_owned(),
            first_bad_seq,
            fault,
            checkpoint: self.journal.newest_checkpoint().as_ref().map(checkpoint_to_wire),
            entries: status.entries,
            commits: status.commits,
            rows: status.rows,
            bytes: status.bytes,
            database_bytes: status.database_bytes,
            wal_bytes: status.wal_bytes,
        }
    }

    async fn list(
        &self,
        caller: PrincipalId,
        message: ListEntriesRequest,
    ) -> Result<ListEntriesResponse, Refusal> {
        let wanted = usize::try_from(message.limit).unwrap_or(ENTRIES_MAX);
        let limit = if wanted == 0 { ENTRIES_DEFAULT } else { wanted.min(ENTRIES_MAX) };
        let entries = self.journal.entries(Seq(message.from_seq), limit).await?;
        Ok(ListEntriesResponse {
            entries: entries.iter().map(|entry| translate::journal_entry(entry, caller)).collect(),
        })
    }

    /// Verifies while somebody listens.
    fn verify(&self) -> Steps<VerifyJournalResponse> {
        use verify_journal_response::Step;
        let (told, steps) = mpsc::channel(STEPS_QUEUED_MAX);
        let wrap = |step| VerifyJournalResponse { step: Some(step) };
        let progress = tell_progress(&told, move |progress| wrap(Step::Progress(progress)));
        let journal = self.journal.clone();
        let work = async move {
            let verified = tokio::select! {
                verified = journal.verify(progress) => verified,
                () = told.closed() => return,
            };
            let end = verified.map(|report| wrap(Step::Report(report_to_wire(report))));
            // Fails only when nobody listens any more.
            let _ = told.send(end.map_err(|error| Refusal::from(error).into())).await;
        };
        tokio::spawn(work.in_current_span());
        ReceiverStream::new(steps)
    }

    /// Rebuilds, whether or not somebody listens: half of it would be no use.
    fn rebuild(&self) -> Steps<RebuildJournalResponse> {
        use rebuild_journal_response::Step;
        let (told, steps) = mpsc::channel(STEPS_QUEUED_MAX);
        let wrap = |step| RebuildJournalResponse { step: Some(step) };
        let progress = tell_progress(&told, move |progress| wrap(Step::Progress(progress)));
        let journal = self.journal.clone();
        let work = async move {
            let end = journal.rebuild(progress).await.map(|folded| wrap(Step::Folded(folded)));
            // Fails only when nobody listens any more.
            let _ = told.send(end.map_err(|error| Refusal::from(error).into())).await;
        };
        tokio::spawn(work.in_current_span());
        ReceiverStream::new(steps)
    }
}

/// Returns a callback that passes on every hundredth or so, and only where there is room.
///
/// It holds no claim on the stream, so that the stream ends even if the callback is kept.
pub(crate) fn tell_progress<T: Send + 'static>(
    told: &mpsc::Sender<Result<T, Status>>,
    wrap: impl Fn(JournalProgress) -> T + Send + Sync + 'static,
) -> Progress {
    let told = told.downgrade();
    let marks = AtomicU64::new(0);
    Arc::new(move |done, total| {
        let mark = done / (total / STEPS_TOLD).max(1);
        if marks.fetch_max(mark, Ordering::Relaxed) < mark
            && let Some(told) = told.upgrade()
        {
            // A full queue or a client that left: then this step is not told.
            let _ = told.try_send(Ok(wrap(JournalProgress { done, total })));
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

#[tonic::async_trait]
impl JournalService for JournalServiceImpl {
    type VerifyJournalStream = Steps<VerifyJournalResponse>;
    type RebuildJournalStream = Steps<RebuildJournalResponse>;

    async fn get_journal_status(
        &self,
        request: Request<GetJournalStatusRequest>,
    ) -> Result<Response<GetJournalStatusResponse>, Status> {
        auth::open(request)?;
        Ok(Response::new(self.status()))
    }

    async fn verify_journal(
        &self,
        request: Request<VerifyJournalRequest>,
    ) -> Result<Response<Self::VerifyJournalStream>, Status> {
        auth::open(request)?;
        Ok(Response::new(self.verify()))
    }

    async fn rebuild_journal(
        &self,
        request: Request<RebuildJournalRequest>,
    ) -> Result<Response<Self::RebuildJournalStream>, Status> {
        auth::open(request)?;
        Ok(Response::new(self.rebuild()))
    }

    async fn list_entries(
        &self,
        request: Request<ListEntriesRequest>,
    ) -> Result<Response<ListEntriesResponse>, Status> {
        let (caller, message) = auth::open(request)?;
        Ok(Response::new(self.list(caller.principal, message).await?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_thinned_out_and_never_waits() {
        let (told, mut steps) = mpsc::channel(STEPS_QUEUED_MAX);
        let progress = tell_progress(&told, |progress| progress.done);
        (1..=10_000).for_each(|done| progress(done, 10_000));
        let seen: Vec<u64> = std::iter::from_fn(|| steps.try_recv().ok()).filter_map(Result::ok).collect();
        assert_eq!(seen, (1..=16).map(|step| step * 100).collect::<Vec<_>>());
        drop(told);
        progress(10_000, 10_000);
        assert!(steps.try_recv().is_err());
    }

    #[test]
    fn a_short_log_tells_every_entry() {
        let (told, mut steps) = mpsc::channel(STEPS_QUEUED_MAX);
        let progress = tell_progress(&told, |progress| (progress.done, progress.total));
        (0..=3).for_each(|done| progress(done, 3));
        let seen: Vec<_> = std::iter::from_fn(|| steps.try_recv().ok()).filter_map(Result::ok).collect();
        assert_eq!(seen, [(1, 3), (2, 3), (3, 3)]);
    }
}
