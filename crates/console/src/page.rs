//! The frame of every page, and the headers that it is sent with.

use axum::body::Body;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION, REFERRER_POLICY};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use maud::{DOCTYPE, Markup, html};
use palyra_api::ApiError;

use crate::assets::{SCRIPT_PATH, STYLE_PATH};
use crate::paths::SIGN_OUT_PATH;
use crate::screen_call::SignedIn;
use crate::screens::{NavigationRow, SCREENS};
use crate::wording::line;

/// The policy of a page: our own style sheet and script, our own forms and streams, nothing else.
pub(crate) const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
     img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; \
     require-trusted-types-for 'script'; trusted-types palyra-rows";

/// Returns a page with its navigation.
pub(crate) fn page(title: &str, path: &str, person: &SignedIn, body: &Markup) -> Markup {
    let top = html! {
        header.top {
            nav aria-label="Screens" { (links(NavigationRow::First, path)) }
            form method="post" action=(SIGN_OUT_PATH) {
                input type="hidden" name="token" value=(person.sign_out_token);
                span.muted { (line(&person.name)) }
                button type="submit" { "Sign out" }
            }
            nav.more aria-labelledby="more" {
                span.muted id="more" { "More" }
                (links(NavigationRow::More, path))
            }
        }
    };
    document(title, &top, body)
}

/// Returns the links of a row of the navigation.
fn links(row: NavigationRow, path: &str) -> Markup {
    html! {
        @for screen in SCREENS.iter().filter(|screen| screen.navigation == Some(row)) {
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

/// Returns the status of a refusal.
pub(crate) fn refusal_status(refusal: &ApiError) -> StatusCode {
    StatusCode::from_u16(refusal.code().class().http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// Returns a page as a response.
pub(crate) fn html_response(status: StatusCode, page: Markup) -> Response {
    let mut response = Response::new(Body::from(page.into_string()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(PAGE_POLICY));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    response
}

/// Returns the way to a page after a form was taken.
pub(crate) fn see_other(path: &str) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    if let Ok(path) = HeaderValue::from_str(path) {
        response.headers_mut().insert(LOCATION, path);
    }
    response
}
