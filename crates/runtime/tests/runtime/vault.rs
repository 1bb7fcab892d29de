//! The vault's handle: for the owner at the socket alone, recorded before it is done, and never with a value.

use std::sync::Arc;

use palyra_admin::AdminError;
use palyra_admin::vault::{PutRequest, PutStanding};
use palyra_ports::{AppendError, AppendTape, JournalAppendRequest, MaintainJournal, NewEntry};
use palyra_ports::{NewSecret, SecretChange, SecretStore};
use palyra_runtime::Caller;
use palyra_testkit::{ChangeSecrets, MemoryJournal, MemorySecrets};
use palyra_types::access::ActorIdentity;
use palyra_types::event::JournalEvent;
use palyra_types::run::Surface;
use palyra_types::vault::{UnlockOutcome, VaultEvent};
use palyra_types::{ErrorCode, PrincipalId, Seq, Timestamp};

use crate::faults::Refusal;
use crate::rig::{Parts, Rig, soon};

const CANARY: &str = "walnut-harbour-lantern-0417";

fn submit(standing: PutStanding, value: &str) -> PutRequest {
    PutRequest {
        name: "forge".to_owned(),
        value: value.into(),
        hosts: Some(vec!["API.forge.example:443".to_owned()]),
        sent_as: None,
        standing,
    }
}

async fn recorded(rig: &Rig) -> Vec<VaultEvent> {
    let of_vault = |event| if let JournalEvent::Vault(event) = event { Some(event) } else { None };
    rig.memory_entries().await.into_iter().filter_map(|entry| of_vault(entry.event)).collect()
}

fn code<T>(answer: Result<T, AdminError>) -> Option<ErrorCode> {
    answer.err().map(|error| error.code())
}

#[tokio::test]
async fn nobody_but_the_owner_at_the_socket_gets_near_a_secret() {
    let rig = Rig::start().await;
    let vault = rig.gateway.admin.vault.clone();
    vault.put(rig.me(), submit(PutStanding::New, CANARY)).await.unwrap();
    let by_token = Caller { actor: ActorIdentity { surface: Surface::Tcp, ..rig.me().actor }, ..rig.me() };
    for caller in [rig.stranger(), by_token] {
        let denied = Some(ErrorCode::PermissionDenied);
        // An owner's token shows names and hosts, never a value.
        let read = if caller.is_owner() { None } else { denied };
        assert_eq!(code(vault.status(caller).await), read);
        assert_eq!(code(vault.list(caller).await), read);
        assert_eq!(code(vault.put(caller, submit(PutStanding::Another, "x-y-z-0123456789")).await), denied);
        assert_eq!(code(vault.bind(caller, "forge", "evil.example").await), denied);
        assert_eq!(code(vault.unbind(caller, "forge", "api.forge.example").await), denied);
        assert_eq!(code(vault.remove(caller, "forge").await), denied);
        assert_eq!(code(vault.unlock(caller, "correct horse battery".into()).await), denied);
        assert_eq!(code(vault.set_passphrase(caller, "correct horse battery".into()).await), denied);
    }
    assert_eq!(recorded(&rig).await.len(), 1, "what was refused left nothing");
    // The control: the owner may.
    let listed = vault.list(rig.me()).await.unwrap();
    assert_eq!(listed[0].hosts, ["api.forge.example".to_owned()].into());
    assert_eq!(code(vault.bind(rig.me(), "forge", "b.example").await), None);
}

#[tokio::test]
async fn each_step_is_recorded_once_and_without_the_value() {
    let rig = Rig::start().await;
    let (vault, me) = (rig.gateway.admin.vault.clone(), rig.me());
    vault.put(me, submit(PutStanding::New, CANARY)).await.unwrap();
    for (refused, why) in [
        (code(vault.put(me, submit(PutStanding::New, CANARY)).await), ErrorCode::SecretUnsuitable),
        (code(vault.put(me, submit(PutStanding::Another, "too short")).await), ErrorCode::SecretUnsuitable),
        (code(vault.bind(me, "forge", "not a host").await), ErrorCode::SecretUnsuitable),
        (code(vault.bind(me, "Forge", "a.example").await), ErrorCode::SecretUnsuitable),
        (code(vault.bind(me, "other", "a.example").await), ErrorCode::SecretNotFound),
        (code(vault.remove(me, "other").await), ErrorCode::SecretNotFound),
        (code(vault.set_passphrase(me, "short".into()).await), ErrorCode::SecretUnsuitable),
    ] {
        assert_eq!(refused, Some(why));
    }
    vault.bind(me, "forge", "b.example").await.unwrap();
    vault.bind(me, "forge", "B.example.").await.unwrap();
    assert_eq!(vault.put(me, submit(PutStanding::Another, "another-value-0123")).await.unwrap().version, 2);
    vault.set_passphrase(me, "correct horse battery".into()).await.unwrap();
    let wrong = vault.unlock(me, "wrong horse battery".into()).await;
    assert_eq!(code(wrong), Some(ErrorCode::PassphraseWrong));
    vault.remove(me, "forge").await.unwrap();
    let events = recorded(&rig).await;
    let told = format!("{:?}", rig.memory_entries().await);
    assert!(!told.contains(CANARY) && !told.contains("horse"));
    let [put, bound, rotated, set, unlocked, removed] = &events[..] else { panic!("{events:?}") };
    assert!(matches!(put, VaultEvent::Put(put) if put.version == 1 && put.secret.expose() == "forge"));
    assert!(matches!(bound, VaultEvent::Bound { hosts, .. } if hosts.len() == 2));
    assert!(matches!(rotated, VaultEvent::Put(put) if put.version == 2 && put.hosts.len() == 1));
    assert!(matches!(set, VaultEvent::PassphraseSet { via: Surface::LocalSocket }));
    assert!(matches!(unlocked, VaultEvent::Unlocked { outcome: UnlockOutcome::Wrong, .. }));
    assert!(matches!(removed, VaultEvent::Removed { .. }));
}

/// A client that hangs up has its call dropped wherever that waits.
#[tokio::test]
async fn a_change_is_made_to_its_end_when_who_asked_for_it_has_gone() {
    let rig = Rig::start().await;
    let (vault, me) = (rig.gateway.admin.vault.clone(), rig.me());
    vault.put(me, submit(PutStanding::New, CANARY)).await.unwrap();
    type Changing = std::pin::Pin<Box<dyn Future<Output = Result<(), AdminError>> + Send>>;
    let other =
        |name: &str| PutRequest { name: name.to_owned(), ..submit(PutStanding::New, "another-value-0123") };
    let again = vault.clone();
    let changes: [Changing; 5] = [
        Box::pin({
            let (vault, submit) = (vault.clone(), other("second"));
            async move { vault.put(me, submit).await.map(drop) }
        }),
        Box::pin({
            let vault = vault.clone();
            async move { vault.bind(me, "forge", "b.example").await.map(drop) }
        }),
        Box::pin({
            let vault = vault.clone();
            async move { vault.unbind(me, "forge", "b.example").await.map(drop) }
        }),
        Box::pin({
            let vault = vault.clone();
            async move { vault.remove(me, "forge").await }
        }),
        Box::pin(async move { again.set_passphrase(me, "correct horse battery".into()).await.map(drop) }),
    ];
    for (recorded_so_far, change) in (2..).zip(changes) {
        let gate = rig.faults.delay_next_answer();
        let task = tokio::spawn(change);
        soon("it is recorded", gate.reached()).await;
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled(), "who asked has gone");
        gate.open();
        // The next one comes when it is done.
        let status = vault.unlock(me, "wrong horse battery".into()).await;
        assert!(code(status).is_some());
        let changes =
            recorded(&rig).await.into_iter().filter(|event| !matches!(event, VaultEvent::Unlocked { .. }));
        assert_eq!(changes.count(), recorded_so_far);
    }
    let listed = vault.list(me).await.unwrap();
    assert_eq!(listed.iter().map(|record| record.name.as_str()).collect::<Vec<_>>(), ["second"]);
    assert_eq!(code(vault.unlock(me, "correct horse battery".into()).await), None, "the passphrase is set");
}

#[tokio::test]
async fn what_cannot_be_recorded_is_not_done_and_opens_nothing() {
    let mut parts = Parts::new();
    let secrets = Arc::new(MemorySecrets::default());
    parts.secrets = Arc::clone(&secrets);
    let rig = parts.start().await;
    let (vault, me) = (rig.gateway.admin.vault.clone(), rig.me());
    vault.put(me, submit(PutStanding::New, CANARY)).await.unwrap();
    vault.set_passphrase(me, "correct horse battery".into()).await.unwrap();
    rig.faults.refuse(Refusal::All(AppendError::DiskFull));
    let full = Some(ErrorCode::DiskFull);
    assert_eq!(code(vault.put(me, submit(PutStanding::Another, "another-value-0123")).await), full);
    assert_eq!(code(vault.bind(me, "forge", "b.example").await), full);
    assert_eq!(code(vault.remove(me, "forge").await), full);
    assert_eq!(code(vault.set_passphrase(me, "another horse battery".into()).await), full);
    assert!(secrets.staged().unwrap().is_none(), "nothing is left ready");
    secrets.lock();
    assert_eq!(code(vault.unlock(me, "correct horse battery".into()).await), full);
    assert!(secrets.status().unwrap().locked.is_some(), "it was not recorded, so it is not open");
    rig.faults.mend();
    let listed = vault.list(me).await.unwrap();
    assert_eq!((listed[0].version, listed[0].hosts.len()), (1, 1));
    // The control.
    assert!(vault.unlock(me, "correct horse battery".into()).await.unwrap().locked.is_none());
}

/// Says in a journal what a change leaves there.
async fn record(journal: &MemoryJournal, event: VaultEvent) {
    let event = JournalEvent::Vault(event);
    let (time, principal) = (Timestamp(1), PrincipalId::NIL);
    let entry = NewEntry { time, principal, session: None, run: None, event };
    let request = JournalAppendRequest { entries: vec![entry], ..JournalAppendRequest::default() };
    journal.append(request).await.unwrap();
}

#[tokio::test]
async fn after_a_kill_the_vault_is_what_the_journal_says() {
    let via = Surface::LocalSocket;
    let removed = VaultEvent::Removed { via, secret: "forge".into() };
    let unlocked = VaultEvent::Unlocked { via, outcome: UnlockOutcome::Opened };
    for (event, kept) in [(None, 1), (Some(unlocked), 1), (Some(removed), 0)] {
        let mut parts = Parts::new();
        let secrets = Arc::clone(&parts.secrets);
        let name: palyra_ports::SecretName = "forge".parse().unwrap();
        let secret = NewSecret { name, value: CANARY.into(), hosts: None, sent_as: None, now: Timestamp(7) };
        secrets.put(secret).unwrap();
        // An earlier removal is not this one.
        record(&parts.memory, VaultEvent::Removed { via, secret: "forge".into() }).await;
        let since = Seq(parts.memory.status().entries);
        secrets.stage(SecretChange::Remove("forge".parse().unwrap()), since).unwrap();
        if let Some(event) = event {
            record(&parts.memory, event).await;
        }
        parts.memory = parts.memory.restarted();
        let rig = parts.start().await;
        assert_eq!(rig.gateway.admin.vault.list(rig.me()).await.unwrap().len(), kept);
        assert!(secrets.staged().unwrap().is_none(), "it is settled");
    }
}
