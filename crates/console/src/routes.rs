//! The routes below `/console`: one for each screen, form and stream. Begin at [`console_routes`].

use std::sync::Arc;

use axum::Router;
use axum::extract::{RawPathParams, Request};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{MethodRouter, get, post};
use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_api::{ApiError, CONSOLE_LOGIN_PATH, DaemonFacts, OperationHandlers};
use palyra_http::{
    HttpIdentity, MountedCallers, MountedRoutes, PublicOrigin, page_cookie, query_pairs, refusal_response,
};
use palyra_ports::Clock;
use palyra_runtime::GatewayRuntimeState;
use palyra_types::ErrorCode;
use tokio_util::sync::CancellationToken;

use crate::actions::{ACTIONS, FormPreview, PREVIEWS, RefusedForm};
use crate::forms::{FORM_BYTES_MAX, FormFields, read_form};
use crate::live_streams;
use crate::page::{bare_page, page};
use crate::page_parts::refusal_body;
use crate::page_response::{html_response, refusal_status, see_other};
use crate::paths::{
    ASKED_PATH, ATTENTION_PATH, CONSISTENCY_PATH, ENTRY_PROOF_PATH, HOME_PATH, PREVIEW_SUFFIX,
    RUN_EVENTS_PATH, RUN_EXPORT_PATH, SIGN_OUT_PATH, USAGE_EXPORT_PATH,
};
use crate::proof_data::{consistency, entry};
use crate::run_export::run_export;
use crate::screen_call::{ConsoleServices, PageSession, ScreenCall, ScreenTarget, SignedIn};
use crate::screens::{SCREENS, ScreenSpec, asked_fragment};
use crate::usage_export::usage_export;
use crate::{actions::ConsoleAction, assets, login};

/// Returns the routes of the console, for the HTTP server to mount.
#[must_use]
pub fn console_routes(
    state: GatewayRuntimeState,
    daemon: DaemonFacts,
    origin: &PublicOrigin,
    clock: Arc<dyn Clock>,
    stop: CancellationToken,
) -> MountedRoutes {
    let operations = OperationHandlers::new(state.clone(), daemon, stop.clone());
    let services = Arc::new(ConsoleServices::new(state, operations, origin.security(), clock, stop));
    MountedRoutes {
        prefix: HOME_PATH,
        callers: MountedCallers::Pages,
        router: router(&services),
        body_bytes_max: FORM_BYTES_MAX,
        refuse: bare_refusal,
    }
}

fn router(services: &Arc<ConsoleServices>) -> Router {
    let mut router = Router::new();
    for screen in SCREENS {
        router = router.route(screen.path, screen_route(Arc::clone(services), screen));
    }
    for action in ACTIONS {
        router = router.route(action.path, action_route(Arc::clone(services), action));
    }
    for preview in PREVIEWS {
        let path = format!("{}{PREVIEW_SUFFIX}", preview.form_path);
        router = router.route(&path, preview_route(Arc::clone(services), preview));
    }
    router
        .route(RUN_EVENTS_PATH, run_events_route(Arc::clone(services)))
        .route(ATTENTION_PATH, attention_route(Arc::clone(services)))
        .route(ASKED_PATH, part_route(Arc::clone(services), |call| asked_fragment(call).boxed()))
        .route(RUN_EXPORT_PATH, part_route(Arc::clone(services), |call| run_export(call).boxed()))
        .route(USAGE_EXPORT_PATH, part_route(Arc::clone(services), |call| usage_export(call).boxed()))
        .route(CONSISTENCY_PATH, part_route(Arc::clone(services), |call| consistency(call).boxed()))
        .route(ENTRY_PROOF_PATH, part_route(Arc::clone(services), |call| entry(call).boxed()))
        .route(&format!("{CONSOLE_LOGIN_PATH}{{code}}"), link_route(Arc::clone(services)))
        .route(SIGN_OUT_PATH, sign_out_route(Arc::clone(services)))
        .route(assets::STYLE_PATH, get(assets::style))
        .route(assets::SCRIPT_PATH, get(assets::script))
        .route(assets::PROOFS_SCRIPT_PATH, get(assets::proofs_script))
        .route("/console/", get(async || see_other(HOME_PATH)))
        .fallback(no_page)
        .method_not_allowed_fallback(no_page)
}

fn screen_route(services: Arc<ConsoleServices>, screen: &'static ScreenSpec) -> MethodRouter {
    get(async move |params: RawPathParams, request: Request| {
        show_screen(services, screen, &params, request).await
    })
}

fn action_route(services: Arc<ConsoleServices>, action: &'static ConsoleAction) -> MethodRouter {
    post(async move |params: RawPathParams, request: Request| act(services, action, &params, request).await)
}

fn preview_route(services: Arc<ConsoleServices>, form: &'static FormPreview) -> MethodRouter {
    post(async move |params: RawPathParams, request: Request| preview(services, form, &params, request).await)
}

fn link_route(services: Arc<ConsoleServices>) -> MethodRouter {
    get(login::show_link).post(async move |params: RawPathParams, request: Request| {
        login::use_link(&services, &params, request.headers()).await
    })
}

fn sign_out_route(services: Arc<ConsoleServices>) -> MethodRouter {
    post(async move |params: RawPathParams, request: Request| match call_of(services, &params, &request) {
        Some(Ok(call)) => login::sign_out(call, request).await,
        Some(Err(refusal)) => bare_refusal(&refusal),
        None => login::sign_in_needed(),
    })
}

fn run_events_route(services: Arc<ConsoleServices>) -> MethodRouter {
    get(async move |params: RawPathParams, request: Request| {
        let opened = match call_of(services, &params, &request) {
            Some(Ok(call)) => live_streams::run_events(call, request.headers()).await,
            Some(Err(refusal)) => Err(refusal),
            None => Err(ApiError::unauthenticated()),
        };
        opened.unwrap_or_else(|refusal| refusal_response(&refusal))
    })
}

fn attention_route(services: Arc<ConsoleServices>) -> MethodRouter {
    get(async move |params: RawPathParams, request: Request| {
        let opened = match call_of(services, &params, &request) {
            Some(Ok(call)) => live_streams::attention_events(call).await,
            Some(Err(refusal)) => Err(refusal),
            None => Err(ApiError::unauthenticated()),
        };
        opened.unwrap_or_else(|refusal| refusal_response(&refusal))
    })
}

/// A part of a page, or data for it.
type AnswerPart = fn(&ScreenCall) -> BoxFuture<'_, Result<Response, ApiError>>;

fn part_route(services: Arc<ConsoleServices>, answer: AnswerPart) -> MethodRouter {
    get(async move |params: RawPathParams, request: Request| {
        let answered = match call_of(services, &params, &request) {
            Some(Ok(call)) => answer(&call).await,
            Some(Err(refusal)) => Err(refusal),
            None => Err(ApiError::unauthenticated()),
        };
        answered.unwrap_or_else(|refusal| refusal_response(&refusal))
    })
}

/// Reads a request; `None` without a session.
fn call_of(
    services: Arc<ConsoleServices>,
    params: &RawPathParams,
    request: &Request,
) -> Option<Result<ScreenCall, ApiError>> {
    let identity = request.extensions().get::<HttpIdentity>()?.clone();
    let cookie = page_cookie(request.headers(), services.security)?.to_owned().into();
    let session = PageSession { identity, cookie };
    let params = params.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let query = query_pairs(request.uri().query().unwrap_or_default());
    let path = request.uri().path().to_owned();
    Some(match query {
        Ok(query) => Ok(ScreenCall { services, session, target: ScreenTarget { path, params, query } }),
        Err(fault) => Err(ApiError::invalid_argument(&fault.to_string())),
    })
}

async fn show_screen(
    services: Arc<ConsoleServices>,
    screen: &'static ScreenSpec,
    params: &RawPathParams,
    request: Request,
) -> Response {
    if let Some(reload) = login::reload_page(&request) {
        return reload;
    }
    let call = match call_of(services, params, &request) {
        Some(Ok(call)) => Arc::new(call),
        Some(Err(refusal)) => return bare_refusal(&refusal),
        None => return login::sign_in_needed(),
    };
    match (screen.render)(Arc::clone(&call)).await {
        Ok(body) => html_response(StatusCode::OK, page(screen.title, screen.path, &signed_in(&call), &body)),
        Err(refusal) => refused_page(screen.title, screen.path, &call, &refusal),
    }
}

async fn act(
    services: Arc<ConsoleServices>,
    action: &'static ConsoleAction,
    params: &RawPathParams,
    request: Request,
) -> Response {
    let call = match call_of(services, params, &request) {
        Some(Ok(call)) => Arc::new(call),
        Some(Err(refusal)) => return bare_refusal(&refusal),
        None => return login::sign_in_needed(),
    };
    let (parts, body) = request.into_parts();
    let fields = read_form(&parts.headers, body, call.session.cookie.expose(), &call.target.path).await;
    let fields = match fields {
        Ok(fields) => fields,
        Err(refusal) => return refused_page(action.title, "", &call, &refusal),
    };
    match (action.perform)(Arc::clone(&call), fields.clone()).await {
        Ok(next) => see_other(&next),
        Err(refusal) => {
            RefusedPage { title: action.title, refused: action.refused }.response(&call, &fields, &refusal)
        }
    }
}

/// Answers a form with the page between it and its sending. The token of the form is the one for its sending.
async fn preview(
    services: Arc<ConsoleServices>,
    form: &'static FormPreview,
    params: &RawPathParams,
    request: Request,
) -> Response {
    let call = match call_of(services, params, &request) {
        Some(Ok(call)) => call,
        Some(Err(refusal)) => return bare_refusal(&refusal),
        None => return login::sign_in_needed(),
    };
    let path = call.target.path.strip_suffix(PREVIEW_SUFFIX).unwrap_or_default().to_owned();
    let (parts, body) = request.into_parts();
    let fields = match read_form(&parts.headers, body, call.session.cookie.expose(), &path).await {
        Ok(fields) => fields,
        Err(refusal) => return refused_page(form.title, "", &call, &refusal),
    };
    match (form.render)(&call, &fields, &path).await {
        Ok(body) => html_response(StatusCode::OK, page(form.title, "", &signed_in(&call), &body)),
        Err(refusal) => {
            RefusedPage { title: form.title, refused: form.refused }.response(&call, &fields, &refusal)
        }
    }
}

fn signed_in(call: &ScreenCall) -> SignedIn {
    let rows = SCREENS.iter().filter(|screen| screen.navigation.is_some());
    call.signed_in(rows.map(|screen| screen.operation))
}

/// The page of a form that was refused.
struct RefusedPage {
    title: &'static str,
    refused: RefusedForm,
}

impl RefusedPage {
    fn response(&self, call: &ScreenCall, fields: &FormFields, refusal: &ApiError) -> Response {
        match self.refused {
            RefusedForm::Reason => refused_page(self.title, "", call, refusal),
            RefusedForm::Again(render) => {
                let body = render(call, fields, refusal);
                html_response(refusal_status(refusal), page(self.title, "", &signed_in(call), &body))
            }
        }
    }
}

fn refused_page(title: &str, path: &str, call: &ScreenCall, refusal: &ApiError) -> Response {
    let body = refusal_body(refusal);
    html_response(refusal_status(refusal), page(title, path, &signed_in(call), &body))
}

fn bare_refusal(refusal: &ApiError) -> Response {
    html_response(refusal_status(refusal), bare_page("This did not work", &refusal_body(refusal)))
}

async fn no_page() -> Response {
    bare_refusal(&ApiError::new(ErrorCode::RouteNotFound, "there is no such page of the console".to_owned()))
}
