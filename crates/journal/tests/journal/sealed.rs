//! Sealed payloads: read as if they were not, unreadable without their keys, and in no copy after an erasure.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use palyra_journal::{JournalStore, OpenError, OpenOptions, PayloadSealing};
use palyra_ports::maintain_journal::MaintainJournal;
use palyra_ports::{
    AppendTape, EraseJournal, ErasureOrder, ErasureSubject, Export, KeyChoice, ProofError, ProveJournal,
    ReadError, ReadTape,
};
use palyra_testkit::journal_suite::samples::{self, SampleRun};
use palyra_types::proof::ErasureReason;
use palyra_types::tape::ContentState;
use palyra_types::{Seq, TapeSeq};
use serde_json::Value;

use crate::approval_records::{ASKED, TOOL};
use crate::canaries::search;
use crate::erasures::{ANSWER, INPUT, OUTPUT, everything, write_person};
use crate::opened::Folder;
use crate::signatures::{Files, export};
use crate::written::{silent, verify};

fn options(folder: &Folder) -> OpenOptions {
    OpenOptions { sealing: PayloadSealing::On, ..folder.options() }
}

fn open(folder: &Folder) -> JournalStore {
    JournalStore::open(&options(folder)).unwrap()
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            std::fs::copy(&path, &target).unwrap();
        }
    }
}

async fn texts(journal: &JournalStore, run: &SampleRun) -> Result<Vec<String>, ReadError> {
    let page = journal.tape(run.run, TapeSeq(0), 100).await?;
    Ok(page.entries.iter().map(|entry| format!("{:?} {:?}", entry.content, entry.event)).collect())
}

#[tokio::test]
async fn sealed_content_is_in_no_file_but_derived_columns_and_reads_as_it_was() {
    let folder = Folder::new();
    let journal = open(&folder);
    let run = write_person(&journal, 1).await;
    let plain = Folder::new();
    let same = plain.open();
    let other = write_person(&same, 1).await;
    assert_eq!(texts(&journal, &run).await.unwrap(), texts(&same, &other).await.unwrap());
    assert_eq!(verify(&journal).await.fault, None);
    assert_eq!(search(&folder.state_dir(), &[ANSWER, OUTPUT]), [].into());
    assert_eq!(search(&folder.state_dir(), ASKED), [].into(), "what was asked is read through its entries");
    for derived in [INPUT, TOOL] {
        let found = search(&folder.state_dir(), &[derived]);
        assert!(!found.is_empty(), "{derived}: the preview of an input and a tool's name are in the clear");
    }
    let before = journal.status().entries;
    assert_eq!(journal.rebuild(silent()).await.unwrap(), before);
    journal.close().await;
    drop(journal);
    let journal = folder.open();
    assert_eq!(
        texts(&journal, &run).await.unwrap(),
        texts(&same, &other).await.unwrap(),
        "sealing is off again"
    );
}

/// What the lines of a bundle say of entries: payloads without salt, and parts of files.
fn contents(bundle: &Files) -> Vec<Vec<u8>> {
    let (_, lines) = bundle.iter().find(|(path, _)| path == "entries.jsonl").unwrap();
    let lines = str::from_utf8(lines).unwrap().lines();
    let mut contents = Vec::new();
    for line in lines.map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let bytes = |text: &Value| text.as_str().map(|text| BASE64.decode(text).unwrap());
        contents.extend(bytes(&line["payload"]).map(|payload| payload[32..].to_vec()));
        contents.extend(line["files"].as_array().unwrap().iter().filter_map(|part| bytes(&part["base64"])));
    }
    contents
}

#[tokio::test]
async fn a_bundle_of_a_sealed_run_is_open_and_needs_the_keys() {
    let (folder, plain) = (Folder::new(), Folder::new());
    let (journal, same) = (open(&folder), plain.open());
    let (run, other) = (write_person(&journal, 1).await, write_person(&same, 1).await);
    let bundle = export(&journal, Export::Run(run.run)).await.unwrap();
    let expected = contents(&export(&same, Export::Run(other.run)).await.unwrap());
    assert!(contents(&bundle) == expected);
    assert!(expected.iter().any(|content| content.len() > 200_000), "one lies in chunks");
    std::fs::write(folder.state_dir().join("keys/root.key"), "e".repeat(64)).unwrap();
    match export(&journal, Export::Run(run.run)).await {
        Err(ProofError::Read(ReadError::Storage { what })) => {
            assert_eq!(what, "the content of entry 5 is sealed and its key is not here");
        }
        other => panic!("{:?}", other.map(drop)),
    }
}

#[tokio::test]
async fn without_the_root_a_sealed_entry_is_named() {
    let folder = Folder::new();
    let journal = open(&folder);
    let run = write_person(&journal, 1).await;
    journal.close().await;
    drop(journal);
    let root = folder.state_dir().join("keys/root.key");
    let kept = std::fs::read(&root).unwrap();
    std::fs::write(&root, "e".repeat(64)).unwrap();
    let refused = JournalStore::open(&options(&folder)).map(drop);
    assert!(matches!(refused, Err(OpenError::Keys { .. })), "{refused:?}");
    std::fs::write(&root, kept).unwrap();
    let journal = open(&folder);
    std::fs::write(&root, "e".repeat(64)).unwrap();
    let fault = verify(&journal).await.fault;
    assert_eq!(fault, Some((Seq(2), "the payload does not open with the keys that are there".to_owned())));
    assert_eq!(texts(&journal, &run).await, Err(ReadError::Corrupt { seq: 5 }));
}

#[tokio::test]
async fn a_copy_from_before_an_erasure_is_unreadable_with_what_is_left() {
    let folder = Folder::new();
    let journal = open(&folder);
    let erased = write_person(&journal, 0).await;
    let kept = write_person(&journal, 1).await;
    let copied = Folder::new();
    copy(&folder.state_dir(), &copied.state_dir());
    let plan = journal.find(ErasureSubject::Principal(erased.session.principal)).await.unwrap();
    let order = ErasureOrder {
        ranges: plan.ranges,
        authoriser: samples::principal(0),
        reason: ErasureReason::Request,
    };
    journal.erase(order).await.unwrap();
    assert_eq!(verify(&journal).await.fault, None);
    let left = texts(&journal, &kept).await.unwrap();
    assert!(left.iter().all(|text| text.starts_with("Present")), "{left:?}");
    journal.append(samples::append(vec![SampleRun::new(erased.session, 9).started("again")])).await.unwrap();
    assert_eq!(verify(&journal).await.fault, None, "the principal has a new key");
    // The copy of database and keys, with the root that is left.
    std::fs::copy(folder.state_dir().join("keys/root.key"), copied.state_dir().join("keys/root.key"))
        .unwrap();
    assert!(JournalStore::open(&options(&copied)).is_err());
    // Its database beside the keys that are left: the first erased entry does not open.
    std::fs::copy(folder.state_dir().join("keys.db"), copied.state_dir().join("keys.db")).unwrap();
    let refused = JournalStore::open(&options(&copied)).map(drop);
    assert!(matches!(refused, Err(OpenError::Corrupt { seq: 2 })), "{refused:?}");
}

#[tokio::test]
async fn nothing_of_a_sealed_principal_is_left_either() {
    let folder = Folder::new();
    let journal = open(&folder);
    let run = write_person(&journal, 1).await;
    let plan = journal.find(ErasureSubject::Principal(run.session.principal)).await.unwrap();
    let order = ErasureOrder {
        ranges: plan.ranges,
        authoriser: samples::principal(0),
        reason: ErasureReason::Request,
    };
    let receipt = journal.erase(order).await.unwrap();
    assert!(receipt.erased > 5);
    assert_eq!(search(&folder.state_dir(), &everything()), [].into());
    let page = journal.tape(run.run, TapeSeq(0), 100).await.unwrap();
    assert!(page.entries.iter().any(|entry| entry.content == ContentState::Erased));
    let root = std::fs::read_to_string(folder.state_dir().join("keys/root.key")).unwrap();
    assert!(root.trim().len() == 64 && !folder.state_dir().join("keys/root.next").exists());
}

/// The facts with which each epoch began.
fn epoch_facts(folder: &Folder) -> Vec<Vec<u8>> {
    let connection = folder.connect();
    let sql = "SELECT substr(envelope, 163) FROM entry WHERE kind = 2 ORDER BY seq";
    let mut statement = connection.prepare(sql).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

/// What is hashed says it, so that marking a payload as sealed does not hide it from a verifier without keys.
#[tokio::test]
async fn each_epoch_says_whether_its_payloads_are_sealed() {
    let folder = Folder::new();
    let plain = folder.open();
    plain.sign_checkpoint(KeyChoice::Rotate).await.unwrap();
    plain.close().await;
    drop(plain);
    let sealed = open(&folder);
    sealed.sign_checkpoint(KeyChoice::Rotate).await.unwrap();
    sealed.close().await;
    let said: Vec<[u8; 2]> =
        epoch_facts(&folder).iter().map(|facts| facts[facts.len() - 2..].try_into().unwrap()).collect();
    assert_eq!(said, [[0x20, 1], [0x20, 1], [0x20, 2], [0x20, 2]]);
}
