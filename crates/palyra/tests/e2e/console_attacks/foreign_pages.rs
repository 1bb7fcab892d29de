//! Pages of another port of this machine, which get the console's cookie as well.

use serde_json::Value;

use crate::asked::{asked, of, tape, writer};
use crate::browser_visit::BrowserVisit;
use crate::openai_server::{home_with, runtime, serve};

/// Checks the card that the person sees after an attack: it waits, and the same person is signed in.
#[track_caller]
fn unchanged(report: &Value) {
    assert_eq!((&report["waits"], &report["person"]), (&true.into(), &"user:local".into()), "{report}");
}

/// The controls: the same requests to a server that permits them, and from the console's own origin, the same click on a card that a frame shows, and the same
/// link in a browser whose person opens it.
#[test]
fn a_page_of_another_port_decides_reads_and_signs_in_nothing() {
    let runtime = runtime();
    let model = serve(&runtime, writer());
    let home = home_with(&model);
    let waits = asked(&home, "one.txt a");
    let invited = home.palyra(&["admin", "people", "invite", "user:mallory"]).expect(0);
    let variables = [
        ("PALYRA_TEST_APPROVAL", waits.approval.as_str()),
        ("PALYRA_TEST_RUN", &waits.run),
        ("PALYRA_TEST_OTHER_LINK", invited.out.trim()),
    ];
    let mut visit = BrowserVisit::start("console_attacks/foreign_pages.mjs", &home, &variables);
    for (name, status) in [
        ("a form without the token", 403),
        ("a form with the token of the page", 403),
        ("a request that reads", 404),
        ("a form that signs out", 403),
        ("a form that uses the link of another person", 403),
        ("a way to the link of another person", 200),
    ] {
        let attack = visit.next("attack");
        assert_eq!((&attack["name"], &attack["status"]), (&name.into(), &status.into()), "{attack}");
        let asks = attack["text"].as_str().unwrap().contains("Open the console");
        assert_eq!(asks, status == 200, "a link asks before it is used: {attack}");
        unchanged(&attack);
    }
    let scripts = visit.next("scripts");
    unchanged(&scripts);
    let outcomes = scripts["outcomes"].as_object().unwrap();
    for (name, outcome) in outcomes.iter().filter(|(name, _)| *name != "a beacon") {
        assert!(outcome["failed"].is_string() || outcome["loaded"] == "failed", "{name}: {outcome}");
    }
    let careless = visit.next("careless");
    let outcome = |name: &str| &careless["outcomes"][name];
    assert_eq!(
        (&outcome("read a page")["text"], &outcome("a stream")["data"]),
        (&"careless".into(), &"careless".into())
    );
    assert!(
        careless["posts"].as_u64() >= Some(3),
        "a server that permits it gets cookie and token: {careless}"
    );
    let frame = visit.next("frame");
    unchanged(&frame);
    assert!(frame["shown"].as_str().unwrap().starts_with("chrome-error:"), "{frame}");
    let control = visit.next("frame_control");
    assert_eq!(control["counted"], 1, "a click in a frame that is shown counts: {control}");
    assert_eq!(visit.next("cookies"), true, "the attacker's pages have the cookie");

    let control = visit.next("scripts_control");
    unchanged(&control);
    let outcome = |name: &str| &control["outcomes"][name];
    assert_eq!(outcome("read a page")["status"], 200, "{control}");
    assert!(outcome("a stream")["data"].is_string(), "{control}");
    for loaded in ["a script", "a style sheet"] {
        assert_eq!(outcome(loaded)["loaded"], "loaded", "{control}");
    }
    let decided = visit.next("form_control");
    assert!(decided["notice"].as_str().unwrap().contains("approved by you"), "{decided}");
    assert_eq!(visit.next("link_control"), "user:mallory", "no attack used the link up");
    visit.end();

    let entries = tape(&home, &waits.run);
    let resolved = of(&entries, "approval_resolved");
    assert_eq!((resolved.len(), &resolved[0]["note"]), (1, &"own".into()), "{resolved:?}");
}
