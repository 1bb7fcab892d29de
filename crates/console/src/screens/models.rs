//! The models that runs can use, the servers that they come from, and the form that adds one.

mod add_form;

use std::sync::Arc;

use futures::FutureExt;
use maud::{Markup, html};
use palyra_api::ApiError;
use palyra_screen_text::clean_text;
use palyra_types::access::AccessScope;
use palyra_wire::v1;

pub(crate) use add_form::{AddModelForm, request as add_model_request};

use super::{NavigationRow, ScreenSpec};
use crate::forms::FormFields;
use crate::page_parts::wide_table;
use crate::paths::{ADD_MODEL_PATH, MODELS_PATH};
use crate::screen_call::ScreenCall;
use crate::wording::{StateMark, command, line};

const EMPTY: &str = "No model is configured.";
/// The value of `ask` with which the servers are asked.
const ASKED: &str = "servers";

pub(super) const SCREEN: ScreenSpec = ScreenSpec {
    path: MODELS_PATH,
    title: "Models",
    navigation: Some(NavigationRow::More),
    operation: "ListModels",
    render: |call| render(call).boxed(),
    #[cfg(test)]
    fixture,
    #[cfg(test)]
    empty: Some(super::EmptyView {
        view: || view(&v1::ListModelsResponse::default(), ListSource::Configuration, &ChangeView::OTHERS),
        sentence: EMPTY,
    }),
};

/// Where a list of models comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ListSource {
    Configuration,
    Servers,
}

/// What the page says of changes.
struct ChangeView {
    /// The server that was added just now.
    added: String,
    /// The form; `None` for others than owners.
    form: Option<AddModelForm>,
}

impl ChangeView {
    #[cfg(test)]
    const OTHERS: Self = Self { added: String::new(), form: None };

    fn of(call: &ScreenCall) -> Self {
        let form = call
            .has_scope(AccessScope::Admin)
            .then(|| AddModelForm::filled(call.form_token(ADD_MODEL_PATH), &FormFields::default()));
        Self { added: call.query("added"), form }
    }
}

async fn render(call: Arc<ScreenCall>) -> Result<Markup, ApiError> {
    let source = if call.query("ask") == ASKED { ListSource::Servers } else { ListSource::Configuration };
    let request = v1::ListModelsRequest { ask_providers: source == ListSource::Servers };
    Ok(view(&call.call(request).await?, source, &ChangeView::of(&call)))
}

fn view(list: &v1::ListModelsResponse, source: ListSource, changes: &ChangeView) -> Markup {
    html! {
        @if is_listed(list, &changes.added) {
            div.notice role="status" {
                p {
                    "The server " strong { (line(&changes.added)) } " answered and was added. The default model is "
                    strong { (line(&list.default_model)) } "."
                }
            }
        }
        p { "Runs use " strong { (line(&list.default_model)) } ", unless their agent or the person names another model." }
        @match source {
            ListSource::Configuration => {
                p { "This list is made from the configuration. " a href={ "/console/models?ask=" (ASKED) } { "Ask the servers which models they have" } }
            }
            ListSource::Servers => {
                p { "The servers answered this list. " a href="/console/models" { "List only what is configured" } }
            }
        }
        @if list.models.is_empty() { p { (EMPTY) } }
        @else { (table(list)) }
        @if !list.suggestions.is_empty() {
            h2 { "Found on this machine" }
            ul.rows { @for suggestion in &list.suggestions { li { (clean_text(suggestion)) } } }
        }
        @if let Some(form) = &changes.form { (form.markup()) }
        h2 { "Change them in a terminal" }
        (command("Add a server or a key", "palyra model add"))
        (command("Choose the default", "palyra model use PROVIDER/MODEL"))
        (command("Test a model with a real request", "palyra model test PROVIDER/MODEL"))
    }
}

/// Returns whether a server is in the list: the address of a page alone proves nothing.
fn is_listed(list: &v1::ListModelsResponse, server: &str) -> bool {
    let server_of = |model: &v1::Model| model.model.split('/').next() == Some(server);
    !server.is_empty() && list.models.iter().any(server_of)
}

fn table(list: &v1::ListModelsResponse) -> Markup {
    let rows = html! {
        @for model in &list.models { (row(model, &list.default_model)) }
    };
    wide_table("Models", &["Server", "Model", "Window", "Images", "Note"], &rows)
}

fn row(model: &v1::Model, default_model: &str) -> Markup {
    let (server, name) = model.model.split_once('/').unwrap_or((&model.model, ""));
    let is_default = model.model == default_model;
    html! {
        tr {
            td { code { (line(server)) } }
            td {
                @if name.is_empty() { span.muted { "not listed" } } @else { code { (line(name)) } }
                @if is_default { div { (StateMark::new("✓", "default", "positive").markup()) } }
            }
            td { (window(model)) }
            td { (images_mark(model).markup()) }
            td {
                @if !model.error.is_empty() { div.danger { "✕ no answer: " (line(&model.error)) } }
                (line(&model.note))
            }
        }
    }
}

fn window(model: &v1::Model) -> Markup {
    html! {
        @if model.context_tokens == 0 { span.muted { "not known" } }
        @else { (model.context_tokens) " tokens" }
    }
}

fn images_mark(model: &v1::Model) -> StateMark {
    if model.images {
        StateMark::new("✓", "sent", "positive")
    } else {
        StateMark::new("–", "not sent", "muted")
    }
}

#[cfg(test)]
fn fixture(text: &str) -> Markup {
    let named = v1::Model {
        model: format!("{text}/{text}"),
        note: text.to_owned(),
        error: text.to_owned(),
        ..Default::default()
    };
    let server = v1::Model { model: text.to_owned(), images: true, ..Default::default() };
    let list = v1::ListModelsResponse {
        default_model: named.model.clone(),
        models: vec![named, server],
        suggestions: vec![text.to_owned()],
    };
    let mut fields = String::new();
    for byte in text.bytes() {
        fields.push_str(&format!("%{byte:02x}"));
    }
    let fields =
        format!("name={fields}&base_url={fields}&model={fields}&context_tokens={fields}&key={fields}");
    let fields = FormFields::parse(&fields).expect("every byte is encoded");
    let form = Some(AddModelForm::filled("token".to_owned(), &fields));
    let changes = ChangeView { added: text.to_owned(), form };
    html! {
        (view(&list, ListSource::Configuration, &changes))
        (view(&list, ListSource::Servers, &ChangeView::OTHERS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_marked_and_an_unknown_window_is_not_a_number() {
        let model = |name: &str, context_tokens| v1::Model {
            model: name.to_owned(),
            context_tokens,
            ..Default::default()
        };
        let list = v1::ListModelsResponse {
            models: vec![model("local/small", 8_192), model("hosted", 0)],
            default_model: "local/small".to_owned(),
            ..Default::default()
        };
        let shown = view(&list, ListSource::Configuration, &ChangeView::OTHERS).into_string();
        assert_eq!(shown.matches("class=\"positive\"").count(), 1, "{shown}");
        assert!(shown.contains("8192 tokens") && shown.contains("not known"), "{shown}");
        assert!(!shown.contains("<form"), "the form is for owners: {shown}");
    }

    #[test]
    fn a_page_says_that_a_server_was_added_where_it_is_in_the_list() {
        let model = v1::Model { model: "box/m".to_owned(), ..Default::default() };
        let list = v1::ListModelsResponse {
            models: vec![model],
            default_model: "box/m".to_owned(),
            ..Default::default()
        };
        for (added, is_said) in [("box", true), ("other", false), ("", false)] {
            let changes = ChangeView { added: added.to_owned(), form: None };
            let shown = view(&list, ListSource::Configuration, &changes).into_string();
            assert_eq!(shown.contains("was added. The default model is"), is_said, "{added}");
        }
    }
}
