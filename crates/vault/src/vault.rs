//! The store: names to sealed files.
//!
//! Owns the locks: changes come one after another, and what takes long is done while values can still be read. Holds
//! the root key in memory while it is unlocked, and no value. Opening it writes nothing and never fails: what stands in
//! the way is why it is locked.

mod changing;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use palyra_ports::{
    Entropy, OpenedSecret, PassphraseCheck, RootKind, SecretChange, SecretName, SecretReader, SecretRecord,
    SecretStore, SecretStoreError, VaultStatus,
};
use palyra_types::{Content, Seq, Timestamp};

use crate::envelope::{Envelope, VaultKey};
use crate::files;
use crate::root::{self, RootState, disk};
use crate::staged::{FolderChange, StagedChange};

/// Secrets that are kept, at most.
const SECRETS_MAX: usize = 1000;
const ENDING: &str = ".sealed.json";

/// Secrets in a folder.
pub struct Vault {
    folder: PathBuf,
    entropy: Arc<dyn Entropy>,
    /// Held by whoever changes something; never waited for by those who read.
    changing: Mutex<ReadyKeys>,
    state: RwLock<VaultState>,
}

struct VaultState {
    kind: RootKind,
    root: RootState,
}

/// Keys that are not in force yet.
#[derive(Default)]
struct ReadyKeys {
    /// Under it everything lies sealed anew, in the folder beside.
    next: Option<VaultKey>,
    /// Of a passphrase that was tried and right.
    tried: Option<VaultKey>,
}

/// Every value that can be read, and what cannot.
#[derive(Debug, Default)]
pub struct Values {
    /// By name; of a secret of which another value is ready, both, the one that is kept first.
    pub values: Vec<(SecretName, Content<String>)>,
    /// Those that cannot be read now, or do not open.
    pub unread: Vec<SecretName>,
}

/// What was carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Carried {
    /// Nothing was ready.
    Nothing,
    /// A secret was removed.
    Removed(SecretName),
    /// Something else.
    Other,
}

impl Vault {
    /// Opens the vault in a folder, which is made with the first secret.
    #[must_use]
    pub fn open(folder: &Path, entropy: Arc<dyn Entropy>) -> Self {
        let (kind, mut root) = root::find(folder, names(folder).map(|names| names.len()));
        // Of a change of the root key that a kill cut off: a half that never counted, or all that was sealed under the
        // key before, and that key. The folders change places in one step, so that this one is whole.
        let is_ready = match StagedChange::load(folder) {
            Ok(staged) => staged.is_some_and(|staged| matches!(staged.change, FolderChange::Passphrase)),
            // Nobody knows, so nothing is thrown away.
            Err(_) => true,
        };
        if !is_ready && let Err(error) = files::remove_folder(&beside(folder)) {
            root = RootState::Locked(format!("what the key before sealed cannot be removed: {error}"));
        }
        let state = RwLock::new(VaultState { kind, root });
        Self { folder: folder.to_owned(), entropy, changing: Mutex::default(), state }
    }

    /// Gives every value out that can be read, to whoever keeps them out of texts; of what is ready as well.
    ///
    /// # Errors
    /// [`SecretStoreError::Locked`]; [`SecretStoreError::Disk`] when the folder cannot be read.
    pub fn values(&self) -> Result<Values, SecretStoreError> {
        let state = self.state();
        let mut all = Values::default();
        if matches!(state.root, RootState::NotYet) {
            return Ok(all);
        }
        let key = key_of(&state)?;
        for name in self.names()? {
            match self.load(&name).and_then(|envelope| value_of(key, &name, &envelope)) {
                Ok(value) => all.values.push((name, value)),
                Err(_) => all.unread.push(name),
            }
        }
        if let Ok(Some(StagedChange { change: FolderChange::Seal(envelope), .. })) =
            StagedChange::load(&self.folder)
            && let Ok(name) = envelope.name.parse::<SecretName>()
            && let Ok(value) = value_of(key, &name, &envelope)
        {
            all.values.push((name, value));
        }
        Ok(all)
    }

    /// Carries out what is ready, and says what that was.
    ///
    /// # Errors
    /// As [`SecretStore::commit`].
    pub fn carry_out(&self) -> Result<Carried, SecretStoreError> {
        changing::carry_out(self, &mut self.ready())
    }

    fn ready(&self) -> MutexGuard<'_, ReadyKeys> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> RwLockReadGuard<'_, VaultState> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn state_to_change(&self) -> RwLockWriteGuard<'_, VaultState> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn names(&self) -> Result<Vec<SecretName>, SecretStoreError> {
        names(&self.folder).map_err(disk("read"))
    }

    fn load(&self, name: &SecretName) -> Result<Envelope, SecretStoreError> {
        let bytes = files::read(&self.folder.join(file_of(name))).map_err(disk("read"))?;
        let bytes = bytes.ok_or_else(|| not_found(name))?;
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

    fn find(&self, name: &SecretName) -> Result<Option<SecretRecord>, SecretStoreError> {
        let state = self.state();
        let envelope = match self.load(name) {
            Err(SecretStoreError::NotFound { .. }) => return Ok(None),
            read => read?,
        };
        if let Ok(key) = key_of(&state) {
            envelope.open(key, name).map_err(|_| damaged(name))?;
        }
        record(name.clone(), &envelope).map(Some)
    }

    fn open(
        &self,
        name: &SecretName,
        host: &str,
        reader: SecretReader,
    ) -> Result<OpenedSecret, SecretStoreError> {
        let state = self.state();
        if matches!(state.root, RootState::NotYet) {
            return Err(not_found(name));
        }
        let envelope = self.load(name);
        if let SecretReader::Principal(principal) = reader
            && !envelope.as_ref().is_ok_and(|envelope| envelope.principals.contains(&principal))
        {
            // Before anything else that is wrong with it, and that would say that it is there.
            return Err(not_found(name));
        }
        let key = key_of(&state)?;
        let envelope = envelope?;
        // The value first: hosts and principals that were edited on disk do not open.
        let value = value_of(key, name, &envelope)?;
        let sent_as = envelope.sent_as().map_err(|_| damaged(name))?;
        let refusal = || SecretStoreError::NotBound { name: name.as_str().to_owned(), host: host.to_owned() };
        if envelope.hosts.contains(host) { Ok(OpenedSecret { value, sent_as }) } else { Err(refusal()) }
    }

    fn status(&self) -> Result<VaultStatus, SecretStoreError> {
        let state = self.state();
        let names = self.names()?;
        let secrets = names.len();
        let reads = |name: &SecretName| {
            let envelope = self.load(name)?;
            match &state.root {
                RootState::Key(key) => value_of(key, name, &envelope).map(drop),
                RootState::NotYet | RootState::Locked(_) => {
                    envelope.sent_as().map(drop).map_err(|_| damaged(name))
                }
            }
        };
        let damaged = names.into_iter().filter(|name| reads(name).is_err()).collect();
        let locked = match &state.root {
            RootState::Locked(why) => Some(why.clone()),
            RootState::NotYet | RootState::Key(_) => None,
        };
        Ok(VaultStatus { key: state.kind, locked, secrets, damaged })
    }

    fn stage(&self, change: SecretChange, since: Seq) -> Result<Option<SecretRecord>, SecretStoreError> {
        changing::stage(self, &mut self.ready(), change, since)
    }

    fn staged(&self) -> Result<Option<Seq>, SecretStoreError> {
        let _one_at_a_time = self.ready();
        Ok(StagedChange::load(&self.folder).map_err(disk("read"))?.map(|staged| staged.since()))
    }

    fn commit(&self) -> Result<(), SecretStoreError> {
        self.carry_out().map(drop)
    }

    fn discard(&self) -> Result<(), SecretStoreError> {
        changing::give_up(self, &mut self.ready())
    }

    fn try_passphrase(&self, passphrase: &Content<String>) -> Result<PassphraseCheck, SecretStoreError> {
        let tried = root::derived(&self.folder, passphrase.expose())?;
        let outcome = if tried.is_some() { PassphraseCheck::Opened } else { PassphraseCheck::Wrong };
        self.ready().tried = tried;
        Ok(outcome)
    }

    fn unlock(&self) -> Result<(), SecretStoreError> {
        let tried = self.ready().tried.take();
        let mut state = self.state_to_change();
        match tried {
            Some(key) if root::is_right(&self.folder, &key)? => {
                state.root = RootState::Key(key);
                Ok(())
            }
            Some(_) | None => {
                Err(SecretStoreError::Locked { why: "no passphrase was given for it".to_owned() })
            }
        }
    }
}

/// Where everything is sealed anew before it takes its place.
fn beside(folder: &Path) -> PathBuf {
    folder.with_extension("next")
}

fn names(folder: &Path) -> io::Result<Vec<SecretName>> {
    let mut names: Vec<SecretName> = Vec::new();
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(names),
        entries => entries?,
    };
    for entry in entries {
        let file = entry?.file_name();
        let name = file.to_str().and_then(|file| file.strip_suffix(ENDING));
        names.extend(name.and_then(|name| name.parse().ok()));
    }
    names.sort();
    Ok(names)
}

fn key_of(state: &VaultState) -> Result<&VaultKey, SecretStoreError> {
    match &state.root {
        RootState::Key(key) => Ok(key),
        RootState::NotYet => Err(SecretStoreError::Locked { why: "it has no key yet".to_owned() }),
        RootState::Locked(why) => Err(SecretStoreError::Locked { why: why.clone() }),
    }
}

fn value_of(
    key: &VaultKey,
    name: &SecretName,
    envelope: &Envelope,
) -> Result<Content<String>, SecretStoreError> {
    let value = envelope.open(key, name).map_err(|_| damaged(name))?;
    let text = std::str::from_utf8(&value).map_err(|_| damaged(name))?;
    Ok(Content::new(text.to_owned()))
}

fn file_of(name: &SecretName) -> String {
    format!("{}{ENDING}", name.as_str())
}

fn record(name: SecretName, envelope: &Envelope) -> Result<SecretRecord, SecretStoreError> {
    let sent_as = envelope.sent_as().map_err(|_| damaged(&name))?;
    let (version, hosts, principals) =
        (envelope.version, envelope.hosts.clone(), envelope.principals.clone());
    Ok(SecretRecord { name, version, hosts, principals, sent_as, changed: Timestamp(envelope.changed) })
}

fn not_found(name: &SecretName) -> SecretStoreError {
    SecretStoreError::NotFound { name: name.as_str().to_owned() }
}

fn damaged(name: &SecretName) -> SecretStoreError {
    SecretStoreError::Damaged { name: name.as_str().to_owned() }
}

#[cfg(test)]
mod tests;
