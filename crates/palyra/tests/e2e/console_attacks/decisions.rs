//! Answers that come twice, too early, or from two browsers at once.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::asked::{asked, of, tape, writer};
use crate::browser_visit::BrowserVisit;
use crate::home::Home;
use crate::openai_server::{home_with, runtime, serve};

/// Pairs of opposite answers.
const ROUNDS: usize = 6;

/// An approval that is decided once has one decision, and its call starts once.
#[track_caller]
fn started_once(home: &Home, run: &str) {
    let entries = tape(home, run);
    let counts = ["approval_resolved", "tool_started"].map(|kind| of(&entries, kind).len());
    assert_eq!(counts, [1, 1], "{entries:?}");
}

/// The control is the count of forms that were sent.
#[test]
fn an_approval_that_is_sent_many_times_is_decided_once() {
    let runtime = runtime();
    let model = serve(&runtime, writer());
    let home = home_with(&model);
    let waiting = ["one.txt a", "two.txt b", "three.txt c"].map(|input| asked(&home, input));
    let approvals = waiting.iter().map(|waits| waits.approval.as_str()).collect::<Vec<_>>().join(",");
    let mut visit = BrowserVisit::start(
        "console_attacks/many_forms.mjs",
        &home,
        &[("PALYRA_TEST_APPROVALS", &approvals)],
    );
    let by_script = visit.next("with_scripts");
    assert_eq!(by_script["sent"], 1, "the page holds the second one back: {by_script}");
    let at_once = visit.next("at_once");
    assert_eq!(at_once["statuses"], Value::from(vec![200; 12]), "each leads to what was decided: {at_once}");
    let by_clicks = visit.next("without_scripts");
    assert!(by_clicks["sent"].as_u64() >= Some(1), "{by_clicks}");
    for report in [by_script, at_once, by_clicks] {
        assert!(report["notice"].as_str().unwrap().contains("approved by you"), "{report}");
    }
    visit.end();
    for waits in &waiting {
        home.palyra(&["runs", "wait", &waits.run]).expect(0);
        started_once(&home, &waits.run);
    }
}

/// The control is the same click once the card was there for long enough.
#[test]
fn approve_does_nothing_before_the_card_was_seen_for_half_a_second() {
    let runtime = runtime();
    let model = serve(&runtime, writer());
    let home = home_with(&model);
    let waits = asked(&home, "one.txt a");
    let mut visit = BrowserVisit::start(
        "console_attacks/pointer.mjs",
        &home,
        &[("PALYRA_TEST_APPROVAL", &waits.approval)],
    );
    assert_eq!(visit.next("timer"), 500);
    let over = |active: bool| json!({ "aimed": true, "active": active, "waits": true });
    assert_eq!(visit.next("before"), over(false), "two clicks in the first 499 ms decided nothing");
    assert_eq!(visit.next("after"), over(true));
    let out_of_view = visit.next("out_of_view");
    assert_eq!(out_of_view, json!({ "out": false, "into": false, "later": true }));
    let early = visit.next("without_the_script");
    assert!(early["aimed"] == true && early["active"] == true && early["waits"] == true, "{early}");
    assert!(early["alert"].as_str().unwrap().contains("Nothing was decided"), "{early}");
    let control = visit.next("control");
    assert!(control["notice"].as_str().unwrap().contains("approved by you"), "{control}");
    visit.end();
    home.palyra(&["runs", "wait", &waits.run]).expect(0);
    started_once(&home, &waits.run);
}

/// Returns the answer that a card shows, and who gave it.
fn decision(card: &Value) -> (bool, String) {
    let notice = card["notice"].as_str().unwrap();
    let by = notice.split_once(" by ").unwrap_or_else(|| panic!("{card}")).1;
    (notice.contains("approved"), by.split(',').next().unwrap().to_owned())
}

#[test]
fn of_two_browsers_that_decide_at_once_one_wins_and_the_other_sees_who_and_when() {
    let runtime = runtime();
    let model = serve(&runtime, writer());
    let home = home_with(&model);
    let invited = home.palyra(&["admin", "people", "invite", "user:alice"]).expect(0);
    let rounds = ROUNDS.to_string();
    let variables = [("PALYRA_TEST_MEMBER_LINK", invited.out.trim()), ("PALYRA_TEST_ROUNDS", &rounds)];
    let mut visit = BrowserVisit::start("console_attacks/two_browsers.mjs", &home, &variables);
    let mut approvals = BTreeSet::new();
    for _ in 0..ROUNDS {
        let round = visit.next("round");
        let people = ["user:local", "user:alice"];
        let cards = [&round["cards"][0], &round["cards"][1]];
        let decisions = cards.map(decision);
        let winners: Vec<usize> = (0..2).filter(|at| decisions[*at].1 == "you").collect();
        assert_eq!(winners.len(), 1, "{round}");
        let (winner, other) = (winners[0], 1 - winners[0]);
        let approved = round["words"][winner] == "approve";
        assert_eq!(decisions[winner], (approved, "you".to_owned()), "{round}");
        assert_eq!(decisions[other], (approved, people[winner].to_owned()), "{round}");
        assert!(cards[0]["time"] != "" && cards[0]["time"] == cards[1]["time"], "both see when: {round}");
        assert!(cards.iter().all(|card| card["alert"] == "" && card["waits"] == false), "{round}");
        assert_eq!(round["statuses"], json!([200, 200]), "no error page: {round}");

        let approval = round["path"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        let shown = home.palyra(&["approve", "show", &approval, "--json"]).expect(0).json().remove(0);
        let state = if approved { "APPROVAL_STATE_APPROVED" } else { "APPROVAL_STATE_DENIED" };
        assert!(shown.to_string().contains(state), "{shown}");
        approvals.insert(approval);
    }
    visit.end();
    assert_eq!(approvals.len(), ROUNDS, "each round had an approval of its own");
    let entries = home.palyra(&["journal", "show", "--limit", "1000", "--json"]).expect(0).json();
    let resolved = entries.iter().filter(|entry| entry["kind"] == "approval_resolved");
    assert_eq!(resolved.count(), ROUNDS, "one decision each");
}
