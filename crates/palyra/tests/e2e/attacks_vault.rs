//! Whoever got hold of a vault's secret tries to have it written down: by a tool, by a model, in every spelling that is
//! easily undone, in pieces, in an error, a path, a name. The canary is the value; a twin of it that was never put into
//! the vault goes the same road beside it, and is found.

use std::fmt::Write;

use palyra_model_server::{Behaviour, Reply};
use serde_json::json;

use crate::home::Home;
use crate::openai_server::{home_with, runtime, serve};
use crate::redaction::{files, forms, holds, unbase64};

/// What is in the vault, and what is not; no rule knows either.
const CANARY: &str = "walnut-harbour?lantern/0417";
const TWIN: &str = "copper-meadow?thimble/2201";

/// Ways to write a text so that everybody can read it again.
fn spellings(value: &str) -> Vec<String> {
    let hex = value.bytes().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    });
    let percent = value.bytes().fold(String::new(), |mut text, byte| {
        if byte.is_ascii_alphanumeric() || byte == b'-' {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
        text
    });
    let base64 = |text: &str| crate::redaction::base64(text.as_bytes());
    let url_safe = base64(value).replace('+', "-").replace('/', "_");
    vec![
        value.to_owned(),
        base64(value),
        url_safe.trim_end_matches('=').to_owned(),
        base64(&format!("{{\"key\":\"{value}\"}}")),
        hex.clone(),
        hex.to_uppercase(),
        percent,
        value.chars().rev().collect(),
    ]
}

/// Returns whether a text gives a value away in any of these ways.
fn tells(bytes: &[u8], value: &str) -> bool {
    let backwards: String = value.chars().rev().collect();
    if forms(value).iter().any(|(_, form)| holds(bytes, form)) || holds(bytes, backwards.as_bytes()) {
        return true;
    }
    let words = bytes.split(|byte| !(byte.is_ascii_alphanumeric() || b"+/=-_%".contains(byte)));
    words.filter(|word| word.len() >= 24).any(|word| {
        let word = String::from_utf8_lossy(word);
        let plain = unbase64(&word.replace('-', "+").replace('_', "/"));
        holds(&plain, value.as_bytes()) || word.replace("%3F", "?").replace("%2F", "/").contains(value)
    })
}

/// Everything that was told, sent and kept.
fn places(home: &Home, told: Vec<(String, Vec<u8>)>) -> Vec<(String, Vec<u8>)> {
    let mut places = told;
    home.palyra(&["admin", "stop"]).expect(0);
    files(&home.state_dir(), &mut places);
    places
}

#[track_caller]
fn only_the_twin_is_told(places: &[(String, Vec<u8>)], wanted: &[&str]) {
    for (place, bytes) in places {
        assert!(!tells(bytes, CANARY), "{place} tells the value");
    }
    for place in wanted {
        let found = places.iter().any(|(name, bytes)| name.contains(place) && tells(bytes, TWIN));
        assert!(found, "the control is not in {place}");
    }
}

fn keep(home: &Home) {
    let kept = home.palyra_reading(&["admin", "vault", "put", "forge", "--host", "forge.example"], CANARY);
    kept.expect(0);
}

#[test]
fn a_secret_that_is_echoed_in_any_spelling_is_a_placeholder() {
    let said: Vec<String> = [CANARY, TWIN].into_iter().flat_map(spellings).collect();
    let mut reply = Reply::empty();
    // In pieces that cut every spelling at another place.
    for (at, spelling) in said.iter().enumerate() {
        let (first, rest) = spelling.split_at(3 + at % 7);
        let (second, third) = rest.split_at(rest.len() / 2);
        reply = reply.piece(" so: ").piece(first).piece(second).piece(third);
    }
    let reading = Reply::empty().call("read_file", &json!({ "path": "echo.txt" }).to_string());
    let runtime = runtime();
    let server = serve(&runtime, Behaviour::each(vec![reading, reply]));
    let home = home_with(&server).with("PALYRA_LOG", "trace");
    keep(&home);
    home.write("echo.txt", &said.join("\n"));
    let ran = home.palyra(&["run", "read what it echoed"]).expect(0);
    let tape = home.palyra(&["runs", "tail", "last", "--json"]).expect(0);
    assert!(ran.out.matches("<secret:vault>").count() >= spellings(CANARY).len(), "{}", ran.out);
    let sent: String = server.asked().iter().map(|asked| asked.body.to_string()).collect();
    let told = vec![
        ("standard output".to_owned(), ran.out.into_bytes()),
        ("standard error".to_owned(), ran.err.into_bytes()),
        ("the tape".to_owned(), tape.out.into_bytes()),
        ("what the model was sent".to_owned(), sent.into_bytes()),
    ];
    let wanted = ["standard output", "the tape", "what the model was sent", "journal.db"];
    only_the_twin_is_told(&places(&home, told), &wanted);
}

#[test]
fn a_secret_in_an_error_a_path_a_name_or_the_log_is_a_placeholder() {
    let path = |value: &str| json!({ "path": format!("keys-{}.txt", value.replace('/', "-")) }).to_string();
    let lost = |value: &str| json!({ "path": format!("lost/{value}") }).to_string();
    let calls = Reply::empty()
        .call("read_file", &lost(TWIN))
        .call("list_files", "{}")
        .call("read_file", &path(TWIN))
        .call("read_file", &lost(CANARY));
    let refusal = format!("the key {CANARY} of {TWIN} is not known here");
    let runtime = runtime();
    let behaviour = Behaviour::each(vec![calls, Reply::text("Read."), Reply::error(400, "odd", &refusal)]);
    let server = serve(&runtime, behaviour);
    let home = home_with(&server).with("PALYRA_LOG", "trace");
    keep(&home);
    // A name of a file cannot hold a slash; what a value without one is called is told by its own secret.
    let name = CANARY.replace('/', "-");
    home.palyra_reading(&["admin", "vault", "put", "plain"], &name).expect(0);
    home.write(&format!("{name}.txt"), "nothing to hide\n");
    home.write(&format!("keys-{}.txt", TWIN.replace('/', "-")), &format!("{TWIN}\n"));
    let ran = home.palyra(&["run", "look around"]);
    let tape = home.palyra(&["runs", "tail", "last", "--json"]);
    let failed = home.palyra(&["run", "and then?"]).expect(1);
    assert!(failed.err.contains("<secret:vault> of"), "{}", failed.err);
    let sent: String = server.asked().iter().map(|asked| asked.body.to_string()).collect();
    let told = vec![
        ("standard output".to_owned(), ran.out.into_bytes()),
        ("standard error".to_owned(), ran.err.into_bytes()),
        ("a failure".to_owned(), failed.err.into_bytes()),
        ("the tape".to_owned(), tape.out.into_bytes()),
        ("what the model was sent".to_owned(), sent.into_bytes()),
    ];
    let places = places(&home, told);
    only_the_twin_is_told(&places, &["a failure", "the tape", "what the model was sent", "journal.db"]);
    for (place, bytes) in &places {
        assert!(!tells(bytes, &name), "{place} tells the name of a file");
    }
}
