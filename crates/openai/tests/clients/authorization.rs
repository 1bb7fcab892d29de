//! Who may use which route: one row for each, and each takes the same credentials.

use palyra_types::access::AccessScope;
use serde_json::json;

use crate::daemon::TestDaemon;
use crate::raw_request::{bearer, send};

/// Every route that is offered.
const ROUTES: [&str; 9] = [
    "GET /v1/models",
    "GET /v1/models/palyra",
    "POST /v1/chat/completions",
    "POST /v1/embeddings",
    "POST /v1/responses",
    "GET /v1/responses/resp_x",
    "DELETE /v1/responses/resp_x",
    "POST /v1/responses/resp_x/cancel",
    "GET /v1/responses/resp_x/input_items",
];

#[tokio::test]
async fn each_route_takes_a_token_for_this_surface_and_no_other() {
    let daemon = TestDaemon::start().await;
    let openai = daemon.token("user:alice").await.1;
    let runs = daemon.token_for("user:alice", AccessScope::RunsRead).await.1;
    let memory = daemon.token_for("user:alice", AccessScope::Memory).await.1;
    for route in ROUTES {
        for (headers, status, code) in [
            (vec![], 401, json!("invalid_api_key")),
            (vec![bearer("unknown")], 401, json!("invalid_api_key")),
            (vec![format!("authorization: Basic {openai}")], 401, json!("invalid_api_key")),
            (vec![bearer(&runs)], 403, json!("scope_missing")),
            (vec![bearer(&memory)], 403, json!("scope_missing")),
        ] {
            let answer = send(daemon.address, route, &headers, "{}").await;
            assert_eq!(
                (answer.status, &answer.body["error"]["code"]),
                (status, &code),
                "{route} {headers:?}"
            );
            assert!(answer.head.contains("x-should-retry: false"), "{route}: {}", answer.head);
        }
        let answer = send(daemon.address, route, &[bearer(&openai)], "{}").await;
        assert!(![401, 403].contains(&answer.status), "{route}: {}", answer.body);
    }
    assert!(daemon.vectors.texts().is_empty(), "nothing reached a model");
}
