//! A model that asks the person, who answers when it suits.

use rustix::process::{Signal, kill_process};

use crate::asked::{is_whole, of, tape};
use crate::home::{Home, until_ended};

#[test]
fn a_question_waits_through_a_killed_daemon_and_goes_on_with_the_answer() {
    let home = Home::new();
    let waits = home.palyra(&["run", "ask me what colour to use"]).expect(3);
    assert!(waits.err.contains("What colour to use?"), "{}", waits.err);
    let run = &home.palyra(&["runs", "show", "last", "--json"]).expect(0).json()[0];
    assert_eq!((&run["phase"], &run["waiting_for"]), (&"waiting".into(), &"question".into()));
    let id = run["run_id"].as_str().unwrap();
    assert!(waits.err.contains(&format!("palyra runs answer {id} TEXT")), "{}", waits.err);
    assert!(home.palyra(&["approve", "list"]).expect(0).out.is_empty(), "a question is no approval");

    let daemon = home.daemon_pid();
    kill_process(daemon, Signal::KILL).unwrap();
    until_ended(daemon);
    home.palyra(&["runs", "answer", "last", "blue"]).expect(0);
    let tail = home.palyra(&["runs", "tail", id]).expect(0);
    assert!(tail.out.contains(" answered: blue\n"), "{}", tail.out);
    assert!(tail.out.contains("You answered: blue\n"), "{}", tail.out);
    let tape = tape(&home, id);
    assert_eq!((of(&tape, "tool_started").len(), of(&tape, "tool_finished").len()), (1, 1));
    is_whole(&home);
}

#[test]
fn a_question_can_be_left_unanswered() {
    let home = Home::new();
    home.palyra(&["run", "ask me what colour to use"]).expect(3);
    home.palyra(&["runs", "cancel", "last"]).expect(0);
    let tail = home.palyra(&["runs", "tail", "last"]).expect(130);
    assert!(tail.out.contains(" cancelled\n"), "{}", tail.out);
    is_whole(&home);
}
