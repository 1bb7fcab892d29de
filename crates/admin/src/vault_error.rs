//! Why the vault did not do what it was asked to.

use palyra_ports::SecretStoreError;
use palyra_types::ErrorCode;

/// Why a secret was not kept, shown, changed or removed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VaultError {
    /// Only the person who owns this daemon decides about secrets, and only at its own socket.
    #[error("only the owner of the daemon decides about secrets, over its own Unix socket")]
    NotAPerson,
    /// The name is taken.
    #[error("there is a secret of this name; nothing was stored")]
    Taken,
    /// The passphrase is another one.
    #[error("this is not the vault's passphrase")]
    WrongPassphrase,
    /// The daemon ended meanwhile.
    #[error("the vault was interrupted")]
    Interrupted,
    /// The vault refused.
    #[error("{what}")]
    Refused {
        /// The stable code of the reason.
        code: ErrorCode,
        /// The reason, without any value.
        what: String,
    },
}

impl From<SecretStoreError> for VaultError {
    fn from(error: SecretStoreError) -> Self {
        let what = match &error {
            SecretStoreError::Disk { cause, .. } => format!("{error}: {cause}"),
            SecretStoreError::NotFound { .. }
            | SecretStoreError::NotBound { .. }
            | SecretStoreError::Unsuitable { .. }
            | SecretStoreError::Locked { .. }
            | SecretStoreError::Unguarded { .. }
            | SecretStoreError::Damaged { .. } => error.to_string(),
        };
        Self::Refused { code: error.code(), what }
    }
}

impl VaultError {
    /// Returns the stable code shown to clients.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NotAPerson => ErrorCode::PermissionDenied,
            Self::Taken => ErrorCode::SecretUnsuitable,
            Self::WrongPassphrase => ErrorCode::PassphraseWrong,
            Self::Interrupted => ErrorCode::ShuttingDown,
            Self::Refused { code, .. } => *code,
        }
    }
}
