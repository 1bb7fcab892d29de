//! The vault of a daemon: its secrets are known to the scanner from the start on, and each use is in the journal.
//!
//! Owns the order: a value is registered before anybody can say it, and a use is recorded before the value is given
//! out. A value that cannot be registered is neither kept nor given out. Hands values to nobody but [`palyra_ports::FillCredential`]'s callers, at the border to other machines.
//! Begin at [`OpenVault::open`].

mod credentials;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use palyra_admin::health::{CheckLevel, HealthCheck};
use palyra_ports::{
    OpenedSecret, PassphraseCheck, RootKind, SecretChange, SecretName, SecretReader, SecretRecord,
    SecretStore, SecretStoreError, VaultStatus,
};
use palyra_redaction::RegisterError;
use palyra_types::{Content, Seq};
use palyra_vault::{Carried, Vault};

use crate::secrets;
use crate::system::SystemEntropy;

pub(crate) use credentials::VaultCredentials;

/// The folder of the state directory.
const FOLDER: &str = "vault";
/// What to do where the key file is missing, which is read at the start.
const KEY_FILE_MEND: &str = "`palyra admin stop`, then put the key file back as `vault/root.key` of the state directory; if it is lost, \
                             move the folder `vault` away instead and store the secrets again";

/// A vault whose values the scanner knows.
pub(crate) struct OpenVault {
    vault: Vault,
    /// Those whose values the scanner has no room for.
    unguarded: Mutex<Vec<SecretName>>,
}

impl OpenVault {
    /// Opens the vault of a state directory, which is made with the first secret. What is missing, damaged or in the way
    /// is told by its status.
    pub(crate) fn open(state_dir: &Path) -> Arc<Self> {
        let vault = Vault::open(&state_dir.join(FOLDER), Arc::new(SystemEntropy));
        let held = Self { vault, unguarded: Mutex::default() };
        held.register();
        Arc::new(held)
    }

    /// Returns what an operator can know about it.
    pub(crate) fn check(&self) -> HealthCheck {
        let check = |level, found: String, mend| HealthCheck { name: "vault", level, found, mend };
        match self.vault.status() {
            Ok(status) => {
                let found = found(&status);
                let unguarded = self.unguarded.lock().unwrap_or_else(PoisonError::into_inner).len();
                if unguarded > 0 {
                    let found = format!("{found}; {unguarded} cannot be redacted and are not used");
                    check(
                        CheckLevel::Error,
                        found,
                        "remove secrets that are not used, then restart the daemon",
                    )
                } else if !status.damaged.is_empty() {
                    check(
                        CheckLevel::Error,
                        found,
                        "store the damaged secrets again, or restore the folder `vault`",
                    )
                } else if status.locked.is_some() {
                    let mend = match status.key {
                        RootKind::Passphrase => "`palyra admin vault unlock` opens it until the daemon ends",
                        RootKind::KeyFile => KEY_FILE_MEND,
                    };
                    check(CheckLevel::Warning, found, mend)
                } else {
                    check(CheckLevel::Ok, found, "")
                }
            }
            Err(error) => {
                check(CheckLevel::Error, error.to_string(), "look at the folder `vault` and the disk")
            }
        }
    }

    /// Tells the scanner what there is; a vault that is locked has nothing to tell yet.
    fn register(&self) {
        match self.vault.values() {
            Ok(values) => {
                for name in &values.unread {
                    let name = name.as_str();
                    tracing::error!("the secret `{name}` cannot be read, so it is not looked for in texts");
                }
                let unguarded = secrets::hold_all(values.values);
                for name in &unguarded {
                    let name = name.as_str();
                    tracing::error!("the secret `{name}` cannot be redacted, so it is not used");
                }
                *self.unguarded.lock().unwrap_or_else(PoisonError::into_inner) = unguarded;
            }
            Err(SecretStoreError::Locked { why }) => {
                tracing::warn!("the vault is locked, so its secrets are not looked for in texts: {why}");
            }
            Err(error) => tracing::error!("the vault's secrets are not looked for in texts: {error}"),
        }
    }
}

/// Has a value looked for, or says that nobody may have it.
fn hold(name: &SecretName, value: &Content<String>) -> Result<(), SecretStoreError> {
    let unguarded = |error: RegisterError| SecretStoreError::Unguarded {
        name: name.as_str().to_owned(),
        why: error.to_string(),
    };
    secrets::hold(name, value).map_err(unguarded)
}

fn found(status: &VaultStatus) -> String {
    let secrets = match status.secrets {
        0 => "empty".to_owned(),
        1 => "1 secret".to_owned(),
        count => format!("{count} secrets"),
    };
    let key = match status.key {
        RootKind::KeyFile => "a key file in the state directory (`vault/root.key`, no passphrase)",
        RootKind::Passphrase => "a passphrase",
    };
    let mut found = format!("{secrets}, encrypted with {key}");
    if let Some(why) = &status.locked {
        found = format!("{found}; locked: {why}");
    }
    if !status.damaged.is_empty() {
        let names: Vec<_> = status.damaged.iter().map(SecretName::as_str).collect();
        found = format!("{found}; damaged: {}", names.join(", "));
    }
    found
}

impl SecretStore for OpenVault {
    fn list(&self) -> Result<Vec<SecretRecord>, SecretStoreError> {
        self.vault.list()
    }

    fn find(&self, name: &SecretName) -> Result<Option<SecretRecord>, SecretStoreError> {
        self.vault.find(name)
    }

    fn open(
        &self,
        name: &SecretName,
        host: &str,
        reader: SecretReader,
    ) -> Result<OpenedSecret, SecretStoreError> {
        let opened = self.vault.open(name, host, reader)?;
        // One that could not be read when it should have been registered, or was put there since.
        hold(name, &opened.value)?;
        Ok(opened)
    }

    fn status(&self) -> Result<VaultStatus, SecretStoreError> {
        self.vault.status()
    }

    fn stage(&self, change: SecretChange, since: Seq) -> Result<Option<SecretRecord>, SecretStoreError> {
        let new = match &change {
            SecretChange::Put(secret) => Some((secret.name.clone(), secret.value.clone())),
            SecretChange::Bind { .. }
            | SecretChange::Share { .. }
            | SecretChange::Remove(_)
            | SecretChange::Passphrase(_) => None,
        };
        let record = self.vault.stage(change, since)?;
        if let Some((name, value)) = new
            && let Err(error) = hold(&name, &value)
        {
            self.vault.discard()?;
            return Err(error);
        }
        Ok(record)
    }

    fn staged(&self) -> Result<Option<Seq>, SecretStoreError> {
        self.vault.staged()
    }

    /// What was removed is looked for until the daemon ends: elsewhere it may still be worth something.
    fn commit(&self) -> Result<(), SecretStoreError> {
        if let Carried::Removed(name) = self.vault.carry_out()? {
            secrets::part_with(&name);
        }
        Ok(())
    }

    fn discard(&self) -> Result<(), SecretStoreError> {
        self.vault.discard()
    }

    fn try_passphrase(&self, passphrase: &Content<String>) -> Result<PassphraseCheck, SecretStoreError> {
        self.vault.try_passphrase(passphrase)
    }

    fn unlock(&self) -> Result<(), SecretStoreError> {
        self.vault.unlock()?;
        self.register();
        Ok(())
    }
}

#[cfg(test)]
mod tests;
