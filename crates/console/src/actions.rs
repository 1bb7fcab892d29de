//! The forms of the console: one operation each, and the page to show afterwards.

mod add_model;
mod healing_mode;
mod learning;
mod schedules;

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use maud::Markup;
use palyra_api::ApiError;
use palyra_wire::v1;

use crate::answer_delay::{SHOWN_FIELD, is_early};
use crate::forms::FormFields;
use crate::paths::{
    ADD_MODEL_PATH, EDIT_SCHEDULE_PATH, HEALING_MODE_PATH, NEW_SCHEDULE_PATH, PAUSE_SCHEDULES_PATH,
    RESUME_SCHEDULES_PATH, SEND_PATH, START_PATH,
};
use crate::reference_preview::preview_page;
use crate::screen_call::ScreenCall;
use crate::screens::{SAVE_MEMORY_PATH, preview_schedule, recall_choice, schedule_again};

/// Answers a form with the path of the page to show next.
pub(crate) type PerformAction =
    fn(Arc<ScreenCall>, FormFields) -> BoxFuture<'static, Result<String, ApiError>>;

/// Returns a page that says why a form was refused, with what was typed.
pub(crate) type RenderRefused = fn(&ScreenCall, &FormFields, &ApiError) -> Markup;

/// What a person sees of a form that was refused.
#[derive(Clone, Copy)]
pub(crate) enum RefusedForm {
    /// Why.
    Reason,
    /// Why, and the form again.
    Again(RenderRefused),
}

/// Answers a form with a page that shows what it would do; the path is where the form is sent afterwards.
pub(crate) type RenderPreview =
    for<'a> fn(&'a ScreenCall, &'a FormFields, &'a str) -> BoxFuture<'a, Result<Markup, ApiError>>;

/// A page between a form and its sending. It changes nothing.
pub(crate) struct FormPreview {
    /// Where the form is sent afterwards; the page is behind it.
    pub(crate) form_path: &'static str,
    /// The heading of the page.
    pub(crate) title: &'static str,
    /// The operation that it reads with.
    #[cfg_attr(not(test), expect(dead_code, reason = "read by the test that compares it with the schemas"))]
    pub(crate) operation: &'static str,
    pub(crate) render: RenderPreview,
    pub(crate) refused: RefusedForm,
}

/// Every page between a form and its sending.
pub(crate) const PREVIEWS: &[FormPreview] = &[
    FormPreview {
        form_path: START_PATH,
        title: "What the references cost",
        operation: "PreviewContextReferences",
        render: |call, fields, path| preview_page(call, fields, path).boxed(),
        refused: RefusedForm::Reason,
    },
    FormPreview {
        form_path: SEND_PATH,
        title: "What the references cost",
        operation: "PreviewContextReferences",
        render: |call, fields, path| preview_page(call, fields, path).boxed(),
        refused: RefusedForm::Reason,
    },
    FormPreview {
        form_path: NEW_SCHEDULE_PATH,
        title: "New schedule",
        operation: "PreviewSchedule",
        render: |call, fields, path| preview_schedule(call, fields, path).boxed(),
        refused: RefusedForm::Again(schedule_again),
    },
    FormPreview {
        form_path: EDIT_SCHEDULE_PATH,
        title: "Edit a schedule",
        operation: "PreviewSchedule",
        render: |call, fields, path| preview_schedule(call, fields, path).boxed(),
        refused: RefusedForm::Again(schedule_again),
    },
];

/// A form and what it does.
pub(crate) struct ConsoleAction {
    /// Where it is sent.
    pub(crate) path: &'static str,
    /// The heading of the page that says why it was refused.
    pub(crate) title: &'static str,
    /// The operation that it calls.
    #[cfg_attr(not(test), expect(dead_code, reason = "read by the test that compares it with the schemas"))]
    pub(crate) operation: &'static str,
    pub(crate) perform: PerformAction,
    pub(crate) refused: RefusedForm,
}

/// Every form.
pub(crate) const ACTIONS: &[ConsoleAction] = &[
    ConsoleAction {
        path: "/console/approvals/{approval_id}/decide",
        title: "Not decided",
        operation: "ResolveApproval",
        perform: |call, fields| decide(call, fields).boxed(),
        refused: RefusedForm::Reason,
    },
    ConsoleAction {
        path: "/console/runs/{run_id}/stop",
        title: "Not stopped",
        operation: "CancelRun",
        perform: |call, _| stop(call).boxed(),
        refused: RefusedForm::Reason,
    },
    ConsoleAction {
        path: "/console/runs/{run_id}/undo",
        title: "Not undone",
        operation: "UndoRun",
        perform: |call, _| undo(call).boxed(),
        refused: RefusedForm::Reason,
    },
    ConsoleAction {
        path: "/console/sessions/{session_id}/compactions/{compaction}/revert",
        title: "Not taken back",
        operation: "RevertCompaction",
        perform: |call, _| revert_compaction(call).boxed(),
        refused: RefusedForm::Reason,
    },
    ConsoleAction {
        path: "/console/sessions/{session_id}/recall",
        title: "Not changed",
        operation: "SetSessionRecall",
        perform: |call, fields| set_recall(call, fields).boxed(),
        refused: RefusedForm::Reason,
    },
    ConsoleAction {
        path: "/console/runs/{run_id}/revise",
        title: "Not sent",
        operation: "StartRun",
        perform: |call, fields| revise(call, fields).boxed(),
        refused: RefusedForm::Reason,
    },
    ConsoleAction {
        path: "/console/grants/{grant_id}/revoke",
        title: "Not revoked",
        operation: "RevokeGrant",
        perform: |call, _| revoke(call).boxed(),
        refused: RefusedForm::Reason,
    },
    ConsoleAction {
        path: "/console/project-rules/{seq}/withdraw",
        title: "Not withdrawn",
        operation: "WithdrawProjectRules",
        perform: |call, _| withdraw_rules(call).boxed(),
        refused: RefusedForm::Reason,
    },
    ConsoleAction {
        path: SAVE_MEMORY_PATH,
        title: "Not remembered",
        operation: "SaveMemory",
        perform: |call, fields| remember(call, fields).boxed(),
        refused: RefusedForm::Reason,
    },
    ConsoleAction {
        path: "/console/memory/{memory_id}/forget",
        title: "Not forgotten",
        operation: "ForgetMemory",
        perform: |call, _| forget(call).boxed(),
        refused: RefusedForm::Reason,
    },
    ConsoleAction {
        path: START_PATH,
        title: "Not sent",
        operation: "StartRun",
        perform: |call, fields| start(call, fields).boxed(),
        refused: RefusedForm::Reason,
    },
    ConsoleAction {
        path: SEND_PATH,
        title: "Not sent",
        operation: "SendInput",
        perform: |call, fields| send(call, fields).boxed(),
        refused: RefusedForm::Reason,
    },
    ConsoleAction {
        path: "/console/runs/{run_id}/effects/{effect_id}/settle",
        title: "Not recorded",
        operation: "ResolveEffect",
        perform: |call, fields| settle(call, fields).boxed(),
        refused: RefusedForm::Reason,
    },
    ConsoleAction {
        path: ADD_MODEL_PATH,
        title: "Not added",
        operation: "AddModel",
        perform: |call, fields| add_model::add_model(call, fields).boxed(),
        refused: RefusedForm::Again(add_model::again),
    },
    ConsoleAction {
        path: NEW_SCHEDULE_PATH,
        title: "Not saved",
        operation: "CreateSchedule",
        perform: |call, fields| schedules::create(call, fields).boxed(),
        refused: RefusedForm::Again(schedule_again),
    },
    ConsoleAction {
        path: EDIT_SCHEDULE_PATH,
        title: "Not saved",
        operation: "EditSchedule",
        perform: |call, fields| schedules::edit(call, fields).boxed(),
        refused: RefusedForm::Again(schedule_again),
    },
    ConsoleAction {
        path: "/console/schedules/{schedule_id}/pause",
        title: "Not paused",
        operation: "PauseSchedule",
        perform: |call, _| schedules::pause(call).boxed(),
        refused: RefusedForm::Reason,
    },
    ConsoleAction {
        path: "/console/schedules/{schedule_id}/resume",
        title: "Not resumed",
        operation: "ResumeSchedule",
        perform: |call, _| schedules::resume(call).boxed(),
        refused: RefusedForm::Reason,
    },
    ConsoleAction {
        path: "/console/schedules/{schedule_id}/run-now",
        title: "Not started",
        operation: "RunScheduleNow",
        perform: |call, _| schedules::run_now(call).boxed(),
        refused: RefusedForm::Reason,
    },
    ConsoleAction {
        path: "/console/schedules/{schedule_id}/remove",
        title: "Not removed",
        operation: "RemoveSchedule",
        perform: |call, _| schedules::remove(call).boxed(),
        refused: RefusedForm::Reason,
    },
    ConsoleAction {
        path: PAUSE_SCHEDULES_PATH,
        title: "Not paused",
        operation: "PauseSchedule",
        perform: |call, _| schedules::pause_all(call).boxed(),
        refused: RefusedForm::Reason,
    },
    ConsoleAction {
        path: RESUME_SCHEDULES_PATH,
        title: "Not resumed",
        operation: "ResumeSchedule",
        perform: |call, _| schedules::resume_all(call).boxed(),
        refused: RefusedForm::Reason,
    },
    ConsoleAction {
        path: "/console/learning/{candidate_id}/review",
        title: "Not decided",
        operation: "ReviewLearningCandidate",
        perform: |call, fields| learning::review(call, fields).boxed(),
        refused: RefusedForm::Reason,
    },
    ConsoleAction {
        path: HEALING_MODE_PATH,
        title: "Not set",
        operation: "SetHealingMode",
        perform: |call, fields| healing_mode::set(call, fields).boxed(),
        refused: RefusedForm::Again(healing_mode::again),
    },
];

async fn decide(call: Arc<ScreenCall>, fields: FormFields) -> Result<String, ApiError> {
    let decision = match fields.text("decision").as_str() {
        "approve" => v1::ApprovalDecision::Approve,
        "deny" => v1::ApprovalDecision::Deny,
        _ => return Err(ApiError::invalid_argument("`decision` is approve or deny")),
    };
    let approval_id = call.param("approval_id");
    let now = call.services.clock.boot();
    if decision == v1::ApprovalDecision::Approve && is_early(&fields.text(SHOWN_FIELD), now) {
        return Ok(format!("/console/approvals/{approval_id}?early=true"));
    }
    let request = v1::ResolveApprovalRequest {
        approval_id: approval_id.clone(),
        decision: decision.into(),
        note: fields.text("note"),
        run_id: fields.text("run_id"),
        ..Default::default()
    };
    let answer = call.call(request).await?;
    let back = fields.text("back");
    if back.starts_with("/console/sessions/") {
        return Ok(back);
    }
    let shown = if answer.asked_again_as.is_empty() { approval_id } else { answer.asked_again_as };
    Ok(format!("/console/approvals/{shown}"))
}

async fn stop(call: Arc<ScreenCall>) -> Result<String, ApiError> {
    let run_id = call.param("run_id");
    call.call(v1::CancelRunRequest { run_id: run_id.clone() }).await?;
    Ok(format!("/console/runs/{run_id}"))
}

async fn undo(call: Arc<ScreenCall>) -> Result<String, ApiError> {
    let run_id = call.param("run_id");
    call.call(v1::UndoRunRequest { run_id: run_id.clone() }).await?;
    Ok(format!("/console/runs/{run_id}/undo"))
}

async fn revert_compaction(call: Arc<ScreenCall>) -> Result<String, ApiError> {
    let session_id = call.param("session_id");
    let compaction = call.param("compaction").parse().unwrap_or_default();
    call.call(v1::RevertCompactionRequest { session_id: session_id.clone(), compaction }).await?;
    Ok(format!("/console/sessions/{session_id}"))
}

async fn set_recall(call: Arc<ScreenCall>, fields: FormFields) -> Result<String, ApiError> {
    let session_id = call.param("session_id");
    let recall = recall_choice(&fields.text("recall"))
        .ok_or_else(|| ApiError::invalid_argument("`recall` is on, off or inherit"))?;
    call.call(v1::SetSessionRecallRequest { session_id: session_id.clone(), recall: recall.into() }).await?;
    Ok(format!("/console/sessions/{session_id}"))
}

async fn revoke(call: Arc<ScreenCall>) -> Result<String, ApiError> {
    call.call(v1::RevokeGrantRequest { grant_id: call.param("grant_id") }).await?;
    Ok("/console/grants".to_owned())
}

async fn withdraw_rules(call: Arc<ScreenCall>) -> Result<String, ApiError> {
    let seq = call.param("seq").parse().unwrap_or_default();
    call.call(v1::WithdrawProjectRulesRequest { seq }).await?;
    Ok("/console/grants".to_owned())
}

async fn remember(call: Arc<ScreenCall>, fields: FormFields) -> Result<String, ApiError> {
    call.call(v1::SaveMemoryRequest { text: fields.text("text"), ..Default::default() }).await?;
    Ok("/console/memory".to_owned())
}

async fn forget(call: Arc<ScreenCall>) -> Result<String, ApiError> {
    call.call(v1::ForgetMemoryRequest { memory_id: call.param("memory_id") }).await?;
    Ok("/console/memory".to_owned())
}

async fn start(call: Arc<ScreenCall>, fields: FormFields) -> Result<String, ApiError> {
    started(&call, &fields, None).await
}

/// Sends a message again from where it was sent: a branch, or a new conversation. A form that is sent twice finds the same.
async fn revise(call: Arc<ScreenCall>, fields: FormFields) -> Result<String, ApiError> {
    said(&fields)?;
    let after_run = fields.text("after_run");
    if after_run.is_empty() {
        return started(&call, &fields, None).await;
    }
    let session_key = format!("version:{}", fields.text("key"));
    let session = v1::SessionSelector { session_key, ..Default::default() };
    let branch = v1::ResolveSessionRequest {
        session: Some(session.clone()),
        agent: String::new(),
        branch_from: Some(v1::BranchPoint { run_id: after_run, ..Default::default() }),
    };
    call.call(branch).await?;
    started(&call, &fields, Some(session)).await
}

async fn started(
    call: &ScreenCall,
    fields: &FormFields,
    session: Option<v1::SessionSelector>,
) -> Result<String, ApiError> {
    let key = fields.text("key");
    let request = v1::StartRunRequest {
        session,
        input: said(fields)?,
        idempotency_key: key.clone(),
        workspace_root: fields.text("folder"),
        ..Default::default()
    };
    let opened = call.call(request).await?.opened.unwrap_or_default();
    Ok(sent(&opened.session_id, &key))
}

/// Returns the page of a conversation, with the key of the message that is recorded now: the browser drops its draft then.
fn sent(session_id: &str, key: &str) -> String {
    let is_plain = key.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_plain {
        format!("/console/sessions/{session_id}?sent={key}")
    } else {
        format!("/console/sessions/{session_id}")
    }
}

async fn send(call: Arc<ScreenCall>, fields: FormFields) -> Result<String, ApiError> {
    let delivery = match fields.text("delivery").as_str() {
        "" | "queue" => v1::InputDelivery::Queue,
        "steer" => v1::InputDelivery::Steer,
        "interrupt" => v1::InputDelivery::Interrupt,
        _ => return Err(ApiError::invalid_argument("`delivery` is queue, steer or interrupt")),
    };
    let key = fields.text("key");
    let input = v1::Input {
        text: said(&fields)?,
        idempotency_key: key.clone(),
        delivery: delivery.into(),
        attachments: Vec::new(),
    };
    let request =
        v1::SendInputRequest { run_id: call.param("run_id"), input: Some(input), this_run_only: false };
    let accepted = call.call(request).await?.accepted.unwrap_or_default();
    let run = call.call(v1::GetRunRequest { run_id: accepted.run_id }).await?.run.unwrap_or_default();
    Ok(sent(&run.session_id, &key))
}

async fn settle(call: Arc<ScreenCall>, fields: FormFields) -> Result<String, ApiError> {
    let resolution = match fields.text("outcome").as_str() {
        "happened" => v1::EffectResolution::Happened,
        "did_not_happen" => v1::EffectResolution::DidNotHappen,
        "retry" => v1::EffectResolution::Retry,
        _ => return Err(ApiError::invalid_argument("`outcome` is happened, did_not_happen or retry")),
    };
    let effect_id = call.param("effect_id").parse();
    let request = v1::ResolveEffectRequest {
        run_id: call.param("run_id"),
        effect_id: effect_id.map_err(|_| ApiError::invalid_argument("`effect_id` is a number"))?,
        resolution: resolution.into(),
        note: fields.text("note"),
    };
    call.call(request).await?;
    Ok("/console/effects".to_owned())
}

fn said(fields: &FormFields) -> Result<String, ApiError> {
    let text = fields.text("input");
    if text.trim().is_empty() {
        return Err(ApiError::invalid_argument("there is nothing to send: write something first"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use palyra_wire::operations::{OperationAudience, OperationKind, OperationSpec};

    use super::*;

    #[test]
    fn a_page_between_a_form_and_its_sending_changes_nothing() {
        for preview in PREVIEWS {
            let operation = OperationSpec::by_name(preview.operation).unwrap();
            assert_eq!(
                (operation.audience, operation.kind),
                (OperationAudience::Principals, OperationKind::Read)
            );
            assert!(ACTIONS.iter().any(|action| action.path == preview.form_path), "{}", preview.form_path);
        }
    }

    /// An owner's change needs a fresh code, and a form that was refused keeps what was typed beside it.
    #[test]
    fn a_form_calls_an_operation_that_a_page_session_may_call() {
        for action in ACTIONS {
            let operation = OperationSpec::by_name(action.operation).unwrap();
            assert_eq!(operation.kind, OperationKind::Change, "{}", action.path);
            match operation.audience {
                OperationAudience::Principals => {}
                OperationAudience::Owner => {
                    assert!(matches!(action.refused, RefusedForm::Again(_)), "{}", action.path);
                }
                OperationAudience::OwnerSocket => panic!("{}: only at the socket", action.path),
            }
        }
    }
}
