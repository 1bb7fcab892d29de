//! Calls that run without a question, as a person at a terminal sees them: what they change, and how far they are.

use std::fs;

use crate::home::Home;
use crate::pty::Pty;

/// A home whose rules ask about nothing in the workspace.
fn home() -> Home {
    let home = Home::new().with("TERM", "xterm-256color");
    let folder = home.config_file().with_file_name("policies");
    fs::create_dir_all(&folder).unwrap();
    let rule = |id: &str, capability: &str| {
        format!(
            "@id(\"{id}\")\n@reason(\"I let it\")\npermit (principal, action == Action::\"execute_unattended\", resource in \
             Capability::\"{capability}\");\n"
        )
    };
    let rules = rule("my-writes", "write_files") + &rule("my-commands", "process");
    fs::write(folder.join("mine.cedar"), rules).unwrap();
    home
}

#[test]
fn a_change_that_a_rule_permits_shows_its_diff_on_a_terminal_and_nowhere_else() {
    let home = home();
    let mut pty = Pty::spawn(&home.command(&["run", "create notes.txt with hello world"]), 80);
    assert_eq!(pty.ended(), 0, "{}", pty.text());
    assert!(pty.raw().contains("\u{1b}[32m  +hello"), "added lines are green: {:?}", pty.raw());
    assert!(!pty.text().contains("[y]es"), "the control: nothing was asked: {}", pty.text());
    let mut pty = Pty::spawn(&home.command(&["run", "create more.txt with tea"]), 80);
    pty.expect("· write_file");
    pty.expect("  +tea");
    pty.expect("✓ created more.txt");
    assert_eq!(pty.ended(), 0);
    assert_eq!(fs::read_to_string(home.work().join("more.txt")).unwrap().trim(), "tea");

    let mut pty = Pty::spawn(&home.command(&["chat"]), 80);
    pty.expect("> ");
    pty.type_in("create chat.txt with milk\r");
    pty.expect("  +milk");
    pty.expect("✓ created chat.txt");
    pty.type_in("/quit\r");
    assert_eq!(pty.ended(), 0);

    let piped = home.palyra(&["run", "create piped.txt with water"]).expect(0);
    assert!(!piped.err.contains("+water") && piped.err.contains("created piped.txt"), "{}", piped.err);
    let tape = home.palyra(&["runs", "tail", "last"]).expect(0);
    assert!(tape.out.contains("  +water\n"), "{}", tape.out);
}

#[test]
fn a_long_command_shows_how_far_it_is_and_the_line_goes_with_its_end() {
    let home = home();
    let mut pty = Pty::spawn(&home.command(&["run", "run sleep 4"]), 80);
    pty.expect("run_command sleep 4, 2 s");
    pty.expect("run_command sleep 4, 3 s");
    pty.expect("✓ exit code 0");
    assert_eq!(pty.ended(), 0);
    // Each line replaces the one before, and the outcome the last.
    let raw = pty.raw();
    let last = raw.rfind("run_command sleep 4, ").unwrap();
    assert!(raw[last..].contains("\r\u{1b}[K\u{1b}[32m✓"), "{raw:?}");
    let piped = home.palyra(&["run", "run sleep 3"]).expect(0);
    assert!(!piped.err.contains("sleep 3, "), "{}", piped.err);
}
