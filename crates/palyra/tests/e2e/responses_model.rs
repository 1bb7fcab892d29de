//! Models that are asked by OpenAI's Responses: reasoning goes back encrypted, and another daemon can be such a server.

use std::os::unix::fs::PermissionsExt;

use palyra_model_server::{Behaviour, ModelServer, Reply};
use serde_json::Value;

use crate::home::Home;
use crate::openai_clients::{HttpDaemon, token_of};
use crate::openai_server::{runtime, serve};

fn home_of(server: &ModelServer) -> Home {
    let home = Home::new().with("KEY", "sesame");
    std::fs::create_dir_all(home.config_file().parent().unwrap()).unwrap();
    let text = format!(
        "model.default = \"gpt/test-model\"\n[providers.gpt]\nformat = \"openai_responses\"\nbase_url = \"{}\"\n\
         key = \"env:KEY\"\n",
        server.base_url()
    );
    std::fs::write(home.config_file(), text).unwrap();
    home.write("a.md", "# Lantern\n");
    home
}

/// Returns the items of a request that are neither a person's words nor an output.
fn of_the_model(body: &Value) -> Vec<Value> {
    let items = body["input"].as_array().unwrap();
    let is_own = |item: &&Value| item["role"] != "user" && item["type"] != "function_call_output";
    items.iter().filter(is_own).cloned().collect()
}

#[test]
fn encrypted_reasoning_goes_back_to_its_model_byte_for_byte_and_is_never_shown() {
    let runtime = runtime();
    let thought = "First \u{1f980}  two blanks,\n\ta tab, \"quotes\" \\ and é. ";
    let calling =
        Reply::empty().thinking(thought).piece("Let me look. ").call("read_file", "{\"path\":\"a.md\"}");
    let behaviour = Behaviour::each(vec![calling, Reply::text("Lantern."), Reply::text("Bye.")]);
    let server = serve(&runtime, behaviour.with_key("sesame"));
    let home = home_of(&server);

    let ended = home.palyra(&["run", "--session", "s", "read a.md"]).expect(0);
    assert_eq!(ended.out, "Let me look. \nLantern.\n");
    let tape = home.palyra(&["runs", "tail", "last", "--json"]).expect(0);
    assert!(!tape.out.contains("encrypted_content"), "only its vendor can read it");
    let tape = tape.json();
    let thoughts = tape.iter().filter_map(|entry| entry["model_reasoning"]["text"].as_str());
    assert_eq!(thoughts.collect::<String>(), thought);

    // The server refuses reasoning that does not fit its encrypted form to the byte.
    let asked = server.asked();
    assert!(asked.iter().all(|request| request.body["store"] == false), "nothing is stored there");
    let back = of_the_model(&asked[1].body);
    let kinds: Vec<_> = back.iter().map(|item| item["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["reasoning", "message", "function_call"]);
    assert_eq!(back[0]["summary"][0]["text"], thought);
    assert!(back[0]["encrypted_content"].as_str().is_some_and(|sealed| !sealed.is_empty()));
    let output = &asked[1].body["input"].as_array().unwrap().last().unwrap()["output"];
    assert!(output.to_string().contains("Lantern"), "{output}");

    // Also from the journal, after the daemon was stopped.
    home.palyra(&["admin", "stop"]).expect(0);
    home.palyra(&["run", "--session", "s", "thanks"]).expect(0);
    assert_eq!(of_the_model(&server.asked()[2].body)[..3], back[..]);
    assert_eq!(server.counts().invalid, 0);
}

#[test]
fn a_thought_that_holds_a_secret_does_not_go_back() {
    let runtime = runtime();
    let token = ["gh", "p_", &"a1B2c3D4e5F6".repeat(3)].concat();
    let calling = Reply::empty()
        .thinking(&format!("They sent {token}, which I keep to myself."))
        .call("read_file", "{\"path\":\"a.md\"}");
    let server = serve(&runtime, Behaviour::each(vec![calling, Reply::text("Lantern.")]).with_key("sesame"));
    let home = home_of(&server);
    home.palyra(&["run", "read a.md"]).expect(0);
    let kinds: Vec<_> =
        of_the_model(&server.asked()[1].body).iter().map(|item| item["type"].clone()).collect();
    assert_eq!(kinds, ["function_call"]);
    assert_eq!(server.counts().invalid, 0);
}

/// Writes a token of a daemon where a reference can name it.
fn key_of(home: &Home) -> String {
    let key = home.state_dir().with_file_name("own-token");
    std::fs::write(&key, token_of(home, "user:alice")).unwrap();
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    format!("file:{}", key.display())
}

/// Returns the home of a daemon that other daemons ask, whose own model is this server.
fn inner_of(model: &ModelServer) -> Home {
    let inner = Home::new().with("PALYRA__HTTP__LISTEN", "127.0.0.1:0");
    inner.configure(&format!(
        "model.default = \"local/test-model\"\n[providers.local]\nbase_url = \"{}\"\n",
        model.base_url()
    ));
    inner
}

fn section(name: &str, base_url: &str, key: &str) -> String {
    format!("[providers.{name}]\nformat = \"openai_responses\"\nbase_url = \"{base_url}\"\nkey = \"{key}\"\n")
}

#[test]
fn another_daemon_is_a_model_and_keeps_the_conversation() {
    let runtime = runtime();
    let script = vec![Reply::text("It is a lantern."), Reply::text("It is red.")];
    let model = serve(&runtime, Behaviour::each(script));
    let inner = inner_of(&model);
    let daemon = HttpDaemon::start(&inner);
    let outer = Home::new();
    outer.configure(&format!(
        "model.default = \"inner/palyra\"\n{}",
        section("inner", daemon.base_url(), &key_of(&inner))
    ));
    let first = outer.palyra(&["run", "--session", "s", "What is it?"]).expect(0);
    assert_eq!(first.out, "It is a lantern.\n");
    let second = outer.palyra(&["run", "--session", "s", "Which colour?"]).expect(0);
    assert_eq!(second.out, "It is red.\n");
    let asked = model.asked();
    assert_eq!(asked.len(), 2);
    let last = asked[1].body["messages"].to_string();
    assert!(last.contains("It is a lantern.") && last.contains("Which colour?"), "{last}");
    outer.palyra(&["model", "test"]).expect(0);
    daemon.stop();
}

#[test]
fn another_daemon_that_is_a_model_has_its_calls_performed_by_the_one_that_asks() {
    rounds_with("format = \"openai_responses\"\n");
}

#[test]
fn the_same_by_chat_completions() {
    rounds_with("");
}

fn rounds_with(format: &str) {
    let runtime = runtime();
    let calling = Reply::text("Let me look. ").call("read_file", "{\"path\":\"a.md\"}");
    let both =
        Reply::empty().call("read_file", "{\"path\":\"a.md\"}").call("read_file", "{\"path\":\"b.md\"}");
    let script = vec![calling, Reply::text("A lantern."), both, Reply::text("Red."), Reply::text("Bye.")];
    let model = serve(&runtime, Behaviour::each(script));
    let inner = inner_of(&model);
    let daemon = HttpDaemon::start(&inner);
    let outer = Home::new();
    outer.configure(&format!(
        "model.default = \"inner/palyra\"\n[providers.inner]\nbase_url = \"{}\"\nkey = \"{}\"\n{format}",
        daemon.base_url(),
        key_of(&inner)
    ));
    outer.write("a.md", "# Lantern\n");
    outer.write("b.md", "It is red.\n");
    let first = outer.palyra(&["run", "--session", "s", "What is in a.md?"]).expect(0);
    assert_eq!(first.out, "Let me look. \nA lantern.\n");
    let second = outer.palyra(&["run", "--session", "s", "Which colour?"]).expect(0);
    assert_eq!(second.out, "Red.\n");
    assert_eq!(outer.palyra(&["run", "--session", "s", "thanks"]).expect(0).out, "Bye.\n");
    let asked = model.asked();
    assert_eq!(asked.len(), 5);
    let results = asked[3].body["messages"].to_string();
    for part in ["What is in a.md?", "# Lantern", "A lantern.", "It is red."] {
        assert!(results.contains(part), "{part}: {results}");
    }
    for at in [1, 3] {
        let last = asked[at].body["messages"].as_array().unwrap().last().unwrap();
        assert_eq!(last["role"], "tool", "a round of tools goes on with its run: {last}");
    }
    daemon.stop();
}

#[test]
fn a_daemon_that_is_its_own_model_by_responses_refuses_its_own_request() {
    let home = Home::new().with("PALYRA__HTTP__LISTEN", "127.0.0.1:0");
    let daemon = HttpDaemon::start(&home);
    home.configure(&section("self", daemon.base_url(), &key_of(&home)));
    home.palyra(&["config", "reload"]).expect(0);
    let refused = home.palyra(&["run", "--model", "self/palyra", "hello"]).expect(1);
    assert!(refused.err.contains("this gateway is its own model"), "{}", refused.err);
    assert!(refused.err.contains("gateway_loop"), "{}", refused.err);
    let runs = home.palyra(&["runs", "list", "--json"]).expect(0).json();
    assert_eq!(runs.len(), 1, "{runs:?}");
    daemon.stop();
}

#[test]
fn a_server_is_added_by_its_format_and_keys_are_in_no_output() {
    let runtime = runtime();
    let server = serve(&runtime, Behaviour::always(Reply::text("ok")).with_key("canary-sesame"));
    let home = Home::new().with("KEY", "canary-sesame").with("OTHER", "canary-wrong");
    let base_url = server.base_url();
    let add = |key: &str| {
        let format = ["--format", "openai_responses", "--base-url", &base_url, "--model", "test-model"];
        let arguments = [&["model", "add", "gpt"][..], &format[..], &["--key", key][..]].concat();
        home.palyra(&arguments)
    };
    let refused = add("env:OTHER");
    assert_ne!(refused.code, 0);
    assert!(!format!("{}{}", refused.out, refused.err).contains("canary"), "{}{}", refused.out, refused.err);
    add("env:KEY").expect(0);
    let config = std::fs::read_to_string(home.config_file()).unwrap();
    assert!(config.contains("format = \"openai_responses\"") && !config.contains("canary"), "{config}");
    assert!(server.asked().iter().all(|request| request.path == "/v1/responses"), "no other format is tried");
    let listed = home.palyra(&["model", "list"]).expect(0);
    assert!(listed.out.contains("gpt/test-model"), "{}", listed.out);
}
