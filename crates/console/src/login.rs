//! The way in and out: a one-time link becomes a session, by a form, so that a preview of the link does not use it up.

use axum::extract::{RawPathParams, Request};
use axum::http::header::SET_COOKIE;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use maud::{DOCTYPE, html};
use palyra_api::ApiError;
use palyra_http::TransportSecurity;

use crate::forms::{check_sender, read_form};
use crate::page::bare_page;
use crate::page_parts::refusal_body;
use crate::page_response::{html_response, refusal_status, see_other};
use crate::paths::{HOME_PATH, SIGN_OUT_PATH};
use crate::screen_call::{ConsoleServices, ScreenCall};

/// The longest life of a session, for the browser's copy of the cookie; the daemon ends it as well.
const COOKIE_SECONDS: u32 = 7 * 24 * 3_600;

/// Returns a page that loads itself again where a page of another site led to it: the browser then sends the cookie, which is
/// for requests of our own pages only.
pub(crate) fn reload_page(request: &Request) -> Option<Response> {
    let site = request.headers().get("sec-fetch-site").and_then(|site| site.to_str().ok())?;
    if !matches!(site, "cross-site" | "same-site") {
        return None;
    }
    let to = request.uri().path_and_query().map_or(HOME_PATH, |path| path.as_str());
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="refresh" content={ "0;url=" (to) };
                title { "Palyra" }
            }
            body { p { a href=(to) { "Go on to Palyra" } } }
        }
    };
    Some(html_response(StatusCode::OK, page))
}

/// Answers a request without a session for a page that needs one.
pub(crate) fn sign_in_needed() -> Response {
    let body = html! {
        p { "You are not signed in, or the session ended: after 12 hours without use, after 7 days, or with a restart." }
        p { "Run " code { "palyra console" } " in a terminal of this machine. It opens a new session. Without a terminal here, ask the owner for another link." }
    };
    html_response(StatusCode::UNAUTHORIZED, bare_page("Sign in", &body))
}

/// Answers with the form that uses a link.
pub(crate) async fn show_link(request: Request) -> Response {
    if let Some(reload) = reload_page(&request) {
        return reload;
    }
    let path = request.uri().path();
    let body = html! {
        p { "This link opens a session of Palyra's console in this browser. It works once." }
        form method="post" action=(path) {
            button.primary type="submit" autofocus { "Open the console" }
        }
    };
    html_response(StatusCode::OK, bare_page("Sign in", &body))
}

/// Uses a link.
pub(crate) async fn use_link(
    services: &ConsoleServices,
    params: &RawPathParams,
    headers: &HeaderMap,
) -> Response {
    if let Err(refusal) = check_sender(headers) {
        return bare_refusal(&refusal);
    }
    let code = params.iter().next().map(|(_, code)| code).unwrap_or_default();
    let redeemed = match services.state.admin.access.redeem_page_link(code).await {
        Ok(redeemed) => redeemed,
        Err(error) => return bare_refusal(&error.into()),
    };
    let Some(cookie) = redeemed else {
        let body = html! {
            p { "This link was used before, or its time is over. A session that it opened has ended now." }
            p { "Run " code { "palyra console" } " again, or ask who invited you for another link." }
        };
        return html_response(StatusCode::UNAUTHORIZED, bare_page("This link does not work", &body));
    };
    let mut response = see_other(HOME_PATH);
    set_cookie(response.headers_mut(), services, cookie.expose(), COOKIE_SECONDS);
    response
}

/// Ends the session.
pub(crate) async fn sign_out(call: ScreenCall, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    if let Err(refusal) = read_form(&parts.headers, body, call.session.cookie.expose(), SIGN_OUT_PATH).await {
        return bare_refusal(&refusal);
    }
    call.services.state.admin.access.end_page_session(call.session.cookie.expose());
    let body = html! { p { "The session is over. " code { "palyra console" } " opens a new one." } };
    let mut response = html_response(StatusCode::OK, bare_page("Signed out", &body));
    set_cookie(response.headers_mut(), &call.services, "", 0);
    response
}

fn bare_refusal(refusal: &ApiError) -> Response {
    html_response(refusal_status(refusal), bare_page("This did not work", &refusal_body(refusal)))
}

fn set_cookie(headers: &mut HeaderMap, services: &ConsoleServices, value: &str, seconds: u32) {
    let secure = match services.security {
        TransportSecurity::Tls => "; Secure",
        TransportSecurity::Clear => "",
    };
    let name = services.cookie_name();
    let cookie = format!("{name}={value}; HttpOnly; SameSite=Strict; Path=/; Max-Age={seconds}{secure}");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        headers.insert(SET_COOKIE, cookie);
    }
}
