//! Names that people type: parts of ids, and the last of a folder.

use std::process::Command;

use crate::home::{Ended, Home, ended};

/// Runs the program in a folder beside the usual one.
fn in_folder(home: &Home, folder: &str, arguments: &[&str]) -> Ended {
    let place = home.work().with_file_name(folder);
    std::fs::create_dir_all(&place).unwrap();
    let mut command: Command = home.command(arguments);
    ended(command.current_dir(place).spawn().unwrap())
}

/// Returns the runs of the list, newest first.
fn runs(home: &Home) -> Vec<String> {
    let listed = home.palyra(&["runs", "list", "--json"]).expect(0).json();
    listed.iter().map(|run| run["run_id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_part_of_an_id_is_enough_where_it_fits_one_thing() {
    let home = Home::new();
    home.palyra(&["run", "hello"]).expect(0);
    home.palyra(&["run", "who are you?"]).expect(0);
    let all = runs(&home);
    let table = home.palyra(&["runs", "list"]).expect(0).out;
    for run in &all {
        let shown = &run[run.len() - 6..];
        assert!(table.contains(shown) && !table.contains(run.as_str()), "{table}");
        for part in [shown, &shown[2..], &shown.to_lowercase(), &run[..25]] {
            let told = home.palyra(&["runs", "show", part]).expect(0).out;
            assert!(told.contains(run.as_str()), "{part}: {told}");
        }
    }
    // Both began at nearly the same time: their common beginning fits both, newest first.
    let told = home.palyra(&["runs", "show", &all[0][..5]]).expect(2).err;
    let places: Vec<usize> = all.iter().map(|run| told.find(run.as_str()).unwrap()).collect();
    assert!(places[0] < places[1] && told.contains("who are you?"), "{told}");
    let unknown = home.palyra(&["runs", "show", "ZZZZ"]).expect(1).err;
    assert!(
        unknown.contains("PLY-1103") && unknown.contains("no run begins or ends with `ZZZZ`"),
        "{unknown}"
    );
    let short = home.palyra(&["runs", "show", &all[0][23..]]).expect(2).err;
    assert!(short.contains("at least 4"), "{short}");

    let session = home.palyra(&["sessions", "list", "--json"]).expect(0).json();
    let session = session[0]["session_id"].as_str().unwrap();
    let part = &session[20..];
    home.palyra(&["sessions", "rename", part, "Greetings"]).expect(0);
    assert!(home.palyra(&["sessions", "list"]).expect(0).out.contains("Greetings"));
    home.palyra(&["run", "--session", part, "hello"]).expect(0);
    let listed = home.palyra(&["runs", "list", "--session", &part.to_lowercase(), "--json"]).expect(0);
    assert_eq!(listed.json().len(), 2, "it went on in that session");
    home.palyra(&["run", "--session", "test", "hello"]).expect(0);
    assert!(home.palyra(&["sessions", "list"]).expect(0).out.contains("test"), "a key of one's own");
}

#[test]
fn the_last_run_is_that_of_the_folder() {
    let home = Home::new();
    home.palyra(&["run", "hello"]).expect(0);
    home.palyra(&["run", "who are you?"]).expect(0);
    in_folder(&home, "elsewhere", &["run", "hello"]).expect(0);
    let all = runs(&home);
    let shown = |told: Ended| told.expect(0).out.lines().next().unwrap().to_owned();
    for (name, at) in [("last", 1), ("last~1", 2)] {
        let told = shown(home.palyra(&["runs", "show", name]));
        assert!(told.ends_with(all[at].as_str()), "{name}: {told}");
    }
    assert!(shown(in_folder(&home, "elsewhere", &["runs", "show", "last"])).ends_with(all[0].as_str()));
    for (folder, name) in [("elsewhere", "last~1"), ("third", "last")] {
        let told = in_folder(&home, folder, &["runs", "show", name]).expect(1).err;
        assert!(told.contains("PLY-1103") && told.contains("in this folder"), "{told}");
    }
    let bundle = home.work().join("proof");
    home.palyra(&["journal", "export", "--run", "last", bundle.to_str().unwrap()]).expect(0);
    let unknown = home.work().join("none");
    home.palyra(&["journal", "export", "--run", "last~9", unknown.to_str().unwrap()]).expect(1);
    assert!(bundle.exists() && !unknown.exists(), "what is not found leaves no folder behind");
}

#[test]
fn an_erased_run_leaves_the_name_last_to_the_run_before_it() {
    let home = Home::new();
    for input in ["hello", "who are you?", "hello again"] {
        home.palyra(&["run", input]).expect(0);
    }
    let all = runs(&home);
    let shown = |name: &str| home.palyra(&["runs", "show", name]).expect(0).out;
    assert!(shown("last").contains(all[0].as_str()), "the control");
    home.palyra(&["journal", "erase", "--run", "last", "--yes"]).expect(0);
    assert!(shown("last").contains(all[1].as_str()));
    assert!(shown("last~1").contains(all[2].as_str()));
    home.palyra(&["runs", "tail", "last"]).expect(0);
    home.palyra(&["runs", "effects", "last"]).expect(0);
    home.palyra(&["journal", "erase", "last", "--dry-run"]).expect(0);
    let twice = home.palyra(&["journal", "erase", "last", "--yes"]).expect(2).err;
    assert!(twice.contains("passes over run") && twice.contains(all[1].as_str()), "{twice}");
    assert!(shown(&all[0]).contains("was erased"), "by its id it is there");
    let none = in_folder(&home, "elsewhere", &["runs", "show", "last"]).expect(1).err;
    assert!(
        none.contains("PLY-1103") && !none.contains(all[0].as_str()),
        "no erased run of another folder: {none}"
    );
    // Where every run is erased, they are all that can be meant.
    for run in &all[1..] {
        home.palyra(&["journal", "erase", "--run", run, "--yes"]).expect(0);
    }
    let told = home.palyra(&["runs", "show", "last"]).expect(2).err;
    assert!(told.contains(all[0].as_str()) && told.contains("(erased)"), "{told}");
}

#[test]
fn an_approval_is_counted_back_within_its_folder() {
    let home = Home::new();
    for name in ["one", "two", "three"] {
        home.palyra(&["run", &format!("create {name}.txt with x")]).expect(3);
    }
    in_folder(&home, "elsewhere", &["run", "create far.txt with x"]).expect(3);
    // Where several wait they are listed: after an answer `last~1` would be another one.
    for name in ["last", "last~0", "last~1", "last~3"] {
        for verb in ["show", "yes", "no", "always"] {
            let refused = home.palyra(&["approve", verb, name]).expect(2).err;
            assert!(refused.contains(&format!("`{name}` is not clear")), "{verb}: {refused}");
            assert!(refused.contains("two.txt") && !refused.contains("far.txt"), "{verb}: {refused}");
        }
    }
    assert!(["one.txt", "two.txt", "three.txt"].iter().all(|file| !home.work().join(file).exists()));
    // The only one is the newest, and there is none before it.
    let far = in_folder(&home, "elsewhere", &["approve", "show", "last~1"]).expect(1).err;
    assert!(far.contains("fewer approvals wait in this folder"), "{far}");
    in_folder(&home, "elsewhere", &["approve", "no", "last"]).expect(0);
    in_folder(&home, "elsewhere", &["approve", "show", "last~1"]).expect(1);
}

#[test]
fn schedules_and_agents_are_named_by_what_their_lists_show() {
    let home = Home::new();
    for every in ["1d", "2d"] {
        home.palyra(&["admin", "schedules", "add", "--every", every, "--remind", "tea", "--yes"]).expect(0);
    }
    let listed = home.palyra(&["admin", "schedules", "list", "--json"]).expect(0).json();
    let ids: Vec<&str> = listed.iter().map(|schedule| schedule["schedule_id"].as_str().unwrap()).collect();
    let short = &ids[1][20..];
    for words in [
        &["show", short][..],
        &["pause", &short.to_lowercase()],
        &["resume", &short[2..]],
        &["edit", short, "--every", "2h", "--remind", "coffee"],
        &["run-now", short],
        &["show", "last"],
    ] {
        home.palyra(&[&["admin", "schedules"][..], words].concat()).expect(0);
    }
    let shown = home.palyra(&["admin", "schedules", "show", short, "--json"]).expect(0).json();
    assert_eq!(shown[0]["schedule"]["schedule_id"], ids[1]);
    assert_eq!(shown[0]["schedule"]["text"], "coffee", "{shown:#?}");
    // Both begin so.
    let several = home.palyra(&["admin", "schedules", "remove", &ids[0][..5]]).expect(2).err;
    assert!(ids.iter().all(|id| several.contains(id)), "{several}");
    let unknown = home.palyra(&["admin", "schedules", "remove", "ZZZZ"]).expect(1).err;
    assert!(unknown.contains("PLY-1121") && unknown.contains("`palyra admin schedules list`"), "{unknown}");
    assert!(unknown.contains("`palyra admin schedules add WHEN --prompt TEXT` makes one"), "{unknown}");
    home.palyra(&["admin", "schedules", "remove", short]).expect(0);
    let left = home.palyra(&["admin", "schedules", "list", "--json"]).expect(0).json();
    assert_eq!(left.len(), 1, "{left:#?}");

    let agents = home.palyra(&["admin", "agents", "--json"]).expect(0).json();
    let agent = agents[0]["agent_id"].as_str().unwrap();
    let shown = home.palyra(&["admin", "agents", "show", &agent[20..], "--json"]).expect(0).json();
    assert_eq!(shown[0]["agent_id"], agent);
}
