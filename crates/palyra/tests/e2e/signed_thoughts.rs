//! A model that thinks before it speaks: what it thought stands apart, and goes back as it came.

use palyra_testkit::model_server::{Behaviour, Reply};

use crate::home::Home;
use crate::openai_server::{runtime, serve};

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
    let home = Home::new().with("KEY", "sesame");
    std::fs::create_dir_all(home.config_file().parent().unwrap()).unwrap();
    let text = format!(
        "model.default = \"claude/test-model\"\n[providers.claude]\nformat = \"anthropic_messages\"\n\
         base_url = \"{}\"\nkey = \"env:KEY\"\n",
        server.origin()
    );
    std::fs::write(home.config_file(), text).unwrap();
    home.write("a.md", "# Lantern\n");

    let ended = home.palyra(&["run", "--session", "s", "read a.md"]).expect(0);
    assert_eq!(ended.out, "Let me look. \nLantern.\n");
    assert!(!ended.err.contains("two blanks"), "{}", ended.err);
    let tape = home.palyra(&["runs", "tail", "last", "--json"]).expect(0);
    let thoughts = tape.json().into_iter().filter_map(|entry| {
        let text = entry["model_reasoning"]["text"].as_str();
        text.map(str::to_owned)
    });
    assert_eq!(thoughts.collect::<String>(), thought);
    assert!(!tape.out.contains("redacted_thinking"), "only its vendor can read it");

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
