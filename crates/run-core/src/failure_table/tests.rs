//! The table as people read it, and its pauses.

use std::time::Duration;

use palyra_types::model::ModelFailureClass;
use palyra_types::{Attempt, RunId};
use proptest::prelude::*;

use super::{
    ASKED_PAUSE_BEFORE_NEXT_MODEL_MAX, ASKED_PAUSE_MAX, ATTEMPTS_PER_TURN_MAX, AttemptOrigin, BACKOFF_FIRST,
    BACKOFF_MAX, CLASSES, FailureRule, JITTER_PERCENT, LastResort, PauseRule, REPEATS_AFTER_TEXT_MAX,
    SHORTENINGS_PER_TURN_MAX, rule,
};

const PAGE: &str = include_str!("../../../../docs/model-failures.md");

/// Writes a rule as the page does.
fn row(rule: FailureRule) -> String {
    let repeats = match rule.repeats_max {
        0 => "no".to_owned(),
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        more => format!("{more} times"),
    };
    let pause = match rule.pause {
        PauseRule::None => "-",
        PauseRule::Backoff => "backoff",
        PauseRule::BackoffOrAsked => "backoff, or as asked",
    };
    let resort = match rule.resort {
        LastResort::None => "nothing",
        LastResort::NextModel => "next model",
        LastResort::ShorterContext => "shorter context, twice",
    };
    let code = rule.class.code();
    format!("| {:?} | {repeats} | {pause} | {resort} | {:?} | `{}` |", rule.class, rule.end, code.slug())
}

#[test]
fn the_page_for_people_says_what_the_machine_does() {
    let rows: Vec<&str> =
        PAGE.lines().filter(|line| line.starts_with("| ") && line.contains(" | `")).collect();
    let wanted: Vec<String> = CLASSES.iter().map(|class| row(rule(*class))).collect();
    assert_eq!(rows, wanted, "\nthe table in docs/model-failures.md should read:\n{}", wanted.join("\n"));
    for said in [
        format!("at most {ATTEMPTS_PER_TURN_MAX} requests"),
        format!("{} ms", BACKOFF_FIRST.as_millis()),
        format!("{} s", BACKOFF_MAX.as_secs()),
        format!("more than {} s", ASKED_PAUSE_MAX.as_secs()),
        format!("more than {} s while another", ASKED_PAUSE_BEFORE_NEXT_MODEL_MAX.as_secs()),
        format!("{JITTER_PERCENT} %"),
        // The tests of restarts count the same.
        "5 times within 60 s of the request, or 20 times in".to_owned(),
    ] {
        assert!(PAGE.contains(&said), "docs/model-failures.md does not say `{said}`");
    }
    assert_eq!((REPEATS_AFTER_TEXT_MAX, SHORTENINGS_PER_TURN_MAX), (1, 2), "the page says once and twice");
}

#[test]
fn each_class_has_its_row() {
    for class in CLASSES {
        assert_eq!(rule(class).class, class);
        assert_eq!(CLASSES.iter().filter(|other| **other == class).count(), 1);
    }
}

#[test]
fn a_policy_refusal_is_never_taken_elsewhere() {
    let rule = rule(ModelFailureClass::ContentPolicy);
    assert_eq!((rule.repeats_max, rule.resort), (0, LastResort::None));
}

#[test]
fn a_pause_that_the_provider_asks_for_is_kept_up_to_a_minute() {
    let rule = rule(ModelFailureClass::RateLimit);
    let who = AttemptOrigin { run: RunId::from_parts(1, 1), attempt: Attempt(1) };
    let pause = |asked| rule.pause_before_repeat(0, asked, who);
    assert_eq!(pause(Some(Duration::from_secs(30))), Some(Duration::from_secs(30)));
    assert_eq!(pause(Some(ASKED_PAUSE_MAX)), Some(ASKED_PAUSE_MAX));
    assert_eq!(pause(Some(ASKED_PAUSE_MAX + Duration::from_millis(1))), None);
    assert_eq!(pause(Some(Duration::MAX)), None);
    assert_eq!(pause(Some(Duration::ZERO)), pause(None), "no pause at all would hammer");
    assert_eq!(rule.pause_before_repeat(2, None, who), None, "twice is enough");
}

proptest! {
    #[test]
    fn pauses_grow_within_their_bounds_and_are_the_same_each_time(
        random in any::<u128>(), attempt in any::<u32>(), repeats in any::<u32>()
    ) {
        let (run, attempt) = (RunId::from_parts(7, random), Attempt(attempt));
        let pause = super::backoff(repeats, run, attempt);
        let plain = BACKOFF_FIRST.saturating_mul(2_u32.saturating_pow(repeats)).min(BACKOFF_MAX);
        prop_assert!(pause >= plain * (100 - JITTER_PERCENT) / 100);
        prop_assert!(pause <= plain * (100 + JITTER_PERCENT) / 100);
        prop_assert_eq!(pause, super::backoff(repeats, run, attempt));
    }

    #[test]
    fn runs_that_fail_together_do_not_come_back_together(random in any::<u64>()) {
        let pauses = (0..64_u128).map(|n| super::backoff(0, RunId::from_parts(7, u128::from(random) + n), Attempt(1)));
        let different: std::collections::BTreeSet<Duration> = pauses.collect();
        prop_assert!(different.len() > 16, "only {} different pauses", different.len());
    }
}
