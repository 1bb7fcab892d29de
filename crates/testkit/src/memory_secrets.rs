//! Secrets in memory, for runtimes without a disk.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use palyra_ports::{
    NewSecret, OpenedSecret, RootKind, SecretName, SecretRecord, SecretStore, SecretStoreError, Unlock,
    VaultStatus,
};
use palyra_types::Redacted;

/// A vault that is open until it gets a passphrase and [`MemorySecrets::lock`] is called.
#[derive(Debug, Default)]
pub struct MemorySecrets(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    secrets: BTreeMap<SecretName, (SecretRecord, Redacted<String>)>,
    passphrase: Option<Redacted<String>>,
    locked: bool,
}

impl MemorySecrets {
    /// Locks it, as a start would.
    pub fn lock(&self) {
        let mut kept = self.kept();
        kept.locked = kept.passphrase.is_some();
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open_kept(&self) -> Result<MutexGuard<'_, Kept>, SecretStoreError> {
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

impl SecretStore for MemorySecrets {
    fn list(&self) -> Result<Vec<SecretRecord>, SecretStoreError> {
        Ok(self.kept().secrets.values().map(|(record, _)| record.clone()).collect())
    }

    fn put(&self, secret: NewSecret) -> Result<SecretRecord, SecretStoreError> {
        let mut kept = self.open_kept()?;
        let before = kept.secrets.get(&secret.name).map(|(record, _)| record.clone());
        let way = before.as_ref().map(|record| record.sent_as.clone()).unwrap_or_default();
        let hosts = before.as_ref().map(|record| record.hosts.clone()).unwrap_or_default();
        let record = SecretRecord {
            name: secret.name.clone(),
            version: before.map_or(1, |record| record.version + 1),
            hosts: secret.hosts.unwrap_or(hosts),
            sent_as: secret.sent_as.unwrap_or(way),
            changed: secret.now,
        };
        kept.secrets.insert(secret.name, (record.clone(), secret.value));
        Ok(record)
    }

    fn bind(&self, name: &SecretName, hosts: BTreeSet<String>) -> Result<SecretRecord, SecretStoreError> {
        let mut kept = self.open_kept()?;
        let (record, _) = kept.secrets.get_mut(name).ok_or_else(|| not_found(name))?;
        record.hosts = hosts;
        Ok(record.clone())
    }

    fn remove(&self, name: &SecretName) -> Result<(), SecretStoreError> {
        self.kept().secrets.remove(name).map(drop).ok_or_else(|| not_found(name))
    }

    fn open(&self, name: &SecretName, host: &str) -> Result<OpenedSecret, SecretStoreError> {
        let kept = self.open_kept()?;
        let (record, value) = kept.secrets.get(name).ok_or_else(|| not_found(name))?;
        if !record.hosts.contains(host) {
            let (name, host) = (name.as_str().to_owned(), host.to_owned());
            return Err(SecretStoreError::NotBound { name, host });
        }
        Ok(OpenedSecret { value: value.clone(), sent_as: record.sent_as.clone() })
    }

    fn all_values(&self) -> Result<Vec<Redacted<String>>, SecretStoreError> {
        Ok(self.open_kept()?.secrets.values().map(|(_, value)| value.clone()).collect())
    }

    fn status(&self) -> Result<VaultStatus, SecretStoreError> {
        let kept = self.kept();
        let key = if kept.passphrase.is_some() { RootKind::Passphrase } else { RootKind::KeyFile };
        let locked = kept.locked.then(|| "no passphrase yet".to_owned());
        Ok(VaultStatus { key, locked, secrets: kept.secrets.len(), damaged: Vec::new() })
    }

    fn unlock(&self, passphrase: &Redacted<String>) -> Result<Unlock, SecretStoreError> {
        let mut kept = self.kept();
        if kept.passphrase.as_ref() != Some(passphrase) {
            return Ok(Unlock::Wrong);
        }
        kept.locked = false;
        Ok(Unlock::Opened)
    }

    fn set_passphrase(&self, passphrase: &Redacted<String>) -> Result<(), SecretStoreError> {
        self.open_kept()?.passphrase = Some(passphrase.clone());
        Ok(())
    }
}
