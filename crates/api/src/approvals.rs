//! `ApprovalsService`: what waits for a person, the answers, and the grants that outlive them.
//!
//! Invariant: who decides comes from the transport; a message can only say what is decided.

use std::time::Duration;

use palyra_ports::read_approvals::{ApprovalFilter, ApprovalQuery, GrantFilter};
use palyra_ports::read_records::RECORD_PAGE_ROWS_MAX;
use palyra_runtime::approvals::{
    AnswerCounted, ApprovalReply, ApprovalUpdate, ApprovalWatcher, ApprovalsHandle, RememberRequest,
    RememberScope, ResolvedApproval,
};
use palyra_runtime::{Caller, GatewayRuntimeState, RequestError};
use palyra_types::approval::{ApprovalDecision, ApprovalRecord};
use palyra_types::{ApprovalId, Content, PrincipalId, Timestamp};
use palyra_wire::v1;
use palyra_wire::v1::watch_approvals_response::Step;

use crate::api_error::ApiError;
use crate::operations::{OperationHandlers, ResponseSender, ResponseStream, respond, respond_until};
use crate::translate;
use crate::translate::InvalidValue;

/// Approvals on their way to one client; beyond it the watch waits.
const STEPS_QUEUED_MAX: usize = 64;
/// The longest silence on a watch.
const HEARTBEAT_SPAN: Duration = Duration::from_secs(10);

impl OperationHandlers {
    /// Returns the name under which the caller knows a principal; empty where there is no name.
    pub(crate) fn name_of(&self, caller: Caller, by: PrincipalId) -> String {
        if by == caller.actor.principal {
            return "you".to_owned();
        }
        self.state.admin.access.known().name_of(by).unwrap_or_default().to_owned()
    }

    /// Returns an approval with the name of who decided it.
    fn with_decider(&self, caller: Caller, record: &ApprovalRecord) -> v1::Approval {
        let decided_by_name = record.decided_by.map(|by| self.name_of(caller, by)).unwrap_or_default();
        v1::Approval { decided_by_name, ..translate::approval(record) }
    }

    /// Answers `ListApprovals`.
    pub async fn list_approvals(
        &self,
        caller: Caller,
        message: v1::ListApprovalsRequest,
    ) -> Result<v1::ListApprovalsResponse, ApiError> {
        let query = ApprovalQuery {
            principal: None,
            run: optional("run_id", &message.run_id)?,
            only: translate::approval_filter(message.only)?,
            before: translate::run_cursor(&message.page_token)?,
            limit: translate::page_rows(message.page_size),
        };
        let page = self.state.waiting.approvals.list(caller, query).await?;
        Ok(v1::ListApprovalsResponse {
            approvals: page.records.iter().map(|record| self.with_decider(caller, record)).collect(),
            next_page_token: page.next.map(|seq| seq.to_string()).unwrap_or_default(),
        })
    }

    /// Answers `ListGrants`.
    pub async fn list_grants(
        &self,
        caller: Caller,
        message: v1::ListGrantsRequest,
    ) -> Result<v1::ListGrantsResponse, ApiError> {
        let only = if message.all { GrantFilter::All } else { GrantFilter::Standing };
        let grants = self.state.admin.grants.list(caller, only).await?;
        Ok(v1::ListGrantsResponse { grants: grants.iter().map(translate::grant).collect() })
    }

    /// Answers `WatchApprovals`: sends changes while the client listens.
    pub async fn watch_approvals(
        &self,
        caller: Caller,
        message: v1::WatchApprovalsRequest,
    ) -> Result<ResponseStream<v1::WatchApprovalsResponse>, ApiError> {
        let watcher = self.state.waiting.approvals.watch(caller, optional("run_id", &message.run_id)?);
        let reach = self.state.admin.access.count_stream(caller);
        Ok(respond_until(self.stop.clone(), STEPS_QUEUED_MAX, |response_tx| async move {
            let _reach = reach;
            send_changes(watcher, &response_tx).await
        }))
    }

    /// Answers `ExportApprovals`: tells every approval of a span, page by page.
    pub async fn export_approvals(
        &self,
        caller: Caller,
        message: v1::ExportApprovalsRequest,
    ) -> Result<ResponseStream<v1::ExportApprovalsResponse>, ApiError> {
        let read = |field, time: Option<prost_types::Timestamp>| {
            time.map(|time| translate::time(field, time)).transpose()
        };
        let since = read("since", message.since)?;
        let until = read("until", message.until)?;
        let approvals = self.state.waiting.approvals.clone();
        Ok(respond(STEPS_QUEUED_MAX, |response_tx| async move {
            send_all(&approvals, caller, since, until, &response_tx).await
        }))
    }
}

/// Answers `ResolveApproval`, and the same frame of a stream.
pub async fn resolve(
    state: &GatewayRuntimeState,
    caller: Caller,
    message: v1::ResolveApprovalRequest,
) -> Result<v1::ResolveApprovalResponse, ApiError> {
    let approvals = &state.waiting.approvals;
    let approval: ApprovalId = translate::id("approval_id", &message.approval_id)?;
    let reply = reply_of(message)?;
    let resolved = match approvals.resolve(caller, approval, reply).await {
        Ok(resolved) => resolved,
        // A late answer gets the state of the approval and who decided.
        Err(RequestError::ApprovalDecided { .. }) => {
            let record = approvals.get(caller, approval).await?;
            return Ok(answered(&record, false));
        }
        Err(error @ RequestError::ApproverNotEligible) => {
            state.admin.access.record_refusal(caller.actor, "ResolveApproval", error.code()).await;
            return Err(error.into());
        }
        Err(error) => return Err(error.into()),
    };
    let ResolvedApproval { record, counted, asked_again, grant } = resolved;
    Ok(v1::ResolveApprovalResponse {
        asked_again_as: asked_again.map(|id| id.to_string()).unwrap_or_default(),
        grant_id: grant.map(|id| id.to_string()).unwrap_or_default(),
        ..answered(&record, counted == AnswerCounted::Yes)
    })
}

fn answered(record: &ApprovalRecord, counted: bool) -> v1::ResolveApprovalResponse {
    v1::ResolveApprovalResponse { approval: Some(translate::approval(record)), counted, ..Default::default() }
}

/// Reads an answer.
pub fn reply_of(message: v1::ResolveApprovalRequest) -> Result<ApprovalReply, ApiError> {
    let decision = match message.decision() {
        v1::ApprovalDecision::Approve => ApprovalDecision::Approve,
        v1::ApprovalDecision::Deny => ApprovalDecision::Deny,
        v1::ApprovalDecision::Unspecified => {
            return Err(InvalidValue::new("decision", "approve or deny").into());
        }
    };
    let edited = (!message.edited_arguments.is_empty()).then(|| Content::new(message.edited_arguments));
    Ok(ApprovalReply {
        decision,
        note: Content::new(message.note),
        edited,
        remember: message.remember.map(remember_of).transpose()?,
        run: optional("run_id", &message.run_id)?,
    })
}

fn remember_of(grant: v1::GrantWish) -> Result<RememberRequest, ApiError> {
    let scope = match v1::GrantScope::try_from(grant.scope) {
        Ok(v1::GrantScope::Session) => RememberScope::Session,
        Ok(v1::GrantScope::Principal) => RememberScope::Principal,
        Ok(v1::GrantScope::Everywhere) => RememberScope::Everywhere,
        Ok(v1::GrantScope::Unspecified) | Err(_) => {
            return Err(InvalidValue::new("remember.scope", "session, principal or everywhere").into());
        }
    };
    let rules: Result<Vec<_>, InvalidValue> =
        grant.rules.into_iter().map(translate::argument_rule_from).collect();
    Ok(RememberRequest {
        scope,
        expires: grant.expires.map(|time| translate::time("remember.expires", time)).transpose()?,
        uses_max: (grant.uses_max > 0).then_some(grant.uses_max),
        rules: rules?,
    })
}

fn optional<T: std::str::FromStr>(field: &'static str, text: &str) -> Result<Option<T>, ApiError> {
    if text.is_empty() { Ok(None) } else { Ok(Some(translate::id(field, text)?)) }
}

async fn send_changes(
    mut watcher: ApprovalWatcher,
    response_tx: &ResponseSender<v1::WatchApprovalsResponse>,
) -> Result<(), ApiError> {
    loop {
        let step = match tokio::time::timeout(HEARTBEAT_SPAN, watcher.next()).await {
            Ok(watched) => match watched? {
                Some(ApprovalUpdate::Approval(record)) => Step::Approval(translate::approval(&record)),
                Some(ApprovalUpdate::CaughtUp { pending }) => Step::CaughtUp(v1::ApprovalsCaughtUp {
                    pending: u32::try_from(pending).unwrap_or(u32::MAX),
                }),
                None => return Err(ApiError::shutting_down()),
            },
            Err(_silence) => Step::Heartbeat(v1::ApprovalsHeartbeat {}),
        };
        if response_tx.send(Ok(v1::WatchApprovalsResponse { step: Some(step) })).await.is_err() {
            return Ok(());
        }
    }
}

async fn send_all(
    approvals: &ApprovalsHandle,
    caller: Caller,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
    response_tx: &ResponseSender<v1::ExportApprovalsResponse>,
) -> Result<(), ApiError> {
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
            if response_tx.send(Ok(v1::ExportApprovalsResponse { approval })).await.is_err() {
                return Ok(());
            }
        }
        if query.before.is_none() {
            return Ok(());
        }
    }
}

impl OperationHandlers {
    /// Answers `GetApproval`.
    pub async fn get_approval(
        &self,
        caller: Caller,
        message: v1::GetApprovalRequest,
    ) -> Result<v1::GetApprovalResponse, ApiError> {
        let approval = translate::id("approval_id", &message.approval_id)?;
        let record = self.state.waiting.approvals.get(caller, approval).await?;
        let mut approval = self.with_decider(caller, &record);
        for approver in &mut approval.approvers {
            if let Ok(person) = approver.parse() {
                *approver = self.name_of(caller, person);
            }
        }
        Ok(v1::GetApprovalResponse { approval: Some(approval) })
    }

    /// Answers `ResolveApproval`.
    pub async fn resolve_approval(
        &self,
        caller: Caller,
        message: v1::ResolveApprovalRequest,
    ) -> Result<v1::ResolveApprovalResponse, ApiError> {
        let mut answer = resolve(&self.state, caller, message).await?;
        if let Some(approval) = &mut answer.approval
            && let Ok(by) = approval.decided_by.parse()
        {
            approval.decided_by_name = self.name_of(caller, by);
        }
        Ok(answer)
    }

    /// Answers `RevokeGrant`.
    pub async fn revoke_grant(
        &self,
        caller: Caller,
        message: v1::RevokeGrantRequest,
    ) -> Result<v1::RevokeGrantResponse, ApiError> {
        let grant = translate::id("grant_id", &message.grant_id)?;
        let revoked = self.state.admin.grants.revoke(caller, grant).await?;
        Ok(v1::RevokeGrantResponse { grant: Some(translate::grant(&revoked)) })
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
        let session = i32::from(v1::GrantScope::Session);
        let grant = |scope, rules| v1::GrantWish {
            scope,
            uses_max: 3,
            rules,
            expires: Some(prost_types::Timestamp { seconds: 5, nanos: 7_000 }),
        };
        let read = remember_of(grant(session, Vec::new())).unwrap();
        assert_eq!((read.uses_max, read.expires), (Some(3), Some(Timestamp(5_000_007))));
        assert!(remember_of(grant(0, Vec::new())).is_err() && remember_of(grant(77, Vec::new())).is_err());
        let shapeless = v1::ArgumentRule { argument: "path".to_owned(), shape: None };
        assert!(remember_of(grant(session, vec![shapeless])).is_err());
        let far = v1::GrantWish {
            expires: Some(prost_types::Timestamp { seconds: i64::MAX, nanos: 0 }),
            ..grant(session, Vec::new())
        };
        assert!(remember_of(far).is_err());
    }
}
