//! The store: names to sealed files.
//!
//! Owns the lock that makes changes one after another. Holds the root key in memory while it is unlocked, and no value.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use palyra_ports::secret_store::{check_hosts, check_value};
use palyra_ports::{
    Entropy, NewSecret, OpenedSecret, RootKind, SecretName, SecretRecord, SecretStore, SecretStoreError,
    Unlock, VaultStatus,
};
use palyra_types::{Redacted, Timestamp};

use crate::envelope::{BoundTo, Envelope, Key};
use crate::files;
use crate::root::{self, Root, Sealings, disk};

/// Secrets that are kept, at most.
const SECRETS_MAX: usize = 1000;
const ENDING: &str = ".sealed.json";

/// Secrets in a folder.
pub struct Vault {
    folder: PathBuf,
    entropy: Arc<dyn Entropy>,
    state: Mutex<State>,
}

struct State {
    kind: RootKind,
    root: Root,
}

impl Vault {
    /// Opens the vault in a folder, and makes it when there is none: with a key file.
    ///
    /// # Errors
    /// [`SecretStoreError`] when the folder cannot be used.
    pub fn open(folder: &Path, entropy: Arc<dyn Entropy>) -> Result<Self, SecretStoreError> {
        files::make_folder(folder).map_err(disk("made"))?;
        // Of a change of the root key that a kill cut off: a half that never counted, or all that was sealed under the
        // key before, and that key. The folders change places in one step, so that this one is whole.
        match fs::remove_dir_all(beside(folder)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(disk("removed")(error)),
            Ok(()) | Err(_) => {}
        }
        let sealings = if names(folder)?.is_empty() { Sealings::None } else { Sealings::Some };
        let (kind, root) = root::find(folder, sealings, &*entropy)?;
        Ok(Self { folder: folder.to_owned(), entropy, state: Mutex::new(State { kind, root }) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn names(&self) -> Result<Vec<SecretName>, SecretStoreError> {
        names(&self.folder)
    }

    fn load(&self, name: &SecretName) -> Result<Envelope, SecretStoreError> {
        let bytes = files::read(&self.folder.join(file_of(name))).map_err(disk("read"))?;
        let bytes = bytes.ok_or_else(|| SecretStoreError::NotFound { name: name.as_str().to_owned() })?;
        serde_json::from_slice(&bytes).map_err(|_| damaged(name))
    }
}

impl SecretStore for Vault {
    fn list(&self) -> Result<Vec<SecretRecord>, SecretStoreError> {
        let state = self.state();
        let key = key_of(&state).ok();
        // What cannot be read, or is not what was sealed, is left out: the status names it.
        let read = |name: SecretName| {
            let envelope = self.load(&name).ok()?;
            key.is_none_or(|key| envelope.open(key, &name).is_ok()).then_some(())?;
            record(name, &envelope).ok()
        };
        Ok(self.names()?.into_iter().filter_map(read).collect())
    }

    fn put(&self, secret: NewSecret) -> Result<SecretRecord, SecretStoreError> {
        let state = self.state();
        let key = key_of(&state)?;
        let before = match self.load(&secret.name) {
            // Whom it is for counts only as it was sealed: one that is damaged begins anew, for nobody.
            Ok(envelope) => envelope.open(key, &secret.name).is_ok().then_some(envelope),
            Err(SecretStoreError::NotFound { .. } | SecretStoreError::Damaged { .. }) => None,
            Err(error) => return Err(error),
        };
        if before.is_none() && self.names()?.len() >= SECRETS_MAX {
            return Err(SecretStoreError::Unsuitable {
                why: format!("the vault keeps {SECRETS_MAX} secrets at most"),
            });
        }
        let kept = before.as_ref().map(|envelope| envelope.hosts.clone()).unwrap_or_default();
        let hosts = secret.hosts.unwrap_or(kept);
        check_hosts(&hosts)?;
        let kept = before.as_ref().and_then(|envelope| envelope.sent_as().ok()).unwrap_or_default();
        let sent_as = secret.sent_as.unwrap_or(kept);
        check_value(secret.value.expose(), &sent_as)?;
        let version = before.map_or(0, |envelope| envelope.version).saturating_add(1);
        let (name, changed) = (&secret.name, secret.now.0);
        let bound = BoundTo { name, version, hosts: &hosts, sent_as: &sent_as, changed };
        let envelope = Envelope::seal(key, &bound, secret.value.expose().as_bytes(), &*self.entropy);
        store(&self.folder, &secret.name, &envelope)?;
        record(secret.name.clone(), &envelope)
    }

    fn bind(&self, name: &SecretName, hosts: BTreeSet<String>) -> Result<SecretRecord, SecretStoreError> {
        check_hosts(&hosts)?;
        let state = self.state();
        let key = key_of(&state)?;
        let before = self.load(name)?;
        let value = before.open(key, name).map_err(|_| damaged(name))?;
        let sent_as = before.sent_as().map_err(|_| damaged(name))?;
        let (version, changed) = (before.version, before.changed);
        let bound = BoundTo { name, version, hosts: &hosts, sent_as: &sent_as, changed };
        let envelope = Envelope::seal(key, &bound, &value, &*self.entropy);
        store(&self.folder, name, &envelope)?;
        record(name.clone(), &envelope)
    }

    fn remove(&self, name: &SecretName) -> Result<(), SecretStoreError> {
        let _state = self.state();
        match files::remove(&self.folder, &file_of(name)) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Err(SecretStoreError::NotFound { name: name.as_str().to_owned() })
            }
            Err(error) => Err(disk("written")(error)),
        }
    }

    fn open(&self, name: &SecretName, host: &str) -> Result<OpenedSecret, SecretStoreError> {
        let state = self.state();
        let key = key_of(&state)?;
        let envelope = self.load(name)?;
        // The value first: hosts that were edited on disk do not open.
        let value = value_of(key, name, &envelope)?;
        let sent_as = envelope.sent_as().map_err(|_| damaged(name))?;
        let refusal = || SecretStoreError::NotBound { name: name.as_str().to_owned(), host: host.to_owned() };
        if envelope.hosts.contains(host) { Ok(OpenedSecret { value, sent_as }) } else { Err(refusal()) }
    }

    fn all_values(&self) -> Result<Vec<Redacted<String>>, SecretStoreError> {
        let state = self.state();
        let key = key_of(&state)?;
        let value = |name: &SecretName| value_of(key, name, &self.load(name)?);
        // What does not open cannot be looked for; the status names it.
        Ok(self.names()?.iter().filter_map(|name| value(name).ok()).collect())
    }

    fn status(&self) -> Result<VaultStatus, SecretStoreError> {
        let state = self.state();
        let names = self.names()?;
        let secrets = names.len();
        let reads = |name: &SecretName| {
            let envelope = self.load(name)?;
            match &state.root {
                Root::Key(key) => value_of(key, name, &envelope).map(drop),
                Root::Locked(_) => envelope.sent_as().map(drop).map_err(|_| damaged(name)),
            }
        };
        let damaged = names.into_iter().filter(|name| reads(name).is_err()).collect();
        let locked = match &state.root {
            Root::Locked(why) => Some(why.clone()),
            Root::Key(_) => None,
        };
        Ok(VaultStatus { key: state.kind, locked, secrets, damaged })
    }

    fn unlock(&self, passphrase: &Redacted<String>) -> Result<Unlock, SecretStoreError> {
        let mut state = self.state();
        Ok(match root::unlock(&self.folder, passphrase.expose())? {
            Some(key) => {
                state.root = Root::Key(key);
                Unlock::Opened
            }
            None => Unlock::Wrong,
        })
    }

    /// Every secret is sealed anew, in a folder beside, and the two folders change places in one step.
    fn set_passphrase(&self, passphrase: &Redacted<String>) -> Result<(), SecretStoreError> {
        let mut state = self.state();
        let before = key_of(&state)?;
        let (after, file) = root::with_passphrase(passphrase.expose(), &*self.entropy)?;
        let beside = beside(&self.folder);
        // One that a power cut left behind.
        let _ = fs::remove_dir_all(&beside);
        files::make_folder(&beside).map_err(disk("made"))?;
        for name in self.names()? {
            let envelope = self.load(&name)?;
            let value = envelope.open(before, &name).map_err(|_| damaged(&name))?;
            let sent_as = envelope.sent_as().map_err(|_| damaged(&name))?;
            let bound = BoundTo {
                name: &name,
                version: envelope.version,
                hosts: &envelope.hosts,
                sent_as: &sent_as,
                changed: envelope.changed,
            };
            store(&beside, &name, &Envelope::seal(&after, &bound, &value, &*self.entropy))?;
        }
        root::store_passphrase(&beside, &file).map_err(disk("written"))?;
        files::exchange(&self.folder, &beside).map_err(disk("written"))?;
        // From here on this is what the folder holds, whatever the disk says of the rest.
        *state = State { kind: RootKind::Passphrase, root: Root::Key(after) };
        files::sync_parent(&self.folder).map_err(disk("written"))?;
        // What is left beside is sealed under the key before, and goes with it; at the next start, if not now.
        fs::remove_dir_all(&beside).map_err(disk("removed"))
    }
}

/// Where everything is sealed anew before it takes its place.
fn beside(folder: &Path) -> PathBuf {
    folder.with_extension("next")
}

fn names(folder: &Path) -> Result<Vec<SecretName>, SecretStoreError> {
    let mut names: Vec<SecretName> = Vec::new();
    for entry in fs::read_dir(folder).map_err(disk("read"))? {
        let file = entry.map_err(disk("read"))?.file_name();
        let name = file.to_str().and_then(|file| file.strip_suffix(ENDING));
        names.extend(name.and_then(|name| name.parse().ok()));
    }
    names.sort();
    Ok(names)
}

fn store(folder: &Path, name: &SecretName, envelope: &Envelope) -> Result<(), SecretStoreError> {
    let bytes = serde_json::to_vec_pretty(envelope).map_err(|error| disk("written")(error.into()))?;
    files::write(folder, &file_of(name), &bytes).map_err(disk("written"))
}

fn key_of(state: &State) -> Result<&Key, SecretStoreError> {
    match &state.root {
        Root::Key(key) => Ok(key),
        Root::Locked(why) => Err(SecretStoreError::Locked { why: why.clone() }),
    }
}

fn value_of(key: &Key, name: &SecretName, envelope: &Envelope) -> Result<Redacted<String>, SecretStoreError> {
    let value = envelope.open(key, name).map_err(|_| damaged(name))?;
    let text = std::str::from_utf8(&value).map_err(|_| damaged(name))?;
    Ok(Redacted::new(text.to_owned()))
}

fn file_of(name: &SecretName) -> String {
    format!("{}{ENDING}", name.as_str())
}

fn record(name: SecretName, envelope: &Envelope) -> Result<SecretRecord, SecretStoreError> {
    let sent_as = envelope.sent_as().map_err(|_| damaged(&name))?;
    let (version, hosts) = (envelope.version, envelope.hosts.clone());
    Ok(SecretRecord { name, version, hosts, sent_as, changed: Timestamp(envelope.changed) })
}

fn damaged(name: &SecretName) -> SecretStoreError {
    SecretStoreError::Damaged { name: name.as_str().to_owned() }
}

#[cfg(test)]
mod tests;
