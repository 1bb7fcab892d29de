//! What the shell is told.

use std::io::{BufReader, Read};

use palyra_model_server::{Behaviour, Reply};

use crate::home::{Home, ended, read_until};
use crate::openai_server::{home_with, runtime, serve};

#[test]
fn what_cannot_be_meant_exits_with_two() {
    let home = Home::new();
    for arguments in [
        &["rum"][..],
        &["run", " "],
        &["runs", "show", "nonsense"],
        &["--connect", "http://example.com:7", "runs", "list"],
    ] {
        let ended = home.palyra(arguments).expect(2);
        assert!(ended.out.is_empty() && ended.err.starts_with("error"), "{}", ended.err);
    }
    home.palyra(&["--help"]).expect(0);
}

#[test]
fn where_nothing_may_be_started_exits_with_four() {
    let home = Home::new();
    let ended = home.palyra(&["--no-start", "run", "hello"]).expect(4);
    assert!(ended.err.starts_with("error[PLY-1401]: no daemon serves "), "{}", ended.err);
    assert!(!home.state_dir().exists());
}

#[test]
fn a_daemon_that_cannot_start_exits_with_four_and_says_why() {
    let home = Home::new();
    std::fs::create_dir_all(home.config_file().parent().unwrap()).unwrap();
    std::fs::write(home.config_file(), "[limits]\nturn_max = 5\n").unwrap();
    let ended = home.palyra(&["run", "hello"]).expect(4);
    assert!(
        ended.err.contains("error[PLY-1301]: ") && ended.err.contains("limits.turns_max"),
        "{}",
        ended.err
    );
}

#[test]
fn a_second_daemon_on_one_directory_is_refused() {
    let home = Home::new();
    home.palyra(&["run", "hello"]).expect(0);
    let second = home.palyra(&["serve"]);
    assert_eq!(second.code, 5);
    assert!(second.err.contains("PLY-1402"), "{}", second.err);
}

#[test]
fn a_denied_call_exits_with_three_although_the_run_is_done() {
    let runtime = runtime();
    let replies =
        vec![Reply::empty().call("read_file", "{\"path\":\"/etc/passwd\"}"), Reply::text("I may not.")];
    let server = serve(&runtime, Behaviour::each(replies));
    let ended = home_with(&server).palyra(&["run", "read the users"]).expect(3);
    assert!(ended.err.contains("✗ denied (PLY-4003 "), "{}", ended.err);
    assert_eq!(ended.out, "I may not.\n");
}

#[test]
fn a_tool_that_the_model_invented_was_withheld_by_nobody_and_exits_with_zero() {
    let runtime = runtime();
    let replies =
        vec![Reply::empty().call("no_such_tool", "{\"argv\":[\"ls\"]}"), Reply::text("There is none.")];
    let server = serve(&runtime, Behaviour::each(replies));
    let ended = home_with(&server).palyra(&["run", "list files with ls"]).expect(0);
    assert!(ended.err.contains("✗ denied (PLY-4001 unknown_tool)"), "{}", ended.err);
    assert_eq!(ended.out, "There is none.\n");
}

#[test]
fn what_is_already_so_is_no_conflict_and_what_cannot_be_is() {
    let home = Home::new();
    home.palyra(&["run", "hello"]).expect(0);
    let cancelled = home.palyra(&["runs", "cancel", "last"]).expect(0);
    assert!(cancelled.err.contains("the run had finished already: done"), "{}", cancelled.err);
    for verb in ["steer", "answer"] {
        home.palyra(&["runs", verb, "last", "go on"]).expect(5);
    }
    home.palyra(&["runs", "undo", "last"]).expect(1);
    let help = home.palyra(&["help", "exit-codes"]).expect(0).out;
    assert!(help.contains("conflicts with the current state"), "{help}");
}

#[test]
fn what_does_not_exist_exits_with_one() {
    let home = Home::new();
    let ended = home.palyra(&["runs", "show", "01ARZ3NDEKTSV4RRFFQ69G5FAV"]).expect(1);
    assert!(ended.err.starts_with("· starting") && ended.err.contains("error[PLY-1103]: "), "{}", ended.err);
    let ended = home.palyra(&["run", "--session", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "hello"]).expect(1);
    assert!(ended.err.contains("error[PLY-1101]: "), "{}", ended.err);
}

#[test]
fn standard_input_is_read_when_asked_for_or_when_nothing_is_given() {
    let home = Home::new();
    home.write("a.md", "# Piped\n");
    for arguments in [&["run"][..], &["run", "-"]] {
        let ended = home.palyra_reading(arguments, "read a.md\n").expect(0);
        assert!(ended.out.contains("Piped"), "{}", ended.out);
    }
    home.palyra_reading(&["run"], "").expect(2);
}

#[test]
fn a_reader_that_leaves_ends_the_program_quietly_and_not_the_run() {
    let home = Home::new();
    home.write("README.md", "# Reader\n\nText.\n");
    let mut child =
        home.command(&["run", "[pace=60] Read README.md and tell me what it says"]).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    read_until(&mut out, "\n");
    drop(out);
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert_eq!(ended(child).code, 0);
    assert!(!err.contains("error") && !err.contains("panicked"), "{err}");
    let tail = home.palyra(&["runs", "tail", "last"]).expect(0);
    assert!(tail.out.contains("Reader"), "{}", tail.out);
}
