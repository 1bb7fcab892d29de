//! Why a schedule was not made, changed or started.

use palyra_admin::AdminError;
use palyra_ports::{AppendError, ReadError};
use palyra_schedule::{InvalidSpec, StartRefusal, TooManySchedules, UnreadableWords};
use palyra_types::ErrorCode;

/// Why a schedule was not made, changed or started. Another principal's schedule is reported like one that does not exist.
#[derive(Debug, thiserror::Error)]
pub enum ScheduleError {
    /// No such schedule for this principal.
    #[error("no such schedule; `palyra admin schedules list` shows them")]
    NotFound,
    /// The times or rules are not possible.
    #[error(transparent)]
    Invalid(#[from] InvalidSpec),
    /// The words are not understood.
    #[error(transparent)]
    Words(#[from] UnreadableWords),
    /// The limit of the principal is reached.
    #[error(transparent)]
    TooMany(#[from] TooManySchedules),
    /// Nothing starts now.
    #[error(transparent)]
    NotStarted(#[from] StartRefusal),
    /// The role of the principal has no schedules.
    #[error("the role of this person does not allow schedules: a person with the role `owner` can change it")]
    NotAllowed,
    /// A field, the agent, the journal.
    #[error(transparent)]
    Admin(#[from] AdminError),
    /// The daemon drains.
    #[error("schedules have stopped, because the daemon is shutting down")]
    Stopped,
}

impl ScheduleError {
    /// Returns the stable code shown to clients.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NotFound => ErrorCode::ScheduleNotFound,
            Self::Invalid(_) | Self::Words(_) => ErrorCode::ScheduleInvalid,
            Self::TooMany(_) => ErrorCode::TooManySchedules,
            Self::NotStarted(_) => ErrorCode::ScheduleNotStarted,
            Self::NotAllowed => ErrorCode::ScopeMissing,
            Self::Admin(error) => error.code(),
            Self::Stopped => ErrorCode::ShuttingDown,
        }
    }

    pub(crate) fn invalid_argument(what: impl Into<String>) -> Self {
        Self::Admin(AdminError::InvalidArgument { what: what.into() })
    }
}

impl From<AppendError> for ScheduleError {
    fn from(error: AppendError) -> Self {
        Self::Admin(error.into())
    }
}

impl From<ReadError> for ScheduleError {
    fn from(error: ReadError) -> Self {
        Self::Admin(error.into())
    }
}
