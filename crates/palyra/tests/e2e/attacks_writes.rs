//! Calls that want to write where they must not, and words in them that want to steer a terminal.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::asked::{asked, of, tape, writer};
use crate::home::{Ended, Home, ended};
use crate::openai_server::{home_with, runtime, serve};

const CANARY: &str = "canary";

/// Sets the title, writes to the clipboard, turns text around, hides letters.
const EVIL: &str =
    "CANARY\u{1b}]0;owned\u{7}\u{1b}]52;c;cm0=\u{7}\u{9b}31m\u{202e}\u{2066}\u{200b}\u{feff}end";

#[track_caller]
fn is_tame(told: &Ended) {
    let steers = |c: char| (c.is_control() && c != '\n') || "\u{202e}\u{2066}\u{200b}\u{feff}".contains(c);
    assert!(!told.out.contains(steers), "{:?}", told.out);
    assert!(!told.err.contains(steers), "{:?}", told.err);
}

/// Tries a write, says yes to whatever is asked, and returns whether the call was started.
fn tries(home: &Home, path: &str) -> bool {
    let told = home.palyra(&["run", &format!("{path} pwned")]);
    is_tame(&told);
    if told.err.contains("? write_file ") {
        home.palyra(&["approve", "yes", "last"]);
    }
    !of(&tape(home, "last"), "tool_started").is_empty()
}

fn plant(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, CANARY).unwrap();
}

#[test]
fn what_lies_elsewhere_stays_as_it_is_even_after_a_yes() {
    let runtime = runtime();
    let server = serve(&runtime, writer());
    let home = home_with(&server);
    let work = home.work();
    let outside = work.with_file_name("outside");
    let file = outside.join("c.txt");
    plant(&file);
    plant(&outside.join("deep/c.txt"));
    plant(&work.join(".git/hooks/pre-commit"));
    plant(&work.join("sub/.git/config"));
    symlink(&outside, work.join("link")).unwrap();
    symlink("../outside", work.join("relative")).unwrap();
    symlink(&file, work.join("filelink.txt")).unwrap();
    symlink(work.join(".git"), work.join("notgit")).unwrap();
    fs::hard_link(&file, work.join("hard.txt")).unwrap();

    assert!(tries(&home, "sub/ok.txt"), "the same call inside the workspace runs");
    assert_eq!(fs::read_to_string(work.join("sub/ok.txt")).unwrap(), "pwned");
    let absolute = file.display().to_string();
    for path in [
        "../outside/c.txt",
        "sub/../../outside/c.txt",
        "./././../outside/c.txt",
        absolute.as_str(),
        "link/c.txt",
        "link/deep/c.txt",
        "relative/c.txt",
        "filelink.txt",
        "link/new.txt",
        ".git/hooks/pre-commit",
        ".GIT/hooks/pre-commit",
        "sub/.git/config",
        "sub/../.git/hooks/pre-commit",
        "notgit/hooks/pre-commit",
        "~/x.txt",
        "/proc/self/environ",
        "/dev/stdout",
    ] {
        assert!(!tries(&home, path), "{path} was started");
    }
    for canary in [
        file.clone(),
        outside.join("deep/c.txt"),
        work.join(".git/hooks/pre-commit"),
        work.join("sub/.git/config"),
    ] {
        assert_eq!(fs::read_to_string(&canary).unwrap(), CANARY, "{}", canary.display());
    }
    assert!(!outside.join("new.txt").exists() && !home.work().join("~").exists());
    // A file with two names is written anew under the one that was meant, if at all.
    tries(&home, "hard.txt");
    assert_eq!(fs::read_to_string(&file).unwrap(), CANARY);
}

/// Runs `palyra` in another folder.
fn palyra_in(home: &Home, folder: &Path, arguments: &[&str]) -> Ended {
    let mut command: Command = home.command(arguments);
    ended(command.current_dir(folder).spawn().unwrap())
}

#[test]
fn the_daemon_s_own_things_are_out_of_reach_from_every_folder() {
    let runtime = runtime();
    let server = serve(&runtime, writer());
    let home = home_with(&server);
    assert!(tries(&home, "ok.txt"));
    let state = home.state_dir();
    let config = home.config_file().parent().unwrap().to_owned();
    let person = state.ancestors().nth(3).unwrap().to_owned();
    let rules = config.join("policies/evil.cedar");
    let canary = state.join("x.txt");
    for path in [&canary, &state.join("journal.db"), &rules, &home.config_file()] {
        assert!(!tries(&home, &path.display().to_string()), "{}", path.display());
    }
    for (folder, path) in [
        (&person, ".local/state/palyra/x.txt"),
        (&person, ".config/palyra/policies/evil.cedar"),
        (&person, ".config/palyra/palyra.toml"),
        (&state, "x.txt"),
        (&config, "policies/evil.cedar"),
        (&person.join(".config"), "palyra/policies/evil.cedar"),
        (&person.join(".local/state"), "palyra/x.txt"),
    ] {
        let told = palyra_in(&home, folder, &["run", &format!("{path} pwned")]);
        if told.err.contains("? write_file ") {
            palyra_in(&home, folder, &["approve", "yes", "last"]).expect(0);
        }
        palyra_in(&home, folder, &["runs", "tail", "last"]);
    }
    assert!(!canary.exists() && !rules.exists());
    let config_text = fs::read_to_string(home.config_file()).unwrap_or_default();
    assert!(!config_text.contains("pwned"), "{config_text}");
    home.palyra(&["journal", "verify"]).expect(0);
}

#[test]
fn where_the_folder_is_no_workspace_nothing_is_asked_or_written() {
    let home = Home::new();
    home.palyra(&["run", "hello"]).expect(0);
    let person = home.state_dir().ancestors().nth(3).unwrap().to_owned();
    let refused = palyra_in(&home, &person, &["run", "create ok.txt with hello"]).expect(2);
    assert!(refused.err.contains("it is the whole home folder"), "{}", refused.err);
    assert!(!person.join("ok.txt").exists());
    assert!(!home.state_dir().join("workspaces").exists());
    assert_eq!(home.palyra(&["runs", "list", "--json"]).expect(0).json().len(), 1);

    // Control: with a folder that is one, the same question is asked.
    let work = home.work().display().to_string();
    palyra_in(&home, &person, &["run", "--workspace", &work, "create ok.txt with hello"]).expect(3);
}

#[test]
fn what_a_call_says_is_shown_as_signs_and_steers_nothing() {
    let runtime = runtime();
    let server = serve(&runtime, writer());
    let home = home_with(&server);
    let waits = asked(&home, &format!("notes.txt {EVIL}"));
    is_tame(&waits.told);
    for sign in ["CANARY", "52;c;cm0=", "end"] {
        assert!(waits.told.err.contains(sign), "{}", waits.told.err);
    }
    for arguments in [
        &["approve", "show", "last"][..],
        &["approve", "show", "last", "--json"],
        &["approve", "list"],
        &["approve", "list", "--json"],
        &["approve", "export"],
        &["approve"],
        &["policy", "explain", "last", "1"],
        &["approve", "always", "last"],
        &["runs", "tail", "last"],
        &["runs", "tail", "last", "--json"],
        &["approve", "grants"],
        &["approve", "grants", "--json"],
        &["runs", "effects"],
        &["policy", "diff"],
        &["journal", "show"],
    ] {
        let told = home.palyra(arguments);
        assert!([0, 3].contains(&told.code), "{arguments:?}: {told:?}");
        is_tame(&told);
    }
    let kept = fs::read_to_string(home.work().join("notes.txt")).unwrap();
    assert_eq!(kept, EVIL, "the file gets it exactly");
    assert!(
        kept.contains("\u{1b}]52;c;") && kept.contains('\u{202e}'),
        "the control: shown as it is it would steer"
    );
    home.write("notes.txt", &format!("{EVIL}{EVIL}"));
    is_tame(&home.palyra(&["runs", "undo", "last"]).expect(5));
    for name in [EVIL.replace(' ', ""), "a\u{202e}txt.exe".to_owned(), "a\u{200b}.txt".to_owned()] {
        is_tame(&home.palyra(&["run", &format!("{name} x")]));
        is_tame(&home.palyra(&["approve", "show", "last"]));
        is_tame(&home.palyra(&["approve", "no", "last", "--note", EVIL]));
        is_tame(&home.palyra(&["runs", "tail", "last"]));
        is_tame(&home.palyra(&["runs", "undo", "last"]));
    }
}
