//! Secrets in memory, for runtimes without a disk.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use palyra_ports::secret_store::{check_hosts, check_principals, check_value};
use palyra_ports::{
    CredentialUser, NewSecret, OpenedSecret, PassphraseCheck, RootKind, SecretChange, SecretName,
    SecretNames, SecretReader, SecretRecord, SecretStore, SecretStoreError, VaultStatus,
};
use palyra_types::{Content, PrincipalId, Seq};

/// A vault that is open until it gets a passphrase and [`MemorySecrets::lock`] is called.
#[derive(Debug, Default)]
pub struct MemorySecrets(Mutex<StoredSecret>);

#[derive(Debug, Default)]
struct StoredSecret {
    secrets: BTreeMap<SecretName, (SecretRecord, Content<String>)>,
    passphrase: Option<Content<String>>,
    locked: bool,
    ready: Option<(SecretChange, Seq)>,
    tried: UnlockState,
}

/// Whether a passphrase was tried and right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum UnlockState {
    #[default]
    No,
    Tried,
}

impl MemorySecrets {
    /// Locks it, as a start would.
    pub fn lock(&self) {
        let mut kept = self.kept();
        kept.locked = kept.passphrase.is_some();
    }

    fn kept(&self) -> MutexGuard<'_, StoredSecret> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open_kept(&self) -> Result<MutexGuard<'_, StoredSecret>, SecretStoreError> {
        let kept = self.kept();
        if kept.locked {
            Err(SecretStoreError::Locked { why: "no passphrase yet".to_owned() })
        } else {
            Ok(kept)
        }
    }
}

fn not_found(name: &SecretName) -> SecretStoreError {
    SecretStoreError::NotFound { name: name.as_str().to_owned() }
}

impl StoredSecret {
    fn put(&self, secret: &NewSecret) -> SecretRecord {
        let before = self.secrets.get(&secret.name).map(|(record, _)| record.clone());
        let way = before.as_ref().map(|record| record.sent_as.clone()).unwrap_or_default();
        let hosts = before.as_ref().map(|record| record.hosts.clone()).unwrap_or_default();
        SecretRecord {
            name: secret.name.clone(),
            version: before.as_ref().map_or(1, |record| record.version + 1),
            hosts: secret.hosts.clone().unwrap_or(hosts),
            principals: before.as_ref().map(|record| record.principals.clone()).unwrap_or_default(),
            sent_as: secret.sent_as.clone().unwrap_or(way),
            changed: secret.now,
        }
    }

    fn bound(&self, name: &SecretName, hosts: &BTreeSet<String>) -> Result<SecretRecord, SecretStoreError> {
        let (record, _) = self.secrets.get(name).ok_or_else(|| not_found(name))?;
        Ok(SecretRecord { hosts: hosts.clone(), ..record.clone() })
    }

    fn shared(
        &self,
        name: &SecretName,
        principals: &BTreeSet<PrincipalId>,
    ) -> Result<SecretRecord, SecretStoreError> {
        let (record, _) = self.secrets.get(name).ok_or_else(|| not_found(name))?;
        Ok(SecretRecord { principals: principals.clone(), ..record.clone() })
    }

    fn carry_out(&mut self, change: SecretChange) -> Result<(), SecretStoreError> {
        match change {
            SecretChange::Put(secret) => {
                let record = self.put(&secret);
                self.secrets.insert(secret.name, (record, secret.value));
            }
            SecretChange::Bind { name, hosts } => {
                let record = self.bound(&name, &hosts)?;
                if let Some((kept, _)) = self.secrets.get_mut(&name) {
                    *kept = record;
                }
            }
            SecretChange::Share { name, principals } => {
                let record = self.shared(&name, &principals)?;
                if let Some((kept, _)) = self.secrets.get_mut(&name) {
                    *kept = record;
                }
            }
            SecretChange::Remove(name) => drop(self.secrets.remove(&name)),
            SecretChange::Passphrase(passphrase) => self.passphrase = Some(passphrase),
        }
        Ok(())
    }
}

impl SecretStore for MemorySecrets {
    fn list(&self) -> Result<Vec<SecretRecord>, SecretStoreError> {
        Ok(self.kept().secrets.values().map(|(record, _)| record.clone()).collect())
    }

    fn find(&self, name: &SecretName) -> Result<Option<SecretRecord>, SecretStoreError> {
        Ok(self.kept().secrets.get(name).map(|(record, _)| record.clone()))
    }

    fn open(
        &self,
        name: &SecretName,
        host: &str,
        reader: SecretReader,
    ) -> Result<OpenedSecret, SecretStoreError> {
        if reader != SecretReader::Owner && !self.find(name)?.is_some_and(|it| it.is_usable_by(reader)) {
            return Err(not_found(name));
        }
        let kept = self.open_kept()?;
        let (record, value) = kept.secrets.get(name).ok_or_else(|| not_found(name))?;
        if !record.hosts.contains(host) {
            let (name, host) = (name.as_str().to_owned(), host.to_owned());
            return Err(SecretStoreError::NotBound { name, host });
        }
        Ok(OpenedSecret { value: value.clone(), sent_as: record.sent_as.clone() })
    }

    fn status(&self) -> Result<VaultStatus, SecretStoreError> {
        let kept = self.kept();
        let key = if kept.passphrase.is_some() { RootKind::Passphrase } else { RootKind::KeyFile };
        let locked = kept.locked.then(|| "no passphrase yet".to_owned());
        Ok(VaultStatus { key, locked, secrets: kept.secrets.len(), damaged: Vec::new() })
    }

    fn stage(&self, change: SecretChange, since: Seq) -> Result<Option<SecretRecord>, SecretStoreError> {
        if let SecretChange::Remove(name) = &change {
            self.find(name)?.ok_or_else(|| not_found(name))?;
        } else {
            drop(self.open_kept()?);
        }
        let mut kept = self.kept();
        let record = match &change {
            SecretChange::Put(secret) => {
                let record = kept.put(secret);
                check_hosts(&record.hosts)?;
                check_value(secret.value.expose(), &record.sent_as)?;
                Some(record)
            }
            SecretChange::Bind { name, hosts } => {
                check_hosts(hosts)?;
                Some(kept.bound(name, hosts)?)
            }
            SecretChange::Share { name, principals } => {
                check_principals(principals)?;
                Some(kept.shared(name, principals)?)
            }
            SecretChange::Remove(_) | SecretChange::Passphrase(_) => None,
        };
        kept.ready = Some((change, since));
        Ok(record)
    }

    fn staged(&self) -> Result<Option<Seq>, SecretStoreError> {
        Ok(self.kept().ready.as_ref().map(|(_, since)| *since))
    }

    fn commit(&self) -> Result<(), SecretStoreError> {
        let mut kept = self.kept();
        kept.ready.take().map_or(Ok(()), |(change, _)| kept.carry_out(change))
    }

    fn discard(&self) -> Result<(), SecretStoreError> {
        let mut kept = self.kept();
        (kept.ready, kept.tried) = (None, UnlockState::No);
        Ok(())
    }

    fn try_passphrase(&self, passphrase: &Content<String>) -> Result<PassphraseCheck, SecretStoreError> {
        let mut kept = self.kept();
        if kept.passphrase.as_ref() != Some(passphrase) {
            return Ok(PassphraseCheck::Wrong);
        }
        kept.tried = UnlockState::Tried;
        Ok(PassphraseCheck::Opened)
    }

    fn unlock(&self) -> Result<(), SecretStoreError> {
        let mut kept = self.kept();
        kept.locked = kept.locked && std::mem::take(&mut kept.tried) == UnlockState::No;
        Ok(())
    }
}

/// Everybody may know which there are.
impl SecretNames for MemorySecrets {
    fn is_missing(&self, name: &str, _: Option<CredentialUser>) -> bool {
        name.parse().map_or(true, |name| matches!(self.find(&name), Ok(None)))
    }
}

/// Makes changes at once, where no journal decides about them.
pub trait ChangeSecrets: SecretStore {
    /// Keeps a value.
    ///
    /// # Errors
    /// As [`SecretStore::stage`].
    fn put(&self, secret: NewSecret) -> Result<SecretRecord, SecretStoreError> {
        let record = self.change(SecretChange::Put(secret))?;
        Ok(record.expect("a value that is kept makes a secret"))
    }

    /// Says to which hosts a secret may be given.
    ///
    /// # Errors
    /// As [`SecretStore::stage`].
    fn bind(&self, name: &SecretName, hosts: BTreeSet<String>) -> Result<SecretRecord, SecretStoreError> {
        let record = self.change(SecretChange::Bind { name: name.clone(), hosts })?;
        Ok(record.expect("what is bound is a secret"))
    }

    /// Says which principals may use a secret beside the owner.
    ///
    /// # Errors
    /// As [`SecretStore::stage`].
    fn share(
        &self,
        name: &SecretName,
        principals: BTreeSet<PrincipalId>,
    ) -> Result<SecretRecord, SecretStoreError> {
        let record = self.change(SecretChange::Share { name: name.clone(), principals })?;
        Ok(record.expect("what is shared is a secret"))
    }

    /// Forgets a secret.
    ///
    /// # Errors
    /// As [`SecretStore::stage`].
    fn remove(&self, name: &SecretName) -> Result<(), SecretStoreError> {
        self.change(SecretChange::Remove(name.clone())).map(drop)
    }

    /// Sets a passphrase.
    ///
    /// # Errors
    /// As [`SecretStore::stage`].
    fn set_passphrase(&self, passphrase: &str) -> Result<(), SecretStoreError> {
        self.change(SecretChange::Passphrase(passphrase.into())).map(drop)
    }

    /// Carries out one change.
    ///
    /// # Errors
    /// As [`SecretStore::stage`].
    fn change(&self, change: SecretChange) -> Result<Option<SecretRecord>, SecretStoreError> {
        let record = self.stage(change, Seq(0))?;
        self.commit()?;
        Ok(record)
    }
}

impl<S: SecretStore + ?Sized> ChangeSecrets for S {}
