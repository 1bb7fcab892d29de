//! The form that adds a server of models: the server is asked first, and a refusal shows the form again.

use std::sync::Arc;

use maud::{Markup, html};
use palyra_api::ApiError;
use palyra_types::ErrorCode;
use palyra_wire::v1;

use crate::forms::FormFields;
use crate::page_parts::refusal_body;
use crate::paths::{ADD_MODEL_PATH, MODELS_PATH};
use crate::screen_call::ScreenCall;
use crate::screens::{AddModelForm, add_model_request};

/// Adds the server; returns the page that says so.
pub(super) async fn add_model(call: Arc<ScreenCall>, fields: FormFields) -> Result<String, ApiError> {
    let request = add_model_request(&fields).map_err(|why| ApiError::invalid_argument(&why))?;
    let server = request.name.trim().to_owned();
    let answer = call.call_confirmed(request, &fields.text("confirmation")).await?;
    if !answer.saved {
        return Err(not_answered(&answer.test.unwrap_or_default()));
    }
    if !answer.mistakes.is_empty() {
        let why = answer.mistakes.join("; ");
        let text = format!("{} was saved, and the daemon does not use it yet: {why}", answer.config_file);
        return Err(ApiError::new(ErrorCode::ConfigInvalid, text));
    }
    // Its characters were checked: it needs no encoding.
    Ok(format!("{MODELS_PATH}?added={server}"))
}

/// Says what the server said.
fn not_answered(test: &v1::TestModelResponse) -> ApiError {
    let known = ErrorCode::ALL.iter().find(|code| code.to_string() == test.error_code);
    let code = known.copied().unwrap_or(ErrorCode::ModelPermanent);
    let text = format!("{} did not answer the test, so nothing was saved: {}", test.model, test.text);
    ApiError::new(code, text)
}

/// Returns the refusal above the form, with what was typed.
pub(super) fn again(call: &ScreenCall, fields: &FormFields, refusal: &ApiError) -> Markup {
    let form = AddModelForm::filled(call.form_token(ADD_MODEL_PATH), fields);
    html! {
        (refusal_body(refusal))
        (form.markup())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_test_has_the_code_and_the_words_of_the_server() {
        let test = |error_code: &str| v1::TestModelResponse {
            model: "box/m".to_owned(),
            text: "no such key".to_owned(),
            error_code: error_code.to_owned(),
            ..Default::default()
        };
        let refusal = not_answered(&test("PLY-3001"));
        assert_eq!(refusal.code(), ErrorCode::ModelAuth);
        assert_eq!(refusal.text(), "box/m did not answer the test, so nothing was saved: no such key");
        assert_eq!(not_answered(&test("")).code(), ErrorCode::ModelPermanent);
    }
}
