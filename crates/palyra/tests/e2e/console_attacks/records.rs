//! One changed byte in the database, on the screen that checks the journal.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;

use serde_json::Value;

use palyra_model_server::{Behaviour, Reply};
use palyra_types::RunId;

use crate::asked::tape;
use crate::browser_visit::BrowserVisit;
use crate::home::Home;
use crate::openai_server::{home_with, runtime, serve};

/// A word that only the model says.
const MARK: &str = "ambermark4711";
/// Bytes of an envelope before its run, as docs/journal-format.md has them.
const BEFORE_THE_RUN: usize = 72;
/// Where an envelope has its number, and the last byte of its time.
const NUMBER_AT: usize = 8;
const TIME_END: usize = 23;

/// A start checks this many entries at the end of the journal, and refuses where one is bad.
const CHECKED_AT_START: u64 = 64;

/// An entry of a run.
struct RunEntry {
    seq: u64,
    run: RunId,
    tape_seq: u32,
}

fn newest_seq(home: &Home) -> u64 {
    let newest = home.palyra(&["journal", "show", "--limit", "1", "--json"]).expect(0).json();
    newest[0]["seq"].as_u64().unwrap()
}

/// Returns the first entry of a run that has a text.
fn entry_with(home: &Home, run: &str, text: &str) -> RunEntry {
    let entries = tape(home, run);
    let found = entries.iter().find(|entry| entry.to_string().contains(text)).unwrap();
    let tape_seq = u32::try_from(found["tape_seq"].as_u64().unwrap()).unwrap();
    let log = home.palyra(&["journal", "show", "--limit", "1000", "--json"]).expect(0).json();
    let same = |entry: &&Value| entry["run_id"] == run && entry["tape_seq"] == tape_seq;
    RunEntry {
        seq: log.iter().find(same).unwrap()["seq"].as_u64().unwrap(),
        run: run.parse().unwrap(),
        tape_seq,
    }
}

/// Stops the daemon with everything in the database file.
fn settle(home: &Home) {
    home.palyra(&["admin", "stop"]).expect(0);
    home.palyra(&["runs", "list"]).expect(0);
    home.palyra(&["admin", "stop"]).expect(0);
}

fn places_of(database: &[u8], bytes: &[u8]) -> Vec<usize> {
    database
        .windows(bytes.len())
        .enumerate()
        .filter(|(_, window)| *window == bytes)
        .map(|(at, _)| at)
        .collect()
}

/// Returns where the envelope of an entry begins.
fn envelopes_of(database: &[u8], entry: &RunEntry) -> Vec<usize> {
    let wanted = [&entry.run.to_bytes()[..], &entry.tape_seq.to_be_bytes()].concat();
    let begins = places_of(database, &wanted).into_iter().filter_map(|at| at.checked_sub(BEFORE_THE_RUN));
    let is_it = |at: &usize| database[at + NUMBER_AT..][..8] == entry.seq.to_be_bytes();
    begins.filter(is_it).collect()
}

/// Changes one bit of the database of a daemon that does not run.
fn flip(home: &Home, at: usize) {
    let file = OpenOptions::new().read(true).write(true).open(home.state_dir().join("journal.db")).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, at as u64).unwrap();
    file.write_all_at(&[byte[0] ^ 1], at as u64).unwrap();
}

/// Returns what the screens of the verification and of the proof say.
fn verified(home: &Home) -> [String; 2] {
    // The command line notices the change by itself, and would give no link.
    home.forget_heads();
    let paths = [("PALYRA_TEST_PATHS", "/console/proofs/check,/console/proofs")];
    let mut visit = BrowserVisit::start("console_attacks/pages.mjs", home, &paths);
    let pages = [visit.next("page"), visit.next("page")].map(|page| page.as_str().unwrap().to_owned());
    visit.end();
    pages
}

/// Changes the byte at one of these places at a time, and expects the screen to name the entry for one of them: a page of the
/// file may hold an older copy of the same bytes, which is not an entry.
#[track_caller]
fn named_by_the_screen(home: &Home, places: &[usize], seq: u64) {
    let named = places.iter().any(|at| {
        flip(home, *at);
        let [check, _] = verified(home);
        home.forget_heads();
        home.palyra(&["admin", "stop"]).expect(0);
        flip(home, *at);
        let names_it = check.lines().any(|line| line.starts_with(&format!("{seq}: ")));
        check.contains("The journal does not verify.") && names_it
    });
    assert!(named, "entry {seq} at {places:?}");
}

fn is_first(body: &Value) -> bool {
    body["messages"].as_array().unwrap().last().unwrap()["content"] == "first"
}

/// The control is the same journal before and after, in which every entry verifies.
#[test]
fn a_flipped_byte_is_named_with_its_entry() {
    let runtime = runtime();
    let model =
        serve(&runtime, Behaviour::by(|body| Reply::text(if is_first(body) { MARK } else { "Done." })));
    let home = home_with(&model);
    home.palyra(&["run", "first"]).expect(0);
    let runs = home.palyra(&["runs", "list", "--json"]).expect(0).json();
    // The text is long enough ago that a start does not look at it.
    let entry = entry_with(&home, runs[0]["run_id"].as_str().unwrap(), MARK);
    while newest_seq(&home) < entry.seq + CHECKED_AT_START {
        home.palyra(&["run", "later"]).expect(0);
    }
    assert!(verified(&home)[0].contains("Every entry verified."), "the control");

    settle(&home);
    let database = fs::read(home.state_dir().join("journal.db")).unwrap();
    let envelopes: Vec<usize> = envelopes_of(&database, &entry).into_iter().map(|at| at + TIME_END).collect();
    named_by_the_screen(&home, &envelopes, entry.seq);
    named_by_the_screen(&home, &places_of(&database, MARK.as_bytes()), entry.seq);
    assert!(verified(&home)[0].contains("Every entry verified."), "the control");
}
