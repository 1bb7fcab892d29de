//! Backups of whole daemons: made while they work, put back, and seen by clients that remember more or less.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use palyra_verify::{VerifyOptions, verify_database};
use rustix::process::{Signal, kill_process};

use crate::home::{Ended, Home, ended, until_ended};

const KEPT_VALUE: &str = "canary-of-the-vault-0123456789";

struct Scene {
    home: Home,
    folder: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        let home = Home::new();
        home.write("README.md", "# Amber\n\nIt keeps.\n");
        Self { home, folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    fn run(&self) {
        self.home.palyra(&["run", "read README.md"]).expect(0);
    }

    /// Runs as a person with another account of what was seen.
    fn run_elsewhere(&self) -> Ended {
        let mut command = self.home.command(&["run", "read README.md"]);
        ended(command.env("XDG_DATA_HOME", self.path("elsewhere")).spawn().unwrap())
    }

    fn stop(&self) {
        self.home.palyra(&["admin", "stop"]).expect(0);
    }

    fn runs(&self) -> BTreeSet<String> {
        let listed = self.home.palyra(&["runs", "list", "--json"]).expect(0).json();
        listed.iter().map(|run| run["run_id"].as_str().unwrap().to_owned()).collect()
    }

    /// Loses the state directory and puts a backup in its place.
    fn put_back(&self, backup: &str) -> Ended {
        self.stop();
        fs::rename(self.home.state_dir(), self.path("lost")).unwrap();
        let state = self.home.state_dir().to_str().unwrap().to_owned();
        self.home.palyra(&["backup", "restore", &self.text(backup), "--to", &state]).expect(0)
    }
}

/// Returns every file below a folder that holds a text.
fn holding(folder: &Path, text: &[u8]) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap().map(Result::unwrap) {
            match entry.file_type().unwrap() {
                kind if kind.is_dir() => folders.push(entry.path()),
                kind if kind.is_file() => {
                    let bytes = fs::read(entry.path()).unwrap();
                    if bytes.windows(text.len()).any(|window| window == text) {
                        found.push(entry.path());
                    }
                }
                _ => {}
            }
        }
    }
    found
}

#[test]
fn a_backup_of_a_busy_daemon_is_restored_and_witnesses_tell_what_it_lacks() {
    let scene = Scene::new();
    scene.run();
    assert_eq!(scene.run_elsewhere().code, 0);
    let before = scene.runs();
    let stop = AtomicBool::new(false);
    std::thread::scope(|threads| {
        let busy = threads.spawn(|| {
            let mut count = 0;
            while !stop.load(Ordering::SeqCst) {
                assert_eq!(scene.run_elsewhere().code, 0);
                count += 1;
            }
            count
        });
        let made = scene.home.palyra(&["backup", "create", &scene.text("copy"), "--json"]).expect(0);
        stop.store(true, Ordering::SeqCst);
        assert!(busy.join().unwrap() > 0);
        let made = made.json().remove(0);
        assert!(made["entries"].as_u64().unwrap() > 10 && made["files"].as_u64().unwrap() > 0, "{made}");
    });
    let verified = scene.home.palyra(&["backup", "verify", &scene.text("copy")]).expect(0);
    assert!(verified.out.contains("the journal verifies"), "{}", verified.out);
    assert_eq!(scene.run_elsewhere().code, 0, "the backup is older than what was seen there");

    let restored = scene.put_back("copy");
    assert!(restored.out.contains("a new log"), "{}", restored.out);
    let seen = scene.home.palyra(&["runs", "list"]).expect(0);
    assert!(seen.err.contains("proves that it continues all"), "{}", seen.err);
    let elsewhere = scene.run_elsewhere();
    assert_eq!(elsewhere.code, 0, "{}", elsewhere.err);
    assert!(elsewhere.err.contains("does not continue all of them"), "{}", elsewhere.err);
    assert!(scene.runs().is_superset(&before));
    scene.home.palyra(&["journal", "verify"]).expect(0);
    let quiet = scene.home.palyra(&["runs", "list"]).expect(0);
    assert!(!quiet.err.contains("opened again"), "it is said once: {}", quiet.err);
    scene.stop();
    let report = verify_database(&scene.home.state_dir().join("journal.db"), &mut VerifyOptions::default());
    assert_eq!(
        (report.exit_code(), report.reopened.len()),
        (0, 1),
        "{}",
        palyra_verify::text_report(&report)
    );
}

#[test]
fn a_backup_without_a_daemon_starts_none_and_takes_what_a_killed_one_left() {
    let scene = Scene::new();
    scene.run();
    let daemon = scene.home.daemon_pid();
    kill_process(daemon, Signal::KILL).unwrap();
    until_ended(daemon);
    let made = scene.home.palyra(&["backup", "create", &scene.text("copy")]).expect(0);
    assert!(made.err.contains("the backup is in"), "{}", made.err);
    let status = scene.home.palyra(&["status"]).expect(0);
    assert!(status.out.contains("not running"), "{}", status.out);
    scene.home.palyra(&["backup", "verify", &scene.text("copy")]).expect(0);
    let state = scene.home.state_dir().to_str().unwrap().to_owned();
    let refused = scene.home.palyra(&["backup", "restore", &scene.text("copy"), "--to", &state]).expect(5);
    assert!(refused.err.contains("PLY-4913"), "{}", refused.err);
    scene.run();
    let again = scene.home.palyra(&["backup", "create", &scene.text("copy")]).expect(5);
    assert!(again.err.contains("exists already"), "by the daemon: {}", again.err);
}

#[test]
fn no_secret_and_no_key_is_in_a_backup() {
    let scene = Scene::new();
    let put = ["admin", "vault", "put", "forge", "--host", "forge.example"];
    scene.home.palyra_reading(&put, KEPT_VALUE).expect(0);
    scene.run();
    let key = fs::read(scene.home.state_dir().join("vault/root.key")).unwrap();
    let made = scene.home.palyra(&["backup", "create", &scene.text("copy")]).expect(0);
    assert!(made.out.contains("lacks the key of the vault"), "{}", made.out);
    for canary in [KEPT_VALUE.as_bytes(), &key] {
        assert_eq!(holding(&scene.path("copy"), canary), [""; 0].map(PathBuf::from));
    }
    for name in fs::read_dir(scene.home.state_dir().join("keys")).unwrap() {
        let epoch = fs::read(name.unwrap().path()).unwrap();
        assert_eq!(holding(&scene.path("copy"), &epoch), [""; 0].map(PathBuf::from));
    }
    let made = scene.home.palyra(&["backup", "create", &scene.text("with-key"), "--with-key"]).expect(0);
    assert!(made.out.contains("contains the key of the vault"), "{}", made.out);
    assert_eq!(
        holding(&scene.path("with-key"), &key),
        [scene.path("with-key/state/vault/root.key")],
        "the control"
    );

    scene.put_back("copy");
    let status = scene.home.palyra(&["admin", "vault", "status"]).expect(0);
    assert!(format!("{}{}", status.out, status.err).contains("`root.key` is not there"), "{status:?}");
}

/// Calls `palyra` until its output has a text; each call is an answer of the daemon.
fn until(scene: &Scene, arguments: &[&str], wanted: &str) -> String {
    let begun = Instant::now();
    loop {
        let out = scene.home.palyra(arguments).out;
        if out.contains(wanted) {
            return out;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "`{wanted}` never came: {out}");
    }
}

#[test]
fn automatic_backups_are_made_and_the_doctor_knows_of_failed_ones() {
    let scene = Scene::new();
    scene.home.configure(&format!("[backup]\nfolder = \"{}\"\n", scene.text("automatic")));
    scene.run();
    until(&scene, &["admin", "tasks", "list", "--kind", "backup"], "done");
    let made: Vec<_> =
        fs::read_dir(scene.path("automatic")).unwrap().map(|name| name.unwrap().path()).collect();
    assert_eq!(made.len(), 1, "{made:?}");
    scene.home.palyra(&["backup", "verify", made[0].to_str().unwrap()]).expect(0);
    let doctor = scene.home.palyra(&["doctor"]);
    assert!(doctor.out.contains("the last one was made 0 hours ago"), "{}", doctor.out);
    scene.stop();

    let scene = Scene::new();
    fs::write(scene.path("a-file"), "").unwrap();
    scene.home.configure(&format!("[backup]\nfolder = \"{}/below\"\n", scene.text("a-file")));
    scene.run();
    let doctor = until(&scene, &["doctor"], "the latest one failed");
    assert!(doctor.contains("palyra admin tasks list --kind backup"), "{doctor}");
}
