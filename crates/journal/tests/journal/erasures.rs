//! Erasures: what goes, from which files, and what stays.

use std::sync::Arc;

use palyra_journal::JournalStore;
use palyra_journal_core::families::{memories, principals};
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::maintain_journal::MaintainJournal;
use palyra_ports::{
    AppendTape, EntryBlobs, EraseError, EraseJournal, ErasureOrder, ErasureReceipt, ErasureSubject,
    JournalAppendRequest, NewEntry, ReadTape,
};
use palyra_testkit::JournalReads;
use palyra_testkit::journal_suite::memories::item;
use palyra_testkit::journal_suite::samples::{self, SampleRun};
use palyra_types::access::{CredentialKind, PrincipalKind};
use palyra_types::attachment::{Attachment, AttachmentBody, Blob, BlobRef};
use palyra_types::event::{AccessEvent, JournalEvent, LogEvent, RunEvent, TapeEvent, TokenCreated};
use palyra_types::memory::{MemoryEvent, MemorySaved, MemorySource};
use palyra_types::proof::{ErasureReason, SeqRange};
use palyra_types::run::{InputDelivery, UserInput};
use palyra_types::session::SessionRef;
use palyra_types::tape::ContentState;
use palyra_types::{PrincipalId, Redacted, RunId, Seq, TapeSeq, Timestamp, TokenId};

use crate::approval_records::{ASKED, TOOL, asking_entries, undoing_entries};
use crate::canaries::search;
use crate::opened::Folder;
use crate::written::verify;

const NAME: &str = "canary-name-of-a-person";
const LABEL: &str = "canary-label-of-a-token";
const KEY: &str = "canary-key-of-a-session";
pub(crate) const INPUT: &str = "canary-input-of-a-run";
pub(crate) const ANSWER: &str = "canary-answer-of-a-model";
pub(crate) const OUTPUT: &str = "canary-output-of-a-tool";
const FILE: &str = "canary-in-a-file-beside";
const OWN: &[&str] = &[NAME, LABEL, KEY, INPUT, ANSWER, OUTPUT, FILE, TOOL];

/// Every text that a person leaves behind.
pub(crate) fn everything() -> Vec<&'static str> {
    [OWN, ASKED].concat()
}

fn outside(principal: PrincipalId, event: JournalEvent) -> NewEntry {
    NewEntry { time: Timestamp(1), principal, session: None, run: None, event }
}

/// Writes what a principal leaves behind: a name, a token, a session, and a finished run with a file and a tool.
pub(crate) async fn write_person(journal: &JournalStore, n: u64) -> SampleRun {
    let principal = samples::principal(n.into());
    let session = samples::session(principal, n.into());
    let registered = JournalEvent::Access(AccessEvent::PrincipalRegistered {
        principal,
        name: NAME.into(),
        kind: PrincipalKind::Person,
        role: None,
    });
    let created = JournalEvent::Access(AccessEvent::TokenCreated(TokenCreated {
        token: TokenId::from_parts(n, 1),
        sha256: [1; 32],
        expires: None,
        label: LABEL.into(),
        kind: CredentialKind::Program,
        scopes: None,
    }));
    let mut run = SampleRun::new(session, n);
    let outside = vec![
        outside(principal, registered),
        outside(principal, created),
        samples::session_opened(session, Some(KEY), Timestamp(2)),
    ];
    journal.append(samples::append(outside)).await.unwrap();
    journal.append(samples::append(vec![run.started(INPUT), run.requested(1)])).await.unwrap();
    journal.append(with_file(&mut run)).await.unwrap();
    let large = format!("{OUTPUT} {}", "y".repeat(200_000));
    let rest = vec![run.text(1, ANSWER), run.tool_finished(1, OUTPUT), run.tool_finished(2, &large)];
    journal.append(samples::append(rest)).await.unwrap();
    journal.append(samples::append(asking_entries(&mut run, n))).await.unwrap();
    journal.append(samples::append(vec![run.finished()])).await.unwrap();
    journal.append(samples::append(undoing_entries(&run, n))).await.unwrap();
    run
}

fn with_file(run: &mut SampleRun) -> JournalAppendRequest {
    let blob: Blob = Redacted::cleaned(Arc::from([FILE.as_bytes(), &[7; 100_000]].concat()));
    let attachment = Attachment {
        name: "picture.png".into(),
        media_type: "image/png".into(),
        bytes: blob.expose().len() as u64,
        sha256: Redacted::cleaned(palyra_ledger::sha256(blob.expose())),
        body: AttachmentBody::Blob { index: 0 },
    };
    let input = UserInput { text: INPUT.into(), attachments: vec![attachment] };
    let received =
        TapeEvent::Run(RunEvent::InputReceived { input, delivery: InputDelivery::Queue, idempotency: None });
    let blobs = vec![EntryBlobs { entry: 0, blobs: vec![blob] }];
    JournalAppendRequest { blobs, ..samples::append(vec![run.entry(received)]) }
}

/// Writes so much around it that trees are balanced and pages come and go.
async fn write_much(journal: &JournalStore, runs: std::ops::Range<u64>) {
    let session = samples::session(samples::principal(2), 9);
    for n in runs {
        let mut run = SampleRun::new(session, n);
        for request in run.text_run() {
            journal.append(request).await.unwrap();
        }
    }
}

async fn erase(journal: &JournalStore, subject: ErasureSubject) -> Result<ErasureReceipt, EraseError> {
    let plan = journal.find(subject).await.unwrap();
    journal.erase(order(plan.ranges)).await
}

fn order(ranges: Vec<SeqRange>) -> ErasureOrder {
    ErasureOrder { ranges, authoriser: samples::principal(0), reason: ErasureReason::Request }
}

fn range(first: u64, last: u64) -> SeqRange {
    SeqRange { first: Seq(first), last: Seq(last) }
}

#[tokio::test]
async fn nothing_of_a_principal_is_left_in_any_file() {
    let folder = Folder::new();
    let journal = folder.open();
    write_much(&journal, 100..140).await;
    let run = write_person(&journal, 1).await;
    write_much(&journal, 140..180).await;
    let before = search(&folder.state_dir(), &everything());
    assert!(everything().iter().all(|text| before.iter().any(|found| found.contains(text))), "{before:?}");
    let receipt = erase(&journal, ErasureSubject::Principal(run.session.principal)).await.unwrap();
    assert!(receipt.erased >= 8 && receipt.bytes > 300_000, "{receipt:?}");
    assert_eq!(receipt.unreachable, [""; 0]);
    assert_eq!(search(&folder.state_dir(), &everything()), [].into(), "while it is open");
    assert_eq!(verify(&journal).await.fault, None);
    write_much(&journal, 180..200).await;
    journal.close().await;
    drop(journal);
    assert_eq!(search(&folder.state_dir(), &everything()), [].into(), "when it is closed");
    let journal = folder.open();
    assert_eq!(search(&folder.state_dir(), &everything()), [].into(), "when it is open again");
    assert_eq!(verify(&journal).await.fault, None);
}

#[tokio::test]
async fn what_stays_is_a_tape_of_tombstones() {
    let folder = Folder::new();
    let journal = folder.open();
    let run = write_person(&journal, 1).await;
    let receipt = erase(&journal, ErasureSubject::Run(run.run)).await.unwrap();
    let page = journal.tape(run.run, TapeSeq(0), 100).await.unwrap();
    assert_eq!(page.entries.len(), run.tape_seq.0 as usize);
    let erased = page.entries.iter().filter(|entry| entry.content == ContentState::Erased).count();
    let beside_the_tape = 3;
    assert_eq!(erased as u64 + beside_the_tape, receipt.erased);
    let record = journal.run(run.run).await.unwrap().unwrap();
    assert!(record.state.is_terminal() && record.input_preview.expose().is_empty(), "{record:?}");
    let place = BlobRef { run: run.run, tape_seq: TapeSeq(3), index: 0 };
    assert_eq!(journal.blob(place).await.unwrap(), None);
    let names = journal.query(|rows, _| principals::all(rows)).await.unwrap();
    assert_eq!(names[0].name.expose(), NAME, "a name is no content of a run");
    let last = journal.entries(receipt.entries[0], 1).await.unwrap().remove(0);
    let JournalEvent::Log(LogEvent::Erased { authoriser, reason, ranges }) = last.event else {
        panic!("{last:?}")
    };
    assert_eq!((authoriser, reason), (samples::principal(0), ErasureReason::Request));
    assert!(ranges.iter().all(|range| range.last < last.seq && range.first > Seq(4)), "{ranges:?}");
}

#[tokio::test]
async fn what_does_not_belong_to_the_subject_stays() {
    let folder = Folder::new();
    let journal = folder.open();
    let mine = write_person(&journal, 0).await;
    let theirs = write_person(&journal, 1).await;
    let before = journal.tape(theirs.run, TapeSeq(0), 100).await.unwrap().entries;
    erase(&journal, ErasureSubject::Session(mine.session)).await.unwrap();
    assert_eq!(journal.tape(theirs.run, TapeSeq(0), 100).await.unwrap().entries, before);
    let session = |of: SessionRef| journal.session(of);
    assert_eq!(session(mine.session).await.unwrap().unwrap().key, None);
    assert_eq!(session(theirs.session).await.unwrap().unwrap().key, Some(KEY.into()));
    let names = journal.query(|rows, _| principals::all(rows)).await.unwrap();
    assert!(names.iter().all(|one| one.name.expose() == NAME), "{names:?}");
    erase(&journal, ErasureSubject::Principal(mine.session.principal)).await.unwrap();
    let names = journal.query(|rows, _| principals::all(rows)).await.unwrap();
    assert_eq!((names[0].name.expose().as_str(), names[1].name.expose().as_str()), ("", NAME));
}

#[tokio::test]
async fn a_range_loses_its_content_and_only_what_has_any() {
    let folder = Folder::new();
    let journal = folder.open();
    write_person(&journal, 0).await;
    let all = range(0, u64::MAX);
    let plan = journal.find(ErasureSubject::Range(all)).await.unwrap();
    let receipt = journal.erase(order(vec![all])).await.unwrap();
    assert_eq!((receipt.erased, receipt.entries.len()), (plan.entries, 1));
    assert_eq!(verify(&journal).await.fault, None);
    assert!(matches!(journal.erase(order(vec![all])).await, Err(EraseError::Nothing)));
    assert!(matches!(journal.erase(order(vec![range(9_000, 9_001)])).await, Err(EraseError::Nothing)));
    assert!(matches!(journal.erase(order(Vec::new())).await, Err(EraseError::Nothing)));
    journal.close().await;
    drop(journal);
    assert_eq!(search(&folder.state_dir(), &everything()), [].into());
}

#[tokio::test]
async fn an_open_run_is_not_erased() {
    let folder = Folder::new();
    let journal = folder.open();
    let mut run = SampleRun::new(samples::session(samples::principal(0), 0), 0);
    journal.append(samples::append(vec![run.started(INPUT), run.requested(1)])).await.unwrap();
    let plan = journal.find(ErasureSubject::Run(run.run)).await.unwrap();
    assert_eq!((plan.entries, plan.open_runs), (2, vec![run.run]));
    let refused = journal.erase(order(plan.ranges)).await;
    assert!(matches!(refused, Err(EraseError::OpenRun(open)) if open == run.run), "{refused:?}");
    let page = journal.tape(run.run, TapeSeq(0), 10).await.unwrap();
    assert!(page.entries.iter().all(|entry| entry.content == ContentState::Present));
    let unknown = ErasureSubject::Run(RunId::from_parts(77, 77));
    assert_eq!(journal.find(unknown).await.unwrap(), palyra_ports::ErasurePlan::default());
}

/// The text of an item goes with the run that it was learned from, from the disk too; the item of another run stays.
#[tokio::test]
async fn what_was_learned_from_a_run_is_erased_with_it() {
    const LEARNED: &str = "canary-learned-from-a-run";
    let folder = Folder::new();
    let journal = folder.open();
    let principal = samples::principal(0);
    let mut run = SampleRun::new(samples::session(principal, 0), 0);
    journal.append(samples::append(vec![run.started("x"), run.finished()])).await.unwrap();
    let learned = |number, text, run| {
        let source = Some(MemorySource { run, tape_seq: TapeSeq(1) });
        outside(principal, MemoryEvent::Saved(MemorySaved { source, ..item(number, text) }).into())
    };
    let other = RunId::from_parts(77, 77);
    let entries = vec![learned(1, LEARNED, run.run), learned(2, "stays", other)];
    journal.append(samples::append(entries)).await.unwrap();
    let receipt = erase(&journal, ErasureSubject::Run(run.run)).await.unwrap();
    assert_eq!(receipt.erased, 2, "the first entry of the tape, and the item");
    let items = journal.query(move |rows, log| memories::of_principal(rows, log, principal)).await.unwrap();
    let texts: Vec<&str> = items.iter().map(|one| one.saved.text.expose().as_str()).collect();
    assert_eq!(texts, ["", "stays"]);
    journal.close().await;
    assert_eq!(search(&folder.state_dir(), &[LEARNED]), [].into());
}

#[tokio::test]
async fn many_ranges_are_recorded_by_several_entries() {
    let folder = Folder::new();
    let journal = folder.open();
    let session = samples::session(samples::principal(0), 0);
    let mut runs: Vec<SampleRun> = (0..2).map(|n| SampleRun::new(session, n)).collect();
    let first = runs.iter_mut().map(|run| run.started("x")).collect();
    journal.append(samples::append(first)).await.unwrap();
    for _ in 0..300 {
        let texts = runs.iter_mut().map(|run| run.text(1, ANSWER)).collect();
        journal.append(samples::append(texts)).await.unwrap();
    }
    let last = runs.iter_mut().map(SampleRun::finished).collect();
    journal.append(samples::append(last)).await.unwrap();
    let receipt = erase(&journal, ErasureSubject::Run(runs[0].run)).await.unwrap();
    assert_eq!((receipt.erased, receipt.entries.len()), (301, 3));
    assert_eq!(verify(&journal).await.fault, None);
    let other = journal.tape(runs[1].run, TapeSeq(0), 1_000).await.unwrap();
    assert!(other.entries.iter().all(|entry| entry.content == ContentState::Present));
}

#[tokio::test]
async fn a_reader_that_stays_holds_up_the_overwriting_and_repeating_does_it() {
    let folder = Folder::new();
    let journal = folder.open();
    let run = write_person(&journal, 0).await;
    let reader = folder.connect();
    reader.execute_batch("BEGIN; SELECT count(*) FROM entry;").unwrap();
    let refused = erase(&journal, ErasureSubject::Run(run.run)).await;
    assert!(matches!(refused, Err(EraseError::NotOverwritten { .. })), "{refused:?}");
    let page = journal.tape(run.run, TapeSeq(0), 1).await.unwrap();
    assert_eq!(page.entries[0].content, ContentState::Erased, "it is committed");
    write_much(&journal, 100..110).await;
    reader.execute_batch("COMMIT").unwrap();
    drop(reader);
    let receipt = journal.erase(order(Vec::new())).await.unwrap();
    assert_eq!((receipt.erased, receipt.entries.len()), (0, 0));
    assert_eq!(search(&folder.state_dir(), &[INPUT, ANSWER, OUTPUT, FILE]), [].into());
    assert!(matches!(journal.erase(order(Vec::new())).await, Err(EraseError::Nothing)));
    assert_eq!(verify(&journal).await.fault, None);
}

#[tokio::test]
async fn a_start_finishes_what_was_cut_off() {
    let folder = Folder::new();
    let journal = folder.open();
    let run = write_person(&journal, 0).await;
    let reader = folder.connect();
    reader.execute_batch("BEGIN; SELECT count(*) FROM entry;").unwrap();
    erase(&journal, ErasureSubject::Run(run.run)).await.unwrap_err();
    journal.close().await;
    drop((journal, reader));
    assert!(!search(&folder.state_dir(), &[OUTPUT]).is_empty(), "its old bytes are still there");
    let journal = folder.open();
    assert_eq!(search(&folder.state_dir(), &[INPUT, ANSWER, OUTPUT, FILE]), [].into());
    assert!(!folder.state_dir().join("journal.erasing").exists());
    assert_eq!(verify(&journal).await.fault, None);
}

#[tokio::test]
async fn copies_beside_the_journal_go_and_strange_ones_are_named() {
    let folder = Folder::new();
    let journal = folder.open();
    let run = write_person(&journal, 0).await;
    for copy in ["journal.db.before-repair", "journal.db.format-1", "journal.db.of-mine"] {
        std::fs::copy(folder.database(), folder.state_dir().join(copy)).unwrap();
        std::fs::write(folder.state_dir().join(copy), INPUT).unwrap();
    }
    let receipt = erase(&journal, ErasureSubject::Run(run.run)).await.unwrap();
    assert_eq!(receipt.unreachable, ["journal.db.of-mine"]);
    let left = search(&folder.state_dir(), &[INPUT]);
    assert!(left.iter().all(|found| found.starts_with("journal.db.of-mine")) && left.len() == 1, "{left:?}");
}

#[tokio::test]
async fn appends_go_on_after_an_erasure_and_survive_a_loss_of_power() {
    let folder = Folder::new();
    let journal = folder.open();
    let run = write_person(&journal, 0).await;
    erase(&journal, ErasureSubject::Run(run.run)).await.unwrap();
    write_much(&journal, 100..110).await;
    let entries = journal.status().entries;
    // What is on the disk now, without a clean end.
    let copy = Folder::new();
    std::fs::create_dir_all(copy.state_dir()).unwrap();
    for name in ["journal.db", "journal.db-wal"] {
        std::fs::copy(folder.state_dir().join(name), copy.state_dir().join(name)).unwrap();
    }
    copy.put_keys(&folder.keys());
    let reopened = copy.open();
    assert_eq!(reopened.status().entries, entries + 1);
    assert_eq!(verify(&reopened).await.fault, None);
}

/// Trees are balanced over and over, so that cells move from page to page before they are erased.
#[tokio::test]
async fn nothing_is_left_where_cells_have_moved() {
    let folder = Folder::new();
    let journal = folder.open();
    let session = samples::session(samples::principal(0), 0);
    let mut runs: Vec<SampleRun> = (0..60).map(|n| SampleRun::new(session, n)).collect();
    let text = |n: usize, size: usize| format!("canary-{n:03}-in-cells {}", "z".repeat(size));
    for (n, run) in runs.iter_mut().enumerate() {
        journal.append(samples::append(vec![run.started(&text(n, 40)), run.requested(1)])).await.unwrap();
    }
    for (n, run) in runs.iter_mut().enumerate() {
        let texts = (0..6).map(|at| run.text(1, &text(n, 150 + 37 * ((n + at) % 9)))).collect();
        journal.append(samples::append(texts)).await.unwrap();
        journal.append(samples::append(vec![run.message(1, 0), run.finished()])).await.unwrap();
    }
    let erased = |n: &usize| n % 3 != 1;
    for n in (0..60).filter(erased) {
        erase(&journal, ErasureSubject::Run(runs[n].run)).await.unwrap();
    }
    let gone: Vec<String> = (0..60).filter(erased).map(|n| format!("canary-{n:03}-in-cells")).collect();
    let gone: Vec<&str> = gone.iter().map(String::as_str).collect();
    assert_eq!(search(&folder.state_dir(), &gone), [].into());
    assert!(!search(&folder.state_dir(), &["canary-001-in-cells"]).is_empty());
    assert_eq!(verify(&journal).await.fault, None);
}

#[tokio::test]
async fn content_that_comes_back_is_named() {
    let folder = Folder::new();
    let journal = folder.open();
    let run = write_person(&journal, 0).await;
    let connection = folder.connect();
    connection.execute_batch("CREATE TEMP TABLE kept AS SELECT * FROM payload").unwrap();
    erase(&journal, ErasureSubject::Run(run.run)).await.unwrap();
    assert_eq!(verify(&journal).await.fault, None);
    connection.execute("INSERT INTO payload SELECT * FROM kept WHERE seq = 6", []).unwrap();
    let fault = verify(&journal).await.fault;
    assert_eq!(fault, Some((Seq(6), "it has content that was erased".to_owned())));
    connection.execute("DELETE FROM payload WHERE seq IN (3, 6)", []).unwrap();
    let fault = verify(&journal).await.fault;
    assert_eq!(fault, Some((Seq(3), "the payload is missing".to_owned())));
}

/// Power fails when the header of the write-ahead log is overwritten and nothing behind it.
#[tokio::test]
async fn an_overwriting_that_is_cut_off_in_the_log_loses_nothing() {
    let folder = Folder::new();
    let journal = folder.open();
    let run = write_person(&journal, 0).await;
    let reader = folder.connect();
    reader.execute_batch("BEGIN; SELECT count(*) FROM entry;").unwrap();
    erase(&journal, ErasureSubject::Run(run.run)).await.unwrap_err();
    write_much(&journal, 100..105).await;
    let entries = journal.status().entries;
    journal.close().await;
    drop((journal, reader));
    let connection = folder.connect();
    let checkpointed: (i64, i64, i64) = connection
        .query_row("PRAGMA wal_checkpoint(RESTART)", [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .unwrap();
    assert_eq!((checkpointed.0, checkpointed.1), (0, checkpointed.2), "everything is in the database");
    drop(connection);
    let wal = std::fs::File::options().write(true).open(folder.database().with_extension("db-wal")).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&wal, &[0; 32], 0).unwrap();
    assert!(!search(&folder.state_dir(), &[OUTPUT]).is_empty(), "the frames are still there");
    let journal = folder.open();
    assert_eq!(journal.status().entries, entries + 1);
    assert_eq!(verify(&journal).await.fault, None);
    assert_eq!(search(&folder.state_dir(), &[INPUT, ANSWER, OUTPUT, FILE]), [].into());
}
