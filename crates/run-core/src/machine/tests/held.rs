//! Runs that were held because the log has lost its end: given up is what was under way, and a person decides.

use palyra_types::event::{HeldCause, RunEvent, TapeEvent};
use palyra_types::run::{RunPhase, WaitReason};

use crate::scenario::{
    ScenarioAct, ScenarioDriver, ScriptedCall, begin, calls, cancel, check_from, input, read, replay,
    restart, shell, start, text,
};

fn held_after(acts: &[ScenarioAct]) -> ScenarioDriver {
    let mut driver = ScenarioDriver::new();
    for act in acts {
        driver.act(act).expect("an input").expect("taken");
    }
    driver.tape.push((TapeEvent::Run(RunEvent::Held { cause: HeldCause::LogReopened }), driver.now));
    driver.machine = replay(&driver.tape);
    assert_eq!(driver.phase(), RunPhase::Waiting(WaitReason::OutcomeUnknown));
    driver
}

fn under_way(wanted: &[ScriptedCall]) -> ScenarioDriver {
    held_after(&[start(), begin(), calls(1, wanted)])
}

#[test]
fn a_request_in_flight_is_given_up_and_made_again_when_a_person_says_so() {
    let run = held_after(&[start(), begin(), text(1, "half")]);
    let run = check_from(
        run,
        &[restart(), restart(), input()],
        "Abandoned 1 3-3 Restart
         nothing
         InputReceived, ModelRequested 2 turn 1 > ask 2",
    );
    assert_eq!(run.phase(), RunPhase::Running);
}

#[test]
fn tools_that_ran_are_not_run_again() {
    check_from(under_way(&[read("a")]), &[restart(), restart()], "Finished 1 tool_cancelled\nnothing");
    let run = check_from(under_way(&[shell()]), &[restart(), restart()], "OutcomeUnknown 1 Restart\nnothing");
    assert_eq!(run.phase(), RunPhase::Waiting(WaitReason::OutcomeUnknown));
}

#[test]
fn a_held_run_can_be_cancelled() {
    let run = held_after(&[start(), begin()]);
    let run = check_from(
        run,
        &[restart(), cancel()],
        "Abandoned 1 0-0 Restart
         CancelRequested User, RunFinished Cancelled Cancelled > end",
    );
    assert_eq!(run.phase(), RunPhase::Finished);
}

#[test]
fn a_run_that_had_not_begun_waits_too() {
    let run = held_after(&[start()]);
    let run =
        check_from(run, &[restart(), input()], "nothing\nInputReceived, ModelRequested 1 turn 1 > ask 1");
    assert_eq!(run.phase(), RunPhase::Running);
}
