//! Why a secret is not kept or not given out.

use palyra_types::ErrorCode;

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
    #[error(
        "the secret `{name}` is not for `{host}`: `palyra admin vault list` shows where it may go, and `palyra explain PLY-4602` how that is changed"
    )]
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
    /// Its value cannot be kept out of texts, so that nobody may have it.
    #[error("the value of `{name}` is not kept or given out: {why}")]
    Unguarded {
        /// The name.
        name: String,
        /// What stands in the way.
        why: String,
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
            Self::Unguarded { .. } => ErrorCode::SecretUnguarded,
            Self::Damaged { .. } | Self::Disk { .. } => ErrorCode::VaultDamaged,
        }
    }
}
