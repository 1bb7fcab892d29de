//! SIGTERM: what runs may finish, what does not is parked, nothing is lost or doubled, and the exit code is 0.

use std::io::{BufReader, Read};
use std::process::Child;

use palyra_model_server::{Behaviour, Reply};
use palyra_testkit::Gate;
use rustix::process::Signal;
use serde_json::Value;

use crate::home::{Home, ended, read_until, signal};
use crate::openai_server::{home_with, runtime, serve};

/// A daemon that is a child, so that its exit code is seen.
fn served(home: &Home) -> Child {
    let mut child = home.command(&["serve"]).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    read_until(&mut out, "\"ready\":true");
    child
}

/// Returns the entries of the last run, which are numbered without a gap.
fn tape(home: &Home) -> Vec<Value> {
    let tape = home.palyra(&["runs", "tail", "last", "--json"]).expect(0).json();
    let numbers: Vec<_> = tape.iter().map(|entry| entry["tape_seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=tape.len() as u64).collect::<Vec<_>>());
    tape
}

fn count(tape: &[Value], event: &str) -> usize {
    tape.iter().filter(|entry| entry.get(event).is_some()).count()
}

#[test]
fn an_answer_that_streams_finishes_before_the_daemon_goes() {
    let runtime = runtime();
    let gate = Gate::closed();
    let reply = Reply::empty().piece("half ").hold(&gate).piece("whole");
    let server = serve(&runtime, Behaviour::each(vec![reply]));
    let home = home_with(&server);
    let daemon = served(&home);
    let mut child = home.command(&["run", "hello", "--json"]).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut told = read_until(&mut out, "half ");
    signal(&daemon, Signal::TERM);
    // The daemon still answers, and says what it does.
    gate.open();
    out.read_to_string(&mut told).unwrap();
    let run = ended(child).expect(0);
    assert!(!run.err.contains("the daemon is gone"), "{}", run.err);
    assert!(told.lines().last().unwrap().contains("run_finished"), "{told}");
    let log = ended(daemon).expect(0).err;
    assert!(log.contains("stopping") && log.contains("nothing runs any more"), "{log}");
    let tape = tape(&home);
    assert_eq!((count(&tape, "model_requested"), count(&tape, "model_message")), (1, 1));
    let text: String = tape.iter().filter_map(|entry| entry["model_text"]["text"].as_str()).collect();
    assert_eq!(text, "half whole");
    assert_eq!(tape.len(), told.lines().count(), "the stream told every entry");
}

#[test]
fn an_answer_that_does_not_finish_in_time_is_asked_for_again_after_the_next_start() {
    let runtime = runtime();
    let never = Gate::closed();
    let reply = Reply::empty().piece("half ").hold(&never);
    let server = serve(&runtime, Behaviour::each(vec![reply, Reply::text("half whole")]));
    let home = home_with(&server).with("PALYRA__DAEMON__DRAIN_SECONDS", "1");
    let daemon = served(&home);
    let mut child = home.command(&["run", "hello", "--json"]).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut told = read_until(&mut out, "half ");
    signal(&daemon, Signal::TERM);
    let log = ended(daemon).expect(0).err;
    assert!(log.contains("some runs did not stop in time"), "{log}");
    out.read_to_string(&mut told).unwrap();
    let run = ended(child).expect(0);
    assert!(run.err.contains("the daemon is back; going on"), "{}", run.err);
    let tape = tape(&home);
    assert_eq!((count(&tape, "model_requested"), count(&tape, "model_message")), (2, 1));
    assert_eq!(count(&tape, "model_attempt_abandoned"), 1);
    assert_eq!(tape.len(), told.lines().count(), "each entry was told once");
    home.palyra(&["journal", "verify"]).expect(0);
}

#[test]
fn a_tool_that_runs_reports_and_the_run_goes_on_after_the_next_start() {
    let runtime = runtime();
    let search = Reply::empty().call("search", "{\"pattern\":\"needle\"}");
    let server = serve(&runtime, Behaviour::each(vec![search, Reply::text("found it")]));
    let home = home_with(&server);
    let line = "the quick brown fox jumps over the lazy dog\n".repeat(200);
    for folder in 0..40 {
        std::fs::create_dir(home.work().join(folder.to_string())).unwrap();
        for file in 0..40 {
            home.write(&format!("{folder}/{file}.txt"), &line);
        }
    }
    home.write("needle.txt", "needle\n");
    let daemon = served(&home);
    let mut child = home.command(&["run", "search", "--json"]).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut told = read_until(&mut out, "tool_started");
    signal(&daemon, Signal::TERM);
    ended(daemon).expect(0);
    out.read_to_string(&mut told).unwrap();
    ended(child).expect(0);
    let tape = tape(&home);
    assert_eq!((count(&tape, "tool_started"), count(&tape, "tool_finished")), (1, 1), "{tape:?}");
    assert_eq!(count(&tape, "model_message"), 2);
    assert_eq!(tape.len(), told.lines().count(), "each entry was told once");
    let asked = server.requests().into_iter().filter(|request| request.path.contains("chat")).count();
    assert_eq!(asked, 2, "no model was asked twice for the same");
    home.palyra(&["journal", "verify"]).expect(0);
}

#[test]
fn the_second_signal_stops_at_once_and_the_run_is_still_there() {
    let runtime = runtime();
    let server = serve(&runtime, Behaviour::each(vec![Reply::silent(), Reply::text("late")]));
    let home = home_with(&server).with("PALYRA__DAEMON__DRAIN_SECONDS", "3600");
    let mut daemon = served(&home);
    let child = home.command(&["run", "hello"]).spawn().unwrap();
    runtime.block_on(server.wait_until(|counts| counts.requests >= 1));
    let mut log = BufReader::new(daemon.stderr.take().unwrap());
    signal(&daemon, Signal::TERM);
    read_until(&mut log, "stopping");
    // It drains, and whoever asks is told how it is.
    home.palyra(&["--no-start", "runs", "show", "last"]).expect(0);
    signal(&daemon, Signal::TERM);
    read_until(&mut log, "stopping at once");
    ended(daemon).expect(0);
    let run = ended(child).expect(0);
    assert_eq!(run.out, "late\n");
    assert_eq!(count(&tape(&home), "model_message"), 1);
}

#[test]
fn who_stops_the_daemon_waits_for_what_runs() {
    let runtime = runtime();
    let gate = Gate::closed();
    let reply = Reply::empty().piece("half ").hold(&gate).piece("whole");
    let server = serve(&runtime, Behaviour::each(vec![reply]));
    let home = home_with(&server);
    let daemon = served(&home);
    let child = home.command(&["run", "hello"]).spawn().unwrap();
    runtime.block_on(server.wait_asked(1));
    let stopping = home.command(&["admin", "stop"]).spawn().unwrap();
    let mut daemon = daemon;
    let mut log = BufReader::new(daemon.stderr.take().unwrap());
    read_until(&mut log, "the owner asked the daemon to stop");
    gate.open();
    assert_eq!(ended(child).expect(0).out, "half whole\n");
    assert!(ended(stopping).expect(0).err.contains("the daemon has stopped"));
    ended(daemon).expect(0);
}
