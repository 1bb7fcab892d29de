//! A state directory with a journal and everything else that a backup takes.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use palyra_backup::{
    BackupError, BackupPlan, BackupReport, BackupWatch, ConfigPlaces, CopyPace, KeyFiles, create,
};
use palyra_journal::{JournalStore, OpenOptions};
use palyra_ports::AppendTape;
use palyra_testkit::journal_suite::samples::{self, SampleRun};
use palyra_testkit::{FakeClock, FixedEntropy};
use tempfile::TempDir;

/// A secret value, which is in no file of a vault as it is.
pub(crate) const VAULT_KEY_BYTES: &[u8] = b"the-root-key-of-the-vault-canary";
/// The key of an epoch, which is never in a backup.
pub(crate) const EPOCH_KEY_CANARY: &str = "epoch-key-canary";

pub(crate) struct House {
    folder: TempDir,
}

impl House {
    pub(crate) fn new() -> Self {
        let house = Self { folder: tempfile::tempdir().unwrap() };
        let state = house.state();
        for (name, text) in [
            ("vault/forge", "sealed"),
            ("skills/a/SKILL.md", "a skill"),
            ("components/greet.wasm", "\0asm"),
            ("workspaces/P/S/notes.txt", "notes"),
            ("chat_history", "hello\n"),
            ("log/palyrad.log", "not backed up"),
            ("scratch/x", "not backed up"),
            ("keys/root.key", "seal-key-canary"),
            ("console-link.html", "not backed up"),
        ] {
            let path = state.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        fs::write(state.join("vault/root.key"), VAULT_KEY_BYTES).unwrap();
        fs::write(state.join("keys/epoch-999.key.copy"), EPOCH_KEY_CANARY).unwrap();
        fs::set_permissions(state.join("workspaces/P/S/notes.txt"), fs::Permissions::from_mode(0o755))
            .unwrap();
        std::os::unix::fs::symlink("/etc/passwd", state.join("workspaces/P/S/link")).unwrap();
        fs::create_dir_all(house.folder.path().join("config/policies")).unwrap();
        fs::write(house.folder.path().join("config/palyra.toml"), "# settings\n").unwrap();
        fs::write(house.folder.path().join("config/policies/own.cedar"), "// rules\n").unwrap();
        house
    }

    pub(crate) fn state(&self) -> PathBuf {
        let state = self.folder.path().join("state");
        fs::create_dir_all(&state).unwrap();
        fs::set_permissions(&state, fs::Permissions::from_mode(0o700)).unwrap();
        state
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn open(&self) -> JournalStore {
        open(&self.state())
    }

    pub(crate) fn plan(&self, target: &str, pace: CopyPace) -> BackupPlan {
        let config = self.folder.path().join("config");
        BackupPlan {
            state_dir: self.state(),
            config: ConfigPlaces {
                file: Some(config.join("palyra.toml")),
                policies: Some(config.join("policies")),
            },
            target: self.path(target),
            keys: KeyFiles::LeftOut,
            pace,
            program_version: "1.2.3".to_owned(),
            now_unix_us: 1_800_000_000_000_000,
        }
    }

    /// Makes a backup while nothing writes the journal.
    pub(crate) fn back_up(&self, target: &str) -> Result<BackupReport, BackupError> {
        create(&self.plan(target, CopyPace::Alone), &BackupWatch::default())
    }
}

pub(crate) fn open(state: &Path) -> JournalStore {
    let options =
        OpenOptions::new(state.to_owned(), Arc::new(FakeClock::new()), Arc::new(FixedEntropy::new(1)));
    JournalStore::open(&options).unwrap()
}

/// Writes runs of one session.
pub(crate) async fn write_runs(journal: &JournalStore, from: u64, count: u64) {
    let session = samples::session(samples::principal(0), 0);
    for number in from..from + count {
        let mut run = SampleRun::new(session, number);
        let entries =
            vec![run.started("x"), run.requested(1), run.text(1, &"y".repeat(2_000)), run.finished()];
        journal.append(samples::append(entries)).await.unwrap();
    }
}

/// Returns every file below a folder, with its content.
pub(crate) fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else {
                let name = entry.path().strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                found.push((name, fs::read(entry.path()).unwrap()));
            }
        }
    }
    found.sort();
    found
}

/// Returns the names of files below a folder.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    contents(folder).into_iter().map(|(name, _)| name).collect()
}
