//! What is in a backup, and what a restore makes of it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use palyra_backup::{
    BackupError, BackupWatch, CopyPace, KeyFiles, RestorePlan, VaultKeyState, check_backup, create, restore,
};
use palyra_journal::{JournalStore, OpenOptions};
use palyra_ports::maintain_journal::MaintainJournal;
use palyra_testkit::{FakeClock, FixedEntropy};
use palyra_types::ErrorCode;
use palyra_types::proof::ReopenReason;

use crate::house::{EPOCH_KEY_CANARY, House, VAULT_KEY_BYTES, contents, names, write_runs};

async fn backed_up() -> House {
    let house = House::new();
    let journal = house.open();
    write_runs(&journal, 0, 20).await;
    journal.close().await;
    drop(journal);
    house.back_up("copy").unwrap();
    house
}

fn plan(house: &House, state: &str) -> RestorePlan {
    RestorePlan { backup: house.path("copy"), state_dir: house.path(state) }
}

#[tokio::test]
async fn a_backup_holds_the_state_and_no_key() {
    let house = backed_up().await;
    let expected = [
        "config/palyra.toml",
        "config/policies/own.cedar",
        "journal.db",
        "manifest.json",
        "state/chat_history",
        "state/components/greet.wasm",
        "state/skills/a/SKILL.md",
        "state/vault/forge",
        "state/workspaces/P/S/notes.txt",
    ];
    assert_eq!(names(&house.path("copy")), expected);
    for (name, bytes) in contents(&house.path("copy")) {
        for canary in [VAULT_KEY_BYTES, EPOCH_KEY_CANARY.as_bytes(), b"seal-key-canary"] {
            assert!(!bytes.windows(canary.len()).any(|window| window == canary), "{name}");
        }
        let mode = fs::metadata(house.path("copy").join(&name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    assert_eq!(fs::metadata(house.path("copy")).unwrap().permissions().mode() & 0o777, 0o700);
    let checked = check_backup(&house.path("copy"), &BackupWatch::default()).unwrap();
    assert_eq!(checked.findings, Vec::<String>::new());
    assert_eq!(checked.manifest.vault_key, VaultKeyState::KeyFileLeftOut);
    assert_eq!(checked.manifest.left_out, ["workspaces/P/S/link"]);
    assert_eq!(checked.entries, checked.manifest.entries);
    assert_eq!(checked.signed_entries, checked.entries, "a daemon that stops signs its end");
}

#[tokio::test]
async fn with_the_keys_it_says_so() {
    let house = House::new();
    let journal = house.open();
    write_runs(&journal, 0, 2).await;
    journal.close().await;
    drop(journal);
    let plan = palyra_backup::BackupPlan { keys: KeyFiles::Included, ..house.plan("copy", CopyPace::Alone) };
    let made = create(&plan, &BackupWatch::default()).unwrap();
    assert_eq!(made.manifest.vault_key, VaultKeyState::KeyFileIncluded);
    let names = names(&house.path("copy"));
    for key in ["state/vault/root.key", "state/keys/root.key"] {
        assert!(names.iter().any(|name| name == key), "{key}: {names:?}");
    }
    assert!(!names.iter().any(|name| name.contains("epoch")), "{names:?}");
}

#[tokio::test]
async fn a_restored_state_opens_as_a_new_log_over_the_same_entries() {
    let house = backed_up().await;
    let restored = restore(&plan(&house, "new/state"), &BackupWatch::default()).unwrap();
    let state = house.path("new/state");
    let expected = [
        "accept-rollback",
        "chat_history",
        "components/greet.wasm",
        "journal.db",
        "lock",
        "restored-config/palyra.toml",
        "restored-config/policies/own.cedar",
        "skills/a/SKILL.md",
        "vault/forge",
        "workspaces/P/S/notes.txt",
    ];
    assert_eq!(names(&state), expected);
    assert_eq!(fs::read_to_string(state.join("accept-rollback")).unwrap(), "restored\n");
    let notes = fs::metadata(state.join("workspaces/P/S/notes.txt")).unwrap();
    assert_eq!(notes.permissions().mode() & 0o777, 0o700, "of its owner alone, and still a program");

    // What the daemon does with the order.
    let before = restored.manifest.entries;
    let options = OpenOptions {
        reopen: Some(ReopenReason::Restored),
        ..OpenOptions::new(state.clone(), Arc::new(FakeClock::new()), Arc::new(FixedEntropy::new(7)))
    };
    let journal = JournalStore::open(&options).unwrap();
    assert_ne!(journal.log_id().to_string(), restored.manifest.log, "it is another log");
    assert!(journal.status().entries > before);
    let report = journal.verify(Arc::new(|_, _| ())).await.unwrap();
    assert_eq!(report.fault, None);
    write_runs(&journal, 1_000, 2).await;
    journal.close().await;
    drop(journal);
    let report = palyra_verify::verify_database(
        &state.join("journal.db"),
        &mut palyra_verify::VerifyOptions::default(),
    );
    assert_eq!(report.exit_code(), 0, "{}", palyra_verify::text_report(&report));
    assert_eq!(report.reopened.len(), 1);
}

#[tokio::test]
async fn a_target_that_is_in_use_is_refused() {
    let house = backed_up().await;
    let refusal = |plan: &RestorePlan| restore(plan, &BackupWatch::default()).unwrap_err();
    let full = refusal(&plan(&house, "state"));
    assert_eq!(full.code(), ErrorCode::BackupTargetRefused, "{full}");
    fs::create_dir(house.path("real")).unwrap();
    std::os::unix::fs::symlink(house.path("real"), house.path("link")).unwrap();
    let link = refusal(&plan(&house, "link"));
    assert!(link.to_string().contains("it is a link"), "{link}");
    assert_eq!(names(&house.path("real")), [""; 0]);
    fs::create_dir(house.path("taken")).unwrap();
    let lock = palyra_backup::StateLock::take(&house.path("taken")).unwrap();
    let taken = refusal(&plan(&house, "taken"));
    assert_eq!(taken.code(), ErrorCode::BackupTargetRefused, "{taken}");
    assert!(taken.to_string().contains("name an empty or a new folder"), "{taken}");
    drop(lock);
    restore(&plan(&house, "taken"), &BackupWatch::default()).unwrap();
    let again = refusal(&plan(&house, "taken"));
    assert!(again.to_string().contains("not empty"), "{again}");
}

#[tokio::test]
async fn a_target_of_a_backup_is_new_and_outside_of_the_state() {
    let house = backed_up().await;
    let refused = |target: &str| house.back_up(target).unwrap_err();
    assert!(refused("copy").to_string().contains("exists already"));
    assert!(refused("state/copy").to_string().contains("in the state directory"));
    assert!(refused("absent/copy").to_string().contains("there is no folder"));
    fs::create_dir(house.path(".third.unfinished")).unwrap();
    assert!(refused("third").to_string().contains("not finished"));
    assert!(house.path(".third.unfinished").exists(), "it belongs to another command");
    std::os::unix::fs::symlink(house.path("elsewhere"), house.path("dangling")).unwrap();
    assert!(refused("dangling").to_string().contains("exists already"));
    let error = create(&house.plan("fourth", CopyPace::Alone), &BackupWatch::default()).map(|_| ());
    assert!(error.is_ok(), "the control: {error:?}");
}

#[test]
fn a_folder_without_a_journal_is_not_backed_up() {
    let house = House::new();
    assert!(matches!(house.back_up("copy"), Err(BackupError::NoJournal { .. })));
    assert!(!house.path("copy").exists());
}
