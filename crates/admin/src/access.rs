//! Principals and tokens: who a credential stands for.
//!
//! Invariant: a token's text exists only in the answer that made it; what is kept is its SHA-256.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_journal_core::families::{principals, tokens};
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::{AppendClass, NewEntry, Recorder};
use palyra_types::access::{LOCAL_PRINCIPAL_NAME, PrincipalRecord, TokenRecord};
use palyra_types::event::{AccessEvent, JournalEvent};
use palyra_types::{Content, PrincipalId, Redacted, Timestamp, TokenId};
use tokio::sync::{Mutex, watch};

use crate::erasure_subscriber::ErasureSubscriber;
use crate::error::{AdminError, OpenError};
use crate::identity::check_identity;
use crate::parts::AdminPorts;

/// What every token begins with, so that scanners recognise one that leaked.
pub const TOKEN_PREFIX: &str = "palyra_";
/// The longest life of a token.
pub const TOKEN_LIFE_MAX: Duration = Duration::from_secs(365 * 24 * 3_600);
/// Characters of a principal's name, at most.
const PRINCIPAL_NAME_CHARS_MAX: usize = 100;

/// Looks up, makes and revokes credentials.
#[derive(Clone)]
pub struct AccessHandle {
    ports: Arc<AdminPorts>,
    local: PrincipalId,
    known: watch::Receiver<Arc<Known>>,
    change: Arc<Mutex<watch::Sender<Arc<Known>>>>,
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
    /// Reads principals and tokens; registers the local principal where there is none.
    ///
    /// # Errors
    /// [`OpenError`].
    pub async fn open(ports: Arc<AdminPorts>) -> Result<Self, OpenError> {
        let mut known = Known {
            principals: ports.families.query(|rows, _| principals::all(rows)).await?,
            tokens: ports.families.query(|rows, _| tokens::all(rows)).await?,
        };
        let local = match known.id_of(LOCAL_PRINCIPAL_NAME) {
            Some(local) => local,
            None => register_local(&ports, &mut known).await?,
        };
        let (sender, receiver) = watch::channel(Arc::new(known));
        Ok(Self { ports, local, known: receiver, change: Arc::new(Mutex::new(sender)) })
    }

    /// Returns the principal behind the daemon's own Unix socket.
    #[must_use]
    pub fn local_principal(&self) -> PrincipalId {
        self.local
    }

    /// Reads everything again after an erasure; the local principal gets its name back.
    async fn reload(&self) -> Result<(), OpenError> {
        let change = self.change.lock().await;
        let families = &self.ports.families;
        let mut known = Known {
            principals: families.query(|rows, _| principals::all(rows)).await?,
            tokens: families.query(|rows, _| tokens::all(rows)).await?,
        };
        if known.id_of(LOCAL_PRINCIPAL_NAME).is_none() {
            register_as(&self.ports, &mut known, self.local, LOCAL_PRINCIPAL_NAME.into()).await?;
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
    /// [`AdminError::InvalidArgument`] for a name that is empty, too long or not printable, or a life beyond
    /// [`TOKEN_LIFE_MAX`]; [`AdminError::Append`].
    pub async fn create_token(
        &self,
        principal: &str,
        label: &str,
        life: Duration,
    ) -> Result<(TokenRecord, Content<String>), AdminError> {
        check_name(principal)?;
        let name = check_identity(&self.ports.recorder, self.local, "the principal's name", principal)?;
        if life.is_zero() || life > TOKEN_LIFE_MAX {
            let what = "a token lives from 1 to 365 days".to_owned();
            return Err(AdminError::InvalidArgument { what });
        }
        let change = self.change.lock().await;
        let mut known = Known::clone(&change.borrow());
        let owner = match known.id_of(principal) {
            Some(owner) => owner,
            None => register(&self.ports, &mut known, name).await?,
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
        append(&self.ports.recorder, owner, now, event).await?;
        known.tokens.push(record.clone());
        change.send_replace(Arc::new(known));
        Ok((record, Content::new(text)))
    }

    /// Revokes a token; effective for every later call. Revoking twice is not an error.
    ///
    /// # Errors
    /// [`AdminError::InvalidArgument`] when there is no such token; [`AdminError::Append`].
    pub async fn revoke_token(&self, id: TokenId) -> Result<(), AdminError> {
        let change = self.change.lock().await;
        let mut known = Known::clone(&change.borrow());
        let token = known.tokens.iter_mut().find(|token| token.id == id);
        let token = token.ok_or(AdminError::InvalidArgument { what: "no such token".to_owned() })?;
        if token.revoked.is_none() {
            let now = self.ports.clock.wall();
            append(
                &self.ports.recorder,
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

impl ErasureSubscriber for AccessHandle {
    fn forget_erased(&self) -> BoxFuture<'_, ()> {
        async {
            // The next start does the same; the erasure is done.
            if let Err(error) = self.reload().await {
                tracing::error!(%error, "names could not be read again after an erasure");
            }
        }
        .boxed()
    }
}

/// Compares in a time that does not tell where two digests differ.
fn same_digest(left: &[u8; 32], right: &[u8; 32]) -> bool {
    left.iter().zip(right).fold(0, |difference, (left, right)| difference | (left ^ right)) == 0
}

fn check_name(name: &str) -> Result<(), AdminError> {
    let fine = !name.is_empty()
        && name.chars().count() <= PRINCIPAL_NAME_CHARS_MAX
        && name.chars().all(|c| c.is_ascii_alphanumeric() || ":._@-".contains(c));
    if fine {
        return Ok(());
    }
    let what = "a principal's name has 1 to 100 of the characters a-z A-Z 0-9 : . _ @ -".to_owned();
    Err(AdminError::InvalidArgument { what })
}

/// Registers the principal of the daemon's own socket: anew, or the one whose name was erased. It is registered before
/// any other, so it has the lowest id of those without a name.
async fn register_local(
    ports: &AdminPorts,
    known: &mut Known,
) -> Result<PrincipalId, palyra_ports::AppendError> {
    let nameless = known.principals.iter().filter(|principal| principal.name.expose().is_empty());
    match nameless.map(|principal| principal.id).min() {
        Some(local) => register_as(ports, known, local, LOCAL_PRINCIPAL_NAME.into()).await.map(|()| local),
        None => register(ports, known, LOCAL_PRINCIPAL_NAME.into()).await,
    }
}

async fn register(
    ports: &AdminPorts,
    known: &mut Known,
    name: Redacted<String>,
) -> Result<PrincipalId, palyra_ports::AppendError> {
    let (ms, random) = ports.entropy.id_parts(ports.clock.wall());
    let id = PrincipalId::from_parts(ms, random);
    register_as(ports, known, id, name).await?;
    Ok(id)
}

async fn register_as(
    ports: &AdminPorts,
    known: &mut Known,
    id: PrincipalId,
    name: Redacted<String>,
) -> Result<(), palyra_ports::AppendError> {
    let record = PrincipalRecord { id, name };
    let event =
        JournalEvent::Access(AccessEvent::PrincipalRegistered { principal: id, name: record.name.clone() });
    append(&ports.recorder, id, ports.clock.wall(), event).await?;
    known.principals.retain(|other| other.id != id);
    known.principals.push(record);
    Ok(())
}

async fn append(
    recorder: &Recorder,
    principal: PrincipalId,
    now: Timestamp,
    event: JournalEvent,
) -> Result<(), palyra_ports::AppendError> {
    let entry = NewEntry { time: now, principal, session: None, run: None, event };
    recorder.record(vec![entry], AppendClass::Normal, Vec::new()).await?;
    Ok(())
}
