//! A tape of more than 10,000 entries in the console.

use std::sync::atomic::{AtomicUsize, Ordering};

use palyra_model_server::{Behaviour, Reply};
use serde_json::{Value, json};

use crate::browser_visit::BrowserVisit;
use crate::home::Home;
use crate::openai_server::{home_with, runtime, serve};

/// An answer may hold 64 calls.
const CALLS_PER_TURN: usize = 60;
const TURNS: usize = 44;
const ENTRIES_MIN: u64 = 10_000;
/// Rows of a page, at most, open or not.
const ROWS_MAX: u64 = 600;

/// Calls a reading tool many times in each turn, each time for another file.
fn reader() -> Behaviour {
    let requests = AtomicUsize::new(0);
    // Counted here: the window does not have every message of so long a run.
    Behaviour::by(move |_| {
        let turn = requests.fetch_add(1, Ordering::Relaxed);
        if turn == TURNS {
            return Reply::text("That is all.");
        }
        (0..CALLS_PER_TURN).fold(Reply::empty(), |reply, at| {
            let path = format!("part{turn}/file{at}.txt");
            reply.call("read_file", &json!({ "path": path }).to_string())
        })
    })
}

fn home_with_files(home: &Home) {
    for turn in 0..TURNS {
        let folder = home.work().join(format!("part{turn}"));
        std::fs::create_dir(&folder).unwrap();
        for at in 0..CALLS_PER_TURN {
            std::fs::write(folder.join(format!("file{at}.txt")), format!("{turn} {at}\n")).unwrap();
        }
    }
}

#[test]
fn a_page_of_a_long_tape_stays_small_and_a_link_to_an_entry_lands_there() {
    let runtime = runtime();
    let model = serve(&runtime, reader());
    let home = home_with(&model);
    home.configure("[limits]\ntool_calls_max = 100000\nturns_max = 100\nparallel_tools_max = 64\n");
    home.palyra(&["admin", "stop"]);
    home_with_files(&home);
    home.palyra(&["run", "read everything"]).expect(0);
    let runs = home.palyra(&["runs", "list", "--json"]).expect(0).json();
    assert!(runs[0]["last_tape_seq"].as_u64().unwrap() > ENTRIES_MIN, "{}", runs[0]);

    let run = runs[0]["run_id"].as_str().unwrap();
    let mut visit = BrowserVisit::start("console_long_tape/browser.mjs", &home, &[("PALYRA_TEST_RUN", run)]);
    let mut next = |wanted: &str| -> Value {
        let data = visit.next(wanted);
        eprintln!("{wanted} {data}");
        data
    };
    let first = next("first");
    assert!((1..=ROWS_MAX).contains(&first["rows"].as_u64().unwrap()), "{first}");
    assert!(next("scrolled")["presses"].as_u64().unwrap() > 5);
    let at = next("at");
    assert!(at["isSeen"] == true && at["rows"].as_u64().unwrap() <= ROWS_MAX, "{at}");
    visit.end();
}
