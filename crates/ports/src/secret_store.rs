//! Keeping secrets, and giving them out to where they are used and nowhere else.
//!
//! No answer of this port holds a value but [`SecretStore::open`], which the adapters at the border to other machines
//! call; it is not handed to tools, transports or models.

use std::collections::BTreeSet;

use palyra_types::{ErrorCode, Redacted, Timestamp};

/// Keeps secrets at rest.
pub trait SecretStore: Send + Sync {
    /// Returns what is kept, by name.
    fn list(&self) -> Result<Vec<SecretRecord>, SecretStoreError>;

    /// Keeps a value: a new secret, or another value of one that is there.
    fn put(&self, secret: NewSecret) -> Result<SecretRecord, SecretStoreError>;

    /// Says to which hosts a secret may be given; the value stays.
    fn bind(&self, name: &SecretName, hosts: BTreeSet<String>) -> Result<SecretRecord, SecretStoreError>;

    /// Forgets a secret; returns what it was.
    fn remove(&self, name: &SecretName) -> Result<SecretRecord, SecretStoreError>;

    /// Gives a value out, for the one host it is needed for.
    ///
    /// # Errors
    /// [`SecretStoreError::NotBound`] when the secret is not for that host.
    fn open(&self, name: &SecretName, host: &str) -> Result<Redacted<String>, SecretStoreError>;

    /// Gives every value out to whoever keeps them out of texts.
    fn all_values(&self) -> Result<Vec<Redacted<String>>, SecretStoreError>;
}

/// The name of a secret: `[a-z][a-z0-9_.-]*`, at most 64 characters. It is no secret itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SecretName(String);

/// A text is not the name of a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no name of a secret: small letters, digits, `_`, `.` and `-`, a letter first, at most 64")]
pub struct NotASecretName(String);

impl std::str::FromStr for SecretName {
    type Err = NotASecretName;

    fn from_str(text: &str) -> Result<Self, NotASecretName> {
        let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_.-".contains(c);
        let fits =
            text.len() <= 64 && text.starts_with(|c: char| c.is_ascii_lowercase()) && text.chars().all(inner);
        if fits { Ok(Self(text.to_owned())) } else { Err(NotASecretName(text.chars().take(64).collect())) }
    }
}

impl SecretName {
    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A secret to keep.
#[derive(Debug, Clone)]
pub struct NewSecret {
    /// Its name.
    pub name: SecretName,
    /// Its value; 8 bytes to 64 KiB.
    pub value: Redacted<String>,
    /// The hosts to which it may be given, in lower case; empty for none yet. When the secret is there, `None` keeps
    /// its hosts.
    pub hosts: Option<BTreeSet<String>>,
    /// When it is put.
    pub now: Timestamp,
}

/// What is known of a secret, without its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretRecord {
    /// Its name.
    pub name: SecretName,
    /// 1 at first; raised with each value.
    pub version: u32,
    /// The hosts to which it may be given.
    pub hosts: BTreeSet<String>,
    /// When this value was put.
    pub changed: Timestamp,
}

/// Why a secret could not be kept or given out.
#[derive(Debug, thiserror::Error)]
pub enum SecretStoreError {
    /// There is none of this name.
    #[error("there is no secret `{name}`")]
    NotFound {
        /// The name.
        name: String,
    },
    /// It is not for this host.
    #[error("the secret `{name}` is not for `{host}`")]
    NotBound {
        /// The name.
        name: String,
        /// The host.
        host: String,
    },
    /// The value is too short, too long, or no text that a header can carry.
    #[error("{why}")]
    Unsuitable {
        /// What does not fit.
        why: String,
    },
    /// The root key is not there: a passphrase has not been given, or the key file is missing.
    #[error("the vault is locked: {why}")]
    Locked {
        /// What is missing.
        why: String,
    },
    /// What is stored was changed, or belongs to another key.
    #[error("the secret `{name}` cannot be opened: it was changed, or sealed with another key")]
    Damaged {
        /// The name.
        name: String,
    },
    /// The disk said no.
    #[error("the vault could not be {doing}")]
    Disk {
        /// What was being done.
        doing: &'static str,
        /// The system's word.
        #[source]
        cause: std::io::Error,
    },
}

impl SecretStoreError {
    /// Returns the stable code shown to clients.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NotFound { .. } => ErrorCode::SecretNotFound,
            Self::NotBound { .. } => ErrorCode::SecretNotBound,
            Self::Unsuitable { .. } => ErrorCode::SecretUnsuitable,
            Self::Locked { .. } => ErrorCode::VaultLocked,
            Self::Damaged { .. } | Self::Disk { .. } => ErrorCode::VaultDamaged,
        }
    }
}
