//! One task: what its events made of it, and which events may follow.
//!
//! Invariant: [`QueuedTask::evolve`] is the only writer; the other methods return events, or `None` where nothing follows.

use palyra_types::queued_task::{
    AttemptEnd, TaskAttemptEnded, TaskEnqueued, TaskEvent, TaskFollowUp, TaskKey, TaskKind, TaskStage,
};
use palyra_types::{LeaseFence, QueuedTaskId, Redacted, Timestamp};

use crate::backoff::backoff;
use crate::queue_time::QueueTime;
use crate::task_rules::{LostAttempt, TaskRules, rules};

/// Everything that is known of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskState {
    /// Its id.
    pub task: QueuedTaskId,
    /// Its kind.
    pub kind: TaskKind,
    /// Its subject.
    pub key: Option<TaskKey>,
    /// Where it is.
    pub stage: TaskStage,
    /// When it may begin, or might have.
    pub due: Timestamp,
    /// Whether it runs before others of its kind, at once.
    pub is_urgent: bool,
    /// The number of its latest lease; zero before the first.
    pub fence: LeaseFence,
    /// When its attempt counts as lost without a heartbeat.
    pub until: Timestamp,
    /// Attempts that count: those since the last retry by a person, without stopped ones.
    pub attempts: u32,
    /// How far its worker is.
    pub progress: u64,
    /// Whether its worker was asked to stop.
    pub is_cancel_requested: bool,
    /// How its latest attempt ended.
    pub last_end: Option<AttemptEnd>,
}

/// How an attempt ended, as its worker or the queue reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptReport {
    /// The lease of the attempt.
    pub fence: LeaseFence,
    /// How it ended.
    pub end: AttemptEnd,
    /// Why it failed, in words.
    pub explanation: Redacted<String>,
}

/// A task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueuedTask {
    state: TaskState,
}

impl QueuedTask {
    /// Makes a task from its first event.
    #[must_use]
    pub fn enqueued(enqueued: &TaskEnqueued) -> Self {
        let TaskEnqueued { task, kind, key, due, payload_bytes: _, payload: _ } = enqueued;
        Self {
            state: TaskState {
                task: *task,
                kind: *kind,
                key: *key,
                stage: TaskStage::Waiting,
                due: *due,
                is_urgent: false,
                fence: LeaseFence::default(),
                until: Timestamp::default(),
                attempts: 0,
                progress: 0,
                is_cancel_requested: false,
                last_end: None,
            },
        }
    }

    /// Makes a task again from what a store kept of it.
    #[must_use]
    pub fn restored(state: TaskState) -> Self {
        Self { state }
    }

    /// Returns what is known of it.
    #[must_use]
    pub fn state(&self) -> &TaskState {
        &self.state
    }

    /// Returns the rules of its kind.
    #[must_use]
    pub fn rules(&self) -> &'static TaskRules {
        rules(self.state.kind)
    }

    /// Returns whether it waits and its time has come.
    #[must_use]
    pub fn is_ready(&self, now: QueueTime) -> bool {
        self.state.stage == TaskStage::Waiting && (self.state.is_urgent || self.state.due <= now.wall)
    }

    /// Returns whether this lease is the current one.
    #[must_use]
    pub fn has_lease(&self, fence: LeaseFence) -> bool {
        self.state.stage == TaskStage::Leased && self.state.fence == fence
    }

    /// Returns whether a worker is at it that showed no sign of life in time.
    #[must_use]
    pub fn is_expired(&self, now: QueueTime) -> bool {
        self.state.stage == TaskStage::Leased && self.state.until <= now.steady
    }

    /// Returns the event that gives it to a worker, if it is ready.
    #[must_use]
    pub fn lease(&self, now: QueueTime) -> Option<TaskEvent> {
        let until = now.steady.after(self.rules().visibility);
        let leased = TaskEvent::Leased { task: self.state.task, fence: self.state.fence.next(), until };
        self.is_ready(now).then_some(leased)
    }

    /// Returns the event of a heartbeat; `None` for a lease that is over, whose worker has to stop.
    #[must_use]
    pub fn heartbeat(&self, fence: LeaseFence, marker: u64, now: QueueTime) -> Option<TaskEvent> {
        let until = now.steady.after(self.rules().visibility);
        let progressed = TaskEvent::Progressed { task: self.state.task, fence, marker, until };
        self.has_lease(fence).then_some(progressed)
    }

    /// Returns the event that ends an attempt; `None` for a lease that is over, so an end that arrives late or twice counts
    /// once.
    #[must_use]
    pub fn end_attempt(&self, report: AttemptReport, now: QueueTime) -> Option<TaskEvent> {
        let AttemptReport { fence, end, explanation } = report;
        self.has_lease(fence).then(|| {
            let next = self.follow_up(end, now);
            TaskEvent::AttemptEnded(TaskAttemptEnded { task: self.state.task, fence, end, next, explanation })
        })
    }

    /// Returns the event that ends the attempt of a worker that is gone; `None` where there is none.
    #[must_use]
    pub fn lose(&self, end: AttemptEnd, now: QueueTime) -> Option<TaskEvent> {
        let explanation = Redacted::default();
        self.end_attempt(AttemptReport { fence: self.state.fence, end, explanation }, now)
    }

    /// Returns the event that cancels it or asks its worker to stop; `None` where neither is left to do.
    #[must_use]
    pub fn cancel(&self) -> Option<TaskEvent> {
        let is_wanted = self.state.stage.is_open() && !self.state.is_cancel_requested;
        is_wanted.then_some(TaskEvent::CancelRequested { task: self.state.task })
    }

    /// Returns the event that lets it run before others, at once; `None` where it does not wait.
    #[must_use]
    pub fn run_now(&self) -> Option<TaskEvent> {
        let may = self.state.stage == TaskStage::Waiting && !self.state.is_urgent;
        may.then_some(TaskEvent::RunNowRequested { task: self.state.task })
    }

    /// Returns the event that lets it run again after it failed; `None` where it does not wait for a person.
    #[must_use]
    pub fn retry(&self) -> Option<TaskEvent> {
        let may = self.state.stage.needs_person();
        may.then_some(TaskEvent::RetryRequested { task: self.state.task })
    }

    /// Returns the event that drops it after it failed; `None` where it does not wait for a person.
    #[must_use]
    pub fn drop_failed(&self) -> Option<TaskEvent> {
        let may = self.state.stage.needs_person();
        may.then_some(TaskEvent::Dropped { task: self.state.task })
    }

    /// Applies one event.
    ///
    /// Total: an event of another task or of a lease that is over, and one that does not fit the stage, changes nothing.
    pub fn evolve(&mut self, event: &TaskEvent) {
        if event.task() != self.state.task {
            return;
        }
        let state = &mut self.state;
        match event {
            TaskEvent::Enqueued(_) => {}
            TaskEvent::Leased { fence, until, .. } => {
                if state.stage == TaskStage::Waiting && *fence > state.fence {
                    state.stage = TaskStage::Leased;
                    state.fence = *fence;
                    state.until = *until;
                    state.attempts = state.attempts.saturating_add(1);
                    state.progress = 0;
                    state.is_urgent = false;
                }
            }
            TaskEvent::Progressed { fence, marker, until, .. } => {
                if self.has_lease(*fence) {
                    self.state.until = self.state.until.max(*until);
                    self.state.progress = self.state.progress.max(*marker);
                }
            }
            TaskEvent::AttemptEnded(ended) => {
                if self.has_lease(ended.fence) {
                    self.end(ended);
                }
            }
            TaskEvent::CancelRequested { .. } => match state.stage {
                TaskStage::Waiting => state.stage = TaskStage::Cancelled,
                TaskStage::Leased => state.is_cancel_requested = true,
                TaskStage::Done
                | TaskStage::DeadLetter
                | TaskStage::OutcomeUnknown
                | TaskStage::Cancelled
                | TaskStage::Dropped => {}
            },
            TaskEvent::RunNowRequested { .. } => {
                state.is_urgent |= state.stage == TaskStage::Waiting;
            }
            TaskEvent::RetryRequested { .. } => {
                if state.stage.needs_person() {
                    state.stage = TaskStage::Waiting;
                    state.attempts = 0;
                    state.is_urgent = true;
                    state.is_cancel_requested = false;
                }
            }
            TaskEvent::Dropped { .. } => {
                if state.stage.needs_person() {
                    state.stage = TaskStage::Dropped;
                }
            }
        }
    }

    fn end(&mut self, ended: &TaskAttemptEnded) {
        let state = &mut self.state;
        state.last_end = Some(ended.end);
        if ended.end == AttemptEnd::Stopped {
            state.attempts = state.attempts.saturating_sub(1);
        }
        state.stage = match ended.next {
            TaskFollowUp::Done => TaskStage::Done,
            TaskFollowUp::Again { due } => {
                state.due = due;
                TaskStage::Waiting
            }
            TaskFollowUp::DeadLetter => TaskStage::DeadLetter,
            TaskFollowUp::OutcomeUnknown => TaskStage::OutcomeUnknown,
            TaskFollowUp::Cancelled => TaskStage::Cancelled,
        };
    }

    fn follow_up(&self, end: AttemptEnd, now: QueueTime) -> TaskFollowUp {
        let rules = self.rules();
        let is_lost = match end {
            AttemptEnd::Completed => return TaskFollowUp::Done,
            AttemptEnd::Stopped | AttemptEnd::Failed => false,
            AttemptEnd::InDoubt
            | AttemptEnd::Panicked
            | AttemptEnd::NoHeartbeat
            | AttemptEnd::ProcessEnded => true,
        };
        if is_lost && rules.lost_attempt == LostAttempt::OutcomeUnknown {
            TaskFollowUp::OutcomeUnknown
        } else if self.state.is_cancel_requested {
            TaskFollowUp::Cancelled
        } else if end == AttemptEnd::Stopped {
            TaskFollowUp::Again { due: now.wall }
        } else if self.state.attempts >= rules.attempts_max {
            TaskFollowUp::DeadLetter
        } else {
            let pause = backoff(rules, self.state.task, self.state.attempts);
            TaskFollowUp::Again { due: now.wall.after(pause) }
        }
    }
}

#[cfg(test)]
mod tests;
