//! Routes of another surface behind the same gate.

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use palyra_admin::access::{PAGE_LINK_SPAN, PageEntry};
use palyra_api::ApiError;
use palyra_http::{HttpIdentity, MountedCallers, MountedRoutes, RequestId, read_body};
use palyra_types::access::AccessScope;

use crate::daemon::{DaemonOptions, TestDaemon};
use crate::talk::Call;

async fn echo(request: Request) -> Response {
    let principal = request.extensions().get::<HttpIdentity>().unwrap().caller().actor.principal;
    let name = request.extensions().get::<RequestId>().unwrap().as_str().to_owned();
    match read_body(request.into_body()).await {
        Ok(body) => format!("{principal} {name} {}", body.len()).into_response(),
        Err(fault) => (StatusCode::IM_A_TEAPOT, fault.to_string()).into_response(),
    }
}

fn refuse(refusal: &ApiError) -> Response {
    (StatusCode::UNAUTHORIZED, format!("their words: {}", refusal.code())).into_response()
}

#[tokio::test]
async fn a_surface_brings_its_routes_its_limits_and_its_words() {
    let router = Router::new().route("/v1/echo", post(echo));
    let mounted = vec![MountedRoutes {
        prefix: "/v1/",
        callers: MountedCallers::Programs,
        router,
        body_bytes_max: 1_000,
        refuse,
    }];
    let daemon = TestDaemon::start_with(DaemonOptions { mounted, ..Default::default() }).await;
    let token = daemon.token("user:alice").await;
    let answer = Call::post("/v1/echo", &token, "x".repeat(1_000)).send(&daemon).await;
    let name = answer.header("x-request-id").unwrap();
    assert!(answer.status == 200 && answer.body.ends_with(&format!("{name} 1000")), "{answer:?}");
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    let unknown = Call { token: None, ..Call::post("/v1/echo", "", "x") }.send(&daemon).await;
    assert_eq!((unknown.status, unknown.body.as_str()), (401, "their words: PLY-1201"));
    let announced = Call::post("/v1/echo", &token, "x".repeat(1_001)).send(&daemon).await;
    assert_eq!(announced.body, "their words: PLY-1003");
    let chunks = format!("{:x}\r\n{}\r\n0\r\n\r\n", 1_001, "x".repeat(1_001));
    let chunked = Call { body: String::new(), ..Call::post("/v1/echo", &token, "") }
        .with("transfer-encoding", "chunked");
    let mut wire = crate::talk::Wire::open(daemon.address).await;
    wire.send(&format!("{}{chunks}", chunked.text(daemon.address))).await;
    let answer = wire.answer().await.unwrap();
    assert_eq!((answer.status, answer.body.as_str()), (418, "the body has more than 1000 bytes"));
    Call::get("/api/v1/runs", &token).send(&daemon).await.json();
}

async fn who(request: Request) -> String {
    request.extensions().get::<HttpIdentity>().map_or_else(String::new, |identity| {
        let caller = identity.caller();
        format!("{} {}", caller.actor.surface.name(), caller.scopes.contains(AccessScope::Approve))
    })
}

/// The control is the bearer token of the same person, which works for the API and not for a page.
#[tokio::test]
async fn the_cookie_of_a_page_session_works_for_pages_only_and_ends_with_its_person() {
    let router = Router::new().route("/pages/who", get(who));
    let callers = MountedCallers::Pages;
    let mounted = vec![MountedRoutes { prefix: "/pages", callers, router, body_bytes_max: 1_000, refuse }];
    let daemon = TestDaemon::start_with(DaemonOptions { mounted, ..Default::default() }).await;
    let token = daemon.token("user:alice").await;
    let access = &daemon.state.admin.access;
    let known = access.known();
    let alice = known.principals.iter().find(|one| one.name.expose() == "user:alice").unwrap().id;
    let cookie_of = async || {
        let code = access.create_page_link(PageEntry::of(alice), PAGE_LINK_SPAN).into_exposed();
        let cookie = access.redeem_page_link(&code).await.unwrap().unwrap().into_exposed();
        format!("palyra_console={cookie}")
    };
    let asked =
        async |path: &'static str, cookie: &str| Call::open(path).with("cookie", cookie).send(&daemon).await;
    let cookie = cookie_of().await;
    assert_eq!(asked("/pages/who", &cookie).await.body, "console true");
    asked("/api/v1/runs", &cookie).await.refused(401, "PLY-1201");
    assert_eq!(asked("/pages/who", "palyra_console=0").await.body, "", "a page decides what it shows then");
    let with_token = Call::get("/pages/who", &token).send(&daemon).await;
    assert_eq!((with_token.status, with_token.body.as_str()), (200, ""));
    Call::get("/api/v1/runs", &token).send(&daemon).await.json();

    access.disable_person(daemon.owner(), alice).await.unwrap();
    assert_eq!(asked("/pages/who", &cookie).await.body, "");
    access.enable_person(daemon.owner(), alice).await.unwrap();
    assert_eq!(asked("/pages/who", &cookie).await.body, "", "the session is over");
    assert_eq!(asked("/pages/who", &cookie_of().await).await.body, "console true");
}
