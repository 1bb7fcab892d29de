//! The daemon as a systemd user service, with a stand-in for `systemctl` that writes down how it was called.

use std::io::BufReader;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use rustix::process::Signal;
use serde_json::Value;

use crate::home::{Home, ended, read_until, signal, until_ended};

/// Answers as a manager would, and fails where a test says so.
const STAND_IN: &str = r#"#!/bin/sh
echo "$*" >> "$0.calls"
case "$*" in
    "--user $SYSTEMCTL_REFUSES"*) echo "Failed to connect to bus: No medium found" >&2; exit 1 ;;
    *--property=ActiveState*) echo active ;;
    *--property=UnitFileState*) echo enabled ;;
    *--property=MainPID*) echo "${SERVICE_PID:-0}" ;;
esac
"#;
const CANARY: &str = "walnut-harbour-lantern-0417";

/// A home with a stand-in for systemd.
struct ServiceHome {
    home: Home,
    program: PathBuf,
}

impl ServiceHome {
    /// `refuses` begins the calls that fail.
    fn new(refuses: &str) -> Self {
        let home = Home::new();
        let folder = home.work().join("bin");
        std::fs::create_dir(&folder).unwrap();
        let program = folder.join("systemctl");
        std::fs::write(&program, STAND_IN).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
        let home = home.with("PATH", &path).with("SYSTEMCTL_REFUSES", refuses);
        Self { home, program }
    }

    fn unit(&self) -> PathBuf {
        self.home.config_file().parent().unwrap().with_file_name("systemd/user/palyrad.service")
    }

    /// Returns the calls that change something, and forgets all.
    fn acts(&self) -> Vec<String> {
        let file = self.program.with_extension("calls");
        let calls = std::fs::read_to_string(&file).unwrap_or_default();
        drop(std::fs::remove_file(file));
        calls.lines().filter(|call| !call.contains(" show ")).map(str::to_owned).collect()
    }

    fn status(&self) -> Value {
        self.home.palyra(&["admin", "service", "status", "--json"]).expect(0).json().remove(0)
    }
}

#[test]
fn a_service_is_installed_updated_shown_and_removed() {
    let service = ServiceHome::new("nothing");
    assert_eq!(service.status()["file"], "absent");
    let install = ["admin", "service", "install"];
    let first = service.home.palyra(&install).expect(0);
    for word in ["enable-linger", "palyra/environment", "mode 0600"] {
        assert!(first.err.contains(word), "{word}: {}", first.err);
    }
    let begin = ["--user daemon-reload", "--user enable palyrad.service"];
    assert_eq!(service.acts(), [begin[0], begin[1], "--user restart palyrad.service"]);
    let text = std::fs::read_to_string(service.unit()).unwrap();
    let state_dir = service.home.state_dir().display().to_string();
    assert!(text.contains(&format!("serve --state-dir \"{state_dir}\"")), "{text}");
    let printed = service.home.palyra(&["admin", "service", "install", "--print"]).expect(0);
    assert_eq!(printed.out, text, "what is printed is what is written");
    assert_eq!(service.acts(), [""; 0]);

    let again = service.home.palyra(&[&install[..], &["--json"]].concat()).expect(0).json();
    assert_eq!((&again[0]["was_changed"], &again[0]["state"]), (&false.into(), &"active".into()));
    assert_eq!(service.acts(), [begin[0], begin[1], "--user start palyrad.service"]);
    let status = service.status();
    assert_eq!((&status["file"], &status["is_current"]), (&"installed".into(), &true.into()), "{status}");
    assert_eq!(status["state_dir"], state_dir.as_str());

    let edited = text.replace("RestartSec=2", "RestartSec=9");
    std::fs::write(service.unit(), &edited).unwrap();
    assert_eq!(service.status()["file"], "edited");
    let refused = service.home.palyra(&install).expect(5);
    assert!(refused.err.contains("PLY-1412") && refused.err.contains("--force"), "{}", refused.err);
    let kept = service.home.palyra(&["admin", "service", "uninstall"]).expect(5);
    assert!(kept.err.contains("disable --now"), "{}", kept.err);
    assert_eq!(std::fs::read_to_string(service.unit()).unwrap(), edited);
    assert_eq!(service.acts(), [""; 0]);
    service.home.palyra(&[&install[..], &["--force"]].concat()).expect(0);
    assert_eq!(std::fs::read_to_string(service.unit()).unwrap(), text);

    let elsewhere = service.home.work().join("other state").display().to_string();
    let other = service.home.palyra(&[&["--state-dir", elsewhere.as_str()], &install[..]].concat()).expect(5);
    assert!(other.err.contains("another state directory"), "{}", other.err);
    service.acts();
    service.home.palyra(&["admin", "service", "uninstall"]).expect(0);
    assert_eq!(service.acts(), ["--user disable --now palyrad.service", "--user daemon-reload"]);
    assert!(!service.unit().exists());
    let none = service.home.palyra(&["admin", "service", "uninstall", "--json"]).expect(0).json();
    assert_eq!(none[0]["was_there"], false);
    assert_eq!(service.acts(), [""; 0]);
}

#[test]
fn without_a_systemd_session_nothing_is_written_and_the_mend_is_named() {
    let refusing = ServiceHome::new("show");
    let missing = Home::new().with("PATH", "/nowhere");
    for home in [&refusing.home, &missing] {
        let refused = home.palyra(&["admin", "service", "install"]).expect(1);
        assert!(refused.err.contains("PLY-1411") && refused.err.contains("palyra serve"), "{}", refused.err);
        assert!(!home.config_file().parent().unwrap().with_file_name("systemd").exists());
        let status = home.palyra(&["admin", "service", "status"]).expect(0);
        assert!(status.err.contains("no systemd user session"), "{}", status.err);
        let printed = home.palyra(&["admin", "service", "install", "--print"]).expect(0);
        assert!(printed.out.contains("\n[Service]\n") && printed.err.is_empty(), "{}", printed.err);
    }
}

#[test]
fn a_service_that_does_not_start_is_an_error_with_the_words_of_systemd() {
    let service = ServiceHome::new("restart");
    let failed = service.home.palyra(&["admin", "service", "install"]).expect(1);
    for word in ["PLY-1413", "No medium found", "journalctl --user -u palyrad"] {
        assert!(failed.err.contains(word), "{word}: {}", failed.err);
    }
}

#[test]
fn keys_of_the_environment_are_named_and_not_copied() {
    let service = ServiceHome::new("nothing");
    let home = service.home.with("PALYRA__DAEMON__DRAIN_SECONDS", "7").with("OPENAI_API_KEY", CANARY);
    let unit = home.config_file().parent().unwrap().with_file_name("systemd/user/palyrad.service");
    let installed = home.palyra(&["admin", "service", "install"]).expect(0);
    let text = std::fs::read_to_string(unit).unwrap();
    for (place, text) in [("unit", &text), ("standard output", &installed.out), ("notes", &installed.err)] {
        assert!(!text.contains(CANARY), "{place}");
    }
    assert!(installed.err.contains("PALYRA__DAEMON__DRAIN_SECONDS"), "{}", installed.err);
    assert!(!text.contains("DRAIN_SECONDS"), "{text}");
    let keys = home.config_file().with_file_name("environment");
    std::fs::create_dir_all(keys.parent().unwrap()).unwrap();
    std::fs::write(&keys, "A=b\n").unwrap();
    std::fs::set_permissions(&keys, std::fs::Permissions::from_mode(0o644)).unwrap();
    let warned = home.palyra(&["admin", "service", "install"]).expect(0);
    assert!(warned.err.contains("chmod 600"), "{}", warned.err);
}

#[test]
fn a_daemon_that_a_command_started_makes_room_and_one_of_a_person_does_not() {
    let service = ServiceHome::new("nothing");
    service.home.palyra(&["run", "hello"]).expect(0);
    let daemon = service.home.daemon_pid();
    let installed = service.home.palyra(&["admin", "service", "install", "--json"]).expect(0).json();
    assert_eq!(installed[0]["stopped_daemon"], daemon.as_raw_nonzero().get());
    until_ended(daemon);

    let mut person = service.home.command(&["serve"]).spawn().unwrap();
    read_until(&mut BufReader::new(person.stdout.take().unwrap()), "\"ready\":true");
    service.acts();
    let refused = service.home.palyra(&["admin", "service", "install"]).expect(5);
    assert!(refused.err.contains("a daemon that a person started"), "{}", refused.err);
    assert_eq!(service.acts(), [""; 0]);
    let home = service.home.with("SERVICE_PID", &person.id().to_string());
    home.palyra(&["admin", "service", "install"]).expect(0);
    signal(&person, Signal::TERM);
    ended(person).expect(0);
}
