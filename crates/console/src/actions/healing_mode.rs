//! The form that sets what self-healing does in a domain; a refusal shows the form again.

use std::sync::Arc;

use maud::{Markup, html};
use palyra_api::ApiError;

use crate::forms::FormFields;
use crate::page_parts::refusal_body;
use crate::paths::{HEALING_MODE_PATH, INCIDENTS_PATH};
use crate::screen_call::ScreenCall;
use crate::screens::{HealingModeForm, mode_request};

/// Sets the mode, which an owner confirms with a code.
pub(super) async fn set(call: Arc<ScreenCall>, fields: FormFields) -> Result<String, ApiError> {
    call.call_confirmed(mode_request(&fields)?, fields.text("confirmation").trim()).await?;
    Ok(INCIDENTS_PATH.to_owned())
}

/// Returns the refusal above the form, with what was chosen.
pub(super) fn again(call: &ScreenCall, fields: &FormFields, refusal: &ApiError) -> Markup {
    html! {
        (refusal_body(refusal))
        (HealingModeForm::filled(call.form_token(HEALING_MODE_PATH), fields).markup())
    }
}
