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
    assert_eq!(undone.err, "✓ notes.txt: as before\n· 1 file as before the run, 0 left alone\n");
    assert_eq!(notes(&home), "one\nold\nthree\n");
    let again = home.palyra(&["runs", "undo", "last"]).expect(0);
    assert!(again.err.contains("was as before already"), "{}", again.err);
    is_whole(&home);
}

#[test]
fn a_file_that_somebody_changed_since_is_left_alone_and_told_with_a_difference() {
    let home = changed();
    home.write("notes.txt", "one\nnew\nmine\n");
    let undone = home.palyra(&["runs", "undo", "last"]).expect(5);
    assert!(undone.err.contains("! notes.txt: changed since, and left alone"), "{}", undone.err);
    for line in ["\n  -mine\n", "\n  +three\n", "\n· 0 files as before the run, 1 left alone\n"] {
        assert!(undone.err.contains(line), "{}", undone.err);
    }
    assert_eq!(notes(&home), "one\nnew\nmine\n");
    let json = &home.palyra(&["runs", "undo", "last", "--json"]).expect(5).json()[0];
    assert_eq!((&json["path"], &json["result"]), (&"notes.txt".into(), &"conflict".into()));
    is_whole(&home);
}
