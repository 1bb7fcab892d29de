//! Components, as a person uses them: looked at, added after a yes, called by a model within what they were given, changed
//! on the disk, removed. The canary of each refusal is a file of the workspace.

use std::fs;

use rustix::process::{Signal, kill_process};
use serde_json::{Value, json};

use crate::asked::is_whole;
use crate::caller::caller;
use crate::fetches::{allow, approved};
use crate::home::{Home, until_ended};
use crate::openai_server::{home_with, runtime, serve};
use crate::pty::Pty;
use crate::web_server::WebServer;

const PAGE: &str = "lantern 4711";
const SAVE_PAGE: &str = include_str!("components/save_page.wat");

/// What another author makes of it: it answers otherwise, and asks to keep values beside the rest.
const OTHER: [(&str, &str); 3] = [
    ("\"writtenGET", "\"renewedGET"),
    ("\\40\\08\\00\\00\\02\\00\\00\\00\")", "\\40\\08\\00\\00\\03\\00\\00\\00\")"),
    ("\\0f\\00\\00\\00\")", "\\0f\\00\\00\\00\\04\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\")"),
];

/// Writes the component that asks a server of this test.
fn lay(home: &Home, web: &WebServer) -> String {
    lay_text(home, web, SAVE_PAGE)
}

fn lay_text(home: &Home, web: &WebServer, text: &str) -> String {
    lay_for(home, &web.place(), text)
}

/// Writes the component that asks a server at a place.
pub(crate) fn lay_at(home: &Home, place: &str) -> String {
    lay_for(home, place, SAVE_PAGE)
}

fn lay_for(home: &Home, place: &str, text: &str) -> String {
    let hex = |text: &str| text.bytes().map(|byte| format!("\\{byte:02x}")).collect::<String>();
    assert_eq!(place.len(), "127.0.0.1:00000".len(), "its digits are as many as those they replace");
    let text = text.replace(&hex("127.0.0.1:00000"), &hex(place));
    let path = home.work().join("save_page.wasm");
    fs::write(&path, wat::parse_str(text).unwrap()).unwrap();
    path.display().to_string()
}

fn kill(home: &Home) {
    let daemon = home.daemon_pid();
    kill_process(daemon, Signal::KILL).unwrap();
    until_ended(daemon);
}

fn tools(home: &Home, words: &[&str]) -> crate::home::Ended {
    home.palyra(&[&["tools"], words].concat())
}

fn listed(home: &Home) -> Option<Value> {
    tools(home, &["list", "--json"]).expect(0).json().into_iter().find(|tool| tool["name"] == "save_page")
}

fn call(home: &Home) -> Value {
    approved(home, "save_page", &json!({}))
}

#[test]
fn a_component_lives_from_its_addition_to_its_removal() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let web = WebServer::saying("text/plain", PAGE);
    let home = home_with(&server);
    let (file, place) = (lay(&home, &web), web.place());
    allow(&home, &[&web]);

    // Looked at only: nothing is there. Without a yes, nothing is added.
    let shown = tools(&home, &["add", &file, "--json"]).expect(0).json().remove(0)["component"].clone();
    assert_eq!((&shown["name"], &shown["contract"]), (&json!("save_page"), &json!("keyed")));
    assert_eq!(shown["capabilities"], json!(["write_files", format!("http:{place}")]));
    let unasked = tools(&home, &["add", &file]).expect(2);
    assert!(unasked.out.is_empty() && unasked.err.contains("--yes"), "{}", unasked.err);
    assert_eq!(listed(&home), None);

    let added = tools(&home, &["add", &file, "--yes"]).expect(0);
    assert!(added.out.contains("read and change files of the workspace"), "{}", added.out);
    assert!(added.out.contains(&format!("ask the host {place}")), "{}", added.out);
    let there = listed(&home).unwrap();
    assert_eq!(there["component"]["sha256"], shown["sha256"]);
    // The daemon that runs offers it: the page is asked for, and the file is written.
    let outcome = call(&home);
    assert_eq!(
        (&outcome["executor"], &outcome["isolation"]),
        (&json!("wasm"), &json!("component")),
        "{outcome:#}"
    );
    assert_eq!(outcome["output"], "written", "{outcome:#}");
    assert_eq!(fs::read_to_string(home.work().join("page.txt")).unwrap(), PAGE);

    // The same is there after a kill, without another compilation; then it is removed.
    kill(&home);
    assert_eq!(listed(&home).unwrap()["component"], there["component"]);
    tools(&home, &["remove", "save_page"]).expect(0);
    assert_eq!(listed(&home), None);
    assert!(tools(&home, &["remove", "save_page"]).expect(1).err.contains("PLY-4805"));
    assert!(tools(&home, &["remove", "read_file"]).expect(1).err.contains("PLY-4805"), "what ships stays");
    is_whole(&home);
}

#[test]
fn a_component_that_was_changed_on_the_disk_writes_nothing() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let web = WebServer::saying("text/plain", PAGE);
    let home = home_with(&server);
    let file = lay(&home, &web);
    allow(&home, &[&web]);
    tools(&home, &["add", &file, "--yes"]).expect(0);
    let digest = listed(&home).unwrap()["component"]["sha256"].as_str().unwrap().to_owned();
    let kept = home.state_dir().join("components").join(digest).join("component.wasm");
    kill(&home);
    let mut bytes = fs::read(&kept).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&kept, bytes).unwrap();
    let outcome = call(&home);
    assert_eq!(outcome["error_code"], "PLY-4804", "{outcome:#}");
    assert!(!home.work().join("page.txt").exists());
    // The control: added anew, the same file is written.
    tools(&home, &["add", &file, "--yes"]).expect(0);
    assert_eq!(call(&home)["output"], "written");
    assert!(home.work().join("page.txt").exists());
}

#[test]
fn other_bytes_are_asked_about_again_and_nothing_changes_before_the_yes() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let web = WebServer::saying("text/plain", PAGE);
    let home = home_with(&server);
    allow(&home, &[&web]);
    let file = lay(&home, &web);
    tools(&home, &["add", &file, "--yes"]).expect(0);
    let first = listed(&home).unwrap()["component"].clone();
    assert_eq!(call(&home)["output"], "written");

    // The same file has other bytes now.
    let other = OTHER.iter().fold(SAVE_PAGE.to_owned(), |text, (from, to)| {
        assert_eq!(text.matches(from).count(), 1, "{from}");
        text.replace(from, to)
    });
    assert_eq!(lay_text(&home, &web, &other), file);
    let digest = |text: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix("digest")).unwrap();
        line.trim().strip_prefix("sha256:").unwrap().to_owned()
    };
    // Without a terminal nothing is added, and --json only shows.
    let unasked = tools(&home, &["add", &file]).expect(2);
    assert!(unasked.err.contains("--yes"), "{}", unasked.err);
    let shown = tools(&home, &["add", &file, "--json"]).expect(0).json().remove(0)["component"].clone();
    assert!(shown["capabilities"].as_array().unwrap().contains(&json!("key_value")), "{shown:#}");
    let second = shown["sha256"].as_str().unwrap().to_owned();
    assert_ne!(first["sha256"], json!(second));
    assert_eq!(listed(&home).unwrap()["component"], first);

    // Asked at a terminal: a no changes nothing, and the first bytes are what runs.
    let answered = |answer: &str, code: i32| {
        let mut terminal = Pty::spawn(&home.command(&["tools", "add", &file]), 100);
        let shown = terminal.expect("add it? [y/N] ");
        assert!(shown.contains("replaces") && shown.contains("+ keep values between its calls"), "{shown}");
        assert_eq!(digest(&shown), second);
        terminal.type_in(answer);
        assert_eq!(terminal.ended(), code, "{}", terminal.text());
    };
    answered("n\n", 1);
    assert_eq!(listed(&home).unwrap()["component"], first);
    assert_eq!(call(&home)["output"], "written");

    answered("y\n", 0);
    let there = listed(&home).unwrap()["component"].clone();
    assert_eq!(there["sha256"], json!(second));
    assert!(there["capabilities"].as_array().unwrap().contains(&json!("key_value")), "{there:#}");
    assert_eq!(call(&home)["output"], "renewed");
}

#[test]
fn what_is_no_component_is_refused_by_a_daemon_that_goes_on() {
    let home = Home::new();
    fs::write(home.work().join("x.wasm"), b"\0asm\x01\0\0\0").unwrap();
    let file = home.work().join("x.wasm").display().to_string();
    let refused = tools(&home, &["add", &file, "--yes"]).expect(1);
    assert!(refused.err.contains("PLY-4801"), "{}", refused.err);
    let daemon = home.daemon_pid();
    assert!(tools(&home, &["list"]).expect(0).out.contains("read_file"));
    assert_eq!(home.daemon_pid(), daemon);
}

#[test]
fn rules_about_a_component_are_checked_and_tested_without_a_daemon() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let web = WebServer::saying("text/plain", PAGE);
    let home = home_with(&server);
    allow(&home, &[&web]);
    let folder = home.work().join("rules");
    fs::create_dir(&folder).unwrap();
    let rule = "@id(\"no-pages\")\n@reason(\"nothing is saved here\")\nforbid (principal, action, resource == Tool::\"save_page\");\n";
    fs::write(folder.join("mine.cedar"), rule).unwrap();
    let fixture = r#"{"fixtures":[{"name":"a page","tool":"save_page","arguments":{},"expect":"deny"}]}"#;
    fs::write(folder.join("mine.test.json"), fixture).unwrap();
    let of_rules = |verb: &str| home.palyra(&["policy", verb, folder.to_str().unwrap()]);
    let unknown = |told: &crate::home::Ended| told.err.contains("save_page");
    let (checked, tested) = (of_rules("check"), of_rules("test"));
    assert!(unknown(&checked) && tested.code != 0, "the control: {checked:?} {tested:?}");
    tools(&home, &["add", &lay(&home, &web), "--yes"]).expect(0);
    home.palyra(&["admin", "stop"]).expect(0);
    let (checked, tested) = (of_rules("check").expect(0), of_rules("test").expect(0));
    assert!(!unknown(&checked) && !unknown(&tested), "{checked:?} {tested:?}");
    tools(&home, &["remove", "save_page"]).expect(0);
    assert!(unknown(&of_rules("check")), "what was removed is not known any more");
}
