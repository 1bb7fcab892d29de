//! What a restart finds on the tape, and what it does about it.

use std::time::Duration;

use palyra_types::event::{RunEvent, TapeEvent, ToolEvent, UnknownOutcomeCause};
use palyra_types::model::ModelFailureClass;
use palyra_types::run::{RunLimits, RunPhase, WaitReason};

use crate::RunInput;
use crate::scenario::{ScenarioDriver, ScriptedCall};
use crate::scenario::{
    answer, begin, calls, cancel, check, check_from, done, due, fails, input, lost, post, read, replay,
    restart, scan, shell, start, start_with, text, wait,
};

fn with_calls(wanted: &[ScriptedCall]) -> ScenarioDriver {
    let mut driver = ScenarioDriver::new();
    for act in [start(), begin(), calls(1, wanted)] {
        driver.act(&act).expect("an input").expect("taken");
    }
    driver
}

/// A newer version wrote one more entry, and this one takes over.
fn with_unknown(mut driver: ScenarioDriver, kind: u16) -> ScenarioDriver {
    driver.tape.push((TapeEvent::Unknown { kind }, driver.now));
    driver.machine = replay(&driver.tape);
    driver
}

#[test]
fn a_queued_run_stays_queued() {
    let run = check(&[start(), restart()], "RunStarted\nnothing");
    assert_eq!(run.phase(), RunPhase::Queued);
    check_from(run, &[begin()], "ModelRequested 1 turn 1 > ask 1");
}

#[test]
fn an_empty_tape_has_nothing_to_recover() {
    check(&[restart()], "refused: OutOfPlace");
}

#[test]
fn a_request_that_restarts_catch_is_made_again_and_the_run_fails_by_none_of_them() {
    let run = check(
        &[
            start(),
            begin(),
            text(1, "half"),
            restart(),
            text(1, "late"),
            text(2, "again"),
            restart(),
            restart(),
            restart(),
            answer(5),
        ],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         ModelText 1 half
         Abandoned 1 3-3 Restart, ModelRequested 2 turn 1 > ask 2
         refused: Stale
         ModelText 2 again
         Abandoned 2 6-6 Restart, ModelRequested 3 turn 1 > ask 3
         Abandoned 3 0-0 Restart, ModelRequested 4 turn 1 > ask 4
         Abandoned 4 0-0 Restart, ModelRequested 5 turn 1 > ask 5
         ModelMessage 5 no text, RunFinished Done FinalAnswer > end",
    );
    assert_eq!(run.end().turns, 1);
    assert_eq!(run.end().usage.input_tokens, 400, "each attempt is charged as estimated");
}

#[test]
fn a_request_that_ends_the_daemon_each_time_waits_for_a_person_and_is_not_given_up() {
    let ever = || [start(), begin(), restart(), restart(), restart(), restart(), restart(), restart()];
    let tape = "RunStarted
         ModelRequested 1 turn 1 > ask 1
         Abandoned 1 0-0 Restart, ModelRequested 2 turn 1 > ask 2
         Abandoned 2 0-0 Restart, ModelRequested 3 turn 1 > ask 3
         Abandoned 3 0-0 Restart, ModelRequested 4 turn 1 > ask 4
         Abandoned 4 0-0 Restart, ModelRequested 5 turn 1 > ask 5
         Abandoned 5 0-0 Restart, LoopDetected Restarts 5
         nothing";
    let run = check(&ever(), tape);
    assert_eq!(run.phase(), RunPhase::Waiting(WaitReason::LoopCheck));
    let run = check_from(
        run,
        &[input(), restart(), answer(7)],
        "InputReceived, ModelRequested 6 turn 1 > ask 6
         Abandoned 6 0-0 Restart, ModelRequested 7 turn 1 > ask 7
         ModelMessage 7 no text, RunFinished Done FinalAnswer > end",
    );
    assert_eq!(run.end().turns, 1);
    check_from(
        check(&ever(), tape),
        &[cancel()],
        "CancelRequested User, RunFinished Failed LoopStopped > end",
    );
}

#[test]
fn restarts_long_after_the_request_count_less_and_not_for_ever() {
    let mut driver = ScenarioDriver::new();
    for act in [start(), begin()] {
        driver.act(&act);
    }
    for round in 1..=20 {
        assert_eq!(driver.phase(), RunPhase::Running, "after {} restarts", round - 1);
        driver.act(&wait(61));
        driver.act(&restart()).expect("an input").expect("taken");
    }
    assert_eq!(driver.phase(), RunPhase::Waiting(WaitReason::LoopCheck));
    assert!(driver.tape_line().ends_with("LoopDetected Restarts 20"));
}

#[test]
fn restarts_are_no_failures_of_a_model() {
    let acts =
        [start(), begin(), restart(), restart(), restart(), fails(4, ModelFailureClass::Network), due(4)];
    check(
        &acts,
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         Abandoned 1 0-0 Restart, ModelRequested 2 turn 1 > ask 2
         Abandoned 2 0-0 Restart, ModelRequested 3 turn 1 > ask 3
         Abandoned 3 0-0 Restart, ModelRequested 4 turn 1 > ask 4
         Abandoned 4 0-0 Network SameModel > pause after 4
         ModelRequested 5 turn 1 > ask 5",
    );
}

#[test]
fn each_turn_counts_its_own_restarts() {
    let mut acts = vec![start(), begin()];
    acts.extend((0..4).map(|_| restart()));
    acts.extend([calls(5, &[read("a")]), done(1)]);
    acts.extend((0..4).map(|_| restart()));
    acts.push(answer(10));
    let mut driver = ScenarioDriver::new();
    for act in &acts {
        driver.act(act).expect("an input").expect("taken");
    }
    assert_eq!(driver.end().turns, 2);
}

#[test]
fn the_last_turn_allowed_is_repeated_too() {
    let limits = RunLimits { turns_max: 1, ..RunLimits::default() };
    check(
        &[start_with(limits), begin(), restart(), answer(2)],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         Abandoned 1 0-0 Restart, ModelRequested 2 turn 1 > ask 2
         ModelMessage 2 no text, RunFinished Done FinalAnswer > end",
    );
}

#[test]
fn a_pure_call_runs_again_under_its_number_and_is_not_started_twice() {
    check_from(
        with_calls(&[read("a"), read("b")]),
        &[done(1), restart(), restart(), done(2), done(2)],
        "Finished 1
         nothing > execute 2
         nothing > execute 2
         Finished 2, ModelRequested 2 turn 2 > ask 2
         refused: Stale",
    );
}

#[test]
fn an_opaque_call_is_never_executed_again_and_a_person_is_asked() {
    let run = check_from(
        with_calls(&[shell(), read("a")]),
        &[restart(), done(1), restart()],
        "OutcomeUnknown 1 Restart
         refused: Stale
         nothing",
    );
    assert_eq!(run.phase(), RunPhase::Waiting(WaitReason::OutcomeUnknown));
    check_from(
        run,
        &[input(), restart(), done(2), answer(2)],
        "InputReceived, Started 2 > execute 2
         nothing > execute 2
         Finished 2, ModelRequested 2 turn 2 > ask 2
         ModelMessage 2 no text, RunFinished Done FinalAnswer > end",
    );
}

#[test]
fn calls_caught_together_recover_each_by_its_contract() {
    let run = check_from(
        with_calls(&[post(), read("a"), scan()]),
        &[restart(), input(), done(2), input(), done(3)],
        "OutcomeUnknown 1 Restart > execute 2
         refused: NotWaiting
         Finished 2
         InputReceived, Started 3 > execute 3
         Finished 3, ModelRequested 2 turn 2 > ask 2",
    );
    assert_eq!(run.phase(), RunPhase::Running);
}

#[test]
fn a_run_that_waits_goes_back_to_waiting() {
    let run = check_from(
        with_calls(&[shell()]),
        &[lost(1, UnknownOutcomeCause::Deadline), restart()],
        "OutcomeUnknown 1 Deadline
         nothing",
    );
    assert_eq!(run.phase(), RunPhase::Waiting(WaitReason::OutcomeUnknown));
}

#[test]
fn a_finished_run_needs_nothing() {
    check(
        &[start(), begin(), answer(1), restart()],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         ModelMessage 1 no text, RunFinished Done FinalAnswer > end
         refused: Finished",
    );
}

#[test]
fn a_cancel_that_waited_for_tools_is_finished_without_running_them_again() {
    check_from(
        with_calls(&[read("a"), post()]),
        &[cancel(), restart(), done(1)],
        "CancelRequested User > stop tools
         Finished 1 tool_cancelled, OutcomeUnknown 2 Restart, RunFinished Cancelled Cancelled > end
         refused: Finished",
    );
}

#[test]
fn the_time_in_which_no_daemon_ran_is_not_counted() {
    let run = check(
        &[start(), begin(), wait(5), text(1, "a"), wait(9_000), restart(), wait(2), answer(2)],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         ModelText 1 a
         Abandoned 1 3-3 Restart, ModelRequested 2 turn 1 > ask 2
         ModelMessage 2 no text, RunFinished Done FinalAnswer > end",
    );
    assert_eq!(run.end().active_time, Duration::from_secs(7));
    let opaque = check_from(
        with_calls(&[shell()]),
        &[wait(9_000), restart(), wait(9_000), input(), wait(3), answer(2)],
        "OutcomeUnknown 1 Restart
         InputReceived, ModelRequested 2 turn 2 > ask 2
         ModelMessage 2 no text, RunFinished Done FinalAnswer > end",
    );
    assert_eq!(opaque.end().active_time, Duration::from_secs(3));
}

#[test]
fn a_call_that_a_restart_writes_off_costs_no_time() {
    let run = check_from(
        with_calls(&[read("a")]),
        &[wait(4), cancel(), wait(9_000), restart()],
        "CancelRequested User > stop tools
         Finished 1 tool_cancelled, RunFinished Cancelled Cancelled > end",
    );
    assert_eq!(run.end().active_time, Duration::from_secs(4));
}

#[test]
fn of_calls_that_run_again_no_more_than_the_longest_deadline_is_counted() {
    let (short, long) = (Duration::from_secs(10), Duration::from_secs(70));
    let run = check_from(
        with_calls(&[read("a").within(long), read("b").within(short)]),
        &[wait(9_000), restart()],
        "nothing > execute 1, execute 2",
    );
    assert_eq!(run.machine.active_time_left(run.now), RunLimits::default().active_time_max - long);
}

#[test]
fn of_a_call_that_runs_again_no_more_than_its_deadline_is_counted() {
    let run = check_from(with_calls(&[read("a")]), &[wait(9_000), restart(), wait(1)], "nothing > execute 1");
    let left = run.machine.active_time_left(run.now);
    assert_eq!(left, RunLimits::default().active_time_max - crate::scenario::CALL_DEADLINE);
    let run = check_from(
        run,
        &[done(1), answer(2)],
        "Finished 1, ModelRequested 2 turn 2 > ask 2
         ModelMessage 2 no text, RunFinished Done FinalAnswer > end",
    );
    assert_eq!(run.end().active_time, Duration::from_secs(1));
}

#[test]
fn an_unknown_critical_entry_parks_the_run_whatever_was_under_way() {
    let queued = with_unknown(check(&[start()], "RunStarted"), 0x7000);
    let asking =
        with_unknown(check(&[start(), begin()], "RunStarted\nModelRequested 1 turn 1 > ask 1"), 0x7000);
    let working = with_unknown(with_calls(&[read("a"), post()]), 0x7000);
    for (run, end) in [
        (queued, "CancelRequested User, RunFinished Cancelled Cancelled > end"),
        (
            asking,
            "CancelRequested User, Abandoned 1 0-0 Cancelled, RunFinished Cancelled Cancelled > hang up 1, end",
        ),
        (
            working,
            "CancelRequested User, Finished 1 tool_cancelled, OutcomeUnknown 2 Restart, RunFinished Cancelled Cancelled > end",
        ),
    ] {
        let run = check_from(
            run,
            &[restart(), input(), text(1, "late"), answer(1), done(1), restart()],
            "nothing
             refused: NotWaiting
             refused: Stale
             refused: Stale
             refused: Stale
             nothing",
        );
        assert_eq!(run.phase(), RunPhase::Waiting(WaitReason::UnknownKind));
        check_from(run, &[cancel()], end);
    }
}

#[test]
fn an_unknown_entry_keeps_the_run_parked_even_where_a_newer_version_went_on() {
    let mut run = with_unknown(with_calls(&[shell()]), 0x7000);
    let effect = palyra_types::EffectId(1);
    run.tape.push((
        TapeEvent::Tool(ToolEvent::OutcomeUnknown { effect, cause: UnknownOutcomeCause::Restart }),
        run.now,
    ));
    let go_on = palyra_types::run::UserInput::text("go on".into());
    run.tape.push((
        TapeEvent::Run(RunEvent::InputReceived {
            input: go_on,
            delivery: palyra_types::run::InputDelivery::Queue,
            idempotency: None,
        }),
        run.now,
    ));
    run.machine = replay(&run.tape);
    assert_eq!(run.phase(), RunPhase::Waiting(WaitReason::UnknownKind));
    assert_eq!(run.must(&RunInput::Recovered).line(), "nothing");
}

#[test]
fn an_unknown_entry_that_may_be_skipped_is_skipped() {
    let run = with_unknown(with_calls(&[read("a")]), 0x8000);
    assert_eq!(run.phase(), RunPhase::Running);
    check_from(
        run,
        &[restart(), done(1)],
        "nothing > execute 1\nFinished 1, ModelRequested 2 turn 2 > ask 2",
    );
}

#[test]
fn a_proposal_without_verdict_is_denied_rather_than_waited_for() {
    let mut run = with_calls(&[read("a"), read("b")]);
    let judged =
        run.tape.iter().position(|(event, _)| matches!(event, TapeEvent::Tool(ToolEvent::Decided(_))));
    run.tape.truncate(judged.expect("the first verdict"));
    check_from(run, &[restart()], "Denied NoRulePermits, ModelRequested 2 turn 2 > ask 2");
}
