//! `palyra memory`, and what runs remember, against a real daemon.

use crate::home::Home;

fn texts(home: &Home, arguments: &[&str]) -> Vec<String> {
    let items = home.palyra(arguments).expect(0).json();
    items.iter().map(|one| one["text"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_item_is_added_found_superseded_and_forgotten() {
    let home = Home::new();
    let none = home.palyra(&["memory", "list"]).expect(0).err;
    assert!(none.contains("palyra memory add"), "{none}");
    home.palyra(&["memory", "add", "we deploy on Fridays"]).expect(0);
    let added = home.palyra(&["memory", "add", "likes green tea", "--json"]).expect(0).json();
    assert_eq!(
        (added[0]["author"].as_str(), added[0]["reach"].as_str()),
        (Some("person"), Some("everywhere"))
    );
    let old = added[0]["memory_id"].as_str().unwrap().to_owned();
    assert_eq!(texts(&home, &["memory", "search", "deployment", "--json"]), ["we deploy on Fridays"]);
    let unfit = home.palyra(&["memory", "search", "zebra", "quixotic"]).expect(0).err;
    assert!(unfit.contains("nothing that is remembered fits"), "{unfit}");
    home.palyra(&["memory", "add", "likes black tea", "--replaces", &old]).expect(0);
    assert_eq!(texts(&home, &["memory", "search", "tea", "--json"]), ["likes black tea", "likes green tea"]);
    let table = home.palyra(&["memory", "list"]).expect(0).out;
    assert!(table.contains("(superseded by ") && table.contains("you"), "{table}");
    home.palyra(&["memory", "forget", &old[20..]]).expect(0);
    let unknown = home.palyra(&["memory", "forget", &old[20..]]).expect(1).err;
    assert!(unknown.contains("PLY-4901") && unknown.contains("palyra memory list"), "{unknown}");
    let long = "x".repeat(2_001);
    let refused = home.palyra(&["memory", "add", &long]).expect(2).err;
    assert!(refused.contains("2000 bytes"), "{refused}");

    home.palyra(&["journal", "verify"]).expect(0);
    home.palyra(&["journal", "rebuild"]).expect(0);
    assert_eq!(texts(&home, &["memory", "list", "--json"]), ["likes black tea", "we deploy on Fridays"]);
}

#[test]
fn what_a_person_says_is_remembered_at_once_and_found_by_a_later_run() {
    let home = Home::new();
    let said = home.palyra(&["run", "remember that tests run on port 0"]).expect(0).out;
    assert!(said.contains("remembered"), "{said}");
    let items = home.palyra(&["memory", "list", "--json"]).expect(0).json();
    assert_eq!(items.len(), 1);
    assert_eq!(items[0]["text"], "tests run on port 0");
    assert_eq!(items[0]["author"], "model");
    assert!(items[0]["run_id"].as_str().is_some_and(|run| run.len() == 26) && items[0]["tape_seq"] != 0);
    let found = home.palyra(&["run", "what do you remember about tests?"]).expect(0).out;
    assert!(found.contains("tests run on port 0"), "{found}");
}
