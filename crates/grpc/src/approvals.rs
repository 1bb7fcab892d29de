//! `ApprovalsService`: what waits for a person, the answers, and the grants that outlive them.
//!
//! Invariant: who decides comes from the transport; a message can only say what is decided.

use std::time::Duration;

use palyra_ports::read_approvals::{ApprovalFilter, ApprovalQuery, GrantFilter};
use palyra_ports::read_records::RECORD_PAGE_ROWS_MAX;
use palyra_runtime::access::AccessHandle;
use palyra_runtime::approvals::{
    ApprovalReply, ApprovalWatcher, ApprovalsHandle, Counted, Remember, RememberScope, Resolved, Watched,
};
use palyra_runtime::{Caller, RequestError};
use palyra_types::approval::{ApprovalDecision, ApprovalRecord};
use palyra_types::{ApprovalId, PrincipalId, Redacted, Timestamp};
use palyra_wire::v1;
use palyra_wire::v1::approvals_service_server::ApprovalsService;
use palyra_wire::v1::watch_approvals_response::Step;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status};
use tracing::Instrument;

use crate::auth;
use crate::status::Refusal;
use crate::translate;
use crate::translate::InvalidValue;

/// Approvals on their way to one client; beyond it the watch waits.
const STEPS_QUEUED_MAX: usize = 64;
/// The longest silence on a watch.
const HEARTBEAT_SPAN: Duration = Duration::from_secs(10);

/// Answers `palyra.v1.ApprovalsService`.
pub(crate) struct ApprovalsServiceImpl {
    approvals: ApprovalsHandle,
    access: AccessHandle,
    stop: CancellationToken,
}

impl ApprovalsServiceImpl {
    /// Makes the service; its streams end when `stop` is cancelled.
    pub(crate) fn new(approvals: ApprovalsHandle, access: AccessHandle, stop: CancellationToken) -> Self {
        Self { approvals, access, stop }
    }

    /// Returns how the caller knows somebody; empty where there is no name.
    fn name_of(&self, caller: Caller, by: PrincipalId) -> String {
        if by == caller.principal {
            return "you".to_owned();
        }
        self.access.known().name_of(by).unwrap_or_default().to_owned()
    }

    async fn list(
        &self,
        caller: Caller,
        message: v1::ListApprovalsRequest,
    ) -> Result<v1::ListApprovalsResponse, Refusal> {
        let query = ApprovalQuery {
            principal: None,
            run: optional("run_id", &message.run_id)?,
            only: translate::approval_filter(&message.only)?,
            before: translate::run_cursor(&message.page_token)?,
            limit: translate::page_rows(message.page_size),
        };
        let page = self.approvals.list(caller, query).await?;
        Ok(v1::ListApprovalsResponse {
            approvals: page.records.iter().map(translate::approval).collect(),
            next_page_token: page.next.map(|seq| seq.to_string()).unwrap_or_default(),
        })
    }

    async fn grants(
        &self,
        caller: Caller,
        message: v1::ListGrantsRequest,
    ) -> Result<v1::ListGrantsResponse, Refusal> {
        let only = if message.all { GrantFilter::All } else { GrantFilter::Standing };
        let grants = self.approvals.grants().list(caller, only).await?;
        Ok(v1::ListGrantsResponse { grants: grants.iter().map(translate::grant).collect() })
    }

    /// Tells changes while somebody listens.
    fn watch(&self, watcher: ApprovalWatcher) -> ReceiverStream<Result<v1::WatchApprovalsResponse, Status>> {
        let (told, steps) = mpsc::channel(STEPS_QUEUED_MAX);
        let stop = self.stop.clone();
        let work = async move {
            let ended = tokio::select! {
                biased;
                () = stop.cancelled() => Err(Refusal::shutting_down()),
                () = told.closed() => return,
                ended = tell_changes(watcher, &told) => ended,
            };
            if let Err(refusal) = ended {
                // Fails only when nobody listens any more.
                let _ = told.send(Err(refusal.into())).await;
            }
        };
        tokio::spawn(work.in_current_span());
        ReceiverStream::new(steps)
    }

    /// Tells every approval of a span, page by page.
    fn export(
        &self,
        caller: Caller,
        span: (Option<Timestamp>, Option<Timestamp>),
    ) -> ReceiverStream<Result<v1::ExportApprovalsResponse, Status>> {
        let (told, steps) = mpsc::channel(STEPS_QUEUED_MAX);
        let approvals = self.approvals.clone();
        let work = async move {
            if let Err(refusal) = tell_all(&approvals, caller, span, &told).await {
                // Fails only when nobody listens any more.
                let _ = told.send(Err(refusal.into())).await;
            }
        };
        tokio::spawn(work.in_current_span());
        ReceiverStream::new(steps)
    }
}

/// Answers `ResolveApproval`, and the same frame of a stream.
pub(crate) async fn resolve(
    approvals: &ApprovalsHandle,
    caller: Caller,
    message: v1::ResolveApprovalRequest,
) -> Result<v1::ResolveApprovalResponse, Refusal> {
    let approval: ApprovalId = translate::id("approval_id", &message.approval_id)?;
    let reply = reply_of(message)?;
    let resolved = match approvals.resolve(caller, approval, reply).await {
        Ok(resolved) => resolved,
        // Whoever comes late is told how it stands and who decided.
        Err(RequestError::ApprovalDecided { .. }) => {
            let record = approvals.get(caller, approval).await?;
            return Ok(answered(&record, false));
        }
        Err(error) => return Err(error.into()),
    };
    let Resolved { record, counted, asked_again, grant } = resolved;
    Ok(v1::ResolveApprovalResponse {
        asked_again_as: asked_again.map(|id| id.to_string()).unwrap_or_default(),
        grant_id: grant.map(|id| id.to_string()).unwrap_or_default(),
        ..answered(&record, counted == Counted::Yes)
    })
}

fn answered(record: &ApprovalRecord, counted: bool) -> v1::ResolveApprovalResponse {
    v1::ResolveApprovalResponse { approval: Some(translate::approval(record)), counted, ..Default::default() }
}

/// Reads an answer.
pub(crate) fn reply_of(message: v1::ResolveApprovalRequest) -> Result<ApprovalReply, Refusal> {
    let decision = match message.decision() {
        v1::ApprovalDecision::Approve => ApprovalDecision::Approve,
        v1::ApprovalDecision::Deny => ApprovalDecision::Deny,
        v1::ApprovalDecision::Unspecified => {
            return Err(InvalidValue::new("decision", "approve or deny").into());
        }
    };
    let edited = (!message.edited_arguments.is_empty()).then(|| Redacted::new(message.edited_arguments));
    Ok(ApprovalReply {
        decision,
        note: Redacted::new(message.note),
        edited,
        remember: message.remember.map(remember_of).transpose()?,
        run: optional("run_id", &message.run_id)?,
    })
}

fn remember_of(wish: v1::GrantWish) -> Result<Remember, Refusal> {
    let scope = match wish.scope.as_str() {
        "session" => RememberScope::Session,
        "principal" => RememberScope::Principal,
        "everywhere" => RememberScope::Everywhere,
        _ => return Err(InvalidValue::new("remember.scope", "session, principal or everywhere").into()),
    };
    let rules: Result<Vec<_>, InvalidValue> =
        wish.rules.into_iter().map(translate::argument_rule_from).collect();
    Ok(Remember {
        scope,
        expires: wish.expires.map(|time| translate::time("remember.expires", time)).transpose()?,
        uses_max: (wish.uses_max > 0).then_some(wish.uses_max),
        rules: rules?,
    })
}

fn optional<T: std::str::FromStr>(field: &'static str, text: &str) -> Result<Option<T>, Refusal> {
    if text.is_empty() { Ok(None) } else { Ok(Some(translate::id(field, text)?)) }
}

async fn tell_changes(
    mut watcher: ApprovalWatcher,
    told: &mpsc::Sender<Result<v1::WatchApprovalsResponse, Status>>,
) -> Result<(), Refusal> {
    loop {
        let step = match tokio::time::timeout(HEARTBEAT_SPAN, watcher.next()).await {
            Ok(watched) => match watched? {
                Some(Watched::Approval(record)) => Step::Approval(translate::approval(&record)),
                Some(Watched::CaughtUp { pending }) => Step::CaughtUp(v1::ApprovalsCaughtUp {
                    pending: u32::try_from(pending).unwrap_or(u32::MAX),
                }),
                None => return Err(Refusal::shutting_down()),
            },
            Err(_silence) => Step::Heartbeat(v1::ApprovalsHeartbeat {}),
        };
        if told.send(Ok(v1::WatchApprovalsResponse { step: Some(step) })).await.is_err() {
            return Ok(());
        }
    }
}

async fn tell_all(
    approvals: &ApprovalsHandle,
    caller: Caller,
    (since, until): (Option<Timestamp>, Option<Timestamp>),
    told: &mpsc::Sender<Result<v1::ExportApprovalsResponse, Status>>,
) -> Result<(), Refusal> {
    let mut query =
        ApprovalQuery { only: ApprovalFilter::All, limit: RECORD_PAGE_ROWS_MAX, ..ApprovalQuery::default() };
    loop {
        let page = approvals.list(caller, query.clone()).await?;
        query.before = page.next;
        for record in page.records {
            if since.is_some_and(|since| record.created < since) {
                return Ok(());
            }
            if until.is_some_and(|until| record.created >= until) {
                continue;
            }
            let approval = Some(translate::approval(&record));
            if told.send(Ok(v1::ExportApprovalsResponse { approval })).await.is_err() {
                return Ok(());
            }
        }
        if query.before.is_none() {
            return Ok(());
        }
    }
}

#[tonic::async_trait]
impl ApprovalsService for ApprovalsServiceImpl {
    type WatchApprovalsStream = ReceiverStream<Result<v1::WatchApprovalsResponse, Status>>;
    type ExportApprovalsStream = ReceiverStream<Result<v1::ExportApprovalsResponse, Status>>;

    async fn list_approvals(
        &self,
        request: Request<v1::ListApprovalsRequest>,
    ) -> Result<Response<v1::ListApprovalsResponse>, Status> {
        let (caller, message) = auth::open(request)?;
        Ok(Response::new(self.list(caller, message).await?))
    }

    async fn get_approval(
        &self,
        request: Request<v1::GetApprovalRequest>,
    ) -> Result<Response<v1::GetApprovalResponse>, Status> {
        let (caller, message) = auth::open(request)?;
        let approval = translate::id("approval_id", &message.approval_id).map_err(Refusal::from)?;
        let record = self.approvals.get(caller, approval).await.map_err(Refusal::from)?;
        let decided_by_name = record.decided_by.map(|by| self.name_of(caller, by)).unwrap_or_default();
        let approval = v1::Approval { decided_by_name, ..translate::approval(&record) };
        Ok(Response::new(v1::GetApprovalResponse { approval: Some(approval) }))
    }

    async fn resolve_approval(
        &self,
        request: Request<v1::ResolveApprovalRequest>,
    ) -> Result<Response<v1::ResolveApprovalResponse>, Status> {
        let (caller, message) = auth::open(request)?;
        let mut answer = resolve(&self.approvals, caller, message).await?;
        if let Some(approval) = &mut answer.approval
            && let Ok(by) = approval.decided_by.parse()
        {
            approval.decided_by_name = self.name_of(caller, by);
        }
        Ok(Response::new(answer))
    }

    async fn watch_approvals(
        &self,
        request: Request<v1::WatchApprovalsRequest>,
    ) -> Result<Response<Self::WatchApprovalsStream>, Status> {
        let (caller, message) = auth::open(request)?;
        let run = optional("run_id", &message.run_id)?;
        Ok(Response::new(self.watch(self.approvals.watch(caller, run))))
    }

    async fn export_approvals(
        &self,
        request: Request<v1::ExportApprovalsRequest>,
    ) -> Result<Response<Self::ExportApprovalsStream>, Status> {
        let (caller, message) = auth::open(request)?;
        let read = |field, time: Option<prost_types::Timestamp>| {
            time.map(|time| translate::time(field, time)).transpose().map_err(Refusal::from)
        };
        let (since, until) = (read("since", message.since)?, read("until", message.until)?);
        Ok(Response::new(self.export(caller, (since, until))))
    }

    async fn list_grants(
        &self,
        request: Request<v1::ListGrantsRequest>,
    ) -> Result<Response<v1::ListGrantsResponse>, Status> {
        let (caller, message) = auth::open(request)?;
        Ok(Response::new(self.grants(caller, message).await?))
    }

    async fn revoke_grant(
        &self,
        request: Request<v1::RevokeGrantRequest>,
    ) -> Result<Response<v1::RevokeGrantResponse>, Status> {
        let (caller, message) = auth::open(request)?;
        let grant = translate::id("grant_id", &message.grant_id).map_err(Refusal::from)?;
        let revoked = self.approvals.grants().revoke(caller, grant).await.map_err(Refusal::from)?;
        Ok(Response::new(v1::RevokeGrantResponse { grant: Some(translate::grant(&revoked)) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(decision: v1::ApprovalDecision) -> v1::ResolveApprovalRequest {
        v1::ResolveApprovalRequest { decision: decision.into(), ..Default::default() }
    }

    #[test]
    fn an_answer_has_to_be_one() {
        assert!(reply_of(message(v1::ApprovalDecision::Unspecified)).is_err());
        let reply = reply_of(message(v1::ApprovalDecision::Deny)).unwrap();
        assert_eq!((reply.decision, reply.edited, reply.run), (ApprovalDecision::Deny, None, None));
    }

    #[test]
    fn what_is_remembered_is_read_whole_or_refused() {
        let wish = |scope: &str, rules| v1::GrantWish {
            scope: scope.to_owned(),
            uses_max: 3,
            rules,
            expires: Some(prost_types::Timestamp { seconds: 5, nanos: 7_000 }),
        };
        let read = remember_of(wish("session", Vec::new())).unwrap();
        assert_eq!((read.uses_max, read.expires), (Some(3), Some(Timestamp(5_000_007))));
        assert!(remember_of(wish("everybody", Vec::new())).is_err());
        let shapeless = v1::ArgumentRule { argument: "path".to_owned(), shape: None };
        assert!(remember_of(wish("session", vec![shapeless])).is_err());
        let far = v1::GrantWish {
            expires: Some(prost_types::Timestamp { seconds: i64::MAX, nanos: 0 }),
            ..wish("session", Vec::new())
        };
        assert!(remember_of(far).is_err());
    }
}
