//! Signed heads: when they come, that they prove what is there, and what they cost.

use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;

use palyra_ledger::tree::{
    SizedRoot, Subtree, inclusion_proof, root_at, verify_consistency, verify_inclusion,
};
use palyra_ledger::{CheckpointNote, LeafHash, NodeHash, leaf_hash, node_hash};
use palyra_ports::maintain_journal::MaintainJournal;
use palyra_ports::{AppendTape, Export, ExportPart, KeyChoice, ProofError, ProveJournal};
use palyra_testkit::FixedEntropy;
use palyra_testkit::journal_suite::random_appends::RandomAppends;
use palyra_testkit::journal_suite::samples::{self, SampleRun};
use palyra_types::{RunId, Seq};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};

use crate::handovers::heads;
use crate::opened::Folder;
use crate::written::{verify, write_runs};

#[tokio::test]
async fn the_end_of_a_run_is_signed_without_a_commit_more() {
    let folder = Folder::new();
    let journal = folder.open();
    let first = journal.newest_checkpoint().unwrap();
    assert_eq!((first.head.size, first.log_id), (2, journal.log_id()));
    write_runs(&journal, 0..1).await;
    let commits = journal.status().commits;
    let signed = journal.checkpoint_over(Seq(7)).await.unwrap();
    assert_eq!((signed.head.size, commits), (8, 3));
    let note = CheckpointNote::parse(signed.note.as_bytes()).unwrap();
    assert_eq!(note.checkpoint().root, NodeHash(signed.head.root));
    assert_eq!(journal.checkpoint_over(Seq(3)).await, Some(signed.clone()));
    assert_eq!(journal.newest_checkpoint(), Some(signed));
}

#[tokio::test]
async fn who_waits_for_an_entry_to_come_gets_the_head_that_covers_it() {
    let folder = Folder::new();
    let journal = folder.open();
    let waiting = journal.checkpoint_over(Seq(7));
    let never = journal.checkpoint_over(Seq(1_000));
    write_runs(&journal, 0..1).await;
    assert_eq!(waiting.await.unwrap().head.size, 8);
    journal.close().await;
    assert_eq!(never.await, None, "nobody signs any more");
    assert_eq!(journal.checkpoint_over(Seq(1_000)).await, None);
}

/// The writes to a file, from now on.
struct Writes(OwnedFd);

impl Writes {
    fn of(file: &Path) -> Self {
        let watch = inotify::init(CreateFlags::CLOEXEC).unwrap();
        inotify::add_watch(&watch, file, WatchFlags::MODIFY).unwrap();
        Self(watch)
    }

    /// Blocks until there was one since the last call.
    fn wait(&self) {
        let mut events = [MaybeUninit::uninit(); 4_096];
        inotify::Reader::new(&self.0, &mut events).next().unwrap();
    }
}

#[tokio::test]
async fn a_head_for_which_no_transaction_comes_gets_one_of_its_own() {
    let folder = Folder::new();
    let journal = folder.open();
    let writes = Writes::of(&folder.database().with_extension("db-wal"));
    write_runs(&journal, 0..1).await;
    journal.checkpoint_over(Seq(7)).await.unwrap();
    // The signer asks the writer for it a second later, of its own accord.
    while heads(&folder).iter().all(|head| head.0 != 8) {
        writes.wait();
        // The write that was seen may be of a commit at work: what the writer refuses, it refuses after it.
        let mut unbegun = SampleRun::new(samples::session(samples::principal(0), 0), 1);
        drop(unbegun.started("skipped"));
        assert!(journal.append(samples::append(vec![unbegun.text(1, "x")])).await.is_err());
    }
    assert_eq!(journal.status().commits, 4);
}

#[tokio::test]
async fn a_head_asked_for_is_stored_when_it_is_answered() {
    let folder = Folder::new();
    let journal = folder.open();
    write_runs(&journal, 0..1).await;
    let signed = journal.sign_checkpoint(KeyChoice::Current).await.unwrap();
    assert_eq!(signed.head.size, 8);
    assert_eq!(heads(&folder), [(8, 1)], "the one before it was of the same day");
    assert_eq!(journal.sign_checkpoint(KeyChoice::Current).await.unwrap(), signed);
    journal.close().await;
    assert!(matches!(journal.sign_checkpoint(KeyChoice::Current).await, Err(ProofError::Write(_))));
}

/// The root of a perfect subtree, without any tile.
fn naive(leaves: &[LeafHash], subtree: Subtree) -> NodeHash {
    match subtree.level {
        0 => NodeHash::from(leaves[usize::try_from(subtree.index).unwrap()]),
        level => {
            let [left, right] =
                [0, 1].map(|side| Subtree { level: level - 1, index: 2 * subtree.index + side });
            node_hash(naive(leaves, left), naive(leaves, right))
        }
    }
}

async fn leaves(journal: &impl MaintainJournal) -> Vec<LeafHash> {
    let mut all = Vec::new();
    loop {
        let more = journal.entries(Seq(all.len() as u64), 1_000).await.unwrap();
        if more.is_empty() {
            return all;
        }
        all.extend(more.iter().map(|entry| LeafHash(entry.leaf)));
    }
}

#[tokio::test]
async fn the_tree_of_random_appends_is_the_one_without_tiles() {
    let folder = Folder::new();
    let mut random = RandomAppends::new(11);
    for start in 0..3_u64 {
        let journal = folder.open();
        for _ in 0..150 {
            // Some are refused: then the tree is rolled back with the rest.
            drop(journal.append(random.next_append()).await);
        }
        write_runs(&journal, 5_000 + 30 * start..5_030 + 30 * start).await;
        let signed = journal.sign_checkpoint(KeyChoice::Current).await.unwrap();
        let leaves = leaves(&journal).await;
        assert_eq!(signed.head.size, leaves.len() as u64);
        let source = |subtree: Subtree| Ok::<_, ()>(naive(&leaves, subtree));
        assert_eq!(root_at(signed.head.size, source), Ok(NodeHash(signed.head.root)));
        let chance = FixedEntropy::new(start);
        for _ in 0..40 {
            let size = 1 + chance.next_u64() % signed.head.size;
            let seq = chance.next_u64() % size;
            let proof = journal.inclusion(Seq(seq), size).await.unwrap();
            let hashes: Vec<NodeHash> = proof.hashes.iter().copied().map(NodeHash).collect();
            assert_eq!(Ok(&hashes), inclusion_proof(seq, size, source).as_ref());
            let root = NodeHash(proof.root);
            verify_inclusion(leaf_hash(&proof.envelope), seq, size, &hashes, root).unwrap();
            let proof = journal.consistency(size, signed.head.size).await.unwrap();
            let hashes: Vec<NodeHash> = proof.hashes.iter().copied().map(NodeHash).collect();
            let old = SizedRoot::new(size, NodeHash(proof.old_root));
            let new = SizedRoot::new(signed.head.size, NodeHash(proof.new_root));
            assert_eq!((old.root, new.root), (root, NodeHash(signed.head.root)));
            verify_consistency(old, new, &hashes).unwrap();
        }
        assert_eq!(verify(&journal).await.fault, None);
        journal.close().await;
    }
    let tiles: i64 = folder.connect().query_row("SELECT count(*) FROM tile", [], |row| row.get(0)).unwrap();
    assert!(tiles >= 3, "{tiles} tiles");
}

pub(crate) type Files = Vec<(String, Vec<u8>)>;

/// What an export gives, file by file.
pub(crate) async fn export(journal: &impl ProveJournal, what: Export) -> Result<Files, ProofError> {
    let files: Arc<Mutex<Files>> = Arc::default();
    let into = Arc::clone(&files);
    let sink = move |part: ExportPart| {
        let mut files = into.lock().unwrap();
        match files.last_mut() {
            Some((path, bytes)) if **path == *part.path => bytes.extend(part.data),
            Some(_) | None => files.push((part.path.to_string(), part.data)),
        }
        true
    };
    journal.export(what, Arc::new(sink)).await?;
    Ok(Arc::into_inner(files).unwrap().into_inner().unwrap())
}

#[tokio::test]
async fn a_run_and_the_whole_log_can_be_taken_away() {
    let folder = Folder::new();
    let journal = folder.open();
    let runs = write_runs(&journal, 0..50).await;
    let bundle = export(&journal, Export::Run(runs[1].run)).await.unwrap();
    let names: Vec<&str> = bundle.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(names, ["checkpoint", "handovers", "entries.jsonl", "proofs.jsonl"]);
    let lines = |at: usize| String::from_utf8(bundle[at].1.clone()).unwrap().lines().count();
    assert_eq!((lines(2), lines(3)), (2 + 6, 2 + 6));
    let signed = journal.newest_checkpoint().unwrap();
    assert_eq!((signed.head.size, bundle[0].1.as_slice()), (302, signed.note.as_bytes()));
    let tiles = export(&journal, Export::Tiles).await.unwrap();
    let size = |path: &str| tiles.iter().find(|(name, _)| name == path).map(|(_, bytes)| bytes.len());
    assert_eq!((size("tile/0/000"), size("tile/0/001.p/46")), (Some(8_192), Some(46 * 32)));
    let absent = export(&journal, Export::Run(RunId::from_parts(1, 1))).await;
    assert!(matches!(absent, Err(ProofError::NoSuchRun)), "{absent:?}");
    assert!(matches!(journal.inclusion(Seq(302), 302).await, Err(ProofError::OutOfRange { entries: 302 })));
}

#[tokio::test]
async fn a_refused_append_leaves_no_leaf_behind() {
    let folder = Folder::new();
    let journal = folder.open();
    let session = samples::session(samples::principal(0), 0);
    let mut run = SampleRun::new(session, 0);
    journal.append(samples::append(vec![run.started("x"), run.requested(1)])).await.unwrap();
    let mut late = run.clone();
    drop(late.text(1, "skipped"));
    assert!(journal.append(samples::append(vec![late.text(1, "too late")])).await.is_err());
    journal.append(samples::append(vec![run.text(1, "in time")])).await.unwrap();
    let signed = journal.sign_checkpoint(KeyChoice::Current).await.unwrap();
    assert_eq!((signed.head.size, verify(&journal).await.fault), (5, None));
}
