//! A fault that lasts, on the page of incidents in a real browser: open with its plan in `observe_only`, and over once a person
//! mended it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::browser_visit::BrowserVisit;
use crate::home::Home;

/// Something that does not happen by then does not happen.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits for something that gives no signal.
#[track_caller]
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Installs a skill and waits for an automatic backup that has it; returns the file of its copy.
fn backed_up_skill(home: &Home, backups: &Path) -> PathBuf {
    fs::create_dir(home.work().join("notes")).unwrap();
    home.write("notes/SKILL.md", "---\nname: notes\ndescription: Takes notes.\n---\nKeep notes short.\n");
    home.palyra(&["tools", "skills", "install", "notes"]).expect(0);
    home.palyra(&["admin", "stop"]).expect(0);
    home.configure(&format!("[backup]\nfolder = \"{}\"\n", backups.display()));
    home.palyra(&["status"]).expect(0);
    home.palyra(&["run", "read notes/SKILL.md"]).expect(0);
    until("no automatic backup is made", || {
        let mut found = fs::read_dir(backups).into_iter().flatten().flatten().map(|entry| entry.path());
        let is_whole = |path: PathBuf| {
            let is_unfinished = path.file_name().unwrap().to_string_lossy().starts_with('.');
            !is_unfinished && path.join("manifest.json").is_file()
        };
        found.any(is_whole)
    });
    let copy = fs::read_dir(home.state_dir().join("skills")).unwrap().next().unwrap().unwrap();
    copy.path().join("SKILL.md")
}

/// Lets self-healing look at once: a mode is set to what it is.
fn look(home: &Home) {
    home.palyra(&["admin", "incidents", "mode", "artifacts", "observe_only"]).expect(0);
}

fn incidents(home: &Home) -> Vec<Value> {
    home.palyra(&["admin", "incidents", "--json"]).expect(0).json()
}

#[test]
fn a_lasting_fault_is_an_open_incident_with_its_plan_until_a_person_mends_it() {
    let home = Home::new();
    let backups = tempfile::tempdir().unwrap();
    let copy = backed_up_skill(&home, backups.path());
    let whole = fs::read(&copy).unwrap();
    let mut visit = BrowserVisit::start("console_incidents/browser.mjs", &home, &[]);
    let before = visit.next("page");
    assert!(before["open"].as_array().unwrap().is_empty(), "the control: {before}");

    let mut damaged = whole.clone();
    *damaged.last_mut().unwrap() ^= 1;
    fs::write(&copy, &damaged).unwrap();
    look(&home);
    until("no incident is opened", || {
        let planned = |one: &Value| one["next_remedy"].as_str().is_some_and(|remedy| !remedy.is_empty());
        incidents(&home).iter().any(planned)
    });
    visit.write("look");
    let shown = visit.next("page");
    let cards = shown["open"].as_array().unwrap();
    assert_eq!(cards.len(), 1, "{shown}");
    let card = cards[0].as_str().unwrap();
    for part in [
        "A file that the journal pins is missing or differs",
        "skill notes",
        "put back from a backup",
        "only shown",
    ] {
        assert!(card.contains(part), "{part}: {card}");
    }
    look(&home);
    assert_eq!(fs::read(&copy).unwrap(), damaged, "nothing is performed");

    home.palyra(&["tools", "skills", "install", "notes"]).expect(0);
    assert_eq!(fs::read(&copy).unwrap(), whole);
    look(&home);
    until("the incident stays open", || incidents(&home).is_empty());
    visit.write("look");
    let after = visit.next("page");
    assert!(after["open"].as_array().unwrap().is_empty(), "{after}");
    let over = after["over"].as_str().unwrap();
    for part in ["A file that the journal pins is missing or differs", "skill notes", "none", "by itself"] {
        assert!(over.contains(part), "{part}: {over}");
    }
    visit.write("end");
    visit.end();
}
