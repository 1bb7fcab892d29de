//! `ErasureService`: taking content out of the journal, for the owner of the socket.
//!
//! Invariant: an erasure that was begun goes on to its end, also when the client left.

use palyra_admin::erasure::ErasedContent;
use palyra_ports::{ErasurePlan, ErasureReceipt, ErasureSubject};
use palyra_runtime::Caller;
use palyra_types::proof::{ErasureReason, SeqRange};
use palyra_types::session::SessionRef;
use palyra_types::{RunId, Seq};
use palyra_wire::v1;
use palyra_wire::v1::erase_content_request::Subject;
use palyra_wire::v1::{EraseContentRequest, EraseContentResponse, ScrubJournalRequest, ScrubJournalResponse};

use crate::api_error::ApiError;
use crate::journal::{STEPS_QUEUED_MAX, progress_sink};
use crate::operations::{OperationHandlers, ResponseStream, respond, send_last};
use crate::translate;
use crate::translate::InvalidValue;

/// Ranges that an answer names; the number of their entries is always complete.
const RANGES_LISTED_MAX: usize = 10_000;

/// What a request asks for.
#[derive(Debug, Clone, Copy)]
struct ErasureRequest {
    subject: ErasureSubject,
    reason: ErasureReason,
}

impl ErasureRequest {
    fn read(caller: Caller, message: &EraseContentRequest) -> Result<Self, ApiError> {
        let subject = match &message.subject {
            Some(Subject::RunId(run)) => ErasureSubject::Run(translate::id("run_id", run)?),
            Some(Subject::SessionId(session)) => ErasureSubject::Session(SessionRef {
                principal: caller.actor.principal,
                id: translate::id("session_id", session)?,
            }),
            Some(Subject::PrincipalId(own)) if own.is_empty() => {
                ErasureSubject::Principal(caller.actor.principal)
            }
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
        let reason = match v1::ErasureReason::try_from(message.reason) {
            Ok(v1::ErasureReason::Unspecified | v1::ErasureReason::Request) => ErasureReason::Request,
            Ok(v1::ErasureReason::Retention) => ErasureReason::Retention,
            Ok(v1::ErasureReason::LeakedSecret) => ErasureReason::LeakedSecret,
            Err(_) => return Err(InvalidValue::new("reason", "request, retention or leaked_secret").into()),
        };
        Ok(Self { subject, reason })
    }
}

impl OperationHandlers {
    /// Answers `EraseContent`.
    pub async fn erase_content(
        &self,
        caller: Caller,
        message: EraseContentRequest,
    ) -> Result<ResponseStream<EraseContentResponse>, ApiError> {
        use v1::erase_content_response::Step;
        let request = ErasureRequest::read(caller, &message)?;
        let erasures = self.state.admin.erasures.clone();
        Ok(respond(STEPS_QUEUED_MAX, |response_tx| async move {
            let done = if message.dry_run {
                erasures.plan(request.subject).await.map(planned).map_err(ApiError::from)
            } else {
                let erased = erasures.erase(caller.actor.principal, request.subject, request.reason).await;
                erased.map(erased_to_wire).map_err(ApiError::from)
            };
            let end = done.map(|erasure| EraseContentResponse { step: Some(Step::Erasure(erasure)) });
            send_last(&response_tx, end).await
        }))
    }

    /// Answers `ScrubJournal`.
    pub async fn scrub_journal(
        &self,
        caller: Caller,
        message: ScrubJournalRequest,
    ) -> Result<ResponseStream<ScrubJournalResponse>, ApiError> {
        use v1::scrub_journal_response::Step;
        let wrap = |step| ScrubJournalResponse { step: Some(step) };
        let erasures = self.state.admin.erasures.clone();
        Ok(respond(STEPS_QUEUED_MAX, |response_tx| async move {
            let progress = progress_sink(&response_tx, move |progress| wrap(Step::Progress(progress)));
            let done = if message.dry_run {
                erasures.find_secrets(progress).await.map(planned).map_err(ApiError::from)
            } else {
                erasures
                    .scrub(caller.actor.principal, progress)
                    .await
                    .map(erased_to_wire)
                    .map_err(ApiError::from)
            };
            send_last(&response_tx, done.map(|erasure| wrap(Step::Erasure(erasure)))).await
        }))
    }
}

fn planned(plan: ErasurePlan) -> v1::Erasure {
    let cancelled = plan.open_runs.clone();
    erased_to_wire(ErasedContent { plan, cancelled, receipt: ErasureReceipt::default(), kept: 0 })
}

fn erased_to_wire(erased: ErasedContent) -> v1::Erasure {
    let ErasedContent { plan, cancelled, receipt, kept } = erased;
    let ranges = plan.ranges.iter().take(RANGES_LISTED_MAX);
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
