//! One line, one input, in the session of the folder.

use palyra_model_server::{Behaviour, Reply};

use crate::openai_server::{home_with, runtime, serve};

#[test]
fn lines_are_answered_in_order_and_the_next_chat_goes_on() {
    let runtime = runtime();
    let server = serve(
        &runtime,
        Behaviour::by(|body| {
            let messages = body["messages"].as_array().unwrap();
            let said = messages.iter().filter(|message| message["role"] == "user");
            let said: Vec<_> = said.map(|message| message["content"].as_str().unwrap()).collect();
            Reply::text(&format!("heard {}", said.join("+")))
        }),
    );
    let home = home_with(&server);
    let first = home.palyra_reading(&["chat"], "one\n\n/nonsense\ntwo\n").expect(0);
    assert_eq!(first.out, "heard one\nheard one+two\n");
    assert!(first.err.contains("there is no /nonsense"), "{}", first.err);
    let second = home.palyra_reading(&["chat"], "three\n/reset\nfour\n/quit\nfive\n").expect(0);
    assert_eq!(second.out, "heard one+two+three\nheard four\n");
    let sessions = home.palyra(&["sessions", "list", "--json"]).expect(0).json();
    assert_eq!((sessions.len(), &sessions[0]["runs"]), (1, &4.into()));
    let key = sessions[0]["session_key"].as_str().unwrap();
    assert_eq!(key, format!("chat:{}", home.work().canonicalize().unwrap().display()));
    let alone = home.palyra(&["run", "six"]).expect(0);
    assert_eq!(alone.out, "heard six\n", "run opens a session of its own");
    let joined = home.palyra(&["run", "--session", key, "seven"]).expect(0);
    assert_eq!(joined.out, "heard four+seven\n");
}
