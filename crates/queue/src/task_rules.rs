//! The rules of each kind of task, as a table.

use std::time::Duration;

use palyra_types::queued_task::TaskKind;

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(60 * 60);

/// What follows an attempt whose end is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LostAttempt {
    /// Another attempt: a repeated one changes nothing that a first one did.
    Repeated,
    /// The outcome of the task is unknown, and a person is asked: a repeated attempt might take effect twice.
    OutcomeUnknown,
}

/// The rules of a kind of task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskRules {
    /// The kind.
    pub kind: TaskKind,
    /// Kinds with a lower number come first.
    pub priority: u8,
    /// Tasks that are worked at, at most.
    pub concurrency: usize,
    /// Tasks that wait or are worked at, at most.
    pub open_max: usize,
    /// Attempts that fail or are lost before the task is a dead letter.
    pub attempts_max: u32,
    /// The pause after the first failed attempt; each further one doubles it.
    pub backoff_min: Duration,
    /// The longest pause.
    pub backoff_max: Duration,
    /// How long an attempt goes on without a heartbeat before it counts as lost.
    pub visibility: Duration,
    /// What follows a lost attempt.
    pub lost_attempt: LostAttempt,
}

const BASE: TaskRules = TaskRules {
    kind: TaskKind::Compaction,
    priority: 50,
    concurrency: 1,
    open_max: 20_000,
    attempts_max: 5,
    backoff_min: Duration::from_secs(10),
    backoff_max: HOUR,
    visibility: Duration::from_secs(2 * 60),
    lost_attempt: LostAttempt::Repeated,
};

/// Messages and schedules are waited for by people, so they come first; care of the daemon itself comes before what only
/// saves tokens. A worker of a model needs long: its visibility covers one request without an answer.
const TABLE: [TaskRules; TaskKind::ALL.len()] = [
    TaskRules {
        priority: 40,
        concurrency: 2,
        backoff_min: MINUTE,
        visibility: Duration::from_secs(30 * 60),
        ..BASE
    },
    TaskRules {
        kind: TaskKind::Reflection,
        priority: 60,
        backoff_min: MINUTE,
        visibility: Duration::from_secs(30 * 60),
        ..BASE
    },
    TaskRules { kind: TaskKind::SessionCleanup, ..BASE },
    TaskRules { kind: TaskKind::JournalCare, priority: 20, ..BASE },
    TaskRules { kind: TaskKind::Backup, priority: 30, visibility: HOUR, ..BASE },
    TaskRules {
        kind: TaskKind::ScheduledRun,
        priority: 10,
        concurrency: 4,
        backoff_max: Duration::from_secs(10 * 60),
        ..BASE
    },
    TaskRules {
        kind: TaskKind::OutboxSend,
        priority: 0,
        concurrency: 4,
        attempts_max: 8,
        backoff_min: SECOND,
        lost_attempt: LostAttempt::OutcomeUnknown,
        ..BASE
    },
    TaskRules {
        kind: TaskKind::Notify,
        priority: 5,
        concurrency: 2,
        attempts_max: 8,
        backoff_min: Duration::from_secs(5),
        ..BASE
    },
];

/// Returns the rules of a kind.
#[must_use]
pub fn rules(kind: TaskKind) -> &'static TaskRules {
    TABLE.iter().find(|rules| rules.kind == kind).unwrap_or(&TABLE[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_a_row_of_its_own_with_sound_numbers() {
        for (kind, word) in TaskKind::ALL {
            let rules = rules(kind);
            assert_eq!(rules.kind, kind, "{word}");
            assert!(rules.concurrency > 0 && rules.attempts_max > 0 && rules.open_max > 0, "{word}");
            assert!(rules.backoff_min <= rules.backoff_max, "{word}");
            assert!(rules.visibility >= MINUTE, "{word}");
        }
    }

    fn words(span: Duration) -> String {
        match span.as_secs() {
            seconds if seconds % 3_600 == 0 => format!("{} h", seconds / 3_600),
            seconds if seconds % 60 == 0 => format!("{} min", seconds / 60),
            seconds => format!("{seconds} s"),
        }
    }

    #[test]
    fn the_document_has_the_rules_in_the_order_of_priority() {
        let document = include_str!("../../../docs/background.md");
        let mut rows: Vec<_> = TABLE.iter().collect();
        rows.sort_by_key(|rules| rules.priority);
        let rows: Vec<_> = rows.into_iter().map(row).collect();
        assert!(document.contains(&rows.concat()), "docs/background.md needs:\n{}", rows.concat());
    }

    fn row(rules: &TaskRules) -> String {
        let kind = rules.kind.as_str();
        let pauses = format!("{}, {}", words(rules.backoff_min), words(rules.backoff_max));
        let lost = match rules.lost_attempt {
            LostAttempt::Repeated => "repeated",
            LostAttempt::OutcomeUnknown => "outcome unknown",
        };
        let TaskRules { concurrency, attempts_max, visibility, .. } = rules;
        format!(
            "| `{kind}` | {concurrency} | {attempts_max} | {pauses} | {} | {lost} |\n",
            words(*visibility)
        )
    }
}
