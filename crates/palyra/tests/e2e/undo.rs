//! What a run changed in files is taken back, and nothing that somebody else did since.

use std::fs;

use crate::asked::{asked, is_whole, tape};
use crate::home::{Home, ended};

const ASK: &str = "change \"old\" to \"new\" in notes.txt";

fn changed() -> Home {
    let home = Home::new();
    home.write("notes.txt", "one\nold\nthree\n");
    let waits = asked(&home, ASK);
    let early = home.palyra(&["runs", "undo", &waits.run]).expect(5);
    assert!(early.err.contains("error[PLY-4109]: the run is not over"), "{}", early.err);
    // It would find nothing to take back once it is cancelled.
    assert!(early.err.contains("it has changed nothing yet. To end it: "), "{}", early.err);
    assert!(!early.err.contains("palyra runs undo"), "{}", early.err);
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
    assert!(!home.palyra(&["runs", "show", "last"]).expect(0).out.contains("undone"));
    let undone = home.palyra(&["runs", "undo", "last"]).expect(0);
    assert_eq!(
        undone.err,
        "✓ notes.txt: restored to its content before the run\n· 1 file restored, 0 skipped\n"
    );
    assert_eq!(notes(&home), "one\nold\nthree\n");
    let shown = home.palyra(&["runs", "show", "last"]).expect(0);
    let row = shown.out.lines().find(|line| line.starts_with("undone ")).unwrap_or_default();
    assert!(row.ends_with(", 1 file taken back, 0 skipped"), "{}", shown.out);
    let again = home.palyra(&["runs", "undo", "last"]).expect(0);
    assert!(again.err.contains("has its content before the run already"), "{}", again.err);
    is_whole(&home);
}

#[test]
fn a_second_undo_counts_the_file_as_it_was() {
    let home = changed();
    home.palyra(&["runs", "undo", "last"]).expect(0);
    let dry = home.palyra(&["runs", "undo", "last", "--dry-run"]).expect(0);
    assert!(
        dry.err.ends_with("· 0 files would be restored, 1 as it was; nothing was changed\n"),
        "{}",
        dry.err
    );
    let again = home.palyra(&["runs", "undo", "last"]).expect(0);
    assert!(again.err.ends_with("· 0 files restored, 1 as it was\n"), "{}", again.err);
    let lines = home.palyra(&["runs", "undo", "last", "--json"]).expect(0).json();
    let results: Vec<_> = lines.iter().map(|line| line["result"].clone()).collect();
    assert_eq!(results, ["already_restored"]);
}

#[test]
fn a_run_that_changed_nothing_names_the_one_of_this_folder_that_did() {
    let home = changed();
    let changing = home.palyra(&["runs", "list", "--json"]).expect(0).json()[0]["run_id"].clone();
    let changing = changing.as_str().unwrap().to_owned();
    // A change in another folder, later, is not the one that is meant.
    let other = home.work().with_file_name("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("notes.txt"), "one\nold\n").unwrap();
    let mut there = home.command(&["run", ASK]);
    ended(there.current_dir(&other).spawn().unwrap()).expect(3);
    let approval = home.palyra(&["approve", "list", "--json"]).expect(0).json()[0]["approval_id"].clone();
    home.palyra(&["approve", "yes", approval.as_str().unwrap(), "--wait"]).expect(0);
    home.palyra(&["run", "hello"]).expect(0);

    let refused = home.palyra(&["runs", "undo", "last"]).expect(1);
    assert!(refused.err.contains("error[PLY-4108]"), "{}", refused.err);
    let (_, command) = refused.err.split_once("changed files here is ").expect(&refused.err);
    let (_, command) = command.split_once("`palyra ").expect(&refused.err);
    let words: Vec<&str> = command.split('`').next().unwrap().split(' ').collect();
    assert!(words.len() == 3 && changing.ends_with(words[2]), "{words:?} {changing}");
    home.palyra(&words).expect(0);
    assert_eq!(notes(&home), "one\nold\nthree\n");
    // Taken back, it is not named again.
    let none = home.palyra(&["runs", "undo", "last"]).expect(1);
    assert!(none.err.contains("no run of this folder has changes"), "{}", none.err);
}

#[test]
fn a_run_that_waits_is_named_with_the_earlier_run_that_changed_files() {
    let home = changed();
    let changing = home.palyra(&["runs", "list", "--json"]).expect(0).json()[0]["run_id"].clone();
    let changing = changing.as_str().unwrap().to_owned();
    let waits = asked(&home, "create other.txt with x");
    let refused = home.palyra(&["runs", "undo", "last"]).expect(5);
    assert!(refused.err.contains("error[PLY-4109]: the run is not over"), "{}", refused.err);
    assert!(refused.err.contains(&format!("`palyra runs cancel {}`", &waits.run[20..])), "{}", refused.err);
    assert!(!refused.err.contains(" ID"), "{}", refused.err);
    assert!(!refused.err.contains("; then `palyra runs undo"), "{}", refused.err);
    assert!(refused.err.contains(&format!("changed files here is {}", &changing[20..])), "{}", refused.err);
    assert_eq!(notes(&home), "one\nnew\nthree\n");
}

#[test]
fn a_run_of_a_command_says_that_its_changes_are_not_recorded_and_names_no_other_run() {
    let home = changed();
    let waits = asked(&home, "run touch made.txt");
    home.palyra(&["approve", "yes", &waits.approval]).expect(0);
    tape(&home, &waits.run);
    let refused = home.palyra(&["runs", "undo", "last"]).expect(1);
    assert!(refused.err.contains("1 call of it (run_command) may have changed something"), "{}", refused.err);
    assert!(!refused.err.contains("`palyra runs undo"), "{}", refused.err);
    assert_eq!(notes(&home), "one\nnew\nthree\n");
}

#[test]
fn an_erased_run_is_not_taken_back_and_that_is_the_reason_given() {
    let home = changed();
    for (how, lost) in [
        ("--dry-run", " cannot be taken back once its content is erased; until then `palyra runs undo "),
        ("--yes", " cannot be taken back any more, since its content is erased\n"),
    ] {
        let said = home.palyra(&["journal", "erase", "last", how]).expect(0).err;
        assert!(said.contains(&format!("(notes.txt){lost}")), "{how}: {said}");
        assert_eq!(said.contains("until then"), how == "--dry-run", "{how}: {said}");
    }
    let run = home.palyra(&["runs", "list", "--json"]).expect(0).json()[0]["run_id"].clone();
    let refused = home.palyra(&["runs", "undo", run.as_str().unwrap()]).expect(1);
    assert!(
        refused.err.contains("error[PLY-4108]") && refused.err.contains("was erased on "),
        "{}",
        refused.err
    );
    // The command that the message of a run names says the same of the erasure.
    let shown = home.palyra(&["runs", "show", "last"]).expect(0);
    let text = format!("{}{}", shown.out, shown.err);
    let named = text.split("`palyra journal show ").nth(1).unwrap_or_else(|| panic!("{text}"));
    let erasure = home.palyra(&["journal", "show", named.split('`').next().unwrap()]).expect(0).out;
    assert!(
        erasure.contains("erased the content of the entries ") && erasure.contains("by you (request)"),
        "{erasure}"
    );
}

#[test]
fn work_that_waits_is_counted_by_folder() {
    let home = changed();
    let other = home.work().with_file_name("other");
    fs::create_dir(&other).unwrap();
    let mut there = home.command(&["run", "create tea.txt with buy tea"]);
    ended(there.current_dir(&other).spawn().unwrap()).expect(3);
    asked(&home, "create coffee.txt with buy coffee");
    let status = &home.palyra(&["status", "--json"]).expect(0).json()[0];
    assert_eq!(
        (&status["waiting_here"]["approvals"], &status["waiting_elsewhere"]["approvals"]),
        (&1.into(), &1.into())
    );
    let listed = home.palyra(&["runs", "list", "--json"]).expect(0).json();
    assert_eq!(listed.len(), 3, "the list of all runs has both");
}

#[test]
fn a_file_that_somebody_changed_since_is_left_alone_and_told_with_a_difference() {
    let home = changed();
    home.write("notes.txt", "one\nnew\nmine\n");
    let undone = home.palyra(&["runs", "undo", "last"]).expect(5);
    assert!(undone.err.contains("! notes.txt: skipped, because it changed after the run"), "{}", undone.err);
    for line in [
        "\n  -mine\n",
        "\n  +three\n",
        "\n· 0 files restored, 1 skipped\n",
        "put it into the state that the run left",
    ] {
        assert!(undone.err.contains(line), "{}", undone.err);
    }
    assert_eq!(notes(&home), "one\nnew\nmine\n");
    let json = &home.palyra(&["runs", "undo", "last", "--json"]).expect(5).json()[0];
    assert_eq!((&json["path"], &json["result"]), (&"notes.txt".into(), &"conflict".into()));
    is_whole(&home);
}

#[test]
fn a_run_whose_undo_would_be_skipped_is_not_offered_in_the_place_of_an_erased_one() {
    let home = changed();
    asked(&home, "create b.txt with x");
    home.palyra(&["approve", "yes", "last", "--wait"]).expect(0);
    let erased = home.palyra(&["runs", "list", "--json"]).expect(0).json()[0]["run_id"].clone();
    let erased = erased.as_str().unwrap();
    home.palyra(&["journal", "erase", erased, "--yes"]).expect(0);
    // The control: the other run can be taken back.
    let offered = home.palyra(&["runs", "undo", erased]).expect(1);
    assert!(offered.err.contains("takes that back"), "{}", offered.err);
    home.write("notes.txt", "one\nnew\nmine\n");
    let refused = home.palyra(&["runs", "undo", erased]).expect(1);
    assert!(!refused.err.contains("takes that back"), "{}", refused.err);
}

#[test]
fn a_file_that_a_later_run_changed_is_taken_back_run_by_run() {
    let home = changed();
    asked(&home, "change \"new\" to \"newest\" in notes.txt");
    home.palyra(&["approve", "yes", "last", "--wait"]).expect(0);
    let skipped = home.palyra(&["runs", "undo", "last~1"]).expect(5);
    assert!(skipped.err.contains("take that run back first (`palyra runs list`)"), "{}", skipped.err);
    home.palyra(&["runs", "undo", "last"]).expect(0);
    home.palyra(&["runs", "undo", "last~1"]).expect(0);
    assert_eq!(notes(&home), "one\nold\nthree\n");
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
    assert!(preview.err.contains("+++ /dev/null") && !preview.err.contains("mode "), "{}", preview.err);
    assert!(home.work().join("tea.txt").exists());
    let undone = home.palyra(&["runs", "undo", "last"]).expect(0);
    assert_eq!(
        undone.err,
        "✓ tea.txt: removed; it did not exist before the run\n· 1 file removed, 0 skipped\n"
    );
    assert!(!home.work().join("tea.txt").exists());
    is_whole(&home);
}

#[test]
fn a_folder_that_is_left_empty_is_named() {
    let home = Home::new();
    let waits = asked(&home, "create drinks/tea.txt with buy tea");
    home.palyra(&["approve", "yes", "last"]).expect(0);
    tape(&home, &waits.run);
    assert!(home.work().join("drinks/tea.txt").exists());
    let undone = home.palyra(&["runs", "undo", "last"]).expect(0);
    assert!(undone.err.ends_with("· the folder drinks is empty now, and stays\n"), "{}", undone.err);
    assert!(home.work().join("drinks").exists());
}

#[test]
fn a_run_without_changes_names_the_files_and_the_age_of_the_other_run() {
    let home = changed();
    home.palyra(&["run", "what can you do"]).expect(0);
    let refused = home.palyra(&["runs", "undo", "last"]);
    assert_ne!(refused.code, 0);
    let told = refused.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        told.contains("the newest run that changed files here is ")
            && told.contains(" ago, notes.txt); `palyra runs undo "),
        "{told}"
    );
    assert_eq!(notes(&home), "one\nnew\nthree\n");
}
