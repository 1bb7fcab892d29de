//! Whether a new task may enter the queue.

use std::collections::BTreeMap;

use palyra_types::queued_task::{TASK_PAYLOAD_BYTES_MAX, TaskKind};

use crate::task_rules::rules;

/// Why a task was not put into the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum QueueRefusal {
    /// The queue has too many open tasks of the kind.
    #[error(
        "{open_max} tasks of the kind `{}` are open, which is the limit; wait until some are done, or cancel some",
        kind.as_str()
    )]
    Full {
        /// The kind.
        kind: TaskKind,
        /// The limit.
        open_max: usize,
    },
    /// The payload is too large.
    #[error("the payload of the task has {bytes} bytes; at most {TASK_PAYLOAD_BYTES_MAX} are allowed")]
    PayloadTooLarge {
        /// Its size.
        bytes: usize,
    },
}

/// How many tasks of each kind are open.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OpenTasks {
    counts: BTreeMap<TaskKind, usize>,
}

impl OpenTasks {
    /// Returns how many tasks of a kind are open.
    #[must_use]
    pub fn of(&self, kind: TaskKind) -> usize {
        self.counts.get(&kind).copied().unwrap_or(0)
    }

    /// Returns whether no task is open.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.counts.values().all(|count| *count == 0)
    }

    /// Counts a task that was opened.
    pub fn opened(&mut self, kind: TaskKind) {
        *self.counts.entry(kind).or_default() += 1;
    }

    /// Counts a task that is open no longer.
    pub fn closed(&mut self, kind: TaskKind) {
        let count = self.counts.entry(kind).or_default();
        *count = count.saturating_sub(1);
    }

    /// Checks whether a new task with a payload of this size may enter.
    ///
    /// # Errors
    /// [`QueueRefusal`].
    pub fn admit(&self, kind: TaskKind, payload_bytes: usize) -> Result<(), QueueRefusal> {
        let open_max = rules(kind).open_max;
        if payload_bytes > TASK_PAYLOAD_BYTES_MAX {
            return Err(QueueRefusal::PayloadTooLarge { bytes: payload_bytes });
        }
        if self.of(kind) >= open_max {
            return Err(QueueRefusal::Full { kind, open_max });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_refused_at_its_limit_and_others_are_not() {
        let mut open = OpenTasks::default();
        let (full, other) = (TaskKind::Backup, TaskKind::Compaction);
        let open_max = rules(full).open_max;
        for _ in 0..open_max {
            assert_eq!(open.admit(full, 0), Ok(()));
            open.opened(full);
        }
        assert_eq!(open.admit(full, 0), Err(QueueRefusal::Full { kind: full, open_max }));
        assert_eq!(open.admit(other, TASK_PAYLOAD_BYTES_MAX), Ok(()));
        let bytes = TASK_PAYLOAD_BYTES_MAX + 1;
        assert_eq!(open.admit(other, bytes), Err(QueueRefusal::PayloadTooLarge { bytes }));
        open.closed(full);
        open.closed(other);
        assert_eq!((open.admit(full, 0), open.of(other)), (Ok(()), 0));
        assert!(!open.is_empty() && OpenTasks::default().is_empty());
        (1..open_max).for_each(|_| open.closed(full));
        assert!(open.is_empty());
    }
}
