//! Backups that another changed: nothing outside of the folder is read or written, and each change is found.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use palyra_backup::{BackupError, BackupWatch, MANIFEST_FILE_NAME, RestorePlan, check_backup, restore};
use palyra_types::ErrorCode;
use serde_json::Value;

use crate::house::{House, contents, write_runs};

struct Scene {
    house: House,
    backup: PathBuf,
}

impl Scene {
    async fn new() -> Self {
        let house = House::new();
        let journal = house.open();
        write_runs(&journal, 0, 5).await;
        journal.close().await;
        drop(journal);
        house.back_up("copy").unwrap();
        let backup = house.path("copy");
        Self { house, backup }
    }

    /// Changes the manifest as a person with an editor could.
    fn edit_manifest(&self, change: impl FnOnce(&mut Value)) {
        let path = self.backup.join(MANIFEST_FILE_NAME);
        let mut manifest: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        change(&mut manifest);
        fs::write(&path, serde_json::to_vec(&manifest).unwrap()).unwrap();
    }

    /// Returns why a restore is refused, and checks that it left nothing.
    fn refused(&self) -> BackupError {
        let target = self.house.path("restored");
        let before = contents(&self.house.path("config"));
        let plan = RestorePlan { backup: self.backup.clone(), state_dir: target.clone() };
        let error = restore(&plan, &BackupWatch::default()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::BackupInvalid, "{error}");
        assert!(!target.exists(), "nothing is left: {error}");
        assert_eq!(contents(&self.house.path("config")), before);
        error
    }

    fn findings(&self) -> String {
        check_backup(&self.backup, &BackupWatch::default()).unwrap().findings.join("; ")
    }
}

#[tokio::test]
async fn the_control_is_restored() {
    let scene = Scene::new().await;
    assert_eq!(scene.findings(), "");
    let plan = RestorePlan { backup: scene.backup.clone(), state_dir: scene.house.path("restored") };
    restore(&plan, &BackupWatch::default()).unwrap();
    assert!(scene.house.path("restored/journal.db").exists());
}

#[tokio::test]
async fn names_that_lead_out_of_the_backup_are_refused() {
    for name in
        ["../../escape", "/tmp/escape", "state/../../../escape", "state/lock", "state/accept-rollback"]
    {
        let scene = Scene::new().await;
        scene.edit_manifest(|manifest| manifest["files"][1]["name"] = name.into());
        let error = scene.refused();
        assert!(error.to_string().contains("cannot have"), "{name}: {error}");
        assert!(!scene.house.path("escape").exists());
    }
}

#[tokio::test]
async fn links_devices_and_pipes_are_not_followed() {
    let scene = Scene::new().await;
    let victim = scene.backup.join("state/chat_history");
    fs::remove_file(&victim).unwrap();
    symlink(scene.house.path("config/palyra.toml"), &victim).unwrap();
    assert!(scene.findings().contains("chat_history is not a file"));
    scene.refused();
    fs::remove_file(&victim).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, &victim, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0)
        .unwrap();
    assert!(scene.findings().contains("chat_history is not a file"));
    scene.refused();

    let scene = Scene::new().await;
    fs::rename(scene.backup.join("state/skills"), scene.house.path("skills")).unwrap();
    symlink(scene.house.path("skills"), scene.backup.join("state/skills")).unwrap();
    assert!(scene.findings().contains("state/skills is not a file"));
    scene.refused();

    let scene = Scene::new().await;
    fs::remove_file(scene.backup.join("journal.db")).unwrap();
    symlink(scene.house.path("state/journal.db"), scene.backup.join("journal.db")).unwrap();
    scene.refused();

    let scene = Scene::new().await;
    let manifest = scene.backup.join(MANIFEST_FILE_NAME);
    fs::rename(&manifest, scene.house.path("manifest")).unwrap();
    symlink(scene.house.path("manifest"), &manifest).unwrap();
    scene.refused();
}

#[tokio::test]
async fn sizes_that_are_not_there_are_found_before_anything_is_written() {
    let scene = Scene::new().await;
    let file = fs::OpenOptions::new().write(true).open(scene.backup.join("state/chat_history")).unwrap();
    file.set_len(1 << 40).unwrap();
    assert!(scene.findings().contains("1099511627776 bytes instead of 6"));
    scene.refused();
    scene.edit_manifest(|manifest| {
        let files = manifest["files"].as_array_mut().unwrap();
        let history = files.iter_mut().find(|file| file["name"] == "state/chat_history").unwrap();
        history["bytes"] = u64::MAX.into();
    });
    scene.refused();
}

#[tokio::test]
async fn a_changed_added_or_missing_file_is_found() {
    let scene = Scene::new().await;
    fs::write(scene.backup.join("state/vault/forge"), "SEALED").unwrap();
    assert!(scene.findings().contains("state/vault/forge is not the file"));
    scene.refused();
    fs::write(scene.backup.join("state/vault/forge"), "sealed").unwrap();
    fs::write(scene.backup.join("state/vault/more"), "x").unwrap();
    assert!(scene.findings().contains("state/vault/more is not in the manifest"));
    scene.refused();
    fs::remove_file(scene.backup.join("state/vault/more")).unwrap();
    fs::write(scene.backup.join("journal.db-wal"), vec![1; 5_000]).unwrap();
    assert!(
        scene.findings().contains("journal.db-wal is not in the manifest"),
        "it would be read with the journal"
    );
    scene.refused();
    fs::remove_file(scene.backup.join("journal.db-wal")).unwrap();
    fs::remove_file(scene.backup.join("state/vault/forge")).unwrap();
    assert!(scene.findings().contains("state/vault/forge cannot be opened"));
    scene.refused();
}

/// One who can write the backup can change a file and its digest: of the journal, signatures and the chain tell.
#[tokio::test]
async fn an_altered_journal_with_a_fitting_digest_does_not_verify() {
    let scene = Scene::new().await;
    let path = scene.backup.join("journal.db");
    let mut bytes = fs::read(&path).unwrap();
    let text = b"yyyyyyyyyyyyyyyy";
    let at = bytes.windows(text.len()).position(|window| window == text).unwrap();
    bytes[at] = b'z';
    fs::write(&path, &bytes).unwrap();
    let digest = sha256(&bytes);
    scene.edit_manifest(|manifest| {
        let files = manifest["files"].as_array_mut().unwrap();
        files.iter_mut().find(|file| file["name"] == "journal.db").unwrap()["sha256"] = digest.into();
    });
    assert!(scene.findings().contains("the journal does not verify"), "{}", scene.findings());
    scene.refused();
}

#[tokio::test]
async fn the_manifest_of_another_backup_does_not_fit() {
    let scene = Scene::new().await;
    let journal = scene.house.open();
    write_runs(&journal, 100, 3).await;
    journal.close().await;
    drop(journal);
    scene.house.back_up("later").unwrap();
    let theirs = scene.house.path("later").join(MANIFEST_FILE_NAME);
    fs::copy(theirs, scene.backup.join(MANIFEST_FILE_NAME)).unwrap();
    scene.refused();
    // Also with the digests of this journal: the signed head in it is of a longer one.
    let (bytes, size) = (fs::read(scene.backup.join("journal.db")).unwrap(), 0);
    let digest = sha256(&bytes);
    scene.edit_manifest(|manifest| {
        let files = manifest["files"].as_array_mut().unwrap();
        let file = files.iter_mut().find(|file| file["name"] == "journal.db").unwrap();
        file["sha256"] = digest.into();
        file["bytes"] = (bytes.len() + size).into();
    });
    assert!(scene.findings().contains("the journal does not verify"), "{}", scene.findings());
    scene.refused();
}

fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest;
    sha2::Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
