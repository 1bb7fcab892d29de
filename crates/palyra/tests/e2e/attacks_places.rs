//! Places that links and settings make into something else than they seem: the daemon's own things, and the workspace.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::asked::{asked, of, tape, writer};
use crate::home::Home;
use crate::openai_server::{home_with, runtime, serve};

/// Tries a write, says yes to whatever is asked, and returns whether the call was started.
fn tries(home: &Home, path: &str) -> bool {
    let told = home.palyra(&["run", &format!("{path} pwned")]);
    if told.err.contains("? write_file ") {
        home.palyra(&["approve", "yes", "last"]);
    }
    !of(&tape(home, "last"), "tool_started").is_empty()
}

#[test]
fn settings_that_are_kept_in_the_workspace_are_still_the_daemon_s() {
    let runtime = runtime();
    let server = serve(&runtime, writer());
    let home = home_with(&server);
    let config = home.config_file();
    let named = config.parent().unwrap();
    // As people do who keep their settings in a repository: folders and single files, by links.
    let kept = home.work().join("dotfiles/palyra");
    fs::create_dir_all(kept.join("policies")).unwrap();
    fs::create_dir_all(named.parent().unwrap()).unwrap();
    symlink(&kept, named).unwrap();
    home.write("settings.toml", "");
    home.write("mine.cedar", "@id(\"mine\")\nforbid (principal, action, resource == Tool::\"search\");\n");
    symlink(home.work().join("settings.toml"), kept.join("palyra.toml")).unwrap();
    symlink(home.work().join("mine.cedar"), kept.join("policies/mine.cedar")).unwrap();
    let before = fs::read_to_string(home.work().join("mine.cedar")).unwrap();
    for path in [
        "dotfiles/palyra/policies/evil.cedar",
        "dotfiles/palyra/palyra.toml",
        "dotfiles/palyra/anything",
        "settings.toml",
        "mine.cedar",
    ] {
        assert!(!tries(&home, path), "{path} was started");
    }
    assert!(!kept.join("policies/evil.cedar").exists());
    assert_eq!(fs::read_to_string(home.work().join("settings.toml")).unwrap(), "");
    assert_eq!(fs::read_to_string(home.work().join("mine.cedar")).unwrap(), before);
    for path in ["dotfiles/other/palyra.toml", "yours.cedar"] {
        assert!(tries(&home, path), "the control: {path} is nobody's settings");
    }
}

#[test]
fn rules_that_the_settings_name_in_the_workspace_are_not_written() {
    let runtime = runtime();
    let server = serve(&runtime, writer());
    let home = home_with(&server);
    fs::create_dir(home.work().join("rules")).unwrap();
    fs::create_dir_all(home.config_file().parent().unwrap()).unwrap();
    let rules = home.work().join("rules");
    fs::write(home.config_file(), format!("[policy]\ndir = \"{}\"\n", rules.display())).unwrap();
    assert!(!tries(&home, "rules/evil.cedar") && !rules.join("evil.cedar").exists());
    assert!(tries(&home, "rules-of-others/evil.cedar"), "the control: another folder");
}

fn root_replaced(home: &Home, by: impl Fn(&Path)) -> String {
    let waits = asked(home, "new.txt pwned");
    let (work, moved) = (home.work(), home.work().with_file_name("moved"));
    fs::rename(&work, &moved).unwrap();
    by(&work);
    let mut command = home.command(&["approve", "yes", &waits.approval]);
    let told = crate::home::ended(command.current_dir(&moved).spawn().unwrap());
    let mut command = home.command(&["runs", "tail", &waits.run]);
    crate::home::ended(command.current_dir(&moved).spawn().unwrap());
    if fs::symlink_metadata(&work).is_ok_and(|status| status.is_symlink()) {
        fs::remove_file(&work).unwrap();
    } else if work.exists() {
        fs::remove_dir_all(&work).unwrap();
    }
    fs::rename(&moved, &work).unwrap();
    told.err
}

#[test]
fn a_workspace_that_became_a_link_before_the_yes_leads_nowhere() {
    let runtime = runtime();
    let server = serve(&runtime, writer());
    let home = home_with(&server);
    let outside = home.work().with_file_name("outside");
    fs::create_dir(&outside).unwrap();
    let told = root_replaced(&home, |work| symlink(&outside, work).unwrap());
    assert!(told.contains("nothing ran") && told.contains("has become a link"), "{told}");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    // One that is gone is told, too.
    let told = root_replaced(&home, |_| {});
    assert!(told.contains("nothing ran") && told.contains("cannot be opened"), "{told}");
    // The control: as it was, the same call runs; and plain code follows the link.
    assert!(tries(&home, "new.txt"));
    fs::remove_file(home.work().join("new.txt")).unwrap();
    symlink(&outside, home.work().join("link")).unwrap();
    fs::write(home.work().join("link/new.txt"), "pwned").unwrap();
    assert!(outside.join("new.txt").exists());
}

#[test]
fn a_link_in_the_way_fails_the_call_and_withholds_nothing() {
    let runtime = runtime();
    let server = serve(&runtime, writer());
    let home = home_with(&server);
    let outside = home.work().with_file_name("outside.txt");
    fs::write(&outside, "canary").unwrap();
    symlink(&outside, home.work().join("link.txt")).unwrap();
    let told = home.palyra(&["run", "link.txt pwned"]).expect(0);
    assert!(told.err.contains("✗ not done: `link.txt` leads through a symbolic link"), "{}", told.err);
    let told = home.palyra(&["runs", "tail", "last"]).expect(0);
    assert!(!told.err.contains("denied"), "{}", told.err);
    assert_eq!(fs::read_to_string(&outside).unwrap(), "canary");
    // The control: a path that a rule withholds, and one that is fine.
    home.palyra(&["run", "../outside.txt pwned"]).expect(3);
    assert!(tries(&home, "file.txt"));
}
