//! Pages that stay where they are while much arrives, and many pages of one browser at once.

use palyra_model_server::{Behaviour, Reply};
use serde_json::json;

use crate::browser_visit::BrowserVisit;
use crate::home::Home;
use crate::openai_server::{home_with, runtime, serve};

/// Calls that wait before a page is opened, so that what comes after them arrives while it is open.
const GATES: usize = 2;
/// Turns with calls that need no approval.
const QUIET_TURNS: usize = 12;
/// Calls that need an approval, all at once.
const APPROVALS: usize = 3;
/// Entries that arrive while a page is open.
const ENTRIES_MIN: u64 = 50;
/// How far a page may move, as the sum of the browser's own scores (Layout Instability API).
const SHIFT_MAX: f64 = 0.02;
/// Tabs beside the one that is opened last.
const TABS: u64 = 10;

/// Calls that may run beside each other, so that all are asked about at once.
fn fetches(count: usize, name: &str) -> Reply {
    (0..count).fold(Reply::text("Fetching."), |reply, at| {
        let call = json!({ "url": format!("https://{name}{at}.invalid/") });
        reply.call("http_fetch", &call.to_string())
    })
}

/// Asks to fetch, reads a file in each of several turns, and asks to fetch again.
fn fetcher_and_reader() -> Behaviour {
    Behaviour::by(|body| {
        let messages = body["messages"].as_array().unwrap();
        let asked = messages.iter().rposition(|message| message["role"] == "user").unwrap();
        match messages[asked..].iter().filter(|message| message["role"] == "assistant").count() {
            0 => fetches(GATES, "gate"),
            turn if turn <= QUIET_TURNS => Reply::text("Reading.")
                .call("read_file", &json!({ "path": format!("{turn}.txt") }).to_string()),
            turn if turn == QUIET_TURNS + 1 => fetches(APPROVALS, "part"),
            _ => Reply::text("That is all."),
        }
    })
}

/// Denies what waits, oldest first, at most so many.
fn deny(home: &Home, count: usize) {
    let listed = home.palyra(&["approve", "list", "--json"]).expect(0).json();
    for approval in listed.iter().rev().take(count) {
        home.palyra(&["approve", "no", approval["approval_id"].as_str().unwrap()]).expect(0);
    }
}

#[test]
fn a_page_does_not_move_while_entries_and_approvals_arrive_and_an_eleventh_tab_opens() {
    let runtime = runtime();
    let model = serve(&runtime, fetcher_and_reader());
    let home = home_with(&model);
    for turn in 1..=QUIET_TURNS {
        home.write(&format!("{turn}.txt"), "a note\n");
    }
    let mut visit = BrowserVisit::start("console_moves/browser.mjs", &home, &[]);
    for place in ["short", "end", "above"] {
        assert_eq!(visit.next("waits"), place);
        deny(&home, GATES);
        let moved = visit.next("moved");
        assert_eq!(moved["place"], place);
        assert!(moved["entries"].as_u64().unwrap() >= ENTRIES_MIN, "{moved}");
        assert_eq!(moved["cards"], APPROVALS, "{moved}");
        assert!(moved["shift"].as_f64().unwrap() <= SHIFT_MAX, "{moved}");
        deny(&home, APPROVALS);
    }
    let control = visit.next("control");
    assert!(control["shift"].as_f64().unwrap() > SHIFT_MAX, "the browser counts what moves: {control}");

    assert_eq!(visit.next("active"), true);
    deny(&home, 1);
    assert_eq!(visit.next("rested"), true, "a card that moved is inactive for a moment");

    let tabs = visit.next("tabs");
    assert_eq!(tabs["open"], TABS, "{tabs}");
    eprintln!("the eleventh tab was loaded after {} ms", tabs["millis"]);
    deny(&home, 1);
    assert_eq!(visit.next("live"), true, "the eleventh tab gets its rows");
    visit.end();
}
