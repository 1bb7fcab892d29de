//! Manifests of others: names, numbers and bytes that a backup cannot have.

use proptest::prelude::*;

use super::*;

fn file(name: &str) -> BackedUpFile {
    BackedUpFile { name: name.to_owned(), bytes: 1, mode: 0o600, sha256: "ab".repeat(32) }
}

fn manifest(files: &[&str]) -> BackupManifest {
    let mut manifest = BackupManifest::new(1_700_000_000_000_000, "1.2.3");
    manifest.files = files.iter().map(|name| file(name)).collect();
    manifest
}

/// Writes a manifest without the checks of its writer, as another could.
fn forged(manifest: &BackupManifest) -> Vec<u8> {
    serde_json::to_vec(manifest).unwrap()
}

#[test]
fn what_is_written_is_read_again() {
    let mut written = manifest(&["journal.db", "state/vault/forge", "config/palyra.toml"]);
    written.checkpoint = Some("a note\n".to_owned());
    assert_eq!(BackupManifest::parse(&written.to_bytes().unwrap()).unwrap(), written);
    assert_eq!(written.created, "2023-11-14T22:13:20Z");
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    for name in [
        "../escape",
        "state/../../escape",
        "state/vault/..",
        "/etc/passwd",
        "state//vault",
        "state/./vault",
        "state/vault/",
        "",
        ".",
        "state",
        "config",
        "state/lock",
        "state/accept-rollback",
        "state/journal.db",
        "state/palyrad.sock",
        "elsewhere/file",
        "manifest.json",
        "state/vault/a\0b",
        "journal.db/x",
    ] {
        let refused = BackupManifest::parse(&forged(&manifest(&["journal.db", name])));
        assert!(matches!(refused, Err(InvalidManifest::File { .. })), "{name:?}: {refused:?}");
    }
    let deep = format!("state/workspaces/{}x", "d/".repeat(70));
    assert!(BackupManifest::parse(&forged(&manifest(&["journal.db", &deep]))).is_err());
}

#[test]
fn numbers_and_digests_that_cannot_be_are_refused() {
    let parse = |change: &dyn Fn(&mut BackupManifest)| {
        let mut changed = manifest(&["journal.db", "state/vault/a"]);
        change(&mut changed);
        BackupManifest::parse(&forged(&changed))
    };
    assert!(parse(&|_| ()).is_ok(), "the control");
    assert!(matches!(parse(&|m| m.files[0].bytes = u64::MAX), Err(InvalidManifest::TooMuch(_))));
    assert!(parse(&|m| m.files[1].mode = 0o4755).is_err(), "no set-user-id bit");
    assert!(parse(&|m| m.files[1].sha256 = "AB".repeat(32)).is_err());
    assert!(parse(&|m| m.files[1].name = "journal.db".to_owned()).is_err(), "named twice");
    assert!(matches!(parse(&|m| drop(m.files.remove(0))), Err(InvalidManifest::NoJournal)));
    assert!(matches!(parse(&|m| m.format = 2), Err(InvalidManifest::OtherFormat(2))));
    assert!(matches!(parse(&|m| m.kind = "tar".to_owned()), Err(InvalidManifest::OtherKind)));
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..512)) {
        let _ = BackupManifest::parse(&bytes);
    }

    #[test]
    fn an_accepted_name_stays_below_the_folder(name in "[a-z./\\\\ \u{0}]{0,24}|(state|config)/[a-z./]{0,16}") {
        if check_name(&name).is_ok() {
            let path = std::path::Path::new(&name);
            prop_assert!(path.components().all(|part| matches!(part, std::path::Component::Normal(_))));
            prop_assert!(path.is_relative());
        }
    }

    #[test]
    fn a_changed_byte_is_read_as_what_it_says_or_refused(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = manifest(&["journal.db", "state/vault/a", "config/palyra.toml"]).to_bytes().unwrap();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(read) = BackupManifest::parse(&bytes) {
            prop_assert!(read.files.iter().all(|file| check_name(&file.name).is_ok()));
        }
    }
}
