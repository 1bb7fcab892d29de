//! Writes the database file that keeps a format readable for ever, and what it says: run once per format.
//!
//! `cargo run -p palyra-journal --example write_fixture -- FOLDER` makes `journal-vN.db` and `journal-vN.txt`.
#![expect(clippy::unwrap_used, reason = "a tool of the workshop: a failure is the message")]

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use palyra_journal::{JournalStore, OpenOptions};
use palyra_ports::maintain_journal::MaintainJournal;
use palyra_ports::{AppendTape, JournalAppendRequest, NewEntry, StaticText};
use palyra_testkit::journal_suite::samples::{self, SampleRun};
use palyra_testkit::{FakeClock, FixedEntropy};
use palyra_types::access::{CredentialKind, PrincipalKind};
use palyra_types::agent::AgentProfile;
use palyra_types::event::{AccessEvent, AgentEvent, JournalEvent, RunEvent, TapeEvent, TokenCreated};
use palyra_types::run::{IdempotencyDigest, UserInput};
use palyra_types::{Seq, Timestamp, TokenId};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let folder = PathBuf::from(std::env::args_os().nth(1).unwrap());
    let state_dir = tempfile::tempdir().unwrap();
    let entropy = FixedEntropy::new(1);
    let options =
        OpenOptions::new(state_dir.path().to_owned(), Arc::new(FakeClock::new()), Arc::new(entropy));
    let journal = JournalStore::open(&options).unwrap();
    for request in [first_things()].into_iter().chain(runs()) {
        journal.append(request).await.unwrap();
    }
    journal.close().await;
    drop(journal);
    let database = state_dir.path().join("journal.db");
    let connection = rusqlite::Connection::open(&database).unwrap();
    connection.execute("DELETE FROM payload WHERE seq = 10", []).unwrap();
    drop(connection);
    let journal = JournalStore::open(&options).unwrap();
    std::fs::write(folder.join("journal-v1.txt"), told(&journal).await).unwrap();
    journal.close().await;
    drop(journal);
    let connection = rusqlite::Connection::open(&database).unwrap();
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    drop(connection);
    std::fs::copy(&database, folder.join("journal-v1.db")).unwrap();
}

/// Says what each entry is, one line each; the test that reads the file says it the same way.
async fn told(journal: &JournalStore) -> String {
    let mut text = String::new();
    for entry in journal.entries(Seq(0), 1_000).await.unwrap() {
        let leaf: String = entry.leaf.iter().map(|byte| format!("{byte:02x}")).collect();
        writeln!(text, "{leaf} {:04x} {:?}", entry.kind, entry.content).unwrap();
    }
    text
}

fn first_things() -> JournalAppendRequest {
    let session = samples::session(samples::principal(0), 0);
    let own = |event| NewEntry {
        time: Timestamp(1),
        principal: samples::principal(0),
        session: None,
        run: None,
        event,
    };
    let profile = AgentProfile {
        name: "main".into(),
        instructions: "Be brief.".into(),
        model: Some(samples::model()),
        ..AgentProfile::default()
    };
    samples::append(vec![
        own(JournalEvent::Access(AccessEvent::PrincipalRegistered {
            principal: samples::principal(0),
            name: "user:local".into(),
            kind: PrincipalKind::Person,
            role: None,
        })),
        own(JournalEvent::Agent(AgentEvent::Saved { agent: samples::agent(), profile })),
        own(JournalEvent::Access(AccessEvent::TokenCreated(TokenCreated {
            token: TokenId::from_parts(5, 5),
            sha256: [5; 32],
            expires: None,
            label: "laptop".into(),
            kind: CredentialKind::Program,
            scopes: None,
        }))),
        samples::session_opened(session, Some("home"), Timestamp(2)),
    ])
}

fn runs() -> Vec<JournalAppendRequest> {
    let session = samples::session(samples::principal(0), 0);
    let [mut text, mut tool, mut open] = [0, 1, 2].map(|n| SampleRun::new(session, n));
    tool.idempotency = Some(IdempotencyDigest([6; 32]));
    let mut all = text.text_run();
    // SHA-256 of "instructions".
    let sha256 = palyra_ledger::sha256(b"instructions");
    let statics = vec![StaticText { sha256, body: Arc::from("instructions") }];
    let begin = samples::append(vec![tool.started("What does README.md say?"), tool.requested(1)]);
    all.push(JournalAppendRequest { statics, ..begin });
    let mut proposed = vec![tool.message(1, 1)];
    proposed.extend(tool.proposed(1));
    proposed.push(tool.tool_started(1));
    all.push(samples::append(proposed));
    all.push(samples::append(vec![tool.tool_finished(1, &"# README\n".repeat(9_000)), tool.requested(2)]));
    all.push(samples::append(vec![tool.text(2, "It says README."), tool.message(2, 0), tool.finished()]));
    let input = TapeEvent::Run(RunEvent::InputReceived {
        input: UserInput::text("go on".into()),
        delivery: palyra_types::run::InputDelivery::Queue,
        idempotency: None,
    });
    all.push(samples::append(vec![open.started("And now?"), open.requested(1), open.entry(input)]));
    all
}
