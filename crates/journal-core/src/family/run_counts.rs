//! What a run waits for, from what it has under way.
//!
//! Owns the counts behind a phase. Invariant: a run that waits for an approval or an answer has nothing under
//! way; a wait that only a person can end (a loop, an unknown outcome, an unknown kind) stays until a person ends it.

use palyra_types::run::{RunLifecycleState, RunPhase, WaitReason};

/// What a run has under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RunCounts {
    /// Calls that run.
    pub running: i64,
    /// Questions to the person that have no answer.
    pub questions: i64,
    /// Calls whose outcome is unknown.
    pub unknown: i64,
    /// Approvals that wait.
    pub asked: i64,
    /// 1 while only an input lets it go on.
    pub held: i64,
    /// Calls that have to be prepared, and are neither asked about nor started: a start works at them with
    /// any reason to wait. One that waits behind an exclusive call counts, too.
    pub unprepared: i64,
    /// 1 while the client performs functions of its own.
    pub with_client: i64,
}

impl RunCounts {
    /// Returns the sum of both; a difference is a sum with negative counts.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            running: self.running.saturating_add(other.running),
            questions: self.questions.saturating_add(other.questions),
            unknown: self.unknown.saturating_add(other.unknown),
            asked: self.asked.saturating_add(other.asked),
            held: self.held.saturating_add(other.held),
            unprepared: self.unprepared.saturating_add(other.unprepared),
            with_client: self.with_client.saturating_add(other.with_client),
        }
    }

    /// Returns what it takes from `other` to this.
    #[must_use]
    pub fn since(self, other: Self) -> Self {
        Self {
            running: self.running.saturating_sub(other.running),
            questions: self.questions.saturating_sub(other.questions),
            unknown: self.unknown.saturating_sub(other.unknown),
            asked: self.asked.saturating_sub(other.asked),
            held: self.held.saturating_sub(other.held),
            unprepared: self.unprepared.saturating_sub(other.unprepared),
            with_client: self.with_client.saturating_sub(other.with_client),
        }
    }

    /// Returns the calls to be prepared, as a record shows them.
    #[must_use]
    pub fn shown_unprepared(self) -> u32 {
        u32::try_from(self.unprepared.max(0)).unwrap_or(u32::MAX)
    }

    /// Returns the phase of a run, given the one it had.
    #[must_use]
    pub fn phase(self, state: RunLifecycleState, before: RunPhase) -> RunPhase {
        match before {
            RunPhase::Running
            | RunPhase::Waiting(WaitReason::Approval | WaitReason::Question | WaitReason::ClientTool)
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
                | WaitReason::Question
                | WaitReason::ClientTool
                | WaitReason::Budget,
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
        } else if self.with_client > 0 {
            RunPhase::Waiting(WaitReason::ClientTool)
        } else {
            RunPhase::Running
        }
    }
}
