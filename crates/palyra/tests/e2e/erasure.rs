//! Content that was erased is in no file of the state directory, and the daemon goes on.

use std::collections::BTreeSet;
use std::path::Path;

use crate::home::Home;

const SECRET: &str = "canary-lantern-of-the-north";
const ANSWERED: &str = "canary-file-in-a-workspace";

/// Returns the files below a folder that hold one of the canaries.
fn search(folder: &Path) -> BTreeSet<String> {
    files_with(folder, &[SECRET, ANSWERED])
}

/// Returns the files below a folder that hold one of the texts, as it is, in UTF-16 or in hex.
fn files_with(folder: &Path, texts: &[&str]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_with(&path, texts));
            continue;
        }
        let Ok(bytes) = std::fs::read(&path) else { continue };
        if holds(&bytes, texts) {
            found.insert(path.file_name().unwrap().to_string_lossy().into_owned());
        }
    }
    found
}

fn holds(bytes: &[u8], texts: &[&str]) -> bool {
    let mut forms: Vec<Vec<u8>> = Vec::new();
    for text in texts {
        forms.push(text.as_bytes().to_vec());
        forms.push(text.encode_utf16().flat_map(u16::to_le_bytes).collect());
        forms.push(text.bytes().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect());
    }
    let begins: BTreeSet<u8> = forms.iter().map(|form| form[0]).collect();
    let begins: Vec<bool> = (0..=u8::MAX).map(|byte| begins.contains(&byte)).collect();
    let places = (0..bytes.len()).filter(|at| begins[usize::from(bytes[*at])]);
    places.into_iter().any(|at| forms.iter().any(|form| bytes[at..].starts_with(form)))
}

/// A home in which the secret was said and read in two sessions.
fn home() -> Home {
    let home = Home::new();
    home.write("README.md", &format!("# Amber\n\n{ANSWERED}\n"));
    home.palyra(&["run", "--session", "notes", &format!("read README.md, {SECRET}")]).expect(0);
    home.palyra(&["run", "--session", "notes", "read README.md"]).expect(0);
    assert!(!search(&home.state_dir()).is_empty(), "the control: it is there before");
    home
}

fn clean_and_whole(home: &Home) {
    assert_eq!(search(&home.state_dir()), [].into(), "while the daemon runs");
    home.palyra(&["journal", "verify"]).expect(0);
    home.palyra(&["journal", "rebuild"]).expect(0);
    home.palyra(&["admin", "stop"]).expect(0);
    assert_eq!(search(&home.state_dir()), [].into(), "when it has stopped");
    home.palyra(&["run", "--session", "notes", "hello again"]).expect(0);
    home.palyra(&["journal", "verify"]).expect(0);
    assert_eq!(search(&home.state_dir()), [].into(), "after another start");
}

#[test]
fn an_erased_session_is_in_no_file() {
    let home = home();
    let id = home.palyra(&["sessions", "show", "notes", "--json"]).expect(0).json()[0]["session_id"].clone();
    let plan = home.palyra(&["journal", "erase", "--session", "notes", "--dry-run", "--json"]).expect(0);
    assert!(!search(&home.state_dir()).is_empty(), "a dry run erases nothing");
    let asked = home.palyra(&["journal", "erase", "--session", "notes"]).expect(2);
    assert!(asked.err.contains("--yes"), "{}", asked.err);
    let erased = home.palyra(&["journal", "erase", "--session", "notes", "--yes", "--json"]).expect(0);
    let (plan, erased) = (plan.json().remove(0), erased.json().remove(0));
    assert_eq!(plan["entries"], erased["entries"]);
    assert_eq!(erased["recorded_by"].as_array().unwrap().len(), 1, "{erased}");
    let shown = home.palyra(&["journal", "show"]).expect(0).out;
    assert!(shown.contains("run_started (erased)") && shown.contains("erased"), "{shown}");
    let again = home.palyra(&["journal", "erase", "--session", id.as_str().unwrap(), "--yes"]).expect(1);
    assert!(again.err.contains("PLY-2013"), "{}", again.err);
    clean_and_whole(&home);
}

#[test]
fn erased_runs_go_one_by_one() {
    let home = home();
    home.palyra(&["journal", "erase", "--run", "last", "--yes"]).expect(0);
    assert!(!search(&home.state_dir()).is_empty(), "the other run holds it still");
    let runs = home.palyra(&["runs", "list", "--json"]).expect(0).json();
    let first = runs.last().unwrap()["run_id"].as_str().unwrap().to_owned();
    let whole = home.palyra(&["sessions", "branch", &first]).expect(0);
    assert!(!whole.err.contains("erased"), "{}", whole.err);
    let erased = home.palyra(&["journal", "erase", "--run", &first, "--yes"]).expect(0);
    assert!(erased.err.contains("what was exported before (`palyra journal export`)"), "{}", erased.err);
    let branch = home.palyra(&["sessions", "branch", &first]).expect(0);
    assert!(
        branch.err.contains(&format!("the content of run {} was erased", &first[20..])),
        "{}",
        branch.err
    );
    let tail = home.palyra(&["runs", "tail", &first]).expect(0);
    assert!(!tail.out.contains(SECRET), "{}", tail.out);
    clean_and_whole(&home);
}

#[test]
fn a_person_s_whole_journal_may_be_erased() {
    let home = home();
    home.palyra(&["journal", "erase", "--principal", "me", "--yes", "--reason", "retention"]).expect(0);
    home.palyra(&["sessions", "list"]).expect(0);
    clean_and_whole(&home);
}

#[test]
fn a_range_of_everything_may_be_erased_and_the_daemon_goes_on() {
    let home = home();
    home.palyra(&["journal", "erase", "--range", "0..1000000", "--yes"]).expect(0);
    clean_and_whole(&home);
    home.palyra(&["journal", "erase", "--range", "5..3", "--yes"]).expect(2);
    home.palyra(&["journal", "erase", "--yes"]).expect(2);
}

#[test]
fn a_scrub_that_finds_nothing_says_so() {
    let home = home();
    let ended = home.palyra(&["journal", "scrub"]).expect(0);
    assert!(ended.err.contains("no entry holds a secret"), "{}", ended.err);
    let ended = home.palyra(&["journal", "scrub", "--dry-run", "--json"]).expect(0);
    assert_eq!(ended.json()[0]["entries"], 0);
}

#[test]
fn a_scrub_finds_a_value_that_became_a_secret_later() {
    let home = home();
    let shown = home.palyra(&["journal", "show"]).expect(0).out;
    assert!(!shown.contains("(erased)"), "{shown}");
    home.palyra(&["admin", "stop"]).expect(0);
    // From now on it is the key of a provider; the rest of what was read and said is not.
    let home = home.with("CANARY_KEY", SECRET);
    std::fs::create_dir_all(home.config_file().parent().unwrap()).unwrap();
    let provider = "[providers.canary]\nbase_url = \"http://127.0.0.1:9/v1\"\nkey = \"env:CANARY_KEY\"\n";
    std::fs::write(home.config_file(), provider).unwrap();
    let planned = home.palyra(&["journal", "scrub", "--dry-run", "--json"]).expect(0).json();
    let asked = home.palyra(&["journal", "scrub"]).expect(2);
    assert!(asked.err.contains("--yes"), "{}", asked.err);
    let done = home.palyra(&["journal", "scrub", "--yes", "--json"]).expect(0).json();
    assert!(done[0]["entries"] == planned[0]["entries"] && done[0]["entries"] != 0, "{done:?} {planned:?}");
    assert!(files_with(&home.state_dir(), &[SECRET]).is_empty(), "no form of it is left");
    assert!(!files_with(&home.state_dir(), &[ANSWERED]).is_empty(), "what is no secret stays");
    let shown = home.palyra(&["journal", "show"]).expect(0).out;
    assert!(shown.contains("run_started (erased)"), "{shown}");
    home.palyra(&["journal", "verify"]).expect(0);
    let again = home.palyra(&["journal", "scrub"]).expect(0);
    assert!(again.err.contains("no entry holds a secret"), "{}", again.err);
}

#[test]
fn sealed_content_is_read_and_erased_like_any_other() {
    let home = Home::new().with("PALYRA__JOURNAL__SEAL", "true");
    home.write("README.md", &format!("# Amber\n\n{ANSWERED}\n"));
    let said = home.palyra(&["run", "--session", "notes", "read README.md"]).expect(0);
    assert!(said.out.contains(ANSWERED), "{}", said.out);
    assert_eq!(search(&home.state_dir()), [].into(), "what a tool read lies sealed only");
    let tail = home.palyra(&["runs", "tail", "last"]).expect(0);
    assert!(tail.out.contains(ANSWERED), "{}", tail.out);
    let root = || std::fs::read_to_string(home.state_dir().join("keys/root.key")).unwrap();
    let before = root();
    home.palyra(&["journal", "erase", "--run", "last", "--yes"]).expect(0);
    assert_ne!(root(), before);
    home.palyra(&["run", "--session", "notes", "read README.md"]).expect(0);
    clean_and_whole(&home);
}
