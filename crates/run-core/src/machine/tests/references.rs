//! References of an input: calls before the first request that shows it, and nothing else of a run changes.

use jiff::tz::TimeZone;
use palyra_context::transcript::Transcript;
use palyra_types::context_reference::ReferenceError;
use palyra_types::model::{ChatMessage, ModelFailureClass};
use palyra_types::run::{RunLifecycleState, RunLimits, RunPhase, WaitReason};
use palyra_types::tool::Taints;
use palyra_types::{ErrorCode, RunId, Timestamp};

use crate::RunError;
use crate::scenario::asks::{approve, read_tainted};
use crate::scenario::references::ScriptedItem::{Call, Refused, SameAs};
use crate::scenario::references::{APPROVALS_FROM, expanded, with_references};
use crate::scenario::{
    ScenarioAct, ScenarioDriver, answer, asking, begin, calls, cancel, check_from, denied, done, done_with,
    due, fails, outcome_input, read, restart, start, start_with, steer,
};

#[test]
fn references_are_calls_before_the_first_request() {
    let items = [Call(read("a")), SameAs(0), Refused(ReferenceError::LooksLikeASecret), Call(denied("web"))];
    let run = check_from(
        with_references(1, &items),
        &[start(), begin(), done(1), answer(1)],
        "RunStarted
         ReferencesExpanded 1 file 1 file same 0 file looks_like_a_secret file 2, Proposed 1 read, Allowed, Proposed 2 web, Denied NoRulePermits, Started 1 > execute 1
         Finished 1, ModelRequested 1 turn 1 > ask 1
         ModelMessage 1 no text, RunFinished Done FinalAnswer > end",
    );
    assert_eq!((run.end().turns, run.end().tool_calls), (1, 2));
}

#[test]
fn references_that_need_no_call_cost_no_commit() {
    check_from(
        with_references(1, &[Refused(ReferenceError::OutsideOfWorkspace), Call(denied("web"))]),
        &[start(), begin()],
        "RunStarted
         ReferencesExpanded 1 file outside_of_workspace file 1, Proposed 1 web, Denied NoRulePermits, ModelRequested 1 turn 1 > ask 1",
    );
}

#[test]
fn a_run_is_in_progress_while_its_references_are_resolved() {
    let begun = [start(), begin()];
    let mut run = with_references(1, &[Call(read("a"))]);
    begun.iter().for_each(|act| drop(run.act(act)));
    assert_eq!((run.machine.state(), run.phase()), (RunLifecycleState::InProgress, RunPhase::Running));
    let run = check_from(
        run,
        &[restart(), done(1)],
        "nothing > execute 1
         Finished 1, ModelRequested 1 turn 1 > ask 1",
    );
    assert_eq!(run.machine.open_attempt().map(|attempt| attempt.0), Some(1));
}

#[test]
fn a_reference_waits_for_a_person_like_any_call() {
    let mut run = with_references(1, &[Call(asking("web"))]);
    [start(), begin()].iter().for_each(|act| drop(run.act(act)));
    assert_eq!(run.phase(), RunPhase::Waiting(WaitReason::Approval), "{}", run.tape_line());
    [restart(), approve(APPROVALS_FROM).act(), done(1)].iter().for_each(|act| {
        run.act(act).expect("an outcome").expect("taken");
    });
    assert!(run.tape_line().ends_with("Finished 1, ModelRequested 1 turn 1"), "{}", run.tape_line());
}

#[test]
fn a_cancel_ends_the_calls_of_references() {
    check_from(
        with_references(1, &[Call(read("a"))]),
        &[
            start(),
            begin(),
            cancel(),
            ScenarioAct::Take(outcome_input(1, Some(ErrorCode::ToolCancelled), "stopped")),
        ],
        "RunStarted
         ReferencesExpanded 1 file 1, Proposed 1 read, Allowed, Started 1 > execute 1
         CancelRequested User > stop tools
         Finished 1 tool_cancelled, RunFinished Cancelled Cancelled > end",
    );
}

#[test]
fn references_beyond_the_budget_end_no_run() {
    check_from(
        with_references(1, &[Call(read("a")), Call(read("b"))]),
        &[start_with(RunLimits { tool_calls_max: 1, ..RunLimits::default() }), begin(), calls(1, &[read("a")])],
        "RunStarted
         ReferencesExpanded 1 file 1 file 2, Proposed 1 read, Denied BudgetExhausted by budget, Proposed 2 read, Denied BudgetExhausted by budget, ModelRequested 1 turn 1 > ask 1
         ModelMessage 1 no text 1 calls, Proposed 3 read, Allowed, Started 3 > execute 3",
    );
}

#[test]
fn an_input_that_steers_has_references_too() {
    check_from(
        with_references(3, &[Call(read("a"))]),
        &[start(), begin(), steer(), answer(1), done(1)],
        "RunStarted
         ModelRequested 1 turn 1 > ask 1
         InputReceived Steer
         ModelMessage 1 no text, ReferencesExpanded 3 file 1, Proposed 1 read, Allowed, Started 1 > execute 1
         Finished 1, ModelRequested 2 turn 2 > ask 2",
    );
}

#[test]
fn a_pause_ends_with_the_calls_of_an_input_that_came_in_it() {
    let mut run = with_references(1, &[Call(read_tainted("a", Taints::WEB))]);
    run.references.extend(with_references(9, &[Call(read("b"))]).references);
    for act in [start(), begin(), done(1), fails(1, ModelFailureClass::Transient)] {
        run.act(&act).expect("an outcome").expect("taken");
    }
    // References depend on what was read until then, though no answer came between.
    assert_eq!(run.machine.taints_of_open_calls(), Taints::NONE);
    let run = check_from(
        run,
        &[steer(), due(1), done(2)],
        "InputReceived Steer
         ReferencesExpanded 9 file 2, Proposed 2 read, Allowed, Started 2 > execute 2
         Finished 2, ModelRequested 2 turn 1 > ask 2",
    );
    assert_eq!(run.machine.taints_of_open_calls(), Taints::WEB);
}

#[test]
fn equal_failures_of_references_are_no_loop() {
    let items: Vec<_> = (0..8).map(|_| Call(read("a"))).collect();
    let mut run = with_references(1, &items);
    [start(), begin()].iter().for_each(|act| drop(run.act(act)));
    for effect in 1..=8 {
        let failed = ScenarioAct::Take(outcome_input(effect, Some(ErrorCode::ToolTimedOut), "no answer"));
        run.act(&failed).expect("an outcome").expect("taken");
    }
    assert!(
        run.tape_line().ends_with("Finished 8 tool_timed_out, ModelRequested 1 turn 1"),
        "{}",
        run.tape_line()
    );
}

#[test]
fn references_are_expanded_once_and_only_when_they_were_asked_for() {
    let refused = |run: &mut ScenarioDriver, input: u32, items: &[_]| {
        let before = run.tape.len();
        assert_eq!(
            run.take(&expanded(input, items)).err(),
            Some(RunError::OutOfPlace),
            "{}",
            run.tape_line()
        );
        assert_eq!(run.tape.len(), before);
    };
    let mut run = ScenarioDriver::new();
    let items = [Call(read("a"))];
    refused(&mut run, 1, &items);
    drop(run.act(&start()));
    let nine: Vec<_> = (0..9).map(|_| Call(read("a"))).collect();
    for (input, items) in [(0, &items[..]), (2, &items), (1, &nine), (1, &[SameAs(0)])] {
        refused(&mut run, input, items);
    }
    drop(run.act(&begin()));
    refused(&mut run, 1, &items);
    drop(run.act(&calls(1, &[read("a")])));
    refused(&mut run, 1, &items);
}

fn messages(run: &ScenarioDriver) -> Vec<String> {
    let mut transcript = Transcript::new(RunId::from_parts(1, 1));
    run.tape.iter().for_each(|(event, _)| transcript.push(event, Timestamp(0)));
    let words = |message: ChatMessage| match message {
        ChatMessage::User { text, .. } => text.into_exposed(),
        other => panic!("{other:?} is not of a person"),
    };
    transcript.messages(&TimeZone::UTC).into_iter().map(words).collect()
}

#[test]
fn a_model_reads_references_before_the_words_that_have_them() {
    let items = [
        Call(read("a")),
        Call(read("b")),
        Call(denied("web")),
        SameAs(0),
        Refused(ReferenceError::LooksLikeASecret),
    ];
    let mut run = with_references(1, &items);
    [start(), begin(), done_with(1, "the text")].iter().for_each(|act| drop(run.act(act)));
    let failed = ScenarioAct::Take(outcome_input(2, Some(ErrorCode::FileNotFound), "`b` does not exist"));
    let open = messages(&run);
    drop(run.act(&failed));
    let [references, words] = &messages(&run)[..] else { panic!("two messages") };
    assert_eq!(words, "do it");
    let lines: Vec<&str> = references.lines().filter(|line| !line.contains("data-")).collect();
    assert_eq!(
        lines,
        [
            "<context_references>",
            "1. @file:a (about 2 tokens)",
            "the text",
            "2. @file:a: not_found: it does not exist",
            "`b` does not exist",
            "3. @file:a: denied: the call was not permitted",
            "NoRulePermits",
            "4. @file:a: the same as reference 1",
            "5. @file:a: looks_like_a_secret: the name is that of a file with credentials, which references do not read",
            "</context_references>",
        ]
    );
    assert_eq!(references.matches("<data-").count(), 3);
    // Before its outcome, a call says that it has none.
    assert!(open[0].contains("2. @file:a: failed: "), "{}", open[0]);
}
