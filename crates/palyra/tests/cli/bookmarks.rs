//! `palyra runs bookmarks`, against a real daemon.

use crate::home::Home;

#[test]
fn a_place_is_marked_listed_and_removed() {
    let home = Home::new();
    home.palyra(&["run", "hello"]).expect(0);
    let none = home.palyra(&["runs", "bookmarks"]).expect(0).err;
    assert!(none.contains("palyra runs bookmarks last NAME"), "{none}");
    home.palyra(&["runs", "bookmarks", "last@2", "first draft"]).expect(0);
    home.palyra(&["runs", "bookmarks", "last", "end"]).expect(0);
    let taken = home.palyra(&["runs", "bookmarks", "last", "end"]).expect(2).err;
    assert!(taken.contains("PLY-1004") && taken.contains("the name is taken"), "{taken}");
    let beyond = home.palyra(&["runs", "bookmarks", "last@999", "late"]).expect(1).err;
    assert!(beyond.contains("PLY-1113") && beyond.contains("ends at"), "{beyond}");
    let listed = home.palyra(&["runs", "bookmarks", "--json"]).expect(0).json();
    let names: Vec<_> = listed.iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["first draft", "end"]);
    assert_eq!(listed[0]["tape_seq"], 2);
    let table = home.palyra(&["runs", "bookmarks"]).expect(0).out;
    assert!(table.contains("@2") && table.contains("first draft"), "{table}");
    home.palyra(&["runs", "bookmarks", "--remove", "first draft"]).expect(0);
    let unknown = home.palyra(&["runs", "bookmarks", "--remove", "first draft"]).expect(2).err;
    assert!(unknown.contains("palyra runs bookmarks"), "{unknown}");

    home.palyra(&["journal", "verify"]).expect(0);
    home.palyra(&["journal", "rebuild"]).expect(0);
    assert_eq!(home.palyra(&["runs", "bookmarks", "--json"]).expect(0).json().len(), 1);
}

#[test]
fn a_run_shows_its_bookmarks_and_a_session_branches_at_one() {
    let home = Home::new();
    home.palyra(&["run", "hello"]).expect(0);
    let show = || home.palyra(&["runs", "show", "last"]).expect(0).out;
    assert!(!show().contains("bookmarks"), "{}", show());
    home.palyra(&["runs", "bookmarks", "last@2", "first draft"]).expect(0);
    assert!(show().contains("bookmarks first draft (@2)"), "{}", show());
    let branch = home.palyra(&["sessions", "branch", "@first draft", "--json"]).expect(0).json();
    assert_eq!(branch[0]["branched_from"]["tape_seq"], 2, "{branch:?}");
    home.palyra(&["runs", "bookmarks", "@first draft", "the same place"]).expect(0);
    home.palyra(&["runs", "bookmarks", "last", "draft"]).expect(0);
    let bare = home.palyra(&["sessions", "branch", "draft"]).expect(1).err;
    assert!(bare.contains("a bookmark has this name, and is named with @: @draft"), "{bare}");
    let behind = home.palyra(&["sessions", "branch", "last@draft"]).expect(2).err;
    assert!(behind.contains("a bookmark is named without a run: @draft"), "{behind}");
    home.palyra(&["sessions", "branch", "@draft"]).expect(0);
    let unknown = home.palyra(&["sessions", "branch", "@nothing"]).expect(2).err;
    assert!(unknown.contains("palyra runs bookmarks"), "{unknown}");
}
