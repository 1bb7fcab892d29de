//! What a run changed in files is taken back, and nothing that somebody else did since.

use std::fs;

use crate::asked::{asked, is_whole, tape};
use crate::home::Home;

const ASK: &str = "change \"old\" to \"new\" in notes.txt";

fn changed() -> Home {
    let home = Home::new();
    home.write("notes.txt", "one\nold\nthree\n");
    let waits = asked(&home, ASK);
    let early = home.palyra(&["runs", "undo", &waits.run]).expect(5);
    assert!(early.err.contains("error[PLY-4109]: the run is not over"), "{}", early.err);
    home.palyra(&["approve", "yes", "last"]).expect(0);
    tape(&home, &waits.run);
    assert_eq!(notes(&home), "one\nnew\nthree\n");
    home
}

fn notes(home: &Home) -> String {
    fs::read_to_string(home.work().join("notes.txt")).unwrap()
}

#[test]
fn a_changed_file_is_as_before() {
    let home = changed();
    let undone = home.palyra(&["runs", "undo", "last"]).expect(0);
    assert_eq!(
        undone.err,
        "✓ notes.txt: restored to its content before the run\n· 1 file restored, 0 skipped\n"
    );
    assert_eq!(notes(&home), "one\nold\nthree\n");
    let again = home.palyra(&["runs", "undo", "last"]).expect(0);
    assert!(again.err.contains("has its content before the run already"), "{}", again.err);
    is_whole(&home);
}

#[test]
fn a_file_that_somebody_changed_since_is_left_alone_and_told_with_a_difference() {
    let home = changed();
    home.write("notes.txt", "one\nnew\nmine\n");
    let undone = home.palyra(&["runs", "undo", "last"]).expect(5);
    assert!(undone.err.contains("! notes.txt: skipped, because it changed after the run"), "{}", undone.err);
    for line in ["\n  -mine\n", "\n  +three\n", "\n· 0 files restored, 1 skipped\n"] {
        assert!(undone.err.contains(line), "{}", undone.err);
    }
    assert_eq!(notes(&home), "one\nnew\nmine\n");
    let json = &home.palyra(&["runs", "undo", "last", "--json"]).expect(5).json()[0];
    assert_eq!((&json["path"], &json["result"]), (&"notes.txt".into(), &"conflict".into()));
    is_whole(&home);
}

#[test]
fn a_dry_run_shows_what_undo_would_do_and_does_nothing() {
    let home = changed();
    let entries = || home.palyra(&["journal", "status", "--json"]).expect(0).json()[0]["entries"].clone();
    let before = entries();
    let shown = home.palyra(&["runs", "undo", "last", "--dry-run"]).expect(0);
    assert_eq!(
        shown.err,
        "· notes.txt: would be restored to its content before the run\n  --- notes.txt\n  +++ notes.txt\n  \
         @@ -1,3 +1,3 @@\n   one\n  -new\n  +old\n   three\n· 1 file would be restored, 0 skipped; nothing was changed\n"
    );
    assert_eq!((notes(&home), entries()), ("one\nnew\nthree\n".to_owned(), before), "nothing was done");
    home.write("notes.txt", "one\nnew\nmine\n");
    let shown = home.palyra(&["runs", "undo", "last", "--dry-run"]).expect(5);
    assert!(
        shown.err.contains("! notes.txt: would be skipped, because it changed after the run"),
        "{}",
        shown.err
    );
    assert_eq!(notes(&home), "one\nnew\nmine\n");
    is_whole(&home);
}

#[test]
fn a_file_that_the_run_made_is_removed_and_that_is_said() {
    let home = Home::new();
    let waits = asked(&home, "create tea.txt with buy tea");
    home.palyra(&["approve", "yes", "last"]).expect(0);
    tape(&home, &waits.run);
    let preview = home.palyra(&["runs", "undo", "last", "--dry-run"]).expect(0);
    assert!(
        preview.err.contains("· tea.txt: would be removed; it did not exist before the run\n"),
        "{}",
        preview.err
    );
    assert!(home.work().join("tea.txt").exists());
    let undone = home.palyra(&["runs", "undo", "last"]).expect(0);
    assert_eq!(
        undone.err,
        "✓ tea.txt: removed; it did not exist before the run\n· 1 file restored, 0 skipped\n"
    );
    assert!(!home.work().join("tea.txt").exists());
    is_whole(&home);
}
