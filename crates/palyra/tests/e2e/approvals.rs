//! A change of files waits for a person, whatever happens to the daemon meanwhile, and runs once or not at all.

use std::fs;
use std::io::BufReader;

use rustix::process::{Signal, kill_process};
use serde_json::json;

use crate::asked::{asked, is_whole, of, tape};
use crate::caller::{call, caller};
use crate::home::{Home, ended, read_until, signal, until_ended};
use crate::openai_server::{home_with, runtime, serve};

const ASK: &str = "create notes.txt with hello world";

fn kill(home: &Home) {
    let daemon = home.daemon_pid();
    kill_process(daemon, Signal::KILL).unwrap();
    until_ended(daemon);
}

#[test]
fn a_yes_after_the_daemon_was_killed_writes_the_file_once() {
    let home = Home::new();
    let notes = home.work().join("notes.txt");
    let waits = asked(&home, ASK);
    for line in ["? write_file creates `notes.txt` (11 bytes)\n", "\n  +++ notes.txt\n", "\n  +hello world\n"]
    {
        assert!(waits.told.err.contains(line), "{}", waits.told.err);
    }
    assert!(!notes.exists());

    kill(&home);
    let shown = home.palyra(&["approve", "show", &waits.approval]).expect(0);
    assert!(shown.err.contains("starting the daemon") && shown.out.contains("+hello world"), "{shown:?}");
    kill(&home);
    let yes = home.palyra(&["approve", "yes", "last"]).expect(0);
    assert!(yes.err.contains("starting the daemon") && yes.err.contains("✓ approved"), "{}", yes.err);

    let tape = tape(&home, &waits.run);
    assert_eq!(fs::read_to_string(&notes).unwrap(), "hello world");
    assert_eq!(fs::read_dir(home.work()).unwrap().count(), 1, "nothing else was made");
    assert_eq!(of(&tape, "tool_started").len(), 1);
    assert_eq!(of(&tape, "approval_requested").len(), 1, "it is asked once");
    let finished = of(&tape, "tool_finished");
    assert_eq!((finished.len(), &finished[0]["succeeded"]), (1, &true.into()));
    let late = home.palyra(&["approve", "no", &waits.approval]).expect(5);
    assert!(late.err.contains("it was decided before: approved by you, "), "{}", late.err);
    // The same answer again succeeds, and says that it is not the one that decided.
    let again = home.palyra(&["approve", "yes", &waits.approval]).expect(0);
    assert!(again.err.contains("it was already approved by you, "), "{}", again.err);
    assert!(!again.err.contains("✓ approved"), "{}", again.err);
    is_whole(&home);

    let undone = home.palyra(&["runs", "undo", "last"]).expect(0);
    assert!(undone.err.contains("✓ notes.txt: removed; it did not exist before the run\n"), "{}", undone.err);
    assert!(!notes.exists(), "it was not there before the run");
    is_whole(&home);
}

#[test]
fn a_no_after_the_daemon_was_killed_writes_nothing_and_the_run_goes_on() {
    let home = Home::new();
    let waits = asked(&home, ASK);
    kill(&home);
    home.palyra(&["approve", "no", "last", "not", "in this folder"]).expect(0);
    let tail = home.palyra(&["runs", "tail", &waits.run]).expect(3);
    assert!(tail.out.contains(" denied by you: not in this folder\n"), "{}", tail.out);
    assert!(tail.out.contains("I stop here."), "the model answers to it: {}", tail.out);
    assert!(!home.work().join("notes.txt").exists());

    let tape = tape(&home, &waits.run);
    assert_eq!(of(&tape, "tool_started").len(), 0);
    let resolved = of(&tape, "approval_resolved");
    assert_eq!((resolved.len(), &resolved[0]["state"]), (1, &"APPROVAL_STATE_DENIED".into()));
    let exported = &home.palyra(&["approve", "export"]).expect(0).json()[0];
    let who = exported["principal"].as_str().unwrap();
    for told in [exported["decided_by"].as_str(), resolved[0]["by"].as_str()] {
        assert_eq!(told, Some(who), "who denied is on record");
    }
    assert_eq!(exported["note"], "not in this folder");
    is_whole(&home);
}

#[test]
fn what_a_person_changes_in_a_call_is_what_runs() {
    let home = Home::new();
    let waits = asked(&home, ASK);
    let answered = home.palyra(&["approve", "yes", "last", "--set", "path=drafts.txt"]).expect(0).err;
    let approved = answered.lines().find(|line| line.contains("approved: ")).unwrap_or_default();
    assert!(approved.contains("drafts.txt") && !approved.contains("notes.txt"), "{answered}");
    let tape = tape(&home, &waits.run);
    assert_eq!(of(&tape, "tool_started").len(), 1);
    assert!(!home.work().join("notes.txt").exists());
    assert_eq!(fs::read_to_string(home.work().join("drafts.txt")).unwrap(), "hello world");
    is_whole(&home);
}

#[test]
fn a_file_that_changed_since_it_was_asked_is_asked_about_again() {
    let home = Home::new();
    home.write("notes.txt", "one\n");
    let waits = asked(&home, ASK);
    home.write("notes.txt", "another\n");
    let yes = home.palyra(&["approve", "yes", &waits.approval]);
    assert!(yes.err.contains("has changed since it was asked, so nothing ran"), "{yes:?}");
    assert_eq!(fs::read_to_string(home.work().join("notes.txt")).unwrap(), "another\n");
    assert!(yes.out.contains("new: -another\n") && yes.out.contains("no more: -one\n"), "{}", yes.out);
    assert!(!yes.out.contains("hello world"), "what is the same is not said again: {}", yes.out);
    let again = home.palyra(&["approve", "show", "last"]).expect(0);
    assert!(again.out.contains("changed   new: -another\n"), "{}", again.out);
    assert!(again.out.contains("Asked again because") && again.out.contains("-another"), "{}", again.out);
    home.palyra(&["approve", "yes", "last"]).expect(0);
    let tape = tape(&home, &waits.run);
    assert_eq!(of(&tape, "tool_started").len(), 1);
    assert_eq!(fs::read_to_string(home.work().join("notes.txt")).unwrap(), "hello world");
}

#[test]
fn where_nobody_will_answer_nothing_is_asked() {
    let home = Home::new();
    let denied = home.palyra(&["run", "--approve", "never", ASK]).expect(3);
    assert!(denied.err.contains("✗ denied (PLY-4017 no_approval_channel)"), "{}", denied.err);
    let none = home.palyra(&["approve", "list", "--all"]).expect(0);
    assert!(none.out.is_empty(), "{}", none.out);
    let tape = tape(&home, "last");
    assert!(of(&tape, "approval_requested").is_empty() && of(&tape, "tool_started").is_empty());
    assert!(!home.work().join("notes.txt").exists());
}

#[test]
fn a_call_that_cannot_run_any_more_says_to_the_person_what_changed() {
    let home = Home::new();
    home.write("notes.txt", "tea\n");
    let waits = asked(&home, "replace \"tea\" with \"coffee\" in notes.txt");
    home.write("notes.txt", "another\n");
    let yes = home.palyra(&["approve", "yes", &waits.approval]).expect(5).err;
    assert!(
        yes.contains("nothing ran; the question was withdrawn after it was asked: what the call acts on has changed since the question: the text to replace"),
        "{yes}"
    );
    assert!(
        yes.contains("is not in `notes.txt`; the model was given the error; `palyra runs tail "),
        "{yes}"
    );
    assert!(!yes.contains("copy the text"), "{yes}");
    // The model still reads all of it.
    let tape = tape(&home, &waits.run);
    let decided = of(&tape, "tool_decided");
    assert!(decided.iter().any(|told| told.to_string().contains("copy the text exactly")), "{decided:?}");
    // Who watches reads it once.
    let tail = home.palyra(&["runs", "tail", &waits.run]).out;
    assert!(
        tail.contains(
            " withdrawn: what the call acts on has changed since the question: the text to replace is not in"
        ),
        "{tail}"
    );
    assert!(!tail.contains(" not done: "), "{tail}");
}

#[test]
fn the_explanation_of_a_call_says_who_answered_the_question_and_why() {
    let home = Home::new();
    asked(&home, ASK);
    let open = home.palyra(&["policy", "explain", "last", "1"]).expect(0).out;
    assert!(open.contains("the question: waits\n"), "{open}");
    home.palyra(&["approve", "no", "last", "--note", "the colours come from the theme"]).expect(0);
    let explained = home.palyra(&["policy", "explain", "last", "1"]).expect(0).out;
    let answer = explained.lines().find(|line| line.starts_with("the question: denied by you, ")).unwrap();
    assert!(answer.ends_with(": the colours come from the theme"), "{explained}");
}

#[test]
fn a_cancelled_run_takes_its_question_with_it() {
    let home = Home::new();
    let waits = asked(&home, ASK);
    home.palyra(&["runs", "cancel", &waits.run]).expect(0);
    let late = home.palyra(&["approve", "yes", &waits.approval]).expect(5);
    assert!(late.err.contains("withdrawn"), "{}", late.err);
    assert!(of(&tape(&home, &waits.run), "tool_started").is_empty());
    assert!(!home.work().join("notes.txt").exists());
}

#[test]
fn who_watches_sees_a_question_come_and_be_answered() {
    let home = Home::new();
    let mut watcher = home.command(&["approve", "watch", "--json"]).spawn().unwrap();
    let mut out = BufReader::new(watcher.stdout.take().unwrap());
    let waits = asked(&home, ASK);
    let came = read_until(&mut out, "APPROVAL_STATE_PENDING");
    assert!(came.contains(&waits.approval), "{came}");
    home.palyra(&["approve", "yes", &waits.approval]).expect(0);
    let went = read_until(&mut out, "APPROVAL_STATE_APPROVED");
    assert!(went.contains(&waits.approval), "{went}");
    signal(&watcher, Signal::INT);
    drop(out);
    assert_eq!(ended(watcher).code, 0);
}

#[test]
fn a_yes_that_waits_shows_how_the_run_ends_with_its_exit_code() {
    let home = Home::new();
    let waits = asked(&home, ASK);
    let told = home.palyra(&["approve", "yes", &waits.approval, "--wait"]).expect(0);
    assert_eq!(fs::read_to_string(home.work().join("notes.txt")).unwrap(), "hello world");
    assert!(told.err.contains("✓ approved: write_file creates `notes.txt`"), "{}", told.err);
    // What was there before the answer is not shown again; what came after it is, as `run` shows it.
    assert!(!told.err.contains("? write_file"), "{}", told.err);
    assert!(told.out.contains("notes.txt") && !told.out.contains("I will create"), "{}", told.out);

    // The control: without the flag it says how it goes on, and shows nothing of it.
    let waits = asked(&home, "create b.txt with x");
    let told = home.palyra(&["approve", "yes", &waits.approval]).expect(0);
    let next = format!("`palyra runs tail {}` shows how it goes on", waits.run);
    assert!(told.err.contains(&next) && told.out.is_empty(), "{told:?}");
    tape(&home, &waits.run);

    // A late answer is one that does not count, and nothing is followed.
    home.palyra(&["approve", "no", &waits.approval]).expect(5);
    let late = home.palyra(&["approve", "yes", &waits.approval, "--set", "content=y", "--wait"]).expect(5);
    assert!(late.err.contains("it was decided before"), "{}", late.err);
}

#[test]
fn a_yes_that_waits_ends_at_the_next_question() {
    use palyra_model_server::{Behaviour, Reply};
    let runtime = crate::openai_server::runtime();
    let call = |path: &str| {
        Reply::empty().call("write_file", &serde_json::json!({ "path": path, "content": "x" }).to_string())
    };
    let behaviour = Behaviour::each(vec![call("one.txt"), call("two.txt"), Reply::text("both are there")]);
    let model = crate::openai_server::serve(&runtime, behaviour);
    let home = crate::openai_server::home_with(&model);
    home.palyra(&["run", "look around"]).expect(3);
    let next = home.palyra(&["approve", "yes", "last", "--wait"]).expect(3);
    assert!(
        next.err.contains("? write_file creates `two.txt`") && next.err.contains("palyra approve yes "),
        "{}",
        next.err
    );
    let end = home.palyra(&["approve", "yes", "last", "--wait"]).expect(0);
    assert_eq!(end.out, "both are there\n");
}

#[test]
fn an_approval_that_is_decided_names_who_decided_and_no_time() {
    let home = Home::new();
    let waits = asked(&home, ASK);
    let open = home.palyra(&["approve", "show", &waits.approval]).expect(0).out;
    assert!(open.contains("left\n") && !open.contains("decider"), "{open}");
    home.palyra(&["approve", "yes", &waits.approval, "--wait"]).expect(0);
    let decided = home.palyra(&["approve", "show", &waits.approval]).expect(0).out;
    assert!(decided.contains("\ndecider   you\n") && !decided.contains("left\n"), "{decided}");
}

#[test]
fn a_write_that_changes_nothing_is_not_asked_about_and_says_so() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let home = home_with(&server);
    home.write("notes.txt", "hello");
    home.write(".env", "KEY=lantern");
    let write = |path: &str, content: &str| call("write_file", &json!({ "path": path, "content": content }));
    home.palyra(&["run", &write("notes.txt", "hello")]);
    let unchanged = tape(&home, "last");
    for kind in ["approval_requested", "tool_started"] {
        assert!(of(&unchanged, kind).is_empty(), "{kind}: {unchanged:#?}");
    }
    let decided = of(&unchanged, "tool_decided");
    let told = decided.last().unwrap()["explanation"].as_str().unwrap();
    assert_eq!(told, "`notes.txt` has this content already; nothing was changed");
    // The controls: another content is asked about, and so is a file that may hold a secret, whatever it has.
    asked(&home, &write("notes.txt", "hello world"));
    asked(&home, &write(".env", "KEY=lantern"));
    assert_eq!(fs::read_to_string(home.work().join("notes.txt")).unwrap(), "hello");
}
