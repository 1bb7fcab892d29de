//! What follows when a model request fails: one row per class of failure.
//!
//! Owns the table, its numbers and the pauses. The run machine obeys it, adapters never try again by themselves.
//! `docs/model-failures.md` tells people the same; a test keeps both equal.
//!
//! Begin at [`rule`].

use std::time::Duration;

use palyra_types::model::ModelFailureClass;
use palyra_types::run::TerminationReason;
use palyra_types::{Attempt, RunId};

/// Requests of one turn, at most, whatever they failed by; those that a restart of the daemon caught are not counted.
pub const ATTEMPTS_PER_TURN_MAX: u32 = 6;

/// A turn whose words were shown is asked again after a failure at most so often, and only of the same model.
pub const REPEATS_AFTER_TEXT_MAX: u32 = 1;

/// A turn is asked again with less of the conversation at most so often.
pub const SHORTENINGS_PER_TURN_MAX: u32 = 2;

/// The longest pause that a provider may ask for; beyond it the next model is asked, or the run ends.
pub const ASKED_PAUSE_MAX: Duration = Duration::from_secs(60);

/// The longest pause that a provider may ask for while another model of the run's chain could answer at once.
pub const ASKED_PAUSE_BEFORE_NEXT_MODEL_MAX: Duration = Duration::from_secs(5);

/// The first pause; each further one with the same model is twice as long.
pub const BACKOFF_FIRST: Duration = Duration::from_millis(500);

/// The longest pause before jitter.
pub const BACKOFF_MAX: Duration = Duration::from_secs(20);

/// Pauses differ by up to this much of themselves, so that many runs do not come back together.
pub const JITTER_PERCENT: u32 = 25;

/// What follows a failure of one class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailureRule {
    /// The class.
    pub class: ModelFailureClass,
    /// How often the same model is asked again within a turn.
    pub repeats_max: u32,
    /// How long to wait before.
    pub pause: PauseRule,
    /// What else may be tried.
    pub resort: LastResort,
    /// Why the run ends when nothing is left; its code is the class's own.
    pub end: TerminationReason,
}

/// How long to wait before the same model is asked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PauseRule {
    /// It is not asked again.
    None,
    /// The backoff.
    Backoff,
    /// The backoff, and at least what the provider asked for; if that is over [`ASKED_PAUSE_MAX`], the same model
    /// is not asked again.
    BackoffOrAsked,
}

/// What may be tried when the same request to the same model will not do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LastResort {
    /// Nothing.
    None,
    /// The next model of the run's chain.
    NextModel,
    /// The same model with less of the conversation.
    ShorterContext,
}

/// All classes, in the order of the table.
pub const CLASSES: [ModelFailureClass; 11] = [
    ModelFailureClass::RateLimit,
    ModelFailureClass::Transient,
    ModelFailureClass::Network,
    ModelFailureClass::Timeout,
    ModelFailureClass::Malformed,
    ModelFailureClass::Quota,
    ModelFailureClass::Auth,
    ModelFailureClass::Permission,
    ModelFailureClass::Permanent,
    ModelFailureClass::ContextExceeded,
    ModelFailureClass::ContentPolicy,
];

/// Returns the row of a class.
#[must_use]
pub const fn rule(class: ModelFailureClass) -> FailureRule {
    use ModelFailureClass as Class;
    use TerminationReason::{ContentPolicy, ContextExhausted, ProviderError};
    let (repeats_max, pause, resort, end) = match class {
        Class::RateLimit | Class::Transient => {
            (2, PauseRule::BackoffOrAsked, LastResort::NextModel, ProviderError)
        }
        Class::Network => (2, PauseRule::Backoff, LastResort::NextModel, ProviderError),
        Class::Timeout | Class::Malformed => (1, PauseRule::Backoff, LastResort::NextModel, ProviderError),
        // The next model of the chain brings its own credential.
        Class::Quota | Class::Auth | Class::Permission | Class::Permanent => {
            (0, PauseRule::None, LastResort::NextModel, ProviderError)
        }
        Class::ContextExceeded => (0, PauseRule::None, LastResort::ShorterContext, ContextExhausted),
        Class::ContentPolicy => (0, PauseRule::None, LastResort::None, ContentPolicy),
    };
    FailureRule { class, repeats_max, pause, resort, end }
}

/// The attempt that failed, of which run.
#[derive(Debug, Clone, Copy)]
pub struct AttemptOrigin {
    /// The run.
    pub run: RunId,
    /// Its attempt.
    pub attempt: Attempt,
}

impl FailureRule {
    /// Returns the pause before the same model is asked once more, having been asked again `repeats` times in this
    /// turn; `None` when it may not be.
    #[must_use]
    pub fn pause_before_repeat(
        &self,
        repeats: u32,
        asked: Option<Duration>,
        origin: AttemptOrigin,
    ) -> Option<Duration> {
        if repeats >= self.repeats_max {
            return None;
        }
        let backoff = backoff(repeats, origin.run, origin.attempt);
        match self.pause {
            PauseRule::None => None,
            PauseRule::Backoff => Some(backoff),
            PauseRule::BackoffOrAsked => {
                let asked = asked.unwrap_or_default();
                (asked <= ASKED_PAUSE_MAX).then(|| backoff.max(asked))
            }
        }
    }
}

/// Returns the pause after `attempt`, the same each time it is computed.
fn backoff(repeats: u32, run: RunId, attempt: Attempt) -> Duration {
    let doubled = BACKOFF_FIRST.saturating_mul(2_u32.saturating_pow(repeats)).min(BACKOFF_MAX);
    let spread = 2 * JITTER_PERCENT + 1;
    let percent = 100 - JITTER_PERCENT + u32::try_from(dice(run, attempt) % u64::from(spread)).unwrap_or(0);
    doubled * percent / 100
}

/// Mixes a run and an attempt into a number (splitmix64): chance that a replay throws again.
fn dice(run: RunId, attempt: Attempt) -> u64 {
    let bytes = run.to_bytes();
    let (high, low) = bytes.split_at(8);
    let word = |bytes: &[u8]| bytes.iter().fold(0_u64, |word, byte| (word << 8) | u64::from(*byte));
    let mut mixed =
        word(high) ^ word(low).rotate_left(32) ^ u64::from(attempt.0).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests;
