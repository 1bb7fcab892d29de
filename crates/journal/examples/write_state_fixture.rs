//! Writes a state directory with every kind of entry in it, and what a reader gets out of it: run once per format.
//!
//! `cargo run -p palyra-journal --example write_state_fixture -- FOLDER` makes `state-v2.tar.gz`. Owns the history in
//! it: two epochs of an unsealed log, a rollback that was accepted, a sealed log after it; runs that ended, that are
//! open and that are erased, and random entries of every kind between them. Begin at `main`.
#![expect(clippy::unwrap_used, reason = "a tool of the workshop: a failure is the message")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use palyra_journal::{JournalStore, OpenOptions, PayloadSealing};
use palyra_ports::maintain_journal::MaintainJournal;
use palyra_ports::{
    AppendTape, EntryBlobs, EraseJournal, ErasureOrder, ErasureSubject, JournalAppendRequest, KeyChoice,
    NewEntry, ProveJournal, StaticText,
};
use palyra_testkit::journal_suite::random_appends::RandomAppends;
use palyra_testkit::journal_suite::samples::{self, SampleRun};
use palyra_testkit::{FakeClock, FixedEntropy};
use palyra_types::access::PrincipalKind;
use palyra_types::agent::AgentProfile;
use palyra_types::approval::{
    ApprovalPromptRecord, ApprovalRequested, ApprovalResolved, ApprovalState, ApprovalTerms, ApprovalVoted,
    ArgumentRule, ArgumentShape, AtExpiry, GrantBounds, GrantScope, SeparationRule, StoredGrant,
};
use palyra_types::attachment::{Attachment, AttachmentBody};
use palyra_types::event::{
    AccessEvent, AgentEvent, ApprovalAsk, ApprovalEvent, CallAttestation, ContentDigest, DecidedBy,
    JournalEvent, ModelEvent, RunEvent, SessionEvent, TapeEvent, ToolEvent,
};
use palyra_types::proof::{ErasureReason, ReopenReason};
use palyra_types::run::{IdempotencyDigest, Surface};
use palyra_types::session::{BranchPoint, SessionRef};
use palyra_types::tool::{ApprovalRiskLevel, DecisionReason, ToolVerdict};
use palyra_types::{
    ApprovalId, Attempt, EffectId, Redacted, RunId, Seq, SessionId, StoredGrantId, TapeSeq, Timestamp,
};

/// Appends of chance in each of the two halves of the second log: enough for every kind.
const RANDOM_APPENDS: usize = 220;
/// Kinds of today: the example refuses to write a fixture that lacks one.
const KINDS: &str = include_str!("../../journal-core/kinds.toml");

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let target = PathBuf::from(std::env::args_os().nth(1).unwrap());
    let made = tempfile::tempdir().unwrap();
    write_first_log(made.path()).await;
    write_second_log(made.path()).await;
    let journal = open(made.path(), 6, OpenChange::None);
    let kinds = write_expected(&journal, made.path()).await;
    journal.close().await;
    drop(journal);
    checkpoint(made.path());
    let known = KINDS.lines().filter(|line| line.trim_start().starts_with("{ number =")).count();
    assert_eq!(kinds.len(), known, "kinds that are missing: make more appends");
    let archive = std::path::absolute(target.join("state-v2.tar.gz")).unwrap();
    let tar =
        "tar --create --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner . | gzip -9 -n > \"$1\"";
    let status = Command::new("sh").args(["-c", tar, "sh"]).arg(&archive).current_dir(made.path()).status();
    assert!(status.unwrap().success());
}

/// What a start of the journal changes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OpenChange {
    None,
    AcceptRollback,
}

/// Opens the journal; from the third start on its payloads are sealed.
fn open(folder: &Path, seed: u64, change: OpenChange) -> JournalStore {
    let entropy = FixedEntropy::new(seed);
    let mut options = OpenOptions::new(folder.join("state"), Arc::new(FakeClock::new()), Arc::new(entropy));
    options.anchor_dir = Some(folder.join("anchors"));
    options.sealing = if seed > 3 { PayloadSealing::On } else { PayloadSealing::Off };
    options.reopen = (change == OpenChange::AcceptRollback).then_some(ReopenReason::RollbackAccepted);
    JournalStore::open(&options).unwrap()
}

/// Writes an unsealed log, then puts an older copy of it back, which the anchor contradicts.
async fn write_first_log(folder: &Path) {
    let journal = open(folder, 1, OpenChange::None);
    for request in [first_entries()].into_iter().chain(runs(0)) {
        journal.append(request).await.unwrap();
    }
    erase(&journal, ErasureSubject::Run(SampleRun::new(session(), run_number(0, ERASED)).run)).await;
    journal.sign_checkpoint(KeyChoice::Rotate).await.unwrap();
    journal.close().await;
    drop(journal);
    checkpoint(folder);
    let copy = folder.join("copy");
    copy_folder(&folder.join("state"), &copy);
    let journal = open(folder, 2, OpenChange::None);
    for request in runs(1) {
        journal.append(request).await.unwrap();
    }
    journal.sign_checkpoint(KeyChoice::Current).await.unwrap();
    journal.close().await;
    drop(journal);
    fs::remove_dir_all(folder.join("state")).unwrap();
    fs::rename(copy, folder.join("state")).unwrap();
}

/// Accepts the rollback, which begins a new log and holds the open runs, and goes on with sealed payloads.
async fn write_second_log(folder: &Path) {
    let (mut random, mut calls) = (RandomAppends::new(1), CoherentCalls::default());
    let journal = open(folder, 3, OpenChange::AcceptRollback);
    append_random(&journal, &mut random, &mut calls).await;
    journal.close().await;
    drop(journal);
    let journal = open(folder, 4, OpenChange::None);
    for request in runs(2) {
        journal.append(request).await.unwrap();
    }
    erase(&journal, ErasureSubject::Run(SampleRun::new(session(), run_number(2, ERASED)).run)).await;
    journal.sign_checkpoint(KeyChoice::Current).await.unwrap();
    journal.close().await;
    drop(journal);
    let journal = open(folder, 5, OpenChange::None);
    append_random(&journal, &mut random, &mut calls).await;
    journal.close().await;
}

async fn append_random(journal: &JournalStore, random: &mut RandomAppends, calls: &mut CoherentCalls) {
    for _ in 0..RANDOM_APPENDS {
        let mut request = random.next_append();
        for entry in &mut request.entries {
            if let (Some((run, _)), JournalEvent::Tape(event)) = (entry.run, &mut entry.event)
                && !calls.admit(run, event)
            {
                *event =
                    TapeEvent::Model(ModelEvent::Text { attempt: Attempt(1), text: "in its place".into() });
            }
        }
        journal.append(request).await.unwrap();
    }
}

/// The calls of random runs, as far as a verifier looks at them: nothing starts without a decision.
#[derive(Default)]
struct CoherentCalls {
    allowed: BTreeSet<(RunId, EffectId)>,
    started: BTreeSet<(RunId, EffectId)>,
    asked: BTreeMap<ApprovalId, (RunId, EffectId)>,
    seen_approvals: BTreeSet<ApprovalId>,
    grants: BTreeSet<StoredGrantId>,
}

impl CoherentCalls {
    /// Returns whether an event follows from those before it; takes from an outcome what it attests.
    fn admit(&mut self, run: RunId, event: &mut TapeEvent) -> bool {
        match event {
            TapeEvent::Tool(ToolEvent::Decided(decided)) => {
                let is_allowed = decided.verdict == ToolVerdict::Allow;
                let call = (run, decided.effect);
                let by_itself = matches!(decided.decided_by, DecidedBy::Policy | DecidedBy::Budget);
                self.allowed.remove(&call);
                if is_allowed && by_itself {
                    self.allowed.insert(call);
                }
                !is_allowed || by_itself
            }
            TapeEvent::Tool(ToolEvent::Started(started)) => {
                let call = (run, started.effect);
                let is_allowed = self.allowed.contains(&call);
                if is_allowed {
                    self.started.insert(call);
                }
                is_allowed
            }
            TapeEvent::Tool(ToolEvent::Finished(finished)) => {
                finished.attested = CallAttestation::default();
                self.started.contains(&(run, finished.effect))
            }
            TapeEvent::Approval(ApprovalEvent::Requested(asked)) => {
                self.asked.insert(asked.approval, (run, asked.effect));
                self.seen_approvals.insert(asked.approval)
            }
            TapeEvent::Approval(ApprovalEvent::Resolved(resolved)) => {
                let asked = (run, resolved.effect);
                self.asked.get(&resolved.approval) == Some(&asked)
                    && self.asked.remove(&resolved.approval).is_some()
            }
            TapeEvent::Approval(ApprovalEvent::GrantStored(stored)) => self.grants.insert(stored.grant),
            TapeEvent::Run(RunEvent::Finished(_)) => {
                self.allowed.retain(|call| call.0 != run);
                self.started.retain(|call| call.0 != run);
                self.asked.retain(|_, call| call.0 != run);
                true
            }
            _ => true,
        }
    }
}

const TERMS: ApprovalTerms = ApprovalTerms {
    span: Duration::from_secs(3_600),
    at_expiry: AtExpiry::Park,
    separation: SeparationRule::AnotherPerson,
    needed: 2,
    approvers: None,
};

/// A call that asked, was allowed by a person and attests it; the approval left a grant behind.
fn asked_run(set: u64) -> JournalAppendRequest {
    let mut run = SampleRun::new(session(), run_number(set, 4));
    let (approval, effect) = (ApprovalId::from_parts(500_000 + set, 1), EffectId(1));
    let mut entries = vec![run.started("write notes.md"), run.requested(1), run.message(1, 1)];
    let mut proposed = run.proposed(1);
    let policy =
        if let JournalEvent::Tape(TapeEvent::Tool(ToolEvent::Decided(decided))) = &mut proposed[1].event {
            (decided.verdict, decided.reason) = (ToolVerdict::Ask, DecisionReason::NeedsApproval);
            decided.ask = Some(ApprovalAsk { approval, terms: TERMS });
            decided.policy_digest
        } else {
            [0; 32]
        };
    entries.append(&mut proposed);
    let mut push = |event| {
        let entry = run.entry(event);
        entries.push(entry);
    };
    push(TapeEvent::Approval(ApprovalEvent::Requested(Box::new(ApprovalRequested {
        approval,
        effect,
        binding: ContentDigest([6; 32]),
        risk: ApprovalRiskLevel::Medium,
        terms: TERMS,
        expires: Some(Timestamp(1_735_776_000_000_000)),
        policy_digest: policy,
        prompt: ApprovalPromptRecord {
            tool: "write_file".into(),
            arguments: r#"{"path":"notes.md"}"#.into(),
            summary: "write notes.md".into(),
            preview: "-a\n+b\n".into(),
            reason: "writing asks".into(),
            unbound: Redacted::default(),
            asked_again: Redacted::default(),
        },
    }))));
    entries.extend(answered(&mut run, approval, set));
    entries.extend([run.requested(2), run.text(2, "Written."), run.message(2, 0), run.finished()]);
    samples::append(entries)
}

/// The two votes of an approval, the grant it leaves, and the call that it allows.
fn answered(run: &mut SampleRun, approval: ApprovalId, set: u64) -> Vec<NewEntry> {
    let effect = EffectId(1);
    let voted = TapeEvent::Approval(ApprovalEvent::Voted(ApprovalVoted {
        approval,
        effect,
        by: samples::principal(1),
        via: Surface::Tcp,
        note: "fine with me".into(),
    }));
    let resolved = TapeEvent::Approval(ApprovalEvent::Resolved(ApprovalResolved {
        approval,
        effect,
        state: ApprovalState::Approved,
        by: Some(samples::principal(2)),
        via: Some(Surface::LocalSocket),
        edited_digest: ContentDigest::default(),
        edited: None,
        note: "and with me".into(),
    }));
    let stored = TapeEvent::Approval(ApprovalEvent::GrantStored(StoredGrant {
        grant: StoredGrantId::from_parts(500_000 + set, 2),
        principal: samples::principal(0),
        approval,
        granted_by: samples::principal(2),
        scope: GrantScope::Session(session().id),
        expires: None,
        uses_max: Some(20),
        tool: "write_file".into(),
        matcher: vec![ArgumentRule { argument: "path".into(), shape: ArgumentShape::Beneath("docs".into()) }],
        bounds: GrantBounds::default(),
    }));
    let mut entries = vec![run.entry(voted), run.entry(resolved), run.entry(stored)];
    let mut decided = run.proposed(1).remove(1);
    // A proposal is not repeated: its place on the tape goes to the decision.
    run.tape_seq = TapeSeq(run.tape_seq.0 - 1);
    decided.run = Some((run.run, run.tape_seq));
    if let JournalEvent::Tape(TapeEvent::Tool(ToolEvent::Decided(decided))) = &mut decided.event {
        (decided.reason, decided.decided_by) = (DecisionReason::Approved, DecidedBy::Approval(approval));
    }
    let started = run.tool_started(1);
    let mut finished = run.tool_finished(1, "written");
    if let JournalEvent::Tape(TapeEvent::Tool(ToolEvent::Finished(finished))) = &mut finished.event {
        finished.attested = CallAttestation {
            tool_version: 1,
            call_digest: ContentDigest([6; 32]),
            policy_digest: [7; 32],
            approval: Some(approval),
            grant: None,
        };
    }
    entries.extend([decided, started, finished]);
    entries
}

async fn erase(journal: &JournalStore, subject: ErasureSubject) {
    let ranges = journal.find(subject).await.unwrap().ranges;
    let (authoriser, reason) = (samples::principal(0), ErasureReason::Request);
    journal.erase(ErasureOrder { ranges, authoriser, reason }).await.unwrap();
}

fn session() -> SessionRef {
    samples::session(samples::principal(0), 0)
}

/// The run of each set that is erased.
const ERASED: u64 = 3;

/// Returns the number of a run of a set, far from those of chance.
fn run_number(set: u64, run: u64) -> u64 {
    900_000 + 100 * set + run
}

fn first_entries() -> JournalAppendRequest {
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
        samples::session_opened(session(), Some("home"), Timestamp(2)),
    ])
}

/// A run that answers, one with a tool, an open one with a file, one that is erased later, and a branch.
fn runs(set: u64) -> Vec<JournalAppendRequest> {
    let [mut text, mut tool, mut open, mut erased] =
        [0, 1, 2, ERASED].map(|run| SampleRun::new(session(), run_number(set, run)));
    tool.idempotency = Some(IdempotencyDigest([u8::try_from(6 + set).unwrap(); 32]));
    let mut all = text.text_run();
    let sha256 = palyra_ledger::sha256(b"instructions");
    let statics = vec![StaticText { sha256, body: Arc::from("instructions") }];
    let begin = samples::append(vec![tool.started("What does README.md say?"), tool.requested(1)]);
    all.push(JournalAppendRequest { statics, ..begin });
    let mut proposed = vec![tool.message(1, 1)];
    proposed.extend(tool.proposed(1));
    proposed.push(tool.tool_started(1));
    all.push(samples::append(proposed));
    let lines = if set == 0 { 9_000 } else { 900 };
    all.push(samples::append(vec![tool.tool_finished(1, &"# README\n".repeat(lines)), tool.requested(2)]));
    all.push(samples::append(vec![tool.text(2, "It says README."), tool.message(2, 0), tool.finished()]));
    all.extend(erased.text_run());
    all.push(asked_run(set));
    all.push(branch(&tool, set));
    all.push(with_file(&mut open));
    all
}

/// An open run that brought a file along.
fn with_file(run: &mut SampleRun) -> JournalAppendRequest {
    let bytes: Arc<[u8]> = Arc::from(vec![7_u8; 5_000]);
    let mut started = run.started("What is in this picture?");
    if let JournalEvent::Tape(TapeEvent::Run(RunEvent::Started(started))) = &mut started.event {
        started.input.attachments = vec![Attachment {
            name: "picture.png".into(),
            media_type: "image/png".into(),
            bytes: bytes.len() as u64,
            sha256: Redacted::cleaned(palyra_ledger::sha256(&bytes)),
            body: AttachmentBody::Blob { index: 0 },
        }];
    }
    let blobs = vec![EntryBlobs { entry: 0, blobs: vec![Redacted::cleaned(bytes)] }];
    JournalAppendRequest { blobs, ..samples::append(vec![started, run.requested(1)]) }
}

/// A session that branches off an entry of a run.
fn branch(run: &SampleRun, set: u64) -> JournalAppendRequest {
    let id = SessionId::from_parts(2_001, u128::from(set) + 1);
    let from = BranchPoint {
        session: session().id,
        run: run.run,
        run_first_seq: Seq(8),
        tape_seq: TapeSeq(4),
        since: None,
    };
    let event = JournalEvent::Session(SessionEvent::Opened {
        session: id,
        agent: samples::agent(),
        key: None,
        label: Some("another way".into()),
        branched_from: Some(from),
    });
    let principal = session().principal;
    samples::append(vec![NewEntry { time: run.time, principal, session: Some(id), run: None, event }])
}

/// Writes what the entries and the records say, the way the test that reads the fixture does; returns the kinds.
async fn write_expected(journal: &JournalStore, folder: &Path) -> BTreeSet<u16> {
    let mut kinds = BTreeSet::new();
    let mut text = String::new();
    let mut from = 0;
    loop {
        let entries = journal.entries(Seq(from), 500).await.unwrap();
        let Some(last) = entries.last() else { break };
        from = last.seq.0 + 1;
        for entry in &entries {
            let leaf: String = entry.leaf.iter().map(|byte| format!("{byte:02x}")).collect();
            writeln!(text, "{leaf} {:04x} {:?}", entry.kind, entry.content).unwrap();
            kinds.insert(entry.kind);
        }
    }
    let expected = folder.join("expected");
    fs::create_dir_all(&expected).unwrap();
    fs::write(expected.join("entries.txt"), text).unwrap();
    let records = RandomAppends::new(0).records(journal).await;
    fs::write(expected.join("records.txt"), records.join("\n") + "\n").unwrap();
    kinds
}

/// Brings everything into the one file of the database.
fn checkpoint(folder: &Path) {
    let connection = rusqlite::Connection::open(folder.join("state/journal.db")).unwrap();
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
