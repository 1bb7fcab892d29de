//! The vault, for callers: putting, binding, removing and unlocking; what it keeps is seen by nobody.
//!
//! Owns who may, and that a change is in the journal before it is made. Nothing that runs on behalf of a run has this
//! handle. Invariant: no answer of it holds a value. Begin at [`VaultHandle::put`].

use std::collections::BTreeSet;
use std::sync::Arc;

use palyra_ports::secret_store::{check_hosts, check_value};
use palyra_ports::{
    JournalAppendRequest, NewEntry, NewSecret, NotASecretName, SecretName, SecretRecord, SecretStore,
    SecretStoreError, SentAs, Unlock, VaultStatus,
};
use palyra_types::event::JournalEvent;
use palyra_types::run::Surface;
use palyra_types::vault::{SecretPut, UnlockOutcome, VaultEvent};
use palyra_types::{PrincipalId, Redacted};
use tokio::sync::Mutex;

use crate::caller::Caller;
use crate::error::RequestError;
use crate::parts::RuntimePorts;
use crate::placeholders::{Guesses, redaction_of};

pub use crate::vault_error::VaultError;

/// Bytes of a passphrase, at least and at most.
const PASSPHRASE_BYTES_MIN: usize = 12;
const PASSPHRASE_BYTES_MAX: usize = 1_024;

/// Decides about secrets on behalf of the owner.
#[derive(Clone)]
pub struct VaultHandle {
    ports: Arc<RuntimePorts>,
    owner: PrincipalId,
    /// Changes come one by one.
    changing: Arc<Mutex<()>>,
}

/// A value to keep.
#[derive(Debug, Clone)]
pub struct PutRequest {
    /// The secret's name.
    pub name: String,
    /// Its value.
    pub value: Redacted<String>,
    /// To whom it may be given; `None` for whom it may already.
    pub hosts: Option<Vec<String>>,
    /// How it is sent, as [`SentAs`] is read; `None` for how it is already.
    pub sent_as: Option<String>,
    /// Whether it may be there.
    pub standing: PutStanding,
}

/// Whether a secret must be there when a value is put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PutStanding {
    /// It must not.
    New,
    /// It must.
    Another,
}

impl VaultHandle {
    pub(crate) fn new(ports: Arc<RuntimePorts>, owner: PrincipalId) -> Self {
        Self { ports, owner, changing: Arc::default() }
    }

    /// Returns how the vault stands.
    ///
    /// # Errors
    /// [`VaultError`].
    pub async fn status(&self, caller: Caller) -> Result<VaultStatus, RequestError> {
        self.check_person(caller)?;
        Ok(self.ask(|store| store.status()).await?)
    }

    /// Lists secrets by name, without their values.
    ///
    /// # Errors
    /// [`VaultError`].
    pub async fn list(&self, caller: Caller) -> Result<Vec<SecretRecord>, RequestError> {
        self.check_person(caller)?;
        Ok(self.ask(|store| store.list()).await?)
    }

    /// Keeps a value.
    ///
    /// # Errors
    /// [`VaultError`], [`RequestError::Append`]; nothing was kept then.
    pub async fn put(&self, caller: Caller, request: PutRequest) -> Result<SecretRecord, RequestError> {
        self.check_person(caller)?;
        let name = name_of(&request.name)?;
        let sent_as = request.sent_as.map(|text| text.parse::<SentAs>()).transpose();
        let sent_as = sent_as.map_err(|error| unsuitable(error.to_string()))?;
        let hosts = request.hosts.map(|hosts| hosts.iter().map(|host| plain_host(host)).collect());
        let _one_at_a_time = self.changing.lock().await;
        let before = self.find(&name).await?;
        match (request.standing, &before) {
            (PutStanding::New, Some(_)) => return Err(VaultError::Taken.into()),
            (PutStanding::Another, None) => return Err(not_found(&name).into()),
            (PutStanding::New, None) | (PutStanding::Another, Some(_)) => {}
        }
        self.check_open().await?;
        let known_way = before.as_ref().map(|record| record.sent_as.clone());
        let way = sent_as.clone().or(known_way).unwrap_or_default();
        check_value(request.value.expose(), &way).map_err(VaultError::from)?;
        let known_hosts = before.as_ref().map(|record| record.hosts.clone());
        let all_hosts: BTreeSet<String> = hosts.clone().or(known_hosts).unwrap_or_default();
        check_hosts(&all_hosts).map_err(VaultError::from)?;
        let event = VaultEvent::Put(SecretPut {
            version: before.map_or(1, |record| record.version.saturating_add(1)),
            via: caller.surface,
            secret: name.as_str().into(),
            hosts: all_hosts.into_iter().map(Redacted::new).collect(),
            sent_as: way.to_string().into(),
        });
        self.append(caller, event).await?;
        let now = self.ports.clock.wall();
        let secret = NewSecret { name, value: request.value, hosts, sent_as, now };
        Ok(self.ask(move |store| store.put(secret)).await?)
    }

    /// Lets a secret be given to one host more.
    ///
    /// # Errors
    /// [`VaultError`], [`RequestError::Append`].
    pub async fn bind(&self, caller: Caller, name: &str, host: &str) -> Result<SecretRecord, RequestError> {
        self.change_hosts(caller, name, |hosts| {
            hosts.insert(plain_host(host));
        })
        .await
    }

    /// Lets a secret no longer be given to a host.
    ///
    /// # Errors
    /// [`VaultError`], [`RequestError::Append`].
    pub async fn unbind(&self, caller: Caller, name: &str, host: &str) -> Result<SecretRecord, RequestError> {
        self.change_hosts(caller, name, |hosts| {
            hosts.remove(&plain_host(host));
        })
        .await
    }

    async fn change_hosts(
        &self,
        caller: Caller,
        name: &str,
        change: impl FnOnce(&mut BTreeSet<String>),
    ) -> Result<SecretRecord, RequestError> {
        self.check_person(caller)?;
        let name = name_of(name)?;
        let _one_at_a_time = self.changing.lock().await;
        let record = self.find(&name).await?.ok_or_else(|| not_found(&name))?;
        let mut hosts = record.hosts.clone();
        change(&mut hosts);
        if hosts == record.hosts {
            return Ok(record);
        }
        check_hosts(&hosts).map_err(VaultError::from)?;
        self.check_open().await?;
        let event = VaultEvent::Bound {
            via: caller.surface,
            secret: name.as_str().into(),
            hosts: hosts.iter().cloned().map(Redacted::new).collect(),
        };
        self.append(caller, event).await?;
        Ok(self.ask(move |store| store.bind(&name, hosts)).await?)
    }

    /// Forgets a secret.
    ///
    /// # Errors
    /// [`VaultError`], [`RequestError::Append`].
    pub async fn remove(&self, caller: Caller, name: &str) -> Result<(), RequestError> {
        self.check_person(caller)?;
        let name = name_of(name)?;
        let _one_at_a_time = self.changing.lock().await;
        let (record, status) = (self.find(&name).await?, self.ask(|store| store.status()).await?);
        if record.is_none() && !status.damaged.contains(&name) {
            return Err(not_found(&name).into());
        }
        let event = VaultEvent::Removed { via: caller.surface, secret: name.as_str().into() };
        self.append(caller, event).await?;
        Ok(self.ask(move |store| store.remove(&name)).await?)
    }

    /// Opens the vault with its passphrase, for the life of the daemon.
    ///
    /// # Errors
    /// [`VaultError::WrongPassphrase`], which is recorded as well; [`RequestError::Append`].
    pub async fn unlock(
        &self,
        caller: Caller,
        passphrase: Redacted<String>,
    ) -> Result<VaultStatus, RequestError> {
        self.check_person(caller)?;
        let _one_at_a_time = self.changing.lock().await;
        let outcome = match self.ask(move |store| store.unlock(&passphrase)).await? {
            Unlock::Opened => UnlockOutcome::Opened,
            Unlock::Wrong => UnlockOutcome::Wrong,
        };
        self.append(caller, VaultEvent::Unlocked { via: caller.surface, outcome }).await?;
        match outcome {
            UnlockOutcome::Opened => Ok(self.ask(|store| store.status()).await?),
            UnlockOutcome::Wrong => Err(VaultError::WrongPassphrase.into()),
        }
    }

    /// Puts a passphrase in the place of the key file, or of another passphrase.
    ///
    /// # Errors
    /// [`VaultError`], [`RequestError::Append`].
    pub async fn set_passphrase(
        &self,
        caller: Caller,
        passphrase: Redacted<String>,
    ) -> Result<VaultStatus, RequestError> {
        self.check_person(caller)?;
        if !(PASSPHRASE_BYTES_MIN..=PASSPHRASE_BYTES_MAX).contains(&passphrase.expose().len()) {
            let told = format!("a passphrase has {PASSPHRASE_BYTES_MIN} to {PASSPHRASE_BYTES_MAX} bytes");
            return Err(unsuitable(told).into());
        }
        let _one_at_a_time = self.changing.lock().await;
        self.check_open().await?;
        self.append(caller, VaultEvent::PassphraseSet { via: caller.surface }).await?;
        self.ask(move |store| store.set_passphrase(&passphrase)).await?;
        Ok(self.ask(|store| store.status()).await?)
    }

    /// No run, no tool and no token gets past this: a person at the daemon's own socket does.
    fn check_person(&self, caller: Caller) -> Result<(), VaultError> {
        let person = caller.surface == Surface::LocalSocket && caller.principal == self.owner;
        if person { Ok(()) } else { Err(VaultError::NotAPerson) }
    }

    async fn check_open(&self) -> Result<(), VaultError> {
        match self.ask(|store| store.status()).await?.locked {
            Some(why) => Err(SecretStoreError::Locked { why }.into()),
            None => Ok(()),
        }
    }

    async fn find(&self, name: &SecretName) -> Result<Option<SecretRecord>, VaultError> {
        let records = self.ask(|store| store.list()).await?;
        Ok(records.into_iter().find(|record| record.name == *name))
    }

    async fn append(&self, caller: Caller, event: VaultEvent) -> Result<(), RequestError> {
        let entry = NewEntry {
            time: self.ports.clock.wall(),
            principal: caller.principal,
            session: None,
            run: None,
            event: JournalEvent::Vault(event),
        };
        let entries = vec![entry];
        let redaction = redaction_of(&self.ports, &Guesses::default(), &entries);
        let request = JournalAppendRequest { entries, redaction, ..JournalAppendRequest::default() };
        self.ports.append.append(request).await?;
        Ok(())
    }

    /// Asks the store on a thread that may wait for the disk.
    async fn ask<T: Send + 'static>(
        &self,
        what: impl FnOnce(&dyn SecretStore) -> Result<T, SecretStoreError> + Send + 'static,
    ) -> Result<T, VaultError> {
        let store = Arc::clone(&self.ports.secrets);
        match tokio::task::spawn_blocking(move || what(&*store)).await {
            Ok(answer) => Ok(answer?),
            Err(_) => Err(VaultError::Interrupted),
        }
    }
}

fn name_of(text: &str) -> Result<SecretName, VaultError> {
    text.parse().map_err(|error: NotASecretName| unsuitable(error.to_string()))
}

/// Returns a host as servers are named: in lower case, without a dot at its end and without the usual port.
fn plain_host(text: &str) -> String {
    let host = text.to_ascii_lowercase();
    let host = host.strip_suffix(":443").unwrap_or(&host);
    host.strip_suffix('.').unwrap_or(host).to_owned()
}

fn unsuitable(why: String) -> VaultError {
    SecretStoreError::Unsuitable { why }.into()
}

fn not_found(name: &SecretName) -> VaultError {
    SecretStoreError::NotFound { name: name.as_str().to_owned() }.into()
}
