//! What a run waits for, from what it has under way.
//!
//! Owns the counts behind a phase. Invariant: a run that waits for an approval or an answer has nothing under
//! way; what only a person can lift (a loop, an unknown outcome, an unknown kind) stays until somebody does.

use palyra_types::run::{RunLifecycleState, RunPhase, WaitReason};

/// What a run has under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct UnderWay {
    /// Calls that run.
    pub(crate) running: i64,
    /// Questions to the person that have no answer.
    pub(crate) questions: i64,
    /// Calls whose outcome nobody knows.
    pub(crate) unknown: i64,
    /// Approvals that wait.
    pub(crate) asked: i64,
    /// 1 while it is held, and only an input lets it go on.
    pub(crate) held: i64,
    /// Calls that have to be prepared, and are neither asked about nor started: a start works at them, whatever the
    /// run waits for. One that waits behind an exclusive call counts, too.
    pub(crate) unprepared: i64,
}

impl UnderWay {
    /// Returns the sum of both; a difference is a sum with negative counts.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            running: self.running.saturating_add(other.running),
            questions: self.questions.saturating_add(other.questions),
            unknown: self.unknown.saturating_add(other.unknown),
            asked: self.asked.saturating_add(other.asked),
            held: self.held.saturating_add(other.held),
            unprepared: self.unprepared.saturating_add(other.unprepared),
        }
    }

    /// Returns what it takes from `other` to this.
    pub(crate) fn since(self, other: Self) -> Self {
        Self {
            running: self.running.saturating_sub(other.running),
            questions: self.questions.saturating_sub(other.questions),
            unknown: self.unknown.saturating_sub(other.unknown),
            asked: self.asked.saturating_sub(other.asked),
            held: self.held.saturating_sub(other.held),
            unprepared: self.unprepared.saturating_sub(other.unprepared),
        }
    }

    /// Returns the calls to be prepared, as a record shows them.
    pub(super) fn shown_unprepared(self) -> u32 {
        u32::try_from(self.unprepared.max(0)).unwrap_or(u32::MAX)
    }

    /// Returns the phase of a run, given the one it had.
    pub(super) fn phase(self, state: RunLifecycleState, before: RunPhase) -> RunPhase {
        match before {
            RunPhase::Running | RunPhase::Waiting(WaitReason::Approval | WaitReason::Question)
                if state == RunLifecycleState::InProgress =>
            {
                self.of_working()
            }
            RunPhase::Queued
            | RunPhase::Running
            | RunPhase::Finished
            | RunPhase::Waiting(
                WaitReason::LoopCheck
                | WaitReason::OutcomeUnknown
                | WaitReason::UnknownKind
                | WaitReason::Approval
                | WaitReason::Question,
            ) => before,
        }
    }

    fn of_working(self) -> RunPhase {
        if self.running > 0 {
            RunPhase::Running
        } else if self.questions > 0 {
            RunPhase::Waiting(WaitReason::Question)
        } else if self.asked > 0 {
            RunPhase::Waiting(WaitReason::Approval)
        } else {
            RunPhase::Running
        }
    }
}
