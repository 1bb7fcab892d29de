//! Credentials out of the vault: a handle and a host become a header, once the use is in the journal.
//!
//! Invariant: a secret is given out for an effect of the owner, or of a principal that the owner bound it to; to every
//! other effect it is answered like a name that there is not.

use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_ports::{
    AppendClass, BoundCredential, Clock, CredentialHandle, CredentialHeader, CredentialUnavailable,
    CredentialUser, FillCredential, NewEntry, OpenedSecret, Recorder, Redactor, SecretName, SecretNames,
    SecretReader, SecretStore, SecretStoreError, SentAs,
};
use palyra_types::event::JournalEvent;
use palyra_types::spelling::is_alike;
use palyra_types::vault::{SecretUsed, VaultEvent};
use palyra_types::{Content, ErrorCode, PrincipalId};

/// The port that a host is bound with when none is named.
const USUAL_PORT: u16 = 443;

/// Fills credentials from a store.
pub(crate) struct VaultCredentials {
    secrets: Arc<dyn SecretStore>,
    clock: Arc<dyn Clock>,
    redactor: Arc<dyn Redactor>,
    recorder: Mutex<Option<Recorder>>,
    owner: Mutex<Option<PrincipalId>>,
}

impl VaultCredentials {
    /// Makes credentials that fill nothing before [`Self::record_in`] says where uses are recorded.
    pub(crate) fn new(
        secrets: Arc<dyn SecretStore>,
        clock: Arc<dyn Clock>,
        redactor: Arc<dyn Redactor>,
    ) -> Self {
        Self { secrets, clock, redactor, recorder: Mutex::default(), owner: Mutex::default() }
    }

    /// Says to whom every secret belongs.
    pub(crate) fn belong_to(&self, owner: PrincipalId) {
        *self.owner.lock().unwrap_or_else(PoisonError::into_inner) = Some(owner);
    }

    /// Returns on whose behalf an effect uses a secret; nobody's where no effect is behind it.
    fn reader(&self, used_by: Option<CredentialUser>) -> SecretReader {
        let principal = used_by.map_or(PrincipalId::NIL, |user| user.principal);
        let owner = *self.owner.lock().unwrap_or_else(PoisonError::into_inner);
        if owner == Some(principal) { SecretReader::Owner } else { SecretReader::Principal(principal) }
    }

    /// Says where uses are recorded from now on.
    pub(crate) fn record_in(&self, recorder: Recorder) {
        *self.recorder.lock().unwrap_or_else(PoisonError::into_inner) = Some(recorder);
    }
}

impl SecretNames for VaultCredentials {
    fn is_missing(&self, name: &str, used_by: Option<CredentialUser>) -> bool {
        let reader = self.reader(used_by);
        let Ok(name) = name.parse::<SecretName>() else { return true };
        match self.secrets.find(&name) {
            Ok(Some(record)) => !record.is_usable_by(reader),
            Ok(None) => true,
            Err(_) => reader != SecretReader::Owner,
        }
    }
}

impl FillCredential for VaultCredentials {
    fn fill(
        &self,
        credential: BoundCredential,
    ) -> BoxFuture<'static, Result<CredentialHeader, CredentialUnavailable>> {
        let recorder = self.recorder.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (secrets, clock) = (Arc::clone(&self.secrets), Arc::clone(&self.clock));
        let redactor = Arc::clone(&self.redactor);
        let reader = self.reader(credential.used_by);
        async move {
            let handle = credential.handle.clone();
            let access = RecordedAccess { secrets, reader, clock, redactor, recorder };
            let filled = access.fill(credential).await;
            filled.map_err(|UnavailableCredential { code, why }| CredentialUnavailable { handle, code, why })
        }
        .boxed()
    }

    fn sent_as(&self, handle: &CredentialHandle) -> Option<String> {
        let found = self.secrets.find(&handle.0.parse().ok()?);
        found.ok().flatten().map(|record| record.sent_as.to_string())
    }

    fn certain_refusal(&self, credential: &BoundCredential) -> Option<CredentialUnavailable> {
        let name: SecretName = credential.handle.0.parse().ok()?;
        let record = self.secrets.find(&name).ok().flatten()?;
        let host = place_of(&credential.host, credential.port);
        if !record.is_usable_by(self.reader(credential.used_by)) || record.hosts.contains(&host) {
            return None;
        }
        let refusal = SecretStoreError::NotBound { name: name.as_str().to_owned(), host };
        Some(CredentialUnavailable {
            handle: credential.handle.clone(),
            code: refusal.code(),
            why: refusal.to_string(),
        })
    }
}

/// Returns a server as secrets are bound to it.
fn place_of(host: &str, port: u16) -> String {
    if port == USUAL_PORT { host.to_owned() } else { format!("{host}:{port}") }
}

/// Why nothing was filled.
struct UnavailableCredential {
    code: ErrorCode,
    why: String,
}

impl From<SecretStoreError> for UnavailableCredential {
    fn from(error: SecretStoreError) -> Self {
        Self { code: error.code(), why: error.to_string() }
    }
}

/// Secrets for one reader, with what records their use.
struct RecordedAccess {
    secrets: Arc<dyn SecretStore>,
    reader: SecretReader,
    clock: Arc<dyn Clock>,
    redactor: Arc<dyn Redactor>,
    recorder: Option<Recorder>,
}

impl RecordedAccess {
    async fn fill(self, credential: BoundCredential) -> Result<CredentialHeader, UnavailableCredential> {
        let Self { secrets, reader, clock, redactor, recorder } = self;
        let recorder = recorder.ok_or_else(|| UnavailableCredential {
            code: ErrorCode::VaultLocked,
            why: "its use could not be recorded yet".to_owned(),
        })?;
        let BoundCredential { host, port, handle, used_by } = credential;
        let host = place_of(&host, port);
        let name = handle.0.split(' ').next().unwrap_or_default().to_owned();
        let wanted = (name.clone(), host.clone());
        let opened = tokio::task::spawn_blocking(move || open(&*secrets, &wanted.0, &wanted.1, reader));
        let opened = opened.await.unwrap_or_else(|_| {
            Err(UnavailableCredential { code: ErrorCode::ShuttingDown, why: "it was interrupted".to_owned() })
        });
        // What is no name may be anything, and is not written down. The others come from a run as well.
        let name = if name.parse::<SecretName>().is_ok() { name } else { String::new() };
        let [secret, host] = [name, host].map(|text| redactor.redact(text.into()).text);
        let used = SecretUsed {
            on_behalf: used_by.map(|user: CredentialUser| (user.run, user.effect)),
            refused: opened.as_ref().err().map(|refusal| refusal.code),
            secret,
            host,
        };
        let entry = NewEntry {
            time: clock.wall(),
            principal: used_by.map_or(PrincipalId::NIL, |user| user.principal),
            session: None,
            run: None,
            event: JournalEvent::Vault(VaultEvent::Used(used)),
        };
        let recorded = recorder.record(vec![entry], AppendClass::Normal, Vec::new()).await;
        let opened = opened?;
        recorded.map_err(|error| UnavailableCredential {
            code: error.code(),
            why: format!("its use could not be recorded: {error}"),
        })?;
        Ok(header_of(opened))
    }
}

fn open(
    secrets: &dyn SecretStore,
    name: &str,
    host: &str,
    reader: SecretReader,
) -> Result<OpenedSecret, UnavailableCredential> {
    let not_found = || SecretStoreError::NotFound { name: name.chars().take(64).collect() };
    let name: SecretName = name.parse().map_err(|_| not_found())?;
    let refused = match secrets.open(&name, host, reader) {
        Ok(opened) => return Ok(opened),
        Err(error) => UnavailableCredential::from(error),
    };
    let is_unknown = refused.code == ErrorCode::SecretNotFound && reader == SecretReader::Owner;
    match is_unknown.then(|| similar_name(secrets, &name)).flatten() {
        Some(near) => {
            let why = format!("{}, only one with a similar name, `{}`", refused.why, near.as_str());
            Err(UnavailableCredential { why, ..refused })
        }
        None => Err(refused),
    }
}

/// Returns the secret whose name differs from a mistyped one by a slip. For the owner, who may list them all.
fn similar_name(secrets: &dyn SecretStore, typed: &SecretName) -> Option<SecretName> {
    let mut names = secrets.list().ok()?.into_iter().map(|record| record.name);
    names.find(|name| is_alike(typed.as_str(), name.as_str()))
}

fn header_of(OpenedSecret { value, sent_as }: OpenedSecret) -> CredentialHeader {
    let authorization =
        |value: String| CredentialHeader { name: "authorization".to_owned(), value: Content::new(value) };
    match sent_as {
        SentAs::Bearer => authorization(format!("Bearer {}", value.expose())),
        SentAs::Basic => authorization(format!("Basic {}", STANDARD.encode(value.expose()))),
        SentAs::Header(name) => CredentialHeader { name, value },
    }
}
