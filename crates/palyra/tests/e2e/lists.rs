//! What lists and looks say, so that one can choose without opening everything.

use crate::home::Home;

#[test]
fn lists_say_what_helps_to_choose() {
    let home = Home::new();
    home.write("notes.txt", "tea\n");
    home.palyra(&["run", "list the files here"]).expect(0);
    home.palyra(&["run", "--session", "shop", "what can you do"]).expect(0);
    home.palyra(&["run", "--session", "shop", "create tea.txt with buy Tea"]).expect(3);
    let listed = home.palyra(&["sessions", "list"]).expect(0).out;
    assert!(listed.contains("list the files here") && listed.contains("shop"), "{listed}");
    let found = home.palyra(&["sessions", "list", "--search", "BUY tea"]).expect(0).out;
    assert!(found.contains("shop: create tea.txt with buy Tea") && found.lines().count() == 2, "{found}");

    let waiting = home.palyra(&["runs", "show", "last"]).expect(0).out;
    assert!(
        waiting.contains("asks     write_file creates") && waiting.contains("palyra approve yes"),
        "{waiting}"
    );

    let tools = home.palyra(&["tools", "list"]).expect(0).out;
    let row = |tool: &str| tools.lines().find(|line| line.starts_with(tool)).unwrap().to_owned();
    assert!(row("read_file ").contains("  runs  ") && row("write_file ").contains("  asks  "), "{tools}");
    assert!(row("run_command ").contains("Runs one program in the workspace"), "{tools}");
    home.palyra(&["policy", "posture", "set", "read_file", "disabled"]).expect(0);
    let tools = home.palyra(&["tools", "list"]).expect(0).out;
    assert!(tools.lines().any(|line| line.starts_with("read_file") && line.contains("  off  ")), "{tools}");

    home.palyra(&["approve", "yes", "last"]).expect(0);
    let tail = home.palyra(&["runs", "tail", "last"]).expect(0);
    let decided = tail.out.lines().find(|line| line.contains("asks by policy (medium risk)")).unwrap();
    let place: Vec<&str> = decided.split_whitespace().take(3).collect();
    assert!(place[1].parse::<u32>().is_ok() && place[2].len() == 8 && place[2].contains(':'), "{decided}");
    assert!(tail.out.contains("turns, 1 tool call, "), "{}", tail.out);
    let effects = home.palyra(&["runs", "effects"]).expect(0).out;
    assert!(effects.contains("creates `tea.txt`"), "{effects}");
    let decided = home.palyra(&["approve", "list", "--all", "--json"]).expect(0).json().remove(0);
    let shown = home.palyra(&["approve", "show", decided["approval_id"].as_str().unwrap()]).expect(0).out;
    assert!(shown.contains("decider   you") && !shown.contains("left"), "{shown}");
    let listed = home.palyra(&["approve", "list", "--all"]).expect(0).out;
    assert!(listed.contains("approved by you"), "{listed}");
}

#[test]
fn the_journal_shows_its_newest_entries_and_says_which_they_are() {
    let home = Home::new();
    home.palyra(&["run", "hello"]).expect(0);
    let total = home.palyra(&["journal", "status", "--json"]).expect(0).json()[0]["entries"].clone();
    let total: u64 = total.as_u64().unwrap();
    let newest = home.palyra(&["journal", "show", "--limit", "2"]).expect(0);
    let last = newest.out.lines().last().unwrap().split_whitespace().next().unwrap().to_owned();
    assert_eq!(last, (total - 1).to_string(), "{}", newest.out);
    let range = format!("entries {} to {} of {total} entries", total - 2, total - 1);
    assert!(newest.err.contains(&range), "{}", newest.err);
    let only = home.palyra(&["journal", "show", "last", "--json"]).expect(0).json();
    assert_eq!((only.len(), only[0]["seq"].to_string().trim_matches('"')), (1, last.as_str()), "{only:?}");
    let folder = home.work().join("proof");
    home.palyra(&["journal", "export", "last", folder.to_str().unwrap()]).expect(0);
    assert!(folder.join("checkpoint").exists());
    let lacks = home.palyra(&["journal", "export", "last"]).expect(2);
    assert!(lacks.err.contains("`palyra journal export last proof`"), "{}", lacks.err);
    let oldest = home.palyra(&["journal", "show", "--from", "0", "--limit", "2"]).expect(0);
    assert!(oldest.out.contains("log_opened") && !newest.out.contains("log_opened"), "{}", oldest.out);
}

#[test]
fn a_verification_says_what_it_covered() {
    let home = Home::new();
    home.palyra(&["run", "hello"]).expect(0);
    let told = home.palyra(&["journal", "verify"]).expect(0).out;
    assert!(told.starts_with("ok: ") && told.contains("\n  tree        computed again"), "{told}");
    assert!(
        told.contains("\n  signatures  ") && told.contains("with valid signatures, the newest over "),
        "{told}"
    );
    let report = &home.palyra(&["journal", "verify", "--json"]).expect(0).json()[0];
    let number = |field: &str| report[field].as_u64().unwrap();
    assert!(number("signed_heads") >= 1 && number("signed_entries") <= number("entries"), "{report}");
}

#[test]
fn a_provider_whose_models_are_not_known_is_listed_as_one_and_not_as_a_model() {
    let home = Home::new();
    std::fs::create_dir_all(home.config_file().parent().unwrap()).unwrap();
    let provider =
        "[model]\ndefault = \"demo/demo\"\n[providers.local]\nbase_url = \"http://127.0.0.1:9/v1\"\n";
    std::fs::write(home.config_file(), provider).unwrap();
    let listed = home.palyra(&["model", "list"]).expect(0).out;
    assert!(listed.contains(" local/* ") && listed.contains("`palyra model list --ask`"), "{listed}");
    assert!(listed.contains("demo/demo"), "{listed}");
}

#[test]
fn a_check_and_a_note_name_commands_for_the_state_directory_in_use() {
    let home = Home::new();
    std::fs::create_dir_all(home.config_file().parent().unwrap()).unwrap();
    let provider = "[model]\ndefault = \"demo/demo\"\n[providers.local]\nbase_url = \"http://127.0.0.1:9/v1\"\nkey = \"env:NO_KEY\"\n\
         [providers.other]\nbase_url = \"http://127.0.0.1:9/v1\"\n";
    std::fs::write(home.config_file(), provider).unwrap();
    let state_dir = home.state_dir();
    let named = ["--state-dir", state_dir.to_str().unwrap()];
    let with_dir = format!("`palyra --state-dir {} model ", state_dir.display());
    let listed = home.palyra(&[&named[..], &["model", "list"]].concat()).expect(0).out;
    assert!(listed.contains(&format!("{with_dir}list --ask` lists its models")), "{listed}");
    let checked = home.palyra(&[&named[..], &["doctor"]].concat()).out;
    assert!(checked.contains("`palyra ") && checked.contains(&with_dir[..with_dir.len() - 6]), "{checked}");
    for command in checked.split("`palyra ").skip(1) {
        assert!(
            command.starts_with("--state-dir ") || command.starts_with("explain "),
            "{command}: {checked}"
        );
    }
    // Programs read the same.
    let checks = home.palyra(&[&named[..], &["doctor", "--json"]].concat()).json();
    let mends = checks.iter().filter_map(|check| check["mend"].as_str());
    for command in mends.flat_map(|mend| mend.split("`palyra ").skip(1)) {
        assert!(command.starts_with("--state-dir ") || command.starts_with("explain "), "{command}");
    }
}
