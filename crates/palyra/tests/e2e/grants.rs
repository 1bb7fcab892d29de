//! A yes that is kept: equal calls run silently, every other asks, and its end is told at once.

use std::fs;

use crate::asked::{asked, of, tape};
use serde_json::json;

use crate::caller::{call, caller};
use crate::fetches::allow;
use crate::home::{Ended, Home, ended};
use crate::openai_server::{home_with, runtime, serve};
use crate::web_server::{WebServer, said};

const ASK: &str = "create a.txt with x";

#[test]
fn always_lets_equal_calls_run_and_nothing_else_until_it_is_revoked() {
    let home = Home::new();
    let file = home.work().join("a.txt");
    let first = asked(&home, ASK);
    let always = home.palyra(&["approve", "always", "last"]).expect(0);
    assert!(always.err.contains("matching calls now run without asking (grant "), "{}", always.err);
    tape(&home, &first.run);
    fs::remove_file(&file).unwrap();

    let silent = home.palyra(&["run", ASK]).expect(0);
    assert!(!silent.err.contains("? write_file"), "{}", silent.err);
    assert_eq!(fs::read_to_string(&file).unwrap(), "x");
    let grant = home.palyra(&["approve", "grants", "--json"]).expect(0).json().remove(0);
    let grant = grant["grant_id"].as_str().unwrap();
    let entries = tape(&home, "last");
    let decided = of(&entries, "tool_decided");
    assert_eq!((&decided[0]["decided_by"], &decided[0]["decider_id"]), (&"grant".into(), &grant.into()));
    assert!(of(&entries, "approval_requested").is_empty());

    for other in ["create b.txt with x", "create a.txt with y"] {
        let other = asked(&home, other);
        let differs = format!("differs from what the stored grant {} covers", &grant[20..]);
        assert!(other.told.err.contains(&differs), "{}", other.told.err);
        home.palyra(&["approve", "no", &other.approval]).expect(0);
    }
    let listed = home.palyra(&["approve", "grants"]).expect(0);
    assert!(listed.out.contains("write_file(content=\"x\", path=\"a.txt\")"), "{}", listed.out);

    home.palyra(&["approve", "revoke", grant]).expect(0);
    fs::remove_file(&file).unwrap();
    asked(&home, ASK);
    assert!(!file.exists());
    assert!(home.palyra(&["approve", "grants"]).expect(0).out.is_empty());
}

#[test]
fn a_grant_ends_with_its_uses_and_reaches_no_further_than_its_folder() {
    let home = Home::new();
    fs::create_dir(home.work().join("drafts")).unwrap();
    asked(&home, "create drafts/one.txt with x");
    let wish = ["approve", "always", "last", "--any", "content", "--below", "path=drafts", "--uses", "2"];
    home.palyra(&wish).expect(0);
    tape(&home, "last");
    home.palyra(&["run", "create drafts/two.txt with y"]).expect(0);
    for beyond in ["create drafts-of-others.txt with y", "create notes.txt with y"] {
        let asked = asked(&home, beyond);
        home.palyra(&["approve", "no", &asked.approval]).expect(0);
    }
    home.palyra(&["run", "create drafts/../../outside.txt with y"]).expect(3);
    assert!(!home.work().join("../outside.txt").exists());
    home.palyra(&["run", "create drafts/three.txt with z"]).expect(0);
    asked(&home, "create drafts/four.txt with z");
}

#[test]
fn a_grant_for_a_server_covers_its_pages_and_no_other_server() {
    let runtime = runtime();
    let model = serve(&runtime, caller());
    let other = WebServer::saying("text/plain", "other");
    let elsewhere = other.url("/");
    let web = WebServer::start(move |request| {
        Some(match request.starts_with("GET /away ") {
            true => said("302 Found", &[("location", &elsewhere)], ""),
            false => said("200 OK", &[("content-type", "text/plain")], "here"),
        })
    });
    let home = home_with(&model);
    allow(&home, &[&web, &other]);
    let fetch = |url: &str| call("http_fetch", &json!({ "url": url }));
    let first = asked(&home, &fetch(&web.url("/one")));
    let origin = format!("url={}", web.url(""));
    let refused = home.palyra(&["approve", "always", "last", "--below", &origin]);
    assert_ne!(refused.code, 0, "an address is no path: {refused:?}");
    assert!(refused.err.contains("`url` is not a path"), "{}", refused.err);
    home.palyra(&["approve", "always", "last", "--host", &origin]).expect(0);
    tape(&home, &first.run);
    home.palyra(&["run", &fetch(&web.url("/two?x=1"))]).expect(0);
    assert_eq!(web.heard().len(), 2);
    // What it answers may lead elsewhere: nobody goes there.
    home.palyra(&["run", &fetch(&web.url("/away"))]).expect(0);
    assert_eq!((web.heard().len(), other.heard().len()), (3, 0));
    for url in [other.url("/one"), web.url("/one").replace("http://", &format!("http://{}@", other.place()))]
    {
        home.palyra(&["run", &fetch(&url)]).expect(3);
    }
    assert_eq!((web.heard().len(), other.heard().len()), (3, 0));
    let listed = home.palyra(&["approve", "grants"]).expect(0);
    assert!(listed.out.contains(&format!("url on {}", web.url(""))), "{}", listed.out);
}

/// Runs an input in another folder than the home's own.
fn run_in(home: &Home, folder: &std::path::Path) -> Ended {
    ended(home.command(&["run", ASK]).current_dir(folder).spawn().unwrap())
}

#[test]
fn a_grant_of_one_folder_covers_nothing_in_another_unless_it_was_given_for_any() {
    let home = Home::new();
    let first = asked(&home, ASK);
    home.palyra(&["approve", "always", &first.approval]).expect(0);
    tape(&home, &first.run);
    let other = home.work().parent().unwrap().join("other");
    fs::create_dir(&other).unwrap();
    run_in(&home, &other).expect(3);
    assert!(!other.join("a.txt").exists());
    // The control: where it was given, nobody is asked.
    fs::remove_file(home.work().join("a.txt")).unwrap();
    home.palyra(&["run", ASK]).expect(0);
    assert_eq!(fs::read_to_string(home.work().join("a.txt")).unwrap(), "x");
    let listed = home.palyra(&["approve", "grants"]).expect(0);
    assert!(listed.out.contains(home.work().to_str().unwrap()), "{}", listed.out);

    let waiting = home.palyra(&["approve", "list", "--json"]).expect(0).json().remove(0);
    let reason = waiting["prompt"]["reason"].as_str().unwrap();
    assert!(reason.contains("was given in another folder"), "{reason}");
    let approval = waiting["approval_id"].as_str().unwrap();
    home.palyra(&["approve", "always", approval, "--any-folder"]).expect(0);
    tape(&home, waiting["run_id"].as_str().unwrap());
    fs::remove_file(other.join("a.txt")).unwrap();
    run_in(&home, &other).expect(0);
    assert_eq!(fs::read_to_string(other.join("a.txt")).unwrap(), "x");
}
