//! What a terminal gets: text as it comes, colours unless unwanted, lines no wider than it is.

use rustix::process::{Signal, kill_process};

use crate::home::Home;
use crate::pty::Pty;

fn home(term: &str) -> Home {
    let home = Home::new().with("TERM", term);
    home.write("README.md", "# Reader\n\nA box that keeps the wind in.\n");
    home
}

#[test]
fn text_is_shown_as_it_comes_and_notes_are_coloured() {
    let home = home("xterm-256color");
    let mut pty = Pty::spawn(&home.command(&["run", "[pace=50] what can you do"]), 80);
    pty.expect("· starting the daemon\n");
    // The rest is still to come when the first word is there.
    pty.expect(" ");
    assert_eq!(pty.ended(), 0);
    let raw = pty.raw();
    // Its words have the terminal's own colour, and the answer's program text another one.
    assert!(
        raw.contains("\n· starting the daemon\r") || raw.starts_with("· starting the daemon\r"),
        "{raw:?}"
    );
    assert!(!raw.contains("\u{1b}[2m") && !raw.contains("\u{1b}[33m"), "{raw:?}");
}

#[test]
fn no_color_and_dumb_terminals_are_respected() {
    for (name, value, term, unwanted) in
        [("NO_COLOR", "1", "xterm", &["[0m", "[2m", "[3"][..]), ("UNUSED", "1", "dumb", &[""])]
    {
        let home = home(term).with(name, value);
        for arguments in [&["run", "Read README.md and tell me what it says"][..], &["journal", "verify"]] {
            let mut pty = Pty::spawn(&home.command(arguments), 80);
            assert_eq!(pty.ended(), 0);
            assert!(pty.text().contains("wind in") || pty.text().contains("ok: "), "{}", pty.text());
            for code in unwanted {
                assert!(!pty.raw().contains(&format!("\u{1b}{code}")), "{term}: {:?}", pty.raw());
            }
        }
    }
}

#[test]
fn tables_and_help_fit_a_narrow_terminal() {
    let home = home("xterm");
    let long = "please tell me, at some length, what you can do for somebody like me";
    home.palyra(&["run", long]).expect(0);
    for arguments in [&["runs", "list"][..], &["journal", "show"], &["admin", "tasks"], &["run", "--help"]] {
        let mut pty = Pty::spawn(&home.command(arguments), 44);
        assert_eq!(pty.ended(), 0);
        let widest = pty.text().lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(44), "{arguments:?}: {}", pty.text());
    }
    let piped = home.palyra(&["runs", "list"]).expect(0).out;
    assert!(piped.contains("somebody like me"), "{piped}");
}

#[test]
fn entries_of_the_journal_have_whole_times_and_kinds_at_any_width() {
    let home = home("xterm");
    home.palyra(&["run", "hello"]).expect(0);
    let is_time = |word: &str| {
        let clock = word.rsplit('T').next().unwrap().trim_end_matches('Z').as_bytes().to_vec();
        clock.len() == 8 && clock[2] == b':' && clock[5] == b':'
    };
    for columns in [40, 80] {
        let mut pty = Pty::spawn(&home.command(&["journal", "show"]), columns);
        assert_eq!(pty.ended(), 0);
        let text = pty.text();
        let row = text.lines().find(|line| line.ends_with(" run_started")).expect(&text);
        let words: Vec<&str> = row.split_whitespace().collect();
        assert!(is_time(words[1]), "{columns}: {row}");
        assert!(columns < 80 || words[2].len() == "D4GYET:1".len() && words[2].ends_with(":1"), "{row}");
        assert!(
            !text.contains('…') && text.lines().all(|line| line.chars().count() <= columns.into()),
            "{text}"
        );
    }
}

#[test]
fn lines_of_words_wrap_between_words_and_a_pipe_gets_them_whole() {
    let home = home("xterm");
    home.palyra(&["run", "what can you do"]).expect(0);
    for arguments in [&["doctor"][..], &["runs", "show", "last"], &["sessions", "show", "last"]] {
        let piped = home.palyra(arguments).out;
        for columns in [40, 80] {
            let mut pty = Pty::spawn(&home.command(arguments), columns);
            pty.ended();
            let rows = pty.text();
            assert!(rows.lines().all(|row| row.chars().count() < usize::from(columns)), "{rows}");
            let long = |word: &&str| word.chars().count() < 20;
            let words: Vec<&str> = rows.split_whitespace().collect();
            let cut = piped.split_whitespace().filter(long).find(|word| !words.contains(word));
            // Times and processes differ from call to call.
            let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
            assert!(cut.is_none_or(is_number), "{cut:?} at {columns} columns: {rows}");
        }
    }
}

#[test]
fn status_questions_errors_and_help_wrap_between_words() {
    let home = home("xterm");
    home.palyra(&["run", "create notes.txt with tea"]).expect(3);
    for arguments in [
        &["status"][..],
        &["approve", "show", "last"],
        &["chat", "XN8H9D"],
        &["approve", "no", "--all-of-them-at-once"],
        &["runs", "show", "nothing-like-this"],
        &["help"],
        &["explain", "topics"],
        &["policy", "--help"],
        &["approve", "always", "--help"],
        &["policy", "posture", "set", "--help"],
    ] {
        let piped = home.palyra(arguments);
        let piped = piped.out + &piped.err;
        for columns in [40, 80] {
            let mut pty = Pty::spawn(&home.command(arguments), columns);
            pty.ended();
            let rows = pty.text();
            assert!(
                rows.lines().all(|row| row.chars().count() < usize::from(columns)),
                "{arguments:?}: {rows}"
            );
            let words: Vec<&str> = rows.split_whitespace().collect();
            let cut = piped
                .split_whitespace()
                .filter(|word| word.chars().count() < 20)
                .find(|word| !words.contains(word) && !word.contains(|c: char| c.is_ascii_digit()));
            assert_eq!(cut, None, "{arguments:?} at {columns} columns: {rows}");
        }
    }
}

#[test]
fn help_is_wrapped_once() {
    let home = home("xterm");
    for (arguments, alone) in [
        (&["admin", "vault", "put", "--help"][..], "not"),
        (&["model", "add", "--help"], "never"),
        (&["runs", "--help"], "as"),
    ] {
        let mut pty = Pty::spawn(&home.command(arguments), 80);
        assert_eq!(pty.ended(), 0);
        let rows = pty.text();
        assert!(rows.contains("Usage: palyra "), "{rows}");
        assert!(rows.lines().all(|row| row.trim() != alone && row.chars().count() < 80), "{rows}");
    }
}

#[test]
fn long_work_shows_progress_and_takes_it_away() {
    let home = home("xterm");
    home.palyra(&["run", "what can you do"]).expect(0);
    let mut pty = Pty::spawn(&home.command(&["journal", "verify"]), 80);
    assert_eq!(pty.ended(), 0);
    let raw = pty.raw();
    let (progress, result) = (raw.find("\r\u{1b}[Kverifying 100%"), raw.find("\r\u{1b}[Kok: "));
    assert!(progress.is_some() && progress < result, "{raw:?}");
}

#[test]
fn an_erasure_asks_and_takes_nothing_but_a_yes() {
    let home = home("xterm");
    home.palyra(&["run", "what can you do"]).expect(0);
    let tape = || home.palyra(&["runs", "tail", "last"]).expect(0).out;
    let before = tape();
    for answer in ["\n", "n\n", "nay\n", "yes please\n", "\u{4}"] {
        let mut pty = Pty::spawn(&home.command(&["journal", "erase", "--run", "last"]), 80);
        pty.expect("would lose their content\n");
        pty.expect("erase it for good? [y/N] ");
        assert_eq!((pty.ended_after(answer), tape()), (130, before.clone()), "{answer:?}: {}", pty.text());
    }
    let mut pty = Pty::spawn(&home.command(&["journal", "erase", "--run", "last"]), 80);
    pty.expect("erase it for good? [y/N] ");
    pty.expect_after("Y\n", "erased the content of ");
    assert_eq!(pty.ended(), 0);
    assert_ne!(tape(), before);
    let shown = home.palyra(&["journal", "show"]).expect(0).out;
    assert!(shown.contains("run_started (erased)"), "{shown}");
}

#[test]
fn a_question_about_an_erasure_speaks_of_no_ranges_that_are_not_on_the_screen() {
    let home = home("xterm");
    home.palyra(&["run", "create notes.txt with hello"]).expect(3);
    home.palyra(&["approve", "yes", "last", "--wait"]).expect(0);
    let plan = home.palyra(&["journal", "erase", "last", "--dry-run"]).expect(0).out;
    assert!(plan.contains("these ranges also have 1 entry without content\n  "), "{plan}");
    let mut pty = Pty::spawn(&home.command(&["journal", "erase", "last"]), 200);
    pty.expect("every entry stays in the journal, without its content\n");
    pty.expect("erase it for good? [y/N] ");
    assert_eq!(pty.ended_after("n\n"), 130, "{}", pty.text());
    assert!(!pty.text().contains("range"), "{}", pty.text());
}

#[test]
fn a_ctrl_c_key_cancels_the_run() {
    let home = home("xterm");
    let mut pty = Pty::spawn(&home.command(&["run", "[pace=1000] what can you do"]), 80);
    // On a busy machine the wait for the daemon is shown for a second more.
    pty.expect("asking ");
    pty.type_in("\u{3}");
    pty.expect("cancelling the run");
    assert_eq!(pty.ended(), 130);
}

/// The control is the same words without the option, which ask.
#[test]
fn a_call_that_may_wait_is_not_asked_about_at_a_terminal() {
    let home = home("xterm");
    let words = "create notes.txt with hello world";
    let mut pty = Pty::spawn(&home.command(&["run", "--approve", "later", words]), 80);
    assert_eq!(pty.ended(), 3, "{}", pty.text());
    assert!(pty.text().contains("palyra approve yes "), "{}", pty.text());
    let mut pty = Pty::spawn(&home.command(&["run", words]), 80);
    pty.expect("[l]ater ");
    pty.type_in("l\r");
    assert_eq!(pty.ended(), 3, "{}", pty.text());
}

#[test]
fn a_ctrl_c_key_ends_the_wait_for_a_daemon() {
    let home = home("xterm");
    home.palyra(&["run", "hello"]).expect(0);
    // The kernel takes connections for it, and nothing answers.
    let daemon = home.daemon_pid();
    kill_process(daemon, Signal::STOP).unwrap();
    let mut pty = Pty::spawn(&home.command(&["run", "hello"]), 80);
    pty.expect("waiting for the daemon");
    pty.type_in("\u{3}");
    assert_eq!(pty.ended(), 130);
    kill_process(daemon, Signal::CONT).unwrap();
}

#[test]
fn what_a_file_says_cannot_steer_the_terminal() {
    let home = home("xterm");
    home.write("README.md", "# Evil \u{1b}]0;title\u{7}\u{1b}[2J\n\nText \u{202e}turned.\n");
    let mut pty = Pty::spawn(&home.command(&["run", "Read README.md and tell me what it says"]), 80);
    assert_eq!(pty.ended(), 0);
    let raw = pty.raw();
    assert!(!raw.contains("\u{1b}]0;") && !raw.contains("\u{1b}[2J") && !raw.contains('\u{202e}'), "{raw:?}");
}

#[test]
fn a_secret_is_typed_unseen() {
    let home = home("xterm");
    let put = |name: &str| Pty::spawn(&home.command(&["admin", "vault", "put", name]), 80);
    let mut pty = put("forge");
    pty.expect("value of forge (12 characters or more, not shown): ");
    assert!(!pty.echoes());
    pty.type_in("walnut-harbour-0417\n");
    assert_eq!(pty.ended(), 0);
    assert!(!pty.raw().contains("walnut") && pty.echoes(), "{:?}", pty.raw());

    // Ctrl-C leaves, with the terminal as it was and nothing kept.
    let mut pty = put("other");
    pty.expect("value of other (12 characters or more, not shown): ");
    pty.type_in("\u{3}");
    assert_eq!(pty.ended(), 130);
    assert!(pty.echoes());
    let listed = home.palyra(&["admin", "vault", "list", "--json"]).expect(0).json();
    assert_eq!((listed.len(), listed[0]["name"].as_str()), (1, Some("forge")));

    // What cannot be looked at is typed twice.
    for (second, exit) in [("a heron on the western jetty\n", 2), ("a heron on the eastern jetty\n", 0)] {
        let mut pty = Pty::spawn(&home.command(&["admin", "vault", "passphrase"]), 80);
        pty.expect("new passphrase: ");
        pty.type_in("a heron on the eastern jetty\n");
        pty.expect("new passphrase once more: ");
        pty.type_in(second);
        assert_eq!(pty.ended(), exit);
        assert!(!pty.raw().contains("heron"));
    }
}

#[test]
fn a_run_in_the_background_of_a_shell_is_not_stopped() {
    let home = home("xterm");
    let script = format!("'{}' run hello & wait $!; echo \"ended with $?\"", env!("CARGO_BIN_EXE_palyra"));
    let mut pty = Pty::spawn(&home.command_of(std::path::Path::new("/bin/sh"), &["-mc", &script]), 80);
    pty.expect("ended with 0");
    assert_eq!(pty.ended(), 0);
}
