//! Readers that leave, outputs that are closed, a disk that is full.

use std::fs::OpenOptions;
use std::process::Stdio;

use crate::home::{Home, ended};

/// Runs a line in a shell where `palyra` is the program.
pub(crate) fn shell(home: &Home, line: &str) -> crate::home::Ended {
    let program = home.command(&[]).get_program().to_str().unwrap().to_owned();
    let command =
        home.command(&["-c", &format!("set -o pipefail; palyra() {{ '{program}' \"$@\"; }}; {line}")]);
    let mut bash = std::process::Command::new("bash");
    bash.args(command.get_args()).envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    bash.current_dir(home.work()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    ended(bash.spawn().unwrap())
}

#[test]
fn a_reader_that_leaves_is_no_error_for_any_verb() {
    let home = Home::new();
    home.palyra(&["run", "what can you do"]).expect(0);
    for line in [
        "palyra runs list | head -0",
        "palyra runs tail last | head -0",
        "palyra runs tail last --json | head -0",
        "palyra journal show --json | head -1",
        "palyra --help | head -0",
        "palyra help exit-codes | head -1",
        "palyra admin completions zsh | head -1",
        "palyra admin man | head -1",
        "palyra run 'what can you do' | head -0",
        "palyra sessions list >&-",
        "palyra sessions list 2>&-",
    ] {
        let ended = shell(&home, line);
        assert_eq!(
            (ended.code, ended.err.contains("error"), ended.err.contains("panicked")),
            (0, false, false),
            "{line}: {ended:?}"
        );
    }
}

#[test]
fn a_full_disk_is_an_error_and_told() {
    let home = Home::new();
    home.palyra(&["run", "what can you do"]).expect(0);
    for arguments in [
        &["runs", "list"][..],
        &["runs", "tail", "last"],
        &["run", "--json", "what can you do"],
        &["--version"],
        &["help", "run"],
        &["admin", "man"],
    ] {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let ended = ended(home.command(arguments).stdout(full).spawn().unwrap()).expect(1);
        assert!(ended.err.contains("cannot write to standard output"), "{arguments:?}: {}", ended.err);
    }
}
