//! A question at a terminal: shown as signs, answered with a letter.

use std::fs;

use crate::home::Home;
use crate::pty::Pty;

fn home() -> Home {
    Home::new().with("TERM", "xterm")
}

#[test]
fn a_yes_that_is_typed_lets_the_call_run() {
    let home = home();
    let mut pty = Pty::spawn(&home.command(&["run", "create notes.txt with hello world"]), 100);
    pty.expect("write_file wants to run (medium risk): creates `notes.txt` (11 bytes)");
    pty.expect("+hello world");
    pty.expect("run it? [y/n/s/m/l/?] ");
    pty.type_in("perhaps\r");
    pty.expect("y runs it, n denies it");
    pty.expect("run it? [y/n/s/m/l/?] ");
    assert!(!home.work().join("notes.txt").exists(), "nothing but a clear yes is a yes");
    pty.type_in("y\r");
    assert_eq!(pty.ended(), 0, "{}", pty.text());
    assert_eq!(fs::read_to_string(home.work().join("notes.txt")).unwrap(), "hello world");
}

#[test]
fn a_no_that_is_typed_tells_the_model_why() {
    let home = home();
    let mut pty = Pty::spawn(&home.command(&["run", "create notes.txt with hello world"]), 100);
    pty.expect("run it? [y/n/s/m/l/?] ");
    pty.type_in("n not here\r");
    pty.expect("not here");
    assert_eq!(pty.ended(), 3, "{}", pty.text());
    assert!(!home.work().join("notes.txt").exists());
}

#[test]
fn the_inbox_shows_and_answers_one_by_one() {
    let home = home();
    for name in ["a", "b"] {
        home.palyra(&["run", &format!("create {name}.txt with hello")]).expect(3);
    }
    let mut pty = Pty::spawn(&home.command(&["approve"]), 100);
    pty.expect("1 of 2");
    pty.expect("a.txt");
    pty.expect("run it? [y/n/s/m/l/?] ");
    pty.type_in("y\r");
    pty.expect("2 of 2");
    pty.expect("b.txt");
    pty.expect("run it? [y/n/s/m/l/?] ");
    pty.type_in("l\r");
    assert_eq!(pty.ended(), 3, "{}", pty.text());
    home.palyra(&["runs", "tail", "last"]).expect(3);
    assert!(!home.work().join("b.txt").exists());
}

#[test]
fn a_second_line_is_no_answer_to_what_the_inbox_shows_next() {
    let home = home();
    for name in ["a", "b"] {
        home.palyra(&["run", &format!("create {name}.txt with hello")]).expect(3);
    }
    let mut pty = Pty::spawn(&home.command(&["approve"]), 100);
    pty.expect("1 of 2");
    pty.expect("run it? [y/n/s/m/l/?] ");
    pty.type_in("y\ry\r");
    pty.expect("2 of 2");
    pty.expect("run it? [y/n/s/m/l/?] ");
    pty.type_in("n\r");
    assert_eq!(pty.ended(), 0, "{}", pty.text());
    home.palyra(&["runs", "tail", "last"]).expect(3);
    assert!(!home.work().join("b.txt").exists(), "{}", pty.text());
}

#[test]
fn what_a_call_says_cannot_steer_the_terminal() {
    let home = home();
    let evil = "create notes.txt with \"CANARY\u{1b}]52;c;cm0=\u{7}\u{1b}[2J\u{202e}\u{200b}end\"";
    let mut pty = Pty::spawn(&home.command(&["run", evil]), 100);
    pty.expect("run it? [y/n/s/m/l/?] ");
    let raw = pty.raw();
    assert!(raw.contains("CANARY") && raw.contains("52;c;cm0="), "{raw:?}");
    for steering in ["\u{1b}]", "\u{7}", "\u{1b}[2J", "\u{202e}", "\u{200b}"] {
        assert!(!raw.contains(steering), "{steering:?} in {raw:?}");
    }
    pty.type_in("m\r");
    pty.expect("run it? [y/n/s/m/l/?] ");
    pty.type_in("n\r");
    assert_eq!(pty.ended(), 3);
    let raw = pty.raw();
    assert!(!raw.contains("\u{1b}]52") && !raw.contains('\u{202e}'), "{raw:?}");
}
