//! What follows a failed model request: the table row by row, pauses, chains, and where it all ends.

use std::time::Duration;

use palyra_types::event::{ModelEvent, TapeEvent};
use palyra_types::model::ModelFailureClass as Class;
use palyra_types::run::{CancelReason, RunLimits, RunPhase, TerminationReason};
use palyra_types::{ErrorCode, Timestamp};

use crate::RunInput;
use crate::failure_table::{ASKED_PAUSE_MAX, CLASSES, LastResort, rule};
use crate::scenario::{
    ContextAnswers, ScenarioAct, ScenarioDriver, answer, begin, broken, calls, cancel, cancel_because, check,
    check_from, done, due, fails, fails_asking, read, reasoning, restart, start, start_with,
    start_with_fallbacks, steer, text, wait,
};

fn with_fallbacks(fallbacks: u32) -> ScenarioDriver {
    let mut driver = ScenarioDriver::new();
    for act in [start_with_fallbacks(RunLimits::default(), fallbacks), begin()] {
        driver.act(&act).expect("an input").expect("taken");
    }
    driver
}

/// Fails each attempt with a class, waiting where the run pauses, until the run is over; returns the tape's tail.
fn fail_on(mut driver: ScenarioDriver, class: Class, said: Option<&str>) -> (ScenarioDriver, Vec<String>) {
    let from = driver.tape.len();
    while driver.phase() != RunPhase::Finished {
        let act = match (driver.machine.open_attempt(), driver.machine.pausing_after()) {
            (Some(attempt), _) => {
                if let Some(said) = said {
                    driver.act(&text(attempt.0, said)).expect("an input").expect("taken");
                }
                fails(attempt.0, class)
            }
            (None, Some(attempt)) => due(attempt.0),
            (None, None) => panic!("stuck: {}", driver.tape_line()),
        };
        driver.act(&act).expect("an input").expect("taken");
    }
    let tail = driver.tape[from..].iter().map(|(event, _)| crate::scenario::event_line(event)).collect();
    (driver, tail)
}

fn abandoned(tail: &[String]) -> Vec<String> {
    let words = tail.iter().filter(|line| line.starts_with("Abandoned"));
    words.map(|line| line.split(' ').skip(3).collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn before_text_each_class_does_what_its_row_says() {
    for class in CLASSES {
        for fallbacks in 0..3 {
            let rule = rule(class);
            let (run, tail) = fail_on(with_fallbacks(fallbacks), class, None);
            let repeats = vec![format!("{class:?} SameModel"); rule.repeats_max as usize];
            let mut wanted = Vec::new();
            match rule.resort {
                LastResort::None => wanted.push(format!("{class:?}")),
                LastResort::ShorterContext => {
                    wanted.extend([format!("{class:?} ShorterContext"), format!("{class:?} ShorterContext")]);
                    wanted.push(format!("{class:?}"));
                }
                LastResort::NextModel => {
                    for _ in 0..fallbacks {
                        wanted.extend(repeats.clone());
                        wanted.push(format!("{class:?} NextModel"));
                    }
                    wanted.extend(repeats);
                    wanted.push(format!("{class:?}"));
                    if wanted.len() > 6 {
                        wanted.truncate(5);
                        wanted.push(format!("{class:?}"));
                    }
                }
            }
            assert_eq!(abandoned(&tail), wanted, "{class:?} with {fallbacks} fallbacks: {tail:?}");
            assert_eq!((run.end().reason, run.end().error), (rule.end, Some(class.code())));
            assert_eq!(run.end().message.expose(), "no", "the person reads what the provider said");
        }
    }
}

#[test]
fn after_text_the_same_model_is_asked_once_more_and_no_other() {
    for class in CLASSES {
        for fallbacks in 0..3 {
            let (run, tail) = fail_on(with_fallbacks(fallbacks), class, Some("half"));
            let rule = rule(class);
            let again = match rule.resort {
                LastResort::ShorterContext => Some("ShorterContext"),
                LastResort::NextModel if rule.repeats_max > 0 => Some("SameModel"),
                LastResort::NextModel | LastResort::None => None,
            };
            let again = again.map(|next| format!("{class:?} {next}"));
            let wanted: Vec<String> = again.into_iter().chain([format!("{class:?}")]).collect();
            assert_eq!(abandoned(&tail), wanted, "{class:?} with {fallbacks} fallbacks: {tail:?}");
            assert_eq!((run.end().reason, run.end().error), (rule.end, Some(class.code())));
        }
    }
}

#[test]
fn a_pause_is_answered_once_and_by_its_own_timer() {
    check(
        &[start(), begin(), fails(1, Class::Network), due(2), answer(1), due(1), due(1), answer(2)],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         Abandoned 1 0-0 Network SameModel > pause after 1
         refused: Stale
         refused: Stale
         ModelRequested 2 turn 1 > ask 2
         refused: Stale
         ModelMessage 2 no text, RunFinished Done FinalAnswer > end",
    );
}

#[test]
fn the_next_model_is_asked_at_once_and_kept_for_the_rest_of_the_run() {
    check_from(
        with_fallbacks(2),
        &[
            fails(1, Class::Auth),
            calls(2, &[read("a")]),
            done(1),
            fails(3, Class::Quota),
            fails(4, Class::Permanent),
        ],
        "Abandoned 1 0-0 Auth NextModel, Switched fallback-1, ModelRequested 2 turn 1 fallback-1 > ask 2
         ModelMessage 2 no text 1 calls, Proposed 1 read, Allowed, Started 1 > execute 1
         Finished 1, ModelRequested 3 turn 2 fallback-1 > ask 3
         Abandoned 3 0-0 Quota NextModel, Switched fallback-2, ModelRequested 4 turn 2 fallback-2 > ask 4
         Abandoned 4 0-0 Permanent, RunFinished Failed ProviderError > end",
    );
}

#[test]
fn words_that_were_shown_are_the_same_models_to_finish_even_if_it_falls_silent() {
    check_from(
        with_fallbacks(1),
        &[text(1, "half"), fails(1, Class::Network), due(1), fails(2, Class::Network)],
        "ModelText 1 half
         Abandoned 1 3-3 Network SameModel > pause after 1
         ModelRequested 2 turn 1 > ask 2
         Abandoned 2 0-0 Network, RunFinished Failed ProviderError > end",
    );
}

#[test]
fn reasoning_is_not_text() {
    check_from(
        with_fallbacks(1),
        &[reasoning(1, "hm"), fails(1, Class::Auth), reasoning(2, "so"), text(2, "yes"), answer(2)],
        "ModelReasoning 1 hm
         Abandoned 1 0-0 Auth NextModel, Switched fallback-1, ModelRequested 2 turn 1 fallback-1 > ask 2
         ModelReasoning 2 so
         ModelText 2 yes
         ModelMessage 2 text 8-8, RunFinished Done FinalAnswer > end",
    );
}

#[test]
fn a_new_turn_may_try_everything_again() {
    check(
        &[
            start(),
            begin(),
            fails(1, Class::Timeout),
            due(1),
            calls(2, &[read("a")]),
            done(1),
            fails(3, Class::Timeout),
            due(3),
            answer(4),
        ],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         Abandoned 1 0-0 Timeout SameModel > pause after 1
         ModelRequested 2 turn 1 > ask 2
         ModelMessage 2 no text 1 calls, Proposed 1 read, Allowed, Started 1 > execute 1
         Finished 1, ModelRequested 3 turn 2 > ask 3
         Abandoned 3 0-0 Timeout SameModel > pause after 3
         ModelRequested 4 turn 2 > ask 4
         ModelMessage 4 no text, RunFinished Done FinalAnswer > end",
    );
}

#[test]
fn restarts_and_failures_of_one_turn_are_bounded_apart() {
    let run = check(
        &[
            start(),
            begin(),
            restart(),
            fails(2, Class::Network),
            due(2),
            restart(),
            fails(4, Class::Network),
            due(4),
            restart(),
            fails(6, Class::Network),
        ],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         Abandoned 1 0-0 Restart, ModelRequested 2 turn 1 > ask 2
         Abandoned 2 0-0 Network SameModel > pause after 2
         ModelRequested 3 turn 1 > ask 3
         Abandoned 3 0-0 Restart, ModelRequested 4 turn 1 > ask 4
         Abandoned 4 0-0 Network SameModel > pause after 4
         ModelRequested 5 turn 1 > ask 5
         Abandoned 5 0-0 Restart, ModelRequested 6 turn 1 > ask 6
         Abandoned 6 0-0 Network, RunFinished Failed ProviderError > end",
    );
    assert_eq!(run.end().turns, 1);
}

/// Returns when the pause that the last entry announced is over.
fn retry_at(run: &ScenarioDriver) -> Timestamp {
    match run.tape.last() {
        Some((TapeEvent::Model(ModelEvent::AttemptAbandoned { retry_at: Some(at), .. }), _)) => *at,
        _ => panic!("no pause: {}", run.tape_line()),
    }
}

#[test]
fn a_rate_limit_of_hours_goes_to_the_next_model_or_says_when_to_come_back() {
    let hours = Duration::from_secs(3 * 3_600);
    check_from(
        with_fallbacks(1),
        &[fails_asking(1, Class::RateLimit, hours)],
        "Abandoned 1 0-0 RateLimit NextModel, Switched fallback-1, ModelRequested 2 turn 1 fallback-1 > ask 2",
    );
    let mut alone = with_fallbacks(0);
    alone.now = Timestamp(1_795_302_605_000_000);
    let run = check_from(
        alone,
        &[fails_asking(1, Class::RateLimit, hours)],
        "Abandoned 1 0-0 RateLimit, RunFinished Failed ProviderError > end",
    );
    assert_eq!(run.end().error, Some(ErrorCode::ModelRateLimited));
    let wanted = "the provider takes no request before 2026-11-22 02:10:05 UTC: no";
    assert_eq!(run.end().message.expose(), wanted);
}

#[test]
fn an_asked_pause_is_kept_and_a_shorter_one_is_not_hurried() {
    for (asked, least) in [(30_000, 30_000), (1, 375), (60_000, 60_000)] {
        let run = check_from(
            with_fallbacks(0),
            &[fails_asking(1, Class::Transient, Duration::from_millis(asked))],
            "Abandoned 1 0-0 Transient SameModel > pause after 1",
        );
        let pause = retry_at(&run).since(run.now);
        assert!(pause >= Duration::from_millis(least) && pause <= ASKED_PAUSE_MAX, "{pause:?}");
    }
}

#[test]
fn nobody_waits_long_for_a_model_while_another_one_can_be_asked() {
    for class in [Class::Transient, Class::RateLimit] {
        for (asked, next) in
            [(5_000, "SameModel > pause after 1"), (5_001, "NextModel"), (30_000, "NextModel")]
        {
            let more = if next == "NextModel" {
                ", Switched fallback-1, ModelRequested 2 turn 1 fallback-1 > ask 2"
            } else {
                ""
            };
            check_from(
                with_fallbacks(1),
                &[fails_asking(1, class, Duration::from_millis(asked))],
                &format!("Abandoned 1 0-0 {class:?} {next}{more}"),
            );
        }
    }
}

#[test]
fn what_ends_a_run_ends_its_pause_at_once() {
    let ends = [
        (cancel(), "CancelRequested User, RunFinished Cancelled Cancelled > end"),
        (
            cancel_because(CancelReason::TimeLimit),
            "CancelRequested TimeLimit, RunFinished Cancelled TimeLimit > end",
        ),
        (
            cancel_because(CancelReason::Interrupted),
            "CancelRequested Interrupted, RunFinished Cancelled Interrupted > end",
        ),
        (broken(), "RunFinished Failed InternalError > end"),
    ];
    for (act, end) in ends {
        let expected = format!("Abandoned 1 0-0 Network SameModel > pause after 1\n{end}\nrefused: Finished");
        check_from(with_fallbacks(0), &[fails(1, Class::Network), act, due(1)], &expected);
    }
}

#[test]
fn a_pause_survives_restarts_and_what_is_said_in_it() {
    check_from(
        with_fallbacks(0),
        &[fails(1, Class::Network), restart(), steer(), restart(), due(1), answer(2)],
        "Abandoned 1 0-0 Network SameModel > pause after 1
         nothing > pause after 1
         InputReceived Steer
         nothing > pause after 1
         ModelRequested 2 turn 1 > ask 2
         ModelMessage 2 no text, RunFinished Done FinalAnswer > end",
    );
}

#[test]
fn after_a_restart_nobody_waits_longer_than_the_longest_pause_whatever_the_clock_says() {
    let mut run = with_fallbacks(0);
    run.act(&fails(1, Class::Network)).expect("an input").expect("taken");
    run.now = Timestamp(0);
    let commit = run.act(&restart()).expect("an input").expect("taken");
    let latest = run.now.after(ASKED_PAUSE_MAX);
    assert!(matches!(commit.effects[..], [crate::Effect::RetryAt { at, .. }] if at <= latest));
}

#[test]
fn a_pause_is_active_time_but_not_the_time_in_which_no_daemon_ran() {
    let mut run = with_fallbacks(0);
    run.act(&fails(1, Class::Network)).expect("an input").expect("taken");
    let pause = retry_at(&run).since(run.now);
    let run = check_from(
        run,
        &[wait(9_000), restart(), due(1), wait(3), answer(2)],
        "nothing > pause after 1
         ModelRequested 2 turn 1 > ask 2
         ModelMessage 2 no text, RunFinished Done FinalAnswer > end",
    );
    assert_eq!(run.end().active_time, pause + Duration::from_secs(3));
}

#[test]
fn a_request_that_is_too_large_is_halved_twice_and_stays_so() {
    let run = check(
        &[
            start(),
            begin(),
            fails(1, Class::ContextExceeded),
            fails(2, Class::ContextExceeded),
            calls(3, &[read("a")]),
            done(1),
        ],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         Abandoned 1 0-0 ContextExceeded ShorterContext, ModelRequested 2 turn 1 > ask 2
         Abandoned 2 0-0 ContextExceeded ShorterContext, ModelRequested 3 turn 1 > ask 3
         ModelMessage 3 no text 1 calls, Proposed 1 read, Allowed, Started 1 > execute 1
         Finished 1, ModelRequested 4 turn 2 > ask 4",
    );
    let sent = run.tape.iter().filter_map(|(event, _)| match event {
        TapeEvent::Model(ModelEvent::Requested(requested)) => Some(requested.context.tokens_estimated),
        _ => None,
    });
    assert_eq!(sent.collect::<Vec<_>>(), [100, 50, 25, 25]);
}

#[test]
fn a_request_that_cannot_become_shorter_is_not_sent_again() {
    let mut run = with_fallbacks(1);
    run.contexts = ContextAnswers::Incompressible;
    let run = check_from(
        run,
        &[fails(1, Class::ContextExceeded)],
        "Abandoned 1 0-0 ContextExceeded ShorterContext, RunFinished Failed ContextExhausted > end",
    );
    assert_eq!(run.end().error, Some(ErrorCode::ModelContextExceeded));
    let mut run = with_fallbacks(1);
    run.contexts = ContextAnswers::TooLarge;
    check_from(
        run,
        &[fails(1, Class::ContextExceeded)],
        "Abandoned 1 0-0 ContextExceeded ShorterContext, RunFinished Failed ContextExhausted > end",
    );
}

#[test]
fn a_failure_that_used_up_the_tokens_ends_the_run_before_it_asks_again() {
    let limits = RunLimits { output_tokens_max: 6, ..RunLimits::default() };
    let run = check(
        &[start_with(limits), begin(), text(1, "half"), fails(1, Class::Network), due(1)],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         ModelText 1 half
         Abandoned 1 3-3 Network SameModel > pause after 1
         RunFinished Failed TurnLimit > end",
    );
    assert_eq!(run.end().reason, TerminationReason::TurnLimit);
}

#[test]
fn a_run_of_a_version_without_chains_is_repeated_with_the_model_it_names() {
    let mut driver = ScenarioDriver::new();
    let ScenarioAct::Take(RunInput::Start(started)) = start() else { unreachable!("a start is an input") };
    let mut started = *started;
    started.model = palyra_types::Redacted::cleaned(None);
    driver.must(&RunInput::Start(Box::new(started)));
    check_from(
        driver,
        &[begin(), fails(1, Class::Auth)],
        "ModelRequested 1 turn 1 > ask 1
         Abandoned 1 0-0 Auth, RunFinished Failed ProviderError > end",
    );
}

#[test]
fn a_model_whose_window_is_too_small_is_passed_over_for_one_that_takes_the_run() {
    let mut run = with_fallbacks(2);
    run.contexts = ContextAnswers::FitsFallback(2);
    check_from(
        run,
        &[fails(1, Class::Auth), calls(2, &[read("a")]), restart(), done(1), answer(3)],
        "Abandoned 1 0-0 Auth NextModel, Switched fallback-2 past 1, ModelRequested 2 turn 1 fallback-2 > ask 2
         ModelMessage 2 no text 1 calls, Proposed 1 read, Allowed, Started 1 > execute 1
         nothing > execute 1
         Finished 1, ModelRequested 3 turn 2 fallback-2 > ask 3
         ModelMessage 3 no text, RunFinished Done FinalAnswer > end",
    );
    let mut run = ScenarioDriver::new();
    run.contexts = ContextAnswers::FitsFallback(1);
    check_from(
        run,
        &[start_with_fallbacks(RunLimits::default(), 2), begin(), answer(1)],
        "RunStarted
         Switched fallback-1 past 1, ModelRequested 1 turn 1 fallback-1 > ask 1
         ModelMessage 1 no text, RunFinished Done FinalAnswer > end",
    );
}

#[test]
fn a_tape_of_an_older_version_that_names_no_switch_goes_on_with_the_same_model() {
    let mut run = with_fallbacks(2);
    for act in [fails(1, Class::Auth), calls(2, &[read("a")])] {
        run.act(&act).expect("an input").expect("taken");
    }
    let entries = run.tape.len();
    let switch = |event: &TapeEvent| matches!(event, TapeEvent::Model(ModelEvent::Switched { .. }));
    run.tape.retain(|(event, _)| !switch(event));
    assert_eq!(run.tape.len() + 1, entries);
    run.machine = crate::scenario::replay(&run.tape);
    check_from(
        run,
        &[done(1), fails(3, Class::Quota), restart(), answer(5)],
        "Finished 1, ModelRequested 3 turn 2 fallback-1 > ask 3
         Abandoned 3 0-0 Quota NextModel, Switched fallback-2, ModelRequested 4 turn 2 fallback-2 > ask 4
         Abandoned 4 0-0 Restart, ModelRequested 5 turn 2 fallback-2 > ask 5
         ModelMessage 5 no text, RunFinished Done FinalAnswer > end",
    );
}

#[test]
fn words_that_were_shown_are_no_larger_models_to_finish() {
    let mut run = with_fallbacks(1);
    run.act(&text(1, "half"));
    run.contexts = ContextAnswers::FitsFallback(1);
    check_from(
        run,
        &[fails(1, Class::Network), due(1)],
        "Abandoned 1 3-3 Network SameModel > pause after 1
         RunFinished Failed ContextExhausted > end",
    );
}
