//! Operations as JSON: every one that is declared has its route, and answers as over gRPC.

use palyra_runtime::Caller;
use palyra_testkit::Script;
use palyra_types::surface::Surface;
use palyra_wire::operations::OPERATIONS;
use serde_json::{Value, json};

use crate::daemon::TestDaemon;
use crate::talk::{Answer, Call};

/// Starts a run that says this, and returns its id.
pub(crate) async fn start(daemon: &TestDaemon, token: &str, says: &str) -> String {
    daemon.provider.push(Script::new().text(says));
    let started = Call::post("/api/v1/runs", token, json!({ "input": "hello" })).send(daemon).await;
    assert_eq!(started.status, 200, "{started:?}");
    started.json()["opened"]["run_id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_run_is_started_read_listed_and_cancelled() {
    let daemon = TestDaemon::start().await;
    let token = daemon.token("user:alice").await;
    let run = start(&daemon, &token, "good day").await;
    let path = format!("/api/v1/runs/{run}");
    let shown = Call::get(&path, &token).send(&daemon).await;
    assert_eq!((shown.status, shown.header("content-type")), (200, Some("application/json")));
    assert_eq!(shown.json()["run"]["run_id"], run.as_str());
    let listed = Call::get("/api/v1/runs?page_size=50&only=", &token).send(&daemon).await.json();
    assert_eq!(listed["runs"][0]["run_id"], run.as_str(), "{listed}");
    assert_eq!(listed["next_page_token"], "", "a default is written");
    let tape = Call::get(&format!("{path}/tape?after_tape_seq=0&limit=1"), &token).send(&daemon).await.json();
    assert_eq!((tape["entries"].as_array().unwrap().len(), &tape["entries"][0]["tape_seq"]), (1, &json!(1)));
    let cancelled = Call::post(&format!("{path}/cancel"), &token, "").send(&daemon).await;
    assert_eq!(cancelled.status, 200, "{cancelled:?}");
}

/// Every path of the table is routed: wrong credentials are refused by the gate, and with a right one an operation is never
/// "no such path" or "no such method".
#[tokio::test]
async fn every_declared_operation_is_a_route() {
    let daemon = TestDaemon::start().await;
    let token = daemon.token("user:alice").await;
    let credential = daemon.state.admin.access.authenticate(&token).unwrap();
    let caller = Caller::with_credential(&credential, Surface::Http);
    let mut routes = 0;
    for operation in OPERATIONS.iter().filter(|operation| !operation.http.is_empty()) {
        let (method, path) = operation.http.split_once(' ').unwrap();
        let path = path.replace(['{', '}'], "");
        for wrong in ["", "palyra_", "palyra_nothing"] {
            let call = Call { method, token: Some(wrong), ..Call::get(&path, "") };
            call.send(&daemon).await.refused(401, "PLY-1201");
        }
        let call = Call { method, token: Some(&token), ..Call::get(&path, "") };
        // A watch goes on; its beginning tells enough.
        let answer = first_of(&daemon, &call).await;
        let refused = palyra_api::authorize(operation, &caller).is_err();
        assert_eq!(answer.0 == 403, refused, "{operation:?}: {answer:?}");
        assert!(
            refused || ![404, 405].contains(&answer.0) || answer.1.contains("_not_found"),
            "{operation:?}: {answer:?}"
        );
        routes += 1;
    }
    assert_eq!(routes, OPERATIONS.len() - 1, "all but RunStream");
}

async fn first_of(daemon: &TestDaemon, call: &Call<'_>) -> (u16, String) {
    let mut wire = crate::talk::Wire::open(daemon.address).await;
    wire.send(&call.text(daemon.address)).await;
    let (status, head) = wire.head().await.unwrap();
    let chunked = head.contains("transfer-encoding: chunked");
    let body = if chunked || status == 200 { Vec::new() } else { wire.body(&head).await };
    (status, String::from_utf8(body).unwrap())
}

#[tokio::test]
async fn an_id_of_somebody_else_answers_like_one_that_does_not_exist() {
    let daemon = TestDaemon::start().await;
    let (alice, bob) = (daemon.token("user:alice").await, daemon.token("user:bob").await);
    let run = start(&daemon, &alice, "good day").await;
    let unknown = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    let told = |answer: Answer, id: &str| (answer.status, answer.body.replace(id, "ID"));
    for (method, path) in [
        ("GET", "/api/v1/runs/ID"),
        ("GET", "/api/v1/runs/ID/tape"),
        ("GET", "/api/v1/runs/ID/events"),
        ("GET", "/api/v1/runs/ID/attachments/1/0"),
        ("GET", "/api/v1/runs/ID/attachments/1/0/content"),
        ("POST", "/api/v1/runs/ID/cancel"),
        ("GET", "/api/v1/sessions/ID/tape"),
    ] {
        let (theirs, none) = (path.replace("ID", &run), path.replace("ID", unknown));
        let call = |path| Call { method, ..Call::get(path, &bob) };
        let theirs = told(call(&theirs).send(&daemon).await, &run);
        let none = told(call(&none).send(&daemon).await, unknown);
        assert_eq!((theirs.0, &theirs), (404, &none), "{path}");
    }
    let own = Call::get(&format!("/api/v1/runs/{run}"), &alice).send(&daemon).await;
    assert_eq!(own.status, 200, "the control");
}

#[tokio::test]
async fn a_refusal_has_its_code_its_status_and_what_to_do() {
    let daemon = TestDaemon::start().await;
    let token = daemon.token("user:alice").await;
    let none = Call::get("/api/v1/runs/01ARZ3NDEKTSV4RRFFQ69G5FAV", &token).send(&daemon).await;
    none.refused(404, "PLY-1103");
    let error = none.json()["error"].clone();
    assert_eq!(
        (&error["name"], &error["page"]),
        (&json!("run_not_found"), &json!("docs/errors/PLY-1103.md"))
    );
    assert!(error["hint"].as_str().is_some_and(|hint| !hint.is_empty()));
    let whoami = Call::open("/api/v1/runs").send(&daemon).await;
    whoami.refused(401, "PLY-1201");
    assert_eq!(whoami.header("www-authenticate"), Some("Bearer realm=\"palyra\""));
    Call::get("/api/v1/nothing", &token).send(&daemon).await.refused(404, "PLY-1007");
    Call::open("/api/v1/nothing").send(&daemon).await.refused(401, "PLY-1201");
    let wrong = Call { method: "DELETE", ..Call::get("/api/v1/runs", &token) }.send(&daemon).await;
    wrong.refused(405, "PLY-1008");
    assert_eq!(
        wrong.header("allow").map(|allow| allow.contains("GET") && allow.contains("POST")),
        Some(true)
    );
}

#[tokio::test]
async fn a_run_that_asks_is_answered_with_its_file() {
    let daemon = TestDaemon::start().await;
    let token = daemon.token("user:alice").await;
    daemon.provider.push(Script::new().text("read"));
    let file = json!({ "name": "a.txt", "content": "aGVsbG8=" });
    let body = json!({ "input": "look", "idempotency_key": "k", "attachments": [file] });
    let first = Call::post("/api/v1/runs", &token, &body).send(&daemon).await.json();
    let again: Value = Call::post("/api/v1/runs", &token, &body).send(&daemon).await.json();
    assert_eq!(first["opened"]["run_id"], again["opened"]["run_id"], "a repeat is the same run");
    let path = format!("/api/v1/runs/{}/attachments/1/0", first["opened"]["run_id"].as_str().unwrap());
    let read = Call::get(&path, &token).send(&daemon).await;
    assert_eq!(read.header("content-type"), Some("application/x-ndjson"), "{read:?}");
    let line: Value = serde_json::from_str(read.body.trim_end()).unwrap();
    assert_eq!((&line["info"]["name"], &line["data"]), (&json!("a.txt"), &json!("aGVsbG8=")));
}
