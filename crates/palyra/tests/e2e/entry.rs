//! How one comes in: without a verb, with a question in quotes, with a look at the state, the log, a page.

use std::io::{BufReader, Write};

use rustix::process::Signal;

use crate::home::{Home, ended, read_until, signal};
use crate::pty::Pty;

#[test]
fn the_program_alone_chats_at_a_terminal_and_shows_the_verbs_elsewhere() {
    let home = Home::new().with("TERM", "xterm");
    let mut pty = Pty::spawn(&home.command(&[]), 80);
    pty.expect("/help lists commands");
    pty.expect("> ");
    pty.type_in("\u{4}");
    assert_eq!(pty.ended(), 0);
    let piped = home.palyra(&[]).expect(2);
    assert_eq!(piped.out, "");
    assert!(piped.err.contains("Ask     chat") && piped.err.contains("status    Show"), "{}", piped.err);
    let version = home.palyra(&["version"]).expect(0).out;
    assert_eq!(version, home.palyra(&["--version"]).expect(0).out);
    assert_eq!(home.palyra(&["version", "--json"]).expect(0).json()[0]["version"], version.trim()[7..]);
}

#[test]
fn a_quoted_question_is_asked_with_the_flags_of_run() {
    let home = Home::new();
    home.write("README.md", "# Reader\n\nA box that keeps the wind in.\n");
    let asked = home.palyra(&["Read README.md and tell me what it says"]).expect(0);
    assert!(asked.out.contains("wind in"), "{}", asked.out);
    let json =
        home.palyra(&["--no-start", "list the files here", "--json", "--session", "NOTES"]).expect(0).json();
    assert!(json.iter().any(|entry| entry.get("run_started").is_some()), "{json:?}");
    let slip = home.palyra(&["docter"]).expect(2).err;
    assert!(slip.contains("the nearest verb is 'doctor'") && !slip.contains("palyra run"), "{slip}");
}

#[test]
fn the_status_starts_no_daemon_and_counts_what_waits_by_folder() {
    let home = Home::new();
    let none = home.palyra(&["status"]).expect(0);
    assert!(none.out.starts_with("daemon     not running; `palyra run ...` starts it\n"), "{}", none.out);
    assert_eq!(home.palyra(&["status", "--json"]).expect(0).json()[0]["running"], false);
    assert!(!home.state_dir().exists(), "no daemon is started to look");
    home.write("broken.toml", "[egress]\nallow_private = []\nallow_private = []\n");
    let broken = home.palyra(&["--config", "broken.toml", "status"]).expect(0).out;
    for line in [
        "broken.toml has mistakes, and no daemon starts with it",
        "duplicate key",
        "broken.toml config check` shows all",
    ] {
        assert!(broken.contains(line), "{line}: {broken}");
    }
    assert!(!broken.contains("starts it"), "{broken}");

    home.palyra(&["run", "create a.txt with one"]).expect(3);
    let other = home.work().join("other");
    std::fs::create_dir(&other).unwrap();
    let elsewhere = ended(home.command(&["status"]).current_dir(&other).spawn().unwrap()).expect(0).out;
    assert!(elsewhere.contains("waits      elsewhere: 1 approval\n"), "{elsewhere}");
    let here = home.palyra(&["status"]).expect(0).out;
    for told in [
        "daemon     running, version ",
        "listens    unix:",
        "model      demo/demo, built in",
        "waits      in this folder: 1 approval\n",
        "runs       0 active, 1 waiting\n",
        "(tier ",
        "journal    writable, ",
        "palyrad.log (",
    ] {
        assert!(here.contains(told), "{told}: {here}");
    }
    assert!(here.lines().count() <= 24, "{here}");
    let json = &home.palyra(&["status", "--json"]).expect(0).json()[0];
    assert_eq!((&json["running"], &json["waiting_here"]["approvals"]), (&true.into(), &1.into()), "{json}");
    let attention = || home.palyra(&["api", "ListAttention"]).expect(0).json().remove(0);
    let item = &attention()["items"][0];
    assert_eq!((&item["kind"], &item["run_waits"]), (&"approval".into(), &true.into()), "{item}");
    assert_eq!(item["about"], "write_file: creates `a.txt` (3 bytes)", "{item}");
    home.palyra(&["approve", "yes", "last"]).expect(0);
    home.palyra(&["runs", "wait", "last"]).expect(0);
    assert_eq!(attention()["items"].as_array().map_or(0, Vec::len), 0);
    assert!(home.palyra(&["status"]).expect(0).out.contains("waits      nothing waits for you\n"));
}

#[test]
fn the_log_is_shown_and_followed() {
    let home = Home::new();
    let none = home.palyra(&["logs"]).expect(0);
    assert!(none.out.is_empty() && none.err.contains("there is no log at "), "{}", none.err);
    let mut child = home.command(&["logs", "-f"]).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    home.palyra(&["run", "hello"]).expect(0);
    read_until(&mut lines, "open runs taken up");
    let file = home.state_dir().join("log/palyrad.log");
    let mut log = std::fs::OpenOptions::new().append(true).open(&file).unwrap();
    log.write_all(b"{\"level\":\"info\"}\nevil \x1b[2J line\n").unwrap();
    read_until(&mut lines, "evil \u{1b}[2J line");
    signal(&child, Signal::INT);
    child.wait().unwrap();

    let last = home.palyra(&["logs", "-n", "2", "--json"]).expect(0).json();
    assert_eq!((&last[0]["level"], &last[1]["line"]), (&"info".into(), &"evil \u{1b}[2J line".into()));
    let home = home.with("TERM", "xterm");
    let mut pty = Pty::spawn(&home.command(&["logs", "-n", "1"]), 80);
    assert_eq!(pty.ended(), 0);
    assert!(pty.raw().contains("evil \u{241b}[2J line"), "{:?}", pty.raw());
}

#[test]
fn an_error_names_its_page_and_the_page_is_in_the_program() {
    let home = Home::new();
    let failed = home.palyra(&["runs", "show", "01ARZ3NDEKTSV4RRFFQ69G5FAV"]).expect(1).err;
    assert!(failed.ends_with("  `palyra explain PLY-1103` says more\n"), "{failed}");
    for words in [&["explain", "PLY-1103"][..], &["explain", "ply-1103"], &["help", "PLY-1103"]] {
        let page = home.palyra(words).expect(0).out;
        assert!(
            page.starts_with("# PLY-1103 run_not_found\n\n") && page.contains("\n## What to do\n"),
            "{page}"
        );
    }
    let slip = home.palyra(&["explain", "PLY-1130"]).expect(2).err;
    assert!(slip.contains("`palyra explain PLY-1103` (run_not_found)"), "{slip}");
    assert!(home.palyra(&["explain", "policy"]).expect(0).out.starts_with("# Policies: "));
    assert!(home.palyra(&["help", "policy"]).expect(0).out.contains("Usage: palyra policy"));
    assert!(home.palyra(&["explain", "runs", "tail"]).expect(0).out.contains("Usage: palyra runs tail"));
    home.palyra(&["explain", "nothing"]).expect(2);
}

#[test]
fn a_run_is_awaited_until_it_ends_or_asks() {
    let home = Home::new();
    home.palyra(&["run", "create a.txt with one"]).expect(3);
    let asks = home.palyra(&["runs", "wait", "last"]).expect(3).out;
    assert!(asks.contains(" waiting (approval)\n") && asks.contains("palyra approve yes "), "{asks}");
    home.palyra(&["approve", "no", "last"]).expect(0);
    let over = home.palyra(&["runs", "wait", "last", "--json"]).expect(3).json();
    assert_eq!(over[0]["phase"], "finished", "{over:?}");
    home.palyra(&["run", "list the files here"]).expect(0);
    assert!(home.palyra(&["runs", "wait", "last"]).expect(0).out.ends_with(" done\n"));
}

#[test]
fn a_wait_ends_with_the_run_and_not_before() {
    let home = Home::new();
    let mut run = home.command(&["run", "--json", "[pace=20] what can you do"]).spawn().unwrap();
    let mut tape = BufReader::new(run.stdout.take().unwrap());
    read_until(&mut tape, "run_started");
    let waited = home.palyra(&["runs", "wait", "last"]).expect(0).out;
    assert!(waited.ends_with(" done\n"), "{waited}");
    read_until(&mut tape, "run_finished");
    run.wait().unwrap();
}

#[test]
fn no_answer_is_about_a_folder_that_was_invented() {
    let home = Home::new();
    let run = |folder: &std::path::Path, arguments: &[&str]| {
        let mut command = home.command(arguments);
        ended(command.current_dir(folder).spawn().unwrap())
    };
    let whole_home = home.config_file().ancestors().nth(3).unwrap().to_owned();
    for folder in [whole_home.as_path(), std::path::Path::new("/")] {
        let refused = run(folder, &["run", "list the files here"]).expect(2);
        assert_eq!(refused.out, "");
        assert!(
            refused.err.contains("no agent works in this folder: ")
                && refused.err.contains("--workspace DIR")
        );
        run(folder, &["chat"]).expect(2);
    }
    assert!(!home.state_dir().exists(), "nothing was started for it");
    home.write("seen.txt", "x\n");
    let work = home.work();
    let named = run(&whole_home, &["list the files here", "--workspace", work.to_str().unwrap()]).expect(0);
    assert!(named.out.contains("seen.txt"), "{}", named.out);
    let missing = run(&whole_home, &["run", "hello", "--workspace", "none"]).expect(2);
    assert!(missing.err.contains("none cannot be used"), "{}", missing.err);
}
