//! Conversations in the shell: branched at a number, named, found, put away and taken up again.

use palyra_model_server::{Behaviour, Reply};
use serde_json::Value;

use crate::openai_server::{home_with, runtime, serve};

/// Returns what was said in a request, without the instructions.
fn said(messages: &Value) -> Vec<(String, String)> {
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    let all = messages.as_array().unwrap().iter().map(|each| (word(&each["role"]), word(&each["content"])));
    all.filter(|(role, _)| role != "system").collect()
}

#[test]
fn two_branches_go_on_apart_and_neither_hears_of_the_other() {
    let runtime = runtime();
    let server = serve(
        &runtime,
        Behaviour::by(|body| {
            let last =
                body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned();
            Reply::text(&format!("re: {last}"))
        }),
    );
    let home = home_with(&server);
    let asks = |session: &str, text: &str| {
        home.palyra(&["run", "--session", session, text]).expect(0);
        said(&server.asked().pop().unwrap().body["messages"])
    };
    let pairs = |texts: &[(&str, &str)]| -> Vec<(String, String)> {
        texts.iter().map(|(role, text)| ((*role).to_owned(), (*text).to_owned())).collect()
    };
    asks("trunk", "one");
    asks("trunk", "two");
    let tape = home.palyra(&["runs", "tail", "last", "--json"]).expect(0).json();
    let text = tape.iter().find(|entry| !entry["model_message"].is_null()).unwrap()["tape_seq"].to_string();
    // Before the answer to "two", and behind it.
    let early = home.palyra(&["sessions", "branch", "last@1", "--label", "Early bird"]).expect(0);
    let late = home.palyra(&["sessions", "branch", &format!("last@{text}")]).expect(0);
    let (early, late) = (early.out.trim(), late.out.trim());
    let shared = pairs(&[("user", "one"), ("assistant", "re: one"), ("user", "two")]);
    let with = |more: &[(&str, &str)]| [shared.clone(), pairs(more)].concat();
    for round in ["", " again"] {
        let (a, b, c) = (format!("early{round}"), format!("late{round}"), format!("trunk{round}"));
        let (heard_early, heard_late, heard_trunk) = (asks(early, &a), asks(late, &b), asks("trunk", &c));
        for (heard, prefix, own) in [
            (heard_early, with(&[]), "early"),
            (heard_late, with(&[("assistant", "re: two")]), "late"),
            (heard_trunk, with(&[("assistant", "re: two")]), "trunk"),
        ] {
            assert_eq!(heard[..prefix.len()], prefix[..], "{own}");
            let rest = &heard[prefix.len()..];
            assert!(!rest.is_empty() && rest.iter().all(|(_, text)| text.contains(own)), "{own}: {rest:?}");
        }
    }
    let beyond = home.palyra(&["sessions", "branch", "last@999"]).expect(1);
    assert!(beyond.err.contains("error[PLY-1113]: the run's tape ends at "), "{}", beyond.err);
    home.palyra(&["sessions", "branch", "last@0"]).expect(2);
    let found = home.palyra(&["sessions", "list", "--search", "early BIRD", "--json"]).expect(0).json();
    assert_eq!((found.len(), &found[0]["session_id"]), (1, &early.into()));
    home.palyra(&["journal", "verify"]).expect(0);
}

#[test]
fn a_session_that_was_put_away_is_found_refuses_and_comes_back_with_its_history() {
    let runtime = runtime();
    let held = palyra_testkit::Gate::closed();
    let server = serve(
        &runtime,
        Behaviour::each(vec![
            Reply::text("noted"),
            Reply::text("still here"),
            Reply::empty().piece("never ").hold(&held),
        ]),
    );
    let home = home_with(&server);
    let list = |arguments: &[&str]| {
        let all = [&["sessions", "list", "--json"], arguments].concat();
        home.palyra(&all).expect(0).json().len()
    };
    home.palyra(&["run", "--session", "trip", "the invoice is 4711"]).expect(0);
    home.palyra(&["sessions", "rename", "trip", "Urlaub \u{1f3d6}"]).expect(0);
    let control = home.palyra(&["sessions", "rename", "trip", "a\u{1b}[31m"]).expect(2);
    assert!(!control.err.contains('\u{1b}'), "{}", control.err);
    for wanted in ["urlaub", "TRIP", "4711"] {
        assert_eq!(list(&["--search", wanted]), 1, "{wanted}");
    }
    assert_eq!(list(&["--search", "4712"]), 0);
    home.palyra(&["sessions", "archive", "trip"]).expect(0);
    assert_eq!((list(&[]), list(&["--archived"]), list(&["--all", "--search", "4711"])), (0, 1, 1));
    for more in [&["--session", "trip"][..], &["--session", "trip", "--interrupt"]] {
        let refused = home.palyra(&[&["run", "more"], more].concat()).expect(5);
        assert!(refused.err.contains("error[PLY-1111]: the session is archived"), "{}", refused.err);
    }
    home.palyra(&["sessions", "restore", "trip"]).expect(0);
    assert_eq!(home.palyra(&["run", "--session", "trip", "more"]).expect(0).out, "still here\n");
    let heard = said(&server.asked()[1].body["messages"]);
    let words: Vec<_> = heard.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(words, ["the invoice is 4711", "noted", "more"]);

    let running = home.command(&["run", "--session", "trip", "last"]).spawn().unwrap();
    runtime.block_on(held.reached());
    let queued = home.command(&["run", "--session", "trip", "queued", "--json"]).spawn();
    let mut queued = queued.unwrap();
    let mut out = std::io::BufReader::new(queued.stdout.take().unwrap());
    crate::home::read_until(&mut out, "run_started");
    let cleaned = home.palyra(&["sessions", "cleanup", "trip"]).expect(0);
    assert!(cleaned.err.contains("2 runs"), "{}", cleaned.err);
    crate::home::ended(running).expect(130);
    crate::home::ended(queued).expect(130);
    assert_eq!((list(&[]), list(&["--archived"]), server.asked().len()), (0, 1, 3));
    home.palyra(&["journal", "verify"]).expect(0);
}
