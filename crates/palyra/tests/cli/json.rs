//! `--json`: what every verb prints for programs, and how errors are told to them.

use serde_json::Value;

use crate::home::Home;

#[test]
fn every_verb_prints_values_with_names_in_snake_case() {
    let home = Home::new();
    home.palyra(&["init", "--json"]).expect(0);
    home.palyra(&["run", "--session", "notes", "what can you do"]).expect(0);
    let token = home.palyra(&["admin", "tokens", "create", "user:a", "--json"]).expect(0).json()[0].clone();
    for arguments in [
        &["init"][..],
        &["run", "what can you do"],
        &["runs", "list"],
        &["runs", "show", "last"],
        &["runs", "tail", "last"],
        &["runs", "cancel", "last"],
        &["sessions", "list"],
        &["sessions", "show", "notes"],
        &["sessions", "reset", "notes"],
        &["model", "list"],
        &["model", "test"],
        &[
            "model",
            "add",
            "here",
            "--base-url",
            "http://127.0.0.1:9/v1",
            "--model",
            "m",
            "--no-test",
            "--no-default",
        ],
        &["journal", "verify"],
        &["journal", "status"],
        &["journal", "show"],
        &["journal", "rebuild"],
        &["doctor"],
        &["config", "show"],
        &["admin", "agents"],
        &["admin", "tokens", "list"],
        &["admin", "tokens", "revoke", token["token_id"].as_str().unwrap()],
        &["admin", "stop"],
    ] {
        let ended = home.palyra(&[arguments, &["--json"]].concat()).expect(0);
        let values = ended.json();
        assert!(!values.is_empty(), "{arguments:?} says nothing");
        for value in &values {
            assert!(value.is_object(), "{arguments:?}: {value}");
            each_name(value, &mut |name| {
                let plain = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
                assert!(plain, "{arguments:?}: {name}");
            });
        }
    }
    let talked = home.palyra_reading(&["chat", "--json"], "what can you do\n").expect(0);
    assert!(talked.json().iter().any(|entry| entry.get("run_finished").is_some()), "{}", talked.out);
}

fn each_name(value: &Value, visit: &mut impl FnMut(&str)) {
    match value {
        Value::Object(members) => members.iter().for_each(|(name, value)| {
            visit(name);
            each_name(value, visit);
        }),
        Value::Array(values) => values.iter().for_each(|value| each_name(value, visit)),
        _ => {}
    }
}

#[test]
fn an_error_is_one_line_of_json_whoever_found_it() {
    let home = Home::new();
    let told = |arguments: &[&str], code: i32| {
        let ended = home.palyra(arguments).expect(code);
        assert!(ended.out.is_empty(), "{}", ended.out);
        let last = ended.err.lines().last().unwrap_or_default().to_owned();
        let error: Value =
            serde_json::from_str(&last).unwrap_or_else(|error| panic!("{error}: {}", ended.err));
        error["error"].clone()
    };
    let from_daemon = told(&["runs", "show", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "--json"], 1);
    assert_eq!((&from_daemon["code"], &from_daemon["slug"]), (&"PLY-1103".into(), &"run_not_found".into()));
    assert!(from_daemon["message"].as_str().is_some_and(|text| !text.is_empty()));
    assert!(from_daemon["mend"].as_str().is_some_and(|text| text.contains("palyra runs list")));
    assert_eq!(told(&["run", " ", "--json"], 2)["slug"], "invalid_argument");
    assert_eq!(told(&["runs", "list", "--json", "--limt"], 2)["slug"], "invalid_argument");
    home.palyra(&["admin", "stop"]).expect(0);
    assert_eq!(told(&["--no-start", "runs", "list", "--json"], 4)["slug"], "daemon_unreachable");
}
