//! The vault's handle: for the owner at the socket alone, recorded before it is done, and never with a value.

use palyra_runtime::vault::{PutRequest, PutStanding};
use palyra_runtime::{Caller, RequestError};
use palyra_types::ErrorCode;
use palyra_types::event::JournalEvent;
use palyra_types::run::Surface;
use palyra_types::vault::{UnlockOutcome, VaultEvent};

use crate::rig::Rig;

const CANARY: &str = "walnut-harbour-lantern-0417";

fn wish(standing: PutStanding, value: &str) -> PutRequest {
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

fn code<T>(answer: Result<T, RequestError>) -> Option<ErrorCode> {
    answer.err().map(|error| error.code())
}

#[tokio::test]
async fn nobody_but_the_owner_at_the_socket_gets_near_a_secret() {
    let rig = Rig::start().await;
    let vault = rig.gateway.access.vault();
    vault.put(rig.me(), wish(PutStanding::New, CANARY)).await.unwrap();
    let by_token = Caller { surface: Surface::Tcp, ..rig.me() };
    for caller in [rig.stranger(), by_token] {
        let denied = Some(ErrorCode::PermissionDenied);
        assert_eq!(code(vault.status(caller).await), denied);
        assert_eq!(code(vault.list(caller).await), denied);
        assert_eq!(code(vault.put(caller, wish(PutStanding::Another, "x-y-z-0123456789")).await), denied);
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
    let (vault, me) = (rig.gateway.access.vault(), rig.me());
    vault.put(me, wish(PutStanding::New, CANARY)).await.unwrap();
    for (refused, why) in [
        (code(vault.put(me, wish(PutStanding::New, CANARY)).await), ErrorCode::SecretUnsuitable),
        (code(vault.put(me, wish(PutStanding::Another, "too short")).await), ErrorCode::SecretUnsuitable),
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
    assert_eq!(vault.put(me, wish(PutStanding::Another, "another-value-0123")).await.unwrap().version, 2);
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
