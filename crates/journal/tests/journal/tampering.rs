//! Whatever is changed in the log's tables, verifying names the first entry concerned.

use std::path::PathBuf;
use std::sync::Arc;

use palyra_ports::{AppendTape, EntryBlobs, JournalAppendRequest, ReadError, ReadTape, StaticText};
use palyra_testkit::journal_suite::samples;
use palyra_types::attachment::{Attachment, AttachmentBody, Blob, BlobRef};
use palyra_types::event::{JournalEvent, ModelEvent, RunEvent, TapeEvent};
use palyra_types::run::{InputDelivery, UserInput};
use palyra_types::{Redacted, Seq, TapeSeq};
use rusqlite::Connection;

use crate::opened::Folder;
use crate::written::{verify, write_runs};

/// Journal with 30 runs, a tool output in chunks as entry 182, a request that names a static text, 12 runs more.
async fn written() -> Folder {
    let folder = Folder::new();
    let journal = folder.open();
    let mut run = write_runs(&journal, 0..30).await.remove(29);
    let large = run.tool_finished(1, &"large ".repeat(50_000));
    assert_eq!(journal.append(samples::append(vec![large])).await.unwrap().first_seq, Seq(182));
    let sha256 = palyra_ledger::sha256(b"instructions");
    let mut request = run.requested(2);
    if let JournalEvent::Tape(TapeEvent::Model(ModelEvent::Requested(requested))) = &mut request.event {
        requested.context.instructions_digest = sha256;
    }
    let statics = vec![StaticText { sha256, body: Arc::from("instructions") }];
    journal.append(JournalAppendRequest { statics, ..samples::append(vec![request]) }).await.unwrap();
    write_runs(&journal, 30..42).await;
    journal.close().await;
    folder
}

fn unguarded(folder: &Folder) -> Connection {
    let connection = folder.connect();
    let triggers = "SELECT coalesce(group_concat('DROP TRIGGER ' || name, ';'), '') FROM sqlite_schema WHERE type = 'trigger'";
    let drops: String = connection.query_row(triggers, [], |row| row.get(0)).unwrap();
    connection.execute_batch(&drops).unwrap();
    connection
}

async fn fault_after(folder: &Folder, changes: &str) -> Option<(u64, String)> {
    unguarded(folder).execute_batch(changes).unwrap();
    let journal = folder.open();
    let report = verify(&journal).await;
    report.fault.map(|(seq, what)| (seq.0, what))
}

/// Makes a statement that flips one bit of a blob's byte, counted from 1.
fn flip(table: &str, column: &str, row: &str, byte: usize) -> String {
    let at = format!("instr('0123456789ABCDEF', substr(hex({column}), 2 * {byte}, 1))");
    let flipped = format!("substr('1032547698BADCFE', {at}, 1)");
    format!(
        "UPDATE {table} SET {column} = unhex(substr(hex({column}), 1, 2 * {byte} - 1) || {flipped} || \
         substr(hex({column}), 2 * {byte} + 1)) WHERE {row};"
    )
}

/// The files of a journal, to start each case from.
struct Kept {
    folder: Folder,
    files: Vec<(PathBuf, Vec<u8>)>,
}

impl Kept {
    async fn new() -> Self {
        let folder = written().await;
        let paths = [folder.database(), folder.database().with_extension("db-wal")];
        let files = paths.map(|path| (path.clone(), std::fs::read(path).unwrap()));
        Self { folder, files: files.to_vec() }
    }

    async fn check(&self, changes: &str, seq: u64, what: &str) {
        for (path, bytes) in &self.files {
            std::fs::write(path, bytes).unwrap();
        }
        let fault = fault_after(&self.folder, changes).await;
        assert_eq!(fault, Some((seq, what.to_owned())), "{changes}");
    }
}

#[tokio::test]
async fn an_untouched_journal_verifies() {
    let folder = written().await;
    assert_eq!(fault_after(&folder, "").await, None);
}

#[tokio::test]
async fn a_flipped_bit_anywhere_in_an_envelope_names_its_entry() {
    let kept = Kept::new().await;
    let flip = |byte| flip("entry", "envelope", "seq = 20", byte);
    let expected = [
        ("the envelope is malformed", &[1, 2, 92, 161, 162][..]),
        ("the columns contradict the envelope", &[4, 16, 88]),
        ("the epoch falls or was never started", &[8]),
        ("the entry belongs to another log", &[40]),
        ("the entry does not name the leaf before it", &[97, 128]),
        ("the payload does not match its commitment", &[129, 160]),
        ("the envelope is not the one that the next entry names", &[24, 56, 72, 96, 170]),
        ("the facts are malformed", &[163]),
    ];
    for (what, bytes) in expected {
        for byte in bytes {
            kept.check(&flip(*byte), 20, what).await;
        }
    }
}

#[tokio::test]
async fn changed_columns_are_named() {
    let kept = Kept::new().await;
    let columns = "the columns contradict the envelope";
    kept.check("UPDATE entry SET kind = 81 WHERE seq = 9", 9, columns).await;
    kept.check("UPDATE entry SET tape_seq = 70 WHERE seq = 9", 9, columns).await;
    kept.check("UPDATE entry SET run_id = NULL, tape_seq = NULL WHERE seq = 11", 11, columns).await;
}

#[tokio::test]
async fn changed_content_is_named() {
    let kept = Kept::new().await;
    let payload = "the payload does not match its commitment";
    let named = "a static text that it names was changed";
    kept.check("UPDATE static SET body = 'other'", 183, named).await;
    kept.check(&flip("payload", "sealed", "seq = 10", 3), 10, payload).await;
    kept.check(&flip("payload", "sealed", "seq = 10", 40), 10, payload).await;
    kept.check(&flip("chunk", "sealed", "seq = 182 AND n = 3", 900), 182, payload).await;
    kept.check("DELETE FROM chunk WHERE seq = 182 AND n = 5", 182, payload).await;
    kept.check("UPDATE chunk SET n = 40 WHERE seq = 182 AND n = 2", 182, payload).await;
    let other = "(SELECT sealed FROM payload WHERE seq = 16)";
    kept.check(&format!("UPDATE payload SET sealed = {other} WHERE seq = 10"), 10, payload).await;
    let sealed = "the payload does not open with the keys that are there";
    kept.check("UPDATE payload SET key_id = 4 WHERE seq = 10", 10, sealed).await;
    kept.check("DELETE FROM payload WHERE seq = 10", 10, "the payload is missing").await;
    let unowned = "a payload belongs to no entry";
    kept.check("INSERT INTO payload VALUES (9000, 0, x'00')", 9000, unowned).await;
    kept.check("INSERT INTO chunk VALUES (10, 1, x'00')", 10, unowned).await;
}

#[tokio::test]
async fn changed_files_beside_an_entry_are_named() {
    let folder = Folder::new();
    let journal = folder.open();
    let blob: Blob = Redacted::cleaned(Arc::from(vec![7u8; 200_000]));
    let mut run = write_runs(&journal, 0..2).await.remove(1);
    let attachment = Attachment {
        name: "picture.png".into(),
        media_type: "image/png".into(),
        bytes: 200_000,
        sha256: Redacted::cleaned(palyra_ledger::sha256(blob.expose())),
        body: AttachmentBody::Blob { index: 0 },
    };
    let input = UserInput { text: "look".into(), attachments: vec![attachment] };
    let received =
        TapeEvent::Run(RunEvent::InputReceived { input, delivery: InputDelivery::Queue, idempotency: None });
    let blobs = vec![EntryBlobs { entry: 0, blobs: vec![blob] }];
    let request = JournalAppendRequest { blobs, ..samples::append(vec![run.entry(received)]) };
    let tape_seq = run.tape_seq;
    let seq = journal.append(request).await.unwrap().first_seq.0;
    assert_eq!(verify(&journal).await.fault, None);
    journal.close().await;
    drop(journal);
    let paths = [folder.database(), folder.database().with_extension("db-wal")];
    let files = paths.map(|path| (path.clone(), std::fs::read(path).unwrap())).to_vec();
    let kept = Kept { folder, files };
    let payload = "the payload does not match its commitment";
    let first = 1 << 20;
    let row = format!("seq = {seq} AND n = {}", first + 2);
    kept.check(&flip("chunk", "sealed", &row, 100), seq, payload).await;
    kept.check(&format!("DELETE FROM chunk WHERE {row}"), seq, payload).await;
    let further = format!("INSERT INTO chunk VALUES ({seq}, {}, x'00')", 2 * first);
    kept.check(&further, seq, payload).await;
    let unowned = "a payload belongs to no entry";
    kept.check(&format!("INSERT INTO chunk VALUES (4, {first}, x'00')"), 4, unowned).await;
    kept.check(&flip("chunk", "sealed", &row, 100), seq, payload).await;
    let place = BlobRef { run: run.run, tape_seq, index: 0 };
    assert_eq!(kept.folder.open().blob(place).await.unwrap_err(), ReadError::Corrupt { seq });
}

#[tokio::test]
async fn missing_and_moved_entries_are_named() {
    let kept = Kept::new().await;
    let numbering = "the entry's number is not the next one";
    kept.check("DELETE FROM entry WHERE seq = 20", 20, numbering).await;
    kept.check("DELETE FROM entry WHERE seq = 0", 0, numbering).await;
    let swapped = "UPDATE entry SET seq = 100000 WHERE seq = 21; UPDATE entry SET seq = 21 WHERE seq = 22;
        UPDATE entry SET seq = 22 WHERE seq = 100000;";
    kept.check(swapped, 21, "the columns contradict the envelope").await;
}

#[tokio::test]
async fn reading_notices_too() {
    let folder = written().await;
    unguarded(&folder).execute_batch(&flip("payload", "sealed", "seq = 10", 40)).unwrap();
    let journal = folder.open();
    let session = samples::session(samples::principal(0), 0);
    let run = palyra_testkit::journal_suite::samples::SampleRun::new(session, 1).run;
    let read = journal.tape(run, TapeSeq(0), 10).await;
    assert_eq!(read.unwrap_err(), ReadError::Corrupt { seq: 10 });
    let gone = "DELETE FROM entry WHERE seq = 16";
    unguarded(&folder).execute_batch(&format!("DROP INDEX IF EXISTS x; {gone}")).unwrap();
    let run = palyra_testkit::journal_suite::samples::SampleRun::new(session, 2).run;
    let read = journal.tape(run, TapeSeq(0), 10).await;
    assert_eq!(read.unwrap_err(), ReadError::Corrupt { seq: 17 }, "a tape with a gap is not shown");
}

#[tokio::test]
async fn log_tables_refuse_changes_by_mistake() {
    let folder = written().await;
    let connection = folder.connect();
    for statement in [
        "UPDATE entry SET kind = 1 WHERE seq = 3",
        "DELETE FROM entry WHERE seq = 3",
        "REPLACE INTO entry SELECT * FROM entry WHERE seq = 3",
        "INSERT OR REPLACE INTO entry SELECT 255, envelope, run_id, tape_seq, kind FROM entry WHERE seq = 3",
        "INSERT INTO entry VALUES (9999, x'00', NULL, NULL, 1)",
        "UPDATE payload SET key_id = 1",
        "REPLACE INTO payload SELECT * FROM payload LIMIT 1",
        "UPDATE chunk SET n = 9",
        "REPLACE INTO chunk SELECT * FROM chunk LIMIT 1",
        "UPDATE static SET body = ''",
        "DELETE FROM static",
        "REPLACE INTO static SELECT * FROM static",
    ] {
        let error = connection.execute(statement, []).unwrap_err().to_string();
        assert!(error.contains("never"), "{statement}: {error}");
    }
}
