//! The vault of a daemon: its secrets are known to the scanner from the start on, and each use is in the journal.
//!
//! Owns the order: a value is registered before anybody can say it, and a use is recorded before the value is given
//! out. Hands values to nobody but [`palyra_ports::FillCredential`]'s callers, at the border to other machines.
//! Begin at [`Held::open`].

mod credentials;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use palyra_ports::{
    NewSecret, OpenedSecret, RootKind, SecretName, SecretRecord, SecretStore, SecretStoreError, Unlock,
    VaultStatus,
};
use palyra_runtime::health::{Check, CheckLevel};
use palyra_types::Redacted;
use palyra_vault::Vault;

use crate::secrets;
use crate::system::SystemEntropy;

pub(crate) use credentials::VaultCredentials;

/// The folder of the state directory.
const FOLDER: &str = "vault";

/// A vault whose values the scanner knows.
pub(crate) struct Held {
    vault: Vault,
}

impl Held {
    /// Opens the vault of a state directory, and makes it when there is none.
    ///
    /// # Errors
    /// [`SecretStoreError`] when its folder cannot be used; what is missing or damaged in it is told by its status.
    pub(crate) fn open(state_dir: &Path) -> Result<Arc<Self>, SecretStoreError> {
        let held = Self { vault: Vault::open(&state_dir.join(FOLDER), Arc::new(SystemEntropy))? };
        held.register();
        Ok(Arc::new(held))
    }

    /// Returns what an operator can know about it.
    pub(crate) fn check(&self) -> Check {
        let told = |level, found: String, mend| Check { name: "vault", level, found, mend };
        match self.vault.status() {
            Ok(status) => {
                let found = found(&status);
                if !status.damaged.is_empty() {
                    told(CheckLevel::Error, found, "put what is damaged anew, or restore the folder `vault`")
                } else if status.locked.is_some() {
                    let mend = match status.key {
                        RootKind::Passphrase => "`palyra admin vault unlock` opens it until the daemon ends",
                        RootKind::KeyFile => "put the key file back from where it was kept",
                    };
                    told(CheckLevel::Warning, found, mend)
                } else {
                    told(CheckLevel::Ok, found, "")
                }
            }
            Err(error) => {
                told(CheckLevel::Error, error.to_string(), "look at the folder `vault` and the disk")
            }
        }
    }

    /// Tells the scanner what there is; a vault that is locked has nothing to tell yet.
    fn register(&self) {
        match self.vault.all_values() {
            Ok(values) => secrets::know_vault(values),
            Err(SecretStoreError::Locked { why }) => {
                tracing::warn!("the vault is locked, so its secrets are not looked for in texts: {why}");
            }
            Err(error) => tracing::error!("the vault's secrets are not looked for in texts: {error}"),
        }
    }
}

fn found(status: &VaultStatus) -> String {
    let secrets = match status.secrets {
        1 => "1 secret".to_owned(),
        count => format!("{count} secrets"),
    };
    let key = match status.key {
        RootKind::KeyFile => {
            "a key file beside them, `vault/root.key`: who can read the folder can open them"
        }
        RootKind::Passphrase => "a passphrase",
    };
    let mut found = format!("{secrets} under {key}");
    if let Some(why) = &status.locked {
        found = format!("{found}; locked: {why}");
    }
    if !status.damaged.is_empty() {
        let names: Vec<_> = status.damaged.iter().map(SecretName::as_str).collect();
        found = format!("{found}; damaged: {}", names.join(", "));
    }
    found
}

impl SecretStore for Held {
    fn list(&self) -> Result<Vec<SecretRecord>, SecretStoreError> {
        self.vault.list()
    }

    fn put(&self, secret: NewSecret) -> Result<SecretRecord, SecretStoreError> {
        secrets::know_more(secret.value.clone());
        let put = self.vault.put(secret);
        self.register();
        put
    }

    fn bind(&self, name: &SecretName, hosts: BTreeSet<String>) -> Result<SecretRecord, SecretStoreError> {
        self.vault.bind(name, hosts)
    }

    /// What was removed is looked for until the daemon ends: elsewhere it may still be worth something.
    fn remove(&self, name: &SecretName) -> Result<(), SecretStoreError> {
        self.vault.remove(name)
    }

    fn open(&self, name: &SecretName, host: &str) -> Result<OpenedSecret, SecretStoreError> {
        self.vault.open(name, host)
    }

    fn all_values(&self) -> Result<Vec<Redacted<String>>, SecretStoreError> {
        self.vault.all_values()
    }

    fn status(&self) -> Result<VaultStatus, SecretStoreError> {
        self.vault.status()
    }

    fn unlock(&self, passphrase: &Redacted<String>) -> Result<Unlock, SecretStoreError> {
        let unlocked = self.vault.unlock(passphrase)?;
        self.register();
        Ok(unlocked)
    }

    fn set_passphrase(&self, passphrase: &Redacted<String>) -> Result<(), SecretStoreError> {
        self.vault.set_passphrase(passphrase)
    }
}

#[cfg(test)]
mod tests;
