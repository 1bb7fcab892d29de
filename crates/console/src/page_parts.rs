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
