//! The stream of what waits for a person, as server-sent events.

use std::io::BufRead;

use serde_json::{Value, json};

use crate::asked::asked;
use crate::caller::caller;
use crate::http_api::{HttpRequest, get, port};
use crate::openai_server::{home_with, runtime, serve};
use crate::policy_files::write_rules;
use crate::tcp::token;

/// Reads the next list of a stream that is another one.
fn next_list(lines: &mut impl Iterator<Item = std::io::Result<String>>) -> Vec<Value> {
    loop {
        let line = lines.next().expect("the stream goes on").unwrap();
        let Some(data) = line.strip_prefix("data: ") else { continue };
        let step: Value = serde_json::from_str(data).unwrap();
        if let Some(list) = step.get("list") {
            return list["items"].as_array().cloned().unwrap_or_default();
        }
    }
}

/// A rule names approvers by their role, so a new role is another list without any entry on a tape.
#[test]
fn a_new_role_is_seen_on_an_open_watch() {
    let runtime = runtime();
    let model = serve(&runtime, caller());
    let home = home_with(&model).with("PALYRA__HTTP__LISTEN", "127.0.0.1:0");
    let rule = "@id(\"named\")\n@reason(\"approvers decide\")\n@approvers(\"role:approver\")\npermit (\n  principal,\n  \
                action == Action::\"execute\",\n  resource in Capability::\"write_files\"\n);\n";
    write_rules(&home, "mine.cedar", rule);
    let port = port(&home);
    let bob = token(&home, "user:bob");
    let header = "accept: text/event-stream\r\n".to_owned();
    let mut of_bob = HttpRequest { header, ..get("GET /api/v1/attention-watch", &bob) }.send(port).lines();
    assert!(next_list(&mut of_bob).is_empty());

    let call = json!({ "tool": "write_file", "arguments": { "path": "a.txt", "content": "x" } });
    let waits = asked(&home, &call.to_string());
    home.palyra(&["admin", "people", "role", "user:bob", "approver"]).expect(0);
    let items = next_list(&mut of_bob);
    assert_eq!(items.len(), 1, "{items:?}");
    assert_eq!(items[0]["approval_id"], json!(waits.approval));
    home.palyra(&["admin", "people", "role", "user:bob", "member"]).expect(0);
    assert!(next_list(&mut of_bob).is_empty());
}

#[test]
fn a_watch_shows_what_waits_when_it_begins_to_and_when_it_ends() {
    let runtime = runtime();
    let model = serve(&runtime, caller());
    let home = home_with(&model).with("PALYRA__HTTP__LISTEN", "127.0.0.1:0");
    let port = port(&home);
    let owner = token(&home, "user:local");
    let bob = token(&home, "user:bob");
    let watch = |token: &str| {
        let header = "accept: text/event-stream\r\n".to_owned();
        HttpRequest { header, ..get("GET /api/v1/attention-watch", token) }.send(port).lines()
    };
    let (mut mine, mut of_bob) = (watch(&owner), watch(&bob));
    assert!(next_list(&mut mine).is_empty() && next_list(&mut of_bob).is_empty());

    let call = json!({ "tool": "write_file", "arguments": { "path": "a.txt", "content": "x" } });
    let waits = asked(&home, &call.to_string());
    let items = next_list(&mut mine);
    assert_eq!(items.len(), 1, "{items:?}");
    assert_eq!((&items[0]["kind"], &items[0]["approval_id"]), (&json!("approval"), &json!(waits.approval)));

    home.palyra(&["approve", "no", &waits.approval]).expect(0);
    assert!(next_list(&mut mine).is_empty());

    // What another principal's run asked came between these two lists of Bob's.
    home.palyra(&["admin", "stop"]).expect(0);
    let rest: Vec<String> = of_bob.map_while(Result::ok).collect();
    assert!(!rest.iter().any(|line| line.contains(&waits.run)), "{rest:?}");
}
