//! What a vault keeps, gives out, and refuses; over real files.

use std::collections::BTreeSet;
use std::sync::Arc;

use palyra_ports::{
    NewSecret, PassphraseCheck, RootKind, SecretChange, SecretName, SecretReader, SecretStore,
    SecretStoreError, SentAs,
};
use palyra_testkit::{ChangeSecrets, FixedEntropy};
use palyra_types::{Content, PrincipalId, Seq, Timestamp};
use tempfile::TempDir;

use super::Vault;

const VALUE: &str = "sk-canary-7f3a91-value";

fn vault(folder: &TempDir) -> Vault {
    Vault::open(&folder.path().join("vault"), Arc::new(FixedEntropy::new(7)))
}

fn name(text: &str) -> SecretName {
    text.parse().expect("a name")
}

fn hosts(of: &[&str]) -> BTreeSet<String> {
    of.iter().map(|&host| host.to_owned()).collect()
}

fn secret(called: &str, value: &str, for_hosts: Option<&[&str]>) -> NewSecret {
    let (hosts, now) = (for_hosts.map(hosts), Timestamp(1_000));
    let value = Content::new(value.to_owned());
    NewSecret { name: name(called), value, hosts, sent_as: None, now }
}

fn is_open(kept: &Vault) -> bool {
    kept.status().expect("a status").locked.is_none()
}

#[test]
fn a_principal_is_sealed_with_a_secret_and_cannot_be_added_on_the_disk() {
    let folder = tempfile::tempdir().expect("a folder");
    let kept = vault(&folder);
    let secret = NewSecret {
        name: name("forge"),
        value: VALUE.into(),
        hosts: Some(hosts(&["a.example"])),
        sent_as: None,
        now: Timestamp(7),
    };
    kept.put(secret).expect("kept");
    let file = folder.path().join("vault/forge.sealed.json");
    let text = || std::fs::read_to_string(&file).expect("read");
    assert!(!text().contains("principals"), "a file without them is as it was before there were any");
    let bob = PrincipalId::from_parts(7, 7);
    let opened = |kept: &Vault| kept.open(&name("forge"), "a.example", SecretReader::Principal(bob));
    assert!(matches!(opened(&kept), Err(SecretStoreError::NotFound { .. })));
    let unshared = text();
    kept.share(&name("forge"), [bob].into()).expect("shared");
    assert_eq!(opened(&vault(&folder)).expect("given out").value.expose(), VALUE);
    let added = unshared.replacen('{', &format!("{{\"principals\":[\"{bob}\"],"), 1);
    std::fs::write(&file, added).expect("edited");
    assert!(matches!(opened(&vault(&folder)), Err(SecretStoreError::Damaged { .. })));
    std::fs::write(&file, unshared).expect("put back");
    assert!(matches!(opened(&vault(&folder)), Err(SecretStoreError::NotFound { .. })));
}

#[test]
fn a_secret_comes_back_for_its_host_and_for_no_other() {
    let folder = TempDir::new().expect("a folder");
    let kept = vault(&folder);
    let record = kept.put(secret("github", VALUE, Some(&["api.github.com"]))).expect("it is kept");
    assert_eq!((record.version, record.hosts.len()), (1, 1));
    // Another start reads the same files.
    let kept = vault(&folder);
    assert_eq!(
        kept.open(&name("github"), "api.github.com", SecretReader::Owner).expect("the value").value.expose(),
        VALUE
    );
    let refused = kept.open(&name("github"), "evil.example", SecretReader::Owner);
    assert!(matches!(refused, Err(SecretStoreError::NotBound { .. })));
    assert!(matches!(
        kept.open(&name("other"), "api.github.com", SecretReader::Owner),
        Err(SecretStoreError::NotFound { .. })
    ));
}

#[test]
fn nothing_on_disk_holds_a_value_in_any_spelling() {
    let folder = TempDir::new().expect("a folder");
    let kept = vault(&folder);
    kept.put(secret("github", VALUE, Some(&["api.github.com"]))).expect("it is kept");
    kept.set_passphrase("correct horse battery").expect("a passphrase");
    let hex: String = VALUE.bytes().map(|byte| format!("{byte:02x}")).collect();
    let base64 = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, VALUE);
    let mut files = 0;
    for file in std::fs::read_dir(folder.path().join("vault")).expect("the folder") {
        let text = std::fs::read_to_string(file.expect("a file").path()).expect("text");
        files += 1;
        for spelling in [VALUE, hex.as_str(), base64.as_str(), "correct horse"] {
            assert!(!text.contains(spelling), "{text}");
        }
    }
    assert_eq!(files, 2, "the secret and what tells a passphrase");
}

#[test]
fn files_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let folder = TempDir::new().expect("a folder");
    vault(&folder).put(secret("github", VALUE, None)).expect("it is kept");
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!(mode(&folder.path().join("vault")), 0o700);
    for file in std::fs::read_dir(folder.path().join("vault")).expect("the folder") {
        assert_eq!(mode(&file.expect("a file").path()), 0o600);
    }
}

#[test]
fn what_was_changed_on_disk_does_not_open() {
    let folder = TempDir::new().expect("a folder");
    let kept = vault(&folder);
    kept.put(secret("one", VALUE, Some(&["a.example"]))).expect("it is kept");
    kept.put(secret("two", "another-value-here", Some(&["b.example"]))).expect("it is kept");
    let at = |called: &str| folder.path().join("vault").join(format!("{called}.sealed.json"));
    let clean = std::fs::read_to_string(at("one")).expect("the file");
    let changes = [
        ("another host", clean.replace("a.example", "evil.example")),
        ("another version", clean.replace("\"version\": 1", "\"version\": 2")),
        ("another way to be sent", clean.replace("\"bearer\"", "\"basic\"")),
        ("another time", clean.replace("1000", "1001")),
        ("another secret", std::fs::read_to_string(at("two")).expect("the file")),
        ("another name", std::fs::read_to_string(at("two")).expect("the file").replace("\"two\"", "\"one\"")),
        ("half of it", clean[..clean.len() / 2].to_owned()),
        ("nothing", String::new()),
    ];
    for (what, changed) in changes {
        std::fs::write(at("one"), changed).expect("a change");
        for host in ["a.example", "evil.example", "b.example"] {
            let opened = kept.open(&name("one"), host, SecretReader::Owner);
            assert!(matches!(opened, Err(SecretStoreError::Damaged { .. })), "{what}: {opened:?}");
        }
    }
    assert!(kept.open(&name("two"), "b.example", SecretReader::Owner).is_ok());
    let status = kept.status().expect("a status");
    assert_eq!((status.secrets, status.damaged), (2, vec![name("one")]));
    assert_eq!(kept.list().expect("the rest").len(), 1, "what is whole is shown");
    assert_eq!(kept.values().expect("the rest").values.len(), 1);
    kept.put(secret("one", VALUE, None)).expect("it is put anew");
    assert!(kept.status().expect("a status").damaged.is_empty());
}

#[test]
fn beside_what_was_sealed_no_other_key_is_made() {
    let folder = TempDir::new().expect("a folder");
    vault(&folder).put(secret("one", VALUE, Some(&["a.example"]))).expect("it is kept");
    let key = folder.path().join("vault/root.key");
    std::fs::rename(&key, folder.path().join("kept")).expect("moved");
    let locked = vault(&folder);
    let status = locked.status().expect("a status");
    assert_eq!((status.key, status.secrets), (RootKind::KeyFile, 1));
    assert!(status.locked.is_some_and(|why| why.contains("root.key")));
    assert!(matches!(
        locked.open(&name("one"), "a.example", SecretReader::Owner),
        Err(SecretStoreError::Locked { .. })
    ));
    assert!(matches!(locked.put(secret("two", VALUE, None)), Err(SecretStoreError::Locked { .. })));
    std::fs::write(&key, b"short").expect("a short key");
    assert!(vault(&folder).status().expect("a status").locked.is_some());
    std::fs::rename(folder.path().join("kept"), &key).expect("moved back");
    assert!(vault(&folder).open(&name("one"), "a.example", SecretReader::Owner).is_ok());
}

#[test]
fn how_a_secret_is_sent_is_kept_with_it() {
    let folder = TempDir::new().expect("a folder");
    let kept = vault(&folder);
    let way = |text: &str| Some(text.parse::<SentAs>().expect("a way"));
    let put = |value: &str, sent_as| kept.put(NewSecret { sent_as, ..secret("one", value, None) });
    assert_eq!(put(VALUE, None).expect("it is kept").sent_as, SentAs::Bearer);
    assert_eq!(put(VALUE, way("X-Api-Key")).expect("it is kept").sent_as.to_string(), "x-api-key");
    assert_eq!(put(VALUE, None).expect("it is kept").sent_as.to_string(), "x-api-key", "it stays");
    for (value, sent_as) in
        [("no pair at all", "basic"), ("somebody:short", "basic"), ("häh-häh-häh-häh", "bearer")]
    {
        let refused = put(value, way(sent_as));
        assert!(matches!(refused, Err(SecretStoreError::Unsuitable { .. })), "{value}");
    }
    assert_eq!(put("somebody:häh-häh-häh-häh", way("basic")).expect("it is kept").version, 4);
}

#[test]
fn a_value_is_rotated_bound_and_removed() {
    let folder = TempDir::new().expect("a folder");
    let kept = vault(&folder);
    kept.put(secret("github", VALUE, Some(&["a.example"]))).expect("it is kept");
    let record = kept.put(secret("github", "another-value-here", None)).expect("it is kept");
    assert_eq!((record.version, record.hosts), (2, hosts(&["a.example"])));
    kept.bind(&name("github"), hosts(&["b.example"])).expect("it is bound");
    assert!(kept.open(&name("github"), "a.example", SecretReader::Owner).is_err());
    assert_eq!(
        kept.open(&name("github"), "b.example", SecretReader::Owner).expect("the value").value.expose(),
        "another-value-here"
    );
    kept.remove(&name("github")).expect("it is removed");
    assert!(kept.list().expect("the list").is_empty());
}

#[test]
fn a_passphrase_locks_the_vault_until_it_is_given() {
    let folder = TempDir::new().expect("a folder");
    let kept = vault(&folder);
    assert_eq!(kept.status().expect("a status").key, RootKind::KeyFile);
    kept.put(secret("github", VALUE, Some(&["a.example"]))).expect("it is kept");
    kept.set_passphrase("correct horse battery").expect("a passphrase");
    assert!(is_open(&kept));

    let kept = vault(&folder);
    let status = kept.status().expect("a status");
    assert_eq!((status.key, status.locked.is_some(), status.secrets), (RootKind::Passphrase, true, 1));
    assert!(matches!(
        kept.open(&name("github"), "a.example", SecretReader::Owner),
        Err(SecretStoreError::Locked { .. })
    ));
    assert_eq!(kept.list().expect("names are no secret").len(), 1);
    assert_eq!(kept.try_passphrase(&"wrong horse".into()).expect("an answer"), PassphraseCheck::Wrong);
    assert!(!is_open(&kept));
    assert!(matches!(kept.unlock(), Err(SecretStoreError::Locked { .. })), "a wrong one opens nothing");
    assert_eq!(
        kept.try_passphrase(&"correct horse battery".into()).expect("an answer"),
        PassphraseCheck::Opened
    );
    assert!(!is_open(&kept), "it is right, and that is all");
    kept.unlock().expect("it opens");
    assert_eq!(
        kept.open(&name("github"), "a.example", SecretReader::Owner).expect("the value").value.expose(),
        VALUE
    );
    assert_eq!(kept.values().expect("all").values.len(), 1);
}

#[test]
fn unsuitable_values_hosts_and_names_are_refused() {
    let folder = TempDir::new().expect("a folder");
    let kept = vault(&folder);
    for value in ["elevenchars", "two\nlines of it", "tab\there it is", &"x".repeat(70_000)] {
        assert!(
            matches!(kept.put(secret("a", value, None)), Err(SecretStoreError::Unsuitable { .. })),
            "{value:.20}"
        );
    }
    for host in ["Upper.example", "a b", "", "a/b", "a\n.example"] {
        assert!(kept.put(secret("a", VALUE, Some(&[host]))).is_err(), "{host:?}");
    }
    for called in ["", "Upper", "../x", "a/b", "1a", "a b", &"a".repeat(65)] {
        assert!(called.parse::<SecretName>().is_err(), "{called:?}");
    }
}

#[test]
fn a_link_in_the_place_of_a_file_is_not_followed() {
    let folder = TempDir::new().expect("a folder");
    let kept = vault(&folder);
    kept.put(secret("one", VALUE, Some(&["a.example"]))).expect("it is kept");
    let file = folder.path().join("vault/one.sealed.json");
    std::fs::rename(&file, folder.path().join("moved")).expect("moved");
    std::os::unix::fs::symlink(folder.path().join("moved"), &file).expect("a link");
    assert!(matches!(
        kept.open(&name("one"), "a.example", SecretReader::Owner),
        Err(SecretStoreError::Disk { .. })
    ));
}

#[test]
fn whom_a_secret_is_for_counts_only_as_it_was_sealed() {
    let folder = TempDir::new().unwrap();
    let kept = vault(&folder);
    kept.put(secret("forge", "canary-4711-canary", Some(&["forge.example"]))).unwrap();
    kept.put(secret("other", "another-4711-value", Some(&["other.example"]))).unwrap();
    let file = std::fs::read_dir(folder.path().join("vault")).unwrap().map(|entry| entry.unwrap().path());
    let file = file.into_iter().find(|path| path.to_string_lossy().contains("forge")).unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("forge.example", "evil.example")).unwrap();
    let listed: Vec<_> = kept.list().unwrap().into_iter().map(|record| record.name).collect();
    assert_eq!(listed, [name("other")], "it is not what was sealed");
    let anew = kept.put(secret("forge", "canary-4712-canary", None)).unwrap();
    assert!(anew.hosts.is_empty(), "{:?}", anew.hosts);
}

#[test]
fn what_cannot_be_read_hides_nothing_else() {
    let folder = TempDir::new().unwrap();
    let kept = vault(&folder);
    kept.put(secret("forge", "canary-4711-canary", None)).unwrap();
    let file = std::fs::read_dir(folder.path().join("vault")).unwrap().map(|entry| entry.unwrap().path());
    let file = file.into_iter().find(|path| path.to_string_lossy().contains("forge")).unwrap();
    let linked = file.to_string_lossy().replace("forge", "linked");
    std::os::unix::fs::symlink("/nowhere", linked).unwrap();
    assert_eq!(kept.list().unwrap().len(), 1);
    kept.put(secret("other", "another-4711-value", None)).unwrap();
    assert_eq!(kept.list().unwrap().len(), 2);
}

#[test]
fn the_key_before_is_gone_after_a_kill_too() {
    let folder = TempDir::new().unwrap();
    let place = folder.path().join("vault");
    let open = || Vault::open(&place, Arc::new(FixedEntropy::new(1)));
    open().put(secret("forge", "canary-4711-canary", None)).unwrap();
    // As a kill leaves it between the exchange and the removal.
    let next = folder.path().join("vault.next");
    std::fs::create_dir(&next).unwrap();
    std::fs::write(next.join("root.key"), "the key before").unwrap();
    let kept = open();
    assert!(!next.exists());
    assert_eq!(kept.list().unwrap().len(), 1);
}

/// Every change, and what it is made of.
fn changes() -> Vec<SecretChange> {
    vec![
        SecretChange::Put(secret("forge", "another-4711-value", Some(&["b.example"]))),
        SecretChange::Put(secret("other", "another-4711-value", None)),
        SecretChange::Bind { name: name("forge"), hosts: hosts(&["b.example"]) },
        SecretChange::Remove(name("forge")),
        SecretChange::Passphrase("correct horse battery".into()),
    ]
}

fn seen(kept: &Vault) -> String {
    format!("{:?} {:?}", kept.list().unwrap(), kept.status().unwrap().key)
}

#[test]
fn what_is_ready_changes_nothing_and_is_carried_out_by_the_next_start() {
    for change in changes() {
        let folder = TempDir::new().unwrap();
        vault(&folder).put(secret("forge", "canary-4711-canary", Some(&["a.example"]))).unwrap();
        let told = format!("{change:?}");
        let before = seen(&vault(&folder));
        vault(&folder).stage(change.clone(), Seq(7)).unwrap();
        // As a kill leaves it; twice, for a start can be killed as well.
        for kept in [vault(&folder), vault(&folder)] {
            assert_eq!((seen(&kept), kept.staged().unwrap()), (before.clone(), Some(Seq(7))), "{told}");
        }
        let kept = vault(&folder);
        kept.commit().unwrap();
        let after = seen(&kept);
        assert!(after != before && kept.staged().unwrap().is_none(), "{told}: {after}");
        kept.commit().unwrap();
        assert_eq!((seen(&kept), seen(&vault(&folder))), (after.clone(), after), "{told}");
        assert!(!folder.path().join("vault.next").exists(), "{told}");
    }
}

#[test]
fn what_is_given_up_leaves_nothing() {
    for change in changes() {
        let folder = TempDir::new().unwrap();
        vault(&folder).put(secret("forge", "canary-4711-canary", Some(&["a.example"]))).unwrap();
        let before = seen(&vault(&folder));
        vault(&folder).stage(change, Seq(7)).unwrap();
        let kept = vault(&folder);
        kept.discard().unwrap();
        kept.commit().unwrap();
        assert_eq!((seen(&kept), kept.staged().unwrap()), (before, None));
        assert!(!folder.path().join("vault.next").exists());
        assert_eq!(
            kept.open(&name("forge"), "a.example", SecretReader::Owner).unwrap().value.expose(),
            "canary-4711-canary"
        );
    }
}

#[test]
fn what_is_removed_is_made_ready_only_where_it_is() {
    let folder = TempDir::new().unwrap();
    let kept = vault(&folder);
    assert!(matches!(kept.remove(&name("forge")), Err(SecretStoreError::NotFound { .. })));
    assert!(matches!(kept.bind(&name("forge"), hosts(&[])), Err(SecretStoreError::NotFound { .. })));
    assert!(kept.find(&name("forge")).unwrap().is_none());
    assert!(!folder.path().join("vault").exists(), "nothing is made for nothing");
}

/// Values are read while a passphrase is made into a key, which takes as long as somebody may make it.
#[test]
fn values_are_read_while_a_passphrase_is_set() {
    let folder = TempDir::new().unwrap();
    let kept = vault(&folder);
    kept.put(secret("forge", "canary-4711-canary", Some(&["a.example"]))).unwrap();
    let changing = kept.ready();
    assert!(kept.open(&name("forge"), "a.example", SecretReader::Owner).is_ok());
    assert_eq!(kept.list().unwrap().len(), 1);
    drop(changing);
}

/// Where a child of the next test works.
const FAILING: &str = "PALYRA_TEST_FAILING_DISK";

/// Under strace, which fails every fsync of the state directory: what is not on the disk is neither acknowledged, nor is
/// anything removed that it would be needed for.
#[test]
fn names_are_on_the_disk_before_anything_is_said_or_removed() {
    if let Some(state) = std::env::var_os(FAILING) {
        return on_a_failing_disk(state.as_ref());
    }
    let folder = TempDir::new().unwrap();
    let state = folder.path().join("state");
    std::fs::create_dir(&state).unwrap();
    let own = std::env::current_exe().unwrap();
    let own_name = "names_are_on_the_disk_before_anything_is_said_or_removed";
    let traced = std::process::Command::new("strace")
        .args(["-f", "-qq", "-o"])
        .arg(folder.path().join("strace.log"))
        .args(["-e", "trace=fsync", "-e", "inject=fsync:error=EIO", "-P"])
        .arg(&state)
        .arg(own)
        .args(["--exact", &format!("vault::tests::{own_name}"), "--nocapture"])
        .env(FAILING, &state)
        .output()
        .expect("strace, which this test needs");
    assert!(traced.status.success(), "{traced:?}");
    assert!(String::from_utf8_lossy(&traced.stdout).contains("1 passed"), "{traced:?}");
    let log = std::fs::read_to_string(folder.path().join("strace.log")).unwrap();
    assert!(log.matches("(INJECTED)").count() >= 4, "{log}");
    // The control: the same steps on a disk that works.
    std::fs::remove_dir_all(&state).unwrap();
    std::fs::create_dir(&state).unwrap();
    let kept = Vault::open(&state.join("vault"), Arc::new(FixedEntropy::new(7)));
    kept.put(secret("github", VALUE, None)).unwrap();
    std::fs::create_dir(state.join("vault.next")).unwrap();
    kept.discard().unwrap();
    assert!(!state.join("vault.next").exists());
}

fn on_a_failing_disk(state: &std::path::Path) {
    let (place, next) = (state.join("vault"), state.join("vault.next"));
    let open = || Vault::open(&place, Arc::new(FixedEntropy::new(7)));
    for _ in 0..2 {
        let made = open().put(secret("github", VALUE, None));
        assert!(matches!(made, Err(SecretStoreError::Disk { .. })), "{made:?}");
    }
    // As a change of the passphrase leaves it: what the key before sealed.
    std::fs::create_dir(&next).unwrap();
    std::fs::write(next.join("github.sealed.json"), "sealed before").unwrap();
    let kept = open();
    assert!(!is_open(&kept), "nobody knows what a power cut brings back");
    assert!(matches!(kept.discard(), Err(SecretStoreError::Disk { .. })));
    assert!(next.join("github.sealed.json").exists());
}
