//! What waits for a person: approvals, questions, unknown outcomes and schedules, in this folder and elsewhere.

use std::collections::BTreeSet;
use std::ops::Add;

use palyra_screen_text::count;
use palyra_wire::v1;
use serde_json::{Value, json};

/// How much waits in one place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WaitingCounts {
    /// Calls that ask.
    pub approvals: u64,
    /// Runs that wait for input or for a decision.
    pub questions: u64,
    /// Runs that wait for a budget; most of them go on by themselves.
    pub budgets: u64,
    /// Effects with an unknown outcome.
    pub doubts: u64,
    /// Schedules that paused themselves.
    pub schedules: u64,
    /// Reminders that were delivered.
    pub reminders: u64,
}

impl WaitingCounts {
    /// Returns whether nothing waits.
    pub fn is_nothing(self) -> bool {
        self == Self::default()
    }

    /// Returns what waits, in words.
    pub fn words(self) -> String {
        let parts = [
            (self.approvals, "approval"),
            (self.questions, "run that wants an answer"),
            (self.budgets, "run that waits for a budget"),
            (self.doubts, "unknown outcome"),
            (self.schedules, "paused schedule"),
            (self.reminders, "reminder"),
        ];
        let message = parts.into_iter().filter(|(number, _)| *number > 0).map(|(number, noun)| match noun {
            "run that wants an answer" if number > 1 => format!("{number} runs that want an answer"),
            "run that waits for a budget" if number > 1 => format!("{number} runs that wait for a budget"),
            noun => count(number, noun),
        });
        message.collect::<Vec<_>>().join(", ")
    }

    /// Returns the numbers for programs.
    pub fn json(self) -> Value {
        json!({
            "approvals": self.approvals, "questions": self.questions, "budgets": self.budgets,
            "unknown_outcomes": self.doubts, "schedules": self.schedules, "reminders": self.reminders,
        })
    }
}

impl Add for WaitingCounts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            approvals: self.approvals + other.approvals,
            questions: self.questions + other.questions,
            budgets: self.budgets + other.budgets,
            doubts: self.doubts + other.doubts,
            schedules: self.schedules + other.schedules,
            reminders: self.reminders + other.reminders,
        }
    }
}

/// What waits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WaitingWork {
    /// In the folder in question.
    pub here: WaitingCounts,
    /// In other folders.
    pub elsewhere: WaitingCounts,
    /// Runs that wait, for any reason.
    pub waiting_runs: u64,
    /// The newest run that waits for words, and what it asks.
    pub question: Option<(String, String)>,
}

impl WaitingWork {
    /// Counts what waits, by place.
    pub fn counted(items: &[v1::AttentionItem]) -> Self {
        let waiting_runs: BTreeSet<&str> =
            items.iter().filter(|item| item.run_waits).map(|item| item.run_id.as_str()).collect();
        let mut waiting = Self { waiting_runs: waiting_runs.len() as u64, ..Self::default() };
        for item in items {
            let place = if item.here { &mut waiting.here } else { &mut waiting.elsewhere };
            match item.kind() {
                v1::AttentionKind::Approval => place.approvals += 1,
                v1::AttentionKind::UnknownOutcome if item.effect_id > 0 => place.doubts += 1,
                v1::AttentionKind::Budget => place.budgets += 1,
                // `palyra doctor` and `palyra admin incidents` show them; no run waits.
                v1::AttentionKind::Incident => {}
                // `palyra memory learning list` shows it; no run waits for it.
                v1::AttentionKind::Review => {}
                v1::AttentionKind::SchedulePaused => place.schedules += 1,
                v1::AttentionKind::Reminder => place.reminders += 1,
                // Without a call it is a run that goes on with words.
                v1::AttentionKind::UnknownOutcome
                | v1::AttentionKind::Question
                | v1::AttentionKind::Loop
                | v1::AttentionKind::UnknownEntry
                | v1::AttentionKind::Unspecified => place.questions += 1,
            }
        }
        waiting
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_counted_by_place() {
        let item = |run: &str, kind: v1::AttentionKind, here, run_waits| v1::AttentionItem {
            run_id: run.to_owned(),
            kind: kind.into(),
            here,
            run_waits,
            effect_id: u32::from(kind == v1::AttentionKind::UnknownOutcome),
            ..Default::default()
        };
        let waiting = WaitingWork::counted(&[
            item("a", v1::AttentionKind::Approval, true, true),
            item("a", v1::AttentionKind::UnknownOutcome, true, true),
            item("b", v1::AttentionKind::Question, false, true),
            item("c", v1::AttentionKind::Approval, false, true),
            item("d", v1::AttentionKind::UnknownOutcome, false, false),
            item("e", v1::AttentionKind::Budget, true, true),
        ]);
        assert_eq!(
            waiting.here,
            WaitingCounts { approvals: 1, budgets: 1, doubts: 1, ..WaitingCounts::default() }
        );
        assert_eq!(
            waiting.elsewhere,
            WaitingCounts { approvals: 1, questions: 1, doubts: 1, ..WaitingCounts::default() }
        );
        assert!(!(waiting.here + waiting.elsewhere).is_nothing() && waiting.waiting_runs == 4);
        let of_schedules = WaitingWork::counted(&[
            item("", v1::AttentionKind::SchedulePaused, false, false),
            item("", v1::AttentionKind::Reminder, false, false),
        ]);
        assert_eq!(of_schedules.elsewhere.words(), "1 paused schedule, 1 reminder");
        assert_eq!(of_schedules.waiting_runs, 0, "no run waits");
        let settled =
            v1::AttentionItem { effect_id: 0, ..item("e", v1::AttentionKind::UnknownOutcome, true, true) };
        let waiting = WaitingWork::counted(&[settled]);
        assert_eq!(waiting.here, WaitingCounts { questions: 1, ..WaitingCounts::default() });
    }
}
