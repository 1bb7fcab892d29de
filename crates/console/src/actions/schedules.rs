//! The forms of schedules.

use std::sync::Arc;

use palyra_api::ApiError;
use palyra_wire::v1;

use crate::forms::FormFields;
use crate::paths::SCHEDULES_PATH;
use crate::screen_call::ScreenCall;
use crate::screens::draft_of;

/// Makes a schedule; returns its page.
pub(super) async fn create(call: Arc<ScreenCall>, fields: FormFields) -> Result<String, ApiError> {
    let draft = Some(draft_of(&fields)?);
    let created = call.call(v1::CreateScheduleRequest { draft }).await?;
    Ok(format!("{SCHEDULES_PATH}/{}", created.schedule_id))
}

/// Replaces a schedule; returns its page.
pub(super) async fn edit(call: Arc<ScreenCall>, fields: FormFields) -> Result<String, ApiError> {
    let draft = Some(draft_of(&fields)?);
    let schedule_id = call.param("schedule_id");
    call.call(v1::EditScheduleRequest { schedule_id, draft }).await?;
    Ok(own_page(&call))
}

pub(super) async fn pause(call: Arc<ScreenCall>) -> Result<String, ApiError> {
    call.call(v1::PauseScheduleRequest { schedule_id: call.param("schedule_id") }).await?;
    Ok(own_page(&call))
}

pub(super) async fn resume(call: Arc<ScreenCall>) -> Result<String, ApiError> {
    call.call(v1::ResumeScheduleRequest { schedule_id: call.param("schedule_id") }).await?;
    Ok(own_page(&call))
}

pub(super) async fn run_now(call: Arc<ScreenCall>) -> Result<String, ApiError> {
    call.call(v1::RunScheduleNowRequest { schedule_id: call.param("schedule_id") }).await?;
    Ok(own_page(&call))
}

pub(super) async fn remove(call: Arc<ScreenCall>) -> Result<String, ApiError> {
    call.call(v1::RemoveScheduleRequest { schedule_id: call.param("schedule_id") }).await?;
    Ok(SCHEDULES_PATH.to_owned())
}

/// Pauses all schedules of the person: the operation takes no id for that.
pub(super) async fn pause_all(call: Arc<ScreenCall>) -> Result<String, ApiError> {
    call.call(v1::PauseScheduleRequest::default()).await?;
    Ok(SCHEDULES_PATH.to_owned())
}

pub(super) async fn resume_all(call: Arc<ScreenCall>) -> Result<String, ApiError> {
    call.call(v1::ResumeScheduleRequest::default()).await?;
    Ok(SCHEDULES_PATH.to_owned())
}

fn own_page(call: &ScreenCall) -> String {
    format!("{SCHEDULES_PATH}/{}", call.param("schedule_id"))
}
