//! The state directory that the code of 2026-11-23 wrote: the verifier accepts it, and the daemon of today serves it.
//!
//! It is the fixture of the journal's own tests, with every kind of entry in it, sealed payloads and a rollback that
//! was accepted. Its calls are coherent; beyond that its runs make no sense, and a daemon ends those that are open.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use palyra_verify::{FaultCode, StateKeys, VerifyOptions, verify_database};

use crate::home::Home;

/// Unpacks the fixture as the state directory of a home; returns the anchor that its daemon kept.
fn unpack(home: &Home) -> PathBuf {
    let fixture = "../journal/tests/fixtures/state-v2.tar.gz";
    let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join(fixture);
    let parent = home.state_dir().parent().unwrap().to_owned();
    fs::create_dir_all(&parent).unwrap();
    let mut tar = Command::new("tar");
    tar.args(["--extract", "--gzip", "--file"]).arg(archive).current_dir(&parent);
    assert!(tar.status().unwrap().success());
    fs::rename(parent.join("state"), home.state_dir()).unwrap();
    parent.join("anchors")
}

/// Verifies the journal with its keys and returns the exit code and what the verifier says.
fn verified(home: &Home, options: VerifyOptions) -> (i32, String) {
    let keys = Some(StateKeys::open(&home.state_dir()).unwrap());
    let report =
        verify_database(&home.state_dir().join("journal.db"), &mut VerifyOptions { keys, ..options });
    (report.exit_code().into(), palyra_verify::text_report(&report))
}

#[test]
fn the_verifier_accepts_the_old_state_and_sees_a_changed_byte() {
    let home = Home::new();
    unpack(&home);
    let (code, words) = verified(&home, VerifyOptions::default());
    assert_eq!(code, 0, "{words}");
    assert!(words.contains("reopened") && words.contains("erased"), "{words}");
    let database = home.state_dir().join("journal.db");
    let sealed = verify_database(&database, &mut VerifyOptions::default());
    assert!(
        sealed.exit_code() == 18 && sealed.payloads_sealed > 100,
        "{}",
        palyra_verify::text_report(&sealed)
    );

    let mut bytes = fs::read(&database).unwrap();
    let text = b"It is a daemon";
    let at = bytes.windows(text.len()).position(|window| window == text).unwrap();
    bytes[at] ^= 1;
    fs::write(&database, bytes).unwrap();
    assert_eq!(verified(&home, VerifyOptions::default()).0, i32::from(FaultCode::Mismatch.number()));
}

#[test]
fn the_daemon_of_today_serves_the_old_state_and_goes_on_from_its_head() {
    let home = Home::new().with("PALYRA__JOURNAL__SEAL", "true");
    let anchors = unpack(&home);
    let log_id = home.palyra(&["journal", "status", "--json"]).expect(0).json()[0]["log_id"].clone();
    assert!(log_id.is_string(), "{log_id}");
    let sessions = home.palyra(&["sessions", "list", "--json"]).expect(0).json();
    assert!(!sessions.is_empty());
    home.palyra(&["journal", "verify"]).expect(0);
    let answered = home.palyra(&["run", "--model", "demo/demo", "what can you do"]).expect(0);
    assert!(!answered.out.is_empty());
    home.palyra(&["admin", "stop"]).expect(0);

    let newest = fs::read_dir(anchors).unwrap().map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
    let size = |note: &str| note.lines().nth(1).unwrap().parse::<u64>().unwrap();
    let kept = newest.max_by_key(|note| size(note)).unwrap();
    let since = Some(kept.parse().unwrap());
    let (code, words) = verified(&home, VerifyOptions { since, ..VerifyOptions::default() });
    assert_eq!(code, 0, "{words}");
    assert!(words.contains("freshness") && !words.contains("unknown; newest"), "{words}");
}
