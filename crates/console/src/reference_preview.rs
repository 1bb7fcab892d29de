//! What the references of a message cost, before it is sent: the page between a form and its sending.
//!
//! Invariant: it records nothing, and the words of the message are text of the page. Begin at [`preview_page`].

use maud::{Markup, html};
use palyra_api::ApiError;
use palyra_screen_text::count;
use palyra_wire::v1;
use palyra_wire::v1::tape_entry::Event;

use crate::forms::FormFields;
use crate::page_parts::wide_table;
use crate::screen_call::ScreenCall;
use crate::screens::{InputForm, input_form};
use crate::wording::{line, spaced};

/// Returns the costs, above the form with what was typed; `form_path` is where that form is sent.
pub(crate) async fn preview_page(
    call: &ScreenCall,
    fields: &FormFields,
    form_path: &str,
) -> Result<Markup, ApiError> {
    let input = fields.text("input");
    let run_id = call.param("run_id");
    let mut start = v1::StartRunRequest { input: input.clone(), ..Default::default() };
    let mut draft = "new".to_owned();
    let mut is_busy = false;
    let is_first = run_id.is_empty();
    if is_first {
        start.workspace_root = fields.text("folder");
    } else {
        let request = v1::GetRunRequest { run_id: run_id.clone() };
        let run = call.call(request).await?.run.unwrap_or_default();
        is_busy = run.phase() == v1::RunPhase::Running || run.phase() == v1::RunPhase::Queued;
        draft = run.session_id;
        start.session = Some(v1::SessionSelector { session_id: draft.clone(), ..Default::default() });
        start.workspace_root = offered_root(call, run_id).await?;
    }
    let without_folder = start.workspace_root.is_empty();
    let preview = call.call(v1::PreviewContextReferencesRequest { start: Some(start) }).await?;
    let token = call.form_token(form_path);
    let key = call.form_key();
    let folder = call.folder();
    let form = InputForm {
        path: form_path,
        token: &token,
        key: &key,
        draft: &draft,
        is_busy,
        folder: folder.as_deref().filter(|_| is_first),
        without_folder,
        text: &input,
    };
    Ok(view(&preview, &form))
}

/// Returns the folder of a run where it is the one that the browser's session was opened in: only that one may be named.
async fn offered_root(call: &ScreenCall, run_id: String) -> Result<String, ApiError> {
    let read = call.call(v1::ReadTapeRequest { run_id, after_tape_seq: 0, limit: 1 }).await?;
    let root = match read.entries.into_iter().next().and_then(|entry| entry.event) {
        Some(Event::RunStarted(started)) => started.workspace_root,
        _ => String::new(),
    };
    Ok(if call.folder().as_ref() == Some(&root) { root } else { String::new() })
}

fn view(preview: &v1::PreviewContextReferencesResponse, form: &InputForm<'_>) -> Markup {
    let rows = html! {
        @for reference in &preview.references {
            tr {
                td { code { (line(&reference.written)) } }
                td { @if reference.tool.is_empty() { "none" } @else { code { (line(&reference.tool)) } } }
                td { (cost(reference)) }
            }
        }
    };
    html! {
        @if preview.references.is_empty() {
            p { "The message has no reference, such as " code { "@file:PATH" } " or " code { "@run:last" } "." }
        } @else {
            (wide_table("What the references cost", &["Reference", "Call", "Tokens"], &rows))
            p { "About " (count(preview.tokens_shown, "token")) " of them would be shown to the model, as far as that is known." }
        }
        @if preview.surplus > 0 { p.notice { (preview.surplus) " further references stay plain text: a message has 8 at most." } }
        p.muted { "Nothing was sent." }
        (input_form(form))
    }
}

/// Returns the cost of a reference in words.
fn cost(reference: &v1::PreviewedReference) -> String {
    if reference.error() != v1::ReferenceError::Unspecified {
        return format!("none: {}", spaced(reference.error().short_name()));
    }
    match (reference.same_as, reference.tokens_whole, reference.tokens_shown) {
        (Some(earlier), ..) => format!("the same as reference {earlier}"),
        (None, Some(whole), Some(shown)) if shown < whole => format!("{shown} of {whole}"),
        (None, Some(whole), _) => whole.to_string(),
        (None, None, _) => "known after the call".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hostile_text::{HOSTILE, assert_inert};

    #[test]
    fn words_of_the_message_are_text_and_each_reference_has_its_cost() {
        let row = v1::PreviewedReference::default;
        let references = vec![
            v1::PreviewedReference { written: HOSTILE.to_owned(), tool: HOSTILE.to_owned(), ..row() },
            v1::PreviewedReference { error: v1::ReferenceError::NotFound.into(), ..row() },
            v1::PreviewedReference { tokens_whole: Some(9), tokens_shown: Some(4), ..row() },
        ];
        let preview = v1::PreviewContextReferencesResponse { references, tokens_shown: 4, surplus: 2 };
        let form = InputForm {
            path: "/console/chat/start",
            token: "token",
            key: "key",
            draft: "new",
            is_busy: false,
            folder: None,
            without_folder: false,
            text: HOSTILE,
        };
        let shown = view(&preview, &form).into_string();
        assert_inert(&shown);
        for words in ["known after the call", "none: not found", "4 of 9", "About 4 tokens", "2 further"] {
            assert!(shown.contains(words), "{words}: {shown}");
        }
        assert!(shown.contains("formaction=\"/console/chat/start/preview\""), "{shown}");
    }
}
