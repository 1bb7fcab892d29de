//! Routes of another surface behind the same gate.

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use palyra_api::ApiError;
use palyra_http::{HttpIdentity, MountedRoutes, RequestId, read_body};

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
    let mounted = vec![MountedRoutes { prefix: "/v1/", router, body_bytes_max: 1_000, refuse }];
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
