//! Changes: made ready beside what is there, and put in its place in one step.
//!
//! Every function is called with the lock of those who change something. Invariant: until the last step everything is
//! as it was; after it, what is ready may be carried out again and nothing changes.

use std::collections::BTreeSet;

use palyra_ports::secret_store::{check_hosts, check_principals, check_value};
use palyra_ports::{NewSecret, RootKind, SecretChange, SecretName, SecretRecord, SecretStoreError};
use palyra_types::{Content, PrincipalId, Seq};

use super::{
    Carried, ReadyKeys, SECRETS_MAX, Vault, VaultState, beside, damaged, file_of, key_of, not_found, record,
};
use crate::envelope::{BoundTo, Envelope, VaultKey};
use crate::files::{self, WriteDurability};
use crate::root::{self, RootState, disk};
use crate::staged::{FolderChange, StagedChange};

pub(super) fn stage(
    vault: &Vault,
    ready: &mut ReadyKeys,
    change: SecretChange,
    since: Seq,
) -> Result<Option<SecretRecord>, SecretStoreError> {
    give_up(vault, ready)?;
    let (change, record) = match change {
        SecretChange::Put(secret) => sealed(put(vault, secret)?)?,
        SecretChange::Bind { name, hosts } => {
            check_hosts(&hosts)?;
            sealed(bound(vault, name, SecretRebinding::Hosts(&hosts))?)?
        }
        SecretChange::Share { name, principals } => {
            check_principals(&principals)?;
            sealed(bound(vault, name, SecretRebinding::Principals(&principals))?)?
        }
        SecretChange::Remove(name) => match vault.load(&name) {
            Err(error @ SecretStoreError::NotFound { .. }) => return Err(error),
            Ok(_) | Err(_) => (FolderChange::Remove(name.as_str().to_owned()), None),
        },
        SecretChange::Passphrase(passphrase) => {
            ready.next = Some(sealed_anew(vault, &passphrase)?);
            (FolderChange::Passphrase, None)
        }
    };
    StagedChange::new(change, since).store(&vault.folder)?;
    Ok(record)
}

/// A sealed value and the name that it gets.
struct NamedEnvelope {
    name: SecretName,
    envelope: Envelope,
}

fn sealed(named: NamedEnvelope) -> Result<(FolderChange, Option<SecretRecord>), SecretStoreError> {
    let record = record(named.name, &named.envelope)?;
    Ok((FolderChange::Seal(named.envelope), Some(record)))
}

/// Returns the key that new values are sealed under; the first of them brings it about.
fn key_to_seal(vault: &Vault) -> Result<VaultKey, SecretStoreError> {
    {
        let state = vault.state();
        if !matches!(state.root, RootState::NotYet) {
            return key_of(&state).cloned();
        }
    }
    files::make_folder(&vault.folder).map_err(disk("made"))?;
    // Somebody may have put a key or secrets there meanwhile.
    let (kind, found) = root::find(&vault.folder, super::names(&vault.folder).map(|names| names.len()));
    let root = match found {
        RootState::NotYet => RootState::Key(root::make(&vault.folder, &*vault.entropy)?),
        found @ (RootState::Key(_) | RootState::Locked(_)) => found,
    };
    let mut state = vault.state_to_change();
    *state = VaultState { kind, root };
    key_of(&state).cloned()
}

fn put(vault: &Vault, secret: NewSecret) -> Result<NamedEnvelope, SecretStoreError> {
    let key = key_to_seal(vault)?;
    let before = match vault.load(&secret.name) {
        // Whom it is for counts only as it was sealed: one that is damaged begins anew, for nobody.
        Ok(envelope) => envelope.open(&key, &secret.name).is_ok().then_some(envelope),
        Err(SecretStoreError::NotFound { .. } | SecretStoreError::Damaged { .. }) => None,
        Err(error) => return Err(error),
    };
    if before.is_none() && vault.names()?.len() >= SECRETS_MAX {
        let why = format!("the vault keeps {SECRETS_MAX} secrets at most");
        return Err(SecretStoreError::Unsuitable { why });
    }
    let kept = before.as_ref().map(|envelope| envelope.hosts.clone()).unwrap_or_default();
    let hosts = secret.hosts.unwrap_or(kept);
    check_hosts(&hosts)?;
    let kept = before.as_ref().and_then(|envelope| envelope.sent_as().ok()).unwrap_or_default();
    let sent_as = secret.sent_as.unwrap_or(kept);
    check_value(secret.value.expose(), &sent_as)?;
    let principals = before.as_ref().map(|envelope| envelope.principals.clone()).unwrap_or_default();
    let version = before.map_or(0, |envelope| envelope.version).saturating_add(1);
    let (name, changed) = (&secret.name, secret.now.0);
    let bound = BoundTo { name, version, hosts: &hosts, principals: &principals, sent_as: &sent_as, changed };
    let envelope = Envelope::seal(&key, &bound, secret.value.expose().as_bytes(), &*vault.entropy);
    Ok(NamedEnvelope { name: secret.name, envelope })
}

/// What a secret is bound to that was not before.
#[derive(Debug, Clone, Copy)]
enum SecretRebinding<'a> {
    /// Nothing.
    None,
    /// These hosts.
    Hosts(&'a BTreeSet<String>),
    /// These principals.
    Principals(&'a BTreeSet<PrincipalId>),
}

fn bound(
    vault: &Vault,
    name: SecretName,
    rebinding: SecretRebinding<'_>,
) -> Result<NamedEnvelope, SecretStoreError> {
    let state = vault.state();
    if matches!(state.root, RootState::NotYet) {
        return Err(not_found(&name));
    }
    let key = key_of(&state)?;
    let envelope = again(vault, KeyChange { before: key, after: key }, &name, rebinding)?;
    Ok(NamedEnvelope { name, envelope })
}

/// The keys that a secret is opened and sealed with.
#[derive(Clone, Copy)]
struct KeyChange<'a> {
    before: &'a VaultKey,
    after: &'a VaultKey,
}

/// Seals a secret anew: its value, version and time stay.
fn again(
    vault: &Vault,
    keys: KeyChange<'_>,
    name: &SecretName,
    rebinding: SecretRebinding<'_>,
) -> Result<Envelope, SecretStoreError> {
    let envelope = vault.load(name)?;
    let value = envelope.open(keys.before, name).map_err(|_| damaged(name))?;
    let sent_as = envelope.sent_as().map_err(|_| damaged(name))?;
    let (hosts, principals) = match rebinding {
        SecretRebinding::None => (&envelope.hosts, &envelope.principals),
        SecretRebinding::Hosts(hosts) => (hosts, &envelope.principals),
        SecretRebinding::Principals(principals) => (&envelope.hosts, principals),
    };
    let (version, changed) = (envelope.version, envelope.changed);
    let bound = BoundTo { name, version, hosts, principals, sent_as: &sent_as, changed };
    Ok(Envelope::seal(keys.after, &bound, &value, &*vault.entropy))
}

/// Seals everything under the key of a passphrase, in the folder beside.
fn sealed_anew(vault: &Vault, passphrase: &Content<String>) -> Result<VaultKey, SecretStoreError> {
    let before = match &vault.state().root {
        RootState::NotYet => None,
        RootState::Key(key) => Some(key.clone()),
        RootState::Locked(why) => return Err(SecretStoreError::Locked { why: why.clone() }),
    };
    files::make_folder(&vault.folder).map_err(disk("made"))?;
    let (after, file) = root::with_passphrase(passphrase.expose(), &*vault.entropy)?;
    let beside = beside(&vault.folder);
    files::make_folder(&beside).map_err(disk("made"))?;
    if let Some(before) = before {
        let keys = KeyChange { before: &before, after: &after };
        for name in vault.names()? {
            let bytes = bytes_of(&again(vault, keys, &name, SecretRebinding::None)?)?;
            let made = files::write(&beside, &file_of(&name), &bytes);
            made.and_then(WriteDurability::durable).map_err(disk("written"))?;
        }
    }
    root::store_passphrase(&beside, &file).map_err(disk("written"))?;
    files::sync_parent(&vault.folder).map_err(disk("written"))?;
    Ok(after)
}

pub(super) fn carry_out(vault: &Vault, ready: &mut ReadyKeys) -> Result<Carried, SecretStoreError> {
    let Some(staged) = StagedChange::load(&vault.folder).map_err(disk("read"))? else {
        return Ok(Carried::Nothing);
    };
    let name = staged.change.name();
    let (made, carried) = match (staged.change, name) {
        (FolderChange::Seal(envelope), Some(name)) => {
            (files::write(&vault.folder, &file_of(&name), &bytes_of(&envelope)?), Carried::Other)
        }
        (FolderChange::Remove(_), Some(name)) => {
            (files::remove(&vault.folder, &file_of(&name)), Carried::Removed(name))
        }
        (FolderChange::Passphrase, _) => {
            return change_places(vault, ready.next.take()).map(|()| Carried::Other);
        }
        // No such name was ever made ready.
        (FolderChange::Seal(_) | FolderChange::Remove(_), None) => {
            (Ok(WriteDurability::Durable), Carried::Nothing)
        }
    };
    match made.map_err(disk("written"))? {
        WriteDurability::Durable => StagedChange::forget(&vault.folder).map_err(disk("written"))?,
        // It is in force. What is ready is on the disk, and carries it out once more after a power cut.
        WriteDurability::InForce(_) => {}
    }
    Ok(carried)
}

/// Lets the folder that was sealed anew take its place; what was ready goes with the one before.
fn change_places(vault: &Vault, next: Option<VaultKey>) -> Result<(), SecretStoreError> {
    let beside = beside(&vault.folder);
    if !root::has_passphrase(&beside) {
        StagedChange::forget(&vault.folder).map_err(disk("written"))?;
        let gone = std::io::Error::from(std::io::ErrorKind::NotFound);
        return Err(disk("sealed again")(gone));
    }
    {
        let mut state = vault.state_to_change();
        files::exchange(&vault.folder, &beside).map_err(disk("written"))?;
        let locked = || RootState::Locked("its passphrase was not given yet".to_owned());
        *state = VaultState { kind: RootKind::Passphrase, root: next.map_or_else(locked, RootState::Key) };
    }
    // It is in force. What is left beside is sealed under the key before, and goes with it: at the next change or start,
    // if not now. What a power cut takes back is still ready there.
    let _ = files::remove_folder(&beside);
    Ok(())
}

pub(super) fn give_up(vault: &Vault, ready: &mut ReadyKeys) -> Result<(), SecretStoreError> {
    *ready = ReadyKeys::default();
    if StagedChange::load(&vault.folder).map_err(disk("read"))?.is_some() {
        // What was carried out already has to stay when this is gone.
        files::sync_folder(&vault.folder).map_err(disk("written"))?;
        StagedChange::forget(&vault.folder).map_err(disk("written"))?;
    }
    files::remove_folder(&beside(&vault.folder)).map_err(disk("removed"))
}

fn bytes_of(envelope: &Envelope) -> Result<Vec<u8>, SecretStoreError> {
    serde_json::to_vec_pretty(envelope).map_err(|error| disk("written")(error.into()))
}
