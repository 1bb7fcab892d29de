//! A new conversation.

use std::sync::Arc;

use futures::FutureExt;
use maud::{Markup, html};
use palyra_api::ApiError;
use palyra_screen_text::clean_text;
use palyra_wire::v1;

use super::{NavigationRow, ScreenSpec};
use crate::paths::{FIRST_STEPS_PATH, PREVIEW_SUFFIX, START_PATH};
use crate::screen_call::ScreenCall;
use crate::wording::{line, line_or};

pub(super) const SCREEN: ScreenSpec = ScreenSpec {
    path: "/console/chat",
    title: "Chat",
    navigation: Some(NavigationRow::First),
    operation: "ListSessions",
    render: |call| render(call).boxed(),
    #[cfg(test)]
    fixture,
    #[cfg(test)]
    empty: None,
};

async fn render(call: Arc<ScreenCall>) -> Result<Markup, ApiError> {
    let request = v1::ListSessionsRequest { page_size: 5, ..Default::default() };
    let recent = call.call(request).await?.sessions;
    let token = call.form_token(START_PATH);
    let key = call.form_key();
    let folder = call.folder();
    let form = InputForm {
        path: START_PATH,
        token: &token,
        key: &key,
        draft: "new",
        is_busy: false,
        folder: folder.as_deref(),
        without_folder: false,
        text: "",
    };
    Ok(view(&recent, &form))
}

fn view(recent: &[v1::Session], form: &InputForm<'_>) -> Markup {
    html! {
        (input_form(form))
        p { a href=(FIRST_STEPS_PATH) { "Not sure what to ask? First steps" } }
        @if !recent.is_empty() {
            h2 { "Go on with" }
            ul.rows {
                @for session in recent {
                    @let title = if session.label.is_empty() { &session.first_input } else { &session.label };
                    li { a href={ "/console/sessions/" (session.session_id) } { (line_or(title, "Without words")) } }
                }
            }
        }
    }
}

/// A form for what a person says.
pub(crate) struct InputForm<'a> {
    pub(crate) path: &'a str,
    pub(crate) token: &'a str,
    /// Makes a repeated form harmless.
    pub(crate) key: &'a str,
    /// The name under which a browser keeps a message that was not sent yet.
    pub(crate) draft: &'a str,
    /// Whether a run of the conversation is at work.
    pub(crate) is_busy: bool,
    /// The folder of the browser's session, which a new conversation may work in.
    pub(crate) folder: Option<&'a str>,
    /// Whether the other choice was made before.
    pub(crate) without_folder: bool,
    /// What was typed.
    pub(crate) text: &'a str,
}

/// Returns the form.
pub(crate) fn input_form(form: &InputForm<'_>) -> Markup {
    html! {
        form method="post" action=(form.path) {
            input type="hidden" name="token" value=(form.token);
            input type="hidden" name="key" value=(form.key);
            label for="input" { "Your message" }
            textarea id="input" name="input" rows="3" required data-draft=(form.draft) {
                @if !form.text.is_empty() { "\n" (clean_text(form.text)) }
            }
            @if let Some(folder) = form.folder {
                label for="folder" { "Where it works" }
                select id="folder" name="folder" {
                    option value=(folder) { (line(folder)) }
                    option value="" selected[form.without_folder] { "in a folder of the agent, or one of its own" }
                }
            }
            @if form.is_busy {
                label for="delivery" { "While it works" }
                select id="delivery" name="delivery" data-remember="delivery" {
                    option value="queue" { "queue: answer this afterwards" }
                    option value="steer" { "add: the run reads this next" }
                    option value="interrupt" { "interrupt: stop the run and do this" }
                }
            }
            div.actions {
                button.primary type="submit" { "Send" }
                button type="submit" formaction={ (form.path) (PREVIEW_SUFFIX) } { "What its references cost" }
            }
        }
    }
}

#[cfg(test)]
fn fixture(text: &str) -> Markup {
    let session = v1::Session { label: text.to_owned(), ..Default::default() };
    let form = InputForm {
        path: START_PATH,
        token: "token",
        key: "key",
        draft: "new",
        is_busy: false,
        folder: Some("/work/shop"),
        without_folder: false,
        text,
    };
    view(&[session], &form)
}
