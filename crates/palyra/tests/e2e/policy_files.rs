//! The operator's rules: a mistake changes nothing, and what other rules would have said is told beforehand.

use std::fs;
use std::io::BufReader;
use std::path::PathBuf;

use rustix::process::Signal;

use crate::asked::{asked, is_whole, of, tape};
use crate::home::{Home, ended, read_until, signal};

const NO_WRITES: &str = "@id(\"no-writes\")\n@reason(\"nobody writes here\")\nforbid (\n  principal,\n  action,\n  \
                         resource in Capability::\"write_files\"\n);\n";
const BROKEN: &str = "forbid (principal, action, resource)\nwhen { context.risk == };\n";

fn folder(home: &Home) -> PathBuf {
    home.config_file().with_file_name("policies")
}

pub(crate) fn write_rules(home: &Home, name: &str, text: &str) {
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
    // Without a number it is the last denied call, and the line of the denial has the whole command.
    let shown = denied.err.split_whitespace().collect::<Vec<_>>().join(" ");
    let command =
        shown.split('`').find(|part| part.starts_with("palyra policy explain ")).expect("a command");
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    let by_command = home.palyra(&words).expect(0);
    let explained = home.palyra(&["policy", "explain", "last"]).expect(0);
    assert_eq!(by_command.out, explained.out);
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
fn a_daemon_that_starts_with_broken_rules_says_so_and_status_names_the_file() {
    let home = Home::new();
    write_rules(&home, "mine.cedar", BROKEN);
    let begun = home.palyra(&["run", "create a.txt with x"]);
    let said = begun.err.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in
        ["every tool call is denied until this is mended", "mine.cedar:2:24: ", "`palyra policy check`"]
    {
        assert!(said.contains(part), "{part}: {}", begun.err);
    }
    assert!(!home.work().join("a.txt").exists());
    let status = home.palyra(&["status"]).expect(0).out;
    assert!(
        status.contains("\npolicy     every tool call is denied until this is mended: [PLY-"),
        "{status}"
    );
    assert!(status.contains("mine.cedar:2:24: ") && status.contains("`palyra policy check`"), "{status}");
    // Without the file nothing is wrong in the folder, and still nothing is in force.
    fs::remove_file(folder(&home).join("mine.cedar")).unwrap();
    let check = || {
        let checked = home.palyra(&["policy", "check"]).expect(0).err;
        checked.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let nothing = "no mistakes; the running daemon has no rules in force and denies every call: `palyra config reload` applies \
                   the files";
    assert!(check().contains(nothing), "{}", check());
    // The control: rules that can be used are not named.
    write_rules(&home, "mine.cedar", NO_WRITES);
    assert!(check().contains(nothing), "{}", check());
    home.palyra(&["config", "reload"]).expect(0);
    assert!(check().contains("no mistakes; these rules are in force"), "{}", check());
    let status = home.palyra(&["status"]).expect(0).out;
    assert!(!status.contains("policy     "), "{status}");
}

#[test]
fn an_explanation_says_that_the_file_of_its_rule_was_removed_or_edited_since() {
    let home = Home::new();
    write_rules(&home, "mine.cedar", NO_WRITES);
    home.palyra(&["run", "create a.txt with x"]).expect(3);
    let explained = || {
        let explained = home.palyra(&["policy", "explain", "last"]).expect(0);
        assert!(explained.out.contains("by no-writes (mine.cedar:1)"), "{}", explained.out);
        explained.err.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let differ = "the files of policies differ from the rules in force: ";
    assert!(!explained().contains(differ), "{}", explained());
    fs::remove_file(folder(&home).join("mine.cedar")).unwrap();
    let said = explained();
    assert!(said.contains(differ) && said.contains("`palyra config reload`"), "{said}");
    write_rules(&home, "mine.cedar", BROKEN);
    let said = explained();
    assert!(said.contains(differ) && said.contains("`palyra policy check`"), "{said}");
    // The control: what is in force again.
    write_rules(&home, "mine.cedar", NO_WRITES);
    assert!(!explained().contains(differ), "{}", explained());
}

#[test]
fn a_rule_over_a_folder_that_no_call_reaches_is_refused_and_says_what_to_write() {
    let home = Home::new();
    let rule = |folder: &str| {
        NO_WRITES.replace(");", &format!(") when {{ context.folders.contains({folder:?}) }};"))
    };
    for (folder, line) in [("src/**", "src"), ("/src", "src"), ("../src", "src")] {
        write_rules(&home, "mine.cedar", &rule(folder));
        let checked = home.palyra(&["policy", "check"]).expect(1);
        let told = checked.err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            told.contains(&format!(
                "mine.cedar:7:35: `context.folders` never has {folder:?}; did you mean {line:?}?"
            )),
            "{told}"
        );
        home.palyra(&["config", "reload"]).expect(2);
    }
    write_rules(&home, "mine.cedar", &rule("src"));
    home.palyra(&["policy", "check"]).expect(0);
    home.palyra(&["config", "reload"]).expect(0);
    let denied = home.palyra(&["run", "create src/a.txt with x"]).expect(3);
    assert!(denied.err.contains("`no-writes`"), "{}", denied.err);
}

#[test]
fn a_folder_that_is_not_in_force_is_checked_and_said_to_be_another() {
    let home = Home::new();
    fs::create_dir(home.work().join("t")).unwrap();
    home.write("t/mine.cedar", NO_WRITES);
    let elsewhere = home.palyra(&["policy", "check", "t"]).expect(0);
    let told = elsewhere.err.split_whitespace().collect::<Vec<_>>().join(" ");
    let configured = folder(&home).display().to_string();
    assert!(told.contains("no mistakes") && !told.contains("come into force with"), "{told}");
    assert!(
        told.contains(&format!("the rules in force are those in {configured}: copy the files there")),
        "{told}"
    );
    write_rules(&home, "mine.cedar", NO_WRITES);
    for own in [&["policy", "check"][..], &["policy", "check", &configured]] {
        let told = home.palyra(own).expect(0).err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains("they come into force with `palyra config reload`"), "{told}");
    }
    // A daemon that runs says which rules are in force: these, and after the file is gone others than the files.
    home.palyra(&["run", "hello"]).expect(0);
    let check = || {
        let told = home.palyra(&["policy", "check"]).expect(0).err;
        told.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(check().contains("these rules are in force"), "{}", check());
    fs::remove_file(folder(&home).join("mine.cedar")).unwrap();
    let told = check();
    let differ = "the rules in force differ from the files (mine.cedar): they come into force with `palyra config reload`";
    assert!(told.contains(differ), "{told}");
    home.palyra(&["config", "reload"]).expect(0);
    assert!(!check().contains("in force"), "{}", check());
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

#[test]
fn what_is_tried_out_is_told_and_a_canary_stays_untouched() {
    let home = Home::new();
    let tried = home.config_file().with_file_name("tried");
    fs::create_dir_all(&tried).unwrap();
    // Would let everything run; the write below must still ask, and what leads out still be denied.
    let all = "@id(\"all\") permit (principal, action, resource);\n";
    fs::write(tried.join("all.cedar"), all).unwrap();
    fs::write(home.config_file(), format!("[policy]\nshadow_dir = {:?}\n", tried.display().to_string()))
        .unwrap();
    let waits = asked(&home, "create canary.txt with x");
    assert!(!home.work().join("canary.txt").exists(), "it was not approved");
    home.palyra(&["run", "create ../b.txt with x"]).expect(3);

    let shadow = home.palyra(&["policy", "shadow"]).expect(0);
    let line = format!("{} 1  write_file: ask -> allow (by all)\n", waits.run);
    assert_eq!(shadow.out, line);
    let told = "2 decisions compared: 1 the same, would allow 1, would ask 0, would deny 0; 0 missed";
    assert!(shadow.err.contains(told), "{}", shadow.err);
    let json = home.palyra(&["policy", "shadow", "--json"]).expect(0).json().remove(0);
    assert_eq!(
        (&json["judged"], &json["would_allow"], &json["comparing"]),
        (&2.into(), &1.into(), &true.into())
    );
    assert_eq!(json["examples"][0]["run_id"], waits.run.as_str());
    assert_eq!(home.palyra(&["policy", "diff"]).expect(0).out, "", "decisions are reproduced");

    fs::write(tried.join("all.cedar"), BROKEN).unwrap();
    home.palyra(&["config", "reload"]).expect(0);
    let doctor = home.palyra(&["doctor"]);
    assert!(
        doctor.out.contains("nothing is tried out") && doctor.out.contains("all.cedar:2:24"),
        "{}",
        doctor.out
    );
    let last = home.palyra(&["policy", "shadow"]).expect(0);
    assert!(last.err.contains("no rules are tried out now"), "{}", last.err);

    // The same candidate goes on counting where it was, also in another daemon.
    fs::write(tried.join("all.cedar"), all).unwrap();
    is_whole(&home);
    let again = home.palyra(&["policy", "shadow"]).expect(0);
    assert_eq!(again.out, line);
    assert!(again.err.contains(told), "{}", again.err);
}

#[test]
fn a_setting_governs_the_next_call_and_says_who_made_it() {
    let home = Home::new();
    home.write("README.md", "# Amber\n");
    home.palyra(&["run", "read README.md"]).expect(0);
    assert!(home.palyra(&["policy", "posture", "list"]).expect(0).err.contains("nothing is set"));
    let set =
        home.palyra(&["policy", "posture", "set", "read_file", "disabled", "--workspace", "."]).expect(0);
    assert!(
        set.err.contains("read_file disabled in /") && set.err.contains("set by user:local on "),
        "{}",
        set.err
    );
    let denied = home.palyra(&["run", "read README.md"]).expect(3);
    assert!(denied.err.contains("posture: disabled in this workspace, set by "), "{}", denied.err);
    let explained = home.palyra(&["policy", "explain", "last", "1"]).expect(0);
    assert!(
        explained.out.contains("posture: disabled in this workspace, set by you on "),
        "{}",
        explained.out
    );
    let listed = home.palyra(&["policy", "posture", "list", "--json"]).expect(0).json().remove(0);
    assert_eq!((&listed["postures"][0]["tool"], &listed["unreadable"]), (&"read_file".into(), &false.into()));

    home.palyra(&["policy", "posture", "clear", "read_file", "--workspace", "."]).expect(0);
    home.palyra(&["run", "read README.md"]).expect(0);
    home.palyra(&["policy", "posture", "clear", "read_file"]).expect(2);
    home.palyra(&["policy", "posture", "set", "raed_file", "ask"]).expect(2);
    assert_eq!(
        home.palyra(&["policy", "diff"]).expect(0).out,
        "",
        "decisions are reproduced, settings and all"
    );
    home.palyra(&["policy", "posture", "set", "read_file", "disabled"]).expect(0);
    is_whole(&home);
    home.palyra(&["run", "read README.md"]).expect(3);
}

/// Over the socket a run works in the folder of its client, over TCP in one below the daemon's state: that one is the
/// run's, and everything beside it the daemon's.
#[test]
fn what_is_the_daemons_own_is_so_over_every_surface() {
    let home = Home::new();
    let mut daemon = home.command(&["serve", "--listen", "127.0.0.1:0"]).spawn().unwrap();
    let mut out = BufReader::new(daemon.stdout.take().unwrap());
    read_until(&mut out, "\"ready\":true");
    let checks = home.palyra(&["doctor", "--json"]).expect(0).json();
    let listening = checks.iter().find(|check| check["name"] == "listening").unwrap()["found"].clone();
    let port =
        listening.as_str().unwrap().split(", ").find_map(|one| one.split("127.0.0.1:").nth(1)).unwrap();
    let address = format!("http://127.0.0.1:{port}");
    let token = home.palyra(&["admin", "tokens", "create", "user:alice"]).expect(0).out.trim().to_owned();

    let database = home.state_dir().join("journal.db").display().to_string();
    let settings = home.config_file().display().to_string();
    for path in [&database, &settings] {
        let denied = home.palyra(&["run", &format!("read {path}")]).expect(3);
        assert!(denied.err.contains("never-the-daemon"), "socket, {path}: {}", denied.err);
    }
    let mine = home.palyra(&["run", "create a.txt with x"]).expect(3);
    assert!(mine.err.contains("approve"), "the control: {}", mine.err);

    let home = home.with("PALYRA_TOKEN", &token);
    let there = |arguments: &[&str]| home.palyra(&[&["--connect", &address], arguments].concat());
    for path in [&database, &settings, &"../../journal.db".to_owned()] {
        let denied = there(&["run", &format!("read {path}")]).expect(3);
        assert!(denied.err.contains("never-"), "tcp, {path}: {}", denied.err);
    }
    let theirs = there(&["run", "create a.txt with x"]).expect(3);
    assert!(theirs.err.contains("approve") && !theirs.err.contains("never-"), "the control: {}", theirs.err);
    for arguments in [&["set", "write_file", "always_allow"][..], &["clear", "write_file"], &["list"]] {
        let refused = there(&[&["policy", "posture"], arguments].concat()).expect(1);
        assert!(refused.err.contains("error[PLY-1203]"), "{}", refused.err);
    }
    signal(&daemon, Signal::TERM);
    drop(out);
    ended(daemon).expect(0);
}

#[test]
fn only_those_whom_a_rule_names_decide_its_approvals() {
    let home = Home::new();
    let rule = |approvers: &str| {
        format!(
            "@id(\"named\")\n@reason(\"a rule names who decides\")\n@approvers(\"{approvers}\")\npermit (\n  principal,\n  \
             action == Action::\"execute\",\n  resource in Capability::\"write_files\"\n);\n"
        )
    };
    write_rules(&home, "mine.cedar", &rule("role:approver"));
    home.palyra(&["policy", "check"]).expect(0);
    let waits = asked(&home, "create a.txt with x");
    let shown = home.palyra(&["approve", "show", &waits.approval]).expect(0).out;
    assert!(shown.contains("by        role:approver\n"), "{shown}");
    for verb in ["yes", "always", "no"] {
        let refused = home.palyra(&["approve", verb, &waits.approval]).expect(3);
        assert!(refused.err.contains("PLY-4103"), "an owner is not named, {verb}: {}", refused.err);
    }
    assert!(!home.work().join("a.txt").exists());
    // The one who asked may always give up.
    home.palyra(&["runs", "cancel", &waits.run]).expect(0);

    write_rules(&home, "mine.cedar", &rule("role:approver, user:local"));
    home.palyra(&["config", "reload"]).expect(0);
    let waits = asked(&home, "create b.txt with x");
    let shown = home.palyra(&["approve", "show", &waits.approval]).expect(0).out;
    assert!(shown.contains("by        role:approver, you\n"), "{shown}");
    // A grant would not answer for this rule, so none is stored and the question says why.
    assert!(shown.contains("the rule `named` asks each time"), "{shown}");
    let always = home.palyra(&["approve", "always", &waits.approval]).expect(2);
    assert!(always.err.contains("wants its own yes each time"), "{}", always.err);
    home.palyra(&["approve", "yes", &waits.approval]).expect(0);
    tape(&home, &waits.run);
    assert!(home.work().join("b.txt").exists());
}
