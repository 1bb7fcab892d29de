//! Tasks of the background queue, as recorded facts and as records.
//!
//! Owns the values; what follows from an event is decided by the crate `queue`. Invariant: a task that ends an attempt
//! names the lease that the attempt ran under, so an attempt whose lease is over changes nothing. Begin at [`TaskEvent`].

use crate::content_walk::ContentClass::{Bytes, Prose};
use crate::content_walk::content_rows;
use crate::{LeaseFence, PrincipalId, QueuedTaskId, Redacted, Seq, SessionId, Timestamp};

/// Bytes of the payload of a task, at most.
pub const TASK_PAYLOAD_BYTES_MAX: usize = 16 * 1024;

/// Bytes of the explanation of a failed attempt, at most; a longer one is cut.
pub const TASK_EXPLANATION_BYTES_MAX: usize = 1_000;

/// The kind of a task: which handler performs it, and by which rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TaskKind {
    /// Sums up the older part of a conversation.
    Compaction,
    /// Looks for lessons in a finished run.
    Reflection,
    /// Cleans up a session by its retention rules.
    SessionCleanup,
    /// Takes care of the write-ahead log and of checkpoints.
    JournalCare,
    /// Makes a backup.
    Backup,
    /// Starts the run of a schedule.
    ScheduledRun,
    /// Sends a message of the outbox.
    OutboxSend,
    /// Sends a notification of the outbox.
    Notify,
}

impl TaskKind {
    /// Every kind with its word.
    pub const ALL: [(Self, &'static str); 8] = [
        (Self::Compaction, "compaction"),
        (Self::Reflection, "reflection"),
        (Self::SessionCleanup, "session_cleanup"),
        (Self::JournalCare, "journal_care"),
        (Self::Backup, "backup"),
        (Self::ScheduledRun, "scheduled_run"),
        (Self::OutboxSend, "outbox_send"),
        (Self::Notify, "notify"),
    ];
}

crate::words::words_of_table!(TaskKind);

/// The subject of a task, such as the bytes of a session's id: of one kind and principal, at most one task with a key is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskKey(pub [u8; 16]);

/// Something happened to a task. The principal and the session that it works for are in the envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskEvent {
    /// It was put into the queue.
    Enqueued(TaskEnqueued),
    /// An attempt begins.
    Leased {
        /// The task.
        task: QueuedTaskId,
        /// The number of the lease.
        fence: LeaseFence,
        /// When the attempt counts as lost without a heartbeat.
        until: Timestamp,
    },
    /// Its worker showed a sign of life. Recorded rarely: most heartbeats only move the deadline in memory.
    Progressed {
        /// The task.
        task: QueuedTaskId,
        /// The lease of the worker.
        fence: LeaseFence,
        /// How far the worker is; the handler gives the number its meaning.
        marker: u64,
        /// When the attempt counts as lost without another heartbeat.
        until: Timestamp,
    },
    /// An attempt ended.
    AttemptEnded(TaskAttemptEnded),
    /// It is not wanted any more. A task that waits is cancelled with this; a worker is asked to stop.
    CancelRequested {
        /// The task.
        task: QueuedTaskId,
    },
    /// It is to run before others of its kind, at once.
    RunNowRequested {
        /// The task.
        task: QueuedTaskId,
    },
    /// A dead letter, or a task whose outcome is unknown, is to run again.
    RetryRequested {
        /// The task.
        task: QueuedTaskId,
    },
    /// A dead letter, or a task whose outcome is unknown, is not to run again.
    Dropped {
        /// The task.
        task: QueuedTaskId,
    },
}

impl TaskEvent {
    /// Returns the task.
    #[must_use]
    pub fn task(&self) -> QueuedTaskId {
        match self {
            Self::Enqueued(enqueued) => enqueued.task,
            Self::AttemptEnded(ended) => ended.task,
            Self::Leased { task, .. }
            | Self::Progressed { task, .. }
            | Self::CancelRequested { task }
            | Self::RunNowRequested { task }
            | Self::RetryRequested { task }
            | Self::Dropped { task } => *task,
        }
    }
}

/// A task as it was put into the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskEnqueued {
    /// Its id.
    pub task: QueuedTaskId,
    /// Its kind.
    pub kind: TaskKind,
    /// Its subject; `None` where any number of tasks may be open.
    pub key: Option<TaskKey>,
    /// When it may begin.
    pub due: Timestamp,
    /// Bytes of the payload, which stay known after an erasure.
    pub payload_bytes: u32,
    /// What its handler needs to know; empty once erased.
    pub payload: Redacted<String>,
}

impl TaskEnqueued {
    /// Returns whether the payload was erased, so that the task can no longer be performed.
    #[must_use]
    pub fn is_erased(&self) -> bool {
        self.payload_bytes > 0 && self.payload.expose().is_empty()
    }
}

/// The end of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskAttemptEnded {
    /// The task.
    pub task: QueuedTaskId,
    /// The lease of the attempt.
    pub fence: LeaseFence,
    /// How it ended.
    pub end: AttemptEnd,
    /// What follows. Recorded, so that a replay does not depend on the rules of a later version.
    pub next: TaskFollowUp,
    /// Why it failed, in words; empty where it did not, and once erased.
    pub explanation: Redacted<String>,
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AttemptEnd {
    /// The task is done.
    Completed,
    /// The worker stopped because it was asked to, and nothing of the attempt took effect that a repetition would do twice.
    Stopped,
    /// The worker reports that the task is not done.
    Failed,
    /// The worker does not know whether the task is done.
    InDoubt,
    /// The worker panicked.
    Panicked,
    /// The worker showed no sign of life before its deadline.
    NoHeartbeat,
    /// The daemon ended during the attempt.
    ProcessEnded,
}

impl AttemptEnd {
    /// Every end with its word.
    pub const ALL: [(Self, &'static str); 7] = [
        (Self::Completed, "completed"),
        (Self::Stopped, "stopped"),
        (Self::Failed, "failed"),
        (Self::InDoubt, "in_doubt"),
        (Self::Panicked, "panicked"),
        (Self::NoHeartbeat, "no_heartbeat"),
        (Self::ProcessEnded, "process_ended"),
    ];
}

crate::words::words_of_table!(AttemptEnd);

/// What follows an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TaskFollowUp {
    /// Nothing: the task is done.
    Done,
    /// Another attempt.
    Again {
        /// When it may begin.
        due: Timestamp,
    },
    /// A person looks at it: it failed too often.
    DeadLetter,
    /// A person looks at it: it may be done or not, and its kind is not repeated by itself.
    OutcomeUnknown,
    /// Nothing: it was not wanted any more.
    Cancelled,
}

/// Where a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TaskStage {
    /// It waits for its time, or for a free worker.
    Waiting,
    /// A worker is at it.
    Leased,
    /// It is done.
    Done,
    /// It failed too often, and waits for a person.
    DeadLetter,
    /// It may be done or not, and waits for a person.
    OutcomeUnknown,
    /// It was cancelled before it was done.
    Cancelled,
    /// A person dropped it after it had failed.
    Dropped,
}

impl TaskStage {
    /// Every stage with its word.
    pub const ALL: [(Self, &'static str); 7] = [
        (Self::Waiting, "waiting"),
        (Self::Leased, "leased"),
        (Self::Done, "done"),
        (Self::DeadLetter, "dead_letter"),
        (Self::OutcomeUnknown, "outcome_unknown"),
        (Self::Cancelled, "cancelled"),
        (Self::Dropped, "dropped"),
    ];

    /// Returns whether the queue works at such a task, or will by itself.
    #[must_use]
    pub fn is_open(self) -> bool {
        matches!(self, Self::Waiting | Self::Leased)
    }

    /// Returns whether such a task waits for a person.
    #[must_use]
    pub fn needs_person(self) -> bool {
        matches!(self, Self::DeadLetter | Self::OutcomeUnknown)
    }
}

crate::words::words_of_table!(TaskStage);

/// A task, as lists show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrchestratorBackgroundTaskRecord {
    /// Its id.
    pub task: QueuedTaskId,
    /// Its kind.
    pub kind: TaskKind,
    /// On whose behalf; nil for the daemon itself.
    pub principal: PrincipalId,
    /// The session that it works for.
    pub session: Option<SessionId>,
    /// The entry that put it into the queue.
    pub seq: Seq,
    /// When it was put into the queue.
    pub created: Timestamp,
    /// When its latest entry was written.
    pub changed: Timestamp,
    /// Where it is.
    pub stage: TaskStage,
    /// When it may begin, or might have.
    pub due: Timestamp,
    /// The number of its latest lease; zero before the first.
    pub fence: LeaseFence,
    /// Attempts that count: those since the last retry by a person, without stopped ones.
    pub attempts: u32,
    /// How far its worker was at the latest recorded heartbeat.
    pub progress: u64,
    /// Whether its worker was asked to stop.
    pub is_cancel_requested: bool,
    /// How its latest attempt ended.
    pub last_end: Option<AttemptEnd>,
    /// Why its latest attempt failed, in words.
    pub explanation: Redacted<String>,
}

content_rows! {
    fn task_event(walk, event: TaskEvent) {
        match event {
            TaskEvent::Enqueued(enqueued) => walk.task_enqueued(enqueued),
            TaskEvent::AttemptEnded(ended) => walk.task_attempt_ended(ended),
            TaskEvent::Leased { task: _, fence: _, until: _ }
            | TaskEvent::Progressed { task: _, fence: _, marker: _, until: _ }
            | TaskEvent::CancelRequested { task: _ }
            | TaskEvent::RunNowRequested { task: _ }
            | TaskEvent::RetryRequested { task: _ }
            | TaskEvent::Dropped { task: _ } => {}
        }
    }

    fn task_enqueued(walk, enqueued: TaskEnqueued) {
        let TaskEnqueued { task: _, kind: _, key: _, due: _, payload_bytes: _, payload } = enqueued;
        // A handler reads it back, so it is never rewritten.
        walk.text(Bytes, "payload", payload);
    }

    fn task_attempt_ended(walk, ended: TaskAttemptEnded) {
        let TaskAttemptEnded { task: _, fence: _, end: _, next: _, explanation } = ended;
        walk.text(Prose, "explanation", explanation);
    }
}
