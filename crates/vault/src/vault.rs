//! The store: names to sealed files.
//!
//! Owns the lock that makes changes one after another. Holds the root key in memory while it is unlocked, and no value.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use palyra_ports::{Entropy, NewSecret, SecretName, SecretRecord, SecretStore, SecretStoreError};
use palyra_types::{Redacted, Timestamp};

use crate::envelope::{BoundTo, Envelope, Key};
use crate::files;
use crate::root::{self, Root, RootKind, Unlock, disk};

/// Secrets that are kept, at most.
const SECRETS_MAX: usize = 1000;
/// A shorter value could not be kept out of texts without spoiling them.
const VALUE_BYTES_MIN: usize = 8;
const VALUE_BYTES_MAX: usize = 64 * 1024;
const HOSTS_MAX: usize = 64;
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
        let (kind, root) = root::find(folder, &*entropy)?;
        Ok(Self { folder: folder.to_owned(), entropy, state: Mutex::new(State { kind, root }) })
    }

    /// Returns where its root key comes from.
    #[must_use]
    pub fn kind(&self) -> RootKind {
        self.state().kind
    }

    /// Returns whether secrets can be opened now.
    #[must_use]
    pub fn is_unlocked(&self) -> bool {
        matches!(self.state().root, Root::Key(_))
    }

    /// Opens a vault that has a passphrase, until the next start.
    ///
    /// # Errors
    /// [`SecretStoreError`] when it has none, or cannot be read.
    pub fn unlock(&self, passphrase: &Redacted<String>) -> Result<Unlock, SecretStoreError> {
        let mut state = self.state();
        Ok(match root::unlock(&self.folder, passphrase.expose())? {
            Some(key) => {
                state.root = Root::Key(key);
                Unlock::Opened
            }
            None => Unlock::Wrong,
        })
    }

    /// Puts a passphrase in the place of the key file, or of another passphrase: every secret is sealed anew, in a
    /// folder beside, and the two folders change places in one step.
    ///
    /// # Errors
    /// [`SecretStoreError`] when it is locked, or cannot be written; then everything is as it was.
    pub fn set_passphrase(&self, passphrase: &Redacted<String>) -> Result<(), SecretStoreError> {
        let mut state = self.state();
        let before = key_of(&state)?;
        let (after, file) = root::with_passphrase(passphrase.expose(), &*self.entropy)?;
        let beside = self.folder.with_extension("next");
        // One that a power cut left behind.
        let _ = fs::remove_dir_all(&beside);
        files::make_folder(&beside).map_err(disk("made"))?;
        for name in self.names()? {
            let envelope = self.load(&name)?;
            let value = envelope.open(before, &name).map_err(|_| damaged(&name))?;
            let bound = BoundTo {
                name: &name,
                version: envelope.version,
                hosts: &envelope.hosts,
                changed: envelope.changed,
            };
            store(&beside, &name, &Envelope::seal(&after, &bound, &value, &*self.entropy))?;
        }
        root::store_passphrase(&beside, &file).map_err(disk("written"))?;
        files::exchange(&self.folder, &beside).map_err(disk("written"))?;
        // What is left beside is sealed under the key before, and goes with it.
        let _ = fs::remove_dir_all(&beside);
        *state = State { kind: RootKind::Passphrase, root: Root::Key(after) };
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn names(&self) -> Result<Vec<SecretName>, SecretStoreError> {
        let mut names: Vec<SecretName> = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(disk("read"))? {
            let file = entry.map_err(disk("read"))?.file_name();
            let name = file.to_str().and_then(|file| file.strip_suffix(ENDING));
            names.extend(name.and_then(|name| name.parse().ok()));
        }
        names.sort();
        Ok(names)
    }

    fn load(&self, name: &SecretName) -> Result<Envelope, SecretStoreError> {
        let bytes = files::read(&self.folder.join(file_of(name))).map_err(disk("read"))?;
        let bytes = bytes.ok_or_else(|| SecretStoreError::NotFound { name: name.as_str().to_owned() })?;
        serde_json::from_slice(&bytes).map_err(|_| damaged(name))
    }

    fn value_of(&self, key: &Key, name: &SecretName) -> Result<Redacted<String>, SecretStoreError> {
        let value = self.load(name)?.open(key, name).map_err(|_| damaged(name))?;
        let text = std::str::from_utf8(&value).map_err(|_| damaged(name))?;
        Ok(Redacted::new(text.to_owned()))
    }
}

impl SecretStore for Vault {
    fn list(&self) -> Result<Vec<SecretRecord>, SecretStoreError> {
        let _state = self.state();
        self.names()?
            .into_iter()
            .map(|name| self.load(&name).map(|envelope| record(name, &envelope)))
            .collect()
    }

    fn put(&self, secret: NewSecret) -> Result<SecretRecord, SecretStoreError> {
        check_value(secret.value.expose())?;
        let state = self.state();
        let key = key_of(&state)?;
        let before = match self.load(&secret.name) {
            Ok(envelope) => Some(envelope),
            Err(SecretStoreError::NotFound { .. }) => None,
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
        let version = before.map_or(0, |envelope| envelope.version).saturating_add(1);
        let bound = BoundTo { name: &secret.name, version, hosts: &hosts, changed: secret.now.0 };
        let envelope = Envelope::seal(key, &bound, secret.value.expose().as_bytes(), &*self.entropy);
        store(&self.folder, &secret.name, &envelope)?;
        Ok(record(secret.name.clone(), &envelope))
    }

    fn bind(&self, name: &SecretName, hosts: BTreeSet<String>) -> Result<SecretRecord, SecretStoreError> {
        check_hosts(&hosts)?;
        let state = self.state();
        let key = key_of(&state)?;
        let before = self.load(name)?;
        let value = before.open(key, name).map_err(|_| damaged(name))?;
        let bound = BoundTo { name, version: before.version, hosts: &hosts, changed: before.changed };
        let envelope = Envelope::seal(key, &bound, &value, &*self.entropy);
        store(&self.folder, name, &envelope)?;
        Ok(record(name.clone(), &envelope))
    }

    fn remove(&self, name: &SecretName) -> Result<SecretRecord, SecretStoreError> {
        let _state = self.state();
        let envelope = self.load(name)?;
        files::remove(&self.folder, &file_of(name)).map_err(disk("written"))?;
        Ok(record(name.clone(), &envelope))
    }

    fn open(&self, name: &SecretName, host: &str) -> Result<Redacted<String>, SecretStoreError> {
        let state = self.state();
        let key = key_of(&state)?;
        // The value first: hosts that were edited on disk do not open.
        let value = self.value_of(key, name)?;
        let bound = self.load(name)?.hosts.contains(host);
        let refusal = || SecretStoreError::NotBound { name: name.as_str().to_owned(), host: host.to_owned() };
        if bound { Ok(value) } else { Err(refusal()) }
    }

    fn all_values(&self) -> Result<Vec<Redacted<String>>, SecretStoreError> {
        let state = self.state();
        let key = key_of(&state)?;
        self.names()?.iter().map(|name| self.value_of(key, name)).collect()
    }
}

fn store(folder: &Path, name: &SecretName, envelope: &Envelope) -> Result<(), SecretStoreError> {
    let bytes = serde_json::to_vec_pretty(envelope).map_err(|error| disk("written")(error.into()))?;
    files::write(folder, &file_of(name), &bytes).map_err(disk("written"))
}

fn key_of(state: &State) -> Result<&Key, SecretStoreError> {
    match &state.root {
        Root::Key(key) => Ok(key),
        Root::Locked => Err(SecretStoreError::Locked { why: "its passphrase was not given yet".to_owned() }),
    }
}

fn check_value(value: &str) -> Result<(), SecretStoreError> {
    let why = if value.len() < VALUE_BYTES_MIN {
        format!("a secret has {VALUE_BYTES_MIN} bytes at least: a shorter one could not be kept out of texts")
    } else if value.len() > VALUE_BYTES_MAX {
        format!("a secret has {VALUE_BYTES_MAX} bytes at most")
    } else if value.chars().any(char::is_control) {
        "a secret has no line breaks and no other control characters".to_owned()
    } else {
        return Ok(());
    };
    Err(SecretStoreError::Unsuitable { why })
}

fn check_hosts(hosts: &BTreeSet<String>) -> Result<(), SecretStoreError> {
    let plain = |host: &String| {
        let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || ".-:[]".contains(c);
        !host.is_empty() && host.len() <= 253 && host.chars().all(inner)
    };
    match hosts.iter().find(|host| !plain(host)) {
        Some(host) => {
            Err(SecretStoreError::Unsuitable { why: format!("`{host}` is no host: a name in small letters") })
        }
        None if hosts.len() > HOSTS_MAX => {
            Err(SecretStoreError::Unsuitable { why: format!("a secret is for {HOSTS_MAX} hosts at most") })
        }
        None => Ok(()),
    }
}

fn file_of(name: &SecretName) -> String {
    format!("{}{ENDING}", name.as_str())
}

fn record(name: SecretName, envelope: &Envelope) -> SecretRecord {
    SecretRecord {
        name,
        version: envelope.version,
        hosts: envelope.hosts.clone(),
        changed: Timestamp(envelope.changed),
    }
}

fn damaged(name: &SecretName) -> SecretStoreError {
    SecretStoreError::Damaged { name: name.as_str().to_owned() }
}

#[cfg(test)]
mod tests;
