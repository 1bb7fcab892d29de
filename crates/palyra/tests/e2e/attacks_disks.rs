//! Disks that are full, and file systems that may only be read, while files are changed: nothing is half done, and what
//! surely did not happen is not called unknown.
//!
//! The daemon runs where the workspace is another file system; `unshare` (util-linux) makes it, and it ends with it.

use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use crate::asked::{asked, of, tape, writer};
use crate::home::{Home, ended, read_until};
use crate::openai_server::{home_with, runtime, serve};

/// Starts the daemon where `mount` has been done; `$1` is the workspace.
fn serve_where(home: &Home, mount: &str) -> Child {
    let plain = home.command(&["serve"]);
    let script = format!("cd / && {mount} && shift && exec \"$@\"");
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", &script, "sh"]).arg(home.work());
    command.arg(plain.get_program()).args(plain.get_args()).env_clear();
    command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.stdout(std::process::Stdio::piped());
    let mut daemon = command.spawn().expect("`unshare` (util-linux) makes the file system for this test");
    read_until(&mut BufReader::new(daemon.stdout.take().unwrap()), "\"ready\":true");
    daemon
}

/// Returns the workspace as the daemon sees it.
fn seen_by(daemon: &Child, home: &Home) -> PathBuf {
    PathBuf::from(format!("/proc/{}/root{}", daemon.id(), home.work().display()))
}

/// Has a write approved, and returns what the model was told of it.
fn written(home: &Home, input: &str) -> String {
    let waits = asked(home, input);
    home.palyra(&["approve", "yes", &waits.approval]).expect(0);
    let entries = tape(home, &waits.run);
    assert!(of(&entries, "tool_outcome_unknown").is_empty(), "{entries:?}");
    assert_eq!(of(&entries, "run_finished").len(), 1, "it goes on by itself");
    of(&entries, "tool_finished")[0]["output"].as_str().unwrap().to_owned()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|name| name.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_file_system_that_may_only_be_read_is_told_and_nothing_is_in_doubt() {
    let runtime = runtime();
    let server = serve(&runtime, writer());
    let home = home_with(&server);
    let mount =
        "mount -t tmpfs none \"$1\" && printf canary > \"$1/notes.txt\" && mount -o remount,ro \"$1\"";
    let daemon = serve_where(&home, mount);
    let inside = seen_by(&daemon, &home);
    for input in ["notes.txt pwned", "new.txt pwned", "deep/er/new.txt pwned"] {
        let told = written(&home, input);
        assert!(told.contains("nothing was done") || told.contains("could not open"), "{told}");
        assert!(told.contains("Read-only file system"), "{told}");
    }
    assert_eq!(fs::read_to_string(inside.join("notes.txt")).unwrap(), "canary");
    assert_eq!(names(&inside), ["notes.txt"]);
    home.palyra(&["admin", "stop"]).expect(0);
    ended(daemon).expect(0);
    // The control: the same calls, where it may be written.
    home.write("notes.txt", "canary");
    assert!(written(&home, "notes.txt pwned").starts_with("changed notes.txt"));
    assert!(written(&home, "deep/er/new.txt pwned").starts_with("created deep/er/new.txt"));
}

#[test]
fn a_full_disk_leaves_the_old_file_and_nothing_beside_it() {
    let runtime = runtime();
    let server = serve(&runtime, writer());
    let home = home_with(&server);
    let mount = "mount -t tmpfs -o size=16k none \"$1\" && printf canary > \"$1/notes.txt\"";
    let daemon = serve_where(&home, mount);
    let inside = seen_by(&daemon, &home);
    let large = "x".repeat(24_000);
    for input in [format!("notes.txt {large}"), format!("deep/new.txt {large}")] {
        let told = written(&home, &input);
        assert!(told.contains("nothing was done: No space left on device"), "{told}");
        assert_eq!(names(&inside), ["notes.txt"]);
        assert_eq!(fs::read_to_string(inside.join("notes.txt")).unwrap(), "canary");
    }
    // The control: what fits is written.
    assert!(written(&home, "notes.txt small").starts_with("changed notes.txt"));
    assert_eq!(fs::read_to_string(inside.join("notes.txt")).unwrap(), "small");
    home.palyra(&["admin", "stop"]).expect(0);
    ended(daemon).expect(0);
}
