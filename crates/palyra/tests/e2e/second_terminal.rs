//! A run that streams in one terminal, and what is said to it from a second one.

use std::io::{BufReader, Read};

use palyra_model_server::{Behaviour, Reply};
use palyra_testkit::Gate;

use crate::home::{ended, read_until};
use crate::openai_server::{home_with, runtime, serve};

fn texts(messages: &serde_json::Value) -> Vec<String> {
    let all = messages.as_array().unwrap().iter().skip(1);
    all.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_streaming_run_is_steered_and_both_terminals_see_the_same() {
    let runtime = runtime();
    let gate = Gate::closed();
    let first = Reply::empty().piece("about dogs").hold(&gate);
    let server = serve(&runtime, Behaviour::each(vec![first, Reply::text("about cats")]));
    let home = home_with(&server);
    let one = home.command(&["run", "--session", "s", "tell me"]).spawn().unwrap();
    runtime.block_on(gate.reached());
    let mut two = home.command(&["run", "--session", "s", "--steer", "cats!", "--json"]).spawn().unwrap();
    let mut out = BufReader::new(two.stdout.take().unwrap());
    let mut seen = read_until(&mut out, "cats!");
    let steered = home.palyra(&["runs", "steer", "last", "and short"]).expect(0);
    assert!(steered.err.contains("the run takes it into account"), "{}", steered.err);
    gate.open();
    out.read_to_string(&mut seen).unwrap();
    assert_eq!(ended(one).expect(0).out, "about dogs\nabout cats\n");
    ended(two).expect(0);
    let asked = server.asked();
    assert_eq!(asked.len(), 2);
    assert_eq!(texts(&asked[1].body["messages"]), ["tell me", "about dogs", "cats!", "and short"]);
    assert_eq!(home.palyra(&["runs", "list", "--json"]).expect(0).json().len(), 1);
    assert_eq!(home.palyra(&["runs", "tail", "last", "--json"]).expect(0).out, seen);

    // What is said to a run that is over is a run of its own, where that is asked for.
    let refused = home.palyra(&["runs", "steer", "last", "too late"]).expect(5);
    assert!(
        refused.err.contains("error[PLY-1104]")
            && refused.err.contains(" --new TEXT` starts a new run of its session"),
        "{}",
        refused.err
    );
    let late = home.palyra(&["runs", "steer", "last", "--new", "too late"]).expect(0);
    assert!(late.err.contains("the run is over; the input is run 01"), "{}", late.err);
    home.palyra(&["runs", "tail", "last"]).expect(0);
    assert_eq!(texts(&server.asked()[2].body["messages"])[5..], ["too late"]);
}

#[test]
fn an_input_for_an_active_run_is_acknowledged_at_once() {
    let runtime = runtime();
    let gate = Gate::closed();
    let first = Reply::empty().piece("about dogs").hold(&gate);
    let server = serve(&runtime, Behaviour::each(vec![first, Reply::text("about cats")]));
    let home = home_with(&server);
    let one = home.command(&["run", "--session", "s", "tell me"]).spawn().unwrap();
    runtime.block_on(gate.reached());
    let mut two = home.command(&["run", "--session", "s", "--steer", "cats!"]).spawn().unwrap();
    let mut err = BufReader::new(two.stderr.take().unwrap());
    // The model is still speaking.
    read_until(&mut err, "handed to the active run");
    gate.open();
    let mut rest = String::new();
    err.read_to_string(&mut rest).unwrap();
    ended(one).expect(0);
    ended(two).expect(0);
    let alone = home.palyra(&["run", "--session", "s", "--steer", "and birds"]);
    assert!(alone.err.contains("no run of the session is active: this starts one"), "{}", alone.err);
}

#[test]
fn an_interrupt_goes_first_and_nothing_that_was_typed_is_lost() {
    let runtime = runtime();
    let gate = Gate::closed();
    let first = Reply::empty().piece("on and on ").hold(&gate);
    let server = serve(&runtime, Behaviour::each(vec![first, Reply::text("stopped"), Reply::text("queued")]));
    let home = home_with(&server);
    let one = home.command(&["run", "--session", "s", "tell me all"]).spawn().unwrap();
    runtime.block_on(gate.reached());
    let mut queued = home.command(&["run", "--session", "s", "later", "--json"]).spawn().unwrap();
    let mut out = BufReader::new(queued.stdout.take().unwrap());
    read_until(&mut out, "run_started");
    let two = home.palyra(&["run", "--session", "s", "--interrupt", "stop that"]).expect(0);
    assert_eq!(two.out, "stopped\n");
    let left = ended(one).expect(130);
    assert_eq!(left.out, "");
    assert!(left.err.contains("· interrupted by another input of its session\n"), "{}", left.err);
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    ended(queued).expect(0);
    let asked = server.asked();
    assert_eq!(texts(&asked[1].body["messages"]), ["tell me all", "stop that"]);
    assert_eq!(texts(&asked[2].body["messages"]), ["tell me all", "stop that", "stopped", "later"]);
    let states: Vec<_> = home.palyra(&["runs", "list", "--json"]).expect(0).json();
    let states: Vec<_> = states.iter().map(|run| run["state"].as_str().unwrap()).collect();
    assert_eq!(states.iter().filter(|state| **state == "RUN_STATE_CANCELLED").count(), 1, "{states:?}");
    home.palyra(&["journal", "verify"]).expect(0);
}
