//! Leave that is taken back while a call waits for its turn (111). The canary is the file that the call writes, or the
//! credential that it reads; the control takes nothing back.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use palyra_model_server::{Behaviour, Reply};
use serde_json::json;

use super::home::{ProgramExit, ServedHome, blocking};
use crate::pair::{CasePair, PairResult};
use crate::trial::{AttackTrial, TrialContext, run_attempts};
use crate::trial_folder::SECRET;

/// How long a state of the daemon is waited for.
const PATIENCE: Duration = Duration::from_secs(60);
/// What the call writes.
const WRITTEN: &str = "w.txt";
/// What the call reads.
const CREDENTIAL: &str = ".env";
/// Runs until the file `go` is there.
const HOLDS: &str = "touch begun; until [ -e go ]; do sleep 0.05; done";
const HOLD_RULE: &str = "@id(\"holds\")\npermit (principal, action == Action::\"execute_unattended\", \
                         resource == Tool::\"run_command\");\n";
const WRITE_RULE: &str = "@id(\"writes\")\npermit (principal, action == Action::\"execute_unattended\", \
                          resource == Tool::\"write_file\");\n";

/// Why the call may run. What is asked about is asked before its turn only where nothing has to be prepared for the
/// question, so an answer is given to a call that reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LeaveKind {
    StoredGrant,
    Answer,
    Rule,
    Posture,
}

impl LeaveKind {
    /// Returns the tool, and what it is called with.
    fn call(self) -> (&'static str, String) {
        match self {
            Self::Answer => ("read_file", json!({ "path": CREDENTIAL }).to_string()),
            Self::StoredGrant | Self::Rule | Self::Posture => {
                ("write_file", json!({ "path": WRITTEN, "content": "x" }).to_string())
            }
        }
    }
}

/// How that ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WithdrawalKind {
    RevokesGrant,
    Disables,
    Asks,
    ClearsPosture,
    Forbids,
    RemovesRule,
}

/// What is taken back of what.
const CASES: &[(&str, LeaveKind, WithdrawalKind)] = &[
    ("a stored grant is revoked", LeaveKind::StoredGrant, WithdrawalKind::RevokesGrant),
    ("a tool with a stored grant is disabled", LeaveKind::StoredGrant, WithdrawalKind::Disables),
    ("a new rule forbids what was granted", LeaveKind::StoredGrant, WithdrawalKind::Forbids),
    ("an approved call's tool is disabled", LeaveKind::Answer, WithdrawalKind::Disables),
    ("a new rule forbids what was approved", LeaveKind::Answer, WithdrawalKind::Forbids),
    ("a permitted call's tool is disabled", LeaveKind::Rule, WithdrawalKind::Disables),
    ("a permitted call's tool is set to ask", LeaveKind::Rule, WithdrawalKind::Asks),
    ("a new rule forbids what was permitted", LeaveKind::Rule, WithdrawalKind::Forbids),
    ("the rule that permits is removed", LeaveKind::Rule, WithdrawalKind::RemovesRule),
    ("a tool that is always allowed is disabled", LeaveKind::Posture, WithdrawalKind::Disables),
    ("a tool that is always allowed is set to ask", LeaveKind::Posture, WithdrawalKind::Asks),
    ("a standing setting is cleared", LeaveKind::Posture, WithdrawalKind::ClearsPosture),
    ("a new rule forbids what is always allowed", LeaveKind::Posture, WithdrawalKind::Forbids),
];

/// Returns all of them.
pub(crate) fn trials() -> Vec<AttackTrial> {
    let trial = |&(variant, leave, withdrawal): &(&'static str, LeaveKind, WithdrawalKind)| {
        let pair = CasePair::new(111, variant, "the judgement when a call starts");
        AttackTrial::new(vec![pair], move |place, pairs| withdrawn(leave, withdrawal, place, pairs))
    };
    CASES.iter().map(trial).collect()
}

async fn withdrawn(
    leave: LeaveKind,
    withdrawal: WithdrawalKind,
    place: TrialContext,
    pairs: Vec<CasePair>,
) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |_| {
        let place = place.clone();
        blocking(move || Ok(Some((attempt(leave, Some(withdrawal), &place)?, attempt(leave, None, &place)?))))
    })
    .await
}

fn attempt(
    leave: LeaveKind,
    withdrawal: Option<WithdrawalKind>,
    place: &TrialContext,
) -> io::Result<Vec<String>> {
    let (tool, arguments) = leave.call();
    let holds = json!({ "argv": ["sh", "-c", HOLDS] }).to_string();
    let earlier = [Reply::empty().call(tool, &arguments), Reply::text("written")];
    let both = [Reply::empty().call("run_command", &holds).call(tool, &arguments), Reply::text("done")];
    let replies = if leave == LeaveKind::StoredGrant {
        earlier.into_iter().chain(both).collect()
    } else {
        both.to_vec()
    };
    let home = ServedHome::with_model(place, Behaviour::each(replies))?;
    home.write_rule("holds.cedar", HOLD_RULE)?;
    fs::write(home.work().join(CREDENTIAL), SECRET)?;
    let grant = give(leave, &home)?;
    let mut run = home.command(&["run", "look around"]).spawn()?;
    if leave == LeaveKind::Answer {
        let approval = until(|| Ok(home.waiting().ok()))?;
        home.palyra(&["approve", "yes", &approval])?.expect(0)?;
    }
    // Calls of one turn start one after the other, once all of them are decided.
    until(|| Ok(home.work().join("begun").exists().then_some(())))?;
    if let Some(withdrawal) = withdrawal {
        take_back(withdrawal, tool, &home, grant.as_deref())?;
    }
    fs::write(home.work().join("go"), "")?;
    run.wait()?;
    let tape = home.palyra(&["runs", "tail", "last", "--json"])?.out;
    Ok(touched(&home.work(), &tape))
}

/// Lets the call run; returns the id of a stored grant.
fn give(leave: LeaveKind, home: &ServedHome) -> io::Result<Option<String>> {
    match leave {
        LeaveKind::StoredGrant => {
            let approval = home.submit_and_park("look around")?;
            home.palyra(&["approve", "always", &approval])?.expect(0)?;
            home.palyra(&["runs", "tail", "last"])?;
            fs::remove_file(home.work().join(WRITTEN))?;
            let grants = home.palyra(&["approve", "grants", "--json"])?.expect(0)?.json()?;
            return Ok(grants.first().and_then(|grant| grant["grant_id"].as_str()).map(str::to_owned));
        }
        LeaveKind::Answer => {}
        LeaveKind::Rule => home.write_rule("writes.cedar", WRITE_RULE)?,
        LeaveKind::Posture => drop(posture(home, "write_file", "always_allow")?),
    }
    Ok(None)
}

fn take_back(
    withdrawal: WithdrawalKind,
    tool: &str,
    home: &ServedHome,
    grant: Option<&str>,
) -> io::Result<()> {
    let done = match withdrawal {
        WithdrawalKind::RevokesGrant => {
            let grant = grant.ok_or_else(|| io::Error::other("there is no grant"))?;
            home.palyra(&["approve", "revoke", grant])?
        }
        WithdrawalKind::Disables => return posture(home, tool, "disabled").map(drop),
        WithdrawalKind::Asks => return posture(home, tool, "ask").map(drop),
        WithdrawalKind::ClearsPosture => {
            home.palyra(&["policy", "posture", "clear", tool, "--workspace", "."])?
        }
        WithdrawalKind::Forbids => {
            let rule = "@id(\"none\")\n@reason(\"not here\")\nforbid (principal, action, resource == Tool::";
            home.write_rule("none.cedar", &format!("{rule}\"{tool}\");\n"))?;
            home.palyra(&["config", "reload"])?
        }
        WithdrawalKind::RemovesRule => {
            fs::remove_file(home.settings()?.join("policies/writes.cedar"))?;
            home.palyra(&["config", "reload"])?
        }
    };
    done.expect(0).map(drop)
}

fn posture(home: &ServedHome, tool: &str, to: &str) -> io::Result<ProgramExit> {
    home.palyra(&["policy", "posture", "set", tool, to, "--workspace", "."])?.expect(0)
}

fn touched(work: &Path, tape: &str) -> Vec<String> {
    let written = work.join(WRITTEN).exists().then(|| format!("{WRITTEN} was written"));
    let read = tape.contains(SECRET).then(|| format!("{CREDENTIAL} was read"));
    written.into_iter().chain(read).collect()
}

/// Looks again and again until there is something.
fn until<T>(look: impl Fn() -> io::Result<Option<T>>) -> io::Result<T> {
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        if let Some(found) = look()? {
            return Ok(found);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Err(io::Error::other("it did not come in time"))
}
