//! Damage in every page, and in every part of the write-ahead log: what is derived is made anew, what is lost is
//! told, and nothing is lost without a word.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::FileExt;

use palyra_journal::{JournalStore, OpenError};
use palyra_journal_core::families::{agents, principals, tokens};
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::maintain_journal::MaintainJournal;
use palyra_ports::read_records::{RunFilter, RunQuery};
use palyra_ports::{AppendTape, ReadTape};
use palyra_testkit::JournalReads;
use palyra_testkit::journal_suite::samples::{self, SampleRun};
use palyra_types::{ErrorCode, Seq, TapeSeq};

use crate::faults::{PAGE_BYTES, overwrite_page, settled};
use crate::opened::Folder;
use crate::written::{verify, write_runs};

const RUNS: u64 = 12;

/// Returns what each page of the database belongs to.
fn owners(folder: &Folder) -> BTreeMap<u64, String> {
    let connection = folder.connect();
    let mut statement = connection.prepare("SELECT pageno, name FROM dbstat").unwrap();
    let rows = statement.query_map([], |row| Ok((row.get::<_, i64>(0)?.cast_unsigned(), row.get(1)?)));
    rows.unwrap().map(Result::unwrap).collect()
}

/// Does all that a daemon does; returns the code of the first thing that fails.
async fn use_it(journal: &JournalStore, new_run: u64) -> Result<(), ErrorCode> {
    let principal = samples::principal(0);
    let session = samples::session(principal, 0);
    let known = async {
        journal.open_runs().await?;
        journal.query(|rows, _| principals::all(rows)).await?;
        journal.query(|rows, _| tokens::all(rows)).await?;
        journal.query(|rows, _| agents::all(rows)).await?;
        journal.session(session).await?;
        let query = RunQuery { principal, session: None, only: RunFilter::All, before: None, limit: 1_000 };
        assert!(journal.runs(query).await?.len() as u64 >= RUNS);
        for n in 0..RUNS {
            let tape = journal.tape(SampleRun::new(session, n).run, TapeSeq(0), 10).await?;
            assert_eq!(tape.entries.len(), 6);
        }
        Ok::<_, palyra_ports::ReadError>(())
    };
    known.await.map_err(|error| error.code())?;
    for request in SampleRun::new(session, new_run).text_run() {
        journal.append(request).await.map_err(|error| error.code())?;
    }
    match journal.verify(crate::written::silent()).await.map_err(|error| error.code())?.fault {
        None => Ok(()),
        Some(_) => Err(ErrorCode::JournalCorrupt),
    }
}

async fn close(journal: JournalStore) {
    journal.close().await;
}

#[tokio::test]
async fn a_damaged_page_of_what_is_derived_costs_a_restart_and_one_of_the_log_is_named() {
    let folder = settled(RUNS).await;
    let owners = owners(&folder);
    let (good, keys) = (fs::read(folder.database()).unwrap(), folder.keys());
    assert!(owners.len() > 30, "{owners:?}");
    for (page, owner) in &owners {
        fs::remove_dir_all(folder.state_dir()).unwrap();
        folder.put_keys(&keys);
        fs::write(folder.database(), &good).unwrap();
        overwrite_page(&folder, *page, &[0xA5; PAGE_BYTES as usize]);
        let damaged = fs::read(folder.database()).unwrap();
        let of_log = ["entry", "payload", "chunk", "static"].contains(&owner.as_str());
        let refused = match JournalStore::open(&folder.options()) {
            Err(error) => Some(error),
            Ok(journal) => {
                let first = use_it(&journal, 100).await;
                close(journal).await;
                match first {
                    Ok(()) => continue,
                    Err(code) => {
                        let typed = [
                            ErrorCode::JournalCorrupt,
                            ErrorCode::WriteUnknown,
                            ErrorCode::JournalQuarantined,
                        ];
                        assert!(typed.contains(&code), "page {page} of {owner}: {code}");
                        JournalStore::open(&folder.options()).map(drop).err()
                    }
                }
            }
        };
        match refused {
            None if of_log => {
                let journal = folder.open();
                let (seq, what) = verify(&journal).await.fault.expect("a fault of the log is told");
                assert!(seq < Seq(2 + 6 * RUNS), "page {page} of {owner}: {seq} {what}");
            }
            None => {
                let journal = folder.open();
                use_it(&journal, 101).await.unwrap_or_else(|code| panic!("page {page} of {owner}: {code}"));
            }
            Some(error) => {
                assert_eq!(error.code(), ErrorCode::JournalCorrupt, "page {page} of {owner}: {error}");
                let named = matches!(error, OpenError::Corrupt { .. });
                let hopeless = owner == "sqlite_schema" || owner == "static";
                assert!(named && of_log || hopeless, "page {page} of {owner}: {error}");
                assert!(fs::read(folder.database()).unwrap() == damaged, "the damaged file is evidence");
            }
        }
    }
}

/// Where the frames of the write-ahead log lie, and which of them end a commit.
fn frames(folder: &Folder) -> Vec<(u64, bool)> {
    let wal = fs::read(folder.database().with_extension("db-wal")).unwrap();
    let frame_bytes = 24 + usize::try_from(PAGE_BYTES).unwrap();
    let frames = wal[32..].chunks_exact(frame_bytes).zip(0_u64..);
    let live = frames.take_while(|(frame, _)| frame[8..16] == wal[16..24]);
    live.map(|(frame, n)| (32 + n * frame_bytes as u64, frame[4..8] != [0; 4])).collect()
}

fn flip(folder: &Folder, byte: u64) {
    let wal = fs::OpenOptions::new().read(true).write(true).open(folder.database().with_extension("db-wal"));
    let wal = wal.unwrap();
    let mut found = [0];
    wal.read_exact_at(&mut found, byte).unwrap();
    wal.write_all_at(&[found[0] ^ 0x10], byte).unwrap();
}

#[tokio::test]
async fn damage_in_the_write_ahead_log_is_told_unless_it_may_be_a_cut_off_write() {
    let folder = Folder::new();
    let journal = folder.open();
    write_runs(&journal, 0..5).await;
    let entries = journal.status().entries;
    close(journal).await;
    let frames = frames(&folder);
    let commits: Vec<u64> = frames.iter().filter(|(_, ends)| *ends).map(|(at, _)| *at).collect();
    let last_but_one = commits[commits.len() - 2];
    let kept =
        (fs::read(folder.database()).unwrap(), fs::read(folder.database().with_extension("db-wal")).unwrap());
    let keys = folder.keys();
    let (mut told, mut cut_off) = (0, 0);
    // The header, then in each frame the page's number, the end of a commit, the salt, the sum, and the page.
    let some = frames.iter().step_by(5).chain(frames.iter().rev().take(12));
    let places = some.flat_map(|(at, _)| [0, 4, 9, 17, 24, 2_000].map(|within| (*at, at + within)));
    for (frame, byte) in [(0, 3), (0, 17), (0, 25)].into_iter().chain(places) {
        fs::write(folder.database(), &kept.0).unwrap();
        fs::write(folder.database().with_extension("db-wal"), &kept.1).unwrap();
        folder.put_keys(&keys);
        flip(&folder, byte);
        match JournalStore::open(&folder.options()) {
            Err(OpenError::WalDamaged { byte: at, commits_behind }) => {
                assert!(at == frame && commits_behind > 1 || frame == 0, "{byte}: {at} {commits_behind}");
                let now = fs::read(folder.database().with_extension("db-wal")).unwrap();
                assert!(now.len() == kept.1.len() && fs::read(folder.database()).unwrap() == kept.0);
                told += 1;
            }
            Err(error) => panic!("{byte}: {error}"),
            Ok(journal) => {
                // The mark of a commit may itself be what is damaged: then one more cannot be told from a torn write.
                assert!(frame >= last_but_one, "{byte} of frame {frame} lost commits without a word");
                let report = verify(&journal).await;
                // The last commit of a close in order is a signed head, without an entry.
                assert!(report.fault.is_none() && report.entries <= entries + 1, "{report:?}");
                cut_off += 1;
                close(journal).await;
            }
        }
    }
    assert!(told > 100 && cut_off > 0, "{told} {cut_off}");
}

#[tokio::test]
async fn a_damaged_write_ahead_log_can_be_cut_where_the_error_says() {
    let folder = Folder::new();
    let journal = folder.open();
    write_runs(&journal, 0..20).await;
    let entries = journal.status().entries;
    close(journal).await;
    let frames = frames(&folder);
    // The first half makes the tables.
    flip(&folder, frames[frames.len() * 3 / 4].0 + 100);
    let error = JournalStore::open(&folder.options()).unwrap_err();
    let OpenError::WalDamaged { byte, .. } = error else { panic!("{error}") };
    let wal = fs::OpenOptions::new().write(true).open(folder.database().with_extension("db-wal")).unwrap();
    wal.set_len(byte).unwrap();
    let journal = folder.open();
    let report = verify(&journal).await;
    assert!(report.fault.is_none() && report.entries > 2 && report.entries < entries, "{report:?}");
}
