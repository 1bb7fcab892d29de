//! What a run has spent, and what is left.
//!
//! Owns the counts of turns, calls, tokens and active time. Time comes from the entries themselves, so a
//! replay counts the same.

use std::time::Duration;

use palyra_types::Timestamp;
use palyra_types::event::{AbandonCause, TapeEvent};
use palyra_types::model::TokenUsage;
use palyra_types::run::{RunLimits, TerminationReason};

/// The purse of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Budget {
    limits: RunLimits,
    turns: u32,
    tool_calls: u32,
    usage: TokenUsage,
    counted_any: Counted,
    active: Duration,
    active_since: Option<Timestamp>,
}

/// Whether any usage was added: the first one brings its source with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Counted {
    #[default]
    Nothing,
    Something,
}

impl Budget {
    /// Returns what the run may spend.
    #[must_use]
    pub fn limits(&self) -> RunLimits {
        self.limits
    }

    /// Returns turns used.
    #[must_use]
    pub fn turns(&self) -> u32 {
        self.turns
    }

    /// Returns tool calls used.
    #[must_use]
    pub fn tool_calls(&self) -> u32 {
        self.tool_calls
    }

    /// Returns tokens used.
    #[must_use]
    pub fn usage(&self) -> TokenUsage {
        self.usage
    }

    /// Returns active time used up to `now`.
    #[must_use]
    pub fn active_time(&self, now: Timestamp) -> Duration {
        self.active + self.active_since.map_or(Duration::ZERO, |since| now.since(since))
    }

    /// Returns active time left at `now`.
    #[must_use]
    pub fn active_time_left(&self, now: Timestamp) -> Duration {
        self.limits.active_time_max.saturating_sub(self.active_time(now))
    }

    /// Returns why no further model turn may begin, if so.
    #[must_use]
    pub fn refuses_turn(&self) -> Option<TerminationReason> {
        let spent =
            self.turns >= self.limits.turns_max || self.usage.output_tokens >= self.limits.output_tokens_max;
        spent.then_some(TerminationReason::TurnLimit)
    }

    /// Returns whether `calls` more tool calls fit.
    #[must_use]
    pub fn fits_calls(&self, calls: usize) -> bool {
        usize::try_from(self.limits.tool_calls_max - self.tool_calls.min(self.limits.tool_calls_max))
            .is_ok_and(|left| calls <= left)
    }

    /// Counts one entry; `active` tells whether the run is at work after it.
    pub(crate) fn evolve(&mut self, event: &TapeEvent, time: Timestamp, active: Activity) {
        self.count_time(event, time, active);
        match event {
            TapeEvent::RunStarted(started) => self.limits = started.limits,
            TapeEvent::ModelRequested(requested) => self.turns = self.turns.max(requested.turn),
            TapeEvent::ModelMessage(message) => {
                self.usage = match self.counted_any {
                    Counted::Nothing => message.usage,
                    Counted::Something => self.usage.plus(message.usage),
                };
                self.counted_any = Counted::Something;
            }
            TapeEvent::ToolProposed(_) => self.tool_calls += 1,
            TapeEvent::InputReceived { .. }
            | TapeEvent::ModelText { .. }
            | TapeEvent::ModelAttemptAbandoned { .. }
            | TapeEvent::ToolDecided(_)
            | TapeEvent::ToolStarted { .. }
            | TapeEvent::ToolFinished(_)
            | TapeEvent::ToolOutcomeUnknown { .. }
            | TapeEvent::LoopDetected { .. }
            | TapeEvent::CancelRequested { .. }
            | TapeEvent::RunFinished(_)
            | TapeEvent::Unknown { .. } => {}
        }
    }

    fn count_time(&mut self, event: &TapeEvent, time: Timestamp, active: Activity) {
        if let Some(since) = self.active_since {
            let span = time.since(since);
            // While the daemon was down nobody worked: the span before a restart is not counted, and of one
            // that a tool ended no more than the tool itself took.
            self.active += match event {
                TapeEvent::ModelAttemptAbandoned { cause: AbandonCause::Restart, .. } => Duration::ZERO,
                TapeEvent::ToolFinished(finished) => span.min(finished.duration),
                _ => span,
            };
        }
        self.active_since = match active {
            Activity::AtWork => Some(time),
            Activity::Idle => None,
        };
    }
}

/// Whether a run is at work after an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Activity {
    /// Something is being done.
    AtWork,
    /// Queued, waiting or over.
    Idle,
}
