//! A run whose next request does not fit under a budget: it waits, tries again, or ends.

use palyra_types::run::{RunPhase, TerminationReason, WaitReason};
use palyra_types::{ErrorCode, Timestamp};

use crate::scenario::{
    ContextAnswers, ScenarioAct, ScenarioDriver, answer, begin, cancel, check, check_from, input, restart,
    start,
};
use crate::{BudgetOutcome, BudgetWake, RunError, RunInput};

fn over(resumes: Option<i64>) -> ContextAnswers {
    ContextAnswers::OverBudget(BudgetOutcome::Wait { resumes: resumes.map(Timestamp) })
}

fn due() -> ScenarioAct {
    ScenarioAct::Take(RunInput::BudgetDue(BudgetWake::Check))
}

/// Returns a run whose first request waits for a budget.
fn waiting(resumes: Option<i64>) -> ScenarioDriver {
    let mut driver = check(&[start()], "RunStarted");
    driver.contexts = over(resumes);
    let noted = resumes.map_or_else(String::new, |resumes| format!(" {resumes}"));
    let driver = check_from(driver, &[begin()], &format!("BudgetReached{noted}"));
    assert_eq!(driver.machine.phase(), RunPhase::Waiting(WaitReason::Budget));
    driver
}

#[test]
fn a_run_waits_and_asks_once_its_request_fits() {
    let mut driver = waiting(Some(9_000_000));
    driver.contexts = ContextAnswers::Fit;
    let driver = check_from(driver, &[due()], "ModelRequested 1 turn 1 > ask 1");
    assert_eq!(driver.machine.phase(), RunPhase::Running);
    check_from(driver, &[due()], "refused: NotWaiting");
}

#[test]
fn a_run_that_still_does_not_fit_notes_only_another_time() {
    let driver = waiting(Some(9_000_000));
    let mut driver = check_from(driver, &[due()], "nothing");
    driver.contexts = over(None);
    let driver = check_from(driver, &[due()], "BudgetReached");
    assert_eq!(driver.machine.phase(), RunPhase::Waiting(WaitReason::Budget));
}

#[test]
fn a_restart_changes_nothing_and_a_person_may_speak_or_stop() {
    let driver = check_from(waiting(None), &[restart()], "nothing");
    assert_eq!(driver.machine.phase(), RunPhase::Waiting(WaitReason::Budget));
    let driver = check_from(driver, &[input()], "InputReceived, BudgetReached");
    let driver =
        check_from(driver, &[cancel()], "CancelRequested User, RunFinished Cancelled Cancelled > end");
    assert_eq!(driver.end().reason, TerminationReason::Cancelled);
}

#[test]
fn a_refused_request_ends_the_run_with_the_reason() {
    let mut driver = check(&[start()], "RunStarted");
    driver.contexts = ContextAnswers::OverBudget(BudgetOutcome::Refuse(ErrorCode::ModelWithoutPrice));
    let driver = check_from(driver, &[begin()], "RunFinished Failed OverBudget > end");
    assert_eq!(driver.end().error, Some(ErrorCode::ModelWithoutPrice));
    assert!(driver.end().message.expose().starts_with("budget `daily`"));
}

#[test]
fn soft_limits_are_noted_behind_the_request_that_passes_them() {
    let mut driver = check(&[start(), begin()], "RunStarted\nModelRequested 1 turn 1 > ask 1");
    let passed = RunInput::SoftLimitsPassed(vec!["above 5".into()]);
    driver = check_from(driver, &[ScenarioAct::Take(passed.clone())], "SoftLimitNoted above 5");
    driver = check_from(driver, &[answer(1)], "ModelMessage 1 no text, RunFinished Done FinalAnswer > end");
    assert_eq!(driver.machine.decide(&passed, driver.now).err(), Some(RunError::Finished));
}
