//! Agents: made and changed by the owner, and the folders in which their runs work.

use serde_json::{Value, json};

use crate::asked::of;
use crate::caller::{call, caller};
use crate::home::Home;
use crate::http_api::{HttpRequest, get, port};
use crate::openai_server::{home_with, runtime, serve};

const CANARY: &str = "a lantern in the project";

fn owner(home: &Home) -> String {
    let made = home.palyra(&["admin", "tokens", "create", "user:local", "--role", "owner"]).expect(0);
    made.out.trim().to_owned()
}

/// Returns the first object of a body, which may come in chunks.
fn object(body: &str) -> Value {
    let text = body.find('{').map_or("", |at| &body[at..]);
    serde_json::Deserializer::from_str(text).into_iter().next().and_then(Result::ok).unwrap_or_default()
}

fn post(home: &Home, port: u16, token: &str, line: &str, body: &Value) -> (u16, Value) {
    let code = home.palyra(&["admin", "confirm"]).expect(0).out.trim().to_owned();
    let header = format!("palyra-confirmation: {code}\r\n");
    let (status, answer) = HttpRequest { header, body: body.to_string(), ..get(line, token) }.answer(port);
    (status, object(&answer))
}

/// Starts a run over HTTP that reads a file; returns what the tool said.
fn reads(home: &Home, port: u16, token: &str, mut body: Value) -> (u16, String) {
    body["input"] = json!(call("read_file", &json!({ "path": "kept.txt" })));
    let request = HttpRequest { body: body.to_string(), ..get("POST /api/v1/runs", token) };
    let (status, answer) = request.answer(port);
    if status != 200 {
        return (status, answer);
    }
    let answer = object(&answer);
    let run = answer["opened"]["run_id"].as_str().unwrap();
    let tape = home.palyra(&["runs", "tail", run, "--json"]);
    (status, of(&tape.json(), "tool_finished")[0].to_string())
}

#[test]
fn runs_over_http_work_in_the_roots_of_their_agent_and_nowhere_else() {
    let runtime = runtime();
    let model = serve(&runtime, caller());
    let home = home_with(&model).with("PALYRA__HTTP__LISTEN", "127.0.0.1:0");
    home.palyra(&["admin", "agents"]).expect(0);
    let (port, owner) = (port(&home), owner(&home));
    let project = home.work().join("project");
    std::fs::create_dir_all(project.join("inner")).unwrap();
    std::fs::create_dir_all(home.work().join("project-beside")).unwrap();
    for folder in ["project", "project/inner", "project-beside"] {
        std::fs::write(home.work().join(folder).join("kept.txt"), CANARY).unwrap();
    }
    std::os::unix::fs::symlink(home.work().join("project-beside"), project.join("way-out")).unwrap();
    let path = |name: &str| home.work().join(name).display().to_string();

    let (status, found) = reads(&home, port, &owner, json!({}));
    assert!(status == 200 && !found.contains(CANARY), "no root: {found}");
    let (status, _) = reads(&home, port, &owner, json!({ "workspace_root": path("project") }));
    assert_eq!(status, 403, "no root, so no folder can be named");

    let root = home.work().join("project");
    home.palyra(&["admin", "agents", "update", "main", "--root", &root.display().to_string()]).expect(0);
    for folder in ["project", "project/inner"] {
        let (status, found) = reads(&home, port, &owner, json!({ "workspace_root": path(folder) }));
        assert!(status == 200 && found.contains(CANARY), "{folder}: {found}");
    }
    let (_, found) = reads(&home, port, &owner, json!({}));
    assert!(found.contains(CANARY), "the first root is the usual one: {found}");
    for folder in ["project-beside", "project/way-out", "project/../project-beside", "project/missing", ""] {
        let (status, found) = reads(&home, port, &owner, json!({ "workspace_root": path(folder) }));
        assert!(status == 403 && found.contains("PLY-1107"), "{folder}: {found}");
    }

    home.palyra(&["admin", "agents", "update", "main", "--no-roots"]).expect(0);
    let (status, _) = reads(&home, port, &owner, json!({ "workspace_root": path("project") }));
    assert_eq!(status, 403, "taken away again");
}

#[test]
fn agents_are_made_changed_and_archived_and_outlive_a_restart() {
    let runtime = runtime();
    let model = serve(&runtime, caller());
    let home = home_with(&model).with("PALYRA__HTTP__LISTEN", "127.0.0.1:0");
    home.palyra(&["admin", "agents"]).expect(0);
    let (port, owner) = (port(&home), owner(&home));
    let profile =
        json!({ "name": "reviewer", "instructions": "Change nothing.", "tools": { "names": ["read_file"] } });
    let line = "POST /api/v1/agents";
    let request = HttpRequest { body: json!({ "profile": profile }).to_string(), ..get(line, &owner) };
    let (status, refused) = request.answer(port);
    assert!(status == 403 && refused.contains("PLY-1204"), "a confirmation is needed: {refused}");
    let (status, made) = post(&home, port, &owner, line, &json!({ "profile": profile }));
    assert_eq!((status, &made["agent"]["only_these_tools"]), (200, &json!(true)), "{made}");
    let id = made["agent"]["agent_id"].as_str().unwrap();

    let state = home.work().join("..").canonicalize().unwrap().display().to_string();
    for (bad, says) in [
        (json!({ "name": "reviewer" }), "already"),
        (json!({ "name": "Reviewer" }), "a-z 0-9 -"),
        (json!({}), "needs a name"),
        (json!({ "name": "a", "tools": { "all": true, "names": ["read_file"] } }), "either all tools"),
        (json!({ "name": "a", "tools": { "names": ["read_files"] } }), "no tool `read_files`"),
        (json!({ "name": "a", "model": "nowhere/m" }), "not configured"),
        (json!({ "name": "a", "workspace_roots": { "paths": ["relative"] } }), "not an absolute path"),
        (json!({ "name": "a", "workspace_roots": { "paths": ["/"] } }), "root of the file system"),
        (
            json!({ "name": "a", "workspace_roots": { "paths": [format!("{state}/nowhere")] } }),
            "does not exist",
        ),
    ] {
        let (status, refused) = post(&home, port, &owner, line, &json!({ "profile": bad }));
        assert!((400..500).contains(&status) && refused.to_string().contains(says), "{bad}: {refused}");
    }

    let hello = call("read_file", &json!({ "path": "kept.txt" }));
    let run = home.palyra(&["run", "--agent", "reviewer", "--session", "notes", &hello]).expect(0);
    assert!(!run.out.is_empty());
    home.palyra(&["admin", "agents", "update", "reviewer", "--name", "critic", "--all-tools"]).expect(0);
    home.palyra(&["admin", "agents", "update", "main", "--name", "other"]).expect(2);
    home.palyra(&["admin", "agents", "archive", "main"]).expect(2);
    home.palyra(&["admin", "agents", "archive", id]).expect(0);
    home.palyra(&["admin", "stop"]).expect(0);

    let shown = home.palyra(&["admin", "agents", "show", "critic", "--json"]).expect(0).json();
    assert_eq!(shown[0]["archived"], json!(true), "{shown:?}");
    home.palyra(&["run", "--agent", "critic", &hello]).expect(1);
    home.palyra(&["run", "--agent", "critic", "--session", "notes", &hello]).expect(1);
    home.palyra(&["run", "--session", "notes", &hello]).expect(0);
}
