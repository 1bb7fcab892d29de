//! The operator's rules: a mistake changes nothing, and what other rules would have said is told beforehand.

use std::fs;
use std::path::PathBuf;

use crate::asked::{asked, of, tape};
use crate::home::Home;

const NO_WRITES: &str = "@id(\"no-writes\")\n@reason(\"nobody writes here\")\nforbid (\n  principal,\n  action,\n  \
                         resource in Capability::\"write_files\"\n);\n";
const BROKEN: &str = "forbid (principal, action, resource)\nwhen { context.risk == };\n";

fn folder(home: &Home) -> PathBuf {
    home.config_file().with_file_name("policies")
}

fn write_rules(home: &Home, name: &str, text: &str) {
    fs::create_dir_all(folder(home)).unwrap();
    fs::write(folder(home).join(name), text).unwrap();
}

fn digest(home: &Home) -> String {
    home.palyra(&["policy", "show", "--json"]).expect(0).json()[0]["digest"].as_str().unwrap().to_owned()
}

#[test]
fn a_mistake_leaves_the_old_rules_in_force_and_good_ones_govern_the_next_call() {
    let home = Home::new();
    let waits = asked(&home, "create a.txt with x");
    home.palyra(&["approve", "yes", "last"]).expect(0);
    tape(&home, &waits.run);
    let before = digest(&home);

    write_rules(&home, "mine.cedar", BROKEN);
    let place = "mine.cedar:2:24: ";
    let checked = home.palyra(&["policy", "check"]).expect(1);
    assert!(checked.err.contains(place), "{}", checked.err);
    let reloaded = home.palyra(&["config", "reload"]).expect(2);
    assert!(reloaded.out.contains(place), "{}", reloaded.out);
    assert!(reloaded.err.contains("stays in force"), "{}", reloaded.err);
    assert_eq!(digest(&home), before);
    let still = asked(&home, "create b.txt with x");

    write_rules(&home, "mine.cedar", NO_WRITES);
    home.palyra(&["policy", "check"]).expect(0);
    let taken = home.palyra(&["config", "reload"]).expect(0);
    assert_eq!(taken.err, "✓ read again; changed: policies\n");
    assert_ne!(digest(&home), before);
    let denied = home.palyra(&["run", "create c.txt with x"]).expect(3);
    assert!(denied.err.contains("✗ denied (PLY-4003 forbidden)"), "{}", denied.err);
    assert!(denied.err.contains("`no-writes` (nobody writes here)"), "{}", denied.err);
    let explained = home.palyra(&["policy", "explain", "last", "1"]).expect(0);
    assert!(explained.out.contains("by no-writes (mine.cedar:1)"), "{}", explained.out);

    // What was asked under the old rules is judged by those in force when it is answered.
    let late = home.palyra(&["approve", "yes", &still.approval]).expect(5);
    assert!(late.err.contains("no-writes") && !late.err.contains("decided before"), "{}", late.err);
    assert!(of(&tape(&home, &still.run), "tool_started").is_empty());
    for name in ["b.txt", "c.txt"] {
        assert!(!home.work().join(name).exists(), "{name}");
    }
}

#[test]
fn recorded_decisions_are_reproduced_and_compared_with_other_rules() {
    let home = Home::new();
    home.write("README.md", "# Amber\n");
    home.palyra(&["run", "read README.md"]).expect(0);
    let waits = asked(&home, "create a.txt with x");
    home.palyra(&["approve", "yes", "last"]).expect(0);
    tape(&home, &waits.run);
    home.palyra(&["run", "create ../b.txt with x"]).expect(3);

    let same = home.palyra(&["policy", "diff"]).expect(0);
    assert!(same.out.is_empty(), "{}", same.out);
    let told = "✓ 3 decisions judged again: 3 the same, newly allowed 0, newly asked 0, newly denied 0; 0 without a request\n";
    assert!(same.err.ends_with(told), "{}", same.err);

    fs::create_dir(home.work().join("other")).unwrap();
    home.write("other/no-writes.cedar", NO_WRITES);
    let other = home.palyra(&["policy", "diff", "--against", "other"]).expect(0);
    let line = format!("{} 1  write_file: ask -> deny (by no-writes)\n", waits.run);
    assert_eq!(other.out, line);
    assert!(other.err.contains("2 the same") && other.err.contains("newly denied 1;"), "{}", other.err);
    let denied = home.palyra(&["policy", "diff", "--against", "other", "--json"]).expect(0).json();
    assert_eq!((denied.len(), &denied[0]["would_be"]), (2, &"deny".into()));
    assert_eq!(home.palyra(&["policy", "diff"]).expect(0).out, "", "to compare changes nothing");

    home.write("other/no-writes.cedar", BROKEN);
    let broken = home.palyra(&["policy", "diff", "--against", "other"]);
    assert_ne!(broken.code, 0, "{broken:?}");
    assert!(broken.err.contains("no-writes.cedar:2:24"), "{}", broken.err);
}
