//! Exit codes: one table.

use std::process::ExitCode;

use palyra_types::ErrorCode;
use palyra_wire::v1::RunState;

use crate::RunView;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// What was asked is done.
    Done,
    /// It failed.
    Failed,
    /// It was asked wrongly.
    Usage,
    /// A call was denied or left unanswered, or the run waits for a person.
    Withheld,
    /// The daemon cannot be reached.
    Unreachable,
    /// It conflicts with what is.
    Conflict,
    /// The run used up its time.
    TimeLimit,
    /// The run was cancelled, or the program interrupted.
    Cancelled,
}

impl Exit {
    /// Every way to end, in order of number.
    pub const ALL: [Self; 8] = [
        Self::Done,
        Self::Failed,
        Self::Usage,
        Self::Withheld,
        Self::Unreachable,
        Self::Conflict,
        Self::TimeLimit,
        Self::Cancelled,
    ];

    /// Returns what it means, in one line.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed; standard error says why",
            Self::Usage => "invalid command line, or a file it names cannot be used",
            Self::Withheld => "a call was denied or left unapproved, or the run waits",
            Self::Unreachable => "the daemon is not reachable",
            Self::Conflict => "conflicts with the current state, for example the run has finished already",
            Self::TimeLimit => "the time limit was reached",
            Self::Cancelled => "cancelled or interrupted",
        }
    }

    /// Returns the number the shell sees.
    #[must_use]
    pub fn number(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Withheld => 3,
            Self::Unreachable => 4,
            Self::Conflict => 5,
            Self::TimeLimit => 124,
            Self::Cancelled => 130,
        }
    }

    /// Returns how a refusal with this code ends the program.
    #[must_use]
    pub fn of_error(code: ErrorCode) -> Self {
        match code {
            ErrorCode::InvalidId
            | ErrorCode::InvalidArgument
            | ErrorCode::MessageTooLarge
            | ErrorCode::ModelMismatch => Self::Usage,
            ErrorCode::ToolDenied
            | ErrorCode::NoApprovalChannel
            | ErrorCode::ApprovalDenied
            | ErrorCode::ApprovalExpired
            | ErrorCode::ApproverNotEligible => Self::Withheld,
            ErrorCode::DaemonUnreachable | ErrorCode::DaemonStartFailed | ErrorCode::ShuttingDown => {
                Self::Unreachable
            }
            ErrorCode::SessionMismatch
            | ErrorCode::IdempotencyConflict
            | ErrorCode::RunFinished
            | ErrorCode::RunNotWaiting
            | ErrorCode::SessionArchived
            | ErrorCode::ApprovalDecided
            | ErrorCode::ApprovalDrifted
            | ErrorCode::EffectNotUnknown
            | ErrorCode::UndoOpenRun
            | ErrorCode::KeptFileRefused
            | ErrorCode::StateDirLocked
            | ErrorCode::NoNotificationTarget
            | ErrorCode::BackupTargetRefused
            | ErrorCode::ServiceUnitKept
            | ErrorCode::SupportBundleRefused
            | ErrorCode::BuildMismatch
            | ErrorCode::GuardFailed => Self::Conflict,
            ErrorCode::TimeLimit => Self::TimeLimit,
            _ => Self::Failed,
        }
    }

    /// Returns how a run that was followed and ended in `state` ends the program.
    #[must_use]
    pub fn of_view(view: &RunView, state: RunState) -> Self {
        Self::of_run(state, view.end_reason(), view.denied_calls())
    }

    /// Returns how a run that ended ends the program.
    fn of_run(state: RunState, reason: &str, denied_calls: u32) -> Self {
        match state {
            RunState::Done if denied_calls == 0 => Self::Done,
            RunState::Failed if denied_calls == 0 => Self::Failed,
            RunState::Done | RunState::Failed => Self::Withheld,
            RunState::Cancelled if reason == "time_limit" => Self::TimeLimit,
            RunState::Cancelled => Self::Cancelled,
            RunState::Unspecified | RunState::Pending | RunState::InProgress => Self::Withheld,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_table_is_this_one() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/cli.md");
        let page = std::fs::read_to_string(page).unwrap();
        let rows: Vec<&str> = page
            .lines()
            .skip_while(|line| *line != "## Exit codes")
            .filter(|line| line.starts_with("| "))
            .collect();
        let expect = Exit::ALL.map(|exit| format!("| {} | {} |", exit.number(), exit.meaning()));
        assert_eq!(rows[1..=expect.len()], expect);
        assert!(Exit::ALL.is_sorted_by_key(|exit| exit.number()));
    }

    #[test]
    fn every_end_has_its_number() {
        for (exit, number) in [
            (Exit::of_run(RunState::Done, "final_answer", 0), 0),
            (Exit::of_run(RunState::Done, "final_answer", 1), 3),
            (Exit::of_run(RunState::Failed, "provider_error", 0), 1),
            (Exit::of_run(RunState::Failed, "turn_limit", 2), 3),
            (Exit::of_run(RunState::Cancelled, "time_limit", 0), 124),
            (Exit::of_run(RunState::Cancelled, "cancelled", 0), 130),
            (Exit::of_run(RunState::Cancelled, "cancelled", 1), 130),
            (Exit::of_run(RunState::InProgress, "", 0), 3),
            (Exit::of_error(ErrorCode::InvalidId), 2),
            (Exit::of_error(ErrorCode::ToolDenied), 3),
            (Exit::of_error(ErrorCode::DaemonUnreachable), 4),
            (Exit::of_error(ErrorCode::ShuttingDown), 4),
            (Exit::of_error(ErrorCode::IdempotencyConflict), 5),
            (Exit::of_error(ErrorCode::SessionArchived), 5),
            (Exit::of_error(ErrorCode::StateDirLocked), 5),
            (Exit::of_error(ErrorCode::TimeLimit), 124),
            (Exit::of_error(ErrorCode::RunNotFound), 1),
        ] {
            assert_eq!(exit.number(), number, "{exit:?}");
        }
    }
}
