//! The form that decides about something that was learned.

use std::sync::Arc;

use palyra_api::ApiError;
use palyra_wire::v1;

use crate::forms::FormFields;
use crate::paths::LEARNING_PATH;
use crate::screen_call::ScreenCall;

/// Decides; returns the page that says so, with what waits next.
pub(super) async fn review(call: Arc<ScreenCall>, fields: FormFields) -> Result<String, ApiError> {
    let candidate_id = call.param("candidate_id");
    let review = v1::LearningReview::from_short_name(&fields.text("review"))
        .ok_or_else(|| ApiError::invalid_argument("`review` is accept, reject, edit or undo"))?;
    let text = if review == v1::LearningReview::Edit { fields.text("text") } else { String::new() };
    let request = v1::ReviewLearningCandidateRequest { candidate_id, review: review.into(), text };
    let decided = call.call(request).await?.candidate.unwrap_or_default();
    Ok(format!("{LEARNING_PATH}?decided={}", decided.candidate_id))
}
