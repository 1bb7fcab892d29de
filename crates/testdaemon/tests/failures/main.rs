//! The failure suites, short: each in a process of its own, as `cargo xtask` starts them.
//!
//! The long versions are `cargo xtask crash` (`--gauntlet`, `--commands`, `--schedules`), `failing-sync`, `full-disk`, `powercut` and
//! `waiting`. A suite that cannot be carried out here fails and says what is missing; `cargo xtask test --skip NAME` leaves
//! it out.

mod kill_at_calls;

mod added_model;
mod secrets;
mod remembered;
mod task_queue;
mod healing;

use std::process::Command;

/// Every so many writes of the journal are tried on the way from due schedules to their messages.
const SCHEDULES_EVERY: u64 = 100;

/// Carries out a suite, and fails with all it said unless everything held.
#[track_caller]
fn suite(words: &[&str]) {
    let output = Command::new(env!("CARGO_BIN_EXE_palyra-failures")).args(words).output().expect("it starts");
    let (found, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{words:?}\n{found}\n{said}");
    eprintln!("{found}");
}

/// Every twentieth call; which of them changes with the commit.
#[test]
fn crash_at_calls_that_change_files_loses_and_doubles_nothing() {
    let offset = (palyra_testkit::suite_seed() % 20).to_string();
    suite(&["crash", "--every", "20", "--offset", &offset]);
}

/// Every sixtieth call; which of them changes with the commit.
#[test]
fn gauntlet_of_twenty_effects_loses_and_doubles_none() {
    let offset = (palyra_testkit::suite_seed() % 60).to_string();
    suite(&["gauntlet", "--every", "60", "--offset", &offset]);
}

/// While programs are at each of their places, and at every fortieth write of the journal.
#[test]
fn crash_while_programs_run_doubles_none_and_leaves_nothing() {
    let offset = (palyra_testkit::suite_seed() % 40).to_string();
    suite(&["commands", "--every", "40", "--offset", &offset]);
}

/// At each place outside of the daemon, and at some writes of the journal; which of them changes with the commit.
#[test]
fn crash_on_the_way_from_due_schedules_to_their_messages_doubles_and_loses_nothing() {
    let offset = (palyra_testkit::suite_seed() % SCHEDULES_EVERY).to_string();
    suite(&["schedules", "--every", &SCHEDULES_EVERY.to_string(), "--offset", &offset]);
}

#[test]
fn failing_sync_ends_writing_until_the_next_start() {
    suite(&["failing-sync", "--commits", "11", "--checkpoints", "1", "--every", "5"]);
}

#[test]
fn fulldisk_loses_nothing_and_takes_endings() {
    suite(&["full-disk", "--offsets", "4"]);
}

#[test]
fn powercut_loses_nothing_acknowledged() {
    suite(&["power-cut", "--cuts", "20", "--control-cuts", "3"]);
}

/// Some of them; how long that takes and how much memory is for the release build (`cargo xtask waiting`).
#[test]
fn waiting_runs_are_all_there_after_kills() {
    suite(&["waiting", "--runs", "300"]);
}
