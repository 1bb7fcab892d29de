//! What becomes of calls by their contract, of doubts, and of questions to the person.

use palyra_types::effect::EffectResolution;
use palyra_types::event::UnknownOutcomeCause;
use palyra_types::run::{RunPhase, WaitReason};
use palyra_types::tool::EffectContract;

use crate::scenario::asks::{approve, edit, question, ready, send, settle, stamp};
use crate::scenario::{
    ScenarioAct, ScenarioDriver, ScriptedCall, begin, calls, cancel, check_from, done, input, lost, post,
    read, restart, scan, shell, start, steer,
};
use crate::{Effect, ExecutionAttempt};

fn working(wanted: &[ScriptedCall], acts: &[ScenarioAct]) -> ScenarioDriver {
    let mut driver = ScenarioDriver::new();
    for act in [start(), begin(), calls(1, wanted)].iter().chain(acts) {
        driver.act(act).expect("an input").expect("taken");
    }
    driver
}

#[test]
fn a_restart_goes_on_by_contract() {
    for (call, acts, expected) in [
        (read("a"), vec![], "nothing > execute 1"),
        (send().allowed(), vec![], "nothing > execute 1 again"),
        (stamp("a"), vec![ready(1)], "nothing > execute 1 again"),
        (scan().under(EffectContract::Local), vec![], "nothing > execute 1 again"),
        (shell(), vec![], "OutcomeUnknown 1 Restart"),
        (question(), vec![], "nothing"),
        (stamp("a"), vec![], "nothing > prepare 1"),
        (edit("a"), vec![ready(1)], "nothing"),
        (edit("a"), vec![ready(1), approve(11).act()], "nothing > execute 1 again"),
    ] {
        check_from(working(&[call], &acts), &[restart()], expected);
    }
}

#[test]
fn what_runs_again_runs_with_its_plan_and_knows_it() {
    let mut run = working(&[stamp("a")], &[ready(1)]);
    let commit = run.restart().expect("taken");
    let [Effect::Execute(again)] = &commit.effects[..] else { panic!("{}", commit.line()) };
    assert_eq!(again.execution(), ExecutionAttempt::Again);
    assert_eq!(again.plan().body.expose(), "plan for as it was");
    let mut run = working(&[read("a")], &[]);
    let commit = run.restart().expect("taken");
    let [Effect::Execute(again)] = &commit.effects[..] else { panic!("{}", commit.line()) };
    assert_eq!(again.execution(), ExecutionAttempt::Again, "of a pure call too");
}

#[test]
fn a_loss_is_a_failure_or_a_doubt_by_contract() {
    for (call, acts, expected) in [
        (scan(), vec![], "Finished 1 tool_failed, ModelRequested 2 turn 2 > ask 2"),
        (
            scan().under(EffectContract::Local),
            vec![],
            "Finished 1 tool_failed, ModelRequested 2 turn 2 > ask 2",
        ),
        (send().allowed(), vec![], "OutcomeUnknown 1 ExecutorLost"),
        (stamp("a"), vec![ready(1)], "OutcomeUnknown 1 ExecutorLost"),
        (shell(), vec![], "OutcomeUnknown 1 ExecutorLost"),
    ] {
        check_from(working(&[call], &acts), &[lost(1, UnknownOutcomeCause::ExecutorLost)], expected);
    }
}

#[test]
fn a_run_goes_on_once_every_doubt_is_settled() {
    let doubts = [lost(1, UnknownOutcomeCause::Deadline), lost(2, UnknownOutcomeCause::ExecutorLost)];
    let run = check_from(
        working(&[post(), post()], &doubts),
        &[
            settle(3, EffectResolution::Happened),
            settle(1, EffectResolution::Happened),
            settle(1, EffectResolution::DidNotHappen),
            restart(),
            settle(2, EffectResolution::Retry),
        ],
        "refused: EffectNotUnknown
         Settled 1 Happened
         refused: EffectNotUnknown
         nothing
         Settled 2 Retry, ModelRequested 2 turn 2 > ask 2",
    );
    assert_eq!(run.phase(), RunPhase::Running);
    assert_eq!(run.machine.unknown_effects().count(), 0);
}

#[test]
fn a_doubt_may_be_settled_after_the_run_went_on() {
    let run = check_from(
        working(&[shell()], &[lost(1, UnknownOutcomeCause::Deadline), input()]),
        &[settle(1, EffectResolution::DidNotHappen)],
        "Settled 1 DidNotHappen",
    );
    assert_eq!(run.machine.unknown_effects().count(), 0);
}

#[test]
fn a_question_waits_for_the_persons_words() {
    let run = working(&[question()], &[]);
    assert_eq!(run.phase(), RunPhase::Waiting(WaitReason::Question));
    check_from(
        run,
        &[restart(), done(1), input()],
        "nothing
         refused: Stale
         InputReceived, Finished 1, ModelRequested 2 turn 2 > ask 2",
    );
    check_from(
        working(&[question().beside(), read("a")], &[]),
        &[input(), steer(), done(2)],
        "refused: NotWaiting
         InputReceived Steer, Finished 1
         Finished 2, ModelRequested 2 turn 2 > ask 2",
    );
}

#[test]
fn a_question_holds_back_what_comes_after_it_and_ends_with_the_run() {
    check_from(
        working(&[read("a"), question(), read("b")], &[]),
        &[done(1), steer(), done(3)],
        "Finished 1, Started 2 local
         InputReceived, Finished 2, Started 3 > execute 3
         Finished 3, ModelRequested 2 turn 2 > ask 2",
    );
    check_from(
        working(&[question()], &[]),
        &[cancel()],
        "CancelRequested User, Finished 1 tool_cancelled, RunFinished Cancelled Cancelled > end",
    );
}

#[test]
fn what_is_being_prepared_is_forgotten_when_the_run_stops() {
    check_from(
        working(&[edit("a")], &[]),
        &[cancel(), ready(1)],
        "CancelRequested User, RunFinished Cancelled Cancelled > end
         refused: Finished",
    );
    check_from(
        working(&[post(), edit("a").beside()], &[]),
        &[cancel(), ready(2), done(1)],
        "CancelRequested User > stop tools
         refused: Stale
         Finished 1, RunFinished Cancelled Cancelled > end",
    );
}

#[test]
fn a_doubt_holds_a_preparation_back_and_its_end_makes_it_again() {
    check_from(
        working(&[post(), edit("a").beside()], &[]),
        &[
            lost(1, UnknownOutcomeCause::ExecutorLost),
            ready(2),
            settle(1, EffectResolution::Happened),
            ready(2),
        ],
        "OutcomeUnknown 1 ExecutorLost
         refused: Stale
         Settled 1 Happened > prepare 2
         Asks 12 about 2",
    );
}
