//! A call that waits for a person, and what its record tells.

use serde_json::{Value, json};

use palyra_model_server::{Behaviour, Reply};

use crate::home::{Ended, Home};

/// A run that waits with one question.
pub(crate) struct WaitingCall {
    pub(crate) approval: String,
    pub(crate) run: String,
    pub(crate) told: Ended,
}

/// Runs an input of which a call has to be asked.
#[track_caller]
pub(crate) fn asked(home: &Home, input: &str) -> WaitingCall {
    asked_by(home, &["run", input])
}

/// The same with a whole command line.
#[track_caller]
pub(crate) fn asked_by(home: &Home, command: &[&str]) -> WaitingCall {
    let told = home.palyra(command).expect(3);
    let waiting = home.palyra(&["approve", "list", "--json"]).expect(0).json();
    let newest = waiting.first().unwrap_or_else(|| panic!("nothing waits after:\n{}", told.err));
    let text = |name: &str| newest[name].as_str().unwrap().to_owned();
    let (approval, run) = (text("approval_id"), text("run_id"));
    assert!(told.err.contains(&format!("palyra approve yes {approval}")), "{}", told.err);
    WaitingCall { approval, run, told }
}

/// Follows a run to its end; returns its entries.
#[track_caller]
pub(crate) fn tape(home: &Home, run: &str) -> Vec<Value> {
    let tail = home.palyra(&["runs", "tail", run, "--json"]);
    assert!([0, 1, 3, 130].contains(&tail.code), "{tail:?}");
    tail.json()
}

/// Returns the entries of one kind.
pub(crate) fn of<'a>(tape: &'a [Value], kind: &str) -> Vec<&'a Value> {
    tape.iter().filter_map(|entry| entry.get(kind)).collect()
}

/// Returns how the journal sees its own chain, from within and from without.
#[track_caller]
pub(crate) fn is_whole(home: &Home) {
    let verified = home.palyra(&["journal", "verify"]).expect(0);
    assert!(verified.out.starts_with("ok: "), "{}", verified.out);
    home.palyra(&["admin", "stop"]).expect(0);
    let database = home.state_dir().join("journal.db");
    let report = palyra_verify::verify_database(&database, &mut palyra_verify::VerifyOptions::default());
    assert_eq!(report.exit_code(), 0, "{}", palyra_verify::text_report(&report));
}

/// Writes what it is told to, `PATH CONTENT`, and is content with whatever comes of it.
pub(crate) fn writer() -> Behaviour {
    Behaviour::by(|body| {
        let last = body["messages"].as_array().unwrap().last().unwrap().clone();
        if last["role"] != "user" {
            return Reply::text("That is that.");
        }
        let said = last["content"].as_str().unwrap();
        let (path, content) = said.split_once(' ').unwrap_or((said, ""));
        Reply::empty().call("write_file", &json!({ "path": path, "content": content }).to_string())
    })
}
