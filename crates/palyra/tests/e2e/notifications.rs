//! Notifications of a whole daemon: a program and a webhook that get them, one that hangs, and a daemon that is killed.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;

use crate::commands::inotify_until;
use crate::home::{Home, ended, until_ended};
use crate::killed_daemon::KilledDaemon;
use crate::web_server::{WebServer, said};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const CANARY: &str = "canary-9f31";

/// Writes what it reads to `taken`.
const TAKES: &str = "cat >> taken\n";
/// Says that it began, in a process group of its own, and does not end.
const HANGS: &str = "echo begun >> taken\necho $$ > group\nsleep 600\n";

/// A home whose daemon has a program as its target, and a webhook where there is a server.
fn home_with(script: &str, server: Option<&WebServer>) -> Home {
    let home = Home::new().with("HOOK_SECRET", SECRET);
    let work = home.work().display().to_string();
    home.write("take.sh", &format!("cd '{work}'\n{script}"));
    let mut lines = format!("[notify]\ncommand = [\"/bin/sh\", \"{work}/take.sh\"]\n");
    if let Some(server) = server {
        let place = server.place();
        lines += &format!("webhook_url = \"http://{place}/hook\"\nwebhook_secret = \"env:HOOK_SECRET\"\n");
        lines += &format!("[egress]\nallow_private = [\"{place}\"]\n");
    }
    home.configure(&lines);
    home
}

fn taken(home: &Home) -> String {
    std::fs::read_to_string(home.work().join("taken")).unwrap_or_default()
}

fn targets(home: &Home) -> Vec<Value> {
    home.palyra(&["admin", "notify", "list", "--json"]).expect(0).json()
}

fn message_id(request: &str) -> String {
    let id = request
        .lines()
        .find_map(|line| line.to_ascii_lowercase().strip_prefix("webhook-id: ").map(str::to_owned));
    id.unwrap_or_else(|| panic!("{request}"))
}

#[test]
fn a_program_and_a_webhook_get_a_test_and_a_reminder_without_its_text() {
    let server = WebServer::start(|_| Some(said("204 No Content", &[], "")));
    let home = home_with(TAKES, Some(&server));
    let tested = home.palyra(&["admin", "notify", "test"]).expect(0);
    for line in ["command: sent", "webhook: sent"] {
        assert!(tested.err.contains(line), "{}", tested.err);
    }
    assert!(server.next().contains(r#"{"type":"notification.test""#));
    assert!(taken(&home).starts_with(r#"{"type":"notification.test""#), "{}", taken(&home));
    let one = home.palyra(&["admin", "notify", "test", "webhook", "--json"]).expect(0).json();
    assert_eq!((one.len(), &one[0]["target"], &one[0]["stage"]), (1, &"webhook".into(), &"sent".into()));
    assert_eq!(message_id(&server.next()), one[0]["message_id"].as_str().unwrap());

    let add = ["admin", "schedules", "add", "--every", "1d", "--remind", CANARY, "--yes", "--json"];
    let made = home.palyra(&add).expect(0).json().remove(0);
    let id = made["schedule_id"].as_str().unwrap().to_owned();
    let has_reminder = || taken(&home).contains(r#""kind":"reminder""#);
    let start = || drop(home.palyra(&["admin", "schedules", "run-now", &id]).expect(0));
    assert!(inotify_until(&home.work(), has_reminder, start), "{}", taken(&home));
    let request = server.next();
    assert!(request.contains(r#""kind":"reminder""#) && request.contains(&id[20..]), "{request}");
    for text in [request, taken(&home)] {
        assert!(!text.contains(CANARY), "{text}");
    }
    for target in targets(&home) {
        assert_eq!(target["unknown_count"].as_u64(), Some(0));
        assert!(target["delivered"].is_string(), "{target}");
    }
    let shown = home.palyra(&["admin", "notify"]).expect(0).out;
    assert!(shown.contains("webhook") && shown.contains("sent"), "{shown}");
}

#[test]
fn a_test_without_a_target_says_how_to_set_one() {
    let home = Home::new();
    let refused = home.palyra(&["admin", "notify", "test"]).expect(5);
    assert!(refused.err.contains("PLY-1132") && refused.err.contains("[notify]"), "{}", refused.err);
    let listed = home.palyra(&["admin", "notify", "list"]).expect(0);
    assert!(listed.err.contains("no targets of notifications"), "{}", listed.err);
    home.palyra(&["admin", "notify", "test", "pigeon"]).expect(2);
}

#[test]
fn a_program_that_hangs_is_stopped_and_listed_with_its_reason() {
    let home = home_with(HANGS, None);
    let tested = home.palyra(&["admin", "notify", "test", "command"]).expect(1);
    assert!(tested.err.contains("the program did not end within 10 s and was stopped"), "{}", tested.err);
    until_ended(group(&home));
    let target = targets(&home).remove(0);
    assert_eq!((&target["latest"]["stage"], &target["unknown_count"]), (&"unknown".into(), &1.into()));
    assert!(target["delivered"].is_null(), "{target}");
    let doctor = home.palyra(&["doctor"]);
    assert!(doctor.out.contains("the latest: command: unknown"), "{}", doctor.out);
}

/// Returns the leader of the process group of the program that hangs.
fn group(home: &Home) -> Pid {
    let text = std::fs::read_to_string(home.work().join("group")).unwrap();
    Pid::from_raw(text.trim().parse().unwrap()).unwrap()
}

#[test]
fn a_daemon_that_is_killed_during_a_test_sends_a_webhook_again_with_its_id_and_no_program() {
    let requests = AtomicUsize::new(0);
    let server = WebServer::start(move |_| {
        let is_first = requests.fetch_add(1, Ordering::SeqCst) == 0;
        (!is_first).then(|| said("204 No Content", &[], ""))
    });
    let home = home_with(HANGS, Some(&server));
    let daemon = KilledDaemon::start(&home);
    let hangs = || home.work().join("group").exists();
    let mut tested = None;
    let test = || tested = Some(home.command(&["admin", "notify", "test"]).spawn().unwrap());
    assert!(inotify_until(&home.work(), hangs, test), "the program does not begin");
    let first = message_id(&server.next());
    daemon.kill();
    assert_ne!(ended(tested.unwrap()).code, 0, "the client says that it does not know");
    // It outlives a daemon that is killed.
    let _ = kill_process_group(group(&home), Signal::KILL);

    let mut begun = KilledDaemon::start(&home);
    assert_eq!(message_id(&server.next()), first);
    let stages = || -> Vec<String> {
        let stage = |target: &Value| target["latest"]["stage"].as_str().unwrap().to_owned();
        targets(&home).iter().map(stage).collect()
    };
    let limit = Instant::now() + Duration::from_secs(120);
    while stages() != ["unknown", "sent"] {
        assert!(Instant::now() < limit, "{:?}", stages());
    }
    begun.stop();
    begun = KilledDaemon::start(&home);
    assert_eq!(stages(), ["unknown", "sent"]);
    begun.stop();
    assert_eq!((server.heard().len(), taken(&home).as_str()), (2, "begun\n"), "neither is sent a third time");
}
