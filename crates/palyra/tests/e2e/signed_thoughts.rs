//! A model that thinks before it speaks: what it thought stands apart, and goes back as it came.

use palyra_model_server::{Behaviour, ModelServer, Reply};

use crate::home::Home;
use crate::openai_server::{runtime, serve};

fn home_of(server: &ModelServer) -> Home {
    let home = Home::new().with("KEY", "sesame");
    std::fs::create_dir_all(home.config_file().parent().unwrap()).unwrap();
    let text = format!(
        "model.default = \"claude/test-model\"\n[providers.claude]\nformat = \"anthropic_messages\"\n\
         base_url = \"{}\"\nkey = \"env:KEY\"\n",
        server.origin()
    );
    std::fs::write(home.config_file(), text).unwrap();
    home.write("a.md", "# Lantern\n");
    home
}

/// Returns what the model thought aloud in the last run.
fn thought_of(home: &Home) -> String {
    let tape = home.palyra(&["runs", "tail", "last", "--json"]).expect(0);
    assert!(!tape.out.contains("redacted_thinking"), "only its vendor can read it");
    let tape = tape.json();
    let thoughts = tape.iter().filter_map(|entry| entry["model_reasoning"]["text"].as_str());
    thoughts.collect()
}

#[test]
fn a_thought_that_holds_a_secret_does_not_go_back() {
    let runtime = runtime();
    let token = ["gh", "p_", &"a1B2c3D4e5F6".repeat(3)].concat();
    let calling = Reply::empty()
        .thinking(&format!("They sent {token}, which I keep to myself."))
        .piece("Let me look. ")
        .call("read_file", "{\"path\":\"a.md\"}");
    let server = serve(&runtime, Behaviour::each(vec![calling, Reply::text("Lantern.")]).with_key("sesame"));
    let home = home_of(&server);
    let ended = home.palyra(&["run", "read a.md"]).expect(0);
    assert_eq!(ended.out, "Let me look. \nLantern.\n");
    let thought = thought_of(&home);
    assert_eq!(thought, "They sent <secret:github-token>, which I keep to myself.");
    // What is signed cannot be changed, and what was changed is not sent.
    let back = &server.asked()[1].body["messages"][1]["content"];
    let kinds: Vec<_> = back.as_array().unwrap().iter().map(|block| &block["type"]).collect();
    assert_eq!(kinds, ["text", "tool_use"], "{back}");
    assert_eq!(server.counts().invalid, 0);
}

#[test]
fn thoughts_stand_apart_and_go_back_to_their_model_byte_for_byte() {
    let runtime = runtime();
    let thought = "First \u{1f980}  two blanks,\n\ta tab, \"quotes\" \\ and é. ";
    let calling = Reply::empty()
        .thinking(thought)
        .redacted_thinking("hidden from all")
        .piece("Let me look. ")
        .call("read_file", "{\"path\":\"a.md\"}");
    let behaviour = Behaviour::each(vec![calling, Reply::text("Lantern."), Reply::text("Bye.")]);
    let server = serve(&runtime, behaviour.with_key("sesame"));
    let home = home_of(&server);

    let ended = home.palyra(&["run", "--session", "s", "read a.md"]).expect(0);
    assert_eq!(ended.out, "Let me look. \nLantern.\n");
    assert!(!ended.err.contains("two blanks"), "{}", ended.err);
    assert_eq!(thought_of(&home), thought);

    // The server refuses reasoning whose signature does not fit to the byte.
    let asked = server.asked();
    let back = &asked[1].body["messages"][1]["content"];
    assert_eq!((&back[0]["type"], &back[0]["thinking"]), (&"thinking".into(), &thought.into()));
    assert!(back[0]["signature"].as_str().is_some_and(|signature| !signature.is_empty()), "{back}");
    assert_eq!(back[1]["type"], "redacted_thinking");
    assert_eq!((&back[2]["type"], &back[3]["type"]), (&"text".into(), &"tool_use".into()));
    let result = &asked[1].body["messages"][2]["content"][0];
    assert_eq!(result["tool_use_id"], back[3]["id"]);
    assert!(result.to_string().contains("Lantern"), "{result}");

    // Also from the journal, after the daemon was stopped.
    home.palyra(&["admin", "stop"]).expect(0);
    home.palyra(&["run", "--session", "s", "thanks"]).expect(0);
    let later = &server.asked()[2].body["messages"][1]["content"];
    assert_eq!((&later[0], &later[1]), (&back[0], &back[1]));
    assert_eq!(server.counts().invalid, 0);
}
