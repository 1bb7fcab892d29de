//! `ErasureService`: taking content out of the journal, for the owner of the socket.
//!
//! Invariant: an erasure that was begun goes on to its end, whether or not somebody listens.

use palyra_ports::{ErasurePlan, ErasureReceipt, ErasureSubject};
use palyra_runtime::Caller;
use palyra_runtime::erasure::{ErasedContent, ErasureHandle};
use palyra_types::proof::{ErasureReason, SeqRange};
use palyra_types::session::SessionRef;
use palyra_types::{RunId, Seq};
use palyra_wire::v1;
use palyra_wire::v1::erase_content_request::Subject;
use palyra_wire::v1::erasure_service_server::ErasureService;
use palyra_wire::v1::{EraseContentRequest, EraseContentResponse, ScrubJournalRequest, ScrubJournalResponse};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status};
use tracing::Instrument;

use crate::auth;
use crate::journal::{STEPS_QUEUED_MAX, Steps, tell_progress};
use crate::status::Refusal;
use crate::translate;
use crate::translate::InvalidValue;

/// Ranges that an answer names; how many entries they hold is told in any case.
const RANGES_TOLD_MAX: usize = 10_000;

/// Answers `palyra.v1.ErasureService`.
pub(crate) struct ErasureServiceImpl {
    erasures: ErasureHandle,
}

/// What a request asks for.
#[derive(Debug, Clone, Copy)]
struct Wish {
    subject: ErasureSubject,
    reason: ErasureReason,
}

impl Wish {
    fn read(caller: Caller, message: &EraseContentRequest) -> Result<Self, Refusal> {
        let subject = match &message.subject {
            Some(Subject::RunId(run)) => ErasureSubject::Run(translate::id("run_id", run)?),
            Some(Subject::SessionId(session)) => ErasureSubject::Session(SessionRef {
                principal: caller.principal,
                id: translate::id("session_id", session)?,
            }),
            Some(Subject::PrincipalId(own)) if own.is_empty() => ErasureSubject::Principal(caller.principal),
            Some(Subject::PrincipalId(principal)) => {
                ErasureSubject::Principal(translate::id("principal_id", principal)?)
            }
            Some(Subject::Range(range)) if range.first <= range.last => {
                ErasureSubject::Range(SeqRange { first: Seq(range.first), last: Seq(range.last) })
            }
            Some(Subject::Range(_)) => {
                return Err(InvalidValue::new("range", "first and last entry, in this order").into());
            }
            None => {
                return Err(InvalidValue::new("subject", "a run, a session, a principal or a range").into());
            }
        };
        let reason = match message.reason.as_str() {
            "" | "request" => ErasureReason::Request,
            "retention" => ErasureReason::Retention,
            "leaked_secret" => ErasureReason::LeakedSecret,
            _ => return Err(InvalidValue::new("reason", "request, retention or leaked_secret").into()),
        };
        Ok(Self { subject, reason })
    }
}

impl ErasureServiceImpl {
    pub(crate) fn new(erasures: ErasureHandle) -> Self {
        Self { erasures }
    }

    async fn plan(&self, subject: ErasureSubject) -> Result<v1::Erasure, Refusal> {
        Ok(planned(self.erasures.plan(subject).await?))
    }

    fn erase(&self, caller: Caller, wish: Wish, dry_run: bool) -> Steps<EraseContentResponse> {
        use v1::erase_content_response::Step;
        let (told, steps) = mpsc::channel(STEPS_QUEUED_MAX);
        let service = Self::new(self.erasures.clone());
        let work = async move {
            let done = if dry_run {
                service.plan(wish.subject).await
            } else {
                let erased = service.erasures.erase(caller.principal, wish.subject, wish.reason).await;
                erased.map(erased_to_wire).map_err(Refusal::from)
            };
            let end = done.map(|erasure| EraseContentResponse { step: Some(Step::Erasure(erasure)) });
            // Fails only when nobody listens any more.
            let _ = told.send(end.map_err(Status::from)).await;
        };
        tokio::spawn(work.in_current_span());
        ReceiverStream::new(steps)
    }

    fn scrub(&self, caller: Caller, dry_run: bool) -> Steps<ScrubJournalResponse> {
        use v1::scrub_journal_response::Step;
        let (told, steps) = mpsc::channel(STEPS_QUEUED_MAX);
        let wrap = |step| ScrubJournalResponse { step: Some(step) };
        let progress = tell_progress(&told, move |progress| wrap(Step::Progress(progress)));
        let erasures = self.erasures.clone();
        let work = async move {
            let done = if dry_run {
                erasures.find_secrets(progress).await.map(planned).map_err(Refusal::from)
            } else {
                erasures.scrub(caller.principal, progress).await.map(erased_to_wire).map_err(Refusal::from)
            };
            let end = done.map(|erasure| wrap(Step::Erasure(erasure)));
            // Fails only when nobody listens any more.
            let _ = told.send(end.map_err(Status::from)).await;
        };
        tokio::spawn(work.in_current_span());
        ReceiverStream::new(steps)
    }
}

fn planned(plan: ErasurePlan) -> v1::Erasure {
    let cancelled = plan.open_runs.clone();
    erased_to_wire(ErasedContent { plan, cancelled, receipt: ErasureReceipt::default(), kept: 0 })
}

fn erased_to_wire(erased: ErasedContent) -> v1::Erasure {
    let ErasedContent { plan, cancelled, receipt, kept } = erased;
    let ranges = plan.ranges.iter().take(RANGES_TOLD_MAX);
    v1::Erasure {
        entries: plan.entries,
        ranges: ranges.map(|range| v1::SeqRange { first: range.first.0, last: range.last.0 }).collect(),
        cancelled_runs: cancelled.iter().map(RunId::to_string).collect(),
        recorded_by: receipt.entries.iter().map(|seq| seq.0).collect(),
        bytes: receipt.bytes,
        unreachable: receipt.unreachable,
        kept_files: kept as u64,
    }
}

#[tonic::async_trait]
impl ErasureService for ErasureServiceImpl {
    type EraseContentStream = Steps<EraseContentResponse>;
    type ScrubJournalStream = Steps<ScrubJournalResponse>;

    async fn erase_content(
        &self,
        request: Request<EraseContentRequest>,
    ) -> Result<Response<Self::EraseContentStream>, Status> {
        let (caller, message) = auth::open(request)?;
        let wish = Wish::read(caller, &message)?;
        Ok(Response::new(self.erase(caller, wish, message.dry_run)))
    }

    async fn scrub_journal(
        &self,
        request: Request<ScrubJournalRequest>,
    ) -> Result<Response<Self::ScrubJournalStream>, Status> {
        let (caller, message) = auth::open(request)?;
        Ok(Response::new(self.scrub(caller, message.dry_run)))
    }
}
