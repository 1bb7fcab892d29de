//! A running daemon reads its configuration again: all of it or nothing.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStderr};

use palyra_model_server::{Behaviour, Reply};
use palyra_testkit::Gate;
use rustix::process::Signal;
use serde_json::Value;

use crate::home::{Home, ended, read_until, signal};
use crate::openai_server::{home_with, runtime, serve};

/// What a reload of an unchanged file says.
const UNCHANGED: &str =
    "✓ read again; no setting changed (secrets of the vault are used at once, without a reload)\n";

/// A daemon in a terminal of its own, and what it logs.
struct Served {
    child: Child,
    log: BufReader<ChildStderr>,
}

fn served(home: &Home) -> Served {
    let mut child = home.command(&["serve"]).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    read_until(&mut out, "\"ready\":true");
    let log = BufReader::new(child.stderr.take().unwrap());
    Served { child, log }
}

impl Served {
    /// Sends the signal and waits for what the log says of it.
    fn reload(&mut self) -> String {
        signal(&self.child, Signal::HUP);
        let mut line = String::new();
        while !line.contains("reloaded") {
            line.clear();
            assert!(self.log.read_line(&mut line).unwrap() > 0, "the log ended");
        }
        line
    }

    /// Stops it with nobody listening to its log any more.
    fn stop(self) {
        drop(self.log);
        signal(&self.child, Signal::TERM);
        ended(self.child).expect(0);
    }
}

fn write(home: &Home, text: &str) {
    std::fs::create_dir_all(home.config_file().parent().unwrap()).unwrap();
    std::fs::write(home.config_file(), text).unwrap();
}

fn check_of(home: &Home) -> Value {
    let checks = home.palyra(&["doctor", "--json"]).expect(0).json();
    checks.into_iter().find(|check| check["name"] == "configuration").unwrap()
}

/// Returns the digest on a run's first entry.
fn digest_of(home: &Home, run: &str) -> String {
    let tape = home.palyra(&["runs", "tail", run, "--json"]).expect(0).json();
    tape[0]["run_started"]["config_digest"].as_str().unwrap().to_owned()
}

fn last_run(home: &Home) -> String {
    let run = &home.palyra(&["runs", "show", "last", "--json"]).expect(0).json()[0];
    run["run_id"].as_str().unwrap().to_owned()
}

#[test]
fn a_bad_reload_keeps_the_old_snapshot_and_a_good_one_governs_what_begins_then() {
    let runtime = runtime();
    let gate = Gate::closed();
    let held = Reply::empty().piece("held").hold(&gate).piece(" back");
    let server = serve(&runtime, Behaviour::each(vec![held, Reply::text("new")]));
    let home = home_with(&server);
    write(&home, "limits.input_bytes_max = 100\n");
    let mut daemon = served(&home);
    let long = "x".repeat(60);
    let running = home.command(&["run", &long]).spawn().unwrap();
    runtime.block_on(server.wait_until(|counts| counts.requests >= 1));
    let before = digest_of_config(&home);

    write(&home, "limits.input_bytes_max = 0\nlimits.turns = 1\n");
    let told = daemon.reload();
    assert!(told.contains("not reloaded, the old one stays in force: it has 2 mistakes"), "{told}");
    let check = check_of(&home);
    assert_eq!(check["level"], "warning");
    let found = check["found"].as_str().unwrap();
    assert!(
        found.contains(":1:26: `limits.input_bytes_max` takes") && found.contains("limits.turns_max"),
        "{found}"
    );
    assert_eq!(digest_of_config(&home), before);

    write(&home, "limits.input_bytes_max = 50\nlisten.tcp = \"127.0.0.1:7999\"\n");
    let told = daemon.reload();
    assert!(told.contains("changed=\"limits.input_bytes_max, listen.tcp\""), "{told}");
    assert!(told.contains("needs_restart=\"listen.tcp\""), "{told}");
    let after = digest_of_config(&home);
    assert_ne!(after, before);
    assert!(check_of(&home)["found"].as_str().unwrap().ends_with("it needs a restart: listen.tcp"));
    // The run that was going on keeps what it began with; a new one has the new limit.
    home.palyra(&["run", &long]).expect(2);
    gate.open();
    let first = ended(running).expect(0);
    assert_eq!(first.out, "held back\n");
    assert_eq!(digest_of(&home, &last_run(&home)), before);
    home.palyra(&["run", "short"]).expect(0);
    assert_eq!(digest_of(&home, &last_run(&home)), after);
    daemon.stop();
}

#[test]
fn the_verb_tells_what_changed_and_every_mistake() {
    let home = Home::new();
    let none = home.palyra(&["config", "reload"]).expect(0);
    assert!(none.err.contains("no daemon runs"), "{}", none.err);
    let daemon = served(&home);
    let same = home.palyra(&["config", "reload"]).expect(0);
    assert_eq!((same.out.as_str(), same.err.as_str()), ("", UNCHANGED));
    write(&home, "limits.turns_max = 7\nlisten.tcp = \"127.0.0.1:7999\"\n");
    let changed = home.palyra(&["config", "reload"]).expect(0);
    let waits = "! read, but not in force yet: listen.tcp; run `palyra admin stop`, and the next start of the daemon \
                 uses it\n";
    assert_eq!(changed.err, format!("✓ read again; changed: limits.turns_max\n{waits}"));
    write(&home, "limits.turns_max = 7\nlisten.tcp = \"127.0.0.1:7998\"\n");
    assert_eq!(home.palyra(&["config", "reload"]).expect(0).err, waits, "nothing of it is done");
    let digest = digest_of_config(&home);
    write(&home, "limits.turns_max = 0\nx = 1\n");
    let wrong = home.palyra(&["config", "reload"]).expect(2);
    let file = home.config_file().display().to_string();
    assert!(wrong.out.starts_with(&format!("{file}:1:20: `limits.turns_max` takes ")), "{}", wrong.out);
    assert_eq!((wrong.out.lines().count(), digest_of_config(&home)), (2, digest.clone()));
    let json = &home.palyra(&["config", "reload", "--json"]).expect(2).json()[0];
    assert_eq!((&json["digest"], json["mistakes"].as_array().unwrap().len()), (&digest.into(), 2));
    daemon.stop();
}

fn digest_of_config(home: &Home) -> String {
    let shown = home.palyra(&["config", "show", "--json"]).expect(0).json();
    shown[0]["digest"].as_str().unwrap().to_owned()
}

/// One daemon has one file; a command line can name another.
#[test]
fn a_daemon_that_reads_another_file_is_named_and_not_reloaded() {
    let home = Home::new();
    let other = home.work().join("other.toml").display().to_string();
    home.write("other.toml", "");
    std::fs::create_dir(home.work().join("policies")).unwrap();
    home.write(
        "policies/own.cedar",
        "@id(\"mine\")\nforbid (principal, action, resource == Tool::\"search\");\n",
    );
    let of_other = |words: &[&str]| home.palyra(&[&["--config", &other][..], words].concat());
    let stop = format!("`palyra --config {other} admin stop`, and the next command with `--config {other}`");
    let usual = home.config_file().display().to_string();
    let reads_usual = format!("the running daemon reads {usual}, not {other}");

    home.palyra(&["run", "hello"]).expect(0);
    let reloaded = of_other(&["config", "reload"]).expect(2);
    assert!(reloaded.err.contains(&reads_usual) && reloaded.err.contains(&stop), "{}", reloaded.err);
    assert!(!reloaded.err.contains("no setting changed"), "{}", reloaded.err);
    let checked = of_other(&["policy", "check"]).expect(0);
    assert!(checked.err.contains(&reads_usual) && checked.err.contains(&stop), "{}", checked.err);
    assert!(!checked.err.contains("reload"), "{}", checked.err);
    for words in [&["doctor"][..], &["status"]] {
        let looked = of_other(words);
        assert!(looked.out.contains(&reads_usual) && looked.out.contains(&stop), "{}", looked.out);
    }
    // The control: a file of the same place by its name is the same one.
    let same = home.palyra(&["--config", &usual, "config", "reload"]).expect(0);
    assert_eq!(same.err, UNCHANGED);
    assert!(!home.palyra(&["doctor"]).out.contains("daemon_file"));

    // The commands as they are written put the rules in force.
    of_other(&["admin", "stop"]).expect(0);
    of_other(&["run", "hello"]).expect(0);
    let checked = of_other(&["policy", "check"]).expect(0);
    assert!(checked.err.contains("these rules are in force"), "{}", checked.err);
    assert_eq!(of_other(&["config", "reload"]).expect(0).err, UNCHANGED);

    // The mirror: the daemon has the file of an option, and the command line has none.
    let folder = home.config_file().with_file_name("policies");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::copy(home.work().join("policies/own.cedar"), folder.join("mine.cedar")).unwrap();
    let checked = home.palyra(&["policy", "check"]).expect(0);
    assert!(
        checked.err.contains(&format!("the running daemon reads {other}, not {usual}")),
        "{}",
        checked.err
    );
    assert!(
        checked.err.contains("`palyra admin stop`") && !checked.err.contains("reload"),
        "{}",
        checked.err
    );
    // It reads its own file again, and a line says which.
    let reloaded = home.palyra(&["config", "reload"]).expect(0);
    assert!(reloaded.err.contains(&format!("the running daemon reads {other}")), "{}", reloaded.err);
}
