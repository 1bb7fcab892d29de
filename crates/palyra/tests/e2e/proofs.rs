//! What the journal proves to people who keep nothing but its heads.

use std::fs;
use std::path::{Path, PathBuf};

use palyra_verify::{FaultCode, VerifyOptions, verify_bundle, verify_database};

use crate::home::Home;

struct Scene {
    home: Home,
    copies: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        let home = Home::new();
        home.write("README.md", "# Amber\n\nIt keeps.\n");
        Self { home, copies: tempfile::tempdir().unwrap() }
    }

    fn run(&self, times: usize) {
        for _ in 0..times {
            self.home.palyra(&["run", "read README.md"]).expect(0);
        }
    }

    fn stop(&self) {
        self.home.palyra(&["admin", "stop"]).expect(0);
    }

    /// Copies the state directory aside while nobody serves.
    fn copy_state(&self, name: &str) -> PathBuf {
        self.stop();
        let copy = self.copies.path().join(name);
        copy_folder(&self.home.state_dir(), &copy);
        copy
    }

    fn put_back(&self, copy: &Path) {
        self.stop();
        fs::remove_dir_all(self.home.state_dir()).unwrap();
        copy_folder(copy, &self.home.state_dir());
    }

    /// Forgets what the daemon itself keeps elsewhere.
    fn lose_anchors(&self) {
        let anchors = self.home.config_file().with_file_name("anchors");
        fs::remove_dir_all(anchors).expect("the daemon keeps its newest head there");
    }

    fn database(&self) -> PathBuf {
        self.home.state_dir().join("journal.db")
    }
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    fs::set_permissions(to, fs::metadata(from).unwrap().permissions()).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => copy_folder(&entry.path(), &target),
            kind if kind.is_file() => {
                fs::copy(entry.path(), target).unwrap();
            }
            // The socket of a daemon that is gone.
            _ => {}
        }
    }
}

#[test]
fn a_state_directory_of_yesterday_is_noticed_at_once_and_runs_nothing() {
    let scene = Scene::new();
    scene.run(1);
    let yesterday = scene.copy_state("yesterday");
    scene.run(1);
    scene.put_back(&yesterday);

    let told = scene.home.palyra(&["run", "read README.md"]).expect(1);
    assert!(told.err.contains("PLY-2010") && told.err.contains("entries then"), "{}", told.err);
    assert_eq!(told.out, "", "nothing ran");
    let told = scene.home.palyra(&["runs", "list"]).expect(1);
    assert!(told.err.contains("PLY-2010"), "{}", told.err);
    let status = scene.home.palyra(&["journal", "status"]).expect(0);
    assert!(status.out.contains("it is shorter than a head it has signed"), "{}", status.out);
    let doctor = scene.home.palyra(&["doctor"]).expect(1);
    assert!(doctor.out.contains("journal_history"), "{}", doctor.out);

    let refused = scene.home.palyra(&["journal", "accept-rollback"]).expect(2);
    assert!(refused.err.contains("--yes"), "{}", refused.err);
    let accepted = scene.home.palyra(&["journal", "accept-rollback", "--yes"]).expect(0);
    assert!(accepted.err.contains("goes on with"), "{}", accepted.err);
    scene.run(1);
    scene.home.palyra(&["journal", "verify"]).expect(0);
    scene.stop();
    let report = verify_database(&scene.database(), &mut VerifyOptions::default());
    assert_eq!(report.exit_code(), 0, "{}", palyra_verify::text_report(&report));
    scene.home.palyra(&["runs", "list"]).expect(0);
}

#[test]
fn a_client_notices_a_rollback_that_took_the_daemons_own_memory_along() {
    let scene = Scene::new();
    scene.run(1);
    let yesterday = scene.copy_state("yesterday");
    scene.run(1);
    scene.put_back(&yesterday);
    scene.lose_anchors();
    let told = scene.home.palyra(&["run", "read README.md"]).expect(1);
    assert!(told.err.contains("PLY-2010"), "{}", told.err);
    assert_eq!(told.out, "", "nothing ran");

    // Only this client has seen more, and only an explicit act gives that up.
    let accepted = scene.home.palyra(&["journal", "accept-rollback", "--yes"]).expect(0);
    assert!(accepted.err.contains("gave up the signed head of "), "{}", accepted.err);
    scene.run(1);
    let again = scene.home.palyra(&["journal", "accept-rollback", "--yes"]).expect(0);
    assert!(!again.err.contains("gave up"), "{}", again.err);
    scene.run(1);
    scene.home.palyra(&["journal", "verify"]).expect(0);
}

#[test]
fn a_client_notices_a_past_that_was_lived_again() {
    let scene = Scene::new();
    scene.run(1);
    let yesterday = scene.copy_state("yesterday");
    scene.run(1);
    scene.put_back(&yesterday);
    scene.lose_anchors();
    // Somebody who has seen nothing of it lives on from there.
    let stranger = tempfile::tempdir().unwrap();
    for _ in 0..4 {
        let mut command = scene.home.command(&["run", "list the files"]);
        command.env("XDG_DATA_HOME", stranger.path());
        crate::home::ended(command.spawn().unwrap()).expect(0);
    }
    let told = scene.home.palyra(&["run", "read README.md"]).expect(1);
    assert!(told.err.contains("PLY-2011"), "{}", told.err);
    let accepted = scene.home.palyra(&["journal", "accept-rollback", "--yes"]).expect(0);
    assert!(accepted.err.contains("gave up the signed head of "), "{}", accepted.err);
    scene.run(1);
}

#[test]
fn a_bundle_of_a_sealed_run_is_verified_without_keys() {
    let mut scene = Scene::new();
    scene.home = scene.home.with("PALYRA__JOURNAL__SEAL", "true");
    let picture = [b"\x89PNG\r\n\x1a\n".as_slice(), &[7; 200_000]].concat();
    fs::write(scene.home.work().join("a.png"), picture).unwrap();
    let long = "a line that is long enough to be worth its place\n".repeat(2_000);
    scene.home.write("README.md", &long);
    scene.home.palyra(&["run", "--attach", "a.png", "read README.md"]).expect(0);
    let bundle = scene.copies.path().join("bundle");
    let runs = scene.home.palyra(&["runs", "list", "--json"]).expect(0).json();
    let run = runs[0]["run_id"].as_str().unwrap();
    scene.home.palyra(&["journal", "export", "--run", run, bundle.to_str().unwrap()]).expect(0);
    scene.stop();
    let sealed = verify_database(&scene.database(), &mut VerifyOptions::default());
    assert!(
        sealed.exit_code() == 18 && sealed.payloads_sealed > 5,
        "{}",
        palyra_verify::text_report(&sealed)
    );
    let report = verify_bundle(&bundle, &VerifyOptions::default());
    assert_eq!(report.exit_code(), 0, "{}", palyra_verify::text_report(&report));
    assert!(
        report.payloads_checked > 5 && report.payloads_sealed == 0,
        "{}",
        palyra_verify::text_report(&report)
    );
    let entries = fs::read_to_string(bundle.join("entries.jsonl")).unwrap();
    assert!(entries.contains(r#""base64":"BwcH"#), "the picture is in it");
}

#[test]
fn a_kept_head_and_a_bundle_prove_themselves_without_the_daemon() {
    let scene = Scene::new();
    scene.run(1);
    let head = scene.home.palyra(&["journal", "checkpoint"]).expect(0).out;
    scene.home.palyra(&["journal", "checkpoint", "--rotate-key"]).expect(0);
    scene.run(2);
    let runs = scene.home.palyra(&["runs", "list", "--json"]).expect(0).json();
    let run = runs[0]["run_id"].as_str().unwrap();
    let proved = scene.home.palyra(&["journal", "prove", "3"]).expect(0);
    assert!(proved.out.contains("checked here"), "{}", proved.out);
    let bundle = scene.copies.path().join("bundle");
    let folder = bundle.to_str().unwrap();
    scene.home.palyra(&["journal", "export", "--run", run, folder]).expect(0);
    let again = scene.home.palyra(&["journal", "export", "--run", run, folder]).expect(2);
    assert!(again.err.contains("is not empty"), "{}", again.err);
    let tiles = scene.copies.path().join("tiles");
    scene.home.palyra(&["journal", "export", "--tiles", tiles.to_str().unwrap()]).expect(0);
    assert!(tiles.join("checkpoint").is_file() && tiles.join("tile").is_dir());
    scene.stop();

    let since = VerifyOptions { since: Some(head.parse().unwrap()), ..VerifyOptions::default() };
    for report in [
        verify_database(&scene.database(), &mut { since }),
        verify_bundle(&bundle, &VerifyOptions::default()),
    ] {
        assert_eq!(report.exit_code(), 0, "{}", palyra_verify::text_report(&report));
    }
    let entries = bundle.join("entries.jsonl");
    let text = fs::read_to_string(&entries).unwrap();
    let at = text.rfind("\"payload\":\"").unwrap() + 20;
    let other = if &text[at..=at] == "A" { "B" } else { "A" };
    fs::write(&entries, format!("{}{other}{}", &text[..at], &text[at + 1..])).unwrap();
    let broken = verify_bundle(&bundle, &VerifyOptions::default());
    assert_eq!(broken.exit_code(), FaultCode::Mismatch.number(), "{}", palyra_verify::text_report(&broken));
}
