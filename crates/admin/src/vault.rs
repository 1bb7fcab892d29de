//! The vault, for callers: putting, binding, removing and unlocking; what it keeps is seen by nobody.
//!
//! Owns who may, and that a change is in the journal before it is made: it is made ready, recorded, and carried out, and
//! after a crash the journal says whether what is ready was decided. Nothing that runs on behalf of a run has this
//! handle. Invariant: no answer of it holds a value. Begin at [`VaultHandle::put`].

use std::collections::BTreeSet;
use std::sync::Arc;

use palyra_journal_core::families::principals;
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::maintain_journal::JournalHealth;
use palyra_ports::{
    AppendClass, AppendError, NewEntry, NewSecret, NotASecretName, PassphraseCheck, ReadError, SecretChange,
    SecretName, SecretRecord, SecretStore, SecretStoreError, SentAs, VaultStatus,
};
use palyra_types::event::JournalEvent;
use palyra_types::vault::{SecretPut, UnlockOutcome, VaultEvent};
use palyra_types::{Content, ErrorCode, PrincipalId, Redacted, Seq};
use tokio::sync::Mutex;
use tracing::Instrument;

use crate::caller::Caller;
use crate::error::AdminError;
use crate::identity::{check_identity, unless_secret};
use crate::parts::AdminPorts;

pub use crate::vault_error::VaultError;

/// Bytes of a passphrase, at least and at most.
const PASSPHRASE_BYTES_MIN: usize = 12;
const PASSPHRASE_BYTES_MAX: usize = 1_024;
/// Entries that are read at once while it is looked for a decision.
const PAGE_ENTRIES: usize = 1_000;
/// Pages that are read for one: it was recorded at once, or never.
const PAGES_MAX: usize = 1_000;

/// Decides about secrets on behalf of the owner.
#[derive(Clone)]
pub struct VaultHandle {
    ports: Arc<AdminPorts>,
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
    pub value: Content<String>,
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
    /// Makes a handle.
    #[must_use]
    pub fn new(ports: Arc<AdminPorts>, owner: PrincipalId) -> Self {
        Self { ports, owner, changing: Arc::default() }
    }

    /// Returns how the vault stands.
    ///
    /// # Errors
    /// [`VaultError`].
    pub async fn status(&self, caller: Caller) -> Result<VaultStatus, AdminError> {
        caller.check_owner(VaultError::NotAPerson)?;
        Ok(self.ask(|store| store.status()).await?)
    }

    /// Lists secrets by name, without their values.
    ///
    /// # Errors
    /// [`VaultError`].
    pub async fn list(&self, caller: Caller) -> Result<Vec<SecretRecord>, AdminError> {
        caller.check_owner(VaultError::NotAPerson)?;
        Ok(self.ask(|store| store.list()).await?)
    }

    /// Keeps a value.
    ///
    /// # Errors
    /// [`VaultError`], [`AdminError::Append`]; nothing was kept then.
    pub async fn put(&self, caller: Caller, request: PutRequest) -> Result<SecretRecord, AdminError> {
        caller.check_person(VaultError::NotAPerson)?;
        let name = name_of(&request.name)?;
        let sent_as = request.sent_as.map(|text| text.parse::<SentAs>()).transpose();
        let sent_as = sent_as.map_err(|error| unsuitable(error.to_string()))?;
        let hosts: Option<BTreeSet<_>> =
            request.hosts.map(|hosts| hosts.iter().map(|host| plain_host(host)).collect());
        self.check_named(caller, &name, hosts.iter().flatten())?;
        if let Some(SentAs::Header(header)) = &sent_as {
            check_identity(&self.ports.recorder, caller.actor.principal, "the header of the secret", header)?;
        }
        let (value, standing) = (request.value, request.standing);
        self.to_its_end(async move |vault| {
            match (standing, vault.find(&name).await) {
                (PutStanding::New, Ok(Some(_))) => return Err(VaultError::Taken.into()),
                (PutStanding::Another, Ok(None)) => return Err(not_found(&name).into()),
                // One that is damaged is put anew.
                (PutStanding::New, Err(error)) if error.code() == ErrorCode::VaultDamaged => {}
                (_, Err(error)) => return Err(error.into()),
                (PutStanding::New, Ok(None)) | (PutStanding::Another, Ok(Some(_))) => {}
            }
            let now = vault.ports.clock.wall();
            let change = SecretChange::Put(NewSecret { name, value, hosts, sent_as, now });
            let record =
                vault.carry_out(caller, change, |vault, record| vault.put_event(caller, record)).await?;
            Ok(record.ok_or(VaultError::Interrupted)?)
        })
        .await
    }

    fn put_event(&self, caller: Caller, record: Option<&SecretRecord>) -> VaultEvent {
        let text = |text: &str| self.unless_secret(text).unwrap_or_default();
        VaultEvent::Put(SecretPut {
            version: record.map_or(1, |record| record.version),
            via: caller.actor.surface,
            secret: record.map(|record| text(record.name.as_str())).unwrap_or_default(),
            hosts: record.map(|record| self.recorded_hosts(&record.hosts)).unwrap_or_default(),
            sent_as: record.map(|record| text(&record.sent_as.to_string())).unwrap_or_default(),
        })
    }

    /// Lets a secret be given to one host more.
    ///
    /// # Errors
    /// [`VaultError`], [`AdminError::Append`].
    pub async fn bind(&self, caller: Caller, name: &str, host: &str) -> Result<SecretRecord, AdminError> {
        let host = plain_host(host);
        caller.check_person(VaultError::NotAPerson)?;
        self.check_named(caller, &name_of(name)?, [&host])?;
        self.rebind(caller, name, BindingChange::WithHost(host)).await
    }

    /// Lets a secret no longer be given to a host.
    ///
    /// # Errors
    /// [`VaultError`], [`AdminError::Append`].
    pub async fn unbind(&self, caller: Caller, name: &str, host: &str) -> Result<SecretRecord, AdminError> {
        self.rebind(caller, name, BindingChange::WithoutHost(plain_host(host))).await
    }

    /// Lets a principal beside the owner use a secret, for the hosts that it is bound to.
    ///
    /// # Errors
    /// [`VaultError`], [`AdminError::Append`].
    pub async fn bind_principal(
        &self,
        caller: Caller,
        name: &str,
        principal: &str,
    ) -> Result<SecretRecord, AdminError> {
        caller.check_person(VaultError::NotAPerson)?;
        let principal = self.principal(principal).await?;
        self.rebind(caller, name, BindingChange::WithPrincipal(principal)).await
    }

    /// Lets a principal no longer use a secret.
    ///
    /// # Errors
    /// [`VaultError`], [`AdminError::Append`].
    pub async fn unbind_principal(
        &self,
        caller: Caller,
        name: &str,
        principal: &str,
    ) -> Result<SecretRecord, AdminError> {
        caller.check_person(VaultError::NotAPerson)?;
        let principal = self.principal(principal).await?;
        self.rebind(caller, name, BindingChange::WithoutPrincipal(principal)).await
    }

    /// Returns the principal of a name, or of an id where the name was erased.
    async fn principal(&self, text: &str) -> Result<PrincipalId, AdminError> {
        let known = self.ports.families.query(|rows, _| principals::all(rows)).await?;
        let is_meant = |id: PrincipalId, name: &str| name == text || id.to_string() == text;
        let found = known.iter().find(|known| is_meant(known.id, known.name.expose()));
        match found.map(|found| found.id) {
            Some(id) if id == self.owner => {
                Err(unsuitable("every secret is the owner's, who needs no binding".to_owned()).into())
            }
            Some(id) => Ok(id),
            None => {
                let shown: String = text.chars().take(64).collect();
                let why = format!(
                    "there is no principal `{shown}`; `palyra admin people add {shown}` adds a person, `palyra admin tokens create \
                     {shown}` a principal with its first token"
                );
                Err(unsuitable(why).into())
            }
        }
    }

    async fn rebind(
        &self,
        caller: Caller,
        name: &str,
        rebinding: BindingChange,
    ) -> Result<SecretRecord, AdminError> {
        caller.check_person(VaultError::NotAPerson)?;
        let name = name_of(name)?;
        self.to_its_end(async move |vault| {
            let record = vault.find(&name).await?.ok_or_else(|| not_found(&name))?;
            let Some(change) = rebinding.of(&record) else { return Ok(record) };
            let event = |vault: &Self, record: Option<&SecretRecord>| VaultEvent::Bound {
                via: caller.actor.surface,
                secret: vault.unless_secret(name.as_str()).unwrap_or_default(),
                hosts: record.map(|record| vault.recorded_hosts(&record.hosts)).unwrap_or_default(),
                principals: record
                    .map(|record| record.principals.iter().copied().collect())
                    .unwrap_or_default(),
            };
            let record = vault.carry_out(caller, change, event).await?;
            Ok(record.ok_or(VaultError::Interrupted)?)
        })
        .await
    }

    /// Forgets a secret.
    ///
    /// # Errors
    /// [`VaultError`], [`AdminError::Append`].
    pub async fn remove(&self, caller: Caller, name: &str) -> Result<(), AdminError> {
        caller.check_person(VaultError::NotAPerson)?;
        let name = name_of(name)?;
        self.to_its_end(async move |vault| {
            let event = |vault: &Self, _: Option<&SecretRecord>| VaultEvent::Removed {
                via: caller.actor.surface,
                secret: vault.unless_secret(name.as_str()).unwrap_or_default(),
            };
            vault.carry_out(caller, SecretChange::Remove(name.clone()), event).await.map(drop)
        })
        .await
    }

    /// Opens the vault with its passphrase, for the life of the daemon, once that is recorded.
    ///
    /// # Errors
    /// [`VaultError::WrongPassphrase`], which is recorded as well; [`AdminError::Append`].
    pub async fn unlock(
        &self,
        caller: Caller,
        passphrase: Content<String>,
    ) -> Result<VaultStatus, AdminError> {
        caller.check_person(VaultError::NotAPerson)?;
        self.to_its_end(async move |vault| {
            let outcome = match vault.ask(move |store| store.try_passphrase(&passphrase)).await? {
                PassphraseCheck::Opened => UnlockOutcome::Opened,
                PassphraseCheck::Wrong => UnlockOutcome::Wrong,
            };
            if let Err(error) =
                vault.append(caller, VaultEvent::Unlocked { via: caller.actor.surface, outcome }).await
            {
                vault.ask(|store| store.discard()).await?;
                return Err(error.into());
            }
            match outcome {
                UnlockOutcome::Opened => {
                    vault.ask(|store| store.unlock()).await?;
                    Ok(vault.ask(|store| store.status()).await?)
                }
                UnlockOutcome::Wrong => Err(VaultError::WrongPassphrase.into()),
            }
        })
        .await
    }

    /// Puts a passphrase in the place of the key file, or of another passphrase.
    ///
    /// # Errors
    /// [`VaultError`], [`AdminError::Append`].
    pub async fn set_passphrase(
        &self,
        caller: Caller,
        passphrase: Content<String>,
    ) -> Result<VaultStatus, AdminError> {
        caller.check_person(VaultError::NotAPerson)?;
        if !(PASSPHRASE_BYTES_MIN..=PASSPHRASE_BYTES_MAX).contains(&passphrase.expose().len()) {
            let told = format!("a passphrase has {PASSPHRASE_BYTES_MIN} to {PASSPHRASE_BYTES_MAX} bytes");
            return Err(unsuitable(told).into());
        }
        self.to_its_end(async move |vault| {
            let event =
                |_: &Self, _: Option<&SecretRecord>| VaultEvent::PassphraseSet { via: caller.actor.surface };
            vault.carry_out(caller, SecretChange::Passphrase(passphrase), event).await?;
            Ok(vault.ask(|store| store.status()).await?)
        })
        .await
    }

    /// Carries out what a crash left ready where the journal says that it was decided, and gives it up otherwise.
    ///
    /// # Errors
    /// [`VaultError`], [`AdminError::Read`]; it stays ready.
    pub async fn settle(&self) -> Result<(), AdminError> {
        // Here and not on another thread: it is one small file, and a start waits for it.
        let Some(since) = self.ports.secrets.staged().map_err(VaultError::from)? else { return Ok(()) };
        if self.ports.maintain.status().health == JournalHealth::Quarantined {
            // What it says now may be less than what the next start finds.
            return Err(AppendError::Quarantined.into());
        }
        let decided = self.is_decided(since).await?;
        self.ask(move |store| if decided { store.commit() } else { store.discard() }).await?;
        Ok(())
    }

    /// Returns whether a change was recorded from `since` on: there is one at a time, so that it is the one.
    async fn is_decided(&self, since: Seq) -> Result<bool, ReadError> {
        let mut from = since;
        for _ in 0..PAGES_MAX {
            let page = self.ports.maintain.entries(from, PAGE_ENTRIES).await?;
            let Some(last) = page.last() else { return Ok(false) };
            if page.iter().any(|entry| is_change(&entry.event)) {
                return Ok(true);
            }
            from = Seq(last.seq.0 + 1);
        }
        Ok(false)
    }

    /// Makes a change ready, records it, and carries it out.
    async fn carry_out(
        &self,
        caller: Caller,
        change: SecretChange,
        event: impl FnOnce(&Self, Option<&SecretRecord>) -> VaultEvent,
    ) -> Result<Option<SecretRecord>, AdminError> {
        let since = Seq(self.ports.maintain.status().entries);
        let record = self.ask(move |store| store.stage(change, since)).await?;
        match self.append(caller, event(self, record.as_ref())).await {
            Ok(()) => {}
            // The next start knows.
            Err(AppendError::Unknown) => return Err(AppendError::Unknown.into()),
            Err(error) => {
                self.ask(|store| store.discard()).await?;
                return Err(error.into());
            }
        }
        self.ask(|store| store.commit()).await?;
        Ok(record)
    }

    /// Does a piece of work to its end, also when the caller goes: a call of a client that hangs up is dropped wherever
    /// it waits. One piece at a time; before it, what an earlier one left is settled.
    async fn to_its_end<T: Send + 'static, F>(
        &self,
        work: impl FnOnce(Self) -> F + Send + 'static,
    ) -> Result<T, AdminError>
    where
        F: Future<Output = Result<T, AdminError>> + Send + 'static,
    {
        let one_at_a_time = Arc::clone(&self.changing).lock_owned().await;
        let vault = self.clone();
        let working = async move {
            let _one_at_a_time = one_at_a_time;
            vault.settle().await?;
            work(vault).await
        };
        let done = tokio::spawn(working.in_current_span()).await;
        done.unwrap_or_else(|_| Err(VaultError::Interrupted.into()))
    }

    async fn find(&self, name: &SecretName) -> Result<Option<SecretRecord>, VaultError> {
        let name = name.clone();
        self.ask(move |store| store.find(&name)).await
    }

    /// Refuses names by which a secret or its server would be found again, where they hold a secret themselves.
    fn check_named<'h>(
        &self,
        caller: Caller,
        name: &SecretName,
        hosts: impl IntoIterator<Item = &'h String>,
    ) -> Result<(), AdminError> {
        let check = |field, text| check_identity(&self.ports.recorder, caller.actor.principal, field, text);
        check("the name of the secret", name.as_str())?;
        hosts.into_iter().try_for_each(|host| check("the host of the secret", host).map(drop))
    }

    fn unless_secret(&self, text: &str) -> Option<Redacted<String>> {
        unless_secret(&*self.ports.redactor, text)
    }

    /// Returns hosts as they are recorded. One that was bound before a rule knew the secret in it is left out.
    fn recorded_hosts(&self, hosts: &BTreeSet<String>) -> Vec<Redacted<String>> {
        hosts.iter().filter_map(|host| self.unless_secret(host)).collect()
    }

    async fn append(&self, caller: Caller, event: VaultEvent) -> Result<(), AppendError> {
        let entry = NewEntry {
            time: self.ports.clock.wall(),
            principal: caller.actor.principal,
            session: None,
            run: None,
            event: JournalEvent::Vault(event),
        };
        let recorder = &self.ports.recorder;
        recorder.record_act(caller.actor, vec![entry], AppendClass::Normal, Vec::new()).await?;
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

/// What a secret is to be bound to, or not any more.
#[derive(Debug)]
enum BindingChange {
    WithHost(String),
    WithoutHost(String),
    WithPrincipal(PrincipalId),
    WithoutPrincipal(PrincipalId),
}

impl BindingChange {
    /// Returns the change of a secret; `None` where it is so already.
    fn of(self, record: &SecretRecord) -> Option<SecretChange> {
        let (mut hosts, mut principals) = (record.hosts.clone(), record.principals.clone());
        let is_changed = match self {
            Self::WithHost(host) => hosts.insert(host),
            Self::WithoutHost(host) => hosts.remove(&host),
            Self::WithPrincipal(principal) => principals.insert(principal),
            Self::WithoutPrincipal(principal) => principals.remove(&principal),
        };
        let name = record.name.clone();
        if !is_changed {
            None
        } else if hosts == record.hosts {
            Some(SecretChange::Share { name, principals })
        } else {
            Some(SecretChange::Bind { name, hosts })
        }
    }
}

/// Returns whether an entry says that a change was decided.
fn is_change(event: &JournalEvent) -> bool {
    let JournalEvent::Vault(event) = event else { return false };
    match event {
        VaultEvent::Put(_)
        | VaultEvent::Bound { .. }
        | VaultEvent::Removed { .. }
        | VaultEvent::PassphraseSet { .. } => true,
        VaultEvent::Unlocked { .. } | VaultEvent::Used(_) => false,
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
