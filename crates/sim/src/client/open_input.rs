//! Something that a person wants to say, and may have to say again.

use palyra_ports::AppendError;
use palyra_runtime::RequestError;
use palyra_types::RunId;
use palyra_types::run::InputDelivery;

/// An input on its way.
#[derive(Debug, Clone)]
pub(super) struct OpenInput {
    pub(super) text: String,
    pub(super) key: Option<String>,
    pub(super) to: InputTarget,
    pub(super) delivery: InputDelivery,
    /// Whether it may have been taken by an attempt that nobody answered.
    pub(super) open: InputOutcome,
    pub(super) attempts: u32,
}

/// Whom it is said to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InputTarget {
    /// A session, by the number of its key.
    Session(u64),
    /// A run.
    Run(RunId),
}

/// What is known of its attempts so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InputOutcome {
    /// Each was refused.
    Refused,
    /// One of them has no outcome that is known.
    Open,
}

impl OpenInput {
    pub(super) fn is_keyed(&self) -> bool {
        self.key.is_some()
    }

    pub(super) fn now_open(&mut self) {
        self.open = InputOutcome::Open;
    }
}

/// What an error says of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InputRefusal {
    /// It was not taken.
    NotTaken,
    /// It may have been taken.
    Open,
    /// No story explains it.
    Unexplained,
}

pub(super) fn refusal(error: &RequestError) -> InputRefusal {
    match error {
        RequestError::Append(AppendError::Unknown) | RequestError::ShuttingDown => InputRefusal::Open,
        RequestError::Append(
            AppendError::Busy
            | AppendError::DiskFull
            | AppendError::Quarantined
            | AppendError::GuardFailed { .. },
        )
        | RequestError::Read(_)
        | RequestError::QueueFull
        | RequestError::SessionArchived
        | RequestError::RunFinished
        | RequestError::RunNotWaiting
        | RequestError::ApprovalDecided { .. }
        | RequestError::ApprovalNotFound
        | RequestError::EditRefused { .. }
        | RequestError::EffectNotUnknown => InputRefusal::NotTaken,
        RequestError::Append(AppendError::Invalid { .. } | AppendError::Fenced | AppendError::Closed)
        | RequestError::SessionNotFound
        | RequestError::SessionMismatch
        | RequestError::RunNotFound
        | RequestError::ModelMismatch { .. }
        | RequestError::WorkspaceRefused
        | RequestError::AttachOutOfRange { .. }
        | RequestError::InvalidArgument { .. }
        | RequestError::TooLarge { .. }
        | RequestError::IdempotencyConflict
        | RequestError::BranchOutOfRange { .. }
        | RequestError::AttachmentRefused(_)
        | RequestError::ApproverNotEligible
        | RequestError::ClockBehind { .. }
        | RequestError::UndoNothing
        | RequestError::UndoOpenRun
        | RequestError::KeptFileRefused { .. }
        | RequestError::Workspace(_)
        | RequestError::Admin(_) => InputRefusal::Unexplained,
    }
}
