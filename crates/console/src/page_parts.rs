//! Parts that several screens have.

use maud::{Markup, html};
use palyra_api::ApiError;
use palyra_types::ErrorClass;

/// Returns a table that scrolls by itself where the page is narrow.
pub(crate) fn wide_table(name: &str, headings: &[&str], rows: &Markup) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(name) {
            table {
                thead { tr { @for heading in headings { th scope="col" { (heading) } } } }
                tbody { (rows) }
            }
        }
    }
}

/// Whether a text has to be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FieldPresence {
    /// It may be empty.
    Optional,
    /// A form without it is not sent.
    Required,
}

/// A field for a line of text, with what it is.
pub(crate) struct TextField<'a> {
    pub(crate) name: &'static str,
    pub(crate) label: &'static str,
    pub(crate) value: &'a str,
    pub(crate) help: &'static str,
    pub(crate) presence: FieldPresence,
}

/// Returns a field for a line of text, with its label and its help.
pub(crate) fn text_field(field: &TextField<'_>) -> Markup {
    let help = format!("{}-help", field.name);
    let is_required = field.presence == FieldPresence::Required;
    html! {
        label for=(field.name) { (field.label) }
        input id=(field.name) name=(field.name) type="text" autocomplete="off" spellcheck="false" required[is_required]
            value=(palyra_screen_text::clean_text(field.value)) aria-describedby=(help);
        p.muted id=(help) { (field.help) }
    }
}

/// Returns what a screen shows in the place of what was refused: what, why, and what to do.
pub(crate) fn refusal_body(refusal: &ApiError) -> Markup {
    let code = refusal.code();
    let forbidden = code.class() == ErrorClass::PermissionDenied;
    html! {
        div.notice.danger role="alert" {
            p {
                strong { @if forbidden { "You may not see or do this. " } @else { "This did not work. " } }
                (palyra_screen_text::clean_text(refusal.text()))
            }
            p { (code.mend()) }
            p.muted { "Code " code { (code.to_string()) } ", explained by " code { "palyra explain " (code.to_string()) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_field_that_has_to_be_there_is_required() {
        for (presence, expect) in [(FieldPresence::Optional, false), (FieldPresence::Required, true)] {
            let field = TextField { name: "name", label: "Name", value: "<b>", help: "Yours.", presence };
            let shown = text_field(&field).into_string();
            assert_eq!(shown.contains(" required"), expect, "{shown}");
            assert!(shown.contains("aria-describedby=\"name-help\"") && !shown.contains("<b>"), "{shown}");
        }
    }
}
