//! Principals and tokens: who a credential stands for.
//!
//! Invariant: a token's text exists only in the answer that made it; what is kept is its SHA-256.

use std::sync::Arc;
use std::time::Duration;

use palyra_ports::{JournalAppendRequest, NewEntry};
use palyra_types::access::{LOCAL_PRINCIPAL_NAME, PrincipalRecord, TokenRecord};
use palyra_types::event::{AccessEvent, JournalEvent};
use palyra_types::{PrincipalId, Redacted, Timestamp, TokenId};
use tokio::sync::{Mutex, watch};

use crate::error::{RequestError, StartError};
use crate::identity::check_identity;
use crate::parts::RuntimePorts;
use crate::placeholders::{Guesses, redaction_of};
use crate::vault::VaultHandle;

/// What every token begins with, so that scanners recognise one that leaked.
pub const TOKEN_PREFIX: &str = "palyra_";
/// The longest life of a token.
pub const TOKEN_LIFE_MAX: Duration = Duration::from_secs(365 * 24 * 3_600);
/// Characters of a principal's name, at most.
const PRINCIPAL_NAME_CHARS_MAX: usize = 100;

/// Looks up, makes and revokes credentials.
#[derive(Clone)]
pub struct AccessHandle {
    ports: Arc<RuntimePorts>,
    local: PrincipalId,
    known: watch::Receiver<Arc<Known>>,
    change: Arc<Mutex<watch::Sender<Arc<Known>>>>,
    vault: VaultHandle,
}

/// What is known of principals and tokens; replaced as a whole.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// All principals.
    pub principals: Vec<PrincipalRecord>,
    /// All tokens, ended ones too.
    pub tokens: Vec<TokenRecord>,
}

impl Known {
    /// Returns a principal's name.
    #[must_use]
    pub fn name_of(&self, id: PrincipalId) -> Option<&str> {
        let principal = self.principals.iter().find(|principal| principal.id == id)?;
        Some(principal.name.expose().as_str())
    }

    fn id_of(&self, name: &str) -> Option<PrincipalId> {
        self.principals.iter().find(|principal| principal.name.expose() == name).map(|principal| principal.id)
    }
}

impl AccessHandle {
    pub(crate) async fn open(ports: Arc<RuntimePorts>) -> Result<Self, StartError> {
        let mut known =
            Known { principals: ports.records.principals().await?, tokens: ports.records.tokens().await? };
        let local = match known.id_of(LOCAL_PRINCIPAL_NAME) {
            Some(local) => local,
            None => register_local(&ports, &mut known).await?,
        };
        let (sender, receiver) = watch::channel(Arc::new(known));
        let vault = VaultHandle::new(Arc::clone(&ports), local);
        Ok(Self { ports, local, known: receiver, change: Arc::new(Mutex::new(sender)), vault })
    }

    /// Returns the handle of what proves to others who asks: secrets.
    #[must_use]
    pub fn vault(&self) -> VaultHandle {
        self.vault.clone()
    }

    /// Returns the principal behind the daemon's own Unix socket.
    #[must_use]
    pub fn local_principal(&self) -> PrincipalId {
        self.local
    }

    /// Reads everything again after an erasure; the local principal gets its name back.
    pub(crate) async fn reload(&self) -> Result<(), StartError> {
        let change = self.change.lock().await;
        let records = &self.ports.records;
        let mut known = Known { principals: records.principals().await?, tokens: records.tokens().await? };
        if known.id_of(LOCAL_PRINCIPAL_NAME).is_none() {
            register_as(&self.ports, &mut known, self.local, LOCAL_PRINCIPAL_NAME).await?;
        }
        change.send_replace(Arc::new(known));
        Ok(())
    }

    /// Returns all principals and tokens.
    #[must_use]
    pub fn known(&self) -> Arc<Known> {
        Arc::clone(&self.known.borrow())
    }

    /// Returns whom a token stands for; `None` when it is unknown, revoked or over.
    ///
    /// Digests are compared, so timing tells nothing about a token's text.
    #[must_use]
    pub fn authenticate(&self, token: &str) -> Option<PrincipalId> {
        let digest = palyra_ledger::sha256(token.as_bytes());
        let now = self.ports.clock.wall();
        let known = self.known.borrow();
        let token = known.tokens.iter().find(|token| same_digest(&token.sha256, &digest))?;
        let live = token.revoked.is_none() && token.expires.is_none_or(|expires| now < expires);
        live.then_some(token.principal)
    }

    /// Makes a token for a named principal, who is registered if new; returns its record and its text.
    ///
    /// # Errors
    /// [`RequestError::InvalidArgument`] for a name that is empty, too long or not printable, or a life beyond
    /// [`TOKEN_LIFE_MAX`]; [`RequestError::Append`].
    pub async fn create_token(
        &self,
        principal: &str,
        label: &str,
        life: Duration,
    ) -> Result<(TokenRecord, Redacted<String>), RequestError> {
        check_name(principal)?;
        check_identity(&*self.ports.redactor, "the principal's name", principal)?;
        if life.is_zero() || life > TOKEN_LIFE_MAX {
            let what = "a token lives from 1 to 365 days".to_owned();
            return Err(RequestError::InvalidArgument { what });
        }
        let change = self.change.lock().await;
        let mut known = Known::clone(&change.borrow());
        let owner = match known.id_of(principal) {
            Some(owner) => owner,
            None => register(&self.ports, &mut known, principal).await?,
        };
        let now = self.ports.clock.wall();
        let secret =
            self.ports.entropy.bytes32().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let text = format!("{TOKEN_PREFIX}{secret}");
        let (ms, random) = self.ports.entropy.id_parts(now);
        let record = TokenRecord {
            id: TokenId::from_parts(ms, random),
            principal: owner,
            sha256: palyra_ledger::sha256(text.as_bytes()),
            created: now,
            expires: Some(now.after(life)),
            revoked: None,
            label: self.ports.redactor.redact(label.into()).text,
        };
        let event = JournalEvent::Access(AccessEvent::TokenCreated {
            token: record.id,
            sha256: record.sha256,
            expires: record.expires,
            label: record.label.clone(),
        });
        append(&self.ports, owner, now, event).await?;
        known.tokens.push(record.clone());
        change.send_replace(Arc::new(known));
        Ok((record, Redacted::new(text)))
    }

    /// Revokes a token; effective for every later call. Revoking twice is not an error.
    ///
    /// # Errors
    /// [`RequestError::InvalidArgument`] when there is no such token; [`RequestError::Append`].
    pub async fn revoke_token(&self, id: TokenId) -> Result<(), RequestError> {
        let change = self.change.lock().await;
        let mut known = Known::clone(&change.borrow());
        let token = known.tokens.iter_mut().find(|token| token.id == id);
        let token = token.ok_or(RequestError::InvalidArgument { what: "no such token".to_owned() })?;
        if token.revoked.is_none() {
            let now = self.ports.clock.wall();
            append(
                &self.ports,
                token.principal,
                now,
                JournalEvent::Access(AccessEvent::TokenRevoked { token: id }),
            )
            .await?;
            token.revoked = Some(now);
            change.send_replace(Arc::new(known));
        }
        Ok(())
    }
}

/// Compares in a time that does not tell where two digests differ.
fn same_digest(left: &[u8; 32], right: &[u8; 32]) -> bool {
    left.iter().zip(right).fold(0, |difference, (left, right)| difference | (left ^ right)) == 0
}

fn check_name(name: &str) -> Result<(), RequestError> {
    let fine = !name.is_empty()
        && name.chars().count() <= PRINCIPAL_NAME_CHARS_MAX
        && name.chars().all(|c| c.is_ascii_alphanumeric() || ":._@-".contains(c));
    if fine {
        return Ok(());
    }
    let what = "a principal's name has 1 to 100 of the characters a-z A-Z 0-9 : . _ @ -".to_owned();
    Err(RequestError::InvalidArgument { what })
}

/// Registers the principal of the daemon's own socket: anew, or the one whose name was erased. It is registered before
/// any other, so it has the lowest id of those without a name.
async fn register_local(
    ports: &RuntimePorts,
    known: &mut Known,
) -> Result<PrincipalId, palyra_ports::AppendError> {
    let nameless = known.principals.iter().filter(|principal| principal.name.expose().is_empty());
    match nameless.map(|principal| principal.id).min() {
        Some(local) => register_as(ports, known, local, LOCAL_PRINCIPAL_NAME).await.map(|()| local),
        None => register(ports, known, LOCAL_PRINCIPAL_NAME).await,
    }
}

async fn register(
    ports: &RuntimePorts,
    known: &mut Known,
    name: &str,
) -> Result<PrincipalId, palyra_ports::AppendError> {
    let (ms, random) = ports.entropy.id_parts(ports.clock.wall());
    let id = PrincipalId::from_parts(ms, random);
    register_as(ports, known, id, name).await?;
    Ok(id)
}

async fn register_as(
    ports: &RuntimePorts,
    known: &mut Known,
    id: PrincipalId,
    name: &str,
) -> Result<(), palyra_ports::AppendError> {
    let record = PrincipalRecord { id, name: name.into() };
    let event =
        JournalEvent::Access(AccessEvent::PrincipalRegistered { principal: id, name: record.name.clone() });
    append(ports, id, ports.clock.wall(), event).await?;
    known.principals.retain(|other| other.id != id);
    known.principals.push(record);
    Ok(())
}

async fn append(
    ports: &RuntimePorts,
    principal: PrincipalId,
    now: Timestamp,
    event: JournalEvent,
) -> Result<(), palyra_ports::AppendError> {
    let entry = NewEntry { time: now, principal, session: None, run: None, event };
    let entries = vec![entry];
    let redaction = redaction_of(ports, &Guesses::default(), &entries);
    let request = JournalAppendRequest { entries, redaction, ..JournalAppendRequest::default() };
    ports.append.append(request).await?;
    Ok(())
}
