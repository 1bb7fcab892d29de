//! Why a decision was refused, or what people decided could not be read at a start.

use palyra_background::queue::QueueError;
use palyra_ports::{AppendError, KeptFileError, ReadError};
use palyra_types::ErrorCode;
use palyra_types::model::CleanedFailure;

use crate::component_error::ComponentError;
use crate::skill_registry::SkillError;
use crate::vault_error::VaultError;

/// Why a handle did not do what a caller asked.
///
/// A thing of another principal is reported exactly like a thing that does not exist.
#[derive(Debug, Clone, thiserror::Error)]
pub enum AdminError {
    /// No such session for this principal.
    #[error("no such session")]
    SessionNotFound,
    /// No such run for this principal.
    #[error("no such run")]
    RunNotFound,
    /// No such agent.
    #[error(
        "no such agent, or an archived one, whose name `palyra admin agents create NAME` gives to a new one; `main` always exists"
    )]
    AgentNotFound,
    /// No such principal.
    #[error("no such principal")]
    PrincipalNotFound,
    /// No such stored grant for this principal.
    #[error("no such stored grant")]
    GrantNotFound,
    /// No file has the digest that was to be accepted.
    #[error("no AGENTS.md of this folder has this digest now")]
    ProjectRulesChanged,
    /// The credential may not decide approvals.
    #[error("only a credential that may decide approvals accepts rules of a project")]
    NotAnApprover,
    /// No such item of memory for this principal.
    #[error("no such item in memory")]
    MemoryNotFound,
    /// No such budget.
    #[error("no budget is called `{name}`")]
    BudgetNotFound {
        /// The name of the request.
        name: String,
    },
    /// No such incident.
    #[error("no such incident; `palyra admin incidents` lists them")]
    IncidentNotFound,
    /// The session has no older part that a summary could shorten.
    #[error("{why}")]
    SessionTooShort {
        /// Why not.
        why: String,
    },
    /// No such model.
    #[error("model `{model}` is not configured")]
    ModelNotConfigured {
        /// The model of the request.
        model: String,
    },
    /// A field is not acceptable.
    #[error("{what}")]
    InvalidArgument {
        /// Which, and what would be.
        what: String,
    },
    /// A text by which something is found again looks like it holds a secret.
    #[error("{field} looks like it holds a secret; it would be recorded as it is, so use another one")]
    SecretInIdentity {
        /// Which text.
        field: &'static str,
    },
    /// The kept files cannot be read or deleted.
    #[error(transparent)]
    KeptFiles(#[from] KeptFileError),
    /// The journal did not take it.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// The journal could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A skill could not be installed, switched or used.
    #[error(transparent)]
    Skill(#[from] SkillError),
    /// A component could not be looked at, added or removed.
    #[error(transparent)]
    Component(#[from] ComponentError),
    /// The vault refused.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The background queue refused.
    #[error(transparent)]
    Queue(#[from] QueueError),
    /// A model provider failed.
    #[error(transparent)]
    Model(#[from] CleanedFailure),
}

impl AdminError {
    /// Returns the stable code shown to clients; its page is `docs/errors/<code>.md`.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::SessionNotFound => ErrorCode::SessionNotFound,
            Self::RunNotFound => ErrorCode::RunNotFound,
            Self::AgentNotFound => ErrorCode::AgentNotFound,
            Self::PrincipalNotFound => ErrorCode::PrincipalNotFound,
            Self::GrantNotFound => ErrorCode::GrantNotFound,
            Self::ProjectRulesChanged => ErrorCode::ProjectRulesChanged,
            Self::NotAnApprover => ErrorCode::PermissionDenied,
            Self::MemoryNotFound => ErrorCode::MemoryNotFound,
            Self::BudgetNotFound { .. } => ErrorCode::BudgetNotFound,
            Self::IncidentNotFound => ErrorCode::IncidentNotFound,
            Self::SessionTooShort { .. } => ErrorCode::SessionTooShort,
            Self::ModelNotConfigured { .. } => ErrorCode::ModelNotConfigured,
            Self::InvalidArgument { .. } | Self::SecretInIdentity { .. } => ErrorCode::InvalidArgument,
            Self::KeptFiles(_) => ErrorCode::KeptFileRefused,
            Self::Append(error) => error.code(),
            Self::Read(error) => error.code(),
            Self::Skill(error) => error.code(),
            Self::Component(error) => error.code(),
            Self::Vault(error) => error.code(),
            Self::Queue(error) => error.code(),
            Self::Model(failure) => failure.class.code(),
        }
    }
}

/// Why what people decided could not be taken up at a start.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The journal could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The journal could not be written.
    #[error(transparent)]
    Append(#[from] AppendError),
}
