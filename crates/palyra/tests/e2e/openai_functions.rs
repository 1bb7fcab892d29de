//! OpenAI's clients with functions of their own: the run waits for their results, also when the daemon is killed meanwhile.

use std::path::Path;

use palyra_model_server::{Behaviour, ModelServer, Reply, without_tags};
use serde_json::{Value, json};

use crate::home::{Home, ended};
use crate::openai_clients::{HttpDaemon, node_modules, python, script, token_of};
use crate::openai_server::{runtime, serve};

/// A model that calls both functions where it is offered any, once more where it is told so, and then says what came of
/// it.
fn caller() -> Behaviour {
    Behaviour::by(|body| {
        let messages = body["messages"].as_array().cloned().unwrap_or_default();
        let asked = messages.iter().rposition(|message| message["role"] == "user").unwrap_or_default();
        let words = messages[asked]["content"].as_str().unwrap_or_default();
        let behind = &messages[asked..];
        let results: Vec<String> = behind
            .iter()
            .filter(|message| message["role"] == "tool")
            .filter_map(|m| m["content"].as_str().map(without_tags))
            .collect();
        let arguments = r#"{"city":"Oslo"}"#;
        let offers = |tool: &Value| tool["function"]["name"] == "get_weather";
        let offered = body["tools"].as_array().is_some_and(|tools| tools.iter().any(offers))
            && body["tool_choice"] != "none";
        match results.len() {
            0 if offered && !words.contains("hurry") => {
                Reply::empty().call("get_weather", arguments).call("get_time", arguments)
            }
            0 => Reply::text(&format!("You said: {words}")),
            2 if words.contains("twice") => Reply::empty().call("get_time", arguments),
            _ => Reply::text(&format!("Results: {}", results.join("; "))),
        }
    })
}

fn home_of(server: &ModelServer) -> Home {
    let home = Home::new().with("PALYRA__HTTP__LISTEN", "127.0.0.1:0");
    std::fs::create_dir_all(home.config_file().parent().unwrap()).unwrap();
    let text = format!(
        "model.default = \"functions/test-model\"\n[providers.functions]\nbase_url = \"{}\"\n",
        server.base_url()
    );
    std::fs::write(home.config_file(), text).unwrap();
    home
}

fn request_with(server: &ModelServer, words: &str) -> Value {
    let asks = |body: &Value| {
        let messages = body["messages"].as_array().cloned().unwrap_or_default();
        messages.last().is_some_and(|message| message["content"] == words)
    };
    let found = server.asked().into_iter().find(|request| asks(&request.body));
    found.expect("a request with these words").body.clone()
}

#[test]
fn the_python_client_of_openai_performs_functions_of_its_own() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let home = home_of(&server);
    let daemon = HttpDaemon::start(&home);
    let token = token_of(&home, "user:alice");
    let client = ended(script(python(), "function_tools.py", &daemon, &token).spawn().unwrap()).expect(0);
    let expected =
        "parallel rounds stream incomplete responses response_stream stateless background deleted refusals\n";
    assert_eq!(client.out, expected);
    let body = request_with(&server, "in parallel");
    assert_eq!((&body["tool_choice"], &body["parallel_tool_calls"]), (&json!("required"), &json!(true)));
    let names: Vec<&Value> =
        body["tools"].as_array().unwrap().iter().map(|tool| &tool["function"]["name"]).collect();
    assert_eq!(names, ["get_weather", "get_time"], "and none of the agent's");
    let named = json!({ "type": "function", "function": { "name": "get_time" } });
    assert_eq!(request_with(&server, "respond")["tool_choice"], named);
    let capped = server.asked().into_iter().filter(|request| request.body["max_tokens"] == 500).count();
    assert_eq!(capped, 1, "the cap is that of its request alone");
    daemon.stop();
    home.palyra(&["journal", "verify"]).expect(0);
}

#[test]
fn langchain_performs_functions_of_its_own() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let home = home_of(&server);
    let daemon = HttpDaemon::start(&home);
    let token = token_of(&home, "user:alice");
    let client = script(python(), "langchain_functions.py", &daemon, &token).spawn().unwrap();
    assert_eq!(ended(client).expect(0).out, "whole stream\n");
    daemon.stop();
}

#[test]
fn the_node_client_of_openai_and_the_ai_sdk_perform_functions_of_their_own() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let home = home_of(&server);
    let daemon = HttpDaemon::start(&home);
    let mut client = script("node", "node_functions.mjs", &daemon, &token_of(&home, "user:alice"));
    let said = ended(client.env("PALYRA_TEST_NODE_MODULES", node_modules()).spawn().unwrap()).expect(0).out;
    assert_eq!(said, "calls results response-calls response-results ai-text ai-stream\n");
    daemon.stop();
}

fn parked(daemon: &HttpDaemon, token: &str, stage: &str, file: &Path) -> String {
    let mut client = script(python(), "parked_run.py", daemon, token);
    ended(client.arg(stage).arg(file).spawn().unwrap()).expect(0).out
}

#[test]
fn a_run_that_waits_for_its_client_goes_on_after_a_killed_daemon_and_is_one_run() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let home = home_of(&server);
    let file = home.work().join("conversation.json");
    let daemon = HttpDaemon::start(&home);
    let token = token_of(&home, "user:local");
    assert_eq!(parked(&daemon, &token, "call", &file), "tool_calls\n");
    daemon.kill();
    let daemon = HttpDaemon::start(&home);
    let runs = home.palyra(&["runs", "list", "--json"]).expect(0).json();
    assert_eq!((runs.len(), &runs[0]["waiting_for"]), (1, &json!("client_tool")), "{runs:?}");
    let run = runs[0]["run_id"].as_str().unwrap();
    let shown = home.palyra(&["runs", "show", run]).expect(0).out;
    assert!(shown.contains("waiting (client_tool)") && shown.contains("no person is asked"), "{shown}");
    let attention = home.palyra(&["api", "ListAttention"]).expect(0).out;
    assert!(!attention.contains("run_id"), "a program is waited for, and no person: {attention}");
    let answer = parked(&daemon, &token, "results", &file);
    assert!(answer.starts_with("Results: get_weather; get_time chatcmpl-"), "{answer}");
    daemon.kill();
    let daemon = HttpDaemon::start(&home);
    assert_eq!(parked(&daemon, &token, "results", &file), answer, "a repetition");
    let tape = home.palyra(&["runs", "tail", run, "--json"]).expect(0).json();
    let count = |kind: &str| tape.iter().filter(|entry| !entry[kind].is_null()).count();
    assert_eq!(
        (count("client_tools_called"), count("client_tools_answered"), count("run_finished")),
        (1, 1, 1)
    );
    assert_eq!(count("tool_proposed"), 0, "what the client does is no effect");
    assert_eq!(home.palyra(&["runs", "list", "--json"]).expect(0).json().len(), 1);
    assert_eq!(server.asked().len(), 2);
    daemon.stop();
    home.palyra(&["journal", "verify"]).expect(0);
}

#[test]
fn a_run_that_waits_for_its_client_can_be_cancelled() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let home = home_of(&server);
    let file = home.work().join("conversation.json");
    let daemon = HttpDaemon::start(&home);
    let token = token_of(&home, "user:local");
    assert_eq!(parked(&daemon, &token, "call", &file), "tool_calls\n");
    let runs = home.palyra(&["runs", "list", "--json"]).expect(0).json();
    home.palyra(&["runs", "cancel", runs[0]["run_id"].as_str().unwrap()]).expect(0);
    let mut late = script(python(), "parked_run.py", &daemon, &token);
    let late = ended(late.arg("results").arg(&file).spawn().unwrap()).expect(1);
    assert!(late.err.contains("is not waited for"), "{}", late.err);
    daemon.stop();
}
