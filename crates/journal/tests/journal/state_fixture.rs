//! The state directory that the code of 2026-11-23 wrote, with every kind of entry in it, is read as it was then.
//!
//! `tests/fixtures/state-v2.tar.gz` is made once by the example `write_state_fixture` and never changed: two logs with
//! an accepted rollback between them, sealed payloads, erasures, checkpoints, branches, open runs and jobs. Begin at
//! [`Fixture::unpack`].

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use palyra_journal::{Derived, JournalStore, OpenOptions, PayloadSealing, row_tool};
use palyra_journal_core::families::runs::RunFamily;
use palyra_journal_core::family::RowId;
use palyra_ports::AppendTape;
use palyra_ports::maintain_journal::{JournalHealth, MaintainJournal};
use palyra_testkit::JournalReads;
use palyra_testkit::journal_suite::random_appends::RandomAppends;
use palyra_testkit::journal_suite::samples::{self, SampleRun};
use palyra_types::Seq;
use palyra_types::event::{JournalEvent, LogEvent, TapeEvent};
use palyra_types::surface::Surface;
use palyra_types::tape::ContentState;

use crate::full_disk::example;
use crate::opened::Folder;
use crate::rebuilds::dump;
use crate::written::{silent, verify, write_runs};

/// How many kinds there were; a kind that came later is not in the fixture.
const KINDS: usize = 57;

/// The unpacked fixture, and what was read from it when it was written.
struct Fixture {
    folder: Folder,
    entries: String,
    records: String,
}

impl Fixture {
    fn unpack() -> Self {
        let folder = Folder::new();
        let parent = folder.state_dir().parent().unwrap().to_owned();
        let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/state-v2.tar.gz");
        let mut tar = Command::new("tar");
        let status = tar.args(["--extract", "--gzip", "--file"]).arg(archive).current_dir(&parent).status();
        assert!(status.unwrap().success());
        let expected = |name: &str| std::fs::read_to_string(parent.join("expected").join(name)).unwrap();
        Self { entries: expected("entries.txt"), records: expected("records.txt"), folder }
    }

    fn options(&self) -> OpenOptions {
        OpenOptions { anchor_dir: Some(self.anchors()), sealing: PayloadSealing::On, ..self.folder.options() }
    }

    fn anchors(&self) -> PathBuf {
        self.folder.state_dir().with_file_name("anchors")
    }

    fn open(&self) -> JournalStore {
        JournalStore::open(&self.options()).unwrap()
    }

    fn dump(&self) -> Vec<String> {
        dump(&self.folder.connect())
    }
}

/// Compares line by line, so that a failure shows one line.
#[track_caller]
fn assert_lines(found: &str, expected: &str) {
    for (number, (found, expected)) in found.lines().zip(expected.lines()).enumerate() {
        assert_eq!(found, expected, "line {number}");
    }
    assert_eq!(found.lines().count(), expected.lines().count());
}

/// What records of those days have for fields that came later, and what they were shown as.
const LATER_FIELDS: [(&str, &str); 6] = [
    (", recall: None }", " }"),
    (", surface: None, reset_at", ", reset_at"),
    (", approvers: None }", " }"),
    (", workspace_roots: [] }", " }"),
    (", kind: Person, role: Member, disabled: None, time_zone: <content> }", " }"),
    (", kind: Program, scopes: ScopeSet(runs,runs.read), label", ", label"),
];

/// More than the runs of any session of the fixture.
const OLD_RUNS_MAX: u64 = 64;

/// Returns the records as they were shown then; a later field with another value stays, and is a difference.
async fn records(journal: &JournalStore) -> String {
    let text = RandomAppends::new(0).records(journal).await.join("\n") + "\n";
    // Where a session began is read from its first run, which is in the fixture.
    let text = Surface::ALL.iter().fold(text, |text, surface| {
        text.replace(&format!(", surface: Some({surface:?}), reset_at"), ", reset_at")
    });
    // So is the number of runs before its reset.
    let text = (0..OLD_RUNS_MAX).fold(text, |text, runs| {
        text.replace(&format!(", runs_before_reset: {runs}, branched_from"), ", branched_from")
    });
    LATER_FIELDS.iter().fold(text, |text, (now, then)| text.replace(now, then))
}

#[tokio::test]
async fn every_entry_of_the_old_state_reads_as_it_was_written() {
    let fixture = Fixture::unpack();
    let journal = fixture.open();
    let (mut text, mut kinds) = (String::new(), BTreeSet::new());
    let (mut erased, mut sealed_epochs) = (0, 0);
    let count = fixture.entries.lines().count();
    let mut from = 0;
    while from < count {
        let entries = journal.entries(Seq(from as u64), 500.min(count - from)).await.unwrap();
        from += entries.len();
        for entry in entries {
            let leaf: String = entry.leaf.iter().map(|byte| format!("{byte:02x}")).collect();
            text += &format!("{leaf} {:04x} {:?}\n", entry.kind, entry.content);
            kinds.insert(entry.kind);
            let (unknown, on_tape) =
                (JournalEvent::Unknown { kind: entry.kind }, TapeEvent::Unknown { kind: entry.kind });
            assert!(entry.event != unknown && entry.event != JournalEvent::Tape(on_tape), "{entry:?}");
            erased += usize::from(entry.content == ContentState::Erased);
            let is_sealed = matches!(
                entry.event,
                JournalEvent::Log(LogEvent::EpochStarted {
                    sealing: Some(palyra_types::event::EpochSealing::On),
                    ..
                })
            );
            sealed_epochs += usize::from(is_sealed);
        }
    }
    assert_lines(&text, &fixture.entries);
    assert_eq!(kinds.len(), KINDS, "every kind of that day is in it");
    assert!(erased >= 10 && sealed_epochs >= 2, "{erased} {sealed_epochs}");
}

#[tokio::test]
async fn the_old_state_verifies_and_its_records_are_what_they_were() {
    let fixture = Fixture::unpack();
    let journal = fixture.open();
    assert_eq!(journal.status().health, JournalHealth::Writable, "{:?}", journal.status().cause);
    assert_eq!(verify(&journal).await.fault, None);
    assert_lines(&records(&journal).await, &fixture.records);
    assert!(!journal.open_runs().await.unwrap().is_empty());
    let before = fixture.dump();
    assert_eq!(journal.rebuild(silent()).await.unwrap(), journal.status().entries);
    assert_lines(&records(&journal).await, &fixture.records);
    assert_eq!(fixture.dump(), before);
    journal.close().await;
    drop(journal);

    let again = JournalStore::open(&OpenOptions { derived: Derived::Rebuilt, ..fixture.options() }).unwrap();
    assert_lines(&records(&again).await, &fixture.records);
    assert_eq!(verify(&again).await.fault, None);
}

#[tokio::test]
async fn the_old_state_goes_on() {
    let fixture = Fixture::unpack();
    let journal = fixture.open();
    let entries = journal.status().entries;
    write_runs(&journal, 990_000..990_003).await;
    let session = samples::session(samples::principal(0), 0);
    let mut open = SampleRun::new(session, 990_009);
    journal.append(samples::append(vec![open.started("and on"), open.requested(1)])).await.unwrap();
    assert_eq!(journal.status().entries, entries + 20);
    let written = fixture.dump();
    journal.rebuild(silent()).await.unwrap();
    assert_eq!(fixture.dump(), written);
    journal.close().await;
    drop(journal);
    let journal = fixture.open();
    assert_eq!(verify(&journal).await.fault, None);
    assert!(journal.run(open.run).await.unwrap().is_some());
}

/// Killed while every derived row is made anew, and while a start does it because their version is another one.
#[tokio::test]
async fn a_kill_in_the_rebuild_of_the_old_state_changes_nothing() {
    let fixture = Fixture::unpack();
    for version in [None, Some(0)] {
        if let Some(version) = version {
            let changed = fixture.folder.connect().execute("UPDATE projections SET version = ?1", [version]);
            assert_eq!(changed.unwrap(), 1);
        }
        let mut child = Command::new(example("rebuild_until_killed"))
            .arg(fixture.folder.state_dir())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.contains(" of "), "{line:?}");
        child.kill().unwrap();
        child.wait().unwrap();
        let journal = fixture.open();
        assert_eq!(verify(&journal).await.fault, None);
        assert_lines(&records(&journal).await, &fixture.records);
        write_runs(&journal, 0..0).await;
        let before = fixture.dump();
        journal.rebuild(silent()).await.unwrap();
        assert_eq!(fixture.dump(), before);
        journal.close().await;
    }
}

/// The control: one derived value that is another one is seen by the comparison of rows and of records.
#[tokio::test]
async fn another_derived_value_is_seen() {
    let fixture = Fixture::unpack();
    let journal = fixture.open();
    let before = fixture.dump();
    let first = RowId::from(journal.open_runs().await.unwrap()[0].first_seq);
    row_tool::change_rows::<RunFamily>(&fixture.folder.connect(), |row| {
        let is_first = RowId::from(row.record.first_seq) == first;
        row.record.turns += u32::from(is_first);
        is_first
    })
    .unwrap();
    assert_ne!(fixture.dump(), before);
    let found = records(&journal).await;
    assert!(found.lines().zip(fixture.records.lines()).any(|(found, expected)| found != expected));
    journal.rebuild(silent()).await.unwrap();
    assert_eq!(fixture.dump(), before);
}
