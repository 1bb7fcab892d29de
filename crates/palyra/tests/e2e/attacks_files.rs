//! Files, names and words that are chosen to do harm: nothing hangs, nothing leaks, nothing steers a terminal.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use palyra_model_server::{Behaviour, Reply};

use crate::home::{Home, ended};
use crate::openai_server::{home_with, runtime, serve};

/// Sets the title, clears the screen, writes to the clipboard, and turns the direction of text around.
const EVIL: &str =
    "CANARY\u{1b}]0;owned\u{7}\u{1b}[2J\u{1b}]52;c;cm0=\u{7}\u{9b}31m\u{202e}\u{2066}\u{200b}end";

#[track_caller]
fn is_tame(text: &str) {
    let steers = |c: char| (c.is_control() && c != '\n') || "\u{202e}\u{2066}\u{200b}".contains(c);
    assert!(!text.contains(steers), "{text:?}");
}

/// Returns how many files and folders it looked at.
fn only_the_owner_s(folder: &Path) -> usize {
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let metadata = std::fs::symlink_metadata(&path).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o077, 0, "{}", path.display());
        seen += 1;
        if metadata.is_dir() {
            seen += only_the_owner_s(&path);
        }
    }
    seen
}

#[test]
fn a_careless_umask_opens_nothing() {
    let home = Home::new();
    let plain = home.command(&["run", "--session", "s", "hello"]);
    let mut careless = Command::new("sh");
    careless.args(["-c", "umask 000; exec \"$0\" \"$@\""]).arg(plain.get_program()).args(plain.get_args());
    careless.env_clear().current_dir(home.work()).stdin(Stdio::null());
    careless.stdout(Stdio::piped()).stderr(Stdio::piped());
    careless.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    ended(careless.spawn().unwrap()).expect(0);
    let state = home.state_dir();
    assert_eq!(std::fs::metadata(&state).unwrap().permissions().mode() & 0o777, 0o700);
    assert!(only_the_owner_s(&state) > 3);
}

#[test]
fn what_never_ends_or_is_no_file_does_not_go_along() {
    let runtime = runtime();
    let server = serve(&runtime, Behaviour::always(Reply::text("never")));
    let home = home_with(&server);
    let at = |name: &str| home.work().join(name);
    rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    symlink("/dev/zero", at("zero")).unwrap();
    symlink("pipe", at("to-pipe")).unwrap();
    symlink("loop", at("loop")).unwrap();
    let odd = format!("n\n{EVIL}.txt");
    std::fs::write(at(&odd), "x").unwrap();
    std::fs::write(at("schema"), format!("{{\"a\": \"{EVIL}\"")).unwrap();
    for file in ["/dev/zero", "/dev/stdin", "/proc/self/mem", "zero", "to-pipe", "loop", "pipe", odd.as_str()]
    {
        let refused = home.palyra(&["run", "--attach", file, "look"]);
        assert!([1, 2].contains(&refused.code), "{file}: {}", refused.code);
        assert!(refused.err.contains("error[PLY-1112]"), "{file}: {}", refused.err);
        is_tame(&refused.err);
    }
    for schema in ["/dev/zero", "schema", odd.as_str(), "/proc/self/mem"] {
        let refused = home.palyra(&["run", "--schema", schema, "look"]);
        assert_ne!(refused.code, 0, "{schema}");
        is_tame(&refused.err);
    }
    assert!(server.asked().is_empty());
}

#[test]
fn what_a_model_server_says_never_steers_a_terminal() {
    let runtime = runtime();
    let speaks = Behaviour::always(Reply::error(400, EVIL, EVIL)).with_models(&[EVIL, "plain"]);
    let server = serve(&runtime, speaks);
    let home = home_with(&server);
    let failed = home.palyra(&["run", "hello"]).expect(1);
    assert!(failed.err.contains("CANARY"), "{}", failed.err);
    is_tame(&failed.err);
    let listed = home.palyra(&["model", "list", "--ask"]).expect(0);
    assert!(listed.out.contains("CANARY"), "{}", listed.out);
    is_tame(&listed.out);
    for arguments in [
        &["runs", "show", "last"][..],
        &["runs", "tail", "last"],
        &["runs", "tail", "--json", "last"],
        &["runs", "list"],
        &["model", "list", "--ask", "--json"],
        &["model", "test", EVIL],
        &["run", "--model", EVIL, "hello"],
        &["sessions", "list", "--search", EVIL],
        &["runs", "show", EVIL],
        &["journal", "show"],
    ] {
        let told = home.palyra(arguments);
        is_tame(&told.err);
        is_tame(&told.out);
    }
    let thinks = serve(&runtime, Behaviour::always(Reply::text("fine").thinking(EVIL).call(EVIL, EVIL)));
    let home = home_with(&thinks);
    is_tame(&home.palyra(&["run", "--timeout", "20", "hello"]).err);
    is_tame(&home.palyra(&["runs", "tail", "--json", "last"]).out);
}

#[test]
fn a_label_and_a_key_that_steer_are_refused_or_shown_tamely() {
    let home = Home::new();
    home.palyra(&["run", "--session", "s", "hello"]).expect(0);
    let renamed = home.palyra(&["sessions", "rename", "s", EVIL]);
    is_tame(&renamed.err);
    is_tame(&renamed.out);
    let keyed = home.palyra(&["run", "--session", EVIL, "hello"]);
    is_tame(&keyed.err);
    for arguments in [&["sessions", "list"][..], &["sessions", "list", "--json"], &["sessions", "show", "s"]]
    {
        let told = home.palyra(arguments);
        is_tame(&told.out);
        is_tame(&told.err);
    }
}
