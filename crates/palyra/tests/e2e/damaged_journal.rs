//! A journal that was damaged while nobody served: what the person is told, and what helps.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::process::{Signal, kill_process};

use crate::home::{Home, until_ended};

const PAGE_BYTES: u64 = 4_096;
const RUNS: usize = 6;

struct Scene {
    home: Home,
}

impl Scene {
    /// A home with some runs, all of them in the database file, and no daemon.
    fn settled() -> Self {
        let scene = Self::with_runs();
        // A start moves the write-ahead log into the database.
        scene.home.palyra(&["admin", "stop"]).expect(0);
        scene.home.palyra(&["runs", "list"]).expect(0);
        scene.home.palyra(&["admin", "stop"]).expect(0);
        scene
    }

    fn with_runs() -> Self {
        let home = Home::new();
        home.write("README.md", "# Amber\n\nIt keeps.\n");
        for _ in 0..RUNS {
            home.palyra(&["run", "read README.md then list the files"]).expect(0);
        }
        Self { home }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.home.state_dir().join(name)
    }

    fn overwrite(&self, name: &str, at: u64, with: &[u8]) {
        let file = OpenOptions::new().write(true).open(self.file(name)).unwrap();
        file.write_all_at(with, at).unwrap();
    }

    /// Returns a page that holds these bytes.
    fn page_with(&self, bytes: &[u8]) -> u64 {
        let database = fs::read(self.file("journal.db")).unwrap();
        let at = database.windows(bytes.len()).position(|window| window == bytes).expect("it is there");
        at as u64 / PAGE_BYTES
    }

    /// Expects the start to be refused with PLY-2003 and these words, by every verb alike, and nothing changed.
    #[track_caller]
    fn refused(&self, words: &str) {
        let before = fs::read(self.file("journal.db")).unwrap();
        for verb in [&["run", "hello"][..], &["journal", "verify"]] {
            let ended = self.home.palyra(verb).expect(4);
            assert!(ended.err.contains("error[PLY-2003]: the daemon did not start: "), "{}", ended.err);
            assert!(ended.err.contains(words), "{}", ended.err);
            assert!(ended.err.contains("  copy the state directory first; "), "{}", ended.err);
        }
        assert!(fs::read(self.file("journal.db")).unwrap() == before, "the damaged file is evidence");
    }

    /// What the page of PLY-2003 says: the whole directory goes aside, and work goes on in a new one.
    fn begin_anew(&self) {
        let aside = self.home.state_dir().with_extension("damaged");
        fs::rename(self.home.state_dir(), &aside).unwrap();
        self.home.palyra(&["run", "hello"]).expect(0);
        self.home.palyra(&["journal", "verify"]).expect(0);
        assert!(aside.join("journal.db").is_file());
    }
}

#[test]
fn a_damaged_page_of_old_entries_is_named_by_verify_and_the_rest_is_there() {
    let scene = Scene::settled();
    let runs = scene.home.palyra(&["runs", "list", "--json"]).expect(0).json();
    scene.home.palyra(&["admin", "stop"]).expect(0);
    // The first envelopes hold the id of the log; the page behind them is full of old ones.
    let page = scene.page_with(b"Amber");
    scene.overwrite("journal.db", page * PAGE_BYTES, &[0xA5; PAGE_BYTES as usize]);
    let verify = scene.home.palyra(&["journal", "verify"]);
    assert_ne!(verify.code, 0);
    assert!(verify.err.contains("error[PLY-2003]: "), "{}", verify.err);
    let named = verify.err.contains("entry ") || verify.err.contains("at seq ");
    assert!(named, "{}", verify.err);
    if verify.code == 1 {
        let still = scene.home.palyra(&["runs", "list", "--json"]).expect(0).json();
        assert_eq!(still.len(), runs.len());
        scene.home.palyra(&["run", "hello"]).expect(0);
    }
}

#[test]
fn damage_everywhere_leaves_nothing_to_do_but_to_say_so() {
    let scene = Scene::settled();
    let pages = fs::metadata(scene.file("journal.db")).unwrap().len() / PAGE_BYTES;
    for page in 1..pages {
        scene.overwrite("journal.db", page * PAGE_BYTES, &[0xA5; PAGE_BYTES as usize]);
    }
    scene.refused("");
    scene.begin_anew();
}

#[test]
fn a_truncated_database_and_a_foreign_file_are_refused_and_left_alone() {
    let scene = Scene::settled();
    let whole = fs::read(scene.file("journal.db")).unwrap();
    for bytes in [&whole[..whole.len() / 3], &whole[..5_000], b"shopping list"] {
        fs::write(scene.file("journal.db"), bytes).unwrap();
        scene.refused("");
    }
    fs::write(scene.file("journal.db"), &whole).unwrap();
    let runs = scene.home.palyra(&["runs", "list", "--json"]).expect(0).json();
    assert_eq!(runs.len(), RUNS, "a backup that is put back is as good as new");
    scene.home.palyra(&["journal", "verify"]).expect(0);
}

#[test]
fn a_journal_of_a_newer_version_is_refused_and_not_touched() {
    let scene = Scene::settled();
    // The user version lies in the header, at byte 60.
    scene.overwrite("journal.db", 60, &99_u32.to_be_bytes());
    // The last life may have left another header in the write-ahead log.
    fs::remove_file(scene.file("journal.db-wal")).unwrap();
    let before = fs::read(scene.file("journal.db")).unwrap();
    let ended = scene.home.palyra(&["run", "hello"]).expect(4);
    let words = "error[PLY-2004]: the daemon did not start: the journal has format 99, this version knows formats up to 2";
    assert!(ended.err.contains(words), "{}", ended.err);
    assert!(ended.err.contains("  use the version that wrote it; nothing was changed"), "{}", ended.err);
    assert!(fs::read(scene.file("journal.db")).unwrap() == before);
}

#[test]
fn acknowledged_entries_in_a_damaged_write_ahead_log_do_not_vanish_without_a_word() {
    // The log's beginning is in the database; without it nothing could go on.
    let scene = Scene::settled();
    scene.home.palyra(&["run", "read README.md then list the files"]).expect(0);
    let daemon = scene.home.daemon_pid();
    kill_process(daemon, Signal::KILL).unwrap();
    until_ended(daemon);
    // In the middle of the tenth frame.
    let frame = 32 + 9 * (24 + PAGE_BYTES);
    scene.overwrite("journal.db-wal", frame + 1_000, &[0xA5; 64]);
    let words = format!("the write-ahead log journal.db-wal is damaged at byte {frame}: ");
    scene.refused(&words);
    // What the page of PLY-2003 says for this case.
    let kept = scene.file("journal.db-wal.kept");
    fs::copy(scene.file("journal.db-wal"), &kept).unwrap();
    OpenOptions::new().write(true).open(scene.file("journal.db-wal")).unwrap().set_len(frame).unwrap();
    scene.home.palyra(&["journal", "verify"]).expect(0);
    // The client has seen what lay behind that place, and would say so.
    scene.home.forget_heads();
    scene.home.palyra(&["run", "hello"]).expect(0);
}

#[test]
fn whoever_meets_a_read_only_journal_is_told_where_the_cause_stands() {
    let scene = Scene::settled();
    files_of(&scene.file("keys")).iter().for_each(|(path, _)| fs::remove_file(path).unwrap());
    let told = scene.home.palyra(&["run", "hello"]).expect(1);
    assert!(told.err.contains("error[PLY-2001]: the journal is read-only\n"), "{}", told.err);
    assert!(told.err.contains("  `palyra journal status` names the cause"), "{}", told.err);
    let status = scene.home.palyra(&["journal", "status"]).expect(0);
    assert!(status.out.contains("the key that should sign it is gone"), "{}", status.out);
}

fn files_of(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

/// Pages of derived tables that are damaged, each in a journal of its own.
const PAGES_TRIED: usize = 12;

#[test]
fn what_is_only_derived_is_made_anew_by_the_next_start() {
    let scene = Scene::with_runs();
    scene.home.palyra(&["admin", "stop"]).expect(0);
    let keys = files_of(&scene.file("keys"));
    // A start moves the write-ahead log into the database; what it appends itself stays in the next one.
    scene.home.palyra(&["runs", "list"]).expect(0);
    scene.home.palyra(&["admin", "stop"]).expect(0);
    let database = fs::read(scene.file("journal.db")).unwrap();
    let pages = database.len() as u64 / PAGE_BYTES;
    // Empty leaf pages of WITHOUT ROWID tables and indexes begin with 10; the log's tables have none but indexes.
    let first_byte = |page: &u64| database[usize::try_from(page * PAGE_BYTES).unwrap()];
    let derived: Vec<u64> = (1..pages).filter(|page| first_byte(page) == 10).collect();
    // Each page costs eight programs; another commit tries others.
    let step = derived.len().div_ceil(PAGES_TRIED);
    let seed: usize = std::env::var("PALYRA_TEST_SEED").map_or(0, |seed| seed.parse().unwrap_or(0));
    let mut repaired = 0;
    for &page in derived.iter().skip(seed % step).step_by(step) {
        fs::write(scene.file("journal.db"), &database).unwrap();
        let _ = fs::remove_file(scene.file("journal.db-wal"));
        // To put the same journal back again and again is a rollback, which is not what this is about: its key
        // comes back with it, and nobody remembers a newer head.
        files_of(&scene.file("keys")).iter().for_each(|(path, _)| fs::remove_file(path).unwrap());
        keys.iter().for_each(|(path, content)| fs::write(path, content).unwrap());
        scene.home.forget_heads();
        scene.overwrite("journal.db", page * PAGE_BYTES, &[0xA5; PAGE_BYTES as usize]);
        // It may cost one command and a restart, never more.
        let first = scene.home.palyra(&["run", "read README.md"]);
        if first.code != 0 {
            assert!(first.err.contains("error[PLY-200"), "{}", first.err);
            scene.home.palyra(&["admin", "stop"]).expect(0);
        }
        scene.home.palyra(&["run", "read README.md"]).expect(0);
        let _ = scene.home.palyra(&["journal", "verify"]);
        scene.home.palyra(&["admin", "stop"]).expect(0);
        let runs = scene.home.palyra(&["runs", "list", "--json"]).expect(0).json();
        assert!(runs.len() > RUNS, "page {page}: {}", runs.len());
        let verify = scene.home.palyra(&["journal", "verify"]).expect(0);
        assert!(verify.out.starts_with("ok: "), "{}", verify.out);
        scene.home.palyra(&["admin", "stop"]).expect(0);
        repaired += u32::from(scene.file("journal.db.before-repair").exists());
        let _ = fs::remove_file(scene.file("journal.db.before-repair"));
    }
    assert!(repaired > 1, "{repaired} of {PAGES_TRIED}, of {} pages", derived.len());
}
