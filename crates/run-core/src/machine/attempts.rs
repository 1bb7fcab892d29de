//! What follows a model request that yielded no answer: once more, another model, a shorter request, or the end.
//!
//! Owns the way from a failure to the next attempt, by [`failure_table`](crate::failure_table). Invariant: one turn
//! makes at most [`ATTEMPTS_PER_TURN_MAX`] requests beside those that restarts caught, and words that were shown are only ever repeated by the model
//! that said them.

use std::time::Duration;

use palyra_types::event::{AbandonCause, LoopGuard, NextAttempt, RunEvent, TapeEvent};
use palyra_types::model::ModelFailureClass;
use palyra_types::{ErrorCode, Redacted, Timestamp};

use super::proceed::proceed;
use super::step::{NextAttemptPlan, Step};
use crate::failure_table::{
    ASKED_PAUSE_BEFORE_NEXT_MODEL_MAX, ASKED_PAUSE_MAX, ATTEMPTS_PER_TURN_MAX, AttemptOrigin, FailureRule,
    LastResort, PauseRule, REPEATS_AFTER_TEXT_MAX, SHORTENINGS_PER_TURN_MAX, rule,
};
use crate::input::Effect;
use crate::model_call::WordsShown;

/// A provider's failure, as it enters the run.
pub(super) struct ProviderFailure<'a> {
    pub(super) class: ModelFailureClass,
    pub(super) detail: &'a Redacted<String>,
    pub(super) retry_after: Option<Duration>,
}

/// Gives the open attempt up and turns to what the table says.
pub(super) fn failed(step: &mut Step, failure: &ProviderFailure<'_>) {
    let rule = rule(failure.class);
    let successor = successor(step, &rule, failure.retry_after);
    let cause = AbandonCause::Failure(failure.class);
    step.abandon_open_attempt(cause, successor, failure.detail.clone());
    match successor.next {
        NextAttempt::None => end(step, &rule, failure),
        NextAttempt::SameModel => pause(step),
        NextAttempt::NextModel | NextAttempt::ShorterContext => proceed(step),
    }
}

/// Goes on with the pause that the run is in; after a restart no longer than anybody may ask for, for clocks jump.
pub(super) fn pause(step: &mut Step) {
    if let Some(retry) = step.machine.model.retry() {
        let at = retry.at.min(step.now.after(ASKED_PAUSE_MAX));
        step.perform(Effect::RetryAt { attempt: retry.after, at });
    }
}

/// Gives up a request that a restart caught. Where restarts catch the same request again and again, the run waits for a
/// person: a request that itself ends the daemon is not made for ever.
pub(super) fn caught_by_restart(step: &mut Step) {
    if step.machine.model.open().is_none() {
        return;
    }
    step.abandon_open_attempt(AbandonCause::Restart, NextAttemptPlan::NONE, Redacted::default());
    if let Some(repeats) = step.machine.model.tried().restart_counts.verdict() {
        step.record(TapeEvent::Run(RunEvent::LoopDetected { guard: LoopGuard::Restarts, repeats }));
    }
}

fn successor(step: &Step, rule: &FailureRule, asked: Option<Duration>) -> NextAttemptPlan {
    let model = &step.machine.model;
    let tried = model.tried();
    let shown = tried.words == WordsShown::Shown;
    if tried.counted_attempts() >= ATTEMPTS_PER_TURN_MAX
        || (shown && tried.repeats_after_text >= REPEATS_AFTER_TEXT_MAX)
    {
        return NextAttemptPlan::NONE;
    }
    let attempt = model.open().map(|open| open.attempt).unwrap_or_default();
    let origin = AttemptOrigin { run: step.machine.run, attempt };
    let next_model = rule.resort == LastResort::NextModel && !shown && model.has_next_model();
    let hurries = next_model
        && rule.pause == PauseRule::BackoffOrAsked
        && asked.is_some_and(|asked| asked > ASKED_PAUSE_BEFORE_NEXT_MODEL_MAX);
    if !hurries && let Some(pause) = rule.pause_before_repeat(tried.repeats, asked, origin) {
        return NextAttemptPlan { next: NextAttempt::SameModel, retry_at: Some(step.now.after(pause)) };
    }
    match rule.resort {
        LastResort::NextModel if next_model => NextAttemptPlan::at_once(NextAttempt::NextModel),
        LastResort::ShorterContext if tried.shortenings < SHORTENINGS_PER_TURN_MAX => {
            NextAttemptPlan::at_once(NextAttempt::ShorterContext)
        }
        LastResort::None | LastResort::NextModel | LastResort::ShorterContext => NextAttemptPlan::NONE,
    }
}

fn end(step: &mut Step, rule: &FailureRule, failure: &ProviderFailure<'_>) {
    let said = failure.detail.clone();
    let message = match failure.retry_after.filter(|asked| *asked > ASKED_PAUSE_MAX) {
        None => said,
        Some(asked) => Redacted::from(step.now.after(asked)).zip(said).map(|(from, said)| {
            let from = utc_text(from);
            format!("the provider takes no request before {from}: {said}")
        }),
    };
    step.finish(rule.end, Some(rule.class.code()), message);
}

/// Ends a run whose shorter request is not shorter.
pub(super) fn nothing_to_leave_out(step: &mut Step) {
    let rule = rule(ModelFailureClass::ContextExceeded);
    let message = "the request is larger than the model's window, and nothing is left to leave out";
    step.finish(rule.end, Some(ErrorCode::ModelContextExceeded), message);
}

/// Writes a time for people, such as `2026-11-21 23:10:05 UTC`.
fn utc_text(time: Timestamp) -> String {
    let seconds = time.0.div_euclid(1_000_000);
    match jiff::Timestamp::from_second(seconds) {
        Ok(time) => time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
        Err(_) => format!("{seconds} seconds after 1970"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_for_people() {
        for (seconds, wanted) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_399, "2000-02-28 23:59:59 UTC"),
            (951_782_400, "2000-02-29 00:00:00 UTC"),
            (951_868_800, "2000-03-01 00:00:00 UTC"),
            (1_795_302_605, "2026-11-21 23:10:05 UTC"),
            (4_107_542_400, "2100-03-01 00:00:00 UTC"),
            (-1, "1969-12-31 23:59:59 UTC"),
        ] {
            assert_eq!(utc_text(Timestamp(seconds * 1_000_000)), wanted);
        }
        assert!(!utc_text(Timestamp(i64::MAX)).is_empty());
    }
}
