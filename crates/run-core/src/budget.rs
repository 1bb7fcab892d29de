//! What a run has spent, and what is left.
//!
//! Owns the counts of turns, calls, tokens and active time. Time comes from the entries themselves, so a
//! replay counts the same.

use std::time::Duration;

use palyra_types::event::{
    AbandonCause, DecidedBy, ModelEvent, RunEvent, TapeEvent, ToolEvent, UnknownOutcomeCause,
};
use palyra_types::model::TokenUsage;
use palyra_types::run::{RunLimits, TerminationReason};
use palyra_types::{EffectId, Timestamp};

/// The message of a run that reached its limit of output tokens.
pub(crate) const TOKENS_USED_UP: &str = "the run used all the tokens it may write";

/// The purse of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Budget {
    limits: RunLimits,
    turns: u32,
    tool_calls: u32,
    /// The last call that was counted: a call may be decided more than once.
    counted_to: EffectId,
    usage: TokenUsage,
    counted_any: UsageCount,
    context_tokens: u64,
    active: Duration,
    activity: RunActivity,
}

/// Whether any usage was added: the first one brings its source with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum UsageCount {
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
        self.active + self.activity.span(now)
    }

    /// Returns active time left at `now`.
    #[must_use]
    pub fn active_time_left(&self, now: Timestamp) -> Duration {
        self.limits.active_time_max.saturating_sub(self.active_time(now))
    }

    /// Returns why `turn` may not begin, if so, and what to tell the person. A turn that began before may be
    /// repeated.
    #[must_use]
    pub fn refuses_turn(&self, turn: u32) -> Option<(TerminationReason, &'static str)> {
        if turn > self.limits.turns_max {
            return Some((TerminationReason::TurnLimit, "the run used all the model turns it may take"));
        }
        (self.output_tokens_left() == 0).then_some((TerminationReason::TurnLimit, TOKENS_USED_UP))
    }

    /// Returns how many tokens the run may still write, what it writes right now left aside.
    #[must_use]
    pub fn output_tokens_left(&self) -> u64 {
        self.limits.output_tokens_max.saturating_sub(self.usage.output_tokens)
    }

    /// Returns whether `calls` more tool calls fit.
    #[must_use]
    pub fn fits_calls(&self, calls: usize) -> bool {
        usize::try_from(self.limits.tool_calls_max - self.tool_calls.min(self.limits.tool_calls_max))
            .is_ok_and(|left| calls <= left)
    }

    /// Counts one entry; `activity` tells what the run is at after it.
    pub(crate) fn evolve(&mut self, event: &TapeEvent, time: Timestamp, activity: RunActivity) {
        self.count_time(event, time, activity);
        match event {
            TapeEvent::Run(RunEvent::Started(started)) => self.limits = started.limits,
            TapeEvent::Model(ModelEvent::Requested(requested)) => {
                self.turns = self.turns.max(requested.turn);
                self.context_tokens = requested.context.tokens_estimated;
            }
            TapeEvent::Model(ModelEvent::Message(message)) => self.charge(message.usage),
            TapeEvent::Model(ModelEvent::AttemptAbandoned { text_from, text_to, cause, .. }) => {
                let estimated = cause.estimated_usage(self.context_tokens, *text_from, *text_to);
                estimated.into_iter().for_each(|usage| self.charge(usage));
            }
            // What the budget itself refused was not used.
            TapeEvent::Tool(ToolEvent::Decided(decided)) => {
                let again = decided.effect <= self.counted_to;
                if !again && decided.decided_by != DecidedBy::Budget {
                    self.counted_to = decided.effect;
                    self.tool_calls += 1;
                }
            }
            TapeEvent::Run(_)
            | TapeEvent::Model(_)
            | TapeEvent::Tool(_)
            | TapeEvent::Approval(_)
            | TapeEvent::Unknown { .. } => {}
        }
    }

    fn charge(&mut self, usage: TokenUsage) {
        self.usage = match self.counted_any {
            UsageCount::Nothing => usage,
            UsageCount::Something => self.usage.plus(usage),
        };
        self.counted_any = UsageCount::Something;
    }

    fn count_time(&mut self, event: &TapeEvent, time: Timestamp, activity: RunActivity) {
        let span = self.activity.span(time);
        // While the daemon was down nobody worked: the span before a restart is not counted, and of one
        // that a tool ended no more than the tool itself took.
        let restarted = matches!(
            event,
            TapeEvent::Model(ModelEvent::AttemptAbandoned { cause: AbandonCause::Restart, .. })
                | TapeEvent::Tool(ToolEvent::OutcomeUnknown { cause: UnknownOutcomeCause::Restart, .. })
        );
        self.active += if restarted {
            Duration::ZERO
        } else if let TapeEvent::Tool(ToolEvent::Finished(finished)) = event {
            span.min(finished.duration)
        } else {
            span
        };
        self.activity = activity;
    }
}

/// What a run is at after an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum RunActivity {
    /// Queued, waiting or over.
    #[default]
    Idle,
    /// Something is being done, and may take long.
    AtWork {
        /// Since when.
        since: Timestamp,
    },
    /// Only tools run, or the run pauses before it asks again.
    Bounded {
        /// Since when.
        since: Timestamp,
        /// It may not take longer.
        longest: Duration,
    },
}

impl RunActivity {
    /// Returns the time spent up to `now`. Tools and pauses caught by a restart go on without an entry that says
    /// so; their bound is how much of the daemon's absence is counted at most.
    fn span(self, now: Timestamp) -> Duration {
        match self {
            Self::Idle => Duration::ZERO,
            Self::AtWork { since } => now.since(since),
            Self::Bounded { since, longest } => now.since(since).min(longest),
        }
    }
}
