//! What `palyra doctor` and `palyra journal status` say of planted faults, and that files of the journal are watched.

use std::fs;
use std::time::{Duration, Instant};

use crate::home::Home;

/// How long the daemon may take to notice what was planted.
const NOTICED_WITHIN: Duration = Duration::from_secs(30);

fn home_with_a_run() -> Home {
    let home = Home::new();
    home.write("README.md", "# Amber\n\nIt keeps.\n");
    home.palyra(&["run", "read README.md"]).expect(0);
    home
}

/// Asks again until the answer has these words.
#[track_caller]
fn told(home: &Home, verb: &[&str], words: &str) -> String {
    let begun = Instant::now();
    loop {
        let said = home.palyra(verb).out;
        if said.contains(words) {
            return said;
        }
        assert!(begun.elapsed() < NOTICED_WITHIN, "no `{words}` in {said}");
    }
}

#[test]
fn a_healthy_installation_is_told_as_one() {
    let home = home_with_a_run();
    let said = told(&home, &["doctor"], "entries hold");
    assert!(said.contains("journal_proofs") && said.contains("entries signed"), "{said}");
    assert!(!said.contains("not signed yet"), "{said}");
    home.palyra(&["doctor"]).expect(0);
    told(&home, &["journal", "status"], "every entry holds");
}

#[test]
fn a_write_ahead_log_that_is_removed_from_an_idle_daemon_is_told_and_nothing_is_lost() {
    let home = home_with_a_run();
    fs::remove_file(home.state_dir().join("journal.db-wal")).unwrap();
    told(&home, &["journal", "status"], "a file of it was removed");
    let doctor = home.palyra(&["doctor"]).expect(1);
    assert!(doctor.out.contains("a file of the journal was removed"), "{}", doctor.out);
    let runs = home.palyra(&["runs", "list", "--json"]).expect(0).json().len();
    home.palyra(&["admin", "stop"]).expect(0);
    assert_eq!(home.palyra(&["runs", "list", "--json"]).expect(0).json().len(), runs);
    home.palyra(&["journal", "verify"]).expect(0);
    home.palyra(&["run", "read README.md"]).expect(0);
}

#[test]
fn a_start_without_its_journal_begins_none() {
    let home = home_with_a_run();
    home.palyra(&["admin", "stop"]).expect(0);
    let database = home.state_dir().join("journal.db");
    let kept = fs::read(&database).unwrap();
    fs::remove_file(&database).unwrap();
    let refused = home.palyra(&["runs", "list"]).expect(4);
    assert!(refused.err.contains("PLY-2015") && refused.err.contains("journal.log-id"), "{}", refused.err);
    fs::write(&database, kept).unwrap();
    home.palyra(&["journal", "verify"]).expect(0);
}

#[test]
fn a_policy_folder_that_is_not_there_is_told() {
    let home = home_with_a_run();
    let said = home.palyra(&["doctor"]).expect(0).out;
    assert!(said.contains("policy_dir"), "{said}");
    home.palyra(&["admin", "stop"]).expect(0);
    let home = home.with("PALYRA__POLICY__DIR", "/nowhere/at/all");
    let doctor = home.palyra(&["doctor"]);
    assert!(doctor.out.contains("policy.dir names /nowhere/at/all"), "{}", doctor.out);
}
