//! The models that runs can use, and the servers that they come from.

use std::sync::Arc;

use futures::FutureExt;
use maud::{Markup, html};
use palyra_api::ApiError;
use palyra_screen_text::clean_text;
use palyra_wire::v1;

use super::{NavigationRow, ScreenSpec};
use crate::page_parts::wide_table;
use crate::screen_call::ScreenCall;
use crate::wording::{StateMark, command, line};

const EMPTY: &str = "No model is configured.";
/// The value of `ask` with which the servers are asked.
const ASKED: &str = "servers";

pub(super) const SCREEN: ScreenSpec = ScreenSpec {
    path: "/console/models",
    title: "Models",
    navigation: Some(NavigationRow::More),
    operation: "ListModels",
    render: |call| render(call).boxed(),
    #[cfg(test)]
    fixture,
    #[cfg(test)]
    empty: Some(super::EmptyView {
        view: || view(&v1::ListModelsResponse::default(), ListSource::Configuration),
        sentence: EMPTY,
    }),
};

/// Where a list of models comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ListSource {
    Configuration,
    Servers,
}

async fn render(call: Arc<ScreenCall>) -> Result<Markup, ApiError> {
    let source = if call.query("ask") == ASKED { ListSource::Servers } else { ListSource::Configuration };
    let request = v1::ListModelsRequest { ask_providers: source == ListSource::Servers };
    Ok(view(&call.call(request).await?, source))
}

fn view(list: &v1::ListModelsResponse, source: ListSource) -> Markup {
    html! {
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
        h2 { "Change them" }
        (command("Add a server or a key", "palyra model add"))
        (command("Choose the default", "palyra model use PROVIDER/MODEL"))
        (command("Test a model with a real request", "palyra model test PROVIDER/MODEL"))
    }
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
    html! { (view(&list, ListSource::Configuration)) (view(&list, ListSource::Servers)) }
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
        let shown = view(&list, ListSource::Configuration).into_string();
        assert_eq!(shown.matches("class=\"positive\"").count(), 1, "{shown}");
        assert!(shown.contains("8192 tokens") && shown.contains("not known"), "{shown}");
    }
}
