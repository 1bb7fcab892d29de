//! Principals and tokens: who a credential stands for, and what it may be used for.
//!
//! Invariant: a token's text exists only in the answer that made it; what is kept is its SHA-256. A credential never has
//! more than its principal's role, and none of a disabled principal works. Begin at [`AccessHandle::authenticate`].

mod confirmations;
mod page_sessions;
mod snapshot;
mod people;
mod refusals;
mod reach;
mod time_zone;
mod tokens;

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_ports::{AppendError, Recorder};
use palyra_types::access::{
    ActorIdentity, Credential, LOCAL_PRINCIPAL_NAME, PrincipalKind, PrincipalRecord, Role,
};
use palyra_types::event::AccessEvent;
use palyra_types::surface::Surface;
use palyra_types::{PrincipalId, Redacted};
use tokio::sync::{Mutex, watch};

use crate::erasure_subscriber::ErasureSubscriber;
use crate::error::{AdminError, OpenError};
use crate::parts::AdminPorts;

pub use confirmations::CONFIRMATION_SPAN;
use confirmations::ConfirmationCodes;
use page_sessions::PageSessions;
pub use page_sessions::{INVITATION_SPAN, PAGE_LINK_SPAN, PageEntry};
use reach::ApproverStreams;
pub use reach::{ReachGuard, SurfaceReach};
use refusals::RefusalLog;
pub use refusals::{REFUSALS_RECORDED_MAX, REFUSALS_SPAN};
pub use snapshot::AccessSnapshot;
pub use tokens::{TOKEN_LIFE_MAX, TOKEN_PREFIX, TokenRequest, token_in_authorization};

/// Characters of a principal's name, at most.
const PRINCIPAL_NAME_CHARS_MAX: usize = 100;

/// Looks up, makes and changes principals and their credentials.
#[derive(Clone)]
pub struct AccessHandle {
    ports: Arc<AdminPorts>,
    local: PrincipalId,
    known: watch::Receiver<Arc<AccessSnapshot>>,
    change: Arc<Mutex<watch::Sender<Arc<AccessSnapshot>>>>,
    refusals: Arc<RefusalLog>,
    confirmations: Arc<ConfirmationCodes>,
    streams: Arc<ApproverStreams>,
    pages: Arc<PageSessions>,
}

impl AccessHandle {
    /// Reads principals and tokens; registers the local principal where there is none.
    ///
    /// # Errors
    /// [`OpenError`].
    pub async fn open(ports: Arc<AdminPorts>) -> Result<Self, OpenError> {
        let mut known = AccessSnapshot::read(&*ports.families).await?;
        let local = match known.id_of(LOCAL_PRINCIPAL_NAME) {
            Some(local) => local,
            None => register_local(&ports, &mut known).await?,
        };
        known.local = Some(local);
        let (sender, receiver) = watch::channel(Arc::new(known));
        let change = Arc::new(Mutex::new(sender));
        Ok(Self {
            ports,
            local,
            known: receiver,
            change,
            refusals: Arc::default(),
            confirmations: Arc::default(),
            streams: Arc::default(),
            pages: Arc::default(),
        })
    }

    /// Returns the principal behind the daemon's own Unix socket.
    #[must_use]
    pub fn local_principal(&self) -> PrincipalId {
        self.local
    }

    /// Reads everything again after an erasure; the local principal gets its name back.
    async fn reload(&self) -> Result<(), OpenError> {
        let change = self.change.lock().await;
        let mut known = AccessSnapshot::read(&*self.ports.families).await?;
        known.local = Some(self.local);
        if known.id_of(LOCAL_PRINCIPAL_NAME).is_none() {
            register_owner(&self.ports.recorder, &mut known, self.local).await?;
        }
        change.send_replace(Arc::new(known));
        Ok(())
    }

    /// Returns all principals and tokens.
    #[must_use]
    pub fn known(&self) -> Arc<AccessSnapshot> {
        Arc::clone(&self.known.borrow())
    }

    /// Returns all principals and tokens, now and after each change.
    #[must_use]
    pub fn watch_known(&self) -> watch::Receiver<Arc<AccessSnapshot>> {
        self.known.clone()
    }

    /// Returns what a token proves; `None` when it is unknown, revoked or over, or its principal is disabled.
    ///
    /// Digests are compared, so timing tells nothing about a token's text.
    #[must_use]
    pub fn authenticate(&self, token: &str) -> Option<Credential> {
        let now = self.ports.clock.wall();
        let known = self.known.borrow();
        known.credential(known.token_of(token)?, now)
    }

    /// Returns who holds a token that no longer works: for the record of what was refused to them, and for nothing else.
    #[must_use]
    pub fn ended_credential(&self, token: &str, surface: Surface) -> Option<ActorIdentity> {
        let known = self.known.borrow();
        let token = known.token_of(token)?;
        Some(ActorIdentity { principal: token.principal, credential: Some(token.id), surface })
    }

    /// Records an act and what it made of principals and tokens.
    async fn change(
        &self,
        actor: ActorIdentity,
        principal: PrincipalId,
        event: AccessEvent,
        change: &watch::Sender<Arc<AccessSnapshot>>,
        apply: impl FnOnce(&mut AccessSnapshot, palyra_types::Timestamp),
    ) -> Result<(), AdminError> {
        let (_, time) = self.ports.recorder.record_act_now(actor, principal, event).await?;
        change.send_modify(|known| apply(Arc::make_mut(known), time));
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

fn invalid<T>(what: String) -> Result<T, AdminError> {
    Err(AdminError::InvalidArgument { what })
}

/// Registers the principal of the daemon's own socket: anew, or the one whose name was erased. It is registered before
/// any other, so it has the lowest id of those without a name.
async fn register_local(ports: &AdminPorts, known: &mut AccessSnapshot) -> Result<PrincipalId, AppendError> {
    let nameless = known.principals.iter().filter(|principal| principal.name.expose().is_empty());
    let oldest = nameless.map(|principal| principal.id).min();
    let id = oldest.unwrap_or_else(|| ports.entropy.new_id(ports.clock.wall()));
    register_owner(&ports.recorder, known, id).await?;
    Ok(id)
}

async fn register_owner(
    recorder: &Recorder,
    known: &mut AccessSnapshot,
    id: PrincipalId,
) -> Result<(), AppendError> {
    let name: Redacted<String> = LOCAL_PRINCIPAL_NAME.into();
    let kind = PrincipalKind::Person;
    let event =
        AccessEvent::PrincipalRegistered { principal: id, name: name.clone(), kind, role: Some(Role::Owner) };
    recorder.record_now(id, None, event).await?;
    known.put(PrincipalRecord {
        id,
        name,
        kind,
        role: Role::Owner,
        disabled: None,
        time_zone: Redacted::default(),
    });
    Ok(())
}
