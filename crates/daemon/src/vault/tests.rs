//! What is filled, for whom, and what the journal says of it.

use std::sync::Arc;

use palyra_ports::{
    BoundCredential, CredentialHandle, CredentialUser, FillCredential, MaintainJournal, NewSecret, Recorder,
    SecretNames, SecretReader, SecretStore, SecretStoreError,
};
use palyra_redaction::SecretScanner;
use palyra_testkit::{ChangeSecrets, MemoryJournal, MemorySecrets};
use palyra_types::event::JournalEvent;
use palyra_types::vault::{SecretUsed, VaultEvent};
use palyra_types::{EffectId, ErrorCode, PrincipalId, RunId, Seq, Timestamp};

use super::{OpenVault, VaultCredentials};
use crate::system::SystemClock;

const CANARY: &str = "forge-token-canary-0417";

fn secret(name: &str, value: &str, sent_as: &str, host: &str) -> NewSecret {
    NewSecret {
        name: name.parse().unwrap(),
        value: value.into(),
        hosts: Some([host.to_owned()].into()),
        sent_as: Some(sent_as.parse().unwrap()),
        now: Timestamp(7),
    }
}

fn wanted(handle: &str, host: &str, port: u16) -> BoundCredential {
    let user = CredentialUser {
        principal: PrincipalId::from_parts(1, 2),
        run: RunId::from_parts(3, 4),
        effect: EffectId(5),
    };
    let handle = CredentialHandle(handle.to_owned());
    BoundCredential { host: host.to_owned(), port, handle, used_by: Some(user) }
}

fn recorder(journal: &MemoryJournal) -> Recorder {
    let scanner = Arc::new(SecretScanner::new());
    Recorder::new(Arc::new(journal.clone()), scanner, Arc::new(SystemClock))
}

fn filling(secrets: &Arc<MemorySecrets>) -> VaultCredentials {
    let credentials = VaultCredentials::new(
        Arc::clone(secrets) as _,
        Arc::new(SystemClock),
        Arc::new(SecretScanner::new()),
    );
    credentials.belong_to(PrincipalId::from_parts(1, 2));
    credentials
}

fn wanted_by(principal: PrincipalId, handle: &str) -> BoundCredential {
    let asked = wanted(handle, "a.example", 443);
    BoundCredential { used_by: asked.used_by.map(|user| CredentialUser { principal, ..user }), ..asked }
}

/// What is the owner's is to another principal like a name that there is not, also where the vault is locked.
#[tokio::test]
async fn a_secret_is_the_owners_until_it_is_bound_to_another_principal() {
    let secrets = Arc::new(MemorySecrets::default());
    secrets.put(secret("forge", CANARY, "bearer", "a.example")).unwrap();
    let credentials = filling(&secrets);
    credentials.record_in(recorder(&MemoryJournal::new()));
    let (bob, eve) = (PrincipalId::from_parts(7, 7), PrincipalId::from_parts(8, 8));
    let refused = async |principal, handle| {
        let error = credentials.fill(wanted_by(principal, handle)).await.unwrap_err();
        (error.code, error.to_string().replace(handle, "NAME"))
    };
    let missing = refused(bob, "gorge").await;
    assert_eq!(missing.0, ErrorCode::SecretNotFound);
    assert_eq!(refused(bob, "forge").await, missing);
    let owner = PrincipalId::from_parts(1, 2);
    let misspelt = refused(owner, "gorge").await;
    assert!(misspelt.1.ends_with("no secret `NAME`, only one with a similar name, `forge`"), "{misspelt:?}");
    assert!(refused(owner, "other").await.1.ends_with("no secret `NAME`"), "the control");
    assert!(credentials.is_missing("forge", wanted_by(bob, "forge").used_by));
    assert!(!credentials.is_missing("forge", wanted("forge", "a.example", 443).used_by), "the control");
    assert!(credentials.fill(BoundCredential { used_by: None, ..wanted_by(bob, "forge") }).await.is_err());
    secrets.share(&"forge".parse().unwrap(), [bob].into()).unwrap();
    credentials.fill(wanted_by(bob, "forge")).await.unwrap();
    assert!(!credentials.is_missing("forge", wanted_by(bob, "forge").used_by));
    assert_eq!(refused(eve, "forge").await, missing);
    secrets.put(secret("forge", "another-value-0417", "bearer", "a.example")).unwrap();
    credentials.fill(wanted_by(bob, "forge")).await.expect("another value keeps whom it is for");
    secrets.set_passphrase("correct horse battery").unwrap();
    secrets.lock();
    assert_eq!(refused(eve, "forge").await, missing);
    assert_eq!(refused(bob, "forge").await.0, ErrorCode::VaultLocked);
}

/// What no answer of a person would let out is known before the question, by those who may use the secret.
#[test]
fn a_server_that_a_secret_is_not_bound_to_is_refused_before_a_question() {
    let secrets = Arc::new(MemorySecrets::default());
    secrets.put(secret("forge", CANARY, "bearer", "a.example")).unwrap();
    let credentials = filling(&secrets);
    for (host, port) in [("evil.example", 443), ("a.example", 8443)] {
        let refused = credentials.certain_refusal(&wanted("forge", host, port)).unwrap();
        assert_eq!(refused.code, ErrorCode::SecretNotBound, "{host}:{port}");
        assert!(refused.why.contains(host), "{}", refused.why);
    }
    let elsewhere =
        |principal| BoundCredential { host: "evil.example".to_owned(), ..wanted_by(principal, "forge") };
    let bob = PrincipalId::from_parts(7, 7);
    assert_eq!(credentials.certain_refusal(&elsewhere(bob)), None, "it is not there for another principal");
    secrets.share(&"forge".parse().unwrap(), [bob].into()).unwrap();
    assert!(credentials.certain_refusal(&elsewhere(bob)).is_some());
    // The controls: its own server, and a name that there is not.
    assert_eq!(credentials.certain_refusal(&wanted("forge", "a.example", 443)), None);
    assert_eq!(credentials.certain_refusal(&wanted("other", "a.example", 443)), None);
}

async fn uses(journal: &MemoryJournal) -> Vec<SecretUsed> {
    let entries = journal.entries(Seq(0), 100).await.unwrap();
    let used =
        |event| if let JournalEvent::Vault(VaultEvent::Used(used)) = event { Some(used) } else { None };
    entries.into_iter().filter_map(|entry| used(entry.event)).collect()
}

#[tokio::test]
async fn a_credential_goes_to_its_host_and_each_use_is_recorded() {
    let secrets = Arc::new(MemorySecrets::default());
    secrets.put(secret("forge", CANARY, "bearer", "a.example")).unwrap();
    secrets.put(secret("mail", "me:mail-password-77", "basic", "b.example:8443")).unwrap();
    secrets.put(secret("maps", CANARY, "X-Api-Key", "c.example")).unwrap();
    let credentials = filling(&secrets);
    let early = credentials.fill(wanted("forge", "a.example", 443)).await.unwrap_err();
    assert_eq!(early.code, ErrorCode::VaultLocked, "nothing is given out that cannot be recorded");
    let journal = MemoryJournal::new();
    credentials.record_in(recorder(&journal));

    let filled = async |handle, host, port| {
        let header = credentials.fill(wanted(handle, host, port)).await.unwrap();
        (header.name, header.value.into_exposed())
    };
    let authorization = |value: &str| ("authorization".to_owned(), value.to_owned());
    let bearer = authorization("Bearer forge-token-canary-0417");
    assert_eq!(filled("forge", "a.example", 443).await, bearer);
    assert_eq!(filled("forge Basic", "a.example", 443).await, bearer, "the owner says how it is sent");
    let basic = authorization("Basic bWU6bWFpbC1wYXNzd29yZC03Nw==");
    assert_eq!(filled("mail", "b.example", 8443).await, basic);
    assert_eq!(filled("maps", "c.example", 443).await, ("x-api-key".to_owned(), CANARY.to_owned()));

    for (handle, host, port, code) in [
        ("forge", "evil.example", 443, ErrorCode::SecretNotBound),
        ("forge", "a.example", 8443, ErrorCode::SecretNotBound),
        ("mail", "b.example", 443, ErrorCode::SecretNotBound),
        ("other", "a.example", 443, ErrorCode::SecretNotFound),
        ("FORGE", "a.example", 443, ErrorCode::SecretNotFound),
        ("", "a.example", 443, ErrorCode::SecretNotFound),
    ] {
        let refused = credentials.fill(wanted(handle, host, port)).await.unwrap_err();
        assert_eq!(refused.code, code, "{handle} {host}:{port}");
        assert!(!refused.to_string().contains(CANARY));
    }
    secrets.set_passphrase("correct horse battery").unwrap();
    secrets.lock();
    let locked = credentials.fill(wanted("forge", "a.example", 443)).await.unwrap_err();
    assert_eq!(locked.code, ErrorCode::VaultLocked);

    let uses = uses(&journal).await;
    assert_eq!(uses.len(), 11);
    let given = uses.iter().filter(|used| used.refused.is_none()).count();
    assert_eq!(given, 4);
    assert!(uses.iter().all(|used| used.on_behalf == Some((RunId::from_parts(3, 4), EffectId(5)))));
    let first = (uses[0].secret.expose().as_str(), uses[0].host.expose().as_str());
    assert_eq!(first, ("forge", "a.example"));
    assert_eq!(uses[10].refused, Some(ErrorCode::VaultLocked));
}

#[tokio::test]
async fn what_a_run_names_is_recorded_without_the_secrets_in_it() {
    let secrets = Arc::new(MemorySecrets::default());
    secrets.put(secret("forge", CANARY, "bearer", "a.example")).unwrap();
    let credentials = filling(&secrets);
    let journal = MemoryJournal::new();
    credentials.record_in(recorder(&journal));
    let token = ["gh", "p_", &"a1B2c3D4e5F6".repeat(3)].concat();
    for handle in ["forge", token.as_str()] {
        credentials.fill(wanted(handle, &format!("{token}.example"), 443)).await.unwrap_err();
    }
    let uses = uses(&journal).await;
    let told: Vec<_> =
        uses.iter().map(|used| (used.secret.expose().as_str(), used.host.expose().as_str())).collect();
    assert_eq!(told, [("forge", "<secret:github-token>.example"), ("", "<secret:github-token>.example")]);
}

#[test]
fn a_vault_says_where_its_key_is() {
    let state = tempfile::tempdir().unwrap();
    let held = OpenVault::open(state.path());
    assert!(!state.path().join("vault").exists(), "a start makes nothing");
    assert!(held.check().found.starts_with("empty, encrypted with a key file"), "{}", held.check().found);
    held.put(secret("forge", CANARY, "bearer", "a.example")).unwrap();
    let check = held.check();
    assert!(check.found.starts_with("1 secret, encrypted with a key file"), "{}", check.found);
    std::fs::remove_file(state.path().join("vault/root.key")).unwrap();
    let locked = OpenVault::open(state.path()).check();
    assert!(locked.found.contains("locked") && locked.mend.contains("put the key file back"), "{locked:?}");
}

#[test]
fn what_stands_in_the_way_of_a_vault_is_told_and_stops_no_start() {
    let spoiled = |spoil: &dyn Fn(&std::path::Path)| {
        let state = tempfile::tempdir().unwrap();
        spoil(&state.path().join("vault"));
        let held = OpenVault::open(state.path());
        let refused = held.put(secret("forge", CANARY, "bearer", "a.example"));
        assert!(matches!(refused, Err(SecretStoreError::Locked { .. })), "{refused:?}");
        held.check()
    };
    let folder = |path: &std::path::Path| std::fs::create_dir(path).unwrap();
    for check in [
        spoiled(&|vault| std::fs::write(vault, "no folder").unwrap()),
        spoiled(&|vault| {
            folder(vault);
            folder(&vault.join("root.key"));
        }),
        spoiled(&|vault| {
            folder(vault);
            std::os::unix::fs::symlink("/nowhere", vault.join("root.key")).unwrap();
        }),
        spoiled(&|vault| {
            folder(vault);
            folder(&vault.join("passphrase.json"));
        }),
    ] {
        assert_ne!(check.level, palyra_admin::health::CheckLevel::Ok, "{check:?}");
    }
}

/// A value is looked for before it is given out, also when nobody could read it while the others were registered.
#[test]
fn a_value_that_could_not_be_read_at_first_is_registered_before_it_is_given_out() {
    let state = tempfile::tempdir().unwrap();
    let value = "late-canary-lantern-0417";
    OpenVault::open(state.path()).put(secret("late", value, "bearer", "a.example")).unwrap();
    let file = state.path().join("vault/late.sealed.json");
    let aside = state.path().join("aside");
    std::fs::rename(&file, &aside).unwrap();
    std::os::unix::fs::symlink(&aside, &file).unwrap();
    let held = OpenVault::open(state.path());
    let name = "late".parse().unwrap();
    assert!(held.open(&name, "a.example", SecretReader::Owner).is_err(), "no link is followed");
    std::fs::rename(&aside, &file).unwrap();
    crate::secrets::part_with(&name);
    assert_eq!(held.open(&name, "a.example", SecretReader::Owner).unwrap().value.expose(), value);
    assert!(crate::secrets::is_stored(&name));
}
