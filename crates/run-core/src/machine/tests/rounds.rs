//! A run without trouble: one line is one commit, and what is done after it.

use palyra_types::ErrorCode;
use palyra_types::event::{TapeEvent, ToolEvent};
use palyra_types::model::FinishReason;
use palyra_types::run::{RunLimits, RunPhase, WaitReason};
use palyra_types::tool::EffectContract;

use crate::scenario::asks::PolicyNow;
use crate::scenario::{ScenarioAct, ScenarioDriver};
use crate::scenario::{
    answer, answer_finished, answer_input, asking, begin, calls, check, check_from, denied, done, fails_with,
    post, read, scan, shell, start, start_with, text, unknown,
};
use crate::{Effect, RunError, RunInput};

#[test]
fn a_text_run_is_asked_answered_and_finished() {
    let run = check(
        &[start(), begin(), text(1, "He"), text(1, "llo"), answer(1)],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         ModelText 1 He
         ModelText 1 llo
         ModelMessage 1 text 3-4, RunFinished Done FinalAnswer > end",
    );
    assert_eq!(run.phase(), RunPhase::Finished);
}

#[test]
fn an_answer_without_words_and_calls_ends_the_run_too() {
    check(
        &[start(), begin(), answer(1)],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         ModelMessage 1 no text, RunFinished Done FinalAnswer > end",
    );
}

#[test]
fn an_accepted_run_is_queued_until_it_begins() {
    let run = check(&[start()], "RunStarted");
    assert_eq!(run.phase(), RunPhase::Queued);
    let run = check_from(run, &[begin()], "ModelRequested 1 turn 1 > ask 1");
    assert_eq!(run.phase(), RunPhase::Running);
}

#[test]
fn a_tool_round_is_two_commits() {
    let run = check(
        &[start(), begin(), text(1, "Look."), calls(1, &[read("a")]), done(1), answer(2)],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         ModelText 1 Look.
         ModelMessage 1 text 3-3 1 calls, Proposed 1 read, Allowed, Started 1 > execute 1
         Finished 1, ModelRequested 2 turn 2 > ask 2
         ModelMessage 2 no text, RunFinished Done FinalAnswer > end",
    );
    assert_eq!(run.machine.next_effect().0, 2);
}

#[test]
fn a_failed_tool_is_an_answer_to_the_model() {
    check(
        &[start(), begin(), calls(1, &[read("a")]), fails_with(1, "no such file")],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         ModelMessage 1 no text 1 calls, Proposed 1 read, Allowed, Started 1 > execute 1
         Finished 1 tool_failed, ModelRequested 2 turn 2 > ask 2",
    );
}

#[test]
fn parallel_reads_start_together_and_each_outcome_is_one_commit() {
    check(
        &[start(), begin(), calls(1, &[read("a"), read("b")]), done(2), done(1)],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         ModelMessage 1 no text 2 calls, Proposed 1 read, Allowed, Proposed 2 read, Allowed, Started 1, Started 2 > execute 1, execute 2
         Finished 2
         Finished 1, ModelRequested 2 turn 2 > ask 2",
    );
}

#[test]
fn at_most_four_reads_run_at_once_and_the_next_takes_a_free_place() {
    let five = ["a", "b", "c", "d", "e"].map(read);
    check(
        &[start(), begin(), calls(1, &five), done(3), done(1)],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         ModelMessage 1 no text 5 calls, Proposed 1 read, Allowed, Proposed 2 read, Allowed, Proposed 3 read, Allowed, Proposed 4 read, Allowed, Proposed 5 read, Allowed, Started 1, Started 2, Started 3, Started 4 > execute 1, execute 2, execute 3, execute 4
         Finished 3, Started 5 > execute 5
         Finished 1",
    );
}

#[test]
fn an_exclusive_call_runs_alone_and_in_the_models_order() {
    check(
        &[start(), begin(), calls(1, &[read("a"), scan(), read("b"), shell()]), done(1), done(2), done(3), done(4)],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         ModelMessage 1 no text 4 calls, Proposed 1 read, Allowed, Proposed 2 scan, Allowed, Proposed 3 read, Allowed, Proposed 4 shell, Allowed, Started 1 > execute 1
         Finished 1, Started 2 > execute 2
         Finished 2, Started 3 > execute 3
         Finished 3, Started 4 opaque > execute 4
         Finished 4, ModelRequested 2 turn 2 > ask 2",
    );
}

#[test]
fn a_run_without_parallel_places_still_runs_one_tool_at_a_time() {
    let limits = RunLimits { parallel_tools_max: 0, ..RunLimits::default() };
    check(
        &[start_with(limits), begin(), calls(1, &[read("a"), read("b")]), done(1)],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         ModelMessage 1 no text 2 calls, Proposed 1 read, Allowed, Proposed 2 read, Allowed, Started 1 > execute 1
         Finished 1, Started 2 > execute 2",
    );
}

#[test]
fn a_denial_is_an_answer_beside_the_others() {
    check(
        &[start(), begin(), calls(1, &[denied("rm"), read("a")]), done(2)],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         ModelMessage 1 no text 2 calls, Proposed 1 rm, Denied NoRulePermits, Proposed 2 read, Allowed, Started 2 > execute 2
         Finished 2, ModelRequested 2 turn 2 > ask 2",
    );
}

#[test]
fn a_round_in_which_all_is_denied_goes_on_at_once() {
    check(
        &[start(), begin(), calls(1, &[denied("rm"), unknown("nope")]), answer(2)],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         ModelMessage 1 no text 2 calls, Proposed 1 rm, Denied NoRulePermits, Proposed 2 nope, Denied UnknownTool, ModelRequested 2 turn 2 > ask 2
         ModelMessage 2 no text, RunFinished Done FinalAnswer > end",
    );
}

#[test]
fn a_call_that_is_to_be_asked_about_waits_for_a_person() {
    check(
        &[start(), begin(), calls(1, &[asking("write")])],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         ModelMessage 1 no text 1 calls, Proposed 1 write, ToAsk, Asks 11 about 1",
    );
}

#[test]
fn effects_are_numbered_on_across_rounds() {
    check(
        &[start(), begin(), calls(1, &[denied("rm"), read("a")]), done(2), calls(2, &[read("b")])],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         ModelMessage 1 no text 2 calls, Proposed 1 rm, Denied NoRulePermits, Proposed 2 read, Allowed, Started 2 > execute 2
         Finished 2, ModelRequested 2 turn 2 > ask 2
         ModelMessage 2 no text 1 calls, Proposed 3 read, Allowed, Started 3 > execute 3",
    );
}

#[test]
fn a_grant_says_exactly_what_was_decided() {
    let mut driver = ScenarioDriver::new();
    let mut grant = None;
    for act in [start(), begin(), calls(1, &[post()])] {
        let commit = driver.act(&act).expect("an input").expect("taken");
        grant = commit.effects.into_iter().find_map(|effect| match effect {
            Effect::Execute(grant) => Some(grant),
            _ => None,
        });
    }
    let grant = grant.expect("the last commit executes");
    assert_eq!((grant.effect().0, grant.contract()), (1, EffectContract::Opaque));
    assert_eq!(grant.tool().as_str(), "post");
    assert_eq!(grant.arguments().expose(), r#"{"path":"out"}"#);
    assert_eq!(grant.workspace_root(), std::path::Path::new("/root"));
    assert_eq!(grant.deadline(), crate::scenario::CALL_DEADLINE);
    assert_eq!(grant.output_bytes_max(), 1_000);
    assert_eq!(grant.run(), driver.machine.run());
    let proposed = driver.tape.iter().find_map(|(event, _)| match event {
        TapeEvent::Tool(ToolEvent::Proposed(proposed)) => Some(proposed.attempt.0),
        _ => None,
    });
    assert_eq!(proposed, Some(1), "a proposal names the answer it came with");
}

#[test]
fn a_calling_answer_that_was_cut_off_still_runs_what_was_allowed() {
    let cut = ScenarioAct::Take(answer_input(1, &[read("a")], FinishReason::Length));
    check(
        &[start(), begin(), cut],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         ModelMessage 1 no text 1 calls, Proposed 1 read, Allowed, Started 1 > execute 1",
    );
}

#[test]
fn a_cut_off_answer_says_so_and_a_filtered_one_fails() {
    let run = check(
        &[start(), begin(), answer_finished(1, FinishReason::Length)],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         ModelMessage 1 no text, RunFinished Done FinalAnswer > end",
    );
    assert!(run.end().message.expose().contains("cut off"));
    let run = check(
        &[start(), begin(), answer_finished(1, FinishReason::ContentFilter)],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         ModelMessage 1 no text, RunFinished Failed ContentPolicy > end",
    );
    assert_eq!(run.end().error, Some(ErrorCode::ModelContentPolicy));
}

#[test]
fn late_and_foolish_inputs_are_refused_and_change_nothing() {
    check(
        &[
            begin(),
            start(),
            start(),
            text(1, "early"),
            begin(),
            begin(),
            text(2, "other"),
            text(1, ""),
            calls(1, &[read("a")]),
            text(1, "late"),
            answer(1),
            begin(),
            done(2),
            done(1),
            done(1),
            answer(2),
            text(2, "after the end"),
            done(1),
            start(),
        ],
        "refused: OutOfPlace
         RunStarted
         refused: OutOfPlace
         refused: Stale
         ModelRequested 1 turn 1 > ask 1
         refused: OutOfPlace
         refused: Stale
         nothing
         ModelMessage 1 no text 1 calls, Proposed 1 read, Allowed, Started 1 > execute 1
         refused: Stale
         refused: Stale
         refused: OutOfPlace
         refused: Stale
         Finished 1, ModelRequested 2 turn 2 > ask 2
         refused: Stale
         ModelMessage 2 no text, RunFinished Done FinalAnswer > end
         refused: Finished
         refused: Finished
         refused: Finished",
    );
}

#[test]
fn an_answer_whose_verdicts_do_not_match_its_calls_is_refused() {
    let mut driver = check(&[start(), begin()], "RunStarted\nModelRequested 1 turn 1 > ask 1");
    let RunInput::Answered { attempt, answer, model, .. } =
        answer_input(1, &[read("a")], FinishReason::ToolCalls)
    else {
        unreachable!("it is an answer");
    };
    let unjudged = RunInput::Answered { attempt, answer, model, calls: Vec::new() };
    assert_eq!(driver.take(&unjudged), Err(RunError::OutOfPlace));
}

#[test]
fn a_context_is_taken_only_where_one_is_wanted() {
    let ready = || {
        let plan = palyra_types::event::ContextPlan::default();
        ScenarioAct::Take(RunInput::ContextReady {
            plan,
            model: palyra_types::model::ModelRef::new("a", "b"),
            routing: palyra_types::event::ModelRouting::default(),
        })
    };
    check(
        &[
            start(),
            begin(),
            ready(),
            ScenarioAct::Take(RunInput::ContextTooLarge),
            calls(1, &[read("a")]),
            ready(),
        ],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         refused: OutOfPlace
         refused: OutOfPlace
         ModelMessage 1 no text 1 calls, Proposed 1 read, Allowed, Started 1 > execute 1
         refused: OutOfPlace",
    );
}

#[test]
fn a_call_that_waited_for_its_turn_starts_only_if_policy_still_lets_it() {
    let waiting = |policy| {
        let mut driver = ScenarioDriver::new();
        for act in [start(), begin(), calls(1, &[shell(), read("a"), scan()])] {
            driver.act(&act).expect("an input").expect("taken");
        }
        driver.policy = policy;
        driver
    };
    check_from(waiting(PolicyNow::AsBefore), &[done(1)], "Finished 1, Started 2 > execute 2");
    check_from(
        waiting(PolicyNow::Denies),
        &[done(1)],
        "Finished 1, Denied Forbidden, Denied Forbidden, ModelRequested 2 turn 2 > ask 2",
    );
    check_from(
        waiting(PolicyNow::OtherVersion),
        &[done(1)],
        "Finished 1, Denied Drifted, Denied Drifted, ModelRequested 2 turn 2 > ask 2",
    );
    let asked =
        check_from(waiting(PolicyNow::Asks), &[done(1)], "Finished 1, ToAsk, Asks 1702 about 2 again");
    assert_eq!(asked.phase(), RunPhase::Waiting(WaitReason::Approval));
    // The control: what is judged and starts in the same step is judged once.
    let mut tight = ScenarioDriver::new();
    tight.policy = PolicyNow::Denies;
    check_from(
        tight,
        &[start(), begin(), calls(1, &[shell()])],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         ModelMessage 1 no text 1 calls, Proposed 1 shell, Allowed, Started 1 opaque > execute 1",
    );
}
