//! Starting, dying, coming back, stopping.

use std::io::{BufReader, Read};

use std::time::Duration;

use palyra_client::{FolderWatch, FollowedLog, read_lock_record};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use crate::home::{Home, ended, read_until, until_ended};

#[test]
fn several_clients_that_start_at_once_share_one_daemon() {
    let home = Home::new();
    let children: Vec<_> = (0..4).map(|_| home.command(&["run", "hello"]).spawn().unwrap()).collect();
    for child in children {
        ended(child).expect(0);
    }
    let runs = home.palyra(&["runs", "list", "--json"]).expect(0).json();
    assert_eq!(runs.len(), 4);
    let status = home.palyra(&["journal", "status", "--json"]).expect(0).json();
    assert_eq!(status[0]["epoch"], 1, "only one ever served");
}

#[test]
fn a_run_outlives_its_daemon_and_its_reader_sees_it_end() {
    let home = Home::new();
    home.write("README.md", "# Phoenix\n\nIt comes back.\n");
    let ask = "[pace=40] read README.md then list the files then read README.md";
    let mut child = home.command(&["run", ask]).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut text = read_until(&mut out, "\n");
    kill_process(home.daemon_pid(), Signal::KILL).unwrap();
    out.read_to_string(&mut text).unwrap();
    let ended = ended(child).expect(0);
    assert!(ended.err.contains("! the daemon is gone; looking for it\n"), "{}", ended.err);
    assert!(ended.err.contains("· the daemon is back; going on\n"), "{}", ended.err);
    assert!(text.contains("Phoenix"), "{text}");
    let tape = home.palyra(&["runs", "tail", "last", "--json"]).expect(0).json();
    let numbers: Vec<_> = tape.iter().map(|entry| entry["tape_seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=tape.len() as u64).collect::<Vec<_>>());
    home.palyra(&["journal", "verify"]).expect(0);
}

#[test]
fn text_that_a_kill_cut_off_is_superseded_by_the_whole() {
    let home = Home::new();
    let whole = home.palyra(&["run", "what can you do"]).expect(0).out;
    let mut child = home.command(&["run", "--session", "cut", "[pace=100] what can you do"]).spawn().unwrap();
    let mut watcher = until_text(&home, "cut");
    kill_process(home.daemon_pid(), Signal::KILL).unwrap();
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    let ended = ended(child).expect(0);
    let told = "! the answer broke off (restart); it begins again\n";
    assert!(ended.err.contains(told), "{}", ended.err);
    assert_eq!(text, whole, "what was cut off is not there twice");
    watcher.kill().unwrap();
    watcher.wait().unwrap();
}

/// Returns once the first run of a session has shown some text; who watched it lives on.
fn until_text(home: &Home, session: &str) -> std::process::Child {
    let run = loop {
        let shown = home.palyra(&["sessions", "show", session, "--json"]);
        if shown.code == 0
            && let Some(run) = shown.json()[0]["last_run_id"].as_str().filter(|run| !run.is_empty())
        {
            break run.to_owned();
        }
    };
    let mut watcher = home.command(&["runs", "tail", &run, "--json"]).spawn().unwrap();
    read_until(&mut BufReader::new(watcher.stdout.take().unwrap()), "\"model_text\"");
    watcher
}

#[test]
fn a_stopped_daemon_is_gone_and_the_next_command_starts_another() {
    let home = Home::new();
    let none = home.palyra(&["admin", "stop"]).expect(0);
    assert!(none.err.contains("no daemon is running"), "{}", none.err);
    home.palyra(&["run", "hello"]).expect(0);
    home.palyra(&["admin", "stop"]).expect(0);
    home.palyra(&["--no-start", "runs", "list"]).expect(4);
    let again = home.palyra(&["runs", "list", "--json"]).expect(0);
    assert_eq!(again.json().len(), 1);
    assert!(again.err.contains("starting the daemon"), "{}", again.err);
}

#[test]
fn a_daemon_that_a_command_started_writes_to_its_log_and_not_to_the_terminal() {
    let home = Home::new();
    let ended = home.palyra(&["run", "hello"]).expect(0);
    assert!(ended.err.lines().all(|line| line.starts_with('·')), "{}", ended.err);
    assert!(home.state_dir().join("log/palyrad.log").is_file());
    let record = read_lock_record(&home.state_dir()).unwrap();
    assert!(record.socket.ends_with("palyrad.sock"), "{record:?}");
}

/// Waits until the log of a daemon has a line with `wanted`; panics when the daemon ends before that.
fn until_logged(home: &Home, daemon: Pid, wanted: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let file = home.state_dir().join("log/palyrad.log");
        let mut watch = FolderWatch::new(file.parent().unwrap());
        let mut log = FollowedLog::new(file.clone());
        let has_it =
            |lines: &[Vec<u8>]| lines.iter().any(|line| String::from_utf8_lossy(line).contains(wanted));
        let mut is_there = has_it(&log.last_lines(100).unwrap());
        while !is_there {
            assert!(test_kill_process(daemon).is_ok(), "the daemon ended, and its log has no `{wanted}`");
            watch.changed(Duration::from_secs(1)).await;
            is_there = has_it(&log.new_lines().unwrap());
        }
    });
}

#[test]
fn an_enabled_schedule_keeps_a_daemon_that_a_command_started_and_a_paused_one_does_not() {
    let home = Home::new();
    home.configure("[daemon]\nidle_stop_seconds = 1\n");
    let add = ["admin", "schedules", "add", "--cron", "0 8 1 1 *", "--zone", "UTC", "--remind", "tea"];
    let made = home.palyra(&[&add[..], &["--yes", "--json"]].concat()).expect(0).json();
    let schedule = made.last().unwrap()["schedule_id"].as_str().unwrap().to_owned();
    let daemon = home.daemon_pid();
    until_logged(&home, daemon, "a schedule is enabled");
    home.palyra(&["--no-start", "admin", "schedules", "pause", &schedule]).expect(0);
    assert_eq!(home.daemon_pid(), daemon, "it is the same one");
    until_ended(daemon);
    home.palyra(&["admin", "schedules", "resume", &schedule]).expect(0);
    let daemon = home.daemon_pid();
    until_logged(&home, daemon, "a schedule is enabled");
    home.palyra(&["--no-start", "admin", "schedules", "remove", &schedule]).expect(0);
    until_ended(daemon);
}
