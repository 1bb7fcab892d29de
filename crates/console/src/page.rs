//! The frame of every page.

use maud::{DOCTYPE, Markup, html};

use crate::assets::{SCRIPT_PATH, STYLE_PATH};
use crate::paths::SIGN_OUT_PATH;
use crate::screen_call::SignedIn;
use crate::screens::{NavigationRow, SCREENS, ScreenSpec};
use crate::wording::line;

/// Returns a page with its navigation.
pub(crate) fn page(title: &str, path: &str, person: &SignedIn, body: &Markup) -> Markup {
    let top = html! {
        header.top {
            nav aria-label="Screens" { (links(NavigationRow::First, path, person)) }
            form method="post" action=(SIGN_OUT_PATH) {
                input type="hidden" name="token" value=(person.sign_out_token);
                span.muted { (line(&person.name)) }
                button type="submit" { "Sign out" }
            }
            nav.more aria-labelledby="more" {
                span.muted id="more" { "More" }
                (links(NavigationRow::More, path, person))
            }
        }
    };
    document(title, &top, body)
}

/// Returns the links of a row of the navigation, to what the person's role has.
fn links(row: NavigationRow, path: &str, person: &SignedIn) -> Markup {
    let has = |screen: &&ScreenSpec| !person.refused.contains(&screen.operation);
    html! {
        @for screen in SCREENS.iter().filter(|screen| screen.navigation == Some(row)).filter(has) {
            a href=(screen.path) aria-current=[(screen.path == path).then_some("page")] { (screen.title) }
        }
    }
}

/// Returns a page without navigation: for those who are not signed in.
pub(crate) fn bare_page(title: &str, body: &Markup) -> Markup {
    document(title, &html! {}, body)
}

fn document(title: &str, top: &Markup, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) " - Palyra" }
                link rel="icon" href="data:,";
                link rel="stylesheet" href=(STYLE_PATH);
                script type="module" src=(SCRIPT_PATH) {}
            }
            body {
                a.skip href="#main" { "Skip to the content" }
                (top)
                div.bar id="bar" role="status" hidden {}
                main id="main" tabindex="-1" {
                    h1 { (title) }
                    (body)
                }
                button.pill id="pill" type="button" hidden {}
            }
        }
    }
}
