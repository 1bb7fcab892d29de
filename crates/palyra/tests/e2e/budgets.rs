//! Budgets of a real daemon: runs that wait are shown and go on, over a kill too; refusals have their codes.

use palyra_model_server::{Behaviour, ModelServer, Reply};
use rustix::process::{Signal, kill_process};
use serde_json::{Value, json};

use crate::asked::is_whole;
use crate::home::{Home, until_ended};
use crate::openai_server::{home_with, runtime, serve};

fn budget(home: &Home, words: &[&str]) {
    home.palyra(&[&["budget"], words].concat()).expect(0);
}

/// Says something that the budget has no room for; returns the id of the run, which waits.
fn parked(home: &Home, model: &ModelServer, words: &str) -> String {
    let asked = model.asked().len();
    let told = home.palyra(&["run", "--session", words, words]).expect(3);
    assert!(told.err.contains("palyra budget go-on"), "{}", told.err);
    let run = home.palyra(&["runs", "show", "last", "--json"]).expect(0).json().remove(0);
    assert_eq!((&run["phase"], &run["waiting_for"]), (&"waiting".into(), &"budget".into()), "{run:#}");
    assert_eq!(model.asked().len(), asked, "no model is asked");
    run["run_id"].as_str().unwrap().to_owned()
}

fn answered(home: &Home, run: &str) {
    let tail = home.palyra(&["runs", "tail", run]).expect(0);
    assert!(tail.out.contains("Very well."), "{}", tail.out);
}

/// Says something that a budget refuses for good.
fn refused(home: &Home, model: &ModelServer, words: &str, code: &str) -> String {
    let asked = model.asked().len();
    let told = home.palyra(&["run", "--session", words, words]).expect(1);
    assert!(told.err.contains(&format!("error[{code}]")), "{}", told.err);
    assert_eq!(model.asked().len(), asked, "no model is asked");
    told.err
}

fn account(home: &Home) -> Value {
    let listed = home.palyra(&["budget", "list", "--json"]).expect(0).json();
    listed[0]["accounts"][0].clone()
}

#[test]
fn a_run_that_waits_for_a_budget_is_shown_and_goes_on_when_a_person_lets_it_also_after_a_kill() {
    let runtime = runtime();
    let model = serve(&runtime, Behaviour::always(Reply::text("Very well.")));
    let home = home_with(&model);
    budget(&home, &["set", "calls", "--limit", "requests=1", "--window", "endless"]);
    home.palyra(&["run", "--session", "one", "one"]).expect(0);
    let topped_up = parked(&home, &model, "two");
    let status = home.palyra(&["status"]).expect(0).out;
    assert!(status.contains("in this folder: 1 run that waits for a budget\n"), "{status}");
    assert!(
        status.contains("`palyra budget go-on RUN` lets one go on") && !status.contains("wants an answer"),
        "{status}"
    );
    budget(&home, &["top-up", "calls", "requests=1"]);
    answered(&home, &topped_up);

    let killed = parked(&home, &model, "three");
    let daemon = home.daemon_pid();
    kill_process(daemon, Signal::KILL).unwrap();
    until_ended(daemon);
    let run = home.palyra(&["runs", "show", &killed, "--json"]).expect(0).json().remove(0);
    assert_eq!(run["waiting_for"], "budget", "{run:#}");
    assert_eq!(model.asked().len(), 2, "a start asks no model for it");
    let goes_on = home.palyra(&["budget", "go-on", &killed]).expect(0);
    assert!(
        goes_on.err.contains("the limit of `calls` is raised by 1 request for it, with no end"),
        "{goes_on:?}"
    );
    answered(&home, &killed);
    let listed = home.palyra(&["budget", "list"]).expect(0);
    assert!(listed.out.contains("3 requests (+2)"), "{}", listed.out);
    assert!(listed.err.contains("(+N) is the part of a limit that `palyra budget go-on`"), "{}", listed.err);
    let spent = account(&home);
    assert_eq!(spent["topped_up"]["requests"], json!(2), "{spent:#}");
    assert_eq!((&spent["spent"]["requests"], &spent["reserved"]), (&json!(3), &json!({})), "{spent:#}");

    // A change wakes it as well.
    let changed = parked(&home, &model, "four");
    budget(&home, &["set", "calls", "--limit", "requests=4", "--window", "endless"]);
    answered(&home, &changed);
    is_whole(&home);
}

#[test]
fn a_budget_that_refuses_and_one_of_money_without_a_price_end_runs_with_their_codes() {
    let runtime = runtime();
    let model = serve(&runtime, Behaviour::always(Reply::text("Very well.")));
    let home = home_with(&model);
    let limit = ["set", "calls", "--limit", "requests=1", "--window", "endless", "--at-limit", "refuse"];
    budget(&home, &limit);
    home.palyra(&["run", "--session", "one", "one"]).expect(0);
    let told = refused(&home, &model, "two", "PLY-5007");
    assert!(told.contains("`calls`"), "{told}");
    budget(&home, &["remove", "calls"]);
    home.palyra(&["run", "--session", "three", "three"]).expect(0);
    budget(&home, &["set", "dollars", "--limit", "money=1.00"]);
    let told = refused(&home, &model, "four", "PLY-5008");
    assert!(told.contains("dollars") && told.contains("test-model"), "{told}");
}
