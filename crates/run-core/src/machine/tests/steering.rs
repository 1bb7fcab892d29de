//! What a run does with words that no question asked for.

use palyra_types::event::UnknownOutcomeCause;
use palyra_types::model::{FinishReason, ModelFailureClass};
use palyra_types::run::{CancelReason, RunLimits, RunPhase, WaitReason};

use crate::machine::UNANSWERED_INPUTS_MAX;
use crate::scenario::{
    answer, answer_finished, begin, calls, cancel, cancel_because, check, check_from, done, fails, input,
    lost, post, read, restart, shell, start, start_keyed, start_with, steer, steer_keyed,
};

#[test]
fn what_is_said_during_an_answer_is_shown_in_one_more_turn() {
    check(
        &[start(), begin(), steer(), answer(1), answer(2)],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         InputReceived Steer
         ModelMessage 1 no text, ModelRequested 2 turn 2 > ask 2
         ModelMessage 2 no text, RunFinished Done FinalAnswer > end",
    );
}

#[test]
fn what_is_said_while_tools_run_is_shown_with_their_results() {
    check(
        &[start(), begin(), calls(1, &[read("a")]), steer(), steer(), done(1), answer(2)],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         ModelMessage 1 no text 1 calls, Proposed 1 read, Allowed, Started 1 > execute 1
         InputReceived Steer
         InputReceived Steer
         Finished 1, ModelRequested 2 turn 2 > ask 2
         ModelMessage 2 no text, RunFinished Done FinalAnswer > end",
    );
}

#[test]
fn a_waiting_run_takes_it_as_the_answer() {
    check(
        &[start(), begin(), calls(1, &[shell()]), lost(1, UnknownOutcomeCause::Deadline), steer()],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         ModelMessage 1 no text 1 calls, Proposed 1 shell, Allowed, Started 1 opaque > execute 1
         OutcomeUnknown 1 Deadline
         InputReceived, ModelRequested 2 turn 2 > ask 2",
    );
}

#[test]
fn it_does_not_answer_a_question_that_nobody_was_asked_yet() {
    let run = check(
        &[
            start(),
            begin(),
            calls(1, &[post(), read("a")]),
            lost(1, UnknownOutcomeCause::ExecutorLost),
            steer(),
            done(2),
        ],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         ModelMessage 1 no text 2 calls, Proposed 1 post, Allowed, Proposed 2 read, Allowed, \
         Started 1 opaque, Started 2 > execute 1, execute 2
         OutcomeUnknown 1 ExecutorLost
         InputReceived Steer
         Finished 2",
    );
    assert_eq!(run.phase(), RunPhase::Waiting(WaitReason::OutcomeUnknown));
}

#[test]
fn a_run_that_has_not_begun_or_will_stop_or_is_over_refuses_it() {
    check(
        &[start(), steer(), begin(), calls(1, &[post()]), cancel(), steer(), done(1), steer()],
        "RunStarted
         refused: NotWaiting
         ModelRequested 1 turn 1 > ask 1
         ModelMessage 1 no text 1 calls, Proposed 1 post, Allowed, Started 1 opaque > execute 1
         CancelRequested User > stop tools
         refused: Finished
         Finished 1, RunFinished Cancelled Cancelled > end
         refused: Finished",
    );
}

#[test]
fn the_same_key_is_heard_once_whatever_happened_meanwhile() {
    check(
        &[start(), begin(), steer_keyed(1), steer_keyed(1), restart(), steer_keyed(1), steer_keyed(2)],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         InputReceived Steer
         nothing
         Abandoned 1 0-0 Restart, ModelRequested 2 turn 1 > ask 2
         nothing
         InputReceived Steer",
    );
}

#[test]
fn what_a_run_began_with_is_not_said_to_it_again() {
    check(
        &[start_keyed(1), steer_keyed(1), begin(), steer_keyed(1), steer_keyed(2)],
        "RunStarted
         nothing
         ModelRequested 1 turn 1 > ask 1
         nothing
         InputReceived Steer",
    );
}

#[test]
fn an_end_by_a_limit_or_a_failure_says_what_was_not_answered() {
    let limits = RunLimits { turns_max: 1, ..RunLimits::default() };
    let run = check(
        &[start_with(limits), begin(), steer(), answer(1)],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         InputReceived Steer
         ModelMessage 1 no text, RunFinished Failed TurnLimit > end",
    );
    let message = run.end().message.expose();
    assert_eq!(message, "the run used all the model turns it may take; the last input was not answered");
    for act in [fails(1, ModelFailureClass::ContentPolicy), answer_finished(1, FinishReason::ContentFilter)] {
        let mut run = check(&[start(), begin(), steer()], BEGUN_AND_STEERED);
        run.act(&act).expect("an input").expect("taken");
        assert!(run.end().message.expose().ends_with("; the last input was not answered"));
    }
    let mut run = check(&[start(), begin(), steer()], BEGUN_AND_STEERED);
    run.act(&cancel()).expect("an input").expect("taken");
    assert_eq!(run.end().message.expose(), "");
}

const BEGUN_AND_STEERED: &str = "RunStarted
     ModelRequested 1 turn 1 > ask 1
     InputReceived Steer";

#[test]
fn a_loop_that_a_person_speaks_into_counts_from_there() {
    let mut run = check(&[start(), begin()], "RunStarted\nModelRequested 1 turn 1 > ask 1");
    for round in 1..=2 {
        run.act(&calls(round, &[read("a")])).expect("an input").expect("taken");
        let same = crate::scenario::done_with(round, "same");
        run.act(&same).expect("an input").expect("taken");
    }
    check_from(
        run,
        &[steer(), calls(3, &[read("a")]), crate::scenario::done_with(3, "same")],
        "InputReceived Steer
         ModelMessage 3 no text 1 calls, Proposed 3 read, Allowed, Started 3 > execute 3
         Finished 3, ModelRequested 4 turn 4 > ask 4",
    );
}

#[test]
fn more_than_a_request_can_show_waits_for_its_own_turn() {
    let mut run = check(&[start(), begin()], "RunStarted\nModelRequested 1 turn 1 > ask 1");
    for _ in 0..UNANSWERED_INPUTS_MAX {
        run.act(&steer()).expect("an input").expect("taken");
    }
    check_from(
        run,
        &[steer(), answer(1), steer(), input()],
        "refused: NotWaiting
         ModelMessage 1 no text, ModelRequested 2 turn 2 > ask 2
         InputReceived Steer
         refused: NotWaiting",
    );
}

#[test]
fn an_interrupted_run_ends_as_interrupted() {
    check(
        &[start(), begin(), cancel_because(CancelReason::Interrupted)],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         CancelRequested Interrupted, Abandoned 1 0-0 Cancelled, RunFinished Cancelled Interrupted > hang up 1, end",
    );
    check(
        &[start(), cancel_because(CancelReason::Interrupted)],
        "RunStarted\nCancelRequested Interrupted, RunFinished Cancelled Interrupted > end",
    );
}
