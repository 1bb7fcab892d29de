//! A browser checks the journal by itself: that it continues the head it saw before, and that an entry is in it.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::browser_visit::BrowserVisit;
use crate::home::Home;
use crate::killed_daemon::{KilledDaemon, steady_port};

/// Signs a head and returns a link to the console.
fn signed(home: &Home) -> String {
    home.palyra(&["journal", "checkpoint"]).expect(0);
    home.palyra(&["console", "--print"]).expect(0).out.trim().to_owned()
}

/// Copies the state of a daemon that does not run, with its keys: an older journal alone could not be signed again.
fn copy_state(from: &Path, to: &Path) {
    drop(std::fs::remove_dir_all(to));
    assert!(Command::new("cp").arg("-a").args([from, to]).status().unwrap().success());
}

fn verdicts(visit: &mut BrowserVisit) -> (String, String) {
    let seen = visit.next("visit");
    let text = |name: &str| seen[name].as_str().map(str::to_owned).unwrap_or_else(|| panic!("{seen}"));
    (text("head"), text("ofEntry"))
}

/// The controls are the visits before the journal is replaced.
#[test]
fn a_browser_notices_that_a_journal_does_not_continue_the_head_it_saw() {
    let home = Home::new();
    home.configure(&format!("[http]\nlisten = \"127.0.0.1:{}\"\n", steady_port()));
    let daemon = KilledDaemon::start(&home);
    home.palyra(&["run", "list the files"]).expect(0);
    signed(&home);
    let mut visit = BrowserVisit::start("console_proofs/browser.mjs", &home, &[]);
    let (head, entry) = verdicts(&mut visit);
    assert!(head.starts_with("✓ This browser remembers this head"), "{head}");
    assert!(entry.starts_with("✓ Entry 1 "), "{entry}");
    daemon.stop();
    let copy = tempfile::tempdir().unwrap();
    let copy = copy.path().join("state");
    copy_state(&home.state_dir(), &copy);

    let daemon = KilledDaemon::start(&home);
    for _ in 0..3 {
        home.palyra(&["run", "list the files"]).expect(0);
    }
    let link = signed(&home);
    visit.write(&format!("{link} 40"));
    let (head, entry) = verdicts(&mut visit);
    assert!(head.starts_with("✓ The journal continues") && head.contains("hashes"), "{head}");
    assert!(entry.starts_with("✓ Entry 40 "), "{entry}");
    let status: Value = home.palyra(&["journal", "status", "--json"]).expect(0).json()[0].clone();
    daemon.stop();

    copy_state(&copy, &home.state_dir());
    home.forget_heads();
    let daemon = KilledDaemon::start(&home);
    let link = signed(&home);
    visit.write(&format!("{link} 4000000"));
    let (head, entry) = verdicts(&mut visit);
    assert!(head.starts_with("✕ The journal is shorter than"), "{head} after {status}");
    assert!(entry.starts_with("✕ There is no proof for entry 4000000"), "{entry}");
    for _ in 0..6 {
        home.palyra(&["run", "list the files"]).expect(0);
    }
    let link = signed(&home);
    visit.write(&format!("{link} 1"));
    let (head, _) = verdicts(&mut visit);
    assert!(head.starts_with("✕ The journal does not continue"), "{head}");
    visit.write("end");
    visit.end();
    daemon.stop();
}
