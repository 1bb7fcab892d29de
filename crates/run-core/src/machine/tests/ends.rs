//! How runs end, stop and wait: limits, cancels, failures, the loop guard.

use std::time::Duration;

use palyra_types::event::{RunEvent, TapeEvent, ToolEvent, UnknownOutcomeCause};
use palyra_types::model::{FinishReason, ModelFailureClass, UsageSource};
use palyra_types::run::{CancelReason, RunLimits, RunPhase, TerminationReason, WaitReason};
use palyra_types::{ErrorCode, Timestamp};

use crate::scenario::{
    ANSWER_TOKENS, CALL_DEADLINE, answer, answer_finished, begin, broken, calls, cancel, cancel_because,
    check, check_from, denied, done, done_with, fails, fails_with, input, lost, post, read, reasoning,
    replay, reported, scan, shell, start, start_with, text, wait,
};
use crate::scenario::{ContextAnswers, ScenarioAct, ScenarioDriver, ScriptedCall};

/// A run with these calls under way.
fn with_calls(wanted: &[ScriptedCall]) -> ScenarioDriver {
    let mut driver = ScenarioDriver::new();
    for act in [start(), begin(), calls(1, wanted)] {
        driver.act(&act).expect("an input").expect("taken");
    }
    driver
}

#[test]
fn the_turn_limit_ends_the_run_after_the_last_round() {
    let limits = RunLimits { turns_max: 1, ..RunLimits::default() };
    let run = check(
        &[start_with(limits), begin(), calls(1, &[read("a")]), done(1)],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         ModelMessage 1 no text 1 calls, Proposed 1 read, Allowed, Started 1 > execute 1
         Finished 1, RunFinished Failed TurnLimit > end",
    );
    assert_eq!((run.end().error, run.end().turns), (Some(ErrorCode::TurnLimit), 1));
}

#[test]
fn a_run_without_turns_ends_before_it_asks() {
    let limits = RunLimits { turns_max: 0, ..RunLimits::default() };
    check(&[start_with(limits), begin()], "RunStarted\nRunFinished Failed TurnLimit > end");
}

#[test]
fn calls_beyond_the_tool_limit_are_denied_together_and_end_the_run() {
    let limits = RunLimits { tool_calls_max: 2, ..RunLimits::default() };
    let run = check(
        &[start_with(limits), begin(), calls(1, &[read("a")]), done(1), calls(2, &[read("b"), read("c")])],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         ModelMessage 1 no text 1 calls, Proposed 1 read, Allowed, Started 1 > execute 1
         Finished 1, ModelRequested 2 turn 2 > ask 2
         ModelMessage 2 no text 2 calls, Proposed 2 read, Denied BudgetExhausted by budget, Proposed 3 read, Denied BudgetExhausted by budget, RunFinished Failed ToolLimit > end",
    );
    assert_eq!(run.end().tool_calls, 1, "what was refused was not used");
}

#[test]
fn the_last_calls_that_fit_are_made_and_denied_ones_count() {
    let limits = RunLimits { tool_calls_max: 2, ..RunLimits::default() };
    check(
        &[start_with(limits), begin(), calls(1, &[denied("rm"), read("a")]), done(2), calls(2, &[read("b")])],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         ModelMessage 1 no text 2 calls, Proposed 1 rm, Denied NoRulePermits, Proposed 2 read, Allowed, Started 2 > execute 2
         Finished 2, ModelRequested 2 turn 2 > ask 2
         ModelMessage 2 no text 1 calls, Proposed 3 read, Denied BudgetExhausted by budget, RunFinished Failed ToolLimit > end",
    );
}

#[test]
fn written_tokens_are_limited_too_and_the_end_says_so() {
    let limits = RunLimits { output_tokens_max: ANSWER_TOKENS, ..RunLimits::default() };
    let run = check(
        &[start_with(limits), begin(), calls(1, &[read("a")]), done(1)],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         ModelMessage 1 no text 1 calls, Proposed 1 read, Allowed, Started 1 > execute 1
         Finished 1, RunFinished Failed TurnLimit > end",
    );
    assert_eq!(run.end().usage, reported(ANSWER_TOKENS));
    assert!(run.end().message.expose().contains("tokens"));
}

#[test]
fn an_answer_that_goes_on_beyond_the_token_limit_is_ended_while_it_streams() {
    let limits = RunLimits { output_tokens_max: 3, ..RunLimits::default() };
    let run = check(
        &[start_with(limits), begin(), text(1, "12345678"), reasoning(1, "1234"), text(1, "x"), answer(1)],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         ModelText 1 12345678
         ModelReasoning 1 1234
         ModelText 1 x, ModelMessage 1 text 3-5, RunFinished Failed TurnLimit > hang up 1, end
         refused: Finished",
    );
    let end = run.end();
    assert_eq!((end.error, end.usage.source), (Some(ErrorCode::TurnLimit), UsageSource::Estimated));
    assert_eq!((end.usage.output_tokens, end.usage.reasoning_tokens), (4, 1));
    assert!(end.message.expose().contains("tokens"));
}

#[test]
fn an_answer_that_ends_at_the_token_limit_is_whole() {
    let limits = RunLimits { output_tokens_max: 3, ..RunLimits::default() };
    check(
        &[start_with(limits), begin(), text(1, "123456789012"), answer(1)],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         ModelText 1 123456789012
         ModelMessage 1 text 3-3, RunFinished Done FinalAnswer > end",
    );
}

#[test]
fn what_earlier_turns_wrote_counts_for_the_answer_that_streams() {
    let limits = RunLimits { output_tokens_max: ANSWER_TOKENS + 1, ..RunLimits::default() };
    check(
        &[start_with(limits), begin(), calls(1, &[read("a")]), done(1), text(2, "1234"), text(2, "5")],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         ModelMessage 1 no text 1 calls, Proposed 1 read, Allowed, Started 1 > execute 1
         Finished 1, ModelRequested 2 turn 2 > ask 2
         ModelText 2 1234
         ModelText 2 5, ModelMessage 2 text 9-10, RunFinished Failed TurnLimit > hang up 2, end",
    );
}

#[test]
fn an_answer_that_the_provider_cut_off_at_the_token_limit_is_not_final() {
    let limits = RunLimits { output_tokens_max: ANSWER_TOKENS, ..RunLimits::default() };
    let cut_off = || answer_finished(1, FinishReason::Length);
    let begun = "RunStarted\nModelRequested 1 turn 1 > ask 1\n";
    let expected = format!("{begun}ModelMessage 1 no text, RunFinished Failed TurnLimit > end");
    check(&[start_with(limits), begin(), cut_off()], &expected);
    let expected = format!("{begun}ModelMessage 1 no text, RunFinished Done FinalAnswer > end");
    check(&[start(), begin(), cut_off()], &expected);
}

#[test]
fn the_time_limit_cancels_like_a_person_but_says_why() {
    let run = check(
        &[start(), begin(), wait(1_800), cancel_because(CancelReason::TimeLimit)],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         CancelRequested TimeLimit, Abandoned 1 0-0 Cancelled, RunFinished Cancelled TimeLimit > hang up 1, end",
    );
    assert_eq!(run.end().error, Some(ErrorCode::TimeLimit));
    assert_eq!(run.end().active_time, Duration::from_secs(1_800));
}

#[test]
fn the_time_of_a_run_that_waits_stands_still() {
    let run = with_calls(&[shell()]);
    let run = check_from(
        run,
        &[wait(10), lost(1, UnknownOutcomeCause::ExecutorLost), wait(5_000), input(), wait(5), answer(2)],
        "OutcomeUnknown 1 ExecutorLost
         InputReceived, ModelRequested 2 turn 2 > ask 2
         ModelMessage 2 no text, RunFinished Done FinalAnswer > end",
    );
    assert_eq!(run.end().active_time, Duration::from_secs(15));
    let queued = check(&[start(), wait(9_000)], "RunStarted");
    assert_eq!(queued.machine.active_time_left(queued.now), RunLimits::default().active_time_max);
}

#[test]
fn the_time_left_runs_down_while_the_model_is_asked() {
    let run = check(&[start(), begin(), wait(60)], "RunStarted\nModelRequested 1 turn 1 > ask 1");
    assert_eq!(run.machine.active_time_left(run.now), Duration::from_secs(29 * 60));
    let long_after = Timestamp(i64::MAX);
    assert_eq!(run.machine.active_time_left(long_after), Duration::ZERO);
}

#[test]
fn a_cancel_before_the_begin_is_one_commit() {
    check(
        &[start(), cancel(), begin()],
        "RunStarted
         CancelRequested User, RunFinished Cancelled Cancelled > end
         refused: Finished",
    );
}

#[test]
fn a_cancel_while_the_model_is_asked_is_one_commit() {
    check(
        &[start(), begin(), cancel(), answer(1)],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         CancelRequested User, Abandoned 1 0-0 Cancelled, RunFinished Cancelled Cancelled > hang up 1, end
         refused: Finished",
    );
}

#[test]
fn a_cancel_while_text_streams_supersedes_the_text() {
    check(
        &[start(), begin(), text(1, "a"), text(1, "b"), cancel()],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         ModelText 1 a
         ModelText 1 b
         CancelRequested User, Abandoned 1 3-4 Cancelled, RunFinished Cancelled Cancelled > hang up 1, end",
    );
}

#[test]
fn a_cancel_while_a_tool_runs_is_requested_first_and_ends_with_the_tool() {
    let run = check_from(
        with_calls(&[read("a")]),
        &[cancel(), cancel(), input(), fails_with(1, "stopped")],
        "CancelRequested User > stop tools
         nothing
         refused: NotWaiting
         Finished 1 tool_failed, RunFinished Cancelled Cancelled > end",
    );
    assert_eq!(run.end().error, None);
}

#[test]
fn a_cancel_while_many_tools_run_waits_for_the_last_and_starts_no_other() {
    check_from(
        with_calls(&[read("a"), read("b"), scan()]),
        &[cancel(), done(2), lost(1, UnknownOutcomeCause::Cancelled)],
        "CancelRequested User > stop tools
         Finished 2
         Finished 1 tool_cancelled, RunFinished Cancelled Cancelled > end",
    );
}

#[test]
fn an_opaque_tool_cut_off_by_a_cancel_stays_unknown_and_the_run_ends() {
    check_from(
        with_calls(&[shell()]),
        &[cancel(), lost(1, UnknownOutcomeCause::Cancelled)],
        "CancelRequested User > stop tools
         OutcomeUnknown 1 Cancelled, RunFinished Cancelled Cancelled > end",
    );
}

#[test]
fn a_cancel_while_the_run_waits_is_one_commit() {
    check_from(
        with_calls(&[shell()]),
        &[lost(1, UnknownOutcomeCause::Deadline), cancel()],
        "OutcomeUnknown 1 Deadline
         CancelRequested User, RunFinished Cancelled Cancelled > end",
    );
}

#[test]
fn an_input_larger_than_the_window_ends_the_run() {
    let mut driver = ScenarioDriver::new();
    driver.contexts = ContextAnswers::TooLarge;
    let run = check_from(
        driver,
        &[start(), begin()],
        "RunStarted
         RunFinished Failed ContextExhausted > end",
    );
    assert_eq!(run.end().error, Some(ErrorCode::ContextExhausted));
}

/// One read after the other, with the model asking again in between.
fn rounds(outcomes: &[ScenarioAct], wanted: &[ScriptedCall]) -> Vec<ScenarioAct> {
    let mut acts = vec![start(), begin()];
    for (round, (outcome, call)) in (1..).zip(outcomes.iter().zip(wanted)) {
        acts.push(calls(round, std::slice::from_ref(call)));
        acts.push(outcome.clone());
    }
    acts
}

#[track_caller]
fn check_last(acts: &[ScenarioAct], last: &str) -> ScenarioDriver {
    let mut driver = ScenarioDriver::new();
    let mut line = String::new();
    for act in acts {
        if let Some(outcome) = driver.act(act) {
            line = outcome.expect("taken").line();
        }
    }
    assert_eq!(line, last, "\ntape: {}", driver.tape_line());
    driver
}

#[test]
fn the_third_equal_call_with_the_equal_result_parks_the_run() {
    let twice = rounds(&[done_with(1, "x"), done_with(2, "x")], &[read("a"), read("a")]);
    check_last(&twice, "Finished 2, ModelRequested 3 turn 3 > ask 3");
    let thrice = rounds(
        &[done_with(1, "x"), done_with(2, "x"), done_with(3, "x")],
        &[read("a"), read("a"), read("a")],
    );
    let run = check_last(&thrice, "Finished 3, LoopDetected SameResult 3");
    assert_eq!(run.phase(), RunPhase::Waiting(WaitReason::LoopCheck));
}

#[test]
fn other_arguments_or_another_result_are_no_loop() {
    let other_result = rounds(
        &[done_with(1, "x"), done_with(2, "y"), done_with(3, "x")],
        &[read("a"), read("a"), read("a")],
    );
    check_last(&other_result, "Finished 3, ModelRequested 4 turn 4 > ask 4");
    let other_call = rounds(
        &[done_with(1, "x"), done_with(2, "x"), done_with(3, "x")],
        &[read("a"), read("b"), read("a")],
    );
    check_last(&other_call, "Finished 3, ModelRequested 4 turn 4 > ask 4");
}

#[test]
fn the_fifth_equal_failure_parks_the_run_whatever_the_call() {
    let files = ["a", "b", "c", "d", "e"].map(read);
    let failures: Vec<ScenarioAct> = (1..=5).map(|effect| fails_with(effect, "no space")).collect();
    check_last(
        &rounds(&failures[..4], &files[..4]),
        "Finished 4 tool_failed, ModelRequested 5 turn 5 > ask 5",
    );
    check_last(&rounds(&failures, &files), "Finished 5 tool_failed, LoopDetected SameFailure 5");
    let different: Vec<ScenarioAct> =
        (1..=5).map(|effect| fails_with(effect, &format!("reason {effect}"))).collect();
    check_last(&rounds(&different, &files), "Finished 5 tool_failed, ModelRequested 6 turn 6 > ask 6");
}

#[test]
fn lost_pure_calls_are_equal_failures_only_when_the_calls_are_equal() {
    let losses: Vec<ScenarioAct> =
        (1..=5).map(|effect| lost(effect, UnknownOutcomeCause::Deadline)).collect();
    let files = ["a", "b", "c", "d", "e"].map(read);
    check_last(&rounds(&losses, &files), "Finished 5 tool_timed_out, ModelRequested 6 turn 6 > ask 6");
    let one = [(); 5].map(|()| read("a"));
    check_last(&rounds(&losses, &one), "Finished 5 tool_timed_out, LoopDetected SameFailure 5");
}

#[test]
fn five_equal_denials_park_the_run() {
    let mut acts = vec![start(), begin()];
    acts.extend((1..=5).map(|attempt| calls(attempt, &[denied("rm")])));
    check_last(
        &acts,
        "ModelMessage 5 no text 1 calls, Proposed 5 rm, Denied NoRulePermits, LoopDetected SameFailure 5",
    );
}

#[test]
fn a_word_of_the_person_lets_a_parked_run_go_on_and_the_counts_begin_anew() {
    let thrice = rounds(
        &[done_with(1, "x"), done_with(2, "x"), done_with(3, "x")],
        &[read("a"), read("a"), read("a")],
    );
    let run = check_last(&thrice, "Finished 3, LoopDetected SameResult 3");
    check_from(
        run,
        &[
            done(3),
            begin(),
            input(),
            input(),
            calls(4, &[read("a")]),
            done_with(4, "x"),
            calls(5, &[read("a")]),
            done_with(5, "x"),
            calls(6, &[read("a")]),
            done_with(6, "x"),
            cancel(),
        ],
        "refused: Stale
         refused: OutOfPlace
         InputReceived, ModelRequested 4 turn 4 > ask 4
         refused: NotWaiting
         ModelMessage 4 no text 1 calls, Proposed 4 read, Allowed, Started 4 > execute 4
         Finished 4, ModelRequested 5 turn 5 > ask 5
         ModelMessage 5 no text 1 calls, Proposed 5 read, Allowed, Started 5 > execute 5
         Finished 5, ModelRequested 6 turn 6 > ask 6
         ModelMessage 6 no text 1 calls, Proposed 6 read, Allowed, Started 6 > execute 6
         Finished 6, LoopDetected SameResult 3
         CancelRequested User, RunFinished Failed LoopStopped > end",
    );
}

fn outcome_durations(run: &ScenarioDriver) -> Vec<Duration> {
    let durations = run.tape.iter().filter_map(|(event, _)| match event {
        TapeEvent::Tool(ToolEvent::Finished(finished)) => Some(finished.duration),
        _ => None,
    });
    durations.collect()
}

#[test]
fn a_lost_pure_call_is_a_failure_that_the_model_reads() {
    let run = check_from(
        with_calls(&[read("a")]),
        &[wait(30), lost(1, UnknownOutcomeCause::ExecutorLost), wait(1), answer(2)],
        "Finished 1 tool_failed, ModelRequested 2 turn 2 > ask 2
         ModelMessage 2 no text, RunFinished Done FinalAnswer > end",
    );
    assert_eq!(run.end().active_time, Duration::from_secs(31));
    assert_eq!(outcome_durations(&run), [Duration::from_secs(30)]);
    let hung = check_from(
        with_calls(&[read("a")]),
        &[wait(9_000), lost(1, UnknownOutcomeCause::Deadline)],
        "Finished 1 tool_timed_out, ModelRequested 2 turn 2 > ask 2",
    );
    assert_eq!(outcome_durations(&hung), [CALL_DEADLINE], "longer it may not take");
}

#[test]
fn an_unknown_outcome_waits_until_the_others_end_and_starts_nothing() {
    let run = check_from(
        with_calls(&[post(), read("a"), scan()]),
        &[lost(1, UnknownOutcomeCause::ExecutorLost), input(), done(2)],
        "OutcomeUnknown 1 ExecutorLost
         refused: NotWaiting
         Finished 2",
    );
    assert_eq!(run.phase(), RunPhase::Waiting(WaitReason::OutcomeUnknown));
    check_from(
        run,
        &[done(1), input(), done(3)],
        "refused: Stale
         InputReceived, Started 3 > execute 3
         Finished 3, ModelRequested 2 turn 2 > ask 2",
    );
}

#[test]
fn a_broken_invariant_ends_the_run_with_an_outcome_for_everything() {
    check(&[start(), broken()], "RunStarted\nRunFinished Failed InternalError > end");
    check(
        &[start(), begin(), text(1, "a"), broken()],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         ModelText 1 a
         Abandoned 1 3-3 Cancelled, RunFinished Failed InternalError > hang up 1, end",
    );
    let run = check_from(
        with_calls(&[read("a"), post()]),
        &[broken()],
        "Finished 1 tool_cancelled, OutcomeUnknown 2 ExecutorLost, RunFinished Failed InternalError > stop tools, end",
    );
    assert_eq!(run.end().error, Some(ErrorCode::Internal));
}

#[test]
fn usage_is_reported_where_the_provider_counted_and_estimated_where_not() {
    let mut uncounted = crate::scenario::answer_input(2, &[], palyra_types::model::FinishReason::Stop);
    if let crate::RunInput::Answered { answer, .. } = &mut uncounted {
        answer.usage = None;
    }
    let run = check_from(
        with_calls(&[read("a")]),
        &[done(1), text(2, "four"), text(2, " or more"), ScenarioAct::Take(uncounted)],
        "Finished 1, ModelRequested 2 turn 2 > ask 2
         ModelText 2 four
         ModelText 2  or more
         ModelMessage 2 text 9-10, RunFinished Done FinalAnswer > end",
    );
    let usage = run.end().usage;
    assert_eq!((usage.input_tokens, usage.output_tokens), (100, ANSWER_TOKENS + 3));
    assert_eq!(usage.source, UsageSource::Estimated);
}

#[test]
fn what_a_silent_provider_refused_costs_nothing_and_broken_off_text_is_estimated() {
    let usage_after = |acts: &[ScenarioAct]| {
        let mut driver = ScenarioDriver::new();
        for act in acts {
            let _ = driver.act(act);
        }
        driver.end().usage
    };
    let silent = usage_after(&[start(), begin(), fails(1, ModelFailureClass::Auth)]);
    assert_eq!((silent.input_tokens, silent.output_tokens), (0, 0));
    let spoken = usage_after(&[start(), begin(), text(1, "a"), fails(1, ModelFailureClass::Permanent)]);
    assert_eq!((spoken.input_tokens, spoken.output_tokens), (100, 6));
    let cancelled = usage_after(&[start(), begin(), cancel()]);
    assert_eq!((cancelled.input_tokens, cancelled.output_tokens), (100, 0));
}

#[test]
fn every_end_is_recorded_with_its_state() {
    let run = check_from(with_calls(&[read("a")]), &[cancel(), done(1)], {
        "CancelRequested User > stop tools
         Finished 1, RunFinished Cancelled Cancelled > end"
    });
    let machine = replay(&run.tape);
    assert_eq!(machine.finished_because(), Some(TerminationReason::Cancelled));
    assert_eq!(machine.state(), run.end().state);
    assert!(matches!(run.tape.last(), Some((TapeEvent::Run(RunEvent::Finished(_)), _))));
}
